//! The estimate of any figure from resamples of its units.

use super::clusters::RowClusters;
use super::{Defined, Draws, Estimate, Interval, StdError, Undefined};
use crate::error::{Error, Result};
use crate::error_plan::{ErrorMethod, ErrorPlan, IntervalChoice, IntervalMethod};
use crate::naming::ranks;
use crate::random::{LEAST_COST, Random, figure_cost};
use crate::scores::Scores;
use errorbar_stats::descriptive::{quantile_inverse, standard_deviation};
use errorbar_stats::resampling::{bca_shares, jackknife_error, left_out_rows, resampled_rows};

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
    value: Defined<f64>,
    prepare: impl FnOnce(&ScoreUnits) -> F,
) -> Result<Estimate>
where
    F: Fn(&[u32]) -> Option<f64> + Sync,
{
    let estimates = resampled_estimates(metric, scores, vec![value], |units| {
        let figure = prepare(units);
        move |counts: &[u32]| vec![figure(counts).unwrap_or(f64::NAN)]
    })?;
    Ok(estimates.into_iter().next().unwrap_or_else(|| Estimate::undefined(Undefined::NoScores)))
}

/// The same for several figures of the same resamples; in a resample, one that is undefined is not a number.
///
/// # Errors
/// Those of reading scores.
pub(crate) fn resampled_estimates<F>(
    metric: &str,
    scores: &Scores<'_>,
    values: Vec<Defined<f64>>,
    prepare: impl FnOnce(&ScoreUnits) -> F,
) -> Result<Vec<Estimate>>
where
    F: Fn(&[u32]) -> Vec<f64> + Sync,
{
    let counted = |estimate: Estimate| estimate.counted(scores.len() as u64, scores.absent() as u64);
    let without = |reason: Option<&Undefined>| -> Vec<Estimate> {
        let estimate = |value: &Defined<f64>| {
            counted(match (value, reason) {
                (Err(reason), _) => Estimate::undefined(reason.clone()),
                (Ok(value), Some(reason)) => Estimate::new(*value).without_error(reason),
                (Ok(value), None) => Estimate::new(*value),
            })
        };
        values.iter().map(estimate).collect()
    };
    let estimation = scores.estimation();
    if estimation.value_only || values.iter().all(Result::is_err) {
        return Ok(without(None));
    }
    let n = scores.len() as u64;
    let cost = figure_cost(n);
    let planned = ScoreUnits::of_plan(metric, scores)?
        .and_then(|units| Ok((units, planned_draws(&estimation.errors, &estimation.random, n, cost)?)));
    let (units, draws) = match planned {
        Ok(planned) => planned,
        Err(reason) => return Ok(without(Some(&reason))),
    };
    let figures = prepare(&units);
    let resamples = ResampledFigures::draw(scores, &units, draws, (values.len(), cost), &figures);
    let estimate = |(at, value): (usize, &Defined<f64>)| {
        counted(match value {
            Ok(value) => resamples.estimate(at, *value, units.len(), &estimation.errors),
            Err(reason) => Estimate::undefined(reason.clone()),
        })
    };
    Ok(values.iter().enumerate().map(estimate).collect())
}

/// The most figures that are held: resamples, and units left out, times groups or keys.
pub const MAX_FIGURES: usize = 25_000_000;

/// Several figures over the same resamples.
#[derive(Clone, Debug)]
pub(crate) struct ResampledFigures {
    /// The number of figures.
    width: usize,
    /// Those of each resample, one resample after the other; not a number where one is undefined.
    resamples: Vec<f64>,
    /// Those with each unit left out; empty where no method needs them, or where there are too many.
    left_out: Vec<f64>,
    draws: Draws,
    samples: usize,
    is_clustered: bool,
}

impl ResampledFigures {
    /// Draws the resamples. `figures` has this number of them for each, at this cost.
    pub(crate) fn draw(
        scores: &Scores<'_>,
        units: &ScoreUnits,
        draws: Draws,
        (width, cost): (usize, u64),
        figures: &(impl Fn(&[u32]) -> Vec<f64> + Sync),
    ) -> Self {
        let estimation = scores.estimation();
        let count = draws.count as usize;
        let (left_out, n) = (units.len() as u64, scores.len() as u64);
        let is_affordable = estimation.random.affordable_draws(left_out, n, cost) == left_out
            && count.saturating_add(units.len()).saturating_mul(width) <= MAX_FIGURES;
        let left_out = match estimation.errors.wants_left_out() && is_affordable {
            true => left_out_rows(units.len(), width, figures),
            false => Vec::new(),
        };
        // One unit can be drawn in one way only.
        let count = if units.len() > 1 { count } else { 0 };
        let resamples = resampled_rows(units.len(), count, draws.seed, width, figures);
        let (samples, is_clustered) = (units.samples(), units.is_clustered());
        let draws = Draws::new(draws.seed, count as u64);
        ResampledFigures { width, resamples, left_out, draws, samples, is_clustered }
    }

