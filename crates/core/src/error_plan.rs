//! How errors and intervals are computed: a part of the plan.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::mem::discriminant;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::naming::Order;
use crate::random::Random;
use crate::registry::{ArgType, ArgWord};
use crate::spec::{Arg, Spec};
use errorbar_stats::sequential::random_order;

/// The confidence level if none is given.
const DEFAULT_LEVEL: f64 = 0.95;
/// The number of resamples if none is given.
const DEFAULT_DRAWS: u32 = 10_000;
/// The most cluster keys.
const MAX_KEYS: usize = 2;
/// The fewest resamples that say something, and the most.
pub(crate) const DRAWS: RangeInclusive<u32> = 100..=10_000_000;

/// How errors and intervals of location metrics are computed. What is unset has a default.
///
/// Its text is JSON: that is what logs record, and what comes back from them.
///
/// ```
/// use errorbar_core::ErrorPlan;
///
/// let plan: ErrorPlan = r#"{"cluster": "passage", "method": "CR2", "interval": "t", "level": 0.9}"#.parse()?;
/// assert_eq!(plan.cluster, ["passage"]);
/// assert_eq!(plan.level(), 0.9);
/// assert_eq!(plan.to_string().parse(), Ok(plan));
/// let error = r#"{"level": 95}"#.parse::<ErrorPlan>().unwrap_err();
/// assert_eq!(error, "the level must lie between 0 and 1 (both excluded), found 95; for 95 % write 0.95");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ErrorPlan {
    /// The metadata keys that samples are clustered by; none: samples are independent, and the epochs of a sample that
    /// are not reduced belong together. Two keys are two ways of clustering.
    pub cluster: Vec<String>,
    /// How the variance is computed; if unset, `iid`, and CR2 where there are clusters. The jackknife and the bootstrap
    /// are of samples, or of clusters where there are any.
    pub method: Option<ErrorMethod>,
    /// Which interval.
    pub interval: IntervalChoice,
    /// The confidence level; 0.95 if unset.
    pub level: Option<f64>,
    /// The number of resamples; 10,000 if unset.
    pub draws: Option<u32>,
    /// The lowest and the highest score that there may be; 0 and 1 if unset and all scores are within.
    pub range: Option<(f64, f64)>,
    /// Which ends intervals have; both if unset.
    pub side: Option<IntervalSide>,
    /// The number of samples of the whole benchmark, if scores are of a random part of them: errors are then about the
    /// whole benchmark, and not about more questions like these.
    pub population: Option<u64>,
    /// How the run was stopped early, if it was: intervals of means then allow for it, unless another one is wanted.
    /// It is not a part of the JSON: it belongs to one run.
    pub early_stop: Option<Arc<EarlyStop>>,
}

impl ErrorPlan {
    /// The default: what fits the scores.
    pub fn new() -> Self {
        ErrorPlan::default()
    }

    /// Clusters samples by a metadata key, too.
    #[must_use]
    pub fn cluster(mut self, key: impl Into<String>) -> Self {
        self.cluster.push(key.into());
        self
    }

    /// The confidence level.
    pub fn level(&self) -> f64 {
        self.level.unwrap_or(DEFAULT_LEVEL)
    }

    /// The number of resamples.
    pub fn draws(&self) -> u32 {
        self.draws.unwrap_or(DEFAULT_DRAWS)
    }

    /// Which ends intervals have.
    pub fn side(&self) -> IntervalSide {
        self.side.unwrap_or_default()
    }

    /// Whether nothing is set.
    pub fn is_default(&self) -> bool {
        *self == ErrorPlan::default()
    }

    /// Whether the standard error is the plan's, and not that of a metric such as `stderr`.
    pub fn sets_error(&self) -> bool {
        !self.cluster.is_empty() || self.method.is_some() || self.population.is_some()
    }

