//! Intervals of means: which one fits, the one place where `auto` decides, and how each is computed. A new one is a function
//! and a line in [`ends`].

use super::clusters::ClusteredScores;
use super::summary::{Extent, FEW, IndependentScores, MAX_DISTINCT};
use super::{Defined, Draws, Estimate, Interval, ScoreKind, StdError, Undefined};
use crate::error_plan::{
    BetaPrior, EarlyStop, ErrorPlan, IntervalChoice, IntervalMethod, IntervalSide, WildWeights,
};
use crate::random::Random;
use crate::scores::Scores;
use errorbar_stats::descriptive::quantile_inverse;
use errorbar_stats::distributions::{beta_quantile, beta_survival_quantile, normal_quantile, t_quantile};
use errorbar_stats::resampling::{
    ClusterTotal, IdealMeans, ResampledMeans, ResamplingUnit, WeightPoints, WildBootstrap, acceleration,
    bca_shares_of, studentised_cluster_means, studentised_means,
};
use errorbar_stats::sequential::ConfidenceSequence;

/// What an interval of a mean is computed from.
pub(super) struct IntervalInput<'a> {
    pub(super) n: u64,
    pub(super) mean: f64,
    pub(super) error: &'a Defined<StdError>,
    /// The scores are independent, and the error is s/√n.
    pub(super) independent: bool,
    /// What all scores are, of which these may be a group.
    pub(super) kind: ScoreKind,
    pub(super) extent: Option<Extent>,
    pub(super) sample: DrawSource<'a>,
    pub(super) plan: &'a ErrorPlan,
    /// The share of the population that has a score, 0 if there is none; the error allows for it already.
    pub(super) sampled: f64,
    pub(super) seed: u64,
}

/// What can be resampled.
pub(super) enum DrawSource<'a> {
    None,
    Scores(&'a IndependentScores),
    Clusters(&'a ClusteredScores),
}

/// The two ends that a method gives; an end that is no bound of a one-sided interval may be infinite.
struct Ends {
    lower: f64,
    upper: f64,
    /// The degrees of freedom of the quantile, where it has any.
    df: Option<f64>,
}

impl Ends {
    fn new(lower: f64, upper: f64) -> Self {
        Ends { lower, upper, df: None }
    }
}

/// Both ends, each with this confidence: 0.975 for those of a two-sided interval of level 0.95, 0.95 for a bound.
fn ends(input: &IntervalInput<'_>, method: IntervalMethod, confidence: f64) -> Defined<Ends> {
    match method {
        IntervalMethod::Wilson => by_wilson(input, confidence),
        IntervalMethod::T => by_t(input, confidence),
        IntervalMethod::Bootstrap => percentile(input, confidence),
        IntervalMethod::Bca => bca(input, confidence),
        IntervalMethod::BootstrapT => studentised(input, confidence),
        IntervalMethod::Exact => exact(input, confidence),
        IntervalMethod::ModifiedWilson
        | IntervalMethod::ClopperPearson
        | IntervalMethod::Jeffreys
        | IntervalMethod::Beta(_) => of_trials(input, method, confidence),
        IntervalMethod::Wild(weights) => wild(input, weights, confidence),
        _ => Err(Undefined::NotAvailable),
    }
}

/// x̄ ± t·se.
fn by_t(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    let error = input.spread()?;
    let margin = t_quantile(confidence, error.df) * error.se;
    Ok(Ends { lower: input.mean - margin, upper: input.mean + margin, df: Some(error.df) })
}

/// The interval of a method: two ends, or one where the plan wants a bound.
fn interval(input: &IntervalInput<'_>, method: IntervalMethod) -> Defined<Interval> {
    let (level, side) = (input.plan.level(), input.plan.side());
    side.check_level(level).map_err(Undefined::Other)?;
    let mut ends = ends(input, method, side.confidence_of_ends(level))?;
    if method.is_resampled() {
        // Resamples know nothing of the population. What they leave out is a part of the variance, whatever its shape.
        let shrunk = |end: f64| input.mean + (1.0 - input.sampled).sqrt() * (end - input.mean);
        if input.sampled > 0.0 {
            (ends.lower, ends.upper) = (shrunk(ends.lower), shrunk(ends.upper));
        }
    }
    let is_bound = |end: f64, open: IntervalSide| end.is_finite() || side == open;
    if !(is_bound(ends.lower, IntervalSide::Upper) && is_bound(ends.upper, IntervalSide::Lower)) {
        return Err(Undefined::Overflow);
    }
    let interval = Interval::new(ends.lower, ends.upper, level, method).with_df(ends.df);
    Ok(interval.one_sided(side, input.range().ok()))
}

impl IntervalInput<'_> {
    /// The range of scores: that of the plan, or 0 to 1 if all scores are within. The error is why there is none.
    fn range(&self) -> Result<(f64, f64), String> {
        let Some((low, high)) = self.plan.range else {
            return match self.kind {
                ScoreKind::Binary | ScoreKind::Unit => Ok((0.0, 1.0)),
                ScoreKind::Unbounded => Err("range unknown".to_owned()),
            };
        };
        let (least, greatest) = self.extent.map_or((self.mean, self.mean), |e| (e.least, e.greatest));
        let outside = || format!("a score lies outside the range {low} to {high}");
        self.plan.range_of(least, greatest).ok_or_else(outside)
    }

    /// Whether all scores are 0 or 1, and the range is that, too.
    fn is_binary(&self) -> bool {
        self.kind == ScoreKind::Binary && matches!(self.plan.range, None | Some((0.0, 1.0)))
    }

    /// The number of clusters, the smaller one if there are two ways; n for independent scores.
    fn units(&self) -> u64 {
        let clusters = self.error.as_ref().ok().and_then(|error| error.clusters.iter().min());
        clusters.copied().unwrap_or(self.n)
    }

    /// The standard error of scores that differ.
    fn spread(&self) -> Defined<&StdError> {
        match self.error {
            Ok(error) if error.se == 0.0 => Err(Undefined::NoSpread { n: self.n }),
            Ok(error) => Ok(error),
            Err(reason) => Err(reason.clone()),
        }
    }
}

