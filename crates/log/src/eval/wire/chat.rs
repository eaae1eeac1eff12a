//! The JSON shapes of messages, outputs and ids.

use errorbar_core::chat::{
    Input, Message, MessageRole, MessageSource, ModelOutput, OutputChoice, Targets, Usage,
};
use errorbar_core::{Metadata, SampleId};
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value as Json;

/// A value in the JSON shape that logs give it, to be written (`Wire<&T>`) or read (`Wire<T>`).
///
/// ```
/// use errorbar_core::chat::Message;
/// use errorbar_log::eval::Wire;
/// // Of a content in several parts the strings are read, and the kinds of the others.
/// let parts = r#"{"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image", "image": "…"}]}"#;
/// let Wire(message) = serde_json::from_str::<Wire<Message>>(parts)?;
/// assert_eq!((message.content.as_str(), message.omitted.as_slice()), ("Look:", &["image".to_owned()][..]));
/// assert_eq!(serde_json::to_string(&Wire(&message))?, r#"{"content":"Look:","role":"user"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire<T>(pub T);

/// What has a JSON shape in logs.
pub trait Shape: Sized {
    /// Writes it.
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error>;
    /// Reads it.
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;
}

impl<T: Shape> Serialize for Wire<&T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.write(to)
    }
}

impl<'de, T: Shape> Deserialize<'de> for Wire<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::read(from).map(Wire)
    }
}

/// For fields of derived shapes.
pub(in crate::eval) mod as_wire {
    use super::{Deserializer, Serializer, Shape};

    pub(in crate::eval) fn serialize<T: Shape, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        value.write(to)
    }

    pub(in crate::eval) fn deserialize<'de, T: Shape, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::read(from)
    }
}

impl<T: Shape> Shape for Vec<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter().map(Wire))
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let items: Vec<Wire<T>> = Vec::deserialize(from)?;
        Ok(items.into_iter().map(|Wire(item)| item).collect())
    }
}

impl<T: Shape> Shape for Option<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(Wire).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map(|Wire(value)| value))
    }
}

impl<T: Shape> Shape for IndexMap<String, T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter().map(|(key, value)| (key, Wire(value))))
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let map: IndexMap<String, Wire<T>> = IndexMap::deserialize(from)?;
        Ok(map.into_iter().map(|(key, Wire(value))| (key, value)).collect())
    }
}

/// The shapes of types: fields and variants are those of the type itself.
macro_rules! shapes {
    ($($type:ident: $shape:ident),+) => {$(
        impl Shape for $type {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $shape::serialize(self, to)
            }

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $shape::deserialize(from)
            }
        }
    )+};
}
shapes!(SampleId: SampleIdShape, MessageSource: MessageSourceShape, Input: InputShape);
shapes!(Targets: TargetsShape, Usage: UsageShape, OutputChoice: OutputChoiceShape, ModelOutput: ModelOutputShape);

impl Shape for Message {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        MessageShape::serialize(self, to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(from)?;
        let omitted = omitted(&json);
        let mut message = MessageShape::deserialize(json).map_err(de::Error::custom)?;
        message.omitted = omitted;
        Ok(message)
    }
}

/// A value read by its shape. Types that will grow cannot be built field by field from outside of their crate: serde
/// converts the shape if one of its fields has a getter, which is the first one here.
macro_rules! read_by_shape {
    ($($shape:ident => $type:ident from $base:expr, $first:ident: $of:ty, $($field:ident),+;)+) => {$(
        impl $shape {
            fn known(value: &$type) -> &$of {
                &value.$first
            }
        }

        impl From<$shape> for $type {
            fn from(shape: $shape) -> Self {
                let mut value = $base;
                value.$first = shape.$first;
                $(value.$field = shape.$field;)+
                value
            }
        }
    )+};
}
read_by_shape! {
    MessageShape => Message from Message::user(""), content: String, id, source, role, model;
    UsageShape => Usage from Usage::default(), input_tokens: u64, output_tokens, total_tokens,
        input_tokens_cache_write, input_tokens_cache_read, reasoning_tokens, total_cost;
    OutputChoiceShape => OutputChoice from OutputChoice::new(Message::user(""), ""), stop_reason: String, message, logprobs;
    ModelOutputShape => ModelOutput from ModelOutput::default(), model: String, choices, completion, usage, time,
        metadata, error;
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SampleId", untagged)]
enum SampleIdShape {
    Int(i64),
    Str(#[serde(deserialize_with = "text_of_id")] String),
}

/// A string, or the digits of an integer beyond `i64`.
fn text_of_id<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let json = Json::deserialize(from)?;
    match json {
        Json::String(id) => Ok(id),
        json if json.is_u64() => Ok(json.to_string()),
        _ => Err(de::Error::custom("an id is an integer or a string")),
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "MessageRole", rename_all = "lowercase")]
enum MessageRoleShape {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "MessageSource", rename_all = "lowercase")]
enum MessageSourceShape {
    Input,
    Generate,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Message", rename = "Message")]
struct MessageShape {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, deserialize_with = "text_of_content", getter = "MessageShape::known")]
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "as_wire::serialize", deserialize_with = "known_source")]
    source: Option<MessageSource>,
    #[serde(with = "MessageRoleShape")]
    role: MessageRole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
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
    Ok(serde_json::from_value::<Wire<_>>(Json::deserialize(from)?).ok().map(|Wire(source)| source))
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Input", untagged)]
enum InputShape {
    Text(String),
    Messages(#[serde(with = "as_wire")] Vec<Message>),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Targets", untagged)]
enum TargetsShape {
    One(String),
    Many(Vec<String>),
}

#[derive(Default, Serialize, Deserialize)]
#[serde(remote = "Usage", rename = "Usage", default)]
struct UsageShape {
    #[serde(getter = "UsageShape::known")]
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens_cache_write: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens_cache_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_cost: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OutputChoice", rename = "OutputChoice")]
struct OutputChoiceShape {
    #[serde(with = "as_wire")]
    message: Message,
    #[serde(default = "unknown_stop_reason", getter = "OutputChoiceShape::known")]
    stop_reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logprobs: Option<Json>,
}

fn unknown_stop_reason() -> String {
    "unknown".to_owned()
}

#[derive(Default, Serialize, Deserialize)]
#[serde(remote = "ModelOutput", rename = "ModelOutput", default)]
struct ModelOutputShape {
    #[serde(getter = "ModelOutputShape::known")]
    model: String,
    #[serde(with = "as_wire")]
    choices: Vec<OutputChoice>,
    completion: String,
    #[serde(with = "as_wire", skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}