    /// Whether the interval is the plan's, and not that of a metric such as `ci`.
    pub fn sets_interval(&self) -> bool {
        self.sets_error()
            || self.interval != IntervalChoice::Auto
            || self.level.is_some()
            || self.range.is_some()
            || self.side.is_some()
    }

    /// This plan with what another one sets put in.
    #[must_use]
    pub fn or(mut self, defaults: &ErrorPlan) -> Self {
        if self.cluster.is_empty() {
            self.cluster.clone_from(&defaults.cluster);
        }
        self.method = self.method.or(defaults.method);
        if self.interval == IntervalChoice::Auto {
            self.interval = defaults.interval;
        }
        self.level = self.level.or(defaults.level);
        self.draws = self.draws.or(defaults.draws);
        self.range = self.range.or(defaults.range);
        self.side = self.side.or(defaults.side);
        self.population = self.population.or(defaults.population);
        self.early_stop = self.early_stop.or_else(|| defaults.early_stop.clone());
        self
    }

    /// Whether the parts fit together.
    ///
    /// # Errors
    /// A sentence that names what does not.
    pub fn check(&self) -> Result<(), String> {
        if self.cluster.len() > MAX_KEYS {
            return Err(format!(
                "samples can be clustered by at most {MAX_KEYS} keys, found {}",
                self.cluster.len()
            ));
        }
        if let [first, second] = self.cluster.as_slice()
            && first == second
        {
            return Err(format!("the cluster key {first:?} is given twice"));
        }
        if let Some(level) = self.level.filter(|level| !(*level > 0.0 && *level < 1.0)) {
            return Err(format!(
                "the level must lie between 0 and 1 (both excluded), found {level}; for 95 % write 0.95"
            ));
        }
        self.side().check_level(self.level())?;
        if let Some((low, high)) = self.range.filter(|(low, high)| !(low < high && (high - low).is_finite()))
        {
            return Err(format!(
                "the range must be two numbers, the lower one first, found {low} and {high}"
            ));
        }
        if let Some(draws) = self.draws.filter(|draws| !DRAWS.contains(draws)) {
            let (least, most) = (DRAWS.start(), DRAWS.end());
            return Err(format!("the number of draws must lie between {least} and {most}, found {draws}"));
        }
        if self.population == Some(0) {
            return Err(
                "the population must be the number of samples of the whole benchmark, found 0".to_owned()
            );
        }
        if !self.cluster.is_empty() && self.method == Some(ErrorMethod::Iid) {
            return Err("errors of independent samples (iid) cannot be clustered; leave out one of the two"
                .to_owned());
        }
        Ok(())
    }

    /// Whether it names a method by resamples: a figure that has a formula is then resampled, too.
    pub(crate) fn wants_resamples(&self) -> bool {
        self.method == Some(ErrorMethod::Bootstrap) || self.interval.is_drawn()
    }

    /// Whether it names a method that needs the figure with each unit left out.
    pub fn wants_left_out(&self) -> bool {
        self.method == Some(ErrorMethod::Jackknife)
            || self.interval == IntervalChoice::Method(IntervalMethod::Bca)
    }

    /// The range of scores, if it is known: that of this plan, or 0 to 1, if all are within.
    pub(crate) fn range_of(&self, least: f64, greatest: f64) -> Option<(f64, f64)> {
        let (low, high) = self.range.unwrap_or((0.0, 1.0));
        (low <= least && greatest <= high).then_some((low, high))
    }

    /// The method of clustered errors.
    pub(crate) fn clustered_method(&self) -> ErrorMethod {
        match self.method {
            Some(method @ (ErrorMethod::Cluster(_) | ErrorMethod::Jackknife | ErrorMethod::Bootstrap)) => {
                method
            }
            _ => ErrorMethod::Cluster(ClusterVariance::Cr2),
        }
    }

    /// The method of errors of independent scores.
    pub(crate) fn independent_method(&self) -> ErrorMethod {
        match self.method {
            Some(method @ (ErrorMethod::Jackknife | ErrorMethod::Bootstrap)) => method,
            _ => ErrorMethod::Iid,
        }
    }

