//! The frame of evaluations: a row for each log, from its header alone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::RunIds;
use super::frame::{Cell, FramePart};
use super::node::Node;

/// Adds the row of a log.
pub(super) fn row(header: &Node, run: &RunIds, part: &mut FramePart) {
    let empty = Node::Map(Vec::new());
    let eval = header.get("eval").unwrap_or(&empty);
    part.set_text("eval_id", &run.eval_id);
    part.set_node("eval_set_id", eval.get("eval_set_id"));
    for name in ["run_id", "task_id"] {
        part.set_text(name, eval.text(name).unwrap_or_default());
    }
    part.set_text("log", &run.log);
    let created = eval.text("created").and_then(Times::of);
    part.set("created", created.map_or(Cell::Null, |times| Cell::Time(times.micros)));
    part.set_text("tags", &tags(header).join(","));
    part.set_node("git_origin", eval.at(&["revision", "origin"]));
    part.set_node("git_commit", eval.at(&["revision", "commit"]));
    part.set_node("packages", Some(eval.get("packages").unwrap_or(&empty)));
    part.set_node("metadata", Some(&metadata(header)));
    task(eval, part);
    part.set_node("model", eval.get("model"));
    part.set_node("model_base_url", eval.get("model_base_url"));
    // The reference reads the address here, too.
    part.set_node("model_args", eval.get("model_base_url"));
    part.set_node("model_generate_config", Some(&generate_config(eval.get("model_generate_config"))));
    part.set_node("model_roles", model_roles(eval).as_ref());
    for name in ["name", "location", "samples", "sample_ids", "shuffled"] {
        part.set_node(&format!("dataset_{name}"), eval.at(&["dataset", name]));
    }
    configuration(eval.get("config").unwrap_or(&empty), part);
    part.set_text("status", header.text("status").unwrap_or("started"));
    part.set_node("error_message", header.at(&["error", "message"]));
    part.set_node("error_traceback", header.at(&["error", "traceback"]));
    results(header, part);
    part.end_row(run.eval_id.as_str());
}

fn task(eval: &Node, part: &mut FramePart) {
    let name = eval.text("task").unwrap_or_default();
    let name = name.split_once('/').map_or(name, |(_, name)| name);
    part.set_text("task_name", name);
    let display = eval.text("task_display_name");
    part.set_text("task_display_name", display.unwrap_or(name));
    part.set_node("task_description", eval.get("task_description"));
    part.set_node("task_version", Some(eval.get("task_version").unwrap_or(&Node::Int(0))));
    part.set_node("task_file", eval.get("task_file"));
    part.set_node("task_attribs", Some(eval.get("task_attribs").unwrap_or(&Node::Map(Vec::new()))));
    for (name, value) in eval.map("task_args") {
        part.set_own(&format!("task_arg_{name}"), Some(value));
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
    part.set_node("approval", config.get("approval").map(approval).as_ref());
    for name in ["review", "sentinel"] {
        part.set_node(name, config.get(name).map(without_nulls).as_ref());
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
    let scores = scores(results);
    let headline = of(header, &scores);
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
            let is_it = |other: &&ScoreBlock<'_>| other.name == score.name && other.value(metric).is_some();
            let column = match score.reducer.filter(|_| scores.iter().filter(is_it).count() > 1) {
                Some(reducer) => format!("score_{}_{reducer}_{metric}", score.name),
                None => format!("score_{}_{metric}", score.name),
            };
            part.set_own(&column, Some(value));
        }
    }
}

// Parts of a header, as a frame shows them: with defaults, in the order and of the types that the reference has.

/// A time in a log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Times {
    /// Microseconds since 1970.
    micros: i64,
    /// As Python writes it in UTC.
    pub(super) text: String,
}

impl Times {
    /// Reads a time by RFC 3339; one without an offset is in UTC.
    pub(super) fn of(text: &str) -> Option<Times> {
        let time: Timestamp = match text.parse() {
            Ok(time) => time,
            Err(_) => {
                let naive: DateTime = text.parse().ok()?;
                naive.to_zoned(TimeZone::UTC).ok()?.timestamp()
            }
        };
        let micros = time.as_microsecond();
        let whole = Timestamp::from_microsecond(micros).ok()?;
        let format =
            if micros % 1_000_000 == 0 { "%Y-%m-%dT%H:%M:%S+00:00" } else { "%Y-%m-%dT%H:%M:%S.%6f+00:00" };
        Some(Times { micros, text: whole.strftime(format).to_string() })
    }
}

