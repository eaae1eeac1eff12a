//! The figures of a metric over scores, and over the same resamples of both sides: what two sides are compared by.

use std::collections::HashMap;

use errorbar_core::engine::{
    ResampledFigure, Resampler, RowLists, ScoreUnits, evaluate_metric, planned_draws, resample_cost,
};
use errorbar_core::{
    AggregateBasis, Defined, Draws, ErrorMethod, Estimate, GroupContext, Groups, Metric, MetricValue, Role,
    ScoreKind, Scores, StdError, Undefined,
};
use errorbar_stats::descriptive::standard_deviation;
use errorbar_stats::resampling::{left_out_rows, resampled_rows};

use super::paired::{detectable_difference, variance_removed};
use super::pairing::Pairing;
use super::side::{Block, Side};
use super::{Comparison, ComparisonTest, TestMethod};
use crate::error::Result;

/// Which of the figures of a metric it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FigureName {
    /// Its name or position among several.
    pub(super) key: Option<String>,
    pub(super) group_key: Option<String>,
    /// The group; none with a group key is the mean over groups.
    pub(super) group: Option<String>,
}

/// All figures of a metric over scores.
///
/// # Errors
/// Those of the metric.
pub(super) fn figures(metric: &dyn Metric, scores: &Scores<'_>) -> Result<Vec<(FigureName, Estimate)>> {
    let (_, value) = evaluate_metric(metric, scores)?;
    let mut figures = Vec::new();
    flatten(value, &FigureName::default(), &mut figures);
    Ok(figures)
}

