//! The rows of an export: a sample and an epoch each, and a scorer unless scorers have their own columns.

use std::collections::HashMap;
use std::path::Path;

use errorbar_core::chat::{Input, Targets, Usage};
use errorbar_core::{Conversion, Score, Value};
use errorbar_log::eval::{StoredSample, Wire};
use errorbar_table::write::ExportCell;
use serde_json::Value as Json;

use super::columns::{ColumnSource, ScorePart};
use super::error::ExportError;
use crate::diagnostic::Diagnostic;

/// What is the same for all samples of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogContext {
    pub(super) log: String,
    pub(super) task: String,
    pub(super) model: String,
    /// How the metrics of a scorer convert its values; as grades, if unset.
    pub(super) conversions: HashMap<String, Conversion>,
    /// The scorers that have their own columns.
    pub(super) scorers: Vec<String>,
}

/// What is the same for all rows of a sample.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleCells<'a> {
    pub(super) metadata: Vec<Option<&'a Json>>,
    input: Json,
    target: Json,
    usage: Option<Usage>,
}

impl<'a> SampleCells<'a> {
    pub(super) fn new(sample: &StoredSample, metadata: Vec<Option<&'a Json>>) -> Self {
        let mut usage: Option<Usage> = None;
        for model in sample.model_usage.values() {
            usage.get_or_insert_default().add(model);
        }
        let input = sample.input_json.clone().unwrap_or_else(|| input(&sample.input));
        SampleCells { metadata, input, target: target(&sample.target), usage }
    }
}

/// A string, or the messages with their roles; nothing if it is empty.
fn input(input: &Input) -> Json {
    match input {
        Input::Text(text) if text.is_empty() => Json::Null,
        Input::Text(text) => Json::from(text.as_str()),
        Input::Messages(messages) => {
            messages.iter().map(|message| serde_json::to_value(Wire(message)).unwrap_or_default()).collect()
        }
    }
}

/// A string, or several; nothing if it is empty.
fn target(target: &Targets) -> Json {
    let json = serde_json::to_value(Wire(target)).unwrap_or_default();
    if json.as_str() == Some("") { Json::Null } else { json }
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExportRow<'a> {
    pub(super) run: &'a LogContext,
    pub(super) sample: &'a StoredSample,
    /// The scorer and its score; nothing for a sample without scores, or where scorers have their own columns.
    pub(super) scored: Option<(&'a str, &'a Score)>,
    pub(super) cells: &'a SampleCells<'a>,
}

impl<'a> ExportRow<'a> {
    /// What stands under a column.
    pub(super) fn cell(&self, source: ColumnSource) -> ExportCell<'a> {
        let (sample, cells) = (self.sample, self.cells);
        let count = |count: fn(&Usage) -> u64| {
            cells.usage.as_ref().map_or(ExportCell::Null, |usage| ExportCell::Count(count(usage)))
        };
        let number = |number: Option<f64>| number.map_or(ExportCell::Null, ExportCell::Number);
        match source {
            ColumnSource::Log => ExportCell::Text(&self.run.log),
            ColumnSource::Task => ExportCell::Text(&self.run.task),
            ColumnSource::Model => ExportCell::Text(&self.run.model),
            ColumnSource::Id => ExportCell::Id(&sample.id),
            ColumnSource::Epoch => ExportCell::Epoch(sample.epoch),
            ColumnSource::Scorer => ExportCell::text_or_null(self.scored.map(|(scorer, _)| scorer)),
            ColumnSource::Score(None, part) => self.of_score(self.scored, part),
            ColumnSource::Score(Some(at), part) => {
                let scorer = self.run.scorers.get(at).map(String::as_str);
                let score = scorer.and_then(|scorer| Some((scorer, sample.scores.get(scorer)?)));
                self.of_score(score, part)
            }
            ColumnSource::Error => ExportCell::text_or_null(sample.error.as_deref()),
            ColumnSource::Limit => ExportCell::text_or_null(sample.limit.as_deref()),
            ColumnSource::Input => ExportCell::Json(&cells.input),
            ColumnSource::Target => ExportCell::Json(&cells.target),
            ColumnSource::Output => ExportCell::text_or_null(sample.completion.as_deref()),
            ColumnSource::StartedAt => ExportCell::text_or_null(sample.started_at.as_deref()),
            ColumnSource::CompletedAt => ExportCell::text_or_null(sample.completed_at.as_deref()),
            ColumnSource::TotalTime => number(sample.total_time),
            ColumnSource::WorkingTime => number(sample.working_time),
            ColumnSource::InputTokens => count(|usage| usage.input_tokens),
            ColumnSource::OutputTokens => count(|usage| usage.output_tokens),
            ColumnSource::TotalTokens => count(|usage| usage.total_tokens),
            ColumnSource::Metadata(at) => {
                cells.metadata.get(at).copied().flatten().map_or(ExportCell::Missing, ExportCell::Json)
            }
        }
    }

    /// Refuses an epoch that does not fit the type of its column in Parquet; `log` is the log of the row.
    pub(super) fn check_epoch(&self, log: &Path) -> Result<(), ExportError> {
        let epoch = self.sample.epoch;
        if i32::try_from(epoch).is_err() {
            let id = self.sample.id.to_string();
            let text =
                format!("sample {id:?}: the epoch {epoch} does not fit the 32 bits of a Parquet column");
            let problem = Diagnostic::error(text).about(log.display());
            return Err(problem.hint("export to CSV or JSON lines").into());
        }
        Ok(())
    }

    fn of_score(&self, scored: Option<(&'a str, &'a Score)>, part: ScorePart) -> ExportCell<'a> {
        let Some((scorer, score)) = scored else {
            return match part {
                // Not null, which would be an answer that could not be scored.
                ScorePart::Value | ScorePart::Number => ExportCell::Missing,
                _ => ExportCell::Null,
            };
        };
        match part {
            ScorePart::Value => ExportCell::Score(&score.value),
            ScorePart::Answer => ExportCell::text_or_null(score.answer.as_deref()),
            ScorePart::Explanation => ExportCell::text_or_null(score.explanation.as_deref()),
            ScorePart::Reason => ExportCell::text_or_null(score.reason.as_deref()),
            ScorePart::Number => match (&score.value, self.run.conversions.get(scorer)) {
                (Value::Unscored, _) => ExportCell::Number(f64::NAN),
                (value, Some(conversion)) => converted(conversion, value),
                (value, None) => converted(&Conversion::default(), value),
            },
        }
    }
}

/// The number that a value is to metrics; nothing for one that has no meaning as a number, which metrics count as 0.
fn converted<'a>(conversion: &Conversion, value: &Value) -> ExportCell<'a> {
    let converted = conversion.convert(value.view());
    if converted.convertible { ExportCell::Number(converted.value) } else { ExportCell::Missing }
}