    /// As JSON, only what is set.
    pub fn to_json(&self) -> Json {
        let cluster = match self.cluster.as_slice() {
            [] => None,
            [key] => Some(json!(key)),
            keys => Some(json!(keys)),
        };
        let interval = (self.interval != IntervalChoice::Auto).then(|| json!(self.interval.to_string()));
        let settings = [
            ("cluster", cluster),
            ("method", self.method.map(|method| json!(method.name()))),
            ("interval", interval),
            ("level", self.level.map(|level| json!(level))),
            ("draws", self.draws.map(|draws| json!(draws))),
            ("range", self.range.map(|(low, high)| json!([low, high]))),
            ("side", self.side.map(|side| json!(side.name()))),
            ("population", self.population.map(|population| json!(population))),
        ];
        settings.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }

    /// From JSON.
    ///
    /// # Errors
    /// A sentence that names the key and what was expected.
    pub fn from_json(json: &Json) -> Result<Self, String> {
        let object = json.as_object().ok_or_else(|| format!("expected a table of settings, found {json}"))?;
        let mut plan = ErrorPlan::new();
        for (key, value) in object {
            let expected = |what: &str| format!("`{key}`: expected {what}, found {value}");
            match key.as_str() {
                "cluster" => {
                    let keys = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                    let keys: Option<Vec<&str>> = keys.iter().map(Json::as_str).collect();
                    let keys = keys.ok_or_else(|| expected("a metadata key or a list of them"))?;
                    plan.cluster = keys.into_iter().map(str::to_owned).collect();
                }
                "method" => plan.method = Some(parsed(key, value)?),
                "interval" => plan.interval = parsed(key, value)?,
                "level" => plan.level = Some(read(value).ok_or_else(|| expected("a number"))?),
                "draws" => plan.draws = Some(read(value).ok_or_else(|| expected("an integer"))?),
                "range" => plan.range = Some(read(value).ok_or_else(|| expected("two numbers"))?),
                "side" => plan.side = Some(parsed(key, value)?),
                "population" => {
                    plan.population = Some(read(value).ok_or_else(|| expected("a number of samples"))?);
                }
                _ => {
                    return Err(format!(
                        "unknown key `{key}`; the keys are cluster, method, interval, level, draws, range, side, population"
                    ));
                }
            }
        }
        plan.check()?;
        Ok(plan)
    }
}

/// A setting that is a name.
fn read<'j, T: Deserialize<'j>>(value: &'j Json) -> Option<T> {
    T::deserialize(value).ok()
}

fn parsed<T: FromStr<Err = String>>(key: &str, value: &Json) -> Result<T, String> {
    let text = value.as_str().ok_or_else(|| format!("`{key}`: expected a string, found {value}"))?;
    text.parse().map_err(|problem| format!("`{key}`: {problem}"))
}

impl fmt::Display for ErrorPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_json().fmt(f)
    }
}

impl FromStr for ErrorPlan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        ErrorPlan::from_json(&json)
    }
}

/// How errors are computed, and the seed of random figures.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Estimation {
    /// How errors and intervals are computed.
    pub errors: ErrorPlan,
    /// Whether scores of one sample belong together: they are unreduced, and samples repeat.
    pub by_sample: bool,
    /// Whether only values count: the scores are one of many resamples, or the caller wants numbers alone, so that errors
    /// and intervals would not be looked at. A metric that draws resamples itself must not do so then.
    pub value_only: bool,
    /// Whether the cluster key is not of the plan but of one of the metrics.
    pub(crate) implied_cluster: bool,
    /// In which order groups and categories are listed.
    pub(crate) order: Order,
    /// What random figures are made from.
    pub random: Random,
}

impl Estimation {
    /// The seed of random figures.
    pub fn seed(&self) -> u64 {
        self.random.seed
    }
}

