//! What goes to a model and what comes back: messages, inputs, targets and outputs; and what happened meanwhile.
//!
//! Their JSON is that of logs, which requests and caches have as well.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value as Json;

use crate::{Metadata, Score};

// Messages between a user and a model, and the input of a sample.

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[non_exhaustive]
pub struct Message {
    /// An id that is unique in its conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The text.
    #[serde(default, deserialize_with = "text_of_content")]
    pub content: String,
    /// The origin, if known.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known_source")]
    pub source: Option<MessageSource>,
    /// The author.
    pub role: MessageRole,
    /// The model, if a model is the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the message holds beside its text, which is all that is read of it: the kinds of those parts, such as
    /// `image`, and `tool_calls`. A dataset with such a message is refused.
    #[serde(skip)]
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

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Message::serialize(self, to)
    }
}

/// Of a content in several parts the strings are read, and the kinds of the others.
///
/// ```
/// use errorbar_core::chat::Message;
/// let parts = r#"{"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image", "image": "…"}]}"#;
/// let message: Message = serde_json::from_str(parts)?;
/// assert_eq!((message.content.as_str(), message.omitted.as_slice()), ("Look:", &["image".to_owned()][..]));
/// assert_eq!(serde_json::to_string(&message)?, r#"{"content":"Look:","role":"user"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(from)?;
        let omitted = omitted(&json);
        let message = Message::deserialize(json).map_err(de::Error::custom)?;
        Ok(Message { omitted, ..message })
    }
}

/// A string, or a list of parts of which the strings are read, joined by line ends.
fn text_of_content<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match Json::deserialize(from)? {
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

/// What a message holds beside its text: the kinds of the parts of its content, the tools that it calls, and the error
/// of a tool.
fn omitted(message: &Json) -> Vec<String> {
    let kind = |part: &Json| match part.get("type").and_then(Json::as_str) {
        _ if part.is_string() => None,
        Some("text") if part.get("text").is_some_and(Json::is_string) => None,
        kind => Some(kind.unwrap_or("a part without a type").to_owned()),
    };
    let mut omitted: Vec<String> = match message.get("content") {
        None | Some(Json::Null | Json::String(_)) => Vec::new(),
        Some(Json::Array(parts)) => parts.iter().filter_map(kind).collect(),
        Some(_) => vec!["a content that is neither a string nor a list".to_owned()],
    };
    let is_there = |field: &&&str| match message.get(**field) {
        None | Some(Json::Null) => false,
        Some(Json::Array(items)) => !items.is_empty(),
        Some(_) => true,
    };
    omitted.extend(["tool_calls", "error"].iter().filter(is_there).map(|field| (*field).to_owned()));
    omitted.sort();
    omitted.dedup();
    omitted
}

/// A source that a later version of the format may bring is no reason to refuse a log.
fn known_source<'de, D: Deserializer<'de>>(from: D) -> Result<Option<MessageSource>, D::Error> {
    Ok(serde_json::from_value(Json::deserialize(from)?).ok())
}

/// The input of a sample: a string, or a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Input {
    /// A string, which becomes a message of the user.
    Text(String),
    /// A conversation.
    Messages(Vec<Message>),
}

/// What the answer to a sample should be: one string, or several of which any will do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
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

// What a model returns.

/// The tokens that calls of a model took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Both, as the provider counts.
    pub total_tokens: u64,
    /// Tokens written to the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens_cache_write: Option<u64>,
    /// Tokens read from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens_cache_read: Option<u64>,
    /// Tokens spent on reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost: Option<f64>,
}

impl Usage {
    /// Tokens read and written, and both together.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        let total_tokens = input_tokens.saturating_add(output_tokens);
        Usage { input_tokens, output_tokens, total_tokens, ..Usage::default() }
    }

    /// Adds the tokens of another call.
    ///
    /// ```
    /// use errorbar_core::chat::Usage;
    /// let mut usage = Usage::new(1, 20);
    /// let mut more = Usage::new(2, 10);
    /// more.reasoning_tokens = Some(5);
    /// usage.add(&more);
    /// assert_eq!((usage.total_tokens, usage.reasoning_tokens), (33, Some(5)));
    /// ```
    pub fn add(&mut self, other: &Usage) {
        fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))))
        }
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.input_tokens_cache_write = sum(self.input_tokens_cache_write, other.input_tokens_cache_write);
        self.input_tokens_cache_read = sum(self.input_tokens_cache_read, other.input_tokens_cache_read);
        self.reasoning_tokens = sum(self.reasoning_tokens, other.reasoning_tokens);
        if let Some(cost) = other.total_cost {
            *self.total_cost.get_or_insert(0.0) += cost;
        }
    }
}

/// One of the answers that a model offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputChoice {
    /// The answer.
    pub message: Message,
    /// Why the model stopped there: `stop`, `max_tokens`, `content_filter`, …
    #[serde(default = "unknown_stop_reason")]
    pub stop_reason: String,
    /// The log probabilities of its tokens, if requested: `{"content": [{"token", "logprob", …}]}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Json>,
}

fn unknown_stop_reason() -> String {
    "unknown".to_owned()
}

