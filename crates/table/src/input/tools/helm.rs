//! The statistics per instance of HELM: `per_instance_stats.json` of a run.
//!
//! A record per instance, trial and perturbation, with a list of statistics. The id is `instance_id`, the trial is the
//! epoch, and every statistic is a scorer by its mean; those of perturbed instances are scorers of their own, and so are
//! those of each split if there are several. Counts and times are columns, but no scores.

use indexmap::IndexSet;
use jiter::JsonValue;

use super::rows::{RowKey, ToolRows};
use super::{problem, text};
use crate::error::TableError;
use crate::input::json::{Records, get, text_of};

const NAME: &str = "HELM";

/// Statistics of a run that say nothing about how good an answer is: these, and those that start so.
const FIGURES: [&str; 10] = [
    "num_",
    "inference_",
    "training_",
    "finish_reason_",
    "estimated_",
    "batch_size",
    "prompt_truncated",
    "max_prob",
    "logprob",
    "predicted_index",
];

pub(super) fn rows(records: &[JsonValue<'_>]) -> Result<Records, TableError> {
    let splits: IndexSet<String> =
        records.iter().flat_map(stats).filter_map(|stat| text(get(stat, "name")?, "split")).collect();
    let mut rows = ToolRows::default();
    for (at, record) in records.iter().enumerate() {
        let Some(id) = get(record, "instance_id").and_then(text_of) else {
            return Err(problem(NAME, at, "a record has no `instance_id`"));
        };
        let trial = match get(record, "train_trial_index") {
            Some(JsonValue::Int(trial)) => u32::try_from(*trial).ok().and_then(|trial| trial.checked_add(1)),
            None => Some(1),
            _ => None,
        };
        let Some(epoch) = trial else { return Err(problem(NAME, at, "a `train_trial_index` is no index")) };
        let key = RowKey { id: id.into_owned(), epoch, log: None };
        rows.touch(&key, at);
        let perturbation = get(record, "perturbation").and_then(|found| text(found, "name"));
        for stat in stats(record) {
            let Some(of) = get(stat, "name") else { continue };
            let Some(name) = text(of, "name") else {
                return Err(problem(NAME, at, "a statistic has no name"));
            };
            let mut scorer = name.clone();
            if let Some(split) = text(of, "split").filter(|_| splits.len() > 1) {
                scorer += &format!(" ({split})");
            }
            let perturbed = get(of, "perturbation").and_then(|found| text(found, "name"));
            if let Some(perturbed) = perturbed.or_else(|| perturbation.clone()) {
                scorer += &format!(" ({perturbed})");
            }
            let Some(mean) = mean(stat) else { continue };
            let is_figure = FIGURES.iter().any(|start| name.starts_with(start));
            let added = match is_figure {
                true => rows.figure(&key, at, &scorer, &mean),
                false => rows.score(&key, at, &scorer, &mean),
            };
            added.map_err(|kind| kind.in_row(at as u64 + 1).of_sample(&key.id))?;
            if let Some(split) = get(of, "split") {
                rows.metadata(&key, at, "split".to_owned(), split);
            }
        }
    }
    if rows.has_no_scores() {
        return Err(problem(NAME, 0, "no record has a statistic that is a score"));
    }
    Ok(rows.finish(NAME))
}

fn stats<'r, 'j>(record: &'r JsonValue<'j>) -> std::slice::Iter<'r, JsonValue<'j>> {
    match get(record, "stats") {
        Some(JsonValue::Array(stats)) => stats.iter(),
        _ => [].iter(),
    }
}

/// The mean of a statistic; none if it counts nothing.
fn mean(stat: &JsonValue<'_>) -> Option<JsonValue<'static>> {
    if let Some(mean @ (JsonValue::Float(_) | JsonValue::Int(_))) = get(stat, "mean") {
        return Some(mean.to_static());
    }
    let number = |key: &str| match get(stat, key)? {
        JsonValue::Float(number) => Some(*number),
        JsonValue::Int(number) => Some(*number as f64),
        _ => None,
    };
    let count = number("count").filter(|count| *count > 0.0)?;
    Some(JsonValue::Float(number("sum")? / count))
}