    /// The estimate of one of the figures, which is about this number of units.
    pub(crate) fn estimate(&self, at: usize, value: f64, units: usize, plan: &ErrorPlan) -> Estimate {
        let column =
            |rows: &[f64]| -> Vec<f64> { rows.iter().skip(at).step_by(self.width.max(1)).copied().collect() };
        let mut figures = column(&self.resamples);
        figures.retain(|figure| !figure.is_nan());
        let left_out = column(&self.left_out);
        let is_usable = !left_out.is_empty() && left_out.iter().all(|figure| figure.is_finite());
        let figure = ResampledFigure {
            value,
            figures,
            draws: self.draws,
            left_out: is_usable.then_some(left_out.as_slice()),
            units,
            samples: self.samples,
            is_clustered: self.is_clustered,
        };
        figure.estimate(plan)
    }
}

/// The resamples of the plan, for n scores or units and at this cost of each: as many as it names; if it names none, 10,000,
/// or fewer of very many, or where a plan of others would take too long.
pub fn planned_draws(plan: &ErrorPlan, random: &Random, n: u64, cost: u64) -> Defined<Draws> {
    let wanted = u64::from(plan.draws());
    let count = if plan.draws.is_some() {
        random.check_draws(wanted, cost).map_err(Undefined::Other)?;
        wanted
    } else {
        // A figure of few scores takes its time as well: a hundred thousand groups of two are no small matter.
        random.affordable_draws(wanted, n.max(LEAST_COST), cost)
    };
    if count < FEWEST_DRAWS.min(wanted) {
        let problem = "too many scores or groups for a bootstrap without a number of draws";
        return Err(Undefined::Other(problem.to_owned()));
    }
    Ok(Draws::new(random.seed, count))
}

/// One undefined resample in this number is too many: an interval of the others would be that of another question.
const MOST_UNDEFINED: usize = 20;

/// A figure, and what it is over resamples of whole units.
#[derive(Clone, Debug)]
pub struct ResampledFigure<'a> {
    /// The figure itself.
    pub value: f64,
    /// The figures of resamples; those that are undefined are left out.
    pub figures: Vec<f64>,
    /// The seed, and the number of resamples that were drawn.
    pub draws: Draws,
    /// The figures with each unit left out in turn, where the caller has them: for an error by jackknife and for BCa.
    pub left_out: Option<&'a [f64]>,
    /// The number of units.
    pub units: usize,
    /// The number of samples, which are a part of the population if there is one.
    pub samples: usize,
    /// Whether units are clusters of samples.
    pub is_clustered: bool,
}

