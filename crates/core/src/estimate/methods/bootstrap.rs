//! The percentile bootstrap: quantiles of resampled means.

use super::{DrawSource, IntervalFormula, IntervalInput, finite};
use crate::estimate::{Interval, IntervalMethod, Maybe, Undefined};
use crate::stats::{clustered_resampled_means, quantile_inverse, resampled_means_of};

pub(super) const METHOD: IntervalFormula = IntervalFormula { name: IntervalMethod::Bootstrap, interval };

fn interval(input: &IntervalInput<'_>, level: f64) -> Maybe<Interval> {
    input.spread()?;
    let draws = input.plan.draws() as usize;
    let mut means = match &input.sample {
        DrawSource::Scores(plain) => {
            let values = plain.values.as_ref().ok_or_else(no_values)?;
            resampled_means_of(values, draws, input.seed)
        }
        DrawSource::Clusters(clustered) => {
            let clusters = clustered.single().ok_or_else(two_ways)?;
            clustered_resampled_means(&clusters.totals(), draws, input.seed)
        }
        DrawSource::None => return Err(Undefined::NotAvailable),
    };
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let (lower, upper) = (quantile_inverse(&means, tail), quantile_inverse(&means, 1.0 - tail));
    finite(lower, upper, level, IntervalMethod::Bootstrap, None)
}

/// There are too many distinct scores for a bootstrap.
pub(super) fn no_values() -> Undefined {
    Undefined::Other("too many distinct scores for a bootstrap".to_owned())
}

/// Resampling clusters of one key would take those of the other apart.
pub(super) fn two_ways() -> Undefined {
    Undefined::Other("no bootstrap with two cluster keys".to_owned())
}
