//! What becomes of the values of groups: their mean, its error and bounds; shrunken and simultaneous intervals.

use super::GroupValue;
use crate::estimate::{Bounds, EstimateNotes, estimate_from};
use crate::metrics::prelude::*;
use errorbar_stats::distributions::{normal_quantile, t_quantile};
use errorbar_stats::exact::root_of_squares;

/// How a mean over groups is taken.
#[derive(Clone, Copy)]
pub(super) struct MacroMean<'a> {
    /// The error of the mean, if clusters span groups.
    pub(super) across: Option<&'a ErrorFigure>,
    /// The number of scores of all groups; a custom metric does not count them.
    pub(super) n: u64,
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
    /// The mean of the groups' values, part by part where there are several.
    pub(super) fn of_groups(&self, groups: &[&GroupValue]) -> MetricValue {
        let mut by_key: IndexMap<Option<String>, Vec<WeightedEstimate<'_>>> = IndexMap::new();
        for GroupValue { value, weight, .. } in groups {
            collect(value, *weight, None, &mut by_key);
        }
        if by_key.len() == 1
            && let Some(estimates) = by_key.get(&None)
        {
            return self.of(estimates).into();
        }
        let mean = MacroMean { across: None, ..*self };
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

impl MacroMean<'_> {
    fn of(&self, groups: &[WeightedEstimate<'_>]) -> Estimate {
        let MacroMean { role, estimation, whole, .. } = *self;
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
        let weighted = self.weighted.then_some("by group");
        estimate
            .note_some("undefined_groups", (unknown > 0).then_some(unknown))
            .note_some("weighted", weighted)
    }

    fn is_defined(&self, group: &Estimate) -> bool {
        match self.role {
            Role::IntervalOf => group.interval.is_ok(),
            _ => group.value.is_ok(),
        }
    }

    fn mean(&self, values: impl Iterator<Item = (f64, f64)>) -> Defined<f64> {
        let float = |value: f64| match self.conversion {
            Some(conversion) if !value.is_nan() => conversion.convert_leaf(LeafRef::Float(value)).value,
            _ => value,
        };
        // A group that does not count cannot spoil the mean.
        let counted = values.filter(|(_, weight)| *weight > 0.0);
        let floats: Vec<(f64, f64)> = counted.map(|(value, weight)| (float(value), weight)).collect();
        let mut sum = ExactSum::new();
        if floats.iter().all(|(float, _)| float.is_finite()) {
            if self.weighted {
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
        let of_groups = of_groups.filter(|_| self.conversion.is_none())?;
        Some(root_of_squares(&of_groups, 1.0) / total(groups.iter().map(|(_, weight)| *weight)))
    }

    /// The standard error of the mean of fixed groups, √(Σ w²·SE²)/Σ w, with the degrees of freedom of Welch and
    /// Satterthwaite; if clusters span groups, that of what they contribute to all of them.
    fn error(&self, groups: &[WeightedEstimate<'_>]) -> Defined<StdError> {
        if self.conversion.is_some() {
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

/// The least number of groups that have something to learn from each other.
const LEAST: usize = 3;
/// Newton's method for τ² rises to the root, by more correct digits with each step.
const STEPS: usize = 500;

/// A group as the model sees it.
struct GroupObservation {
    at: usize,
    value: f64,
    variance: f64,
}

/// Shrinks the groups that have a value; their intervals have this level.
pub(super) fn shrink(groups: &mut [Group], level: f64, errors: &ErrorPlan, range: Option<(f64, f64)>) {
    let observed = observe(groups);
    if observed.len() < LEAST {
        let why = format!("not done: it takes {LEAST} groups with errors");
        return note(groups, &why);
    }
    let Some(tau_squared) = paule_mandel(&observed) else {
        return note(groups, "not done: the groups are too far apart, or too small, for floating point");
    };
    let (mean, precision) = common_mean(&observed, tau_squared);
    let range = errors.range.or(range);
    // No range of scores has a mean outside.
    let is_within = |(low, high): &(f64, f64)| observed.iter().all(|one| (*low..=*high).contains(&one.value));
    let range = range.filter(is_within);
    for GroupObservation { at, value, variance } in observed {
        let Some(MetricValue::One(estimate)) = groups.get_mut(at).map(|group| &mut group.value) else {
            continue;
        };
        let share = if variance + tau_squared > 0.0 { variance / (variance + tau_squared) } else { 1.0 };
        let shrunken = share * mean + (1.0 - share) * value;
        let se = ((1.0 - share) * variance + share * share / precision).sqrt();
        // An error of 0, of equal scores, says nothing.
        let raw = estimate.stderr().filter(|se| *se > 0.0);
        estimate.value = Ok(shrunken);
        estimate.error = Ok(StdError::new(se, ErrorMethod::Custom));
        let ends = ends(shrunken, se, level, errors, range);
        let nominal = errors.level();
        estimate.interval = Ok(Interval::new(ends.0, ends.1, nominal, IntervalMethod::EmpiricalBayes));
        if let Ok(interval) = &mut estimate.interval {
            interval.side = errors.side();
        }
        (estimate.bounds, estimate.draws) = (None, None);
        let kept = std::mem::take(&mut estimate.notes.custom);
        estimate.notes = EstimateNotes { custom: kept, ..EstimateNotes::default() };
        let reason = format!(
            "empirical Bayes: toward {mean:.4} by {share:.4}, SD between groups {:.4}",
            tau_squared.sqrt()
        );
        (estimate.notes.reason, estimate.notes.is_caution) = match errors.interval {
            IntervalChoice::Auto => (Some(reason), false),
            IntervalChoice::Method(method) => {
                let own = IntervalMethod::EmpiricalBayes;
                (Some(format!("{own} in place of {method}, which is for raw groups; {reason}")), true)
            }
        };
        let shrunken = std::mem::replace(estimate, Estimate::of(Err(Undefined::NoScores)));
        *estimate = shrunken.note("raw", value).note_some("raw_stderr", raw).note("shrunken_by", share);
    }
}

/// The groups with a value. One whose error is unknown, or 0 as all its scores are equal, has that of a group of its size with
/// the variance that the scores of the others have.
fn observe(groups: &[Group]) -> Vec<GroupObservation> {
    let known = |group: &Group| {
        let estimate = group.value.estimate()?;
        let n = estimate.n as f64;
        let se = estimate.stderr().filter(|se| *se > 0.0 && se.is_finite())?;
        Some((se * se * n, n))
    };
    let (mut sum, mut scores) = (ExactSum::new(), ExactSum::new());
    for (variance, n) in groups.iter().filter_map(known) {
        sum.add(variance * n);
        scores.add(n);
    }
    let pooled = sum.to_f64() / scores.to_f64();
    let observed = |(at, group): (usize, &Group)| {
        let estimate = group.value.estimate()?;
        let value = estimate.number().filter(|value| value.is_finite())?;
        let (variance, n) = known(group).unwrap_or((pooled, estimate.n as f64));
        Some(GroupObservation { at, value, variance: variance / n }).filter(|one| one.variance.is_finite())
    };
    groups.iter().enumerate().filter_map(observed).collect()
}

/// μ and its precision Σ 1/(s² + τ²).
fn common_mean(observed: &[GroupObservation], tau_squared: f64) -> (f64, f64) {
    let (mut sum, mut precision) = (ExactSum::new(), ExactSum::new());
    for GroupObservation { value, variance, .. } in observed {
        let weight = 1.0 / (variance + tau_squared);
        sum.add(weight * value);
        precision.add(weight);
    }
    (sum.to_f64() / precision.to_f64(), precision.to_f64())
}

/// τ², 0 if the groups differ no more than their errors explain; none if their squares overflow or vanish.
fn paule_mandel(observed: &[GroupObservation]) -> Option<f64> {
    let expected = (observed.len() - 1) as f64;
    let mut tau_squared = 0.0;
    for _ in 0..STEPS {
        let (mean, _) = common_mean(observed, tau_squared);
        let (mut square, mut slope) = (ExactSum::new(), ExactSum::new());
        for GroupObservation { value, variance, .. } in observed {
            let (weight, off) = (1.0 / (variance + tau_squared), value - mean);
            square.add(weight * off * off);
            slope.add(weight * weight * off * off);
        }
        let excess = square.to_f64() - expected;
        let step = excess / slope.to_f64();
        if excess.is_nan() || excess > 0.0 && !step.is_finite() {
            return None;
        }
        if !(excess > 0.0 && tau_squared + step > tau_squared) {
            break;
        }
        tau_squared += step;
    }
    Some(tau_squared)
}

/// θ ± z·sd, within the range of scores.
fn ends(value: f64, se: f64, level: f64, errors: &ErrorPlan, range: Option<(f64, f64)>) -> (f64, f64) {
    let margin = normal_quantile(errors.side().confidence_of_ends(level)) * se;
    let (low, high) = range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let (lower, upper) = ((value - margin).max(low), (value + margin).min(high));
    match errors.side() {
        IntervalSide::Lower => (lower, high),
        IntervalSide::Upper => (low, upper),
        _ => (lower, upper),
    }
}

fn note(groups: &mut [Group], why: &str) {
    for group in groups {
        let value = std::mem::replace(&mut group.value, MetricValue::List(Vec::new()));
        group.value = value.map(|estimate| estimate.note("shrinkage", why));
    }
}

/// The level of each interval.
pub(super) fn simultaneous_level(errors: &ErrorPlan, groups: usize) -> f64 {
    let groups = groups.max(1) as f64;
    match errors.side() {
        IntervalSide::TwoSided => libm::pow(errors.level(), 1.0 / groups),
        _ => 1.0 - (1.0 - errors.level()) / groups,
    }
}

/// Marks the intervals of groups, which are at this level, as those of the plan's level for all of them together.
pub(super) fn hold_together(groups: &mut [Group], level: f64, errors: &ErrorPlan) {
    let count = groups.iter().filter(|group| group.n > 0).count();
    for group in groups {
        let value = std::mem::replace(&mut group.value, MetricValue::List(Vec::new()));
        group.value = value.map(|estimate| marked(estimate, level, count, errors));
    }
}

fn marked(mut estimate: Estimate, level: f64, groups: usize, errors: &ErrorPlan) -> Estimate {
    if estimate.value.is_err() {
        return estimate;
    }
    match &estimate.interval {
        Ok(interval) if interval.level == level => {}
        // A custom metric may have an interval of its own, which is not at the level.
        Ok(interval) => {
            let own = 100.0 * interval.level;
            let reason = format!("the metric has its own interval, at {own} %, which is not simultaneous");
            estimate.interval = Err(Undefined::Other(reason));
            estimate.notes.reason = None;
        }
        // Or nothing but an error.
        Err(Undefined::NotAvailable) => estimate.interval = by_error(&estimate, level, errors),
        Err(_) => {}
    }
    let Ok(interval) = &mut estimate.interval else { return estimate };
    interval.level = errors.level();
    let name = if errors.side() == IntervalSide::TwoSided { "Šidák" } else { "Bonferroni" };
    let each = format!("{:.4}", 100.0 * level);
    let each = each.trim_end_matches('0').trim_end_matches('.');
    estimate.note("interval", format!("simultaneous over {groups} groups ({name}, each {each} %)"))
}

/// x̄ ± t·se. A bound has no other end: the range of scores is none of a metric that may be anything of them.
fn by_error(estimate: &Estimate, level: f64, errors: &ErrorPlan) -> Result<Interval, Undefined> {
    let (value, error) = (estimate.value.clone()?, estimate.error.clone()?);
    if error.se == 0.0 {
        return Err(Undefined::NoSpread { n: estimate.n });
    }
    let margin = t_quantile(errors.side().confidence_of_ends(level), error.df) * error.se;
    let interval = Interval::new(value - margin, value + margin, level, IntervalMethod::T);
    Ok(interval.with_df(Some(error.df)).one_sided(errors.side(), None))
}
