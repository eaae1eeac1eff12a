//! How scores vary, estimated from runs that there are already.

use std::collections::HashMap;

use super::spread::PowerError;
use super::spread::ScoreSpread;
use crate::agreement::NamedColumns;
use errorbar_core::engine::ValueColumn;
use errorbar_core::engine::{Components, SampleEpochs};
use errorbar_core::metrics::mean;
use errorbar_core::{
    Conversion, Defined, ErrorPlan, Metric, ScoreColumns, ScoreSet, Scores, Undefined, ValueRef,
};
use errorbar_stats::descriptive::correlation_of_variances;
use errorbar_stats::exact::Moments;

/// The scores of one run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PilotSide<'a> {
    /// The scores.
    pub columns: &'a ScoreColumns,
    /// The scorer.
    pub scorer: &'a str,
}

impl<'a> PilotSide<'a> {
    /// The scores by this scorer.
    pub fn new(columns: &'a ScoreColumns, scorer: &'a str) -> Self {
        PilotSide { columns, scorer }
    }
}

/// How scores vary: those of one run, or the difference of two.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PilotScores {
    /// The number of samples; of pairs, if two runs are paired; of the smaller run, if they are not.
    pub samples: u64,
    /// Samples that only the first run has.
    pub only_base: u64,
    /// Samples that only the second run has.
    pub only_other: u64,
    /// The epochs of each sample, if all have the same number.
    pub epochs: Option<u32>,
    /// The mean of the scores; of two runs, the difference of their means, the second minus the first.
    pub mean: f64,
    /// The variance of the samples' means, as they are; of a paired difference, of those; unpaired, the mean of both
    /// runs.
    pub variance: f64,
    /// Of that, the variance of the samples' true means: what epochs add is subtracted. It is cut off at 0.
    pub between: Defined<f64>,
    /// The variance of one epoch of a sample; of a paired difference, the sum over both runs.
    pub within: Defined<f64>,
    /// The correlation of the samples' means of two paired runs.
    pub correlation: Defined<f64>,
    /// The shares of pairs in which only the first and only the second run is right, if all scores are zeros and ones of
    /// one epoch.
    pub flips: Option<(f64, f64)>,
    /// The share of right answers (of the first run), if all scores are zeros and ones of one epoch.
    pub share: Option<f64>,
    /// By what clusters multiply the variance of the mean, or of the difference.
    pub design_effect: Option<f64>,
    /// The number of clusters, for each way of clustering.
    pub clusters: Vec<u64>,
}

impl PilotScores {
    /// How the scores of one run vary; with clusters by these metadata keys.
    ///
    /// # Errors
    /// There are fewer than two samples, or scores that are no numbers.
    pub fn of_one(side: PilotSide<'_>, clusters: &[String]) -> Result<Self, PowerError> {
        let set = side.set(clusters)?;
        let samples = Samples::of(&set)?;
        let components = samples.components(0..samples.len());
        let variance = components.of_means()?;
        let means = samples.means();
        let (design_effect, clusters) = samples.clustered(0..samples.len(), &means, variance)?;
        Ok(PilotScores {
            samples: means.len() as u64,
            only_base: 0,
            only_other: 0,
            epochs: samples.common_epochs(),
            mean: mean_of(&means),
            variance,
            between: components.between().map(|between| between.max(0.0)),
            within: components.within.clone(),
            correlation: Err(Undefined::NotAvailable),
            flips: None,
            share: samples.are_binary().then(|| mean_of(&means)),
            design_effect,
            clusters,
        })
    }

