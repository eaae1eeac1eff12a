//! From what `genai` returns to an answer, or to the reason why there is none.

use errorbar_core::Metadata;
use genai::chat::{ChatResponse, StopReason, Usage as TokenUsage};
use genai::{Error, webc};
use reqwest::StatusCode;
use serde_json::{Map, Value as Json};

use super::provider::{ApiDialect, ProviderProtocol};
use crate::model::failure::{self, NoAnswer, RequestContext};
use crate::model::http::{Address, Reply};
use crate::model::{ModelError, UNREADABLE_USAGE, openai, with_prompt};
use crate::{Message, ModelOutput, OutputChoice, Usage};

/// Where the text of an answer is that is no chat completion. `genai` takes what is no string there for no answer.
const TEXTS: [&str; 2] = ["/message/content", "/candidates/0/content/parts/0/text"];

/// Reads an answer.
///
/// # Errors
/// A response that is no answer, despite its status of success.
pub(super) fn read(
    response: ChatResponse,
    speaks: &ProviderProtocol,
    context: &RequestContext<'_>,
) -> Result<ModelOutput, ModelError> {
    let raw = response.captured_raw_body.clone().unwrap_or_default();
    let none = |problem: &str| no_answer(context.address, "answer", problem, &raw.to_string());
    let key = context.address.key();
    if speaks.language() == ApiDialect::Chat {
        // `genai` would drop probabilities, all choices but the first, and the spaces around the text.
        let body = raw.to_string().into_bytes();
        let body = match key {
            Some(key) => key.hide_in_answer(body),
            None => body,
        };
        return openai::read_answer(&body, context.model, key).map_err(|problem| {
            let raw = raw.to_string();
            failure::no_answer(context.address, StatusCode::OK, "chat completion", &problem, &raw)
        });
    }
    if let Some(StopReason::Other(reason)) = &response.stop_reason
        && openai::is_failure(reason)
    {
        let problem = NoAnswer::Failed(format!("stop reason {reason:?}"));
        return Err(failure::no_answer(
            context.address,
            StatusCode::OK,
            "answer",
            &problem,
            &raw.to_string(),
        ));
    }
    let found = TEXTS.iter().filter_map(|place| raw.pointer(place));
    if let Some(found) = found.into_iter().find(|found| !found.is_string() && !found.is_null()) {
        return Err(none(&format!("its text is not a string, but {found}")));
    }
    // A server may repeat the key, and this gets into logs.
    let hide = |text: String| match key {
        Some(key) => key.hide_in_answer_text(text),
        None => text,
    };
    let text = hide(response.content.texts().join("\n"));
    if text.is_empty() && response.stop_reason.is_none() {
        return Err(none("it has neither text nor a stop reason"));
    }
    let model = hide(response.provider_model_iden.model_name.to_string());
    let message = Message::generated(model.as_str(), text);
    let choice = OutputChoice::new(message, stop_reason(response.stop_reason.as_ref()));
    let reasoning = response.reasoning_content.filter(|text| !text.is_empty()).map(hide);
    let mut output = ModelOutput::new(model, vec![choice]);
    let mut metadata = Metadata::new();
    if let Some(text) = reasoning {
        metadata.insert("reasoning".to_owned(), text.into());
    }
    match unreadable_usage(&raw) {
        None => output.usage = usage(&response.usage),
        // An answer is paid for, and good without its usage: what cannot be read of that is for the record.
        Some(reported) => {
            let reported = hide(reported.to_string());
            let reported = serde_json::from_str(&reported).unwrap_or_else(|_| reported.into());
            metadata.insert(UNREADABLE_USAGE.to_owned(), reported);
        }
    }
    output.metadata = (!metadata.is_empty()).then_some(metadata);
    Ok(output)
}

/// Why the model stopped, as logs call it.
fn stop_reason(reason: Option<&StopReason>) -> &'static str {
    match reason {
        Some(StopReason::Completed(_) | StopReason::StopSequence(_)) => "stop",
        Some(StopReason::MaxTokens(raw)) if raw == "model_context_window_exceeded" => "model_length",
        Some(StopReason::MaxTokens(_)) => "max_tokens",
        Some(StopReason::ToolCall(_)) => "tool_calls",
        Some(StopReason::ContentFilter(_)) => "content_filter",
        Some(StopReason::Other(_)) | None => "unknown",
    }
}

