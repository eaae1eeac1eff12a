//! The frame of messages: a row for each message that a model was sent or returned.

use std::collections::{HashMap, HashSet};

use super::frame::{Cell, FramePart};
use super::node::Node;
use super::{RunIds, derived_id};
use crate::eval::error::{LogErrorKind, Result};
use crate::eval::json::{FieldSelection, Selection};
use crate::eval::reader::reference;

/// Where version 3 of the format has the messages that events share.
const POOL_OF_VERSION_3: &str = "message_pool";

/// How wide a call of a tool may be in one line.
const WIDTH: usize = 1000;

/// What is read of a sample: of its events the calls of models, and what these refer to.
pub(super) fn wanted() -> Vec<(&'static str, Selection)> {
    use Selection::{All, Fields, FieldsOfItems};
    const CHOICES: FieldSelection = &[("message", All)];
    const OUTPUT: FieldSelection = &[("choices", FieldsOfItems(CHOICES))];
    const EVENT: FieldSelection =
        &[("event", All), ("input", All), ("input_refs", All), ("output", Fields(OUTPUT))];
    let mut wanted = ["id", "epoch", "uuid", "attachments"].map(|name| (name, All)).to_vec();
    wanted.push(("events", FieldsOfItems(EVENT)));
    wanted.push(("events_data", Fields(&[("messages", All)])));
    wanted.push((POOL_OF_VERSION_3, All));
    wanted
}

/// Adds a row for each message of a sample.
pub(super) fn rows(sample: &Node, sample_id: &str, run: &RunIds, part: &mut FramePart) -> Result<()> {
    for (number, message) in (0_i64..).zip(messages(sample)?) {
        row(&message, number, sample_id, run, part);
    }
    Ok(())
}

/// Adds the row of a message.
pub(super) fn row(message: &Node, number: i64, sample_id: &str, run: &RunIds, part: &mut FramePart) {
    let id = match message.text("id") {
        Some(id) => id.to_owned(),
        None => derived_id(sample_id, &format!("message_{number}")),
    };
    part.set_text("message_id", &id);
    part.set_text("sample_id", sample_id);
    part.set_text("eval_id", &run.eval_id);
    part.set_text("log", &run.log);
    part.set_node("role", message.get("role"));
    part.set_node("source", message.get("source"));
    part.set_text("content", &content_text(message));
    let calls = tool_calls(message);
    let calls = calls.map(|calls| calls.iter().map(call).collect::<Vec<_>>().join("\n"));
    part.set("tool_calls", calls.map_or(Cell::Null, |calls| Cell::Text(calls.into())));
    part.set_node("tool_call_id", message.get("tool_call_id"));
    part.set_node("tool_call_function", message.get("function"));
    let error = tool_error(message);
    part.set("tool_call_error", error.map_or(Cell::Null, |error| Cell::Text(error.into())));
    part.set("order", Cell::Int(number + 1));
    part.end_row(id);
}

/// All messages that models were sent and returned, each once, in order.
fn messages(sample: &Node) -> Result<Vec<Node>> {
    let attachments = sample.map("attachments");
    let attachments =
        attachments.iter().filter_map(|(name, text)| Some((name.clone(), text.as_text()?.to_owned())));
    let attachments = attachments.collect();
    let pool = sample.at(&["events_data", "messages"]).or_else(|| sample.get(POOL_OF_VERSION_3));
    let pool = pool.map(Node::as_list).unwrap_or_default();
    let mut seen = HashSet::new();
    let mut messages: Vec<Node> = Vec::new();
    let mut add = |message: &Node| {
        let mut one = Node::List(vec![message.clone()]);
        resolve(&mut one, &attachments);
        let Node::List(mut one) = one else { return };
        let Some(message) = one.pop() else { return };
        let key = match message.text("id") {
            Some(id) => (true, id.to_owned()),
            None => (false, message_text(&message)),
        };
        // An answer that was put together again has another id.
        if seen.insert(key) && !messages.last().is_some_and(|last| is_repeated(last, &message)) {
            messages.push(message);
        }
    };
    for event in sample.list("events") {
        if event.text("event") != Some("model") {
            continue;
        }
        match event.get("input_refs").filter(|_| !pool.is_empty()) {
            Some(refs) => {
                for range in refs.as_list() {
                    let [Node::Int(start), Node::Int(end)] = range.as_list() else { continue };
                    let range =
                        usize::try_from(*start).unwrap_or(usize::MAX)..usize::try_from(*end).unwrap_or(0);
                    let referred = pool.get(range).ok_or_else(|| {
                        LogErrorKind::Damaged(format!(
                            "`input_refs` names messages {start} to {end}, which do not exist"
                        ))
                    })?;
                    referred.iter().for_each(&mut add);
                }
            }
            None => event.list("input").iter().for_each(&mut add),
        }
        let choices = event.at(&["output", "choices"]).map(Node::as_list).unwrap_or_default();
        choices.first().and_then(|choice| choice.get("message")).into_iter().for_each(&mut add);
    }
    Ok(messages)
}