    /// How the difference of two runs of the same samples varies. Clusters are those of the first run; the second may not have
    /// others.
    ///
    /// # Errors
    /// Fewer than two samples are in both, scores are no numbers, or a sample is in another cluster in each run.
    pub fn of_pairs(
        base: PilotSide<'_>,
        other: PilotSide<'_>,
        clusters: &[String],
    ) -> Result<Self, PowerError> {
        let (base_set, other_set) = (base.set(clusters)?, other.set(&[])?);
        let sides =
            NamedColumns { names: ["the first run", "the second"], columns: [base.columns, other.columns] };
        let (base, other) = (Samples::of(&base_set)?, Samples::of(&other_set)?);
        let by_id: HashMap<&str, usize> = other.ids().enumerate().map(|(at, id)| (id, at)).collect();
        let pairs = base.ids().enumerate().filter_map(|(at, id)| Some((at, *by_id.get(id)?)));
        let (of_base, of_other): (Vec<usize>, Vec<usize>) = pairs.unzip();
        if of_base.is_empty() {
            return Err(PowerError::NoCommonSample);
        }
        for key in clusters {
            let pairs = of_base.iter().zip(&of_other);
            let rows =
                pairs.map(|(of_base, of_other)| (base.first_row(*of_base), other.first_row(*of_other)));
            sides.check_key(key, rows)?;
        }
        let pick = |means: &[f64], at: &[usize]| -> Vec<f64> {
            at.iter().filter_map(|at| means.get(*at)).copied().collect()
        };
        let (base_means, other_means) = (pick(&base.means(), &of_base), pick(&other.means(), &of_other));
        let differences: Vec<f64> =
            other_means.iter().zip(&base_means).map(|(other, base)| other - base).collect();
        let variance = variance_of(&differences)?;
        let base_parts = base.components(of_base.iter().copied());
        let other_parts = other.components(of_other.iter().copied());
        let of_epochs = base_parts.of_epochs(0.0).and_then(|base| Ok(base + other_parts.of_epochs(0.0)?));
        let within = base_parts.within.clone().and_then(|base| Ok(base + other_parts.within.clone()?));
        let correlation = base_parts.of_means().and_then(|base| {
            let other = other_parts.of_means()?;
            if base == 0.0 || other == 0.0 {
                return Err(Undefined::NoSpread { n: differences.len() as u64 });
            }
            correlation_of_variances(base, other, variance).ok_or(Undefined::Overflow)
        });
        let n = differences.len() as f64;
        let flips = (base.are_binary() && other.are_binary()).then(|| {
            let share =
                |sign: f64| differences.iter().filter(|difference| **difference == sign).count() as f64 / n;
            (share(-1.0), share(1.0))
        });
        let (design_effect, clusters) = base.clustered(of_base.iter().copied(), &differences, variance)?;
        Ok(PilotScores {
            samples: differences.len() as u64,
            only_base: (base.len() - of_base.len()) as u64,
            only_other: (other.len() - of_other.len()) as u64,
            epochs: base.common_epochs().filter(|epochs| other.common_epochs() == Some(*epochs)),
            mean: mean_of(&differences),
            variance,
            between: of_epochs.map(|of_epochs| (variance - of_epochs).max(0.0)),
            within,
            correlation,
            flips,
            share: base.are_binary().then(|| mean_of(&base_means)),
            design_effect,
            clusters,
        })
    }

    /// How the scores of two runs vary, each by itself: the mean of both.
    ///
    /// # Errors
    /// One of them has fewer than two samples, or scores that are no numbers.
    pub fn of_two(
        base: PilotSide<'_>,
        other: PilotSide<'_>,
        clusters: &[String],
    ) -> Result<Self, PowerError> {
        let (base, other) = (PilotScores::of_one(base, clusters)?, PilotScores::of_one(other, clusters)?);
        let half = |base: &Defined<f64>, other: &Defined<f64>| match (base, other) {
            (Ok(base), Ok(other)) => Ok(0.5 * (base + other)),
            (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
        };
        // The variances of the two means add up, with clusters and without.
        let of_mean = |side: &PilotScores| side.variance / side.samples as f64;
        let (of_base, of_other) = (of_mean(&base), of_mean(&other));
        let design_effect = match (base.design_effect, other.design_effect) {
            (Some(one), Some(two)) => Some((one * of_base + two * of_other) / (of_base + of_other)),
            _ => None,
        };
        Ok(PilotScores {
            samples: base.samples.min(other.samples),
            epochs: base.epochs.filter(|epochs| other.epochs == Some(*epochs)),
            mean: other.mean - base.mean,
            variance: 0.5 * (base.variance + other.variance),
            between: half(&base.between, &other.between),
            within: half(&base.within, &other.within),
            share: base.share.filter(|_| other.share.is_some()),
            design_effect,
            ..base
        })
    }

    /// The variance in its two parts.
    ///
    /// # Errors
    /// Samples have one epoch each.
    pub fn spread(&self) -> Defined<ScoreSpread> {
        Ok(ScoreSpread::new(self.between.clone()?, self.within.clone()?))
    }
}

impl<'a> PilotSide<'a> {
    fn set(&self, clusters: &[String]) -> Result<ScoreSet<'a>, PowerError> {
        let mut errors = ErrorPlan::new();
        errors.cluster = clusters.to_vec();
        Ok(ScoreSet::unreduced(self.columns, self.scorer)?.with_errors(errors))
    }
}

impl From<Undefined> for PowerError {
    fn from(reason: Undefined) -> Self {
        PowerError::Pilot(match reason {
            Undefined::NoScores => "there is no score".to_owned(),
            Undefined::TooFewScores { n: 0 } => "there is no score".to_owned(),
            Undefined::TooFewScores { .. } => {
                "there is one sample, and it takes two to show how they vary".to_owned()
            }
            Undefined::TooFewClusters { .. } => {
                "there is one cluster, and it takes two to show how they vary".to_owned()
            }
            reason => format!("the scores do not show how they vary: {reason}"),
        })
    }
}