/// The tags, with what was edited later, in order.
fn tags(header: &Node) -> Vec<String> {
    let texts = |node: Option<&Node>| -> Vec<String> {
        node.map(Node::as_list)
            .unwrap_or_default()
            .iter()
            .filter_map(|tag| Some(tag.as_text()?.to_owned()))
            .collect()
    };
    let mut tags = texts(header.at(&["eval", "tags"]));
    for edit in edits(header, "tags_add", "tags_remove") {
        let removed = texts(edit.get("tags_remove"));
        tags.retain(|tag| !removed.contains(tag));
        tags.extend(texts(edit.get("tags_add")));
    }
    tags.sort();
    tags.dedup();
    tags
}

/// The metadata, with what was edited later.
fn metadata(header: &Node) -> Node {
    let mut metadata = header.at(&["eval", "metadata"]).map(Node::as_map).unwrap_or_default().to_vec();
    for edit in edits(header, "metadata_set", "metadata_remove") {
        for key in edit.list("metadata_remove") {
            metadata.retain(|(name, _)| Some(name.as_str()) != key.as_text());
        }
        for (key, value) in edit.map("metadata_set") {
            match metadata.iter_mut().find(|(name, _)| name == key) {
                Some((_, old)) => *old = value.clone(),
                None => metadata.push((key.clone(), value.clone())),
            }
        }
    }
    Node::Map(metadata)
}

/// The edits that have one of two fields.
fn edits<'a>(header: &'a Node, one: &str, other: &str) -> Vec<&'a Node> {
    let updates = header.list("log_updates");
    let edits = updates.iter().flat_map(|update| update.list("edits"));
    edits.filter(|edit| edit.get(one).or_else(|| edit.get(other)).is_some()).collect()
}

/// The fields of how a model generates, in order. What is not among them is not shown.
const GENERATE: [&[&str]; 9] = [
    &["max_retries", "timeout", "attempt_timeout", "stream_idle_timeout"],
    &["max_connections", "adaptive_connections"],
    &["system_message", "max_tokens", "top_p", "temperature", "stop_seqs", "best_of"],
    &["frequency_penalty", "presence_penalty", "logit_bias", "seed", "top_k", "num_choices"],
    &["logprobs", "top_logprobs", "prompt_logprobs"],
    &["parallel_tool_calls", "internal_tools", "max_tool_output"],
    &["cache_prompt", "fallback_models", "fail_on_refusal", "verbosity", "effort"],
    &["reasoning_effort", "reasoning_mode", "reasoning_tokens", "reasoning_summary", "reasoning_history"],
    &["response_schema", "extra_headers", "extra_body", "modalities", "cache", "batch"],
];

/// Those of them that are floats.
const FLOATS: [&str; 4] = ["top_p", "temperature", "frequency_penalty", "presence_penalty"];

/// How a model generates.
fn generate_config(config: Option<&Node>) -> Node {
    let field = |name: &&'static str| {
        let value = config.and_then(|config| config.get(name)).cloned();
        let value = value.map(|value| match value {
            Node::Map(bias) if *name == "logit_bias" => {
                Node::Map(bias.into_iter().map(|(token, bias)| (token, bias.into_float())).collect())
            }
            value if FLOATS.contains(name) => value.into_float(),
            value => value,
        });
        (*name, value)
    };
    Node::object(GENERATE.into_iter().flatten().map(field))
}

/// The models by their roles.
fn model_roles(eval: &Node) -> Option<Node> {
    fn model(config: &Node) -> Node {
        if let Node::List(models) = config {
            return Node::List(models.iter().map(model).collect());
        }
        Node::object([
            ("model", config.get("model").cloned()),
            ("config", Some(generate_config(config.get("config")))),
            ("base_url", config.get("base_url").cloned()),
            ("args", Some(config.get("args").cloned().unwrap_or(Node::Map(Vec::new())))),
        ])
    }
    let roles = eval.get("model_roles")?.as_map();
    Some(Node::Map(roles.iter().map(|(role, config)| (role.clone(), model(config))).collect()))
}