/// Which summary a plan needs: two plans with the same key can share one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryKey {
    /// Of moments.
    Moments,
    /// Of counts of values.
    Tally,
    /// Of the sums of each sample.
    BySample,
    /// Of the sums of clusters by these keys.
    Clusters(Vec<String>),
}

impl SummaryKey {
    /// What a plan needs.
    pub fn of(errors: &ErrorPlan, by_sample: bool) -> Self {
        let is_resampled = errors.interval.is_resampled();
        match errors.method {
            Some(ErrorMethod::Iid) if is_resampled => SummaryKey::Tally,
            Some(ErrorMethod::Iid) => SummaryKey::Moments,
            _ if !errors.cluster.is_empty() => SummaryKey::Clusters(errors.cluster.clone()),
            _ if by_sample => SummaryKey::BySample,
            _ if is_resampled => SummaryKey::Tally,
            _ => SummaryKey::Moments,
        }
    }
}

/// How a run was stopped early: which of its samples it took, in a random order. Estimates of means are then those of a
/// [`ConfidenceSequence`](errorbar_stats::sequential::ConfidenceSequence).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyStop {
    pub(crate) samples: u64,
    pub(crate) population: u64,
    /// The position of each sample in the random order.
    pub(crate) positions: HashMap<String, u32>,
}

impl EarlyStop {
    /// A run that was to take the samples of these ids in the random order of a seed, and took the first ones.
    ///
    /// # Errors
    /// A sentence on numbers that do not fit together, and on an id that is there twice.
    pub fn new<I: Into<String>>(
        ids: impl IntoIterator<Item = I>,
        seed: u64,
        samples: u64,
    ) -> Result<Self, String> {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        let population = ids.len() as u64;
        if !(1..=population).contains(&samples) {
            return Err(format!("{samples} samples cannot be the first of {population}"));
        }
        let count = u32::try_from(population).map_err(|_| format!("{population} samples are too many"))?;
        let mut positions = vec![0; ids.len()];
        for (position, sample) in (0..count).zip(random_order(count, seed)) {
            if let Some(place) = positions.get_mut(sample as usize) {
                *place = position;
            }
        }
        let mut by_id = HashMap::with_capacity(ids.len());
        for (id, position) in ids.into_iter().zip(positions) {
            match by_id.entry(id) {
                Entry::Vacant(entry) => entry.insert(position),
                Entry::Occupied(entry) => return Err(format!("the sample {:?} is there twice", entry.key())),
            };
        }
        Ok(EarlyStop { samples, population, positions: by_id })
    }

    /// The number of samples that the run took.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The number of samples of the benchmark.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// What a reader of the estimate should know.
    pub(crate) fn note(&self) -> String {
        let EarlyStop { samples, population, .. } = self;
        format!(
            "stopped early after {samples} of {population} samples, interval of the mean of all {population}"
        )
    }
}

impl ErrorPlan {
    /// The early stop that intervals of means allow for, unless another interval is wanted.
    pub(crate) fn sequence(&self) -> Option<&EarlyStop> {
        let is_wanted = self.interval == IntervalChoice::Auto && self.population.is_none();
        self.early_stop.as_deref().filter(|_| is_wanted)
    }
}