/// The scored samples of a run, with their epochs.
struct Samples<'a> {
    scores: Scores<'a>,
    positions: Vec<Vec<u32>>,
    floats: Vec<f64>,
}

impl<'a> Samples<'a> {
    fn of(set: &'a ScoreSet<'a>) -> Result<Self, PowerError> {
        let scores = set.scores();
        let is_nested = |at: usize| matches!(scores.value(at), ValueRef::Map(_) | ValueRef::List(_));
        if let Some(at) = (0..scores.len()).find(|at| is_nested(*at)) {
            let sample = scores.sample_id(at);
            return Err(PowerError::NestedScore { sample: sample.to_owned() });
        }
        let floats = scores.finite("power", &Conversion::default(), <[f64]>::to_vec)?;
        let positions = SampleEpochs::of(&scores).iter().map(<[u32]>::to_vec).collect();
        Ok(Samples { scores, positions, floats })
    }

    fn len(&self) -> usize {
        self.positions.len()
    }

    fn ids(&self) -> impl Iterator<Item = &'a str> {
        let first = |epochs: &Vec<u32>| epochs.first().copied().unwrap_or_default() as usize;
        self.positions.iter().map(move |epochs| self.scores.sample_id(first(epochs)))
    }

    /// The first row of a sample among the score columns.
    fn first_row(&self, sample: usize) -> usize {
        let first = self.positions.get(sample).and_then(|epochs| epochs.first()).copied();
        self.scores.column_row(first.unwrap_or_default() as usize)
    }

    fn epochs_of(&self, sample: usize) -> Vec<f64> {
        let positions = self.positions.get(sample).map(Vec::as_slice).unwrap_or_default();
        positions.iter().filter_map(|at| self.floats.get(*at as usize)).copied().collect()
    }

    fn means(&self) -> Vec<f64> {
        (0..self.len()).map(|sample| mean_of(&self.epochs_of(sample))).collect()
    }

    fn components(&self, samples: impl Iterator<Item = usize>) -> Components {
        Components::new(samples.map(|sample| self.epochs_of(sample)))
    }

    fn common_epochs(&self) -> Option<u32> {
        let first = self.positions.first().map(Vec::len)?;
        let is_common = self.positions.iter().all(|epochs| epochs.len() == first);
        u32::try_from(first).ok().filter(|_| is_common)
    }

    /// Whether all scores are zeros and ones of one epoch.
    fn are_binary(&self) -> bool {
        self.common_epochs() == Some(1) && self.floats.iter().all(|score| *score == 0.0 || *score == 1.0)
    }

    /// By what clusters multiply the variance of the mean of one number for each of some samples, which vary so; and the number
    /// of clusters.
    fn clustered(
        &self,
        samples: impl Iterator<Item = usize>,
        values: &[f64],
        variance: f64,
    ) -> Result<(Option<f64>, Vec<u64>), PowerError> {
        if self.scores.estimation().errors.cluster.is_empty() {
            return Ok((None, Vec::new()));
        }
        // As an error of its own, where a clustered mean would only be without its error.
        for key in &self.scores.estimation().errors.cluster {
            self.scores.codes(&self.scores.key("the design effect", key))?;
        }
        let firsts: Vec<usize> =
            samples.filter_map(|sample| self.positions.get(sample)?.first().map(|at| *at as usize)).collect();
        let mut set = self.scores.derive(firsts.into_iter(), ValueColumn::from_floats(values));
        // One score for each sample from here on.
        set.take_as_samples();
        let value = mean().compute(&set.scores())?;
        let error = value.estimate().ok_or(Undefined::NoScores)?.error.clone()?;
        let (clustered, independent) = (error.se * error.se, variance / values.len() as f64);
        if clustered > 0.0 && independent > 0.0 {
            return Ok((Some(clustered / independent), error.clusters));
        }
        let text = "the means of all clusters are equal, so they do not show the effect of clusters";
        Err(PowerError::Pilot(text.to_owned()))
    }
}

fn mean_of(values: &[f64]) -> f64 {
    errorbar_stats::exact::ExactSum::mean(values)
}

fn variance_of(values: &[f64]) -> Defined<f64> {
    let mut moments = Moments::new();
    moments.extend(values);
    moments.variance().ok_or(Undefined::TooFewScores { n: moments.count() })
}

#[cfg(test)]
mod tests;
