//! The epochs of each sample, and the chance that at least one, or every one, of k attempts succeeds.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;

use super::{ScoreName, collect, is_about_location, is_location, numbers};
use crate::columns::ScoreColumns;
use crate::error::Result;
use crate::estimate::Estimate;
use crate::evaluation::{EstimateRow, Results, Role};
use crate::inputs::Wants;
use crate::plan::{Plan, Reducers};
use crate::reducer::Reducer;
use crate::reducers::{pass_at, pass_k};

/// The scores of all epochs, sample by sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpochSpread {
    /// Which scores.
    pub name: ScoreName,
    /// The samples with a scored epoch, in the order of the data.
    pub samples: Vec<SampleSpread>,
}

/// The scored epochs of one sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleSpread {
    /// The sample.
    pub id: String,
    /// Its scores, in the order of the epochs.
    pub scores: Vec<f64>,
}

impl SampleSpread {
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
                    let scores = epochs.into_iter().map(|(_, number)| number).collect();
                    SampleSpread { id: id.to_owned(), scores }
                };
                EpochSpread { name, samples: samples.into_iter().map(sample).collect() }
            }))
        })?;
        // A list of metrics has one block for each of its views.
        let mut seen: HashSet<(String, Option<String>)> = HashSet::new();
        let is_new =
            |spread: &EpochSpread| seen.insert((spread.name.scorer.clone(), spread.name.field.clone()));
        Ok(spreads.into_iter().filter(is_new).collect())
    }
}

/// The most numbers of attempts that a curve has a point for each of.
const MOST_POINTS: u64 = 32;

/// pass@k and pass^k for k from 1 to the number of epochs.
#[derive(Clone, Debug, PartialEq)]
pub struct PassCurve {
    /// Which scores. The reducers are those of the curve.
    pub name: ScoreName,
    /// The points, k ascending.
    pub points: Vec<PassPoint>,
}

/// The chances over k attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct PassPoint {
    /// The number of attempts.
    pub k: u64,
    /// That at least one succeeds: pass@k.
    pub any: Estimate,
    /// That all succeed: pass^k.
    pub all: Estimate,
}

/// The numbers of attempts that a curve has points for: all, or with many epochs 1, 2, 5, 10, … and the last.
fn attempts(epochs: u64) -> Vec<u64> {
    if epochs <= MOST_POINTS {
        return (1..=epochs).collect();
    }
    let decades = std::iter::successors(Some(1_u64), |decade| decade.checked_mul(10));
    let steps = decades.flat_map(|decade| [1, 2, 5].map(|step| decade.saturating_mul(step)));
    steps.take_while(|k| *k < epochs).chain([epochs]).collect()
}

impl Plan {
    /// The curves of pass@k and pass^k, for each scorer and key with a location; an epoch is a success from `threshold`
    /// on. The points are what the reducers `pass_at` and `pass_k` give. There is none with fewer than two epochs.
    ///
    /// # Errors
    /// As in [`Plan::evaluate`].
    pub fn pass_curves(&self, columns: &ScoreColumns, threshold: f64) -> Result<Vec<PassCurve>> {
        let ks = attempts(columns.sample_index().max_rows() as u64);
        if ks.len() < 2 {
            return Ok(Vec::new());
        }
        let mut plan = self.with_metrics(is_about_location);
        let any = |k: &u64| Arc::new(pass_at(*k).value(threshold)) as Arc<dyn Reducer>;
        let all = |k: &u64| Arc::new(pass_k(*k).value(threshold)) as Arc<dyn Reducer>;
        let reducers: Vec<Arc<dyn Reducer>> = ks.iter().map(any).chain(ks.iter().map(all)).collect();
        let names: Vec<String> = reducers.iter().map(|reducer| reducer.log_name()).collect();
        (plan.reducers, plan.scorer_reducers) = (Reducers::Explicit(reducers), IndexMap::new());
        let results = plan.evaluate(columns)?.results;
        Ok(curves(&results, &ks, &names))
    }
}