impl ResampledFigure<'_> {
    /// The estimate: error and interval from the resamples, as the plan has it. The caller sets n and absent.
    pub fn estimate(mut self, plan: &ErrorPlan) -> Estimate {
        self.figures.sort_unstable_by(f64::total_cmp);
        let mut estimate = Estimate::new(self.value);
        // The share of a population that resamples leave out is a part of the variance, whatever its shape.
        let sampled = self.check().and_then(|()| plan.sampled(self.samples as f64));
        let shrink = sampled.map(|sampled| (1.0 - sampled).sqrt());
        estimate.error = shrink.clone().and_then(|shrink| self.error(plan, shrink));
        match shrink.and_then(|shrink| self.interval(plan, shrink)) {
            Ok((interval, reason)) => {
                (estimate.notes.is_caution, estimate.notes.reason) = (reason.is_some(), reason);
                estimate.interval = Ok(interval);
            }
            Err(reason) => estimate.interval = Err(reason),
        }
        if plan.method == Some(ErrorMethod::Jackknife) && self.left_out.is_none() && estimate.error.is_ok() {
            estimate.notes.add_caution(
                "bootstrap in place of jackknife: undefined, or too long to compute, with a unit left out",
            );
        }
        estimate.draws = Some(self.draws).filter(|draws| draws.count > 0);
        let undefined = self.undefined();
        estimate.note_some("undefined_resamples", (undefined > 0).then_some(undefined))
    }

    fn undefined(&self) -> u64 {
        self.draws.count.saturating_sub(self.figures.len() as u64)
    }

    /// Whether the resamples say anything.
    fn check(&self) -> Defined<()> {
        match self.units {
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

    fn error(&self, plan: &ErrorPlan, shrink: f64) -> Defined<StdError> {
        let clusters = if self.is_clustered { vec![self.units as u64] } else { Vec::new() };
        let (se, method) = match (plan.method, self.left_out) {
            (Some(ErrorMethod::Jackknife), Some(left_out)) => {
                let se =
                    jackknife_error(left_out).ok_or(Undefined::TooFewScores { n: left_out.len() as u64 })?;
                (se, ErrorMethod::Jackknife)
            }
            _ => (standard_deviation(&self.figures), ErrorMethod::Bootstrap),
        };
        if !se.is_finite() {
            return Err(Undefined::Overflow);
        }
        let df = (self.units - 1) as f64;
        Ok(StdError::new(se * shrink, method).with_df(df).with_clusters(clusters))
    }

    /// The interval; and why it is not of the method that the plan names, if it is not.
    fn interval(&self, plan: &ErrorPlan, shrink: f64) -> Defined<(Interval, Option<String>)> {
        let (level, side) = (plan.level(), plan.side());
        let confidence = side.confidence_of_ends(level);
        let shares = [1.0 - confidence, confidence];
        let (method, [low, high], reason) = match plan.interval {
            IntervalChoice::Auto | IntervalChoice::Method(IntervalMethod::Bootstrap) => {
                (IntervalMethod::Bootstrap, shares, None)
            }
            IntervalChoice::Method(IntervalMethod::Bca) => {
                match self
                    .left_out
                    .and_then(|left_out| bca_shares(self.value, &self.figures, left_out, shares))
                {
                    Some(shares) => (IntervalMethod::Bca, shares, None),
                    None => {
                        let why = match self.left_out {
                            Some(_) => "resamples lie on one side",
                            None => "undefined, or too long to compute, with a unit left out",
                        };
                        (IntervalMethod::Bootstrap, shares, Some(format!("bootstrap in place of bca: {why}")))
                    }
                }
            }
            IntervalChoice::Method(other) => {
                let reason = format!("bootstrap in place of {other}, which is for means");
                (IntervalMethod::Bootstrap, shares, Some(reason))
            }
        };
        let (lower, upper) = (quantile_inverse(&self.figures, low), quantile_inverse(&self.figures, high));
        let shrunk = |end: f64| if shrink < 1.0 { self.value + shrink * (end - self.value) } else { end };
        let interval = Interval::new(shrunk(lower), shrunk(upper), level, method);
        // The range of a figure that is no mean is unknown.
        Ok((interval.one_sided(side, None), reason))
    }
}

/// The units of scores, in a canonical order: by sample id, or by cluster. Those that resample draw whole units.
#[derive(Clone, Debug)]
pub struct ScoreUnits {
    /// The positions of the scores, unit after unit; within a unit by sample id and epoch.
    positions: Vec<u32>,
    /// Where each unit ends.
    ends: Vec<u32>,
    /// The number of samples.
    samples: usize,
    is_clustered: bool,
}

impl ScoreUnits {
    /// The units by these cluster keys; samples if there is none.
    ///
    /// # Errors
    /// A sample without the key or with a value that is no cluster id, or two keys: resampling the clusters of one would
    /// take those of the other apart.
    pub fn of(metric: &str, scores: &Scores<'_>, keys: &[String]) -> Result<Self> {
        let clusters: Vec<u32> = match keys {
            [] => vec![0; scores.len()],
            [key] => {
                let RowClusters { ids, of_positions } = RowClusters::by_key(metric, key, scores)?;
                let ranks = ranks(&ids);
                let rank = |id: u32| ranks.get(id as usize).copied().unwrap_or(u32::MAX);
                of_positions.into_iter().map(rank).collect()
            }
            _ => return Err(Error::undefined(metric, "no bootstrap with two cluster keys")),
        };
        let row = |(at, cluster): (usize, u32)| (cluster, scores.sample_id(at), scores.epoch(at), at as u32);
        let mut rows: Vec<(u32, &str, u32, u32)> = clusters.into_iter().enumerate().map(row).collect();
        if !rows.is_sorted() {
            rows.sort_unstable();
        }
        let of_samples = || rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(<[_]>::len);
        let ends = match keys {
            [] => ends(of_samples()),
            _ => ends(rows.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len)),
        };
        let positions = rows.iter().map(|row| row.3).collect();
        Ok(ScoreUnits { positions, ends, samples: of_samples().count(), is_clustered: !keys.is_empty() })
    }

    /// The units of the plan of the scores. A cluster key that does not fit is a reason why there is no error: the number
    /// stands.
    ///
    /// # Errors
    /// Anything else.
    pub fn of_plan(metric: &str, scores: &Scores<'_>) -> Result<Defined<Self>> {
        ScoreUnits::of_keys(metric, scores, &scores.estimation().errors.cluster)
    }

    /// The same for other keys.
    ///
    /// # Errors
    /// As above.
    pub fn of_keys(metric: &str, scores: &Scores<'_>, keys: &[String]) -> Result<Defined<Self>> {
        match ScoreUnits::of(metric, scores, keys) {
            Ok(units) => Ok(Ok(units)),
            Err(error) if error.is_about_clusters() => Ok(Err(Undefined::Other(error.to_string()))),
            Err(Error::Undefined { problem, .. }) => Ok(Err(Undefined::Other(problem))),
            Err(error) => Err(error),
        }
    }

    /// The same units with other positions, which `map` adds for those of each unit.
    pub fn mapped(&self, map: impl Fn(&[u32], &mut Vec<u32>)) -> Self {
        let (mut positions, mut ends) = (Vec::with_capacity(self.positions.len()), Vec::new());
        for unit in self.iter() {
            map(unit, &mut positions);
            ends.push(positions.len() as u32);
        }
        ScoreUnits { positions, ends, samples: self.samples, is_clustered: self.is_clustered }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of units.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Whether the units are clusters of samples.
    pub fn is_clustered(&self) -> bool {
        self.is_clustered
    }

    /// The positions of the scores of each unit.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let part = |(start, end): (u32, &u32)| self.positions.get(start as usize..*end as usize);
        starts.zip(&self.ends).map(move |range| part(range).unwrap_or_default())
    }

    /// The unit of each position.
    pub fn of_positions(&self) -> Vec<u32> {
        let mut units = vec![0; self.positions.len()];
        for (unit, positions) in self.iter().enumerate() {
            for position in positions {
                if let Some(slot) = units.get_mut(*position as usize) {
                    *slot = unit as u32;
                }
            }
        }
        units
    }
}

