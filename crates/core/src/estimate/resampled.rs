//! The estimate of any figure from resamples of its units.

use super::{
    Draws, ErrorMethod, ErrorPlan, Estimate, Interval, IntervalChoice, IntervalMethod, Maybe, ScoreUnits,
    StdError, Undefined,
};
use crate::error::Result;
use crate::scores::Scores;
use crate::stats::{
    jackknife_error, left_out_figures, percentile_ends, resampled_figures, standard_deviation,
};

/// With fewer resamples an interval says little.
const FEWEST_DRAWS: u64 = 200;

/// The estimate of a figure over scores, with error and interval from resamples of the units of the plan.
///
/// `prepare` gets the units and returns the figure of a resample, from how often each unit is in it. It is not called
/// where nothing is to be resampled: for a figure that is undefined, and within another bootstrap.
///
/// # Errors
/// Those of reading scores. Clusters that do not fit are a reason why there is no error.
pub(crate) fn resampled_estimate<F>(
    metric: &str,
    scores: &Scores<'_>,
    value: Maybe<f64>,
    prepare: impl FnOnce(&ScoreUnits) -> F,
) -> Result<Estimate>
where
    F: Fn(&[u32]) -> Option<f64> + Sync,
{
    let counted = |mut estimate: Estimate| {
        (estimate.n, estimate.absent) = (scores.len() as u64, scores.absent() as u64);
        estimate
    };
    let value = match value {
        Ok(value) => value,
        Err(reason) => return Ok(counted(Estimate::undefined(reason))),
    };
    let estimation = scores.estimation();
    if estimation.value_only {
        return Ok(counted(Estimate::new(value)));
    }
    let plan = &estimation.errors;
    let without = |reason: Undefined| {
        let mut estimate = Estimate::new(value);
        (estimate.error, estimate.interval) = (Err(reason.clone()), Err(reason));
        counted(estimate)
    };
    let units = match ScoreUnits::of_plan(metric, scores)? {
        Ok(units) => units,
        Err(reason) => return Ok(without(reason)),
    };
    let draws = match planned_draws(scores) {
        Ok(draws) => draws,
        Err(reason) => return Ok(without(reason)),
    };
    let figure = prepare(&units);
    let left_out = wants_left_out(plan).then(|| left_out_figures(units.len(), &figure)).flatten();
    let resampled = ResampledFigure {
        value,
        figures: resampled_figures(units.len(), draws.count as usize, draws.seed, &figure),
        draws,
        left_out: left_out.as_deref(),
        units: units.len(),
        is_clustered: units.is_clustered(),
    };
    Ok(counted(resampled.estimate(plan)))
}

/// Whether a plan needs the figures with each unit left out.
pub(crate) fn wants_left_out(plan: &ErrorPlan) -> bool {
    plan.method == Some(ErrorMethod::Jackknife)
}

/// The resamples of the plan: as many as it names; if it names none, 10,000, or fewer of very many scores.
pub(crate) fn planned_draws(scores: &Scores<'_>) -> Maybe<Draws> {
    let (estimation, n) = (scores.estimation(), scores.len() as u64);
    let wanted = u64::from(estimation.errors.draws());
    let count = if estimation.errors.draws.is_some() {
        estimation.random.check_draws(wanted, n).map_err(Undefined::Other)?;
        wanted
    } else {
        estimation.random.affordable_draws(wanted, n)
    };
    if count < FEWEST_DRAWS.min(wanted) {
        return Err(Undefined::Other(format!(
            "too many scores for a bootstrap without a number of draws: {n}"
        )));
    }
    Ok(Draws::new(estimation.seed(), count))
}

/// One undefined resample in this number is too many: an interval of the others would be that of another question.
const MOST_UNDEFINED: usize = 20;

/// A figure, and what it is over resamples of whole units.
#[derive(Clone, Debug)]
pub(crate) struct ResampledFigure<'a> {
    pub(crate) value: f64,
    /// The figures of resamples; those that are undefined are left out.
    pub(crate) figures: Vec<f64>,
    /// The seed, and the number of resamples that were drawn.
    pub(crate) draws: Draws,
    /// The figures with each unit left out in turn, where the caller has them: for an error by jackknife and for BCa.
    pub(crate) left_out: Option<&'a [f64]>,
    /// The number of units.
    pub(crate) units: usize,
    /// Whether units are clusters of samples.
    pub(crate) is_clustered: bool,
}

