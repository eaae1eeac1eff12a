//! What went wrong with a metric, and what a reader of the numbers should know.

use serde::Serialize;

use crate::error::Error;

/// A metric that could not be computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The metric's name.
    pub metric: String,
    /// Why.
    pub error: Error,
}

impl Serialize for Failure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("metric", &self.metric)?;
        map.serialize_entry("error", &self.error.to_string())?;
        map.end()
    }
}

/// What a reader of the numbers should know.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Values that have no meaning as a number were counted as 0.
    Unconvertible {
        /// The scorer.
        scorer: String,
        /// The key of map-valued scores, for metrics by key.
        key: Option<String>,
        /// The reducer that met them, if it was not a metric.
        reducer: Option<String>,
        /// How many values.
        count: usize,
        /// The sample that one of them belongs to.
        sample: String,
        /// That value.
        example: String,
    },
    /// A pattern of metrics by key matches no key.
    NoMatch {
        /// The scorer.
        scorer: String,
        /// The pattern.
        pattern: String,
        /// The keys that there are.
        keys: Vec<String>,
    },
    /// A key that the first map-valued score lacks gets no metrics.
    LateKey {
        /// The scorer.
        scorer: String,
        /// The key.
        key: String,
        /// The first sample that has it.
        sample: String,
    },
    /// Samples have different numbers of scored epochs, under a reducer whose value depends on it.
    UnequalEpochs {
        /// The scorer.
        scorer: String,
        /// The reducer.
        reducer: String,
        /// The smallest number of scored epochs that a sample has.
        fewest: usize,
        /// The largest.
        most: usize,
    },
    /// No figure matches the requested headline; the first one takes its place.
    NoHeadline {
        /// The requested headline.
        wanted: String,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Warning::Unconvertible { scorer, key, reducer, count, sample, example } => {
                let key = key.as_ref().map(|key| format!(" under the key {key:?}")).unwrap_or_default();
                write!(
                    f,
                    "{count} value(s) of `{scorer}`{key} have no meaning as a number and count as 0 \
                     (sample {sample:?}: {example}); "
                )?;
                let nested = example.starts_with("a map") || example.starts_with("a list");
                match reducer {
                    // Reducers read lists and maps value by value, so what they met is within.
                    None if nested => write!(
                        f,
                        "lists and maps are no numbers: give metrics by key, as in {{\"*\": [mean(), stderr()]}}, \
                         or a metric over lists"
                    ),
                    Some(reducer) => write!(
                        f,
                        "the reducer {reducer} reads them before any metric does: define what they mean with \
                         {reducer}(value_to_float=value_to_float(correct=…, incorrect=…)), or do not reduce"
                    ),
                    None => {
                        write!(
                            f,
                            "define what they mean with to_float=value_to_float(correct=…, incorrect=…)"
                        )
                    }
                }
            }
            Warning::NoMatch { scorer, pattern, keys } => write!(
                f,
                "the pattern {pattern:?} matches no key of the scores by `{scorer}`; there are: {}",
                keys.join(", ")
            ),
            Warning::LateKey { scorer, key, sample } => write!(
                f,
                "the key {key:?} of the scores by `{scorer}` (sample {sample:?}) gets no metrics: the keys of the \
                 first map-valued score count; give it to every sample, NaN where there is no value"
            ),
            Warning::UnequalEpochs { scorer, reducer, fewest, most } => write!(
                f,
                "samples have {fewest} to {most} scored epochs of `{scorer}`, and what {reducer} gives depends on that \
                 number, so that they cannot be compared; pass_at(k), g_pass(k, j) and best_of(k) do not depend on it"
            ),
            Warning::NoHeadline { wanted } => {
                write!(
                    f,
                    "no figure matches the requested headline ({wanted}); the first figure takes its place"
                )
            }
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