/// Who approves the calls of tools.
fn approval(approval: &Node) -> Node {
    let approver = |approver: &Node| {
        Node::object([
            ("name", approver.get("name").cloned()),
            ("tools", approver.get("tools").cloned()),
            ("params", Some(approver.get("params").cloned().unwrap_or(Node::Map(Vec::new())))),
        ])
    };
    let approvers = approval.list("approvers").iter().map(approver).collect();
    Node::object([("approvers", Some(Node::List(approvers)))])
}

/// An object without the fields that are null.
fn without_nulls(node: &Node) -> Node {
    match node {
        Node::Map(map) => Node::Map(map.iter().filter(|(_, value)| *value != Node::Null).cloned().collect()),
        other => other.clone(),
    }
}

// The figure that stands for a whole evaluation, out of those that a header records.

/// A block of figures in the results of a log.
#[derive(Debug)]
struct ScoreBlock<'a> {
    name: &'a str,
    scorer: &'a str,
    reducer: Option<&'a str>,
    /// The values of metrics, by their keys.
    metrics: Vec<(&'a str, &'a Node)>,
}

impl<'a> ScoreBlock<'a> {
    fn of(score: &'a Node, metrics: Option<&'a Node>) -> Self {
        let text = |name: &str| score.text(name);
        let name = text("name").unwrap_or_default();
        let metrics = metrics.map(Node::as_map).unwrap_or_default().iter();
        let metrics = metrics.filter_map(|(key, metric)| Some((key.as_str(), metric.field("value")?)));
        let (scorer, reducer) = (text("scorer").unwrap_or(name), text("reducer"));
        ScoreBlock { name, scorer, reducer, metrics: metrics.collect() }
    }

    /// The value of a metric.
    fn value(&self, metric: &str) -> Option<&'a Node> {
        self.metrics.iter().rev().find(|(key, _)| *key == metric).map(|(_, value)| *value)
    }
}

/// The blocks of the results.
fn scores(results: Option<&Node>) -> Vec<ScoreBlock<'_>> {
    let Some(results) = results else { return Vec::new() };
    if let Some(scorer) = results.get("scorer") {
        // Very old logs have one block, in two fields.
        let metrics = results.get("metrics").filter(|metrics| !metrics.as_map().is_empty());
        return vec![ScoreBlock::of(scorer, metrics.or_else(|| scorer.get("metrics")))];
    }
    let scores = results.list("scores");
    scores.iter().map(|score| ScoreBlock::of(score, score.get("metrics"))).collect()
}

/// The headline.
#[derive(Debug)]
struct Headline<'s, 'a> {
    score: &'s ScoreBlock<'a>,
    metric: &'a str,
    value: Option<&'a Node>,
}

