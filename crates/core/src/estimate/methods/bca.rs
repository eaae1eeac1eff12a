//! The bias-corrected and accelerated bootstrap: percentiles of resampled means, at shares that allow for the bias of the
//! resamples and for a standard error that changes with the mean.
//!
//! Efron, "Better bootstrap confidence intervals", JASA 82, 1987. The acceleration is that of the jackknife. For the mean of
//! independent scores it is Σd³/(6(Σd²)^(3/2)) = g₁/(6√n), d the distances from the mean; clusters are left out one at a time.

use super::bootstrap::{no_values, sorted_means, two_ways};
use super::{DrawSource, Ends, IntervalInput};
use crate::estimate::{Maybe, Undefined};
use errorbar_stats::descriptive::quantile_inverse;
use errorbar_stats::resampling::{ClusterTotal, acceleration, bca_shares_of};

pub(super) fn ends(input: &IntervalInput<'_>, confidence: f64) -> Maybe<Ends> {
    input.spread()?;
    let acceleration = match &input.sample {
        DrawSource::Scores(plain) => {
            let skewness = plain.skewness().ok_or_else(no_values)?;
            skewness / (6.0 * (input.n as f64).sqrt())
        }
        DrawSource::Clusters(clustered) => {
            let clusters = clustered.single().ok_or_else(two_ways)?;
            let left_out = means_left_out(&clusters.totals());
            acceleration(&left_out).ok_or(Undefined::NoSpread { n: input.n })?
        }
        DrawSource::None => return Err(Undefined::NotAvailable),
    };
    let means = sorted_means(input)?;
    let shares = bca_shares_of(input.mean, &means, acceleration, [1.0 - confidence, confidence]);
    let [low, high] = shares.ok_or_else(one_side)?;
    Ok(Ends::new(quantile_inverse(&means, low), quantile_inverse(&means, high)))
}

/// The means with each cluster left out, less the mean of all: S_g − n_g·x̄ is small where the scores have a large offset.
fn means_left_out(clusters: &[ClusterTotal]) -> Vec<f64> {
    let (mean, n) = ClusterTotal::mean_of(clusters);
    let left_out = |cluster: &ClusterTotal| -cluster.deviation(mean) / (n - cluster.size) as f64;
    clusters.iter().map(left_out).collect()
}

/// The correction is infinite.
fn one_side() -> Undefined {
    Undefined::Other("no bca: nearly all resamples lie on one side of the mean".to_owned())
}
