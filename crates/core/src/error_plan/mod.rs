//! How errors and intervals are computed: a part of the plan.

mod methods;

pub use methods::{BetaPrior, IntervalChoice, IntervalMethod, IntervalSide, WildWeights};
pub use methods::{ClusterVariance, ErrorMethod};

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::naming::Order;
use crate::random::Random;
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
        let mut plan = serde_json::Map::new();
        let mut set = |key: &str, value: Json| plan.insert(key.to_owned(), value);
        match self.cluster.as_slice() {
            [] => {}
            [key] => drop(set("cluster", json!(key))),
            keys => drop(set("cluster", json!(keys))),
        }
        if let Some(method) = self.method {
            set("method", json!(method.name()));
        }
        if self.interval != IntervalChoice::Auto {
            set("interval", json!(self.interval.to_string()));
        }
        if let Some(level) = self.level {
            set("level", json!(level));
        }
        if let Some(draws) = self.draws {
            set("draws", json!(draws));
        }
        if let Some((low, high)) = self.range {
            set("range", json!([low, high]));
        }
        if let Some(side) = self.side {
            set("side", json!(side.name()));
        }
        if let Some(population) = self.population {
            set("population", json!(population));
        }
        Json::Object(plan)
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
            let text = || value.as_str().ok_or_else(|| expected("a string"));
            match key.as_str() {
                "cluster" => {
                    plan.cluster = match value {
                        Json::String(key) => vec![key.clone()],
                        Json::Array(keys) => {
                            let key = |key: &Json| key.as_str().map(str::to_owned);
                            let keys: Option<Vec<String>> = keys.iter().map(key).collect();
                            keys.ok_or_else(|| expected("a metadata key or a list of them"))?
                        }
                        _ => return Err(expected("a metadata key or a list of them")),
                    }
                }
                "method" => {
                    plan.method = Some(text()?.parse().map_err(|problem| format!("`{key}`: {problem}"))?)
                }
                "interval" => {
                    plan.interval = text()?.parse().map_err(|problem| format!("`{key}`: {problem}"))?
                }
                "level" => plan.level = Some(value.as_f64().ok_or_else(|| expected("a number"))?),
                "draws" => {
                    let draws = value.as_u64().and_then(|draws| u32::try_from(draws).ok());
                    plan.draws = Some(draws.ok_or_else(|| expected("an integer"))?);
                }
                "range" => {
                    let ends = value.as_array().map(|ends| ends.iter().map(Json::as_f64).collect::<Vec<_>>());
                    match ends.as_deref() {
                        Some([Some(low), Some(high)]) => plan.range = Some((*low, *high)),
                        _ => return Err(expected("two numbers")),
                    }
                }
                "side" => plan.side = Some(text()?.parse().map_err(|problem| format!("`{key}`: {problem}"))?),
                "population" => {
                    plan.population = Some(value.as_u64().ok_or_else(|| expected("a number of samples"))?);
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
    /// Errors of this plan, random figures from this seed.
    pub fn new(errors: ErrorPlan, seed: u64) -> Self {
        Estimation {
            errors,
            by_sample: false,
            value_only: false,
            implied_cluster: false,
            order: Order::default(),
            random: Random::new(seed, None),
        }
    }

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
