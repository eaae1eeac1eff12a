//! The percentiles of the ideal bootstrap: those of all means that resampling can give, with their probabilities.

use super::bootstrap::{no_values, two_ways};
use super::{DrawSource, Ends, IntervalInput};
use crate::estimate::{Maybe, Undefined};
use errorbar_stats::resampling::{IdealMeans, ResamplingUnit};

pub(super) fn ends(input: &IntervalInput<'_>, confidence: f64) -> Maybe<Ends> {
    input.spread()?;
    let means = means(&input.sample)?;
    Ok(Ends::new(means.quantile(1.0 - confidence), means.quantile(confidence)))
}

/// All means that resampling can give.
pub(in crate::estimate) fn means(sample: &DrawSource<'_>) -> Maybe<IdealMeans> {
    let things: Vec<ResamplingUnit> = match sample {
        DrawSource::Scores(plain) => {
            let values = plain.values.as_ref().ok_or_else(no_values)?;
            values.iter().map(|(value, count)| ResamplingUnit::score(*value, *count)).collect()
        }
        DrawSource::Clusters(clustered) => {
            let clusters = clustered.single().ok_or_else(two_ways)?;
            clusters.totals().iter().map(ResamplingUnit::cluster).collect()
        }
        DrawSource::None => return Err(Undefined::NotAvailable),
    };
    IdealMeans::of(things).map_err(|problem| Undefined::Other(problem.to_string()))
}