/// What a metric by groups has beside them: the means over groups, if both sides have one, and whether there is a figure of
/// all samples.
///
/// # Errors
/// Those of the metric.
pub(super) fn aggregates(
    grouped: &dyn Metric,
    [base, other]: &[Scores<'_>; 2],
) -> Result<(Option<[Estimate; 2]>, bool)> {
    let find = |figures: &[(FigureName, Estimate)], is_mean: bool| {
        let is_meant = |name: &FigureName| name.group.is_none() && name.group_key.is_some() == is_mean;
        figures.iter().find(|(name, _)| is_meant(name)).map(|(_, estimate)| estimate.clone())
    };
    let (base, other) = (figures(grouped, base)?, figures(grouped, other)?);
    let means = find(&base, true).zip(find(&other, true));
    Ok((means.map(<[Estimate; 2]>::from), find(&base, false).is_some()))
}

/// The numbers of some figures in a resample; not a number where one is undefined.
pub(super) fn numbers(metric: &dyn Metric, scores: &Scores<'_>, names: &[FigureName]) -> Vec<f64> {
    if let [only] = names
        && *only == FigureName::default()
    {
        let value = metric.compute(scores).ok();
        return vec![value.and_then(|value| value.number()).unwrap_or(f64::NAN)];
    }
    let mut found = Vec::new();
    if let Ok(value) = metric.compute(scores) {
        flatten(value, &FigureName::default(), &mut found);
    }
    let found: HashMap<FigureName, Estimate> = found.into_iter().collect();
    let number = |name: &FigureName| found.get(name).and_then(Estimate::number).unwrap_or(f64::NAN);
    names.iter().map(number).collect()
}

fn flatten(value: MetricValue, name: &FigureName, out: &mut Vec<(FigureName, Estimate)>) {
    let keyed = |key: String| FigureName { key: Some(key), ..name.clone() };
    match value {
        MetricValue::One(estimate) => out.push((name.clone(), estimate)),
        MetricValue::Map(map) => {
            let present = map.into_iter().filter_map(|(key, estimate)| Some((keyed(key), estimate?)));
            out.extend(present);
        }
        MetricValue::List(list) => {
            let list = list.into_iter().enumerate();
            out.extend(list.filter_map(|(at, estimate)| Some((keyed(at.to_string()), estimate?))));
        }
        MetricValue::Groups(groups) => flatten_groups(groups, name, out),
    }
}

fn flatten_groups(groups: Groups, name: &FigureName, out: &mut Vec<(FigureName, Estimate)>) {
    let Groups { key, groups, all, .. } = groups;
    // Groups within groups have the keys and the values of both.
    let joined = |outer: &Option<String>, own: &str| match outer {
        Some(outer) => format!("{outer}, {own}"),
        None => own.to_owned(),
    };
    let group_key = Some(joined(&name.group_key, &key));
    for group in groups {
        let group_name = Some(joined(&name.group, &group.name));
        let name = FigureName { group_key: group_key.clone(), group: group_name, ..name.clone() };
        flatten(group.value, &name, out);
    }
    if let Some(all) = all {
        let name = match all.over {
            AggregateBasis::Samples => name.clone(),
            _ => FigureName { group_key, ..name.clone() },
        };
        flatten(*all.value, &name, out);
    }
}

/// The figure of a metric that has one, over a group of all scores.
///
/// # Errors
/// Those of the metric.
pub(super) fn figure_of_group(
    metric: &dyn Metric,
    scores: &Scores<'_>,
    whole: GroupContext,
) -> Result<Estimate> {
    let value = match kind_of(metric, scores)?.filter(|_| !scores.is_empty()) {
        Some(_) => metric.compute(&scores.in_context(whole))?,
        None => evaluate_metric(metric, &scores.in_context(whole))?.1,
    };
    Ok(match value {
        MetricValue::One(estimate) => estimate,
        _ => Estimate::undefined(Undefined::NotAvailable),
    })
}

/// The same as if the run had not been stopped early: a confidence sequence has no standard error, which differences are
/// computed from.
///
/// # Errors
/// Those of the metric.
pub(super) fn figure_without_stop(
    metric: &dyn Metric,
    scores: &Scores<'_>,
    whole: GroupContext,
) -> Result<Option<Estimate>> {
    let estimation = scores.estimation();
    if estimation.errors.early_stop.is_none() || scores.is_empty() {
        return Ok(None);
    }
    let mut ordinary = estimation.clone();
    ordinary.errors.early_stop = None;
    if kind_of(metric, scores)?.is_none() {
        return Ok(None);
    }
    Ok(match scores.under(ordinary, |scores| metric.compute(&scores.in_context(whole)))? {
        MetricValue::One(estimate) => Some(estimate),
        _ => None,
    })
}

/// What all scores are, of which there may be groups.
pub(super) fn kind_of(metric: &dyn Metric, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
    Ok(metric.score_kind(scores)?)
}

/// Whether a metric is a figure of its own: errors and intervals of others are in the rows of those.
pub(super) fn is_compared(metric: &dyn Metric) -> bool {
    !matches!(metric.role(), Role::ErrorOf | Role::IntervalOf)
}

/// The figures of two sides under one metric.
pub(super) struct ResampledPair<'p> {
    pub(super) metric: &'p dyn Metric,
    pub(super) base: (&'p Side<'p>, &'p Block<'p>),
    pub(super) other: (&'p Side<'p>, &'p Block<'p>),
}

/// One figure of both sides, and their difference.
pub(super) struct FigureDifference {
    pub(super) name: FigureName,
    pub(super) base: Estimate,
    pub(super) other: Estimate,
    pub(super) difference: Estimate,
    pub(super) test: Defined<ComparisonTest>,
    pub(super) variance_removed: Defined<f64>,
    pub(super) cluster: Vec<String>,
}

impl FigureDifference {
    /// Puts the figures into a comparison of its samples.
    pub(super) fn fill(self, comparison: &mut Comparison) {
        if let Some(key) = &self.name.key {
            comparison.metric = format!("{}.{key}", comparison.metric);
        }
        if self.name.group_key.is_some() {
            (comparison.group_key, comparison.group) = (self.name.group_key, self.name.group);
        }
        comparison.mde = detectable_difference(&self.difference);
        comparison.correlation = Err(Undefined::NotAvailable);
        comparison.variance_removed = self.variance_removed;
        (comparison.base_estimate, comparison.other_estimate) = (self.base, self.other);
        let absent = comparison.difference.absent;
        comparison.difference = self.difference;
        (comparison.difference.n, comparison.difference.absent) = (comparison.n, absent);
        (comparison.test, comparison.cluster) = (self.test, self.cluster);
    }
}