/// How an interval was made. Its text is a spec: `wilson`, `beta(prior=[1, 1])`, `wild(weights="rademacher")`.
///
/// ```
/// use errorbar_core::{BetaPrior, IntervalMethod};
///
/// let method: IntervalMethod = "beta(prior=[0.5, 2])".parse()?;
/// assert_eq!(method, IntervalMethod::Beta(BetaPrior::new(0.5, 2.0)));
/// assert_eq!(method.to_string(), "beta(prior=[0.5, 2])");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum IntervalMethod {
    /// Wilson's score interval, on the effective n where scores are not independent zeros and ones.
    Wilson,
    /// Wilson's on the effective n of surveys, for clustered zeros and ones: Korn and Graubard's adjustment for few clusters.
    ModifiedWilson,
    /// Clopper and Pearson's: never covers less than its level, for zeros and ones.
    ClopperPearson,
    /// The credible interval of Jeffreys' prior, Beta(½, ½), for zeros and ones.
    Jeffreys,
    /// The credible interval of another beta prior, for zeros and ones.
    Beta(BetaPrior),
    /// x̄ ± t·se.
    T,
    /// Percentiles of resampled means.
    Bootstrap,
    /// Percentiles of resampled means, corrected for bias and for an error that changes with the mean.
    Bca,
    /// Percentiles of resampled t statistics.
    BootstrapT,
    /// Percentiles of all means that resampling can give, without drawing any.
    Exact,
    /// The wild cluster bootstrap.
    Wild(WildWeights),
    /// The ends of an interval of the logit, for a figure between 0 and 1 that is no mean.
    Logit,
    /// Two of the scores themselves, by rank: that of a quantile.
    OrderStatistics,
    /// The normal interval of a group that is shrunken toward the others; see `shrink` of
    /// [`grouped`](crate::metrics::grouped).
    EmpiricalBayes,
    /// A confidence sequence by betting: valid at every look at a run, so that it may decide when the run stops. See
    /// [`ConfidenceSequence`](errorbar_stats::sequential::ConfidenceSequence).
    Betting,
    /// That of Bonett and Price, for the difference of two shares over the same samples; with the design effect where samples
    /// are not independent.
    BonettPrice,
    /// Newcombe's (method 10), for the difference of two independent shares: Wilson's ends of both, combined.
    Newcombe,
    /// As a custom metric defines it.
    Custom,
}

/// The prior Beta(a, b) of a share; both are above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BetaPrior {
    /// As many successes less one that the prior is worth.
    pub a: f64,
    /// As many failures less one that the prior is worth.
    pub b: f64,
}

impl BetaPrior {
    /// Beta(a, b); both must be above 0.
    pub fn new(a: f64, b: f64) -> Self {
        BetaPrior { a, b }
    }

    /// All shares are equally likely.
    pub const UNIFORM: BetaPrior = BetaPrior { a: 1.0, b: 1.0 };
}

/// The random weights of the wild cluster bootstrap.
#[derive(ArgWord, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WildWeights {
    /// Webb's six points: ±√½, ±1, ±√1½.
    #[default]
    Webb,
    /// ±1.
    Rademacher,
}

impl IntervalMethod {
    /// All methods by name, those with arguments with their defaults: first those that a plan can name, then those that
    /// only metrics and comparisons choose, or that runs do which were stopped early.
    pub const NAMES: [(&'static str, IntervalMethod); 18] = [
        ("wilson", IntervalMethod::Wilson),
        ("modified_wilson", IntervalMethod::ModifiedWilson),
        ("clopper_pearson", IntervalMethod::ClopperPearson),
        ("jeffreys", IntervalMethod::Jeffreys),
        ("beta", IntervalMethod::Beta(BetaPrior::UNIFORM)),
        ("t", IntervalMethod::T),
        ("bootstrap", IntervalMethod::Bootstrap),
        ("bca", IntervalMethod::Bca),
        ("bootstrap_t", IntervalMethod::BootstrapT),
        ("exact", IntervalMethod::Exact),
        ("wild", IntervalMethod::Wild(WildWeights::Webb)),
        ("logit", IntervalMethod::Logit),
        ("order_statistics", IntervalMethod::OrderStatistics),
        ("empirical_bayes", IntervalMethod::EmpiricalBayes),
        ("betting", IntervalMethod::Betting),
        ("custom", IntervalMethod::Custom),
        ("bonett_price", IntervalMethod::BonettPrice),
        ("newcombe", IntervalMethod::Newcombe),
    ];

    /// The methods that a plan can name.
    pub fn choices() -> impl Iterator<Item = IntervalMethod> {
        Self::NAMES.iter().take(11).map(|(_, method)| *method)
    }

    /// Whether it draws resamples.
    pub fn is_drawn(self) -> bool {
        use IntervalMethod as M;
        matches!(self, M::Bootstrap | M::Bca | M::BootstrapT | M::Wild(_))
    }

    /// Whether it is about the means of resamples, drawn or not, so that it needs the distinct scores or the clusters.
    pub(crate) fn is_resampled(self) -> bool {
        self.is_drawn() || self == IntervalMethod::Exact
    }

    /// The name, without arguments.
    pub fn name(self) -> &'static str {
        let is_it = |method: &IntervalMethod| discriminant(method) == discriminant(&self);
        Self::NAMES.iter().find(|(_, method)| is_it(method)).map_or("", |(name, _)| name)
    }

