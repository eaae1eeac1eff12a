//! What a request is known by.

use serde_json::{Value as Json, json};

use super::VERSION;
use crate::Message;
use crate::model::{Model, Request};

/// What a request is known by: all that its answer depends on, and the hash of that.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheKey {
    model: String,
    request: Json,
    hash: String,
}

impl CacheKey {
    pub(super) fn new(model: &dyn Model, request: &Request<'_>) -> Self {
        // A new field must be added here, if answers depend on it.
        let Request { sample_id: _, epoch, call: _, repeat, messages, config } = *request;
        let mut request = json!({
            "version": VERSION,
            "model": model.name(),
            "model_args": model.args(),
            "config": config.to_log(),
            "epoch": epoch,
            // A caller that repeats a request wants several answers: votes, the best of some.
            "repeat": repeat,
            "messages": messages.iter().map(as_sent).collect::<Vec<_>>(),
        });
        request.sort_all_objects();
        // What is hidden must not be in the file, and still distinguish requests.
        let hashed = format!("{request}{}", model.hidden_args());
        let hash = blake3::hash(hashed.as_bytes()).to_hex().to_string();
        CacheKey { model: model.name().to_owned(), request, hash }
    }

    /// The model that the request is for.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The request, with the fields of all objects in alphabetical order.
    pub fn request(&self) -> &Json {
        &self.request
    }

    /// Its hash: 64 hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// What a model gets to see of a message.
fn as_sent(message: &Message) -> Json {
    let Message { role, content, .. } = message;
    json!({"role": role.name(), "content": content})
}