impl<'p> ResampledPair<'p> {
    /// The differences over the samples of a pairing.
    ///
    /// # Errors
    /// Those of the metric over all samples.
    pub(super) fn paired(&self, pairing: &Pairing) -> Result<Vec<FigureDifference>> {
        let base = pairing.scores(self.base.0, self.base.1);
        let other = pairing.scores(self.other.0, self.other.1);
        let (names, values) = self.common_figures(&base, &other)?;
        let metric = self.metric.spec().log_name().into_owned();
        let plan = &base.estimation().errors;
        let units = ScoreUnits::of_keys(&metric, &base, &plan.cluster)?;
        let width = 2 * names.len();
        let cost = resample_cost(self.metric, base.len() as u64, width as u64).saturating_mul(2);
        let (units, draws) = match (units, draws_of(&base, cost)) {
            (Ok(units), Ok(draws)) => (units, draws),
            (Err(reason), _) | (_, Err(reason)) => return Ok(without_error(names, values, &reason)),
        };
        let resamplers = [Resampler::new(&base), Resampler::new(&other)];
        let [of_base, of_other] = &resamplers;
        let rows =
            [of_base.rows_of(units.iter()), of_other.rows_of(self.units_of_other(&units, pairing).iter())];
        let one = |counts: &[u32]| -> Vec<f64> {
            let side = |(resampler, rows): (&Resampler<'_>, &RowLists)| {
                resampler.resample(rows, counts, |scores| numbers(self.metric, scores, &names))
            };
            resamplers.iter().zip(&rows).flat_map(side).collect()
        };
        let (random, left_out) = (&base.estimation().random, units.len() as u64);
        let is_affordable = random.affordable_draws(left_out, base.len() as u64, cost) == left_out;
        let resamples = Resamples {
            width,
            all: resampled_rows(units.len(), draws.count as usize, draws.seed, width, one),
            left_out: match plan.wants_left_out() && is_affordable {
                true => left_out_rows(units.len(), width, one),
                false => Vec::new(),
            },
            draws,
            units: units.len(),
            samples: pairing.samples.len(),
            is_clustered: units.is_clustered(),
        };
        let cluster = if units.is_clustered() { plan.cluster.clone() } else { Vec::new() };
        Ok(resamples.differences(names, values, plan, &cluster))
    }

