//! The frame of evaluations: a row for each log, from its header alone.

use super::cells::Cell;
use super::frame::FramePart;
use super::header::{self, Times};
use super::node::Node;
use super::{RunIds, headline};
use crate::eval::error::Result;

/// The columns, in order.
pub(super) const COLUMNS: &[&str] = &[
    "eval_id",
    "eval_set_id",
    "run_id",
    "task_id",
    "log",
    "created",
    "tags",
    "git_origin",
    "git_commit",
    "packages",
    "metadata",
    "task_name",
    "task_display_name",
    "task_description",
    "task_version",
    "task_file",
    "task_attribs",
    "task_arg_*",
    "solver",
    "solver_args",
    "sandbox_type",
    "sandbox_config",
    "model",
    "model_base_url",
    "model_args",
    "model_generate_config",
    "model_roles",
    "dataset_name",
    "dataset_location",
    "dataset_samples",
    "dataset_sample_ids",
    "dataset_shuffled",
    "epochs",
    "epochs_reducer",
    "approval",
    "review",
    "sentinel",
    "message_limit",
    "token_limit",
    "token_limit_type",
    "turn_limit",
    "time_limit",
    "working_limit",
    "status",
    "error_message",
    "error_traceback",
    "total_samples",
    "completed_samples",
    "score_headline_name",
    "score_headline_score",
    "score_headline_metric",
    "score_headline_value",
    "score_headline_stderr",
    "score_*_*",
];

/// Adds the row of a log.
pub(super) fn row(header: &Node, run: &RunIds, part: &mut FramePart) -> Result<()> {
    let empty = Node::Map(Vec::new());
    let eval = header.get("eval").unwrap_or(&empty);
    part.set_text("eval_id", &run.eval_id);
    part.set_node("eval_set_id", eval.get("eval_set_id"));
    for name in ["run_id", "task_id"] {
        part.set_text(name, eval.get(name).and_then(Node::as_text).unwrap_or_default());
    }
    part.set_text("log", &run.log);
    let created = eval.get("created").and_then(Node::as_text).and_then(Times::of);
    part.set("created", &created.map_or(Cell::Null, |times| Cell::Time(times.micros)));
    part.set_text("tags", &header::tags(header).join(","));
    part.set_node("git_origin", eval.at(&["revision", "origin"]));
    part.set_node("git_commit", eval.at(&["revision", "commit"]));
    part.set_node("packages", Some(eval.get("packages").unwrap_or(&empty)));
    part.set_node("metadata", Some(&header::metadata(header)));
    task(eval, part);
    part.set_node("model", eval.get("model"));
    part.set_node("model_base_url", eval.get("model_base_url"));
    // The reference reads the address here, too.
    part.set_node("model_args", eval.get("model_base_url"));
    part.set_node("model_generate_config", Some(&header::generate_config(eval.get("model_generate_config"))));
    part.set_node("model_roles", header::model_roles(eval).as_ref());
    for name in ["name", "location", "samples", "sample_ids", "shuffled"] {
        part.set_node(&format!("dataset_{name}"), eval.at(&["dataset", name]));
    }
    configuration(eval.get("config").unwrap_or(&empty), part);
    part.set_text("status", header.get("status").and_then(Node::as_text).unwrap_or("started"));
    part.set_node("error_message", header.at(&["error", "message"]));
    part.set_node("error_traceback", header.at(&["error", "traceback"]));
    results(header, part);
    part.end_row(run.eval_id.as_str());
    Ok(())
}

fn task(eval: &Node, part: &mut FramePart) {
    let name = eval.get("task").and_then(Node::as_text).unwrap_or_default();
    let name = name.split_once('/').map_or(name, |(_, name)| name);
    part.set_text("task_name", name);
    let display = eval.get("task_display_name").and_then(Node::as_text);
    part.set_text("task_display_name", display.unwrap_or(name));
    part.set_node("task_description", eval.get("task_description"));
    part.set_node("task_version", Some(eval.get("task_version").unwrap_or(&Node::Int(0))));
    part.set_node("task_file", eval.get("task_file"));
    part.set_node("task_attribs", Some(eval.get("task_attribs").unwrap_or(&Node::Map(Vec::new()))));
    for (name, value) in eval.get("task_args").map(Node::as_map).unwrap_or_default() {
        part.set_node(&format!("task_arg_{name}"), Some(value));
    }
    part.set_node("solver", eval.get("solver"));
    part.set_node("solver_args", eval.get("solver_args"));
    // Old logs have a list of the two.
    let sandbox = eval.get("sandbox");
    let of_list = sandbox.map(Node::as_list).unwrap_or_default();
    let field = |name: &str, at: usize| sandbox.and_then(|it| it.get(name)).or_else(|| of_list.get(at));
    part.set_node("sandbox_type", field("type", 0));
    part.set_node("sandbox_config", field("config", 1));
}

fn configuration(config: &Node, part: &mut FramePart) {
    part.set_node("epochs", config.get("epochs"));
    part.set_node("epochs_reducer", config.get("epochs_reducer"));
    part.set_node("approval", config.get("approval").map(header::approval).as_ref());
    for name in ["review", "sentinel"] {
        part.set_node(name, config.get(name).map(header::without_nulls).as_ref());
    }
    let old = config.get("max_messages").filter(|limit| **limit != Node::Int(0));
    part.set_node("message_limit", old.or_else(|| config.get("message_limit")));
    for name in ["token_limit", "token_limit_type", "turn_limit", "time_limit", "working_limit"] {
        part.set_node(name, config.get(name));
    }
}

fn results(header: &Node, part: &mut FramePart) {
    let results = header.get("results");
    for name in ["total_samples", "completed_samples"] {
        let count = results.map(|results| results.get(name).unwrap_or(&Node::Int(0)));
        part.set_node(name, count);
    }
    let scores = headline::scores(results);
    let headline = headline::of(header, &scores);
    let text = |text: Option<&str>| text.map_or(Node::Null, |text| Node::Text(text.to_owned()));
    let headline = headline.as_ref();
    part.set_node("score_headline_name", Some(&text(headline.map(|it| it.score.scorer))));
    part.set_node("score_headline_score", Some(&text(headline.map(|it| it.score.name))));
    part.set_node("score_headline_metric", Some(&text(headline.map(|it| it.metric))));
    part.set_node("score_headline_value", headline.and_then(|it| it.value));
    let stderr = headline.and_then(|it| it.score.value("stderr")).cloned().map(Node::into_float);
    part.set_node("score_headline_stderr", stderr.as_ref());
    for score in &scores {
        for (metric, value) in &score.metrics {
            // The reducer is in the name only where two columns would have the same.
            let is_it =
                |other: &&headline::ScoreBlock<'_>| other.name == score.name && other.value(metric).is_some();
            let column = match score.reducer.filter(|_| scores.iter().filter(is_it).count() > 1) {
                Some(reducer) => format!("score_{}_{reducer}_{metric}", score.name),
                None => format!("score_{}_{metric}", score.name),
            };
            part.set_node(&column, Some(value));
        }
    }
}