impl ResampledFigure<'_> {
    /// The estimate: error and interval from the resamples, as the plan has it. The caller sets n and absent.
    pub(crate) fn estimate(mut self, plan: &ErrorPlan) -> Estimate {
        self.figures.sort_unstable_by(f64::total_cmp);
        let mut estimate = Estimate::new(self.value);
        estimate.error = self.error(plan);
        match self.interval(plan, &estimate.error) {
            Ok((interval, reason)) => {
                (estimate.notes.is_caution, estimate.notes.reason) = (reason.is_some(), reason);
                estimate.interval = Ok(interval);
            }
            Err(reason) => estimate.interval = Err(reason),
        }
        estimate.draws = Some(self.draws);
        let undefined = self.undefined();
        estimate.note_some("undefined_resamples", (undefined > 0).then_some(undefined))
    }

    fn undefined(&self) -> u64 {
        self.draws.count.saturating_sub(self.figures.len() as u64)
    }

    /// Whether the resamples say anything.
    fn check(&self) -> Maybe<()> {
        let units = self.units as u64;
        match units {
            0 => return Err(Undefined::NoScores),
            1 if self.is_clustered => return Err(Undefined::TooFewClusters { clusters: 1 }),
            1 => return Err(Undefined::TooFewScores { n: 1 }),
            _ => {}
        }
        let (undefined, count) = (self.undefined(), self.draws.count);
        if undefined.saturating_mul(MOST_UNDEFINED as u64) > count {
            return Err(Undefined::Other(format!("undefined in {undefined} of {count} resamples")));
        }
        match (self.figures.first(), self.figures.last()) {
            (Some(first), Some(last)) if !first.is_finite() || !last.is_finite() => Err(Undefined::Overflow),
            (Some(first), Some(last)) if first == last => {
                Err(Undefined::Other(format!("the same in all {} resamples", self.figures.len())))
            }
            (Some(_), Some(_)) => Ok(()),
            _ => Err(Undefined::Other("no resample is defined".to_owned())),
        }
    }

    fn error(&self, plan: &ErrorPlan) -> Maybe<StdError> {
        self.check()?;
        let clusters = if self.is_clustered { vec![self.units as u64] } else { Vec::new() };
        let (se, method) = match (plan.method, self.left_out) {
            (Some(ErrorMethod::Jackknife), Some(left_out)) => {
                let se =
                    jackknife_error(left_out).ok_or(Undefined::TooFewScores { n: left_out.len() as u64 })?;
                (se, ErrorMethod::Jackknife)
            }
            _ => (standard_deviation(&self.figures), ErrorMethod::Bootstrap),
        };
        let df = (self.units - 1) as f64;
        Ok(StdError::new(se, method).with_df(df).with_clusters(clusters))
    }

    /// The interval; and why it is not of the method that the plan names, if it is not.
    fn interval(&self, plan: &ErrorPlan, error: &Maybe<StdError>) -> Maybe<(Interval, Option<String>)> {
        self.check()?;
        error.as_ref().map_err(Undefined::clone)?;
        let level = plan.level();
        let tail = (1.0 - level) / 2.0;
        let (lower, upper) = percentile_ends(&self.figures, tail, 1.0 - tail);
        let reason = match plan.interval {
            IntervalChoice::Auto | IntervalChoice::Method(IntervalMethod::Bootstrap) => None,
            IntervalChoice::Method(other) => {
                Some(format!("bootstrap in place of {other}, which is for means"))
            }
        };
        Ok((Interval::new(lower, upper, level, IntervalMethod::Bootstrap), reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(figures: Vec<f64>, count: u64) -> ResampledFigure<'static> {
        let draws = Draws::new(0, count);
        ResampledFigure { value: 5.0, figures, draws, left_out: None, units: 10, is_clustered: false }
    }

    #[test]
    fn percentiles_by_the_inverse_of_the_distribution() {
        let estimate = figure((0..1000).map(f64::from).collect(), 1000).estimate(&ErrorPlan::new());
        let interval = estimate.interval.unwrap();
        // The 25th and the 975th of 0 … 999.
        assert_eq!((interval.lower, interval.upper), (24.0, 974.0));
        let error = estimate.error.unwrap();
        assert_eq!((error.method, error.df), (ErrorMethod::Bootstrap, 9.0));
        // The discrete uniform's variance: (1000² − 1)/12.
        assert!((error.se - (999_999.0_f64 / 12.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn resamples_that_say_nothing() {
        let plan = ErrorPlan::new();
        let few = figure(vec![1.0, 2.0], 3).estimate(&plan);
        assert_eq!(few.error, Err(Undefined::Other("undefined in 1 of 3 resamples".to_owned())));
        assert_eq!(few.number(), Some(5.0));
        let same = figure(vec![5.0; 100], 100).estimate(&plan);
        assert_eq!(same.interval, Err(Undefined::Other("the same in all 100 resamples".to_owned())));
        let infinite = figure(vec![5.0, f64::INFINITY], 2).estimate(&plan);
        assert_eq!(infinite.error, Err(Undefined::Overflow));
        let one = ResampledFigure { units: 1, ..figure(vec![5.0; 100], 100) };
        assert_eq!(one.estimate(&plan).error, Err(Undefined::TooFewScores { n: 1 }));
    }

    #[test]
    fn dropped_resamples_are_counted() {
        let estimate = figure((0..99).map(f64::from).collect(), 100).estimate(&ErrorPlan::new());
        assert_eq!(estimate.notes.custom.get("undefined_resamples"), Some(&1.into()));
        assert!(estimate.error.is_ok());
    }
}
