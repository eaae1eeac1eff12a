//! What the mean of groups would be with the samples that have no score.

use super::GroupValue;
use super::macro_mean::total;
use crate::error_plan::Estimation;
use crate::estimate::{Bounds, Estimate, ScoreKind};
use errorbar_stats::exact::{ExactSum, root_of_squares};

/// Adds to the mean of groups what it would be with absent samples, and its error over runs of the same samples. A group
/// without a score counts as all absent.
pub(super) fn add(
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
