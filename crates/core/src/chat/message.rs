//! Messages between a user and a model, and the input of a sample.

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageRole {
    /// The instructions that come before everything else.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

impl MessageRole {
    /// The name that chat APIs and logs have for it.
    ///
    /// ```
    /// assert_eq!(errorbar_core::chat::MessageRole::Assistant.name(), "assistant");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            MessageRole::System => "system",
            MessageRole::User => "user",
            MessageRole::Assistant => "assistant",
            MessageRole::Tool => "tool",
        }
    }
}

/// The origin of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageSource {
    /// The sample.
    Input,
    /// A model.
    Generate,
}

impl MessageSource {
    /// The name that logs have for it.
    ///
    /// ```
    /// assert_eq!(errorbar_core::chat::MessageSource::Input.name(), "input");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            MessageSource::Input => "input",
            MessageSource::Generate => "generate",
        }
    }
}

/// A message of a conversation.
///
/// ```
/// use errorbar_core::chat::{Message, MessageRole};
/// let message = Message::user("What is 6 × 7?");
/// assert_eq!((message.role, message.content.as_str()), (MessageRole::User, "What is 6 × 7?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// An id that is unique in its conversation.
    pub id: Option<String>,
    /// The text.
    pub content: String,
    /// The origin, if known.
    pub source: Option<MessageSource>,
    /// The author.
    pub role: MessageRole,
    /// The model, if a model is the author.
    pub model: Option<String>,
    /// What the message holds beside its text, which is all that is read of it: the kinds of those parts, such as
    /// `image`, and `tool_calls`. A dataset with such a message is refused.
    pub omitted: Vec<String>,
}

impl Message {
    /// A message of this role, with nothing else recorded.
    pub fn new(role: MessageRole, content: impl Into<String>) -> Self {
        Message { id: None, content: content.into(), source: None, role, model: None, omitted: Vec::new() }
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

    /// A message that this model has generated.
    pub fn generated(model: impl Into<String>, content: impl Into<String>) -> Self {
        let (source, model) = (Some(MessageSource::Generate), Some(model.into()));
        Message { source, model, ..Message::assistant(content) }
    }
}

/// The input of a sample: a string, or a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A string, which becomes a message of the user.
    Text(String),
    /// A conversation.
    Messages(Vec<Message>),
}

/// What the answer to a sample should be: one string, or several of which any will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// `From` for what a variant holds, and the empty string as default.
macro_rules! conversions {
    ($type:ident, default $default:ident, $($from:ty => $variant:ident),+) => {
        impl Default for $type {
            fn default() -> Self {
                $type::$default(String::new())
            }
        }
        $(impl From<$from> for $type {
            fn from(value: $from) -> Self {
                $type::$variant(value.into())
            }
        })+
    };
}
conversions!(Input, default Text, &str => Text, String => Text, Vec<Message> => Messages);
conversions!(Targets, default One, &str => One, String => One, Vec<String> => Many);