    /// From a spec.
    ///
    /// # Errors
    /// A sentence that names the methods, or the argument and what was expected.
    pub fn from_spec(spec: &Spec) -> Result<Self, String> {
        let named = |method: &IntervalMethod| method.name() == spec.name && spec.package.is_none();
        let Some(method) = IntervalMethod::choices().find(named) else {
            return Err(unknown(&spec.qualified_name(), names()));
        };
        let parameters: &[&str] = match method {
            IntervalMethod::Beta(_) => &["prior"],
            IntervalMethod::Wild(_) => &["weights"],
            _ if spec.args.is_empty() && spec.kwargs.is_empty() => &[],
            _ => return Err(format!("{method} has no arguments")),
        };
        let args = spec.bind(parameters).map_err(|error| error.to_string())?;
        match (method, args.values().next()) {
            (IntervalMethod::Beta(_), Some(prior)) => beta_prior(prior).map(IntervalMethod::Beta),
            (IntervalMethod::Wild(_), Some(arg)) => {
                let known = WildWeights::WORDS.iter().find(|(word, _)| arg.as_str() == Some(word));
                let expected = <WildWeights as ArgWord>::EXPECTED;
                let unknown = || format!("the weights of wild must be {expected}, found {arg}");
                known.map(|(_, weights)| IntervalMethod::Wild(*weights)).ok_or_else(unknown)
            }
            _ => Ok(method),
        }
    }
}

fn beta_prior(arg: &Arg) -> Result<BetaPrior, String> {
    let numbers = match arg {
        Arg::List(numbers) => numbers.iter().map(Arg::as_f64).collect::<Option<Vec<f64>>>(),
        _ => None,
    };
    match numbers.as_deref() {
        Some(&[a, b]) if a > 0.0 && b > 0.0 && (a + b).is_finite() => Ok(BetaPrior { a, b }),
        _ => Err(format!("the prior of beta must be two numbers above 0, such as [1, 1], found {arg}")),
    }
}

/// All names, `auto` first.
fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once("auto").chain(IntervalMethod::choices().map(IntervalMethod::name))
}

impl fmt::Display for IntervalMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntervalMethod::Beta(BetaPrior { a, b }) => write!(f, "beta(prior=[{a}, {b}])"),
            IntervalMethod::Wild(weights) if *weights != WildWeights::default() => {
                write!(f, "wild(weights={})", weights.to_arg())
            }
            method => f.write_str(method.name()),
        }
    }
}

impl FromStr for IntervalMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<Spec>() {
            Ok(spec) => IntervalMethod::from_spec(&spec),
            // A string with arguments that is no spec has its own problem.
            Err(error) if text.contains('(') => Err(error.to_string()),
            Err(_) => Err(unknown(text, names())),
        }
    }
}

/// Which interval a plan wants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum IntervalChoice {
    /// The one that fits the scores.
    #[default]
    Auto,
    /// This one.
    Method(IntervalMethod),
}

impl IntervalChoice {
    /// Whether it is a method that draws resamples.
    pub fn is_drawn(self) -> bool {
        matches!(self, IntervalChoice::Method(method) if method.is_drawn())
    }

