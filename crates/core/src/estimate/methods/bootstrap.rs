//! The percentile bootstrap: quantiles of resampled means.

use super::{DrawSource, Ends, IntervalInput};
use crate::estimate::{Maybe, Undefined};
use errorbar_stats::descriptive::quantile_inverse;
use errorbar_stats::resampling::{clustered_resampled_means, resampled_means_of};

pub(super) fn ends(input: &IntervalInput<'_>, confidence: f64) -> Maybe<Ends> {
    let means = sorted_means(input)?;
    Ok(Ends::new(quantile_inverse(&means, 1.0 - confidence), quantile_inverse(&means, confidence)))
}

/// The means of resamples, of scores or of whole clusters, in ascending order.
pub(super) fn sorted_means(input: &IntervalInput<'_>) -> Maybe<Vec<f64>> {
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
    Ok(means)
}

/// There are too many distinct scores for a bootstrap.
pub(super) fn no_values() -> Undefined {
    Undefined::Other("too many distinct scores for a bootstrap".to_owned())
}

/// Resampling clusters of one key would take those of the other apart.
pub(super) fn two_ways() -> Undefined {
    Undefined::Other("no bootstrap with two cluster keys".to_owned())
}
