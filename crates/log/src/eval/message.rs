//! What is said between a user and a model.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    /// The instructions that come before everything else.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageSource {
    /// From the sample.
    Input,
    /// From a model.
    Generate,
}

/// A message of a conversation.
///
/// ```
/// use errorbar_log::eval::{Message, MessageRole};
/// let message = Message::user("What is 6 × 7?");
/// assert_eq!((message.role, message.content.as_str()), (MessageRole::User, "What is 6 × 7?"));
/// // A content of several parts is read as its texts.
/// let parts = r#"{"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image", "image": "…"}]}"#;
/// assert_eq!(serde_json::from_str::<Message>(parts)?.content, "Look:");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// An id that is unique in its conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What is said.
    #[serde(default, deserialize_with = "text_of_content")]
    pub content: String,
    /// Where the message comes from.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known_source")]
    pub source: Option<MessageSource>,
    /// Who says it.
    pub role: MessageRole,
    /// The model, if a model says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Message {
    /// A message of this role, with nothing else recorded.
    pub fn new(role: MessageRole, content: impl Into<String>) -> Self {
        Message { id: None, content: content.into(), source: None, role, model: None }
    }

    /// A system message.
    pub fn system(content: impl Into<String>) -> Self {
        Message::new(MessageRole::System, content)
    }

    /// A message of the user.
    pub fn user(content: impl Into<String>) -> Self {
        Message::new(MessageRole::User, content)
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<String>) -> Self {
        Message::new(MessageRole::Assistant, content)
    }
}

/// A text, or a list of parts of which the texts are kept, joined by line ends.
fn text_of_content<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Json::deserialize(deserializer)? {
        Json::String(text) => text,
        Json::Array(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Json::String(text) => Some(text.as_str()),
                part => part.get("text").filter(|_| part.get("type") == Some(&Json::from("text")))?.as_str(),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    })
}

/// A source that a later version of the format may bring is no reason to refuse a log.
fn known_source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MessageSource>, D::Error> {
    Ok(serde_json::from_value(Json::deserialize(deserializer)?).ok())
}

/// What a sample asks: a text, or a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Input {
    /// A text, which becomes a message of the user.
    Text(String),
    /// A conversation.
    Messages(Vec<Message>),
}

impl Default for Input {
    fn default() -> Self {
        Input::Text(String::new())
    }
}
impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Input::Text(text.to_owned())
    }
}
impl From<String> for Input {
    fn from(text: String) -> Self {
        Input::Text(text)
    }
}
impl From<Vec<Message>> for Input {
    fn from(messages: Vec<Message>) -> Self {
        Input::Messages(messages)
    }
}

/// What the answer to a sample should be: one text, or several of which any will do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Targets {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for Targets {
    fn default() -> Self {
        Targets::One(String::new())
    }
}
impl From<&str> for Targets {
    fn from(text: &str) -> Self {
        Targets::One(text.to_owned())
    }
}
impl From<String> for Targets {
    fn from(text: String) -> Self {
        Targets::One(text)
    }
}
impl From<Vec<String>> for Targets {
    fn from(texts: Vec<String>) -> Self {
        Targets::Many(texts)
    }
}
