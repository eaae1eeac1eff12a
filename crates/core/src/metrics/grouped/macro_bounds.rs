//! What the mean of groups would be with the samples that have no score.

use super::GroupValue;
use crate::estimate::{Bounds, Estimate, Estimation, ScoreKind};
use crate::stats::{ExactSum, root_of_squares};

/// Adds to the mean of groups what it would be with absent samples, and its error over runs of the same samples. A group
/// without a score counts as all absent.
pub(super) fn add(
    mean: &mut Estimate,
    groups: &[GroupValue],
    estimation: &Estimation,
    whole: Option<ScoreKind>,
) {
    let of_groups: Option<Vec<&Estimate>> = groups.iter().map(|group| group.value.estimate()).collect();
    let Some(of_groups) = of_groups else { return };
    let scored =
        || of_groups.iter().zip(groups).filter(|(_, group)| group.n > 0).map(|(estimate, _)| estimate);
    let fixed: Option<Vec<f64>> = scored().map(|group| group.notes.stderr_fixed).collect();
    mean.notes.stderr_fixed = fixed
        .filter(|fixed| !fixed.is_empty())
        .map(|fixed| root_of_squares(&fixed, 1.0) / fixed.len() as f64);
    let partly: u64 = of_groups.iter().filter_map(|group| group.notes.partly_absent).sum();
    mean.notes.partly_absent = (partly > 0).then_some(partly);
    mean.absent = of_groups.iter().map(|group| group.absent).sum();
    mean.bounds = bounds(&of_groups, estimation, whole).filter(|_| mean.absent + partly > 0);
}

fn bounds(groups: &[&Estimate], estimation: &Estimation, whole: Option<ScoreKind>) -> Option<Bounds> {
    let unit = whole.filter(|kind| *kind != ScoreKind::Unbounded).map(|_| (0.0, 1.0));
    let (lowest, highest) = estimation.errors.range.or(unit)?;
    let mut sums = [ExactSum::new(), ExactSum::new(), ExactSum::new()];
    for group in groups {
        let own = match (group.bounds, &group.value) {
            (Some(Bounds { worst, best, absent_as_wrong }), _) => [worst, best, absent_as_wrong],
            // Nothing is absent, or everything.
            (None, Ok(value)) if group.absent == 0 => [*value; 3],
            (None, Err(_)) if group.n == 0 => [lowest, highest, 0.0],
            _ => return None,
        };
        sums.iter_mut().zip(own).for_each(|(sum, own)| sum.add(own));
    }
    let [worst, best, wrong] = sums.map(|sum| sum.divide((groups.len() as u64).max(1)));
    Some(Bounds::new(worst, best, wrong))
}
