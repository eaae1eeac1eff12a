//! Results as JSON, in the fields that programs read since the first version.

use errorbar_core::Results;
use errorbar_core::{Failure, Headline, IndexMap, Metadata, Warning};
use serde::{Serialize, Serializer};

use super::projection::{ProjectedBlock, ProjectedEntry, Projection};

/// Results as `results` in JSON output: names, numbers and notes as in a log, without `metadata.estimate`.
///
/// A number that is not finite becomes null.
///
/// ```
/// use errorbar_core::Results;
/// use errorbar_log::inspect::ResultsJson;
/// let json = serde_json::to_string(&ResultsJson::new(&Results::default()))?;
/// assert_eq!(json, r#"{"total_samples":0,"completed_samples":0,"scores":[]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct ResultsJson<'r>(Projection<'r>);

impl<'r> ResultsJson<'r> {
    /// A view of results.
    pub fn new(results: &'r Results) -> Self {
        ResultsJson(Projection::new(results))
    }
}

impl<'r> From<Projection<'r>> for ResultsJson<'r> {
    fn from(projection: Projection<'r>) -> Self {
        ResultsJson(projection)
    }
}

#[derive(Serialize)]
struct AllJson<'a> {
    total_samples: usize,
    completed_samples: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<&'a Headline>,
    scores: Vec<BlockJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<&'a Warning>,
}

#[derive(Serialize)]
struct BlockJson<'a> {
    name: &'a str,
    scorer: &'a str,
    reducer: Option<&'a str>,
    scored_samples: usize,
    unscored_samples: usize,
    missing_samples: usize,
    errored_samples: usize,
    epochs: usize,
    unreduced: bool,
    unscored_epochs: usize,
    missing_epochs: usize,
    unconvertible: usize,
    params: &'a Metadata,
    metrics: MetricsJson<'a>,
    #[serde(skip_serializing_if = "<[Failure]>::is_empty")]
    failures: &'a [Failure],
}

struct MetricsJson<'a>(&'a IndexMap<String, ProjectedEntry<'a>>);

#[derive(Serialize)]
struct EntryJson<'a> {
    name: &'a str,
    group: Option<&'a str>,
    value: f64,
    params: &'a Metadata,
    metadata: Option<Metadata>,
}

impl<'a> From<&'a ProjectedBlock<'a>> for BlockJson<'a> {
    fn from(block: &'a ProjectedBlock<'a>) -> Self {
        let score = block.score;
        let counts = &score.counts;
        BlockJson {
            name: score.name(),
            scorer: &score.scorer,
            reducer: score.reducer.as_deref(),
            scored_samples: counts.scored,
            unscored_samples: counts.unscored,
            missing_samples: counts.missing,
            errored_samples: counts.errored,
            epochs: counts.epochs,
            unreduced: score.unreduced,
            unscored_epochs: counts.unscored_epochs,
            missing_epochs: counts.missing_epochs,
            unconvertible: counts.unconvertible,
            params: &score.params,
            metrics: MetricsJson(&block.entries),
            failures: &score.failures,
        }
    }
}

impl Serialize for MetricsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, entry)| {
            let ProjectedEntry { name, group, figure } = entry;
            let (value, params, metadata) = (figure.number(), &figure.result.params, figure.notes());
            (key, EntryJson { name, group: group.as_deref(), value, params, metadata })
        }))
    }
}

impl Serialize for ResultsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let projection = &self.0;
        let all = AllJson {
            total_samples: projection.results.total_samples,
            completed_samples: projection.results.completed_samples,
            headline: projection.headline(),
            scores: projection.blocks.iter().map(BlockJson::from).collect(),
            warnings: projection.warnings().collect(),
        };
        all.serialize(serializer)
    }
}
