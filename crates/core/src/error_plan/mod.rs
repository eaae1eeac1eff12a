//! How errors and intervals are computed: a part of the plan.

mod early_stop;
mod estimation;
mod interval_method;
mod method;

pub use early_stop::EarlyStop;
pub use estimation::{Estimation, SummaryKey};
pub use interval_method::{BetaPrior, IntervalChoice, IntervalMethod, IntervalSide, WildWeights};
pub use method::{ClusterVariance, ErrorMethod};

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::{Value as Json, json};

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