/// What the header declares as the headline, if there is such a figure; else the first metric of the first block.
fn of<'s, 'a>(header: &'a Node, scores: &'s [ScoreBlock<'a>]) -> Option<Headline<'s, 'a>> {
    let declared = header.at(&["results", "headline"]).or_else(|| header.at(&["eval", "headline_metric"]));
    declared.and_then(|declared| find(declared, scores)).or_else(|| first_metric(scores.first()?))
}

fn find<'s, 'a>(declared: &'a Node, scores: &'s [ScoreBlock<'a>]) -> Option<Headline<'s, 'a>> {
    let wanted = |name: &str| declared.text(name);
    let is_wanted = |name: &str, found: Option<&str>| wanted(name).is_none_or(|wanted| found == Some(wanted));
    let mut candidates = scores.iter().filter(|score| {
        is_wanted("reducer", score.reducer)
            && is_wanted("scorer", Some(score.scorer))
            && is_wanted("score", Some(score.name))
    });
    match wanted("metric") {
        None => first_metric(candidates.next()?),
        Some(metric) => {
            let (score, value) = candidates.find_map(|score| Some((score, score.value(metric)?)))?;
            Some(Headline { score, metric, value: Some(value) })
        }
    }
}

fn first_metric<'s, 'a>(score: &'s ScoreBlock<'a>) -> Option<Headline<'s, 'a>> {
    let (metric, _) = score.metrics.first()?;
    Some(Headline { score, metric, value: score.value(metric) })
}

#[cfg(test)]
mod header_tests {
    use super::*;

    // What the reference answers.
    #[test]
    fn times_are_in_utc() {
        for (text, expected) in [
            ("2026-01-01T00:00:00.123+02:00", "2025-12-31T22:00:00.123000+00:00"),
            ("2026-11-16T08:46:55+00:00", "2026-11-16T08:46:55+00:00"),
            ("2026-11-16T08:46:55Z", "2026-11-16T08:46:55+00:00"),
            ("2026-11-16T08:46:55", "2026-11-16T08:46:55+00:00"),
        ] {
            assert_eq!(Times::of(text).unwrap().text, expected);
        }
        assert_eq!(Times::of("1970-01-01T00:00:01.5+00:00").unwrap().micros, 1_500_000);
        assert_eq!(Times::of("yesterday"), None);
    }

    #[test]
    fn what_was_edited_later_counts() {
        let header = br#"{"eval":{"tags":["b","a","b"],"metadata":{"x":null,"y":1}},"log_updates":[{"edits":[
            {"type":"tags","tags_add":["c"],"tags_remove":["a"]},
            {"type":"metadata","metadata_set":{"z":1,"x":2},"metadata_remove":["y"]}]}]}"#;
        let header = Node::parse(header).unwrap();
        assert_eq!(tags(&header), ["b", "c"]);
        assert_eq!(metadata(&header).json_text(), r#"{"x": 2, "z": 1}"#);
    }

    #[test]
    fn a_model_has_the_fields_and_types_of_the_reference() {
        let eval =
            br#"{"model_roles":{"g":{"args":{"k":null},"config":{"temperature":1,"unknown":2,"max_tokens":5,
            "seed":null,"logit_bias":{"7":1}},"model":"x"},"h":[{"model":"y","base_url":"u"}]}}"#;
        let roles = model_roles(&Node::parse(eval).unwrap()).unwrap().json_text();
        let expected = r#"{"g": {"model": "x", "config": {"max_tokens": 5, "temperature": 1.0, "logit_bias": {"7": 1.0}}, "args": {"k": null}}, "h": [{"model": "y", "config": {}, "base_url": "u", "args": {}}]}"#;
        assert_eq!(roles, expected);
    }
}

#[cfg(test)]
mod headline_tests {
    use super::*;

    fn headline(declared: &str) -> Option<String> {
        let header = format!(
            r#"{{"eval":{{}},"results":{{"headline":{declared},"scores":[
            {{"name":"a","scorer":"x","reducer":"mean","metrics":{{"acc":{{"value":1}},"se":{{"value":2}}}}}},
            {{"name":"b","scorer":"x","reducer":"max","metrics":{{"acc":{{"value":3}}}}}},
            {{"name":"b","scorer":"y","metrics":{{"std":{{"value":4}}}}}}]}}}}"#
        );
        let header = Node::parse(header.as_bytes()).unwrap();
        let scores = scores(header.get("results"));
        of(&header, &scores).and_then(|it| Some(format!("{} {}", it.metric, it.value?.python_text())))
    }

    #[test]
    fn a_declared_figure_counts_if_it_is_there() {
        for (declared, expected) in [
            ("null", "acc 1"),
            ("{}", "acc 1"),
            (r#"{"metric":"std"}"#, "std 4"),
            (r#"{"score":"b"}"#, "acc 3"),
            (r#"{"scorer":"y"}"#, "std 4"),
            (r#"{"reducer":"max","metric":"acc"}"#, "acc 3"),
            (r#"{"reducer":"max","metric":"se"}"#, "acc 1"),
            (r#"{"scorer":"none","metric":"std"}"#, "acc 1"),
        ] {
            assert_eq!(headline(declared).as_deref(), Some(expected), "{declared}");
        }
    }

    #[test]
    fn old_results_have_one_block() {
        let results =
            Node::parse(br#"{"scorer":{"name":"match"},"metrics":{"accuracy":{"value":1}}}"#).unwrap();
        let scores = scores(Some(&results));
        assert_eq!((scores[0].name, scores[0].scorer, scores[0].metrics.len()), ("match", "match", 1));
        assert!(super::scores(None).is_empty());
    }
}
