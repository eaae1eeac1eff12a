//! Results as JSON, in the fields that programs read since the first version.

use errorbar_core::{Counts, Results, Warning};
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

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

impl Serialize for ResultsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ResultsJson(projection) = self;
        let warnings: Vec<&Warning> = projection.warnings().collect();
        let mut json = json!({
            "total_samples": projection.results.total_samples,
            "completed_samples": projection.results.completed_samples,
            "headline": projection.headline(),
            "scores": projection.blocks.iter().map(block_json).collect::<Vec<_>>(),
            "warnings": warnings,
        });
        remove_if(&mut json, "headline", projection.headline().is_none());
        remove_if(&mut json, "warnings", warnings.is_empty());
        json.serialize(serializer)
    }
}

/// How many samples have how many epochs, by the number of epochs.
pub(super) fn samples_by_epochs(counts: &Counts) -> Json {
    let pair = |(epochs, samples): &(usize, usize)| (epochs.to_string(), json!(samples));
    counts.samples_by_epochs.iter().map(pair).collect()
}

fn block_json(block: &ProjectedBlock<'_>) -> Json {
    let (score, counts) = (block.score, &block.score.counts);
    let metric = |(key, entry): (&String, &ProjectedEntry<'_>)| (key.clone(), entry_json(entry));
    let mut json = json!({
        "name": score.name(),
        "scorer": score.scorer,
        "reducer": block.reducer(),
        "scored_samples": counts.scored,
        "unscored_samples": counts.unscored,
        "missing_samples": counts.missing,
        "errored_samples": counts.errored,
        "epochs": counts.epochs,
        "unreduced": score.unreduced,
        "unscored_epochs": counts.unscored_epochs,
        "missing_epochs": counts.missing_epochs,
        "samples_by_epochs": samples_by_epochs(counts),
        "unconvertible": counts.unconvertible,
        "params": score.params,
        "metrics": block.entries.iter().map(metric).collect::<Json>(),
        "failures": score.failures,
    });
    remove_if(&mut json, "failures", score.failures.is_empty());
    remove_if(&mut json, "samples_by_epochs", counts.samples_by_epochs.is_empty());
    json
}

fn entry_json(ProjectedEntry { name, group, figure }: &ProjectedEntry<'_>) -> Json {
    let (value, params, metadata) = (figure.number(), &figure.result.params, figure.notes());
    json!({"name": name, "group": group, "value": value, "params": params, "metadata": metadata})
}

fn remove_if(json: &mut Json, key: &str, is_absent: bool) {
    if let Some(object) = json.as_object_mut().filter(|_| is_absent) {
        object.shift_remove(key);
    }
}
