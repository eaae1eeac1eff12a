//! From a request of ours to one of `genai`.

use errorbar_core::{Error, Metadata, Result};
use errorbar_log::eval::MessageRole;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ReasoningEffort};
use serde_json::Value as Json;

use super::provider::{ApiDialect, ProviderProtocol};
use crate::model::ModelError;
use crate::{GenerateConfig, Message};

/// Refuses what the provider has no field for: left out, it would make answers to another question.
pub(super) fn refuse(speaks: &ProviderProtocol, model: &str, config: &GenerateConfig) -> Result<()> {
    let language = speaks.language();
    let is_chat = language == ApiDialect::Chat;
    let no_seed = matches!(language, ApiDialect::Anthropic | ApiDialect::Cohere);
    let no_extra = matches!(language, ApiDialect::Cohere | ApiDialect::Ollama);
    let unknown = [
        ("frequency_penalty", config.frequency_penalty.is_some() && !is_chat),
        ("presence_penalty", config.presence_penalty.is_some() && !is_chat),
        ("logprobs", config.logprobs.is_some() && !is_chat),
        ("top_logprobs", config.top_logprobs.is_some() && !is_chat),
        ("seed", config.seed.is_some() && no_seed),
        ("extra_body", !config.extra_body.is_empty() && no_extra),
    ];
    let unknown: Vec<_> =
        unknown.iter().filter(|(_, is_unknown)| *is_unknown).map(|(name, _)| *name).collect();
    if !unknown.is_empty() {
        let advice = if no_extra { "" } else { ", or set it in extra_body as the provider knows it" };
        return Err(Error::custom(format!(
            "`{model}` cannot be sent {}; leave it out{advice}",
            unknown.join(", ")
        )));
    }
    if let Some(seed) = config.seed.filter(|seed| *seed < 0) {
        return Err(Error::custom(format!("`{model}` takes a seed from 0 on, found {seed}")));
    }
    Ok(())
}

/// The conversation; all is there already, a system message of the configuration too.
pub(super) fn conversation(messages: &[Message], model: &str) -> Result<ChatRequest, ModelError> {
    let message = |message: &Message| match message.role {
        MessageRole::System => Ok(ChatMessage::system(message.content.as_str())),
        MessageRole::User => Ok(ChatMessage::user(message.content.as_str())),
        MessageRole::Assistant => Ok(ChatMessage::assistant(message.content.as_str())),
        MessageRole::Tool => Err(ModelError::permanent(format!(
            "`{model}` cannot be sent the message of a tool, which this conversation has"
        ))),
    };
    Ok(ChatRequest::new(messages.iter().map(message).collect::<Result<_, _>>()?))
}

/// The configuration. What is unset is not sent.
pub(super) fn options(speaks: &ProviderProtocol, model: &str, config: &GenerateConfig) -> ChatOptions {
    let extra = extra_body(config);
    ChatOptions {
        temperature: config.temperature,
        top_p: config.top_p,
        max_tokens: config.max_tokens.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        stop_sequences: config.stop_seqs.clone(),
        seed: config.seed.and_then(|seed| u64::try_from(seed).ok()),
        extra_body: (!extra.is_empty()).then(|| extra.into()),
        reasoning_effort: unset_effort(speaks, model),
        capture_raw_body: Some(true),
        ..ChatOptions::default()
    }
}

/// What `genai` has no field for goes into the body as it is; only chat completions get this far with it.
fn extra_body(config: &GenerateConfig) -> Metadata {
    let logprobs = config.logprobs.or(config.top_logprobs.map(|_| true));
    let options = [
        ("frequency_penalty", config.frequency_penalty.map(Json::from)),
        ("presence_penalty", config.presence_penalty.map(Json::from)),
        ("logprobs", logprobs.map(Json::from)),
        ("top_logprobs", config.top_logprobs.map(Json::from)),
    ];
    let mut body: Metadata =
        options.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    body.extend(config.extra_body.clone());
    body
}

/// `genai` would cut `mistral-medium` into a model and an effort. It does not if an effort is set, and this one is not
/// sent in chat completions; but it is to DeepSeek.
fn unset_effort(speaks: &ProviderProtocol, model: &str) -> Option<ReasoningEffort> {
    let is_cut = speaks.language() == ApiDialect::Chat && ReasoningEffort::from_model_name(model).0.is_some();
    (is_cut && speaks.kind != AdapterKind::DeepSeek).then_some(ReasoningEffort::Budget(0))
}
