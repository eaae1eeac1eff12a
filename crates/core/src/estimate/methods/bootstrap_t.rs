//! The bootstrap-t interval: quantiles of resampled t statistics in place of those of Student's distribution.
//!
//! Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, section 12.5: [m − t*(1−α/2)·se, m − t*(α/2)·se].

use super::bootstrap::{no_values, two_ways};
use super::{DrawSource, Ends, IntervalInput};
use crate::error_plan::Side;
use crate::estimate::{Maybe, Undefined};
use errorbar_stats::resampling::{studentised_cluster_means, studentised_means};

pub(super) fn ends(input: &IntervalInput<'_>, confidence: f64) -> Maybe<Ends> {
    input.spread()?;
    let draws = input.plan.draws() as usize;
    let means = match &input.sample {
        DrawSource::Scores(plain) => {
            let values = plain.values.as_ref().ok_or_else(no_values)?;
            studentised_means(values, draws, input.seed)
        }
        DrawSource::Clusters(clustered) => {
            let clusters = clustered.single().ok_or_else(two_ways)?;
            studentised_cluster_means(&clusters.totals(), draws, input.seed)
        }
        DrawSource::None => return Err(Undefined::NotAvailable),
    };
    let means = means.ok_or(Undefined::NoSpread { n: input.n })?;
    let (low, high) = (means.quantile(1.0 - confidence), means.quantile(confidence));
    let side = input.plan.side();
    if low.is_infinite() && side != Side::Lower || high.is_infinite() && side != Side::Upper {
        return Err(Undefined::Other("too many resamples without spread for bootstrap_t".to_owned()));
    }
    Ok(Ends::new(means.mean - high * means.stderr, means.mean - low * means.stderr))
}