/// From this skewness on, Student's t misses too often on one side when scores are few.
const SKEWED: f64 = 1.0;

/// The estimate: value, error, interval and notes.
pub(super) fn estimate(input: &IntervalInput<'_>, random: &Random) -> Estimate {
    let mut estimate = Estimate::new(input.mean).with_n(input.n);
    estimate.error = input.error.clone();
    let decision = match input.plan.interval {
        IntervalChoice::Auto => choose(input, random),
        IntervalChoice::Method(method) => requested(input, method, random),
    };
    if let Ok(interval) = &decision.interval {
        if is_random(input, interval.method) {
            estimate.draws = Some(Draws { seed: input.seed, count: u64::from(input.plan.draws()) });
        }
        estimate.notes.effective_n = effective_n_of(input, interval.method);
    }
    // An interval that does not exist has its own reason.
    estimate.notes.reason = decision.reason.filter(|_| decision.interval.is_ok());
    estimate.notes.is_caution = decision.is_caution && estimate.notes.reason.is_some();
    estimate.interval = decision.interval;
    estimate
}

/// The number of independent scores that an interval of a share is computed from, unless that is n.
fn effective_n_of(input: &IntervalInput<'_>, method: IntervalMethod) -> Option<f64> {
    if is_plain(input) && input.sampled == 0.0 {
        return None;
    }
    match method {
        IntervalMethod::Wilson => effective_n(input).ok(),
        IntervalMethod::ModifiedWilson
        | IntervalMethod::ClopperPearson
        | IntervalMethod::Jeffreys
        | IntervalMethod::Beta(_) => {
            let confidence = input.plan.side().confidence_of_ends(input.plan.level());
            let trials = trials(input, method, confidence).ok()?;
            Some(trials.successes + trials.failures)
        }
        _ => None,
    }
}

/// The rule of three: if none of n scores is 1, the upper 95 % bound 1 − 0.05^(1/n) is about 3/n; and the same for 0. It is
/// the bound of Clopper and Pearson, for independent zeros and ones. Scores of a cluster may be equal for one reason, so that
/// with clusters n is their number.
fn rule_of_three(input: &IntervalInput<'_>) -> Option<String> {
    let (absent, bound) = match (input.plan.side(), input.mean) {
        (IntervalSide::Upper, 0.0) => (1, "at most"),
        (IntervalSide::Lower, 1.0) => (0, "at least 1 −"),
        _ => return None,
    };
    let is_clustered = input.error.as_ref().is_ok_and(|error| !error.clusters.is_empty());
    if !(input.is_binary() && (input.independent || is_clustered) && input.sampled == 0.0) {
        return None;
    }
    // −ln 0.05 = 2.996 is the three of the rule.
    let three = -libm::log1p(-input.plan.level());
    let n = input.units();
    let (scores, share) = (if is_clustered { "clusters" } else { "scores" }, three / n as f64);
    Some(format!(
        "rule of three: no {absent} among {n} {scores}, so {bound} about {three:.1}/{n} = {share:.2}"
    ))
}