impl OutputChoice {
    /// An answer without log probabilities.
    pub fn new(message: Message, stop_reason: impl Into<String>) -> Self {
        OutputChoice { message, stop_reason: stop_reason.into(), logprobs: None }
    }
}

/// What a model returns.
///
/// ```
/// use errorbar_core::chat::{ModelOutput, Usage};
/// let mut output = ModelOutput::from_text("mockllm/model", "42");
/// output.usage = Some(Usage::new(12, 1));
/// assert_eq!(output.completion, "42");
/// assert_eq!(output.choices[0].stop_reason, "stop");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelOutput {
    /// The model.
    pub model: String,
    /// The answers it offers, the best first.
    pub choices: Vec<OutputChoice>,
    /// The text of the first answer.
    pub completion: String,
    /// The tokens it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The seconds it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Anything else that the provider reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ModelOutput {
    /// The output of a model that answers with this text and stops.
    pub fn from_text(model: impl Into<String>, text: impl Into<String>) -> Self {
        let model = model.into();
        let message = Message::generated(model.as_str(), text);
        ModelOutput::new(model, vec![OutputChoice::new(message, "stop")])
    }

    /// The output of a model that offers these answers.
    pub fn new(model: impl Into<String>, choices: Vec<OutputChoice>) -> Self {
        let completion = choices.first().map(|choice| choice.message.content.clone()).unwrap_or_default();
        ModelOutput { model: model.into(), choices, completion, ..ModelOutput::default() }
    }
}

// What happened while a sample ran: the events that logs record and viewers show.

/// What happened while a sample ran, in the order in which it was recorded.
///
/// A conversation is sent as a whole with every call of a model, so calls hold no messages: they refer to `messages`,
/// where each occurs once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleEvents {
    /// When the sample started, as time since the Unix epoch.
    pub started: Duration,
    /// The events.
    pub events: Vec<Event>,
    /// The messages that calls of models refer to.
    pub messages: Vec<Message>,
}

/// The number of a span in its sample.
pub type SpanNumber = u32;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, counted from the start of the sample. For a call of a model, when it was requested; for one that was
    /// retried, when the attempt began that was answered.
    pub at: Duration,
    /// The same without the time that was spent waiting for connections and retries.
    pub working: Duration,
    /// The innermost span at that time; for the begin and the end of a span, that span.
    pub span: Option<SpanNumber>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// The sample started, with the conversation that its input is.
    SampleInit,
    /// A step began.
    SpanBegin {
        /// What kind of step.
        kind: SpanKind,
        /// Its name, such as that of the solver.
        name: Arc<str>,
        /// The span around it.
        parent: Option<SpanNumber>,
    },
    /// A step ended.
    SpanEnd,
    /// A model was called.
    ModelCall(Box<ModelCall>),
    /// A scorer judged the answer.
    Score(Box<ScoreEvent>),
    /// A limit ended the sample.
    Limit {
        /// Which: `time`, `token`, `cost`, …
        kind: String,
        /// What it was set to.
        limit: f64,
        /// Why it was reached.
        reason: String,
    },
    /// An error ended the sample.
    Error {
        /// What went wrong.
        message: String,
    },
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpanKind {
    /// What comes before the first solver.
    Init,
    /// All solvers.
    Solvers,
    /// One of them.
    Solver,
    /// All scorers.
    Scorers,
    /// One of them.
    Scorer,
}

impl SpanKind {
    /// The name that logs have for it.
    ///
    /// ```
    /// assert_eq!(errorbar_core::chat::SpanKind::Scorers.name(), "scorers");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Init => "init",
            SpanKind::Solvers => "solvers",
            SpanKind::Solver => "solver",
            SpanKind::Scorers => "scorers",
            SpanKind::Scorer => "scorer",
        }
    }
}

/// A call of a model: one that was answered, or one attempt that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// The model.
    pub model: String,
    /// The role in which it was called.
    pub role: Option<String>,
    /// The messages that were sent, as ranges of [`SampleEvents::messages`].
    pub input: Vec<Range<usize>>,
    /// How it was to generate; what is set, and nothing else.
    pub config: Arc<Metadata>,
    /// The answer, or why there is none.
    pub answer: Result<ModelOutput, String>,
    /// How often the request was retried before.
    pub retries: u32,
    /// What the cache of answers had to do with it.
    pub cache: Option<CacheAccess>,
    /// When it ended, counted from the start of the sample.
    pub completed: Duration,
    /// The time that the answer took, without retries and waiting.
    pub working_time: Duration,
}

/// What the cache of answers had to do with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAccess {
    /// The answer is from the cache.
    Read,
    /// The answer was new, and was cached.
    Write,
}

impl CacheAccess {
    /// The name that logs have for it.
    pub fn name(self) -> &'static str {
        match self {
            CacheAccess::Read => "read",
            CacheAccess::Write => "write",
        }
    }
}

/// A verdict of a scorer.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreEvent {
    /// The scorer, by the name that the scores of the sample have for it.
    pub scorer: String,
    /// Its arguments.
    pub args: Arc<Metadata>,
    /// The score.
    pub score: Score,
    /// The tokens used until then, by model.
    pub model_usage: IndexMap<String, Usage>,
    /// The tokens used until then by models in a role, by role.
    pub role_usage: IndexMap<String, Usage>,
}