/// Whether two answers that follow one another are the same.
fn is_repeated(last: &Node, message: &Node) -> bool {
    let is_answer = |message: &Node| message.text("role") == Some("assistant");
    let functions = |message: &Node| -> Vec<String> {
        let calls = tool_calls(message).unwrap_or_default();
        calls.iter().filter_map(|call| Some(call.get("function")?.python_text())).collect()
    };
    is_answer(last)
        && is_answer(message)
        && content_text(last) == content_text(message)
        && functions(last) == functions(message)
}

/// A call of a tool, as Python would write it.
fn call(call: &Node) -> String {
    let function = call.text("function").unwrap_or_default();
    let arguments = call.map("arguments");
    let arguments: Vec<String> = arguments
        .iter()
        .map(|(name, value)| match value {
            Node::Text(text) => format!("{name}='{text}'"),
            value => format!("{name}={}", sorted(value).python_text()),
        })
        .collect();
    let line = arguments.join(", ");
    if line.chars().count() + function.chars().count() + 3 <= WIDTH {
        return format!("{function}({line})");
    }
    let lines = arguments.join(",\n");
    let indented: String = lines
        .split_inclusive('\n')
        .map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("    {line}") })
        .collect();
    format!("{function}(\n{indented}\n)")
}

/// A value with all maps in it in the order of their keys.
fn sorted(value: &Node) -> Node {
    match value {
        Node::List(items) => Node::List(items.iter().map(sorted).collect()),
        Node::Map(map) => {
            let mut map: Vec<(String, Node)> =
                map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            map.sort_by(|(one, _), (other, _)| one.cmp(other));
            Node::Map(map)
        }
        other => other.clone(),
    }
}

// Messages as one string.

/// The attachments of a sample by name.
type Attachments = HashMap<String, String>;

/// The strings of messages that may stand for attachments.
pub(super) fn strings(messages: &mut Node) -> Vec<&mut String> {
    let mut strings = Vec::new();
    let Node::List(messages) = messages else { return strings };
    for (key, value) in messages.iter_mut().flat_map(fields_mut) {
        match value {
            Node::Text(text) if key == "content" => strings.push(text),
            Node::List(parts) if key == "content" => {
                for (key, value) in parts.iter_mut().flat_map(fields_mut) {
                    if let ("text", Node::Text(text)) = (key.as_str(), value) {
                        strings.push(text);
                    }
                }
            }
            _ => {}
        }
    }
    strings
}

fn fields_mut(node: &mut Node) -> impl Iterator<Item = (&mut String, &mut Node)> {
    let map = if let Node::Map(map) = node { map.as_mut_slice() } else { &mut [] };
    map.iter_mut().map(|(key, value)| (key, value))
}

/// Puts attachments back where messages refer to them. One that is missing stays as it is.
fn resolve(messages: &mut Node, attachments: &Attachments) {
    for text in strings(messages) {
        if let Some(found) = reference(text).and_then(|name| attachments.get(name)) {
            *text = found.clone();
        }
    }
}

