//! Intervals from resampled means, of scores or of whole clusters.

use super::{DrawSource, Ends, IntervalInput};
use crate::error_plan::{IntervalSide, WildWeights};
use crate::estimate::{Defined, Undefined};
use errorbar_stats::descriptive::quantile_inverse;
use errorbar_stats::resampling::{
    ClusterTotal, IdealMeans, ResampledMeans, ResamplingUnit, WeightPoints, WildBootstrap, acceleration,
    bca_shares_of, studentised_cluster_means, studentised_means,
};

/// What is resampled.
pub(super) enum Population<'a> {
    /// Distinct scores, with how often each occurs.
    Scores(&'a [(f64, u64)]),
    Clusters(Vec<ClusterTotal>),
}

impl DrawSource<'_> {
    pub(super) fn population(&self) -> Defined<Population<'_>> {
        match self {
            DrawSource::Scores(plain) => match &plain.values {
                Some(values) => Ok(Population::Scores(values)),
                None => Err(no_values()),
            },
            // Resampling clusters of one key would take those of the other apart.
            DrawSource::Clusters(clustered) => match clustered.single() {
                Some(clusters) => Ok(Population::Clusters(clusters.totals())),
                None => Err(Undefined::Other("no bootstrap with two cluster keys".to_owned())),
            },
            DrawSource::None => Err(Undefined::NotAvailable),
        }
    }
}

fn no_values() -> Undefined {
    Undefined::Other("too many distinct scores for a bootstrap".to_owned())
}

/// The percentile bootstrap: quantiles of resampled means.
pub(super) fn percentile(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    let means = sorted_means(input)?;
    Ok(Ends::new(quantile_inverse(&means, 1.0 - confidence), quantile_inverse(&means, confidence)))
}

/// The means of resamples, in ascending order.
fn sorted_means(input: &IntervalInput<'_>) -> Defined<Vec<f64>> {
    input.spread()?;
    let draws = input.plan.draws() as usize;
    let means = match input.sample.population()? {
        Population::Scores(values) => ResampledMeans::of_values(values),
        Population::Clusters(totals) => ResampledMeans::of_clusters(&totals),
    };
    let mut means = means.map(|means| means.all(draws, input.seed)).unwrap_or_default();
    means.sort_unstable_by(f64::total_cmp);
    Ok(means)
}

/// The bias-corrected and accelerated bootstrap: percentiles of resampled means, at shares that allow for the bias of the
/// resamples and for a standard error that changes with the mean.
///
/// Efron, "Better bootstrap confidence intervals", JASA 82, 1987. The acceleration is that of the jackknife. For the mean of
/// independent scores it is Σd³/(6(Σd²)^(3/2)) = g₁/(6√n), d the distances from the mean; clusters are left out one at a time.
pub(super) fn bca(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    input.spread()?;
    let acceleration = match (&input.sample, input.sample.population()) {
        (DrawSource::Scores(plain), _) => {
            plain.skewness().ok_or_else(no_values)? / (6.0 * (input.n as f64).sqrt())
        }
        (_, Ok(Population::Clusters(totals))) => {
            acceleration(&means_left_out(&totals)).ok_or(Undefined::NoSpread { n: input.n })?
        }
        (_, population) => return Err(population.err().unwrap_or(Undefined::NotAvailable)),
    };
    let means = sorted_means(input)?;
    let shares = bca_shares_of(input.mean, &means, acceleration, [1.0 - confidence, confidence]);
    let one_side = || Undefined::Other("no bca: nearly all resamples lie on one side of the mean".to_owned());
    let [low, high] = shares.ok_or_else(one_side)?;
    Ok(Ends::new(quantile_inverse(&means, low), quantile_inverse(&means, high)))
}

/// The means with each cluster left out, less the mean of all: S_g − n_g·x̄ is small where the scores have a large offset.
fn means_left_out(clusters: &[ClusterTotal]) -> Vec<f64> {
    let (mean, n) = ClusterTotal::mean_of(clusters);
    let left_out = |cluster: &ClusterTotal| -cluster.deviation(mean) / (n - cluster.size) as f64;
    clusters.iter().map(left_out).collect()
}

/// The bootstrap-t interval: quantiles of resampled t statistics in place of those of Student's distribution.
///
/// Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, section 12.5: [m − t*(1−α/2)·se, m − t*(α/2)·se].
pub(super) fn studentised(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    input.spread()?;
    let draws = input.plan.draws() as usize;
    let means = match input.sample.population()? {
        Population::Scores(values) => studentised_means(values, draws, input.seed),
        Population::Clusters(totals) => studentised_cluster_means(&totals, draws, input.seed),
    };
    let means = means.ok_or(Undefined::NoSpread { n: input.n })?;
    let (low, high) = (means.quantile(1.0 - confidence), means.quantile(confidence));
    let side = input.plan.side();
    if low.is_infinite() && side != IntervalSide::Lower || high.is_infinite() && side != IntervalSide::Upper {
        return Err(Undefined::Other("too many resamples without spread for bootstrap_t".to_owned()));
    }
    Ok(Ends::new(means.mean - high * means.stderr, means.mean - low * means.stderr))
}

/// The percentiles of the ideal bootstrap: those of all means that resampling can give, with their probabilities.
pub(super) fn exact(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    input.spread()?;
    let means = exact_means(&input.sample)?;
    Ok(Ends::new(means.quantile(1.0 - confidence), means.quantile(confidence)))
}

/// All means that resampling can give.
pub(in crate::estimate) fn exact_means(sample: &DrawSource<'_>) -> Defined<IdealMeans> {
    let units: Vec<ResamplingUnit> = match sample.population()? {
        Population::Scores(values) => {
            values.iter().map(|(value, count)| ResamplingUnit::score(*value, *count)).collect()
        }
        Population::Clusters(totals) => totals.iter().map(ResamplingUnit::cluster).collect(),
    };
    IdealMeans::of(units).map_err(|problem| Undefined::Other(problem.to_owned()))
}

/// The most clusters. With this many it is Student's interval but for its noise, and each has a random number in each resample.
pub(in crate::estimate) const MAX_WILD_CLUSTERS: u64 = 100_000;

pub(super) fn wild(input: &IntervalInput<'_>, weights: WildWeights, confidence: f64) -> Defined<Ends> {
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
    let bootstrap = WildBootstrap::new(&clusters, points_of(weights), draws, input.seed)
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
pub(in crate::estimate) fn wild_cost(input: &IntervalInput<'_>) -> u64 {
    input.units().saturating_mul(8).saturating_add(1000)
}

/// Whether resamples are drawn at random: there are too many to compute them all.
pub(in crate::estimate) fn is_wild_drawn(input: &IntervalInput<'_>, weights: WildWeights) -> bool {
    input.units() > points_of(weights).most_enumerated() as u64
}

fn points_of(weights: WildWeights) -> WeightPoints {
    match weights {
        WildWeights::Webb => WeightPoints::WEBB,
        WildWeights::Rademacher => WeightPoints::RADEMACHER,
    }
}