/// Where parts of these lengths end.
/// How often each position is in a resample, given the unit of each and how often each unit is drawn.
pub(crate) fn times_of<'d>(unit_of: &'d [u32], draws: &'d [u32]) -> impl Fn(usize) -> u32 + 'd {
    move |at| unit_of.get(at).and_then(|unit| draws.get(*unit as usize)).copied().unwrap_or(0)
}

fn ends(lengths: impl Iterator<Item = usize>) -> Vec<u32> {
    let add = |end: &mut u32, length: usize| {
        *end += length as u32;
        Some(*end)
    };
    lengths.scan(0, add).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(figures: Vec<f64>, count: u64) -> ResampledFigure<'static> {
        let draws = Draws::new(0, count);
        ResampledFigure {
            value: 5.0,
            figures,
            draws,
            left_out: None,
            units: 10,
            samples: 10,
            is_clustered: false,
        }
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

    #[test]
    fn one_side_and_a_population() {
        let mut plan = ErrorPlan::new();
        plan.side = Some(crate::IntervalSide::Lower);
        let figures: Vec<f64> = (0..1000).map(f64::from).collect();
        let interval = figure(figures.clone(), 1000).estimate(&plan).interval.unwrap();
        assert_eq!((interval.lower, interval.upper), (49.0, f64::INFINITY));
        // 10 samples out of 40: the variance is three quarters.
        let plan = ErrorPlan { population: Some(40), ..ErrorPlan::new() };
        let (all, part) = (
            figure(figures.clone(), 1000).estimate(&ErrorPlan::new()),
            figure(figures, 1000).estimate(&plan),
        );
        let ratio = part.stderr().unwrap() / all.stderr().unwrap();
        assert!((ratio - 0.75_f64.sqrt()).abs() < 1e-15, "{ratio}");
    }

    #[test]
    fn bca_of_symmetric_figures_is_the_percentile_interval() {
        let mut plan = ErrorPlan::new();
        plan.interval = IntervalChoice::Method(IntervalMethod::Bca);
        let left_out: Vec<f64> = vec![4.0, 6.0, 4.5, 5.5];
        let resampled = ResampledFigure {
            value: 499.5,
            left_out: Some(&left_out),
            ..figure((0..1000).map(f64::from).collect(), 1000)
        };
        let interval = resampled.estimate(&plan).interval.unwrap();
        assert_eq!((interval.method, interval.lower, interval.upper), (IntervalMethod::Bca, 24.0, 974.0));
        let without = figure((0..1000).map(f64::from).collect(), 1000).estimate(&plan);
        assert_eq!(without.interval.unwrap().method, IntervalMethod::Bootstrap);
        assert!(without.notes.is_caution);
    }
}