/// What a message says: its texts, a line each.
fn content_text(message: &Node) -> String {
    match message.get("content") {
        Some(Node::Text(text)) => text.clone(),
        Some(Node::List(parts)) => {
            let is_text = |part: &&Node| part.text("type") == Some("text");
            let texts = parts.iter().filter(is_text).filter_map(|part| part.get("text")?.as_text());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Whether Python's `str.strip` removes a character.
fn is_space(c: char) -> bool {
    // Python also takes the separators of ASCII for white space.
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// A conversation, or a question that is a string.
pub(super) fn conversation(messages: &Node) -> String {
    match messages {
        Node::Text(text) => format!("user:\n{}\n", text.trim_matches(is_space)),
        Node::List(messages) => messages.iter().map(message_text).collect::<Vec<_>>().join("\n\n"),
        _ => String::new(),
    }
}

/// A message with its role, and the calls or the error of tools.
fn message_text(message: &Node) -> String {
    let role = message.text("role").unwrap_or_default();
    let content = content_text(message);
    let start = format!("{role}:\n{}\n", content.trim_matches(is_space));
    if let Some(calls) = tool_calls(message) {
        return start + &calls.iter().map(call_text).collect::<String>();
    }
    match tool_error(message).filter(|_| role == "tool") {
        Some(error) => {
            let function = message.text("function").filter(|name| !name.is_empty());
            let function = function.unwrap_or("unknown");
            format!("{start}\nError in tool call '{function}':\n{error}\n")
        }
        None => start,
    }
}

/// The calls of tools that a message of the model makes. None at all are an empty list only beside a content that is a
/// string.
pub(super) fn tool_calls(message: &Node) -> Option<&[Node]> {
    let calls = message.get("tool_calls")?.as_list();
    let is_assistant = message.text("role") == Some("assistant");
    let is_string = message.get("content").is_some_and(|content| content.as_text().is_some());
    Some(calls).filter(|calls| is_assistant && (is_string || !calls.is_empty()))
}

/// The error of a tool; old logs have it as a string.
fn tool_error(message: &Node) -> Option<&str> {
    let old = message.text("tool_error").filter(|error| !error.is_empty());
    old.or_else(|| message.at(&["error", "message"])?.as_text())
}

fn call_text(call: &Node) -> String {
    let function = call.text("function").unwrap_or_default();
    let arguments = call.map("arguments");
    let arguments: Vec<String> =
        arguments.iter().map(|(name, value)| format!("{name}: {}", value.python_text())).collect();
    format!("\nTool Call: {function}\nArguments:\n{}", arguments.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sample: &str) -> Vec<String> {
        messages(&Node::parse(sample.as_bytes()).unwrap()).unwrap().iter().map(content_text).collect()
    }

    #[test]
    fn every_message_is_there_once() {
        let sample = r#"{"attachments":{"x":"long"},"events_data":{"messages":[{"id":"1","role":"user","content":"q"},
            {"id":"2","role":"assistant","content":"attachment://x"},{"id":"3","role":"user","content":"again"}]},
            "events":[{"event":"state","input":[{"role":"user","content":"no"}]},
            {"event":"model","input":[],"input_refs":[[0,1]],"output":{"choices":[{"message":{"id":"2","role":"assistant","content":"attachment://x"}}]}},
            {"event":"model","input":[],"input_refs":[[0,1],[1,3]],"output":{"choices":[]}},
            {"event":"model","input":[{"role":"user","content":"old"},{"role":"user","content":"old"}],"output":null}]}"#;
        assert_eq!(texts(sample), ["q", "long", "again", "old"]);
        let broken = sample.replace("[1,3]", "[1,9]");
        assert!(messages(&Node::parse(broken.as_bytes()).unwrap()).is_err());
    }

    #[test]
    fn the_same_answer_twice_is_one() {
        let answer = |id: &str, function: &str| {
            format!(
                r#"{{"id":"{id}","role":"assistant","content":"a","tool_calls":[{{"function":"{function}"}}]}}"#
            )
        };
        let sample = format!(
            r#"{{"events":[{{"event":"model","input":[{},{},{}]}}]}}"#,
            answer("1", "f"),
            answer("2", "f"),
            answer("3", "g")
        );
        assert_eq!(texts(&sample).len(), 2);
    }

    // What the reference answers.
    #[test]
    fn a_call_reads_like_python() {
        let text = |arguments: &str| {
            call(&Node::parse(format!(r#"{{"function":"f","arguments":{arguments}}}"#).as_bytes()).unwrap())
        };
        assert_eq!(
            text(r#"{"a":1,"b":"it's","c":{"z":1,"a":[null]},"d":null}"#),
            "f(a=1, b='it's', c={'a': [None], 'z': 1}, d=None)"
        );
        let long = "x".repeat(994);
        assert_eq!(text(&format!(r#"{{"a":"{long}"}}"#)), format!("f(\n    a='{long}'\n)"));
        assert_eq!(text(&format!(r#"{{"a":"{}"}}"#, &long[2..])), format!("f(a='{}')", &long[2..]));
    }
}

#[cfg(test)]
mod messages_text_tests {
    use super::*;

    // What the reference answers.
    #[test]
    fn a_conversation_reads_like_the_reference_writes_it() {
        let input = br#"[{"role":"system","content":" sys \n"},
            {"role":"user","content":[{"type":"text","text":"one"},{"type":"image","image":"data:"},{"type":"text","text":"two "}]},
            {"role":"assistant","content":"calling","tool_calls":[
                {"id":"1","function":"f","arguments":{"a":1,"b":"x","c":[1.0,null,true],"d":{"k":"v"}},"type":"function"},
                {"id":"2","function":"g","arguments":{},"type":"function"}]},
            {"role":"tool","content":"res","function":"f","error":{"type":"timeout","message":"late"}},
            {"role":"tool","content":"res","tool_call_id":"1"},
            {"role":"assistant","content":"","tool_calls":[]}]"#;
        let expected = "system:\nsys\n\n\nuser:\none\ntwo\n\n\nassistant:\ncalling\n\nTool Call: f\nArguments:\na: 1\nb: x\nc: [1.0, None, True]\nd: {'k': 'v'}\nTool Call: g\nArguments:\n\n\ntool:\nres\n\nError in tool call 'f':\nlate\n\n\ntool:\nres\n\n\nassistant:\n\n";
        assert_eq!(conversation(&Node::parse(input).unwrap()), expected);
        assert_eq!(conversation(&Node::parse(br#"" q\n""#).unwrap()), "user:\nq\n");
    }

    #[test]
    fn attachments_are_put_back() {
        let mut input = Node::parse(
            br#"[{"role":"user","content":"tc://a"},{"role":"user","content":[{"type":"text","text":"attachment://b"},
            {"type":"text","text":"attachment://none"}]}]"#,
        )
        .unwrap();
        assert_eq!(strings(&mut input).len(), 3);
        let attachments =
            [("a", "long"), ("b", "longer")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        resolve(&mut input, &HashMap::from(attachments));
        assert_eq!(conversation(&input), "user:\nlong\n\n\nuser:\nlonger\nattachment://none\n");
        // A question that is a string is never one.
        assert!(strings(&mut Node::Text("attachment://a".to_owned())).is_empty());
    }
}
