//! Groups shrunken toward their common mean: empirical Bayes with a normal prior.
//!
//! The value of a group is y ~ N(θ, s²), and θ ~ N(μ, τ²). Between-group variance τ² by Paule & Mandel, "Consensus values
//! and weighting factors", 1982: the one for which Σ (y − μ)²/(s² + τ²) is what it is expected to be, the number of groups
//! less one. The shrunken value is B·μ + (1 − B)·y with B = s²/(s² + τ²), and its variance (1 − B)·s² + B²·var(μ); that τ² is
//! estimated too is not in it (Morris, "Parametric empirical Bayes inference", 1983).

use crate::estimate::EstimateNotes;
use crate::metrics::prelude::*;
use errorbar_stats::distributions::{normal_quantile, t_quantile};

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
pub(super) fn shrink(groups: &mut [Group], level: f64, errors: &ErrorPlan, whole: Option<ScoreKind>) {
    let observed = observe(groups);
    if observed.len() < LEAST {
        let why = format!("not done: it takes {LEAST} groups with errors");
        return note(groups, &why);
    }
    let Some(tau_squared) = paule_mandel(&observed) else {
        return note(groups, "not done: the groups are too far apart, or too small, for floating point");
    };
    let (mean, precision) = common_mean(&observed, tau_squared);
    let range = errors.range.or(whole.filter(|kind| *kind != ScoreKind::Unbounded).map(|_| (0.0, 1.0)));
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

/// Cuts the intervals of shrunken groups off at the range of scores.
pub(super) fn cut_off(groups: &mut [Group], (low, high): (f64, f64)) {
    for group in groups {
        let MetricValue::One(estimate) = &mut group.value else { continue };
        if let Ok(interval) = &mut estimate.interval
            && interval.method == IntervalMethod::EmpiricalBayes
        {
            (interval.lower, interval.upper) = (interval.lower.max(low), interval.upper.min(high));
        }
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