    /// Whether it is a method that needs the distinct scores or the clusters.
    pub(crate) fn is_resampled(self) -> bool {
        matches!(self, IntervalChoice::Method(method) if method.is_resampled())
    }

    /// The names that a plan can have: `auto` and those of the methods.
    pub fn names() -> impl Iterator<Item = &'static str> {
        names()
    }
}

impl fmt::Display for IntervalChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntervalChoice::Auto => f.write_str("auto"),
            IntervalChoice::Method(method) => method.fmt(f),
        }
    }
}

impl FromStr for IntervalChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" { Ok(IntervalChoice::Auto) } else { text.parse().map(IntervalChoice::Method) }
    }
}

/// Which ends an interval has.
#[derive(ArgWord, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntervalSide {
    /// Both, each with half of what the level leaves.
    #[default]
    TwoSided,
    /// A lower bound; the interval is open upwards.
    Lower,
    /// An upper bound; the interval is open downwards.
    Upper,
}

impl IntervalSide {
    /// All of them.
    pub const CHOICES: [IntervalSide; 3] = [IntervalSide::TwoSided, IntervalSide::Lower, IntervalSide::Upper];

    /// The name, as in JSON and on the command line.
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, side)| *side == self).map_or("", |(word, _)| word)
    }

    /// Refuses a bound that the truth is beyond as often as not: at the level 0.5 it is the value itself, and below it lies on
    /// the wrong side of it.
    ///
    /// # Errors
    /// A sentence that names the level.
    pub(crate) fn check_level(self, level: f64) -> Result<(), String> {
        match self {
            IntervalSide::Lower | IntervalSide::Upper if level <= 0.5 => {
                Err(format!("the level of a bound must be above 0.5, found {level}"))
            }
            _ => Ok(()),
        }
    }

    /// The confidence of each end of an interval of this level.
    pub fn confidence_of_ends(self, level: f64) -> f64 {
        match self {
            IntervalSide::TwoSided => 0.5 + level / 2.0,
            IntervalSide::Lower | IntervalSide::Upper => level,
        }
    }
}

impl fmt::Display for IntervalSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for IntervalSide {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::WORDS.iter().find(|(word, _)| *word == text).map(|(_, side)| *side);
        known.ok_or_else(|| unknown(text, Self::WORDS.iter().map(|(word, _)| *word)))
    }
}

/// How a standard error was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorMethod {
    /// Scores are independent: s/√n.
    Iid,
    /// Scores of a cluster belong together.
    Cluster(ClusterVariance),
    /// The standard deviation of resampled figures: of samples, or of whole clusters.
    Bootstrap,
    /// Leaving out one sample or one cluster at a time.
    Jackknife,
    /// A smooth function of means.
    Delta,
    /// DeLong's, of an area under a ROC curve.
    DeLong,
    /// The mean of fixed groups: √(Σ SE²)/G.
    Macro,
    /// As a custom metric defines it.
    Custom,
}

/// The small-sample correction of a clustered error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClusterVariance {
    /// None.
    Cr0,
    /// G/(G−1).
    Cr1,
    /// By the size of each cluster, unbiased for independent scores; with the degrees of freedom of Bell and McCaffrey.
    Cr2,
    /// As the jackknife, without its factor (G−1)/G.
    Cr3,
}

