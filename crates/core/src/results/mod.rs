//! The heart: scores and a plan in, results out.

mod block;
mod glob;
mod reduce;
mod views;

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::Serialize;

use crate::columns::ScoreColumns;
use crate::error::{Error, Result};
use crate::naming::unique_names;
use crate::plan::{HeadlineRequest, Metrics, Plan};
use crate::random::Random;
use crate::score::{Metadata, Score};

/// Everything computed over an evaluation.
///
/// Serialised, it has the fields that JSON output shows; not-a-number becomes null.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    /// Samples times epochs.
    pub total_samples: usize,
    /// Those of them without an error.
    pub completed_samples: usize,
    /// The figure to show first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<Headline>,
    /// A block per scorer, reducer and, for map-valued scores, key.
    pub scores: Vec<Block>,
    /// What a reader of the numbers should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// One score per sample, for each scorer and reducer.
    #[serde(skip)]
    pub reductions: Vec<Reduction>,
}

/// Which figure to show first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// The scorer.
    pub scorer: String,
    /// The name of the block.
    pub score: String,
    /// The key of the metric.
    pub metric: String,
    /// The reducer of the block.
    pub reducer: Option<String>,
}

/// The metrics of one scorer under one reducer.
#[derive(Debug, Clone, Serialize)]
pub struct Block {
    /// The scorer's name, or the key of a map-valued score.
    pub name: String,
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// How many of the scores given to this block are scored.
    pub scored_samples: usize,
    /// How many are unscored.
    pub unscored_samples: usize,
    /// How many samples have no entry for the scorer.
    pub missing_samples: usize,
    /// How many samples times epochs of the evaluation errored.
    pub errored_samples: usize,
    /// The largest number of epochs that a sample has, K.
    pub epochs: usize,
    /// Whether the metrics saw every epoch by itself.
    pub unreduced: bool,
    /// Samples times epochs whose score by this scorer is unscored, before reduction.
    pub unscored_epochs: usize,
    /// Samples times epochs that have no entry for the scorer, before reduction.
    pub missing_epochs: usize,
    /// Values that have no meaning as a number and count as 0.
    pub unconvertible: usize,
    /// The scorer's arguments.
    pub params: Metadata,
    /// The metrics, by key.
    pub metrics: IndexMap<String, Entry>,
    /// Metrics that failed, and why. The others stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}

/// One figure of a block.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// The metric's name, or the name of the entry within it.
    pub name: String,
    /// The metric, for entries of one that returns several.
    pub group: Option<String>,
    /// The figure.
    pub value: f64,
    /// The arguments that were passed to the metric.
    pub params: Metadata,
    /// Notes on the figure: `undefined`, `seed`, `clusters`, …
    pub metadata: Option<Metadata>,
}