/// Whether the interval of a method depends on the seed.
fn is_random(input: &IntervalInput<'_>, method: IntervalMethod) -> bool {
    match method {
        IntervalMethod::Wild(weights) => is_wild_drawn(input, weights),
        method => method.is_drawn(),
    }
}

/// An interval, and why it is this one.
struct IntervalDecision {
    interval: Defined<Interval>,
    reason: Option<String>,
    /// Whether it is not the one that was wanted.
    is_caution: bool,
}

/// The interval that fits the scores.
fn choose(input: &IntervalInput<'_>, random: &Random) -> IntervalDecision {
    let decide = |method: IntervalMethod, why: String, is_caution: bool| {
        let reason = Some(format!("auto: {method} {why}"));
        IntervalDecision { interval: interval(input, method), reason, is_caution }
    };
    if let Some(rule) = rule_of_three(input) {
        return decide(IntervalMethod::ClopperPearson, format!("({rule})"), false);
    }
    let Err(why) = input.range() else {
        let why = match (is_plain(input), effective_n(input)) {
            (true, Ok(n)) if input.sampled > 0.0 => format!("(0/1 scores, on effective n {n:.1})"),
            (true, _) => "(0/1 scores)".to_owned(),
            (false, Ok(n)) => format!("on effective n {n:.1}"),
            (false, Err(_)) => "(range known)".to_owned(),
        };
        return decide(IntervalMethod::Wilson, why, false);
    };
    let skewed = match &input.sample {
        DrawSource::Scores(plain) if input.n < FEW => plain.skewness().is_some_and(|g| g.abs() > SKEWED),
        _ => false,
    };
    // A range that was given and does not hold is to be known, whichever interval takes its place.
    let is_caution = input.plan.range.is_some();
    if !skewed {
        return decide(IntervalMethod::T, format!("({why})"), is_caution);
    }
    if !random.allows_draws(u64::from(input.plan.draws()), input.n) {
        let why = format!("({why}; skewed, but too many draws for bootstrap_t)");
        return decide(IntervalMethod::T, why, true);
    }
    let skewed = format!("skewed, n < {FEW}");
    let reason = if is_caution { format!("({why}; {skewed})") } else { format!("({skewed})") };
    let decision = decide(IntervalMethod::BootstrapT, reason, is_caution);
    match decision.interval {
        Err(Undefined::Other(problem)) => {
            decide(IntervalMethod::T, format!("({why}; skewed, but {problem})"), true)
        }
        _ => decision,
    }
}

/// The interval that the plan names.
fn requested(input: &IntervalInput<'_>, name: IntervalMethod, random: &Random) -> IntervalDecision {
    if !name.is_resampled() {
        let reason = rule_of_three(input).filter(|_| name == IntervalMethod::ClopperPearson);
        return IntervalDecision { interval: interval(input, name), reason, is_caution: false };
    }
    let t_instead = |why: String| {
        let reason = Some(format!("t in place of {name}: {why}"));
        IntervalDecision { interval: interval(input, IntervalMethod::T), reason, is_caution: true }
    };
    match &input.sample {
        // With this many scores the two are the same.
        DrawSource::Scores(plain) if plain.values.is_none() => {
            return t_instead(format!("more than {MAX_DISTINCT} distinct scores"));
        }
        DrawSource::None => {
            let decision = choose(input, random);
            let reason = decision.reason.map(|reason| format!("nothing to resample; {reason}"));
            return IntervalDecision { reason, is_caution: true, ..decision };
        }
        _ if matches!(name, IntervalMethod::Wild(_)) && input.units() > MAX_WILD_CLUSTERS => {
            return t_instead(format!("more than {MAX_WILD_CLUSTERS} samples or clusters"));
        }
        _ => {}
    }
    let draws = input.plan.draws() as usize;
    let interval = input.spread().and_then(|_| {
        if is_random(input, name) {
            let cost = match name {
                IntervalMethod::Wild(_) => wild_cost(input),
                _ => input.units(),
            };
            random.check_draws(draws as u64, cost).map_err(Undefined::Other)?;
        }
        interval(input, name)
    });
    IntervalDecision { interval, reason: None, is_caution: false }
}

