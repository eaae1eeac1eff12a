//! The epochs of each sample: how much one answer says about the next.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::{ScoreName, collect, is_location, numbers};
use crate::columns::ScoreColumns;
use crate::error::Result;
use crate::inputs::Wants;
use crate::plan::{Plan, Reducers};

/// The scores of all epochs, sample by sample.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EpochSpread {
    /// Which scores.
    pub name: ScoreName,
    /// The samples with a scored epoch, in the order of the data.
    pub samples: Vec<SampleSpread>,
}

/// The scored epochs of one sample.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SampleSpread {
    /// The sample.
    pub id: String,
    /// Its scores, in the order of the epochs.
    pub scores: Vec<f64>,
}

impl SampleSpread {
    /// A sample with the scores of its epochs.
    pub fn new(id: impl Into<String>, scores: Vec<f64>) -> Self {
        SampleSpread { id: id.into(), scores }
    }

    /// The mean of its epochs; none without any.
    pub fn mean(&self) -> Option<f64> {
        let n = self.scores.len();
        (n > 0).then(|| self.scores.iter().sum::<f64>() / n as f64)
    }

    /// Whether its epochs have different scores.
    pub fn varies(&self) -> bool {
        self.scores.windows(2).any(|pair| pair.first() != pair.last())
    }
}

impl EpochSpread {
    /// The epochs of these samples.
    pub fn new(name: ScoreName, samples: Vec<SampleSpread>) -> Self {
        EpochSpread { name, samples }
    }

    /// The largest number of scored epochs of a sample.
    pub fn epochs(&self) -> usize {
        self.samples.iter().map(|sample| sample.scores.len()).max().unwrap_or(0)
    }

    /// The number of samples whose epochs have different scores.
    pub fn varying(&self) -> usize {
        self.samples.iter().filter(|sample| sample.varies()).count()
    }
}

/// The samples of several runs side by side, the hardest first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EpochStrip {
    /// The columns, from the hardest to the easiest.
    pub columns: Vec<StripColumn>,
    /// The number of samples that some run has.
    pub samples: usize,
    /// The lowest and the highest mean of a sample.
    pub range: Option<(f64, f64)>,
}

/// A sample, or some that are about as hard.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StripColumn {
    /// The sample; the first one if there are several.
    pub id: String,
    /// The number of samples.
    pub samples: usize,
    /// The mean over samples and epochs, for each run; none where it has no score.
    pub means: Vec<Option<f64>>,
}

impl EpochStrip {
    /// Puts the samples of runs, matched by id, in the order of their mean over the runs, ties in the order of the data.
    /// Above `most` samples a column is the mean of about equally many.
    pub fn new(runs: &[&EpochSpread], most: usize) -> Self {
        let mut samples: IndexMap<&str, Vec<Option<f64>>> = IndexMap::new();
        for (at, run) in runs.iter().enumerate() {
            for sample in &run.samples {
                let means = samples.entry(&sample.id).or_insert_with(|| vec![None; runs.len()]);
                if let Some(slot) = means.get_mut(at) {
                    *slot = sample.mean();
                }
            }
        }
        let means = samples.values().flatten().flatten();
        let range = means.fold(None, |range: Option<(f64, f64)>, mean| {
            let (low, high) = range.unwrap_or((*mean, *mean));
            Some((low.min(*mean), high.max(*mean)))
        });
        let mut ordered: Vec<(&str, Vec<Option<f64>>)> = samples.into_iter().collect();
        ordered.sort_by(|(_, a), (_, b)| mean(a).unwrap_or(0.0).total_cmp(&mean(b).unwrap_or(0.0)));
        let (count, bins) = (ordered.len(), ordered.len().min(most.max(1)));
        let column = |bin: usize| {
            let of_bin = ordered.get(bin * count / bins..(bin + 1) * count / bins).unwrap_or_default();
            let of_run = |run: usize| {
                let means: Vec<Option<f64>> =
                    of_bin.iter().map(|(_, means)| means.get(run).copied().flatten()).collect();
                mean(&means)
            };
            let id = of_bin.first().map(|(id, _)| (*id).to_owned()).unwrap_or_default();
            StripColumn { id, samples: of_bin.len(), means: (0..runs.len()).map(of_run).collect() }
        };
        EpochStrip { columns: (0..bins).map(column).collect(), samples: count, range }
    }
}

