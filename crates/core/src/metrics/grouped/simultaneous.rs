//! Intervals of groups that hold all at once.
//!
//! Šidák, "Rectangular confidence regions for the means of multivariate normal distributions", 1967: two-sided intervals of
//! normal estimates, each at the level P^(1/G), hold all at once with at least P, whatever the correlation of the estimates
//! is. That is not proven for one-sided ones, which get Bonferroni's level, 1 − (1 − P)/G.

use crate::metrics::prelude::*;
use errorbar_stats::distributions::t_quantile;

/// The level of each interval.
pub(super) fn level(errors: &ErrorPlan, groups: usize) -> f64 {
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
        let value = std::mem::replace(&mut group.value, crate::MetricValue::List(Vec::new()));
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