fn by_wilson(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    let (low, high) = input
        .range()
        .map_err(|reason| Undefined::Other(format!("wilson needs scores with a known range: {reason}")))?;
    if is_plain(input) {
        let n = input.n as f64 / (1.0 - input.sampled);
        let (lower, upper) = wilson(input.mean, n, normal_quantile(confidence));
        return Ok(Ends::new(lower, upper));
    }
    let error = input.error.as_ref().map_err(Clone::clone)?;
    let width = high - low;
    let p = ((input.mean - low) / width).clamp(0.0, 1.0);
    let effective = effective_n(input)?;
    let (lower, upper) = wilson(p, effective, t_quantile(confidence, error.df));
    // The ends of the range exactly, regardless of the rounding of the scale.
    let scaled = |share: f64| if share == 1.0 { high } else { (low + share * width).min(high) };
    Ok(Ends { lower: scaled(lower), upper: scaled(upper), df: Some(error.df) })
}

/// Whether the interval is Wilson's own: of independent zeros and ones.
fn is_plain(input: &IntervalInput<'_>) -> bool {
    input.is_binary() && input.independent
}

/// The number of independent zeros and ones that would have this variance: n* = m(1−m)/V with the range rescaled to [0, 1], at
/// least 1. If the scores are zeros and ones it is at most n; graded scores vary less than those, and may have more (a cap would
/// make their intervals too wide). Without variance it is the number of scores or clusters. A population that is sampled
/// without replacement leaves a part of the variance out, and n scores count as n/(1 − n/N).
fn effective_n(input: &IntervalInput<'_>) -> Defined<f64> {
    if is_plain(input) {
        return Ok(input.n as f64 / (1.0 - input.sampled));
    }
    let error = input.error.as_ref().map_err(Clone::clone)?;
    let (low, high) = input.range().map_err(Undefined::Other)?;
    let p = ((input.mean - low) / (high - low)).clamp(0.0, 1.0);
    let se = error.se / (high - low);
    let spread = p * (1.0 - p);
    if !(se > 0.0 && spread > 0.0) {
        return Ok(input.units() as f64 / (1.0 - input.sampled));
    }
    let effective = (spread / se / se).max(1.0);
    Ok(if input.is_binary() { effective.min(input.n as f64 / (1.0 - input.sampled)) } else { effective })
}

/// Products below have lost digits.
const VANISHING: f64 = 1e-280;

/// Wilson (1927): (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n), within [0, 1].
pub fn wilson(p: f64, n: f64, z: f64) -> (f64, f64) {
    let z2 = z * z;
    let centre = p + z2 / (2.0 * n);
    let radicand = p * (1.0 - p) / n + z2 / (4.0 * n * n);
    let margin = if radicand > VANISHING {
        z * radicand.sqrt()
    } else {
        // The same root, in units of 1/2n.
        z / (2.0 * n) * (4.0 * (n * p) * (1.0 - p) + z2).sqrt()
    };
    let scale = 1.0 + z2 / n;
    // At p of 0 or 1 the nearer end is exactly there, regardless of the rounding of the root.
    let lower = if p == 0.0 { 0.0 } else { ((centre - margin) / scale).max(0.0) };
    let upper = if p == 1.0 { 1.0 } else { ((centre + margin) / scale).min(1.0) };
    (lower, upper)
}

/// The ends of a method for zeros and ones, of as many independent ones as would have this variance.
///
/// - Modified Wilson: Wilson's interval. The number of trials allows for the degrees of freedom, so that the quantile is normal.
/// - Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", 1934: quantiles of
///   Beta(x, n−x+1) and Beta(x+1, n−x); 0 at no success, 1 at no failure.
/// - Jeffreys: the equal-tailed credible interval of the prior Beta(½, ½), with Brown, Cai & DasGupta's ends ("Interval
///   estimation for a binomial proportion", 2001): 0 at no success, 1 at no failure.
/// - Beta: the equal-tailed credible interval of any prior.
fn of_trials(input: &IntervalInput<'_>, method: IntervalMethod, confidence: f64) -> Defined<Ends> {
    let Trials { successes: x, failures: y, df } = trials(input, method, confidence)?;
    let (low, high) = match method {
        IntervalMethod::ModifiedWilson => {
            let n = x + y;
            let (lower, upper) = wilson(x / n, n, normal_quantile(confidence));
            return Ok(Ends { lower, upper, df });
        }
        IntervalMethod::Beta(BetaPrior { a, b }) => ((a + x, b + y), (a + x, b + y)),
        IntervalMethod::Jeffreys => ((0.5 + x, 0.5 + y), (0.5 + x, 0.5 + y)),
        _ => ((x, y + 1.0), (x + 1.0, y)),
    };
    let is_closed = !matches!(method, IntervalMethod::Beta(_));
    let lower = if is_closed && x == 0.0 { 0.0 } else { beta_quantile(1.0 - confidence, low.0, low.1) };
    let upper =
        if is_closed && y == 0.0 { 1.0 } else { beta_survival_quantile(1.0 - confidence, high.0, high.1) };
    Ok(Ends { lower, upper, df })
}

