//! Messages as one string.

use std::collections::HashMap;

use super::node::Node;

/// What a string starts with that stands for an attachment; the second is that of old logs.
const REFERENCES: [&str; 2] = ["attachment://", "tc://"];

/// The attachments of a sample by name.
pub(super) type Attachments = HashMap<String, String>;

/// The strings of messages that may stand for attachments.
fn strings(messages: &mut Node) -> Vec<&mut String> {
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

/// Whether a string stands for an attachment, and for which.
fn reference(text: &str) -> Option<&str> {
    REFERENCES.iter().find_map(|start| text.strip_prefix(start))
}

/// Whether one of the messages refers to an attachment.
pub(super) fn has_references(messages: &mut Node) -> bool {
    strings(messages).iter().any(|text| reference(text).is_some())
}

/// Puts attachments back where messages refer to them. One that is missing stays as it is.
pub(super) fn resolve(messages: &mut Node, attachments: &Attachments) {
    for text in strings(messages) {
        if let Some(found) = reference(text).and_then(|name| attachments.get(name)) {
            *text = found.clone();
        }
    }
}

/// What a message says: its texts, a line each.
pub(super) fn text(message: &Node) -> String {
    match message.get("content") {
        Some(Node::Text(text)) => text.clone(),
        Some(Node::List(parts)) => {
            let is_text = |part: &&Node| part.get("type").and_then(Node::as_text) == Some("text");
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
        Node::List(messages) => messages.iter().map(message).collect::<Vec<_>>().join("\n\n"),
        _ => String::new(),
    }
}

/// A message with its role, and the calls or the error of tools.
pub(super) fn message(message: &Node) -> String {
    let role = message.get("role").and_then(Node::as_text).unwrap_or_default();
    let content = text(message);
    let start = format!("{role}:\n{}\n", content.trim_matches(is_space));
    if let Some(calls) = tool_calls(message) {
        return start + &calls.iter().map(call).collect::<String>();
    }
    match tool_error(message).filter(|_| role == "tool") {
        Some(error) => {
            let function = message.get("function").and_then(Node::as_text).filter(|name| !name.is_empty());
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
    let is_assistant = message.get("role").and_then(Node::as_text) == Some("assistant");
    let is_string = message.get("content").is_some_and(|content| content.as_text().is_some());
    Some(calls).filter(|calls| is_assistant && (is_string || !calls.is_empty()))
}

/// The error of a tool; old logs have it as a string.
pub(super) fn tool_error(message: &Node) -> Option<&str> {
    let old = message.get("tool_error").and_then(Node::as_text).filter(|error| !error.is_empty());
    old.or_else(|| message.at(&["error", "message"])?.as_text())
}

fn call(call: &Node) -> String {
    let function = call.get("function").and_then(Node::as_text).unwrap_or_default();
    let arguments = call.get("arguments").map(Node::as_map).unwrap_or_default();
    let arguments: Vec<String> =
        arguments.iter().map(|(name, value)| format!("{name}: {}", value.python_text())).collect();
    format!("\nTool Call: {function}\nArguments:\n{}", arguments.join("\n"))
}

#[cfg(test)]
mod tests {
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
        assert!(has_references(&mut input));
        let attachments =
            [("a", "long"), ("b", "longer")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        resolve(&mut input, &HashMap::from(attachments));
        assert_eq!(conversation(&input), "user:\nlong\n\n\nuser:\nlonger\nattachment://none\n");
        // A question that is a string is never one.
        assert!(!has_references(&mut Node::Text("attachment://a".to_owned())));
    }
}
