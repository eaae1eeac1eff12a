//! Messages as people read them: strings, and words for everything else.

use serde_json::Value as Json;

/// A message of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TranscriptMessage {
    /// The author, as the log names it: `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// The model or the tool that wrote it.
    pub author: Option<String>,
    /// What it says and does, in order.
    pub parts: Vec<MessagePart>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MessagePart {
    /// A string.
    Text(String),
    /// What the model wrote before its answer.
    Reasoning(String),
    /// A call of a tool.
    ToolCall {
        /// The tool.
        function: String,
        /// Its arguments.
        arguments: Json,
    },
    /// An error of a tool, or of a call.
    Error(String),
    /// Something that is not text, by its kind: `image`, `audio`, …
    Media(String),
}

impl MessagePart {
    /// The strings that may stand for an attachment.
    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            MessagePart::Text(text) | MessagePart::Reasoning(text) | MessagePart::Error(text) => vec![text],
            MessagePart::ToolCall { arguments, .. } => {
                let mut texts = Vec::new();
                strings(arguments, &mut texts);
                texts
            }
            MessagePart::Media(_) => Vec::new(),
        }
    }
}

fn strings<'a>(json: &'a mut Json, found: &mut Vec<&'a mut String>) {
    match json {
        Json::String(text) => found.push(text),
        Json::Array(items) => items.iter_mut().for_each(|item| strings(item, found)),
        Json::Object(map) => map.values_mut().for_each(|value| strings(value, found)),
        _ => {}
    }
}

impl TranscriptMessage {
    /// A message of this role with this text.
    pub fn new(role: impl Into<String>, text: impl Into<String>) -> Self {
        let parts = vec![MessagePart::Text(text.into())];
        TranscriptMessage { role: role.into(), author: None, parts }
    }

    /// Reads a message as logs have it; none if it is no message.
    ///
    /// ```
    /// use errorbar_log::eval::{MessagePart, TranscriptMessage};
    /// let message = serde_json::json!({"role": "assistant", "content": [{"type": "text", "text": "Look:"}, {"type": "image"}]});
    /// let message = TranscriptMessage::from_json(&message).unwrap();
    /// assert_eq!(message.parts, [MessagePart::Text("Look:".into()), MessagePart::Media("image".into())]);
    /// ```
    pub fn from_json(json: &Json) -> Option<Self> {
        let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
        let role = text("role")?;
        let mut parts = Vec::new();
        match json.get("content") {
            Some(Json::String(content)) if !content.is_empty() => {
                parts.push(MessagePart::Text(content.clone()))
            }
            Some(Json::Array(content)) => content.iter().for_each(|part| add_content(part, &mut parts)),
            _ => {}
        }
        for call in json.get("tool_calls").and_then(Json::as_array).into_iter().flatten() {
            let function = call.get("function").and_then(Json::as_str).unwrap_or("?").to_owned();
            let arguments = call.get("arguments").cloned().unwrap_or_default();
            parts.push(MessagePart::ToolCall { function, arguments });
            let problem = call.get("parse_error").and_then(Json::as_str);
            parts.extend(problem.map(|problem| MessagePart::Error(problem.to_owned())));
        }
        let error = json.get("error").and_then(|error| error.get("message").unwrap_or(error).as_str());
        parts.extend(error.map(|error| MessagePart::Error(error.to_owned())));
        Some(TranscriptMessage { role, author: text("function").or_else(|| text("model")), parts })
    }

    /// Its text alone, the parts joined by line ends.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A part of the content of a message.
fn add_content(part: &Json, parts: &mut Vec<MessagePart>) {
    if let Some(text) = part.as_str() {
        return parts.push(MessagePart::Text(text.to_owned()));
    }
    let text =
        |key: &str| part.get(key).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    match part.get("type").and_then(Json::as_str) {
        Some("text") => parts.extend(text("text").map(MessagePart::Text)),
        Some("reasoning") => {
            let is_redacted = part.get("redacted").and_then(Json::as_bool) == Some(true);
            let reasoning = text("reasoning").filter(|_| !is_redacted).or_else(|| text("summary"));
            parts.push(MessagePart::Reasoning(reasoning.unwrap_or_else(|| "(redacted)".to_owned())));
        }
        // A tool that the server of the model has called.
        Some("tool_use") => {
            let function = text("name").unwrap_or_else(|| "?".to_owned());
            let arguments = part.get("arguments").cloned().unwrap_or_default();
            parts.push(MessagePart::ToolCall { function, arguments });
            parts.extend(text("result").map(MessagePart::Text));
            parts.extend(text("error").map(MessagePart::Error));
        }
        Some(kind) => parts.push(MessagePart::Media(kind.to_owned())),
        None => {}
    }
}

/// The messages of a list; what is no message is skipped.
pub(super) fn messages(json: &Json) -> Vec<TranscriptMessage> {
    json.as_array()
        .map(|items| items.iter().filter_map(TranscriptMessage::from_json).collect())
        .unwrap_or_default()
}

/// The input of a sample: a string, or a conversation.
pub(super) fn input(json: &Json) -> Vec<TranscriptMessage> {
    match json {
        Json::String(text) => vec![TranscriptMessage::new("user", text)],
        list => messages(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_text_is_named() {
        let message = json!({"role": "assistant", "model": "m", "content": [
            "plain", {"type": "reasoning", "reasoning": "r"}, {"type": "reasoning", "reasoning": "x", "redacted": true},
            {"type": "audio", "audio": "…"}, {"type": "tool_use", "name": "search", "arguments": "{}", "result": "found"}, 5],
            "tool_calls": [{"function": "bash", "arguments": {"cmd": "ls"}, "parse_error": "no"}]});
        let message = TranscriptMessage::from_json(&message).unwrap();
        assert_eq!((message.role.as_str(), message.author.as_deref()), ("assistant", Some("m")));
        let text = |text: &str| MessagePart::Text(text.to_owned());
        let call = |function: &str, arguments: Json| MessagePart::ToolCall {
            function: function.to_owned(),
            arguments,
        };
        assert_eq!(
            message.parts,
            [
                text("plain"),
                MessagePart::Reasoning("r".to_owned()),
                MessagePart::Reasoning("(redacted)".to_owned()),
                MessagePart::Media("audio".to_owned()),
                call("search", json!("{}")),
                text("found"),
                call("bash", json!({"cmd": "ls"})),
                MessagePart::Error("no".to_owned()),
            ]
        );
        assert_eq!(message.text(), "plain\nfound");
        let tool = json!({"role": "tool", "function": "bash", "content": "", "error": {"type": "timeout", "message": "late"}});
        let tool = TranscriptMessage::from_json(&tool).unwrap();
        assert_eq!(
            (tool.author.as_deref(), tool.parts),
            (Some("bash"), vec![MessagePart::Error("late".to_owned())])
        );
        assert_eq!(TranscriptMessage::from_json(&json!({"content": "x"})), None);
        assert_eq!(messages(&json!("x")), []);
    }
}
