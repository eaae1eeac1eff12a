//! The wild cluster bootstrap. Without clusters, each sample is one.

use super::bootstrap::Population;
use super::{Ends, IntervalInput};
use crate::error_plan::WildWeights;
use crate::estimate::{Defined, Undefined};
use errorbar_stats::resampling::{ClusterTotal, WeightPoints, WildBootstrap};

/// The most clusters. With this many it is Student's interval but for its noise, and each has a random number in each resample.
pub(in crate::estimate) const MAX_CLUSTERS: u64 = 100_000;

pub(super) fn ends(input: &IntervalInput<'_>, weights: WildWeights, confidence: f64) -> Defined<Ends> {
    input.spread()?;
    let clusters = match input.sample.population()? {
        Population::Scores(values) => {
            let samples =
                |(value, times): &(f64, u64)| vec![ClusterTotal::new(1, (*value, 0.0)); *times as usize];
            values.iter().flat_map(samples).collect()
        }
        Population::Clusters(totals) => totals,
    };
    let draws = input.plan.draws() as usize;
    let bootstrap = WildBootstrap::new(&clusters, of(weights), draws, input.seed)
        .ok_or(Undefined::NoSpread { n: input.n })?;
    // The statistic is symmetric, so that two ends of 97.5 % are those whose two-sided p-value is 5 %.
    let p = 2.0 * (1.0 - confidence);
    if p >= 1.0 {
        // A bound that is mostly wrong is one of the other side.
        let (lower, upper) = bootstrap.ends(2.0 - p).unwrap_or((input.mean, input.mean));
        return Ok(Ends::new(upper, lower));
    }
    // Of 1 − 0.975 rounding leaves a little more or less than 0.025.
    let (lower, upper) = bootstrap.ends(p + 1e-12).ok_or_else(|| {
        let least = bootstrap.least_p();
        Undefined::Other(format!(
            "wild: the p-value of a hypothesis is at least {least:.2} with {} clusters, so this level has no interval",
            clusters.len()
        ))
    })?;
    Ok(Ends::new(lower, upper))
}

/// The cost of a resample, in values drawn: of its weights, and of some hundred hypotheses that it is compared with. A plan
/// of others that may draw 2,000,000,000 values holds 2,000,000 resamples, of about 100 bytes each.
pub(in crate::estimate) fn cost(input: &IntervalInput<'_>) -> u64 {
    input.units().saturating_mul(8).saturating_add(1000)
}

/// Whether resamples are drawn at random: there are too many to compute them all.
pub(in crate::estimate) fn is_drawn(input: &IntervalInput<'_>, weights: WildWeights) -> bool {
    input.units() > of(weights).most_enumerated() as u64
}

fn of(weights: WildWeights) -> WeightPoints {
    match weights {
        WildWeights::Webb => WeightPoints::WEBB,
        WildWeights::Rademacher => WeightPoints::RADEMACHER,
    }
}