/// The curves in the results of one reducer after the other: of each scorer and field, for the first metric.
fn curves(results: &Results, ks: &[u64], names: &[String]) -> Vec<PassCurve> {
    let is_whole = |row: &EstimateRow<'_>| {
        row.role == Role::Location && row.group_key.is_none() && row.key.is_none() && row.index.is_none()
    };
    let rows: Vec<EstimateRow<'_>> = results.rows().into_iter().filter(is_whole).collect();
    let (of_any, of_all) = names.split_at_checked(ks.len()).unwrap_or_default();
    let mut seen = HashSet::new();
    let firsts = rows.iter().filter(|row| seen.insert((row.scorer, row.field)));
    let curve = |first: &EstimateRow<'_>| {
        let metric = first.result.spec.log_name();
        let estimate = |reducer: &String| {
            let is_it = |row: &&EstimateRow<'_>| {
                (row.scorer, row.field) == (first.scorer, first.field)
                    && row.reducer == Some(reducer)
                    && row.result.spec.log_name() == metric
            };
            rows.iter().find(is_it).map(|row| row.estimate.clone().into_owned())
        };
        let points = ks.iter().zip(of_any.iter().zip(of_all));
        let point =
            |(k, (any, all)): (&u64, _)| Some(PassPoint { k: *k, any: estimate(any)?, all: estimate(all)? });
        let (scorer, field) = (first.scorer.to_owned(), first.field.map(str::to_owned));
        let name = ScoreName { scorer, reducer: None, field, metric: metric.to_string() };
        PassCurve { name, points: points.filter_map(point).collect() }
    };
    firsts.map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;

    fn run(samples: &[(&str, &[f64])]) -> EpochSpread {
        let sample =
            |(id, scores): &(&str, &[f64])| SampleSpread { id: (*id).to_owned(), scores: scores.to_vec() };
        EpochSpread { name: ScoreName::default(), samples: samples.iter().map(sample).collect() }
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
        let spread = |id: &str, scores: [f64; 2]| SampleSpread { id: id.to_owned(), scores: scores.to_vec() };
        let expected = [spread("a", [1.0, 0.0]), spread("b", [1.0, 1.0])];
        assert_eq!(spreads[0].samples, expected);
        assert_eq!((spreads[0].epochs(), spreads[0].varying()), (2, 1));
    }
}

#[cfg(test)]
mod pass_tests {
    use super::*;
    use crate::metrics::{accuracy, ci_wilson, grouped, stderr};
    use crate::{Registry, Score, metrics};

    fn columns(epochs: u32) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["s"]);
        for id in 0..12_u32 {
            for epoch in 1..=epochs {
                let grade = if (id * 7 + epoch * 5) % 11 < 6 { "C" } else { "I" };
                let row = columns.push(id.to_string(), epoch).metadata("topic", format!("t{}", id % 3));
                row.score("s", Score::new(grade)).unwrap();
            }
        }
        columns
    }

    #[test]
    fn a_point_is_what_the_reducer_gives() {
        let columns = columns(4);
        let metrics = metrics![accuracy(), stderr().cluster("topic"), grouped(accuracy(), "topic")];
        let plan = Plan::new().metrics(metrics);
        let curves = plan.pass_curves(&columns, 1.0).unwrap();
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].points.iter().map(|point| point.k).collect::<Vec<_>>(), [1, 2, 3, 4]);
        let registry = Registry::built_in();
        for point in &curves[0].points {
            for (name, estimate) in [("pass_at", &point.any), ("pass_k", &point.all)] {
                let spec = format!("{name}_{}", point.k).parse().unwrap();
                let reducer = registry.reducer(&spec).unwrap();
                let plan = plan.clone().reducers(Reducers::Explicit(vec![reducer]));
                let results = plan.evaluate(&columns).unwrap().results;
                let rows = results.rows();
                assert_eq!(*rows[0].estimate, *estimate, "{name} {}", point.k);
            }
        }
        let first = &curves[0].points[0];
        assert_eq!(first.any, first.all, "one attempt is one attempt");
        let last = &curves[0].points[3];
        assert!(last.any.number() > last.all.number());
    }

    #[test]
    fn an_interval_metric_belongs_to_the_points_too() {
        let plan = Plan::new().metrics(metrics![accuracy(), ci_wilson()]);
        let columns = columns(2);
        let curve = plan.pass_curves(&columns, 1.0).unwrap().remove(0);
        let plan = plan.reducers(crate::reducers![pass_at(2)]);
        let results = plan.evaluate(&columns).unwrap().results;
        assert_eq!(curve.points[1].any, *results.rows()[0].estimate);
    }

    #[test]
    fn one_epoch_has_no_curve_and_many_have_few_points() {
        assert_eq!(Plan::new().pass_curves(&columns(1), 1.0).unwrap(), []);
        assert_eq!(attempts(3), [1, 2, 3]);
        assert_eq!(attempts(100), [1, 2, 5, 10, 20, 50, 100]);
    }
}