/// Independent zeros and ones, or as many as would have this variance.
struct Trials {
    successes: f64,
    failures: f64,
    /// The degrees of freedom of the variance, if they are not independent.
    df: Option<f64>,
}

impl Trials {
    fn new(share: f64, n: f64, df: Option<f64>) -> Self {
        Trials { successes: share * n, failures: (1.0 - share) * n, df }
    }
}

fn trials(input: &IntervalInput<'_>, method: IntervalMethod, confidence: f64) -> Defined<Trials> {
    let n = input.n as f64;
    if !input.is_binary() {
        let name = method.name();
        return Err(Undefined::Other(match (input.kind, input.plan.range) {
            (ScoreKind::Binary, Some((low, high))) => {
                format!("{name} is for scores of 0 and 1, not for a range of {low} to {high}")
            }
            _ => format!(
                "{name} is for scores of 0 and 1, and there are others; wilson, t and bca are for those"
            ),
        }));
    }
    // Sampling without replacement leaves a part of the variance out.
    let most = n / (1.0 - input.sampled);
    if is_plain(input) {
        let successes = (input.mean * n).round();
        if input.sampled > 0.0 {
            return Ok(Trials::new(successes / n, most, None));
        }
        return Ok(Trials { successes, failures: n - successes, df: None });
    }
    let error = input.error.as_ref().map_err(Clone::clone)?;
    let (p, df) = (input.mean.clamp(0.0, 1.0), Some(error.df));
    let spread = p * (1.0 - p);
    if !(error.se > 0.0 && spread > 0.0) {
        return Ok(Trials::new(p, input.units() as f64 / (1.0 - input.sampled), df));
    }
    let adjusted = t_quantile(confidence, (n - 1.0).max(1.0)) / t_quantile(confidence, error.df);
    // Both quantiles are 0 at the median.
    let adjusted = if adjusted.is_finite() { adjusted } else { 1.0 };
    Ok(Trials::new(p, (spread / error.se / error.se * adjusted * adjusted).clamp(1.0, most), df))
}

/// What is resampled.
enum Population<'a> {
    /// Distinct scores, with how often each occurs.
    Scores(&'a [(f64, u64)]),
    Clusters(Vec<ClusterTotal>),
}

