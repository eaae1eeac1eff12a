//! Results as a log records them.

use errorbar_core::{Headline, Metadata, Results};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

/// The results in the header of a log.
///
/// ```
/// use errorbar_core::{Plan, Score, ScoreColumns, results};
/// use errorbar_log::eval::RecordedResults;
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// let recorded = RecordedResults::from(&results(&columns, &Plan::new())?);
/// assert_eq!(recorded.scores[0].metrics["accuracy"].value, 1.0);
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedResults {
    /// Samples times epochs.
    pub total_samples: u64,
    /// Those of them without an error.
    pub completed_samples: u64,
    /// A block per scorer, reducer and, for map-valued scores, key.
    pub scores: Vec<RecordedBlock>,
    /// The figure to show first.
    pub headline: Option<Headline>,
    /// Anything else, `warnings` among it.
    pub metadata: Option<Metadata>,
}

/// The metrics of one scorer under one reducer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedBlock {
    /// The scorer's name, or the key of a map-valued score.
    pub name: String,
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// How many scores count; old logs do not say.
    pub scored_samples: Option<u64>,
    /// How many are unscored; old logs do not say.
    pub unscored_samples: Option<u64>,
    /// The scorer's arguments.
    pub params: Metadata,
    /// The metrics, by key.
    pub metrics: IndexMap<String, RecordedMetric>,
    /// What the format has no field for: missing and errored samples, epochs, failures.
    pub metadata: Option<Metadata>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedMetric {
    /// The metric's name, or the name of the entry within it.
    pub name: String,
    /// The metric, for entries of one that returns several.
    pub group: Option<String>,
    /// The figure; may be not-a-number.
    pub value: f64,
    /// The arguments that were passed to the metric.
    pub params: Metadata,
    /// Notes on the figure.
    pub metadata: Option<Metadata>,
}

impl From<&Results> for RecordedResults {
    fn from(results: &Results) -> Self {
        let warnings: Vec<Json> = results.warnings.iter().map(|w| Json::from(w.to_string())).collect();
        RecordedResults {
            total_samples: results.total_samples as u64,
            completed_samples: results.completed_samples as u64,
            scores: results.scores.iter().map(RecordedBlock::from).collect(),
            headline: results.headline.clone(),
            metadata: (!warnings.is_empty())
                .then(|| Metadata::from_iter([("warnings".to_owned(), Json::Array(warnings))])),
        }
    }
}

impl From<&errorbar_core::Block> for RecordedBlock {
    fn from(block: &errorbar_core::Block) -> Self {
        // The format has no field for these, and its readers ignore or refuse fields they do not know;
        // `metadata` is where they are welcome.
        let mut metadata = Metadata::new();
        let mut note = |key: &str, value: Json| metadata.insert(key.to_owned(), value);
        note("missing_samples", json!(block.missing_samples));
        note("errored_samples", json!(block.errored_samples));
        note("epochs", json!(block.epochs));
        for (key, count) in [
            ("unscored_epochs", block.unscored_epochs),
            ("missing_epochs", block.missing_epochs),
            ("unconvertible", block.unconvertible),
        ] {
            if count > 0 {
                note(key, json!(count));
            }
        }
        if block.unreduced {
            note("unreduced", json!(true));
        }
        if !block.failures.is_empty() {
            let failure =
                |f: &errorbar_core::Failure| json!({"metric": f.metric, "error": f.error.to_string()});
            note("failures", block.failures.iter().map(failure).collect());
        }
        let metric = |(key, entry): (&String, &errorbar_core::Entry)| {
            let errorbar_core::Entry { name, group, value, params, metadata } = entry.clone();
            (key.clone(), RecordedMetric { name, group, value, params, metadata })
        };
        RecordedBlock {
            name: block.name.clone(),
            scorer: block.scorer.clone(),
            reducer: block.reducer.clone(),
            scored_samples: Some(block.scored_samples as u64),
            unscored_samples: Some(block.unscored_samples as u64),
            params: block.params.clone(),
            metrics: block.metrics.iter().map(metric).collect(),
            metadata: Some(metadata),
        }
    }
}

/// A headline as JSON.
pub(super) fn headline_json(headline: &Headline) -> Json {
    let Headline { scorer, score, metric, reducer } = headline;
    let mut json = json!({"scorer": scorer, "score": score, "metric": metric});
    if let (Some(reducer), Some(json)) = (reducer, json.as_object_mut()) {
        json.insert("reducer".to_owned(), Json::from(reducer.as_str()));
    }
    json
}
