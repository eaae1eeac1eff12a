//! Results as a log records them.

use errorbar_core::{Headline, Metadata};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

/// The results in the header of a log.
///
/// ```
/// use errorbar_core::{Plan, Score, ScoreColumns};
/// use errorbar_log::eval::RecordedResults;
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// let recorded = RecordedResults::from(&Plan::new().evaluate(&columns)?.results);
/// assert_eq!(recorded.scores[0].metrics["accuracy"].value, 1.0);
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
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
    /// The samples that an early stopping manager of the reference kept from being run, as it records them.
    pub early_stopping: Option<Metadata>,
    /// The number of samples that are in the log, where a run was ended without the others.
    pub logged_samples: Option<u64>,
}

impl RecordedResults {
    /// The samples that were stopped early, which the log does not hold: their ids and epochs.
    pub(crate) fn early_stops(&self) -> impl Iterator<Item = (String, u32)> {
        let stops = self.early_stopping.as_ref().and_then(|summary| summary.get("early_stops")?.as_array());
        stops.into_iter().flatten().filter_map(|stop| {
            let id = match stop.get("id")? {
                Json::String(id) => id.clone(),
                id => id.to_string(),
            };
            Some((id, u32::try_from(stop.get("epoch")?.as_u64()?).ok()?))
        })
    }
}

/// The metrics of one scorer under one reducer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RecordedBlock {
    /// The scorer's name, or the key of a map-valued score.
    pub name: String,
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The number of scores that count; old logs do not record it.
    pub scored_samples: Option<u64>,
    /// The number that are unscored; old logs do not record it.
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
#[non_exhaustive]
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

impl RecordedMetric {
    /// A figure with nothing else recorded.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        RecordedMetric { name: name.into(), group: None, value, params: Metadata::new(), metadata: None }
    }
}

/// A headline as JSON.
pub(crate) fn headline_json(headline: &Headline) -> Json {
    let Headline { scorer, score, metric, reducer } = headline;
    let mut json = json!({"scorer": scorer, "score": score, "metric": metric});
    if let (Some(reducer), Some(json)) = (reducer, json.as_object_mut()) {
        json.insert("reducer".to_owned(), Json::from(reducer.as_str()));
    }
    json
}
