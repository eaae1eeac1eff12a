//! What a model returns.

use serde_json::Value as Json;

use super::message::Message;
use crate::Metadata;

/// The tokens that calls of a model took.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Both, as the provider counts.
    pub total_tokens: u64,
    /// Tokens written to the provider's cache.
    pub input_tokens_cache_write: Option<u64>,
    /// Tokens read from the provider's cache.
    pub input_tokens_cache_read: Option<u64>,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: Option<u64>,
    /// The price.
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
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OutputChoice {
    /// The answer.
    pub message: Message,
    /// Why the model stopped there: `stop`, `max_tokens`, `content_filter`, …
    pub stop_reason: String,
    /// The log probabilities of its tokens, if requested: `{"content": [{"token", "logprob", …}]}`.
    pub logprobs: Option<Json>,
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
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelOutput {
    /// The model.
    pub model: String,
    /// The answers it offers, the best first.
    pub choices: Vec<OutputChoice>,
    /// The text of the first answer.
    pub completion: String,
    /// The tokens it took.
    pub usage: Option<Usage>,
    /// The seconds it took.
    pub time: Option<f64>,
    /// Anything else that the provider reports.
    pub metadata: Option<Metadata>,
    /// Why there is no answer.
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