    /// The differences of all samples of both sides, each side resampled by itself.
    ///
    /// # Errors
    /// Those of the metric over all samples.
    pub(super) fn unpaired(&self, pairings: [&Pairing; 2]) -> Result<Vec<FigureDifference>> {
        let [of_base, of_other] = pairings;
        let base = of_base.scores(self.base.0, self.base.1);
        let other = of_other.scores(self.other.0, self.other.1);
        let (names, values) = self.common_figures(&base, &other)?;
        let metric = self.metric.spec().log_name().into_owned();
        let plan = &base.estimation().errors;
        let mut sides = Vec::with_capacity(2);
        for scores in [&base, &other] {
            let cost = resample_cost(self.metric, scores.len() as u64, names.len() as u64).saturating_mul(2);
            match (ScoreUnits::of_keys(&metric, scores, &plan.cluster)?, draws_of(scores, cost)) {
                (Ok(units), Ok(draws)) => sides.push((scores, units, draws)),
                (Err(reason), _) | (_, Err(reason)) => return Ok(without_error(names, values, &reason)),
            }
        }
        let count = sides.iter().map(|(.., draws)| draws.count).min().unwrap_or(0);
        // Another stream for the other side, or resamples of equal numbers of samples would be the same.
        let seed = |at: u64, draws: &Draws| draws.seed.wrapping_add(at * 0x9e37_79b9_7f4a_7c15);
        let resample = |(at, (scores, units, draws)): (u64, &(&Scores<'_>, ScoreUnits, Draws))| {
            let resampler = Resampler::new(scores);
            let rows = resampler.rows_of(units.iter());
            resampled_rows(units.len(), count as usize, seed(at, draws), names.len(), |counts: &[u32]| {
                resampler.resample(&rows, counts, |scores| numbers(self.metric, scores, &names))
            })
        };
        let mut figures = (0..).zip(&sides).map(resample);
        let (of_base, of_other) = (figures.next().unwrap_or_default(), figures.next().unwrap_or_default());
        let rows = of_base.chunks(names.len().max(1)).zip(of_other.chunks(names.len().max(1)));
        let is_clustered = sides.iter().any(|(_, units, _)| units.is_clustered());
        let resamples = Resamples {
            width: 2 * names.len(),
            all: rows.flat_map(|(base, other)| base.iter().chain(other).copied()).collect(),
            left_out: Vec::new(),
            draws: Draws::new(sides.first().map_or(0, |(.., draws)| draws.seed), count),
            units: sides.iter().map(|(_, units, _)| units.len()).min().unwrap_or(0),
            samples: base.len().min(other.len()),
            is_clustered,
        };
        let cluster = if is_clustered { plan.cluster.clone() } else { Vec::new() };
        Ok(resamples.differences(names, values, plan, &cluster))
    }

    /// The figures that both sides have, and their values.
    fn common_figures(
        &self,
        base: &Scores<'_>,
        other: &Scores<'_>,
    ) -> Result<(Vec<FigureName>, Vec<[Estimate; 2]>)> {
        let mut of_other: HashMap<FigureName, Estimate> = figures(self.metric, other)?.into_iter().collect();
        let mut common = Vec::new();
        for (name, estimate) in figures(self.metric, base)? {
            if let Some(other) = of_other.remove(&name) {
                common.push((name, [estimate, other]));
            }
        }
        Ok(common.into_iter().unzip())
    }

    /// The units of the base, with the scores of the other side: of the same samples.
    fn units_of_other(&self, units: &ScoreUnits, pairing: &Pairing) -> ScoreUnits {
        let (_, base) = self.base;
        let (_, other) = self.other;
        // The pair that each position of the base belongs to, and the positions of the other side by pair.
        let mut pair_of: Vec<u32> = Vec::new();
        let mut starts = vec![0u32];
        let mut end = 0;
        for (pair, sample) in pairing.samples.iter().enumerate() {
            pair_of.extend(base.positions(*sample).iter().map(|_| pair as u32));
            end += other.positions(*sample).len() as u32;
            starts.push(end);
        }
        units.mapped(|positions: &[u32], out: &mut Vec<u32>| {
            let mut pairs: Vec<u32> =
                positions.iter().filter_map(|at| pair_of.get(*at as usize).copied()).collect();
            // The epochs of a sample follow each other.
            pairs.dedup();
            for pair in pairs {
                let start = starts.get(pair as usize).copied().unwrap_or(0);
                out.extend(start..starts.get(pair as usize + 1).copied().unwrap_or(start));
            }
        })
    }
}

/// The resamples of the plan of scores, at this cost of each.
fn draws_of(scores: &Scores<'_>, cost: u64) -> Defined<Draws> {
    let estimation = scores.estimation();
    planned_draws(&estimation.errors, &estimation.random, scores.len() as u64, cost)
}

/// Numbers without errors, and why.
fn without_error(
    names: Vec<FigureName>,
    values: Vec<[Estimate; 2]>,
    reason: &Undefined,
) -> Vec<FigureDifference> {
    let one = |(name, [base, other]): (FigureName, [Estimate; 2])| {
        let mut difference = difference_of(&base, &other);
        (difference.error, difference.interval) = (Err(reason.clone()), Err(reason.clone()));
        let (test, variance_removed) = (Err(reason.clone()), Err(reason.clone()));
        FigureDifference { name, base, other, difference, test, variance_removed, cluster: Vec::new() }
    };
    names.into_iter().zip(values).map(one).collect()
}

/// Other minus base, without an error.
fn difference_of(base: &Estimate, other: &Estimate) -> Estimate {
    match (&base.value, &other.value) {
        (Ok(base), Ok(other)) if (other - base).is_finite() => Estimate::new(other - base),
        (Ok(_), Ok(_)) => Estimate::undefined(Undefined::Overflow),
        (Err(reason), _) | (_, Err(reason)) => Estimate::undefined(reason.clone()),
    }
}

/// The figures of both sides in resamples: those of the base first.
struct Resamples {
    /// The number of figures of both sides together.
    width: usize,
    /// One resample after the other.
    all: Vec<f64>,
    /// The same with each unit left out.
    left_out: Vec<f64>,
    draws: Draws,
    units: usize,
    samples: usize,
    is_clustered: bool,
}

impl Resamples {
    fn differences(
        &self,
        names: Vec<FigureName>,
        values: Vec<[Estimate; 2]>,
        plan: &errorbar_core::ErrorPlan,
        cluster: &[String],
    ) -> Vec<FigureDifference> {
        let figures = names.len();
        let one = |(at, (name, [base, other])): (usize, (FigureName, [Estimate; 2]))| {
            let column = |rows: &[f64], at: usize| -> Vec<f64> {
                rows.iter().skip(at).step_by(self.width.max(1)).copied().collect()
            };
            let minus = |rows: &[f64]| -> Vec<f64> {
                let (base, other) = (column(rows, at), column(rows, figures + at));
                other.into_iter().zip(base).map(|(other, base)| other - base).collect()
            };
            let mut difference = difference_of(&base, &other);
            let mut differences = minus(&self.all);
            let sides = [column(&self.all, at), column(&self.all, figures + at)];
            differences.retain(|d| !d.is_nan());
            let (mut test, mut removed) = (Err(Undefined::NotAvailable), Err(Undefined::NotAvailable));
            match difference.number() {
                Some(value) => {
                    let left_out = minus(&self.left_out);
                    let is_usable = !left_out.is_empty() && left_out.iter().all(|d| d.is_finite());
                    let figure = ResampledFigure {
                        value,
                        figures: differences.clone(),
                        draws: self.draws,
                        left_out: is_usable.then_some(left_out.as_slice()),
                        units: self.units,
                        samples: self.samples,
                        is_clustered: self.is_clustered,
                    };
                    difference = figure.estimate(plan);
                    test = test_of(&differences, &difference);
                    removed = removed_from(sides, &difference);
                }
                None => {
                    if let Err(reason) = &difference.value {
                        (test, removed) = (Err(reason.clone()), Err(reason.clone()));
                    }
                }
            }
            let cluster = cluster.to_vec();
            FigureDifference { name, base, other, difference, test, variance_removed: removed, cluster }
        };
        names.into_iter().zip(values).enumerate().map(one).collect()
    }
}

/// The share of resamples on the other side of 0, doubled: the level at which the percentile interval touches 0. Counting
/// the sample itself, it is never 0.
fn test_of(differences: &[f64], difference: &Estimate) -> Defined<ComparisonTest> {
    difference.error.as_ref().map_err(Clone::clone)?;
    let count = |test: fn(f64) -> bool| differences.iter().filter(|d| test(**d)).count();
    let fewer = count(|d| d <= 0.0).min(count(|d| d >= 0.0));
    let p = 2.0 * (fewer as f64 + 1.0) / (differences.len() as f64 + 1.0);
    Ok(ComparisonTest::new(TestMethod::Bootstrap, p.min(1.0)))
}

/// The share of the variance that pairing removed, over resamples.
fn removed_from(sides: [Vec<f64>; 2], difference: &Estimate) -> Defined<f64> {
    let estimates = sides.map(|mut figures| {
        figures.retain(|figure| !figure.is_nan());
        Estimate::new(0.0).with_error(StdError::new(standard_deviation(&figures), ErrorMethod::Bootstrap))
    });
    let [base, other] = estimates;
    variance_removed(&base, &other, difference)
}