/// The mean of those that are there.
fn mean(numbers: &[Option<f64>]) -> Option<f64> {
    let (sum, n) = numbers.iter().flatten().fold((0.0, 0), |(sum, n), number| (sum + number, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

impl Plan {
    /// The epochs of each sample, for each scorer and key with a location. Reducers play no part.
    ///
    /// # Errors
    /// As in [`Plan::evaluate`]; scores that are no numbers.
    pub fn epoch_spreads(&self, columns: &ScoreColumns) -> Result<Vec<EpochSpread>> {
        let mut plan = self.with_metrics(|metric| is_location(metric) && metric.wants() != Wants::Reduced);
        (plan.reducers, plan.scorer_reducers) = (Reducers::Disabled, IndexMap::new());
        let spreads = collect(&plan, columns, |block| {
            let (metric, numbers) = numbers(block)?;
            let name = ScoreName::of(block, metric);
            Some(numbers.map(|numbers| {
                let mut samples: IndexMap<&str, Vec<(u32, f64)>> = IndexMap::new();
                for (at, number) in numbers.into_iter().enumerate() {
                    let epochs = samples.entry(block.scores.sample_id(at)).or_default();
                    epochs.push((block.scores.epoch(at), number));
                }
                let sample = |(id, mut epochs): (&str, Vec<(u32, f64)>)| {
                    epochs.sort_by_key(|(epoch, _)| *epoch);
                    SampleSpread::new(id, epochs.into_iter().map(|(_, number)| number).collect())
                };
                EpochSpread::new(name, samples.into_iter().map(sample).collect())
            }))
        })?;
        // A list of metrics has one block for each of its views.
        let mut seen: HashMap<(String, Option<String>), ()> = HashMap::new();
        let is_new = |spread: &EpochSpread| {
            seen.insert((spread.name.scorer.clone(), spread.name.field.clone()), ()).is_none()
        };
        Ok(spreads.into_iter().filter(is_new).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;

    fn run(samples: &[(&str, &[f64])]) -> EpochSpread {
        let sample = |(id, scores): &(&str, &[f64])| SampleSpread::new(*id, scores.to_vec());
        EpochSpread::new(ScoreName::default(), samples.iter().map(sample).collect())
    }

    #[test]
    fn the_hardest_sample_is_first_and_ties_keep_their_order() {
        let a = run(&[("x", &[1.0, 1.0]), ("y", &[0.0, 0.0]), ("z", &[1.0, 0.0]), ("t", &[0.5])]);
        let b = run(&[("z", &[0.0]), ("y", &[0.0]), ("x", &[1.0]), ("only b", &[0.25])]);
        let strip = EpochStrip::new(&[&a, &b], 600);
        let ids: Vec<&str> = strip.columns.iter().map(|column| column.id.as_str()).collect();
        assert_eq!(ids, ["y", "z", "only b", "t", "x"], "z and `only b` are both at 0.25");
        assert_eq!(strip.columns[2].means, [None, Some(0.25)], "what is absent is not 0");
        assert_eq!((strip.samples, strip.range), (5, Some((0.0, 1.0))));
    }

    #[test]
    fn many_samples_become_means_of_bins() {
        let samples: Vec<(String, Vec<f64>)> = (0..10).map(|i| (i.to_string(), vec![f64::from(i)])).collect();
        let samples: Vec<(&str, &[f64])> =
            samples.iter().map(|(id, s)| (id.as_str(), s.as_slice())).collect();
        let strip = EpochStrip::new(&[&run(&samples)], 4);
        let columns: Vec<(usize, Option<f64>)> =
            strip.columns.iter().map(|column| (column.samples, column.means[0])).collect();
        assert_eq!(columns, [(2, Some(0.5)), (3, Some(3.0)), (2, Some(5.5)), (3, Some(8.0))]);
        assert_eq!(EpochStrip::new(&[], 4).columns, []);
    }

    #[test]
    fn epochs_are_those_of_the_scores_whatever_reduces_them() {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch, grade) in [("a", 2, "I"), ("b", 1, "C"), ("a", 1, "C"), ("b", 2, "C")] {
            columns.push(id, epoch).score("s", Score::new(grade)).unwrap();
        }
        columns.push("b", 3).score("s", Score::unscored("refusal")).unwrap();
        let plan = Plan::new().reducers(crate::reducers![crate::reducers::mode()]);
        let spreads = plan.epoch_spreads(&columns).unwrap();
        assert_eq!(spreads.len(), 1);
        let expected = [SampleSpread::new("a", vec![1.0, 0.0]), SampleSpread::new("b", vec![1.0, 1.0])];
        assert_eq!(spreads[0].samples, expected);
        assert_eq!((spreads[0].epochs(), spreads[0].varying()), (2, 1));
    }
}
