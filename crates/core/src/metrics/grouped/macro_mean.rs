//! The mean of groups, plain or weighted, its own error, and what it would be with the samples that have no score.

use super::GroupValue;
use crate::estimate::{Bounds, estimate_from};
use crate::metrics::prelude::*;
use errorbar_stats::exact::root_of_squares;

/// How a mean over groups is taken.
pub(super) struct MacroMean<'a> {
    pub(super) role: Role,
    pub(super) conversion: Option<&'a Conversion>,
    pub(super) estimation: &'a Estimation,
    pub(super) whole: Option<ScoreKind>,
    /// Whether groups have weights of their own; else they count the same.
    pub(super) weighted: bool,
}

/// A figure of a group, and the weight of the group.
type WeightedEstimate<'v> = (&'v Estimate, f64);

impl MacroMean<'_> {
    /// The mean of the groups' values, part by part where there are several. `across` is its error if clusters span groups.
    pub(super) fn of_groups(&self, groups: &[&GroupValue], across: Option<&ErrorFigure>) -> MetricValue {
        let n = groups.iter().map(|group| group.n).sum();
        let mut by_key: IndexMap<Option<String>, Vec<WeightedEstimate<'_>>> = IndexMap::new();
        for GroupValue { value, weight, .. } in groups {
            collect(value, *weight, None, &mut by_key);
        }
        if by_key.len() == 1
            && let Some(estimates) = by_key.get(&None)
        {
            return Mean { mean: self, across, n }.of(estimates).into();
        }
        let mean = Mean { mean: self, across: None, n };
        let entry = |(key, estimates): (Option<String>, Vec<WeightedEstimate<'_>>)| {
            (key.unwrap_or_default(), Some(mean.of(&estimates)))
        };
        MetricValue::Map(by_key.into_iter().map(entry).collect())
    }
}

/// The parts of a value by the names that results have them under.
fn collect<'v>(
    value: &'v MetricValue,
    weight: f64,
    key: Option<String>,
    by_key: &mut IndexMap<Option<String>, Vec<WeightedEstimate<'v>>>,
) {
    let under = |name: &str| Some(key.as_ref().map_or(name.to_owned(), |key| format!("{key}_{name}")));
    match value {
        MetricValue::One(estimate) => by_key.entry(key).or_default().push((estimate, weight)),
        MetricValue::Map(map) => {
            for (name, estimate) in map {
                by_key.entry(under(name)).or_default().extend(estimate.iter().map(|found| (found, weight)));
            }
        }
        MetricValue::List(list) => {
            for (at, estimate) in list.iter().enumerate() {
                let parts = by_key.entry(under(&(at + 1).to_string())).or_default();
                parts.extend(estimate.iter().map(|found| (found, weight)));
            }
        }
        MetricValue::Groups(groups) => {
            for group in groups.groups.iter().filter(|group| group.n > 0) {
                collect(&group.value, weight, under(&group.label), by_key);
            }
            if let Some(all) = &groups.all {
                collect(&all.value, weight, under(&all.label), by_key);
            }
        }
    }
}

/// The mean of one part of the groups' values.
struct Mean<'a> {
    mean: &'a MacroMean<'a>,
    across: Option<&'a ErrorFigure>,
    /// The number of scores of all groups; a custom metric does not count them.
    n: u64,
}

