//! The bootstrap-t interval: quantiles of resampled t statistics in place of those of Student's distribution.
//!
//! Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, section 12.5: [m − t*(1−α/2)·se, m − t*(α/2)·se].

use super::bootstrap::{no_values, two_ways};
use super::{DrawSource, IntervalFormula, IntervalInput, finite};
use crate::estimate::{Interval, IntervalMethod, Maybe, Undefined};
use crate::stats::{studentised_cluster_means, studentised_means};

pub(super) const METHOD: IntervalFormula = IntervalFormula { name: IntervalMethod::BootstrapT, interval };

fn interval(input: &IntervalInput<'_>, level: f64) -> Maybe<Interval> {
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
    let tail = (1.0 - level) / 2.0;
    let (low, high) = (means.quantile(tail), means.quantile(1.0 - tail));
    if low.is_infinite() || high.is_infinite() {
        return Err(Undefined::Other("too many resamples without spread for bootstrap_t".to_owned()));
    }
    let (lower, upper) = (means.mean - high * means.stderr, means.mean - low * means.stderr);
    finite(lower, upper, level, IntervalMethod::BootstrapT, None)
}