impl Entry {
    /// Why the figure means "unknown", if it does.
    pub fn undefined_reason(&self) -> Option<&str> {
        self.metadata.as_ref()?.get("undefined")?.as_str()
    }
}

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
    /// No figure fits the headline that was asked for; the first one takes its place.
    NoHeadline {
        /// What was asked for.
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
                    _ if nested => write!(
                        f,
                        "lists and maps are no numbers: give metrics by key, as in {{\"*\": [mean(), stderr()]}}, \
                         or a metric over lists"
                    ),
                    Some(reducer) => write!(
                        f,
                        "the reducer {reducer} reads them before any metric does: say what they mean with \
                         {reducer}(value_to_float=value_to_float(correct=…, incorrect=…)), or do not reduce"
                    ),
                    None => {
                        write!(f, "say what they mean with to_float=value_to_float(correct=…, incorrect=…)")
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
            Warning::NoHeadline { wanted } => {
                write!(
                    f,
                    "no figure fits the headline asked for ({wanted}); the first figure takes its place"
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

/// The reduced scores of one scorer under one reducer.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean.
    pub reducer: Option<String>,
    samples: ReducedSamples,
}

impl Reduction {
    /// The number of samples.
    pub fn len(&self) -> usize {
        self.samples.values.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sample id and reduced score, in order; `columns` are those that were reduced.
    pub fn iter<'a>(&'a self, columns: &'a ScoreColumns) -> impl Iterator<Item = (&'a str, Score)> + use<'a> {
        let voters = columns.scorer(&self.scorer);
        (0..self.len()).map(move |at| {
            let row = self.samples.rows.get(at).map_or(at, |row| *row as usize);
            let value = self.samples.values.to_value(at).unwrap_or(crate::Value::Unscored);
            (columns.id(row), self.samples.details.to_detail(at, voters).into_score(value))
        })
    }
}

/// Reduced scores, kept as columns.
#[derive(Debug, Clone, Default)]
struct ReducedSamples {
    rows: Vec<u32>,
    values: crate::columns::ValueColumn,
    details: crate::columns::Details,
}

/// Computes the results of a plan over scores.
///
/// A metric that fails does so alone: it is listed among the block's failures and the others stand.
/// What makes the scores themselves unusable (epochs of different shapes, metrics by key over
/// scores that are no maps) is an error of the whole.
///
/// ```
/// use errorbar_core::metrics::{accuracy, stderr};
/// use errorbar_core::{Plan, Score, ScoreColumns, metrics, results};
///
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// columns.push("q2", 1).score("match", Score::unscored("refusal"))?;
/// let results = results(&columns, &Plan::new().metrics(metrics![accuracy(), stderr()]))?;
/// let block = &results.scores[0];
/// assert_eq!((block.scored_samples, block.unscored_samples), (1, 1));
/// assert_eq!(block.metrics["stderr"].undefined_reason(), Some("n < 2"));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
pub fn results(columns: &ScoreColumns, plan: &Plan) -> Result<Results> {
    let index = columns.sample_index();
    if let Some(row) = index.duplicate() {
        return Err(Error::DuplicateEpoch { sample: columns.id(row).to_owned(), epoch: columns.epoch(row) });
    }
    let random = Random::new(plan.seed, plan.max_draws);
    let shared = views::Shared { columns, index: &index, random };
    let names = unique_names(plan.scorers.iter().map(|s| s.name.as_str()));
    let mut results = Results {
        total_samples: columns.len(),
        completed_samples: columns.len() - columns.errored(),
        headline: None,
        scores: Vec::new(),
        warnings: Vec::new(),
        reductions: Vec::new(),
    };
    for (name, scorer) in names.iter().zip(&plan.scorers) {
        let metrics = plan.task_metrics.as_ref().unwrap_or(&scorer.metrics);
        views::scorer_results(&shared, plan, name, &scorer.params, metrics, &mut results)?;
    }
    let planned: HashSet<&str> = names.iter().map(String::as_str).collect();
    let unplanned: Vec<&str> = columns.scorer_names().filter(|name| !planned.contains(name)).collect();
    for name in unplanned {
        let own = plan.default_metrics.get(name).cloned().unwrap_or_else(|| default_metrics(name));
        let metrics = plan.task_metrics.as_ref().unwrap_or(&own);
        views::scorer_results(&shared, plan, name, &Metadata::new(), metrics, &mut results)?;
    }
    let mut seen = HashSet::new();
    results.warnings.retain(|warning| seen.insert(warning.to_string()));
    results.headline = headline(&results.scores, plan.headline.as_ref());
    if let (Some(wanted), Some(_)) = (&plan.headline, &results.headline)
        && !results.scores.iter().any(|block| wanted.find(block).is_some())
    {
        results.warnings.push(Warning::NoHeadline { wanted: wanted.to_string() });
    }
    Ok(results)
}

/// The metrics of a scorer that nothing is recorded about: those of the built-in scorer of that
/// name, else accuracy and stderr.
fn default_metrics(scorer: &str) -> Metrics {
    use crate::metrics::{accuracy, mean, perplexity_per_seq, perplexity_per_token, stderr};
    match scorer {
        "exact" | "f1" => crate::metrics![mean(), stderr()],
        "perplexity" | "target_perplexity" => crate::metrics![perplexity_per_token(), perplexity_per_seq()],
        _ => crate::metrics![accuracy(), stderr()],
    }
}

/// The first figure that was asked for, else the first of the first block.
fn headline(blocks: &[Block], wanted: Option<&HeadlineRequest>) -> Option<Headline> {
    let asked = blocks.iter().find_map(|block| Some((block, wanted?.find(block)?)));
    let (block, metric) = match asked {
        Some(found) => found,
        None => {
            // A block whose metrics all failed has nothing to show.
            let first = blocks.iter().find(|b| !b.metrics.is_empty() || b.failures.is_empty())?;
            (first, first.metrics.keys().next()?)
        }
    };
    Some(Headline {
        scorer: block.scorer.clone(),
        score: block.name.clone(),
        metric: metric.clone(),
        reducer: block.reducer.clone(),
    })
}

impl HeadlineRequest {
    /// The key of the first metric of a block that fits.
    fn find<'b>(&self, block: &'b Block) -> Option<&'b String> {
        let fits = |wanted: &Option<String>, found: Option<&str>| match wanted {
            Some(wanted) => found == Some(wanted.as_str()),
            None => true,
        };
        let block_fits = fits(&self.scorer, Some(&block.scorer))
            && fits(&self.score, Some(&block.name))
            && fits(&self.reducer, block.reducer.as_deref());
        block.metrics.keys().find(|key| block_fits && fits(&self.metric, Some(key)))
    }
}