impl Mean<'_> {
    fn of(&self, groups: &[WeightedEstimate<'_>]) -> Estimate {
        let MacroMean { role, estimation, whole, .. } = *self.mean;
        let unknown = groups.iter().filter(|(group, _)| !self.is_defined(group)).count();
        let value = self.mean(groups.iter().map(|(group, weight)| (role.recorded(group), *weight)));
        let n = groups.iter().map(|(group, _)| group.n).sum::<u64>().max(self.n);
        let mut estimate = match (&value, role) {
            (Ok(value), Role::Location) => {
                let whole = whole.unwrap_or(ScoreKind::Unbounded);
                let error = self.error(groups);
                let mut estimate = estimate_from(*value, error, n, &estimation.errors, whole);
                estimate.notes.iid_stderr = self.iid_stderr(groups);
                estimate.draws = estimate.draws.or_else(|| drawn_errors(groups));
                match self.across.filter(|_| estimate.error.is_ok()) {
                    Some(figure) => {
                        estimate.draws = estimate.draws.or(figure.draws);
                        figure.caution(&mut estimate);
                        estimate.notes.clusters_span_groups = true;
                        estimate
                    }
                    None => estimate,
                }
            }
            _ => Estimate::of(value),
        };
        if role == Role::IntervalOf {
            estimate.interval = self.interval(groups);
        }
        estimate.n = n;
        estimate.absent = groups.iter().map(|(group, _)| group.absent).sum();
        let weighted = self.mean.weighted.then_some("by group");
        estimate
            .note_some("undefined_groups", (unknown > 0).then_some(unknown))
            .note_some("weighted", weighted)
    }

    fn is_defined(&self, group: &Estimate) -> bool {
        match self.mean.role {
            Role::IntervalOf => group.interval.is_ok(),
            _ => group.value.is_ok(),
        }
    }

    fn mean(&self, values: impl Iterator<Item = (f64, f64)>) -> Defined<f64> {
        let float = |value: f64| match self.mean.conversion {
            Some(conversion) if !value.is_nan() => conversion.convert_leaf(LeafRef::Float(value)).value,
            _ => value,
        };
        // A group that does not count cannot spoil the mean.
        let counted = values.filter(|(_, weight)| *weight > 0.0);
        let floats: Vec<(f64, f64)> = counted.map(|(value, weight)| (float(value), weight)).collect();
        let mut sum = ExactSum::new();
        if floats.iter().all(|(float, _)| float.is_finite()) {
            if self.mean.weighted {
                floats.iter().for_each(|(float, weight)| sum.add_product(*float, *weight));
                return Ok(sum.to_f64() / total(floats.iter().map(|(_, weight)| *weight)));
            }
            floats.iter().for_each(|(float, _)| sum.add(*float));
            return Ok(sum.divide((floats.len() as u64).max(1)));
        }
        // Infinite, or not a number, in any order.
        let weighted = floats.iter().map(|(float, weight)| float * weight).sum::<f64>();
        let mean = weighted / total(floats.iter().map(|(_, weight)| *weight));
        if mean.is_nan() { Err(Undefined::Other("a group is undefined".to_owned())) } else { Ok(mean) }
    }

    /// The means of the lower and of the upper ends.
    fn interval(&self, groups: &[WeightedEstimate<'_>]) -> Defined<Interval> {
        let ends: Vec<((f64, f64), f64)> =
            groups.iter().map(|(group, weight)| (recorded_ends(group), *weight)).collect();
        let lower = self.mean(ends.iter().map(|(ends, weight)| (ends.0, *weight)))?;
        let upper = self.mean(ends.iter().map(|(ends, weight)| (ends.1, *weight)))?;
        let Some(Ok(first)) =
            groups.iter().map(|(group, _)| &group.interval).find(|interval| interval.is_ok())
        else {
            // As of one group: why the first has none.
            return Err(groups
                .iter()
                .find_map(|(group, _)| group.interval.clone().err())
                .unwrap_or(Undefined::NoScores));
        };
        Ok(Interval { lower, upper, df: None, ..first.clone() })
    }

    /// What the error would be if scores were independent.
    fn iid_stderr(&self, groups: &[WeightedEstimate<'_>]) -> Option<f64> {
        let of_group = |(group, weight): &WeightedEstimate<'_>| {
            Some(group.notes.iid_stderr.or(group.stderr())? * weight)
        };
        let of_groups: Option<Vec<f64>> = groups.iter().map(of_group).collect();
        let of_groups = of_groups.filter(|_| self.mean.conversion.is_none())?;
        Some(root_of_squares(&of_groups, 1.0) / total(groups.iter().map(|(_, weight)| *weight)))
    }

    /// The standard error of the mean of fixed groups, √(Σ w²·SE²)/Σ w, with the degrees of freedom of Welch and
    /// Satterthwaite; if clusters span groups, that of what they contribute to all of them.
    fn error(&self, groups: &[WeightedEstimate<'_>]) -> Defined<StdError> {
        if self.mean.conversion.is_some() {
            return Err(Undefined::NotAvailable);
        }
        let mut errors = Vec::with_capacity(groups.len());
        for (group, weight) in groups.iter().filter(|(_, weight)| *weight > 0.0) {
            let error = group.error.as_ref().map_err(|reason| match reason {
                Undefined::TooFewScores { .. } => Undefined::Other("a group has only one score".to_owned()),
                Undefined::TooFewClusters { .. } => {
                    Undefined::Other("a group has only one cluster".to_owned())
                }
                reason => reason.clone(),
            })?;
            errors.push((error.se * weight, error.df));
        }
        if let Some(across) = self.across {
            return across.error.clone();
        }
        let of_groups: Vec<f64> = errors.iter().map(|(se, _)| *se).collect();
        let se = root_of_squares(&of_groups, 1.0) / total(groups.iter().map(|(_, weight)| *weight));
        // In units of the largest, whose fourth power neither vanishes nor overflows.
        let largest = of_groups.iter().copied().fold(0.0, f64::max);
        // Exact sums: the order of the groups is that in which they were seen.
        let sum = |power: &dyn Fn(f64, f64) -> f64| {
            let mut sum = ExactSum::new();
            errors.iter().for_each(|(se, df)| sum.add(power((se / largest) * (se / largest), *df)));
            sum.to_f64()
        };
        let df = if largest > 0.0 {
            let squares = sum(&|square, _| square);
            squares * squares / sum(&|square, df| square * square / df)
        } else {
            sum(&|_, df| df)
        };
        Ok(StdError::new(se, ErrorMethod::Macro).with_df(df))
    }
}

/// The exact sum of weights.
pub(super) fn total(weights: impl Iterator<Item = f64>) -> f64 {
    let mut sum = ExactSum::new();
    weights.for_each(|weight| sum.add(weight));
    sum.to_f64()
}

/// What makes the errors of groups random.
fn drawn_errors(groups: &[WeightedEstimate<'_>]) -> Option<Draws> {
    let is_drawn = |group: &&Estimate| group.error.as_ref().is_ok_and(|error| error.method.is_drawn());
    groups.iter().map(|(group, _)| *group).filter(is_drawn).find_map(|group| group.draws)
}

/// The ends of an interval as logs record them: the point twice where there is none.
fn recorded_ends(estimate: &Estimate) -> (f64, f64) {
    match (&estimate.interval, &estimate.value) {
        (Ok(interval), _) => (interval.lower, interval.upper),
        (Err(_), Ok(value)) => (*value, *value),
        (Err(_), Err(_)) => (0.0, 0.0),
    }
}

/// Adds to the mean of groups what it would be with absent samples, and its error over runs of the same samples. A group
/// without a score counts as all absent.
pub(super) fn add_bounds(
    mean: &mut Estimate,
    groups: &[GroupValue],
    estimation: &Estimation,
    whole: Option<ScoreKind>,
    weighted: bool,
) {
    let of_groups: Option<Vec<&Estimate>> = groups.iter().map(|group| group.value.estimate()).collect();
    let Some(of_groups) = of_groups else { return };
    let scored = || of_groups.iter().zip(groups).filter(|(_, group)| group.n > 0);
    let fixed: Option<Vec<f64>> =
        scored().map(|(estimate, group)| Some(estimate.notes.stderr_fixed? * group.weight)).collect();
    let weight = total(scored().map(|(_, group)| group.weight));
    mean.notes.stderr_fixed =
        fixed.filter(|fixed| !fixed.is_empty()).map(|fixed| root_of_squares(&fixed, 1.0) / weight);
    let partly: u64 = of_groups.iter().filter_map(|group| group.notes.partly_absent).sum();
    mean.notes.partly_absent = (partly > 0).then_some(partly);
    mean.absent = of_groups.iter().map(|group| group.absent).sum();
    // The weight of a group is known from its scores.
    let is_known = !weighted || groups.iter().all(|group| group.n > 0);
    let weights: Vec<f64> = groups.iter().map(|group| group.weight).collect();
    mean.bounds =
        bounds(&of_groups, &weights, estimation, whole).filter(|_| is_known && mean.absent + partly > 0);
}

fn bounds(
    groups: &[&Estimate],
    weights: &[f64],
    estimation: &Estimation,
    whole: Option<ScoreKind>,
) -> Option<Bounds> {
    let errors = &estimation.errors;
    if errors.range.is_none() && whole.is_none_or(|kind| kind == ScoreKind::Unbounded) {
        return None;
    }
    let values = groups.iter().filter_map(|group| group.number());
    let (least, greatest) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let (lowest, highest) = errors.range_of(least, greatest)?;
    let mut sums = [ExactSum::new(), ExactSum::new(), ExactSum::new()];
    for (group, weight) in groups.iter().zip(weights) {
        let own = match (group.bounds, &group.value) {
            (Some(Bounds { worst, best, absent_as_wrong }), _) => [worst, best, absent_as_wrong],
            // Nothing is absent, or everything.
            (None, Ok(value)) if group.absent == 0 => [*value; 3],
            (None, Err(_)) if group.n == 0 => [lowest, highest, 0.0],
            _ => return None,
        };
        sums.iter_mut().zip(own).for_each(|(sum, own)| sum.add_product(own, *weight));
    }
    let is_plain = weights.iter().all(|weight| *weight == 1.0);
    let [worst, best, wrong] = sums.map(|sum| match is_plain {
        true => sum.divide((groups.len() as u64).max(1)),
        false => sum.to_f64() / total(weights.iter().copied()),
    });
    Some(Bounds::new(worst, best, wrong))
}