/// Where answers report their usage, and the counts in it.
const USAGES: [(&str, &[&str]); 4] = [
    ("/usage", &["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]),
    (
        "/usageMetadata",
        &["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"],
    ),
    ("/meta/tokens", &["input_tokens", "output_tokens"]),
    // The answer itself.
    ("", &["prompt_eval_count", "eval_count"]),
];

/// The usage of an answer, if there is one that cannot be read. `genai` takes a count of another type for none.
fn unreadable_usage(raw: &Json) -> Option<Json> {
    let is_count =
        |json: &Json| json.is_null() || json.as_u64().is_some_and(|count| i32::try_from(count).is_ok());
    for (place, names) in USAGES {
        let Some(reported) = raw.pointer(place).filter(|reported| !reported.is_null()) else { continue };
        let counts = names.iter().filter_map(|name| Some(((*name).to_owned(), reported.get(name)?.clone())));
        let wrong: Map<String, Json> = counts.filter(|(_, count)| !is_count(count)).collect();
        if wrong.is_empty() && reported.is_object() {
            continue;
        }
        return Some(if place.is_empty() { wrong.into() } else { reported.clone() });
    }
    None
}

fn usage(tokens: &TokenUsage) -> Option<Usage> {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let (prompt, output) = (count(tokens.prompt_tokens), count(tokens.completion_tokens));
    if prompt.is_none() && output.is_none() {
        return None;
    }
    let of_prompt = tokens.prompt_tokens_details.as_ref();
    let of_answer = tokens.completion_tokens_details.as_ref();
    let mut usage = Usage::new(0, output.unwrap_or(0));
    usage.input_tokens_cache_read = count(of_prompt.and_then(|details| details.cached_tokens));
    usage.input_tokens_cache_write = count(of_prompt.and_then(|details| details.cache_creation_tokens));
    usage.reasoning_tokens = count(of_answer.and_then(|details| details.reasoning_tokens));
    Some(with_prompt(usage, prompt.unwrap_or(0), count(tokens.total_tokens)))
}

/// What an error of `genai` is for us. Its own text is not shown, as it holds whole answers and requests.
pub(super) fn failure(error: Error, context: &RequestContext<'_>) -> ModelError {
    let address = context.address;
    match error {
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => match webc_error
        {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                failure::of(&Reply { status, headers: *headers, body: body.into_bytes() }, context)
            }
            webc::Error::ResponseFailedNotJson { content_type, body } => {
                let problem = format!("its type is `{content_type}`, not JSON");
                no_answer(address, "answer", &problem, &body)
            }
            webc::Error::ResponseFailedInvalidJson { body, cause } => {
                no_answer(address, "answer", &cause, &body)
            }
            webc::Error::Reqwest(error) => address.failed(error),
            other @ webc::Error::JsonValueExt(_) => no_answer(address, "answer", &other.to_string(), ""),
        },
        Error::HttpError { status, body, headers, .. } => {
            failure::of(&Reply { status, headers: *headers, body: body.into_bytes() }, context)
        }
        Error::ChatResponseGeneration { response_body, cause, .. } => match blocked(&response_body) {
            Some(reason) => {
                let reason = address.quote(reason, 100);
                ModelError::permanent(
                    address.describe(&format!("answered that the prompt is blocked: {reason}")),
                )
            }
            None => no_answer(address, "answer", &cause, &response_body.to_string()),
        },
        // Nothing was sent.
        other => ModelError::permanent(
            address.describe(&format!("cannot be made: {}", address.quote(&other.to_string(), 300))),
        ),
    }
}

/// `genai` does not report which of the statuses of success it was.
fn no_answer(address: &Address, what: &str, problem: &str, body: &str) -> ModelError {
    failure::no_answer(address, StatusCode::OK, what, &NoAnswer::Malformed(problem.to_owned()), body)
}

/// Google has no candidates for a prompt that it does not like.
fn blocked(body: &Json) -> Option<&str> {
    body.pointer("/promptFeedback/blockReason")?.as_str()
}