impl ErrorMethod {
    /// All methods by name: first those that a plan can name, then those that only metrics choose.
    pub const NAMES: [(&'static str, ErrorMethod); 11] = [
        ("iid", ErrorMethod::Iid),
        ("CR0", ErrorMethod::Cluster(ClusterVariance::Cr0)),
        ("CR1", ErrorMethod::Cluster(ClusterVariance::Cr1)),
        ("CR2", ErrorMethod::Cluster(ClusterVariance::Cr2)),
        ("CR3", ErrorMethod::Cluster(ClusterVariance::Cr3)),
        ("jackknife", ErrorMethod::Jackknife),
        ("bootstrap", ErrorMethod::Bootstrap),
        ("delta", ErrorMethod::Delta),
        ("delong", ErrorMethod::DeLong),
        ("macro", ErrorMethod::Macro),
        ("custom", ErrorMethod::Custom),
    ];

    /// The methods that a plan can name.
    pub fn choices() -> impl Iterator<Item = ErrorMethod> {
        Self::NAMES.iter().take(7).map(|(_, method)| *method)
    }

    /// Whether it may draw resamples.
    pub fn is_drawn(self) -> bool {
        self == ErrorMethod::Bootstrap
    }

    /// The name, as in JSON and on the command line.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for ErrorMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for an unknown name.
fn unknown<'n>(found: &str, names: impl Iterator<Item = &'n str>) -> String {
    format!("expected one of {}, found {found:?}", names.collect::<Vec<_>>().join(", "))
}

impl FromStr for ErrorMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = |method: &ErrorMethod| method.name().eq_ignore_ascii_case(text);
        let names = ErrorMethod::choices().map(ErrorMethod::name);
        ErrorMethod::choices().find(named).ok_or_else(|| unknown(text, names))
    }
}

#[cfg(test)]
mod tests {
    use super::IntervalMethod as M;
    use super::*;

    /// The next variant: a new one does not compile until it is here, and fails until a list has it.
    fn next(method: M) -> Option<M> {
        Some(match method {
            M::Wilson => M::ModifiedWilson,
            M::ModifiedWilson => M::ClopperPearson,
            M::ClopperPearson => M::Jeffreys,
            M::Jeffreys => M::Beta(BetaPrior::UNIFORM),
            M::Beta(_) => M::T,
            M::T => M::Bootstrap,
            M::Bootstrap => M::Bca,
            M::Bca => M::BootstrapT,
            M::BootstrapT => M::Exact,
            M::Exact => M::Wild(WildWeights::Webb),
            M::Wild(_) => M::Logit,
            M::Logit => M::OrderStatistics,
            M::OrderStatistics => M::EmpiricalBayes,
            M::EmpiricalBayes => M::Betting,
            M::Betting => M::Custom,
            M::Custom => M::BonettPrice,
            M::BonettPrice => M::Newcombe,
            M::Newcombe => return None,
        })
    }

    #[test]
    fn every_method_is_listed_once() {
        let walked: Vec<M> = std::iter::successors(Some(M::Wilson), |method| next(*method)).collect();
        let listed = M::NAMES.map(|(_, method)| method);
        assert_eq!(walked, listed);
    }
}

#[cfg(test)]
mod method_tests {
    use super::ErrorMethod as M;
    use super::*;

    /// The next variant: a new one does not compile until it is here, and fails until a list has it.
    fn next(method: M) -> Option<M> {
        Some(match method {
            M::Iid => M::Cluster(ClusterVariance::Cr0),
            M::Cluster(ClusterVariance::Cr0) => M::Cluster(ClusterVariance::Cr1),
            M::Cluster(ClusterVariance::Cr1) => M::Cluster(ClusterVariance::Cr2),
            M::Cluster(ClusterVariance::Cr2) => M::Cluster(ClusterVariance::Cr3),
            M::Cluster(ClusterVariance::Cr3) => M::Jackknife,
            M::Jackknife => M::Bootstrap,
            M::Bootstrap => M::Delta,
            M::Delta => M::DeLong,
            M::DeLong => M::Macro,
            M::Macro => M::Custom,
            M::Custom => return None,
        })
    }

    #[test]
    fn every_method_is_listed_once() {
        let walked: Vec<M> = std::iter::successors(Some(M::Iid), |method| next(*method)).collect();
        let listed = M::NAMES.map(|(_, method)| method);
        assert_eq!(walked, listed);
    }
}
