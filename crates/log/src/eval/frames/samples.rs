//! The frame of samples: a row for each sample in each epoch.

use super::frame::{Cell, FramePart};
use super::messages;
use super::node::Node;
use super::{RunIds, derived_id};
use crate::eval::chunks::SampleExtent;
use crate::eval::error::{LogErrorKind, Result};
use crate::eval::json::{FieldSelection, Selection};
use crate::eval::reader::{EvalLog, RecordReader};

/// What is read of a sample. Messages and retries are counted, the rest of it is skipped.
fn wanted() -> Vec<(&'static str, Selection)> {
    use Selection::{All, Count, Fields, FieldsOfEach, FieldsOfItems};
    const VALUE: FieldSelection = &[("value", All)];
    let all = |name| (name, All);
    let mut wanted = ["id", "epoch", "uuid", "input", "choices", "target", "description"].map(all).to_vec();
    wanted.extend(["metadata", "model_usage", "total_time", "working_time"].map(all));
    wanted.extend(["turn_count", "token_limit_usage"].map(all));
    wanted.extend([("scores", FieldsOfEach(VALUE)), ("score", Fields(VALUE))]);
    wanted.push(("model_fallbacks", FieldsOfItems(&[("count", All)])));
    wanted.extend([("messages", Count), ("error_retries", Count)]);
    wanted.push(("error", Fields(&[("message", All)])));
    wanted.push(("limit", Fields(&[("type", All), ("reason", All)])));
    wanted
}

/// Reads samples into rows. One for each thread.
#[derive(Debug)]
pub(super) struct RowReader<'a> {
    pub(super) run: &'a RunIds,
    records: RecordReader<'a>,
}

impl<'a> RowReader<'a> {
    pub(super) fn new(log: &'a EvalLog, run: &'a RunIds) -> Self {
        RowReader::with(log, run, wanted())
    }

