//! Parts of a header, as a frame shows them: with defaults, in the order and of the types that the reference has.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::node::Node;

/// A time in a log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Times {
    /// Microseconds since 1970.
    pub(super) micros: i64,
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
pub(super) fn tags(header: &Node) -> Vec<String> {
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
pub(super) fn metadata(header: &Node) -> Node {
    let mut metadata = header.at(&["eval", "metadata"]).map(Node::as_map).unwrap_or_default().to_vec();
    for edit in edits(header, "metadata_set", "metadata_remove") {
        for key in edit.get("metadata_remove").map(Node::as_list).unwrap_or_default() {
            metadata.retain(|(name, _)| Some(name.as_str()) != key.as_text());
        }
        for (key, value) in edit.get("metadata_set").map(Node::as_map).unwrap_or_default() {
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
    let updates = header.get("log_updates").map(Node::as_list).unwrap_or_default();
    let edits = updates.iter().flat_map(|update| update.get("edits").map(Node::as_list).unwrap_or_default());
    edits.filter(|edit| edit.get(one).or_else(|| edit.get(other)).is_some()).collect()
}

/// The fields of how a model generates, in order. What is not among them is not shown.
const GENERATE: [&str; 40] = [
    "max_retries",
    "timeout",
    "attempt_timeout",
    "stream_idle_timeout",
    "max_connections",
    "adaptive_connections",
    "system_message",
    "max_tokens",
    "top_p",
    "temperature",
    "stop_seqs",
    "best_of",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "seed",
    "top_k",
    "num_choices",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
    "parallel_tool_calls",
    "internal_tools",
    "max_tool_output",
    "cache_prompt",
    "fallback_models",
    "fail_on_refusal",
    "verbosity",
    "effort",
    "reasoning_effort",
    "reasoning_mode",
    "reasoning_tokens",
    "reasoning_summary",
    "reasoning_history",
    "response_schema",
    "extra_headers",
    "extra_body",
    "modalities",
    "cache",
    "batch",
];

/// Those of them that are floats.
const FLOATS: [&str; 4] = ["top_p", "temperature", "frequency_penalty", "presence_penalty"];

/// How a model generates.
pub(super) fn generate_config(config: Option<&Node>) -> Node {
    let field = |name: &&str| {
        let value = config?.get(name)?.clone();
        let value = match value {
            Node::Map(bias) if *name == "logit_bias" => {
                Node::Map(bias.into_iter().map(|(token, bias)| (token, bias.into_float())).collect())
            }
            value if FLOATS.contains(name) => value.into_float(),
            value => value,
        };
        Some(((*name).to_owned(), value))
    };
    Node::Map(GENERATE.iter().filter_map(field).collect())
}

/// The models by their roles.
pub(super) fn model_roles(eval: &Node) -> Option<Node> {
    fn model(config: &Node) -> Node {
        if let Node::List(models) = config {
            return Node::List(models.iter().map(model).collect());
        }
        let field = |name: &str| Some((name.to_owned(), config.get(name)?.clone()));
        let generate = ("config".to_owned(), generate_config(config.get("config")));
        let arguments = config.get("args").cloned().unwrap_or(Node::Map(Vec::new()));
        let fields =
            [field("model"), Some(generate), field("base_url"), Some(("args".to_owned(), arguments))];
        Node::Map(fields.into_iter().flatten().collect())
    }
    let roles = eval.get("model_roles")?.as_map();
    Some(Node::Map(roles.iter().map(|(role, config)| (role.clone(), model(config))).collect()))
}

/// Who approves the calls of tools.
pub(super) fn approval(approval: &Node) -> Node {
    let approver = |approver: &Node| {
        let field = |name: &str| Some((name.to_owned(), approver.get(name)?.clone()));
        let params = approver.get("params").cloned().unwrap_or(Node::Map(Vec::new()));
        let fields = [field("name"), field("tools"), Some(("params".to_owned(), params))];
        Node::Map(fields.into_iter().flatten().collect())
    };
    let approvers = approval.get("approvers").map(Node::as_list).unwrap_or_default();
    Node::Map(vec![("approvers".to_owned(), Node::List(approvers.iter().map(approver).collect()))])
}

/// An object without the fields that are null.
pub(super) fn without_nulls(node: &Node) -> Node {
    match node {
        Node::Map(map) => Node::Map(map.iter().filter(|(_, value)| *value != Node::Null).cloned().collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
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
