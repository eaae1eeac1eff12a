//! A server that repeats the key that it was sent, in one of the ways that JSON can write it.

use clap::ValueEnum;
use serde_json::{Value as Json, json};

use crate::http::Response;

/// How the key is written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Echo {
    /// As it is
    Plain,
    /// Every slash behind a backslash
    Slashes,
    /// Every character by its number
    Unicode,
    /// Every second character by its number, in capital digits
    Mixed,
    /// By its numbers, in a JSON text within the text
    Nested,
}

/// Stands for the key until the answer is written.
const PLACE: &str = "@KEY@";

impl Echo {
    fn write(self, key: &str) -> String {
        let number = |character: char| format!("\\u{:04x}", u32::from(character));
        let mixed = |(place, character): (usize, char)| match place % 2 {
            0 => number(character).to_uppercase().replace('U', "u"),
            _ => character.to_string(),
        };
        match self {
            Echo::Plain => key.to_owned(),
            Echo::Slashes => key.replace('/', "\\/"),
            Echo::Unicode => key.chars().map(number).collect(),
            Echo::Mixed => key.chars().enumerate().map(mixed).collect(),
            Echo::Nested => key.chars().map(|character| format!("\\{}", number(character))).collect(),
        }
    }

    /// An answer with the key in it, wherever a text may be.
    pub(crate) fn into_answer(self, answer: &Json, key: &str) -> Response {
        let content = answer.pointer("/choices/0/message/content").and_then(Json::as_str).unwrap_or_default();
        let token = json!({"token": PLACE, "logprob": 0, "bytes": key.as_bytes()});
        let body = json!({
            "id": PLACE,
            "model": PLACE,
            PLACE: {PLACE: [PLACE]},
            "choices": [{
                "message": {
                    "content": format!("{content} Your key is {PLACE}."),
                    "reasoning_content": format!("They sent {PLACE}, I think."),
                },
                "finish_reason": PLACE,
                "logprobs": {"content": [token]},
            }],
        });
        Response::new(200, body.to_string().replace(PLACE, &self.write(key)))
    }

    /// A refusal that repeats the key.
    pub(crate) fn into_refusal(self, key: &str) -> Response {
        let body = json!({"error": {"message": format!("Incorrect API key provided: {PLACE}.")}});
        Response::new(401, body.to_string().replace(PLACE, &self.write(key)))
    }

    /// An error that ends in the middle of the key.
    pub(crate) fn into_cut_off(self, key: &str) -> Response {
        let beginning: String = key.chars().take(key.len() - 2).collect();
        Response::new(400, format!("{{\"error\": {{\"message\": \"No such key: {}", self.write(&beginning)))
    }
}