    /// Reads these fields.
    pub(super) fn with(log: &'a EvalLog, run: &'a RunIds, wanted: Vec<(&'static str, Selection)>) -> Self {
        RowReader { run, records: RecordReader::new(log, wanted, log.container.limits.max_record) }
    }

    /// Adds the row of the sample at an index.
    pub(super) fn read(&mut self, at: usize, part: &mut FramePart) -> Result<()> {
        let read = self.sample(at, SampleExtent::Conversation);
        let read = read.and_then(|sample| {
            let (id, sample_id) = (sample_text(&sample, "id"), self.sample_id(&sample)?);
            let input = self.input(at, &sample).map_err(|error| error.of_sample(id))?;
            row(&sample, (&sample_id, &input), self.run, &|| self.records.log.old_scorer(), part);
            Ok(())
        });
        read.map_err(|error| self.records.in_sample(at, error))
    }

    /// Adds the rows of the messages of the sample at an index.
    pub(super) fn read_messages(&mut self, at: usize, part: &mut FramePart) -> Result<()> {
        let read = self.sample(at, SampleExtent::Whole);
        let read = read.and_then(|sample| messages::rows(&sample, &self.sample_id(&sample)?, self.run, part));
        read.map_err(|error| self.records.in_sample(at, error))
    }

    /// The fields of the sample at an index.
    fn sample(&mut self, at: usize, extent: SampleExtent) -> Result<Node> {
        self.records.read(at, extent, &mut |_| Ok(()), Node::parse)
    }

    /// The id of a sample in all logs.
    fn sample_id(&self, sample: &Node) -> Result<String> {
        let id = sample.get("id").ok_or(LogErrorKind::Missing("id"))?.python_text();
        let epoch = sample.get("epoch").ok_or(LogErrorKind::Missing("epoch"))?.python_text();
        let recorded = sample.text("uuid").filter(|uuid| !uuid.is_empty());
        Ok(match recorded {
            Some(uuid) => uuid.to_owned(),
            None => derived_id(&self.run.eval_id, &format!("{id}_{epoch}")),
        })
    }

    fn input(&mut self, at: usize, sample: &Node) -> Result<String> {
        let mut input = sample.get("input").cloned().unwrap_or(Node::Null);
        self.records.resolve(at, messages::strings(&mut input))?;
        Ok(messages::conversation(&input))
    }
}

/// Adds the row of a sample.
pub(super) fn row<'l>(
    sample: &Node,
    (sample_id, input): (&str, &str),
    run: &RunIds,
    old_scorer: &dyn Fn() -> &'l str,
    part: &mut FramePart,
) {
    part.set_text("sample_id", sample_id);
    part.set_text("eval_id", &run.eval_id);
    part.set_text("log", &run.log);
    part.set_text("id", &sample_text(sample, "id"));
    part.set_node("epoch", sample.get("epoch"));
    part.set_text("input", input);
    part.set_node("choices", sample.get("choices"));
    match sample.get("target") {
        Some(Node::List(targets)) => {
            let targets: Vec<String> = targets.iter().map(Node::python_text).collect();
            part.set_text("target", &targets.join(","));
        }
        _ => part.set_text("target", &sample_text(sample, "target")),
    }
    part.set_node("description", sample.get("description"));
    for (key, value) in sample.map("metadata") {
        part.set_own(&format!("metadata_{key}"), Some(value));
    }
    for (scorer, score) in sample.map("scores") {
        part.set_own(&format!("score_{scorer}"), score.get("value"));
    }
    // Very old logs have one score without the name of its scorer.
    if let Some(score) = sample.get("score") {
        part.set_own(&format!("score_{}", old_scorer()), score.get("value"));
    }
    usage(sample, part);
    for name in ["total_time", "working_time"] {
        part.set_node(name, sample.get(name).cloned().map(Node::into_float).as_ref());
    }
    part.set_node("message_count", Some(sample.get("messages").unwrap_or(&Node::Int(0))));
    for name in ["turn_count", "token_limit_usage"] {
        part.set_node(name, sample.get(name));
    }
    // Very old logs have a string in place of an object.
    let field = |name: &str, field: &str| match sample.get(name) {
        Some(Node::Text(text)) if field != "reason" => Some(Node::Text(text.clone())),
        Some(object) => object.get(field).cloned(),
        None => None,
    };
    part.set_node("error", Some(&field("error", "message").unwrap_or(Node::Text(String::new()))));
    part.set_node("limit", field("limit", "type").as_ref());
    part.set_node("limit_reason", field("limit", "reason").as_ref());
    part.set_node("retries", sample.get("error_retries"));
    let fallbacks = sample.list("model_fallbacks");
    let counts = fallbacks.iter().map(|fallback| match fallback.get("count") {
        Some(Node::Int(count)) => *count,
        _ => 1,
    });
    part.set("fallbacks", Cell::Int(counts.sum()));
    part.end_row(sample_id);
}

fn sample_text(sample: &Node, name: &str) -> String {
    sample.get(name).map(Node::python_text).unwrap_or_default()
}

/// The tokens of each model, and of all together.
fn usage(sample: &Node, part: &mut FramePart) {
    const COUNTS: [&str; 3] = ["input_tokens", "output_tokens", "total_tokens"];
    const OTHERS: [&str; 3] = ["input_tokens_cache_write", "input_tokens_cache_read", "reasoning_tokens"];
    let mut total = 0_i64;
    let mut models = Vec::new();
    for (model, usage) in sample.map("model_usage") {
        let count = |name| (name, Some(usage.get(name).cloned().unwrap_or(Node::Int(0))));
        let other = |name| (name, usage.get(name).cloned());
        let cost = usage.get("total_cost").cloned().map(Node::into_float);
        let fields = COUNTS.map(count).into_iter().chain(OTHERS.map(other)).chain([("total_cost", cost)]);
        if let Some(Node::Int(tokens)) = usage.get("total_tokens") {
            total = total.saturating_add(*tokens);
        }
        models.push((model.clone(), Node::object(fields)));
    }
    part.set_text("model_usage", &Node::Map(models).json_text());
    part.set("total_tokens", Cell::Int(total));
}