impl DrawSource<'_> {
    fn population(&self) -> Defined<Population<'_>> {
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
fn percentile(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
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
fn bca(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
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
fn studentised(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
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
fn exact(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    input.spread()?;
    let means = exact_means(&input.sample)?;
    Ok(Ends::new(means.quantile(1.0 - confidence), means.quantile(confidence)))
}

/// All means that resampling can give.
pub(super) fn exact_means(sample: &DrawSource<'_>) -> Defined<IdealMeans> {
    let units: Vec<ResamplingUnit> = match sample.population()? {
        Population::Scores(values) => {
            values.iter().map(|(value, count)| ResamplingUnit::score(*value, *count)).collect()
        }
        Population::Clusters(totals) => totals.iter().map(ResamplingUnit::cluster).collect(),
    };
    IdealMeans::of(units).map_err(|problem| Undefined::Other(problem.to_owned()))
}

/// The most clusters. With this many it is Student's interval but for its noise, and each has a random number in each resample.
const MAX_WILD_CLUSTERS: u64 = 100_000;

fn wild(input: &IntervalInput<'_>, weights: WildWeights, confidence: f64) -> Defined<Ends> {
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
fn wild_cost(input: &IntervalInput<'_>) -> u64 {
    input.units().saturating_mul(8).saturating_add(1000)
}

/// Whether resamples are drawn at random: there are too many to compute them all.
fn is_wild_drawn(input: &IntervalInput<'_>, weights: WildWeights) -> bool {
    input.units() > points_of(weights).most_enumerated() as u64
}

fn points_of(weights: WildWeights) -> WeightPoints {
    match weights {
        WildWeights::Webb => WeightPoints::WEBB,
        WildWeights::Rademacher => WeightPoints::RADEMACHER,
    }
}

/// What a sample contributes to a mean: a number, or two between which it must lie. None is the end of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SampleValue {
    /// The least that it may be.
    pub least: Option<f64>,
    /// The greatest.
    pub greatest: Option<f64>,
}

impl SampleValue {
    /// A number.
    pub fn known(number: f64) -> Self {
        SampleValue { least: Some(number), greatest: Some(number) }
    }

    /// Something between two numbers.
    pub fn between(least: f64, greatest: f64) -> Self {
        SampleValue { least: Some(least), greatest: Some(greatest) }
    }

    /// The number of the score at a position; bounds if epochs of the sample have no score. `has_gaps`: what is known of
    /// absent epochs is about these numbers.
    pub fn at(at: usize, scores: &Scores<'_>, numbers: &[f64], has_gaps: bool) -> Self {
        let gaps = scores.epoch_gaps();
        match gaps.and_then(|gaps| gaps.get(&(scores.column_row(at) as u32))) {
            None => SampleValue::known(numbers.get(at).copied().unwrap_or(f64::NAN)),
            Some([worst, best, _]) if has_gaps => SampleValue::between(*worst, *best),
            Some(_) => SampleValue::default(),
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        self.least.filter(|_| self.least == self.greatest)
    }
}

impl EarlyStop {
    /// Scores with their positions in the random order. `has_gaps`: what is known of absent epochs is about these numbers.
    ///
    /// # Errors
    /// A sample that the run did not plan.
    pub(crate) fn ordered(
        &self,
        scores: &Scores<'_>,
        numbers: &[f64],
        has_gaps: bool,
    ) -> Result<Vec<(u32, SampleValue)>, String> {
        let placed = |at: usize| {
            let id = scores.sample_id(at);
            let unknown = || format!("the sample {id:?} is none of those that the run planned");
            Ok((*self.positions.get(id).ok_or_else(unknown)?, SampleValue::at(at, scores, numbers, has_gaps)))
        };
        (0..scores.len()).map(placed).collect()
    }

    /// The interval of the sequence of ordered scores, with as many absent samples.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn interval(
        &self,
        scores: &[(u32, SampleValue)],
        errors: &ErrorPlan,
        range: (f64, f64),
        absent: u64,
    ) -> Result<Interval, String> {
        let found = scores.len() as u64 + absent;
        if found != self.samples {
            return Err(format!("the run took {} samples, and there are {found}", self.samples));
        }
        let (low, high) = range;
        let mut by_position = vec![(low, high); usize::try_from(self.samples).unwrap_or_default()];
        for (position, value) in scores {
            let Some(place) = by_position.get_mut(*position as usize) else {
                return Err("the samples are not the first ones of the recorded order".to_owned());
            };
            *place = (value.least.unwrap_or(low), value.greatest.unwrap_or(high));
        }
        let sequence = match errors.side() {
            IntervalSide::TwoSided => ConfidenceSequence::new(self.population, range, errors.level()),
            IntervalSide::Lower => ConfidenceSequence::lower_bound(self.population, range, errors.level()),
            IntervalSide::Upper => ConfidenceSequence::upper_bound(self.population, range, errors.level()),
        };
        let mut sequence = sequence.map_err(|error| error.to_string())?;
        for (least, greatest) in by_position {
            sequence.push_between(least, greatest).map_err(|error| error.to_string())?;
        }
        let (lower, upper) = sequence.interval();
        let interval = Interval::new(lower, upper, errors.level(), IntervalMethod::Betting);
        Ok(interval.one_sided(errors.side(), Some(range)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With p of 1/k and n of k the ends are those of the same multiples of 1/k, as 1 − p is 1.
    #[test]
    fn small_shares_have_the_ends_of_larger_ones() {
        let at = |k: f64| {
            let (lower, upper) = wilson(2.0 / k, k, 4.3);
            (lower * k, upper * k)
        };
        let (large, small) = (at(1e100), at(1e300));
        assert!(large.0 < 2.0 && 2.0 < large.1);
        assert!(
            (large.0 - small.0).abs() < 1e-12 && (large.1 - small.1).abs() < 1e-12,
            "{large:?} {small:?}"
        );
    }
}
