//! What a model returns.

use errorbar_core::Metadata;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::message::{Message, MessageSource};

/// The tokens that calls of a model took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// Tokens spent on thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost: Option<f64>,
}

impl Usage {
    /// Adds the tokens of another call.
    ///
    /// ```
    /// use errorbar_log::eval::Usage;
    /// let mut usage = Usage { input_tokens: 1, ..Usage::default() };
    /// usage.add(&Usage { input_tokens: 2, reasoning_tokens: Some(5), ..Usage::default() });
    /// assert_eq!((usage.input_tokens, usage.reasoning_tokens), (3, Some(5)));
    /// ```
    pub fn add(&mut self, other: &Usage) {
        fn both(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            if a.is_none() && b.is_none() {
                None
            } else {
                Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0)))
            }
        }
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.input_tokens_cache_write = both(self.input_tokens_cache_write, other.input_tokens_cache_write);
        self.input_tokens_cache_read = both(self.input_tokens_cache_read, other.input_tokens_cache_read);
        self.reasoning_tokens = both(self.reasoning_tokens, other.reasoning_tokens);
        if let Some(cost) = other.total_cost {
            *self.total_cost.get_or_insert(0.0) += cost;
        }
    }
}

/// One of the answers that a model offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputChoice {
    /// The answer.
    pub message: Message,
    /// Why the model stopped there: `stop`, `max_tokens`, `content_filter`, …
    #[serde(default = "unknown_stop_reason")]
    pub stop_reason: String,
    /// The probabilities of its tokens, if they were asked for: `{"content": [{"token", "logprob", …}]}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Json>,
}

fn unknown_stop_reason() -> String {
    "unknown".to_owned()
}

/// What a model returns.
///
/// ```
/// use errorbar_log::eval::ModelOutput;
/// let output = ModelOutput::from_text("mockllm/model", "42");
/// assert_eq!(output.completion, "42");
/// assert_eq!(output.choices[0].stop_reason, "stop");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// Anything else the provider tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ModelOutput {
    /// The output of a model that says this and stops.
    pub fn from_text(model: impl Into<String>, text: impl Into<String>) -> Self {
        let (model, completion) = (model.into(), text.into());
        let message = Message {
            source: Some(MessageSource::Generate),
            model: Some(model.clone()),
            ..Message::assistant(completion.clone())
        };
        let choices = vec![OutputChoice { message, stop_reason: "stop".to_owned(), logprobs: None }];
        ModelOutput { model, choices, completion, ..ModelOutput::default() }
    }
}
