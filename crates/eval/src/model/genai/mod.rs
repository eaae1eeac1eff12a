//! Models of other providers than OpenAI, through the crate `genai`, which knows the API of each.
//!
//! Ours stays what must be the same for all: the key is the one of the variable that `genai` names, or that of a file;
//! nothing is retried; errors are the same as those of `openai/NAME`. Where a provider speaks chat completions, the
//! answer is read as one of ours, with all its choices and probabilities.
//!
//! What `genai` does of itself: it reads answers whole, however long they are, so that a server that does not stop is
//! stopped by the timeout alone; it sends a largest `max_tokens` to Anthropic and Fireworks if none is set; and it
//! takes a name of Anthropic, Google or DeepSeek that ends in an effort, as in `NAME-high`, for a model and that effort.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;

use errorbar_core::Metadata;
use errorbar_log::eval::MessageRole;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponse, ReasoningEffort, StopReason, Usage as TokenUsage,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget, webc};
use reqwest::StatusCode;
use serde_json::{Map, Value as Json};

use super::error::{self as failure, NoAnswer, RequestContext};
use super::http::{Address, ApiKey, BaseUrl, Reply, invalid_base_url, shared_client};
use super::{
    Model, ModelError, OpenOptions, Provider, ProviderEntry, Request, UNREADABLE_USAGE, no_model_name,
    openai, provider, with_prompt,
};
use crate::{BoxFuture, Error, GenerateConfig, Message, ModelOutput, OutputChoice, Result, Usage};

/// A model of one of the providers.
struct GenaiModel {
    speaks: &'static ProviderProtocol,
    /// `provider/NAME`.
    name: String,
    /// As the server knows it.
    model: String,
    /// Where the server is if it is not the provider's own, for the record.
    base_url: Option<String>,
    /// The same as `genai` wants it, with a slash at the end.
    endpoint: Endpoint,
    address: Address,
    client: Client,
}

/// Only what is known to hold no key.
impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("name", &self.name)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl GenaiModel {
    /// Opens a model, with the key that the environment has if the options name none.
    fn open(
        speaks: &'static ProviderProtocol,
        model: &str,
        options: &OpenOptions<'_>,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self> {
        let name = format!("{}/{model}", speaks.name);
        if model.trim().is_empty() {
            return Err(no_model_name(speaks.name));
        }
        if model.contains("::") {
            return Err(Error::other(format!(
                "`{name}` has `::` in it, which would be cut off with all before it; write {}/NAME",
                speaks.name
            )));
        }
        let base = match options.base_url {
            Some(text) => BaseUrl::parse(text, None)?,
            None => BaseUrl::parse(speaks.base_url, None)?,
        };
        let endpoint = base.without_query().ok_or_else(|| {
            let behind =
                format!("has a `?` in it, behind which `{}` takes nothing; leave it out", speaks.name);
            invalid_base_url(Some(&base.shown()), None, &behind)
        })?;
        let key = match (speaks.key_variable(), options.api_key_file) {
            (Some(variable), file) => {
                ApiKey::find(&name, variable, file, options.base_url.is_some(), environment)?
            }
            (None, Some(_)) => return Err(Error::UnwantedKey { model: name }),
            (None, None) => None,
        };
        let client = Client::builder().with_reqwest(shared_client(&base, options.ca_file)?).build();
        let path = speaks.path(model);
        Ok(GenaiModel {
            speaks,
            name,
            model: model.to_owned(),
            base_url: options.base_url.map(|_| base.shown()),
            endpoint: Endpoint::from_owned(endpoint),
            address: Address::new(&base, &path.split('/').collect::<Vec<_>>(), key, options.timeout),
            client: client.map_err(|error| {
                errorbar_core::Error::custom(format!("connections to servers cannot be set up: {error}"))
            })?,
        })
    }

    fn context(&self) -> RequestContext<'_> {
        let key_variable = self.speaks.key_variable().unwrap_or("no variable");
        RequestContext { address: &self.address, model: &self.model, key_variable }
    }
}

impl Model for GenaiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn args(&self) -> Metadata {
        let base_url = self.base_url.as_deref();
        Metadata::from_iter(base_url.map(|url| ("base_url".to_owned(), url.into())))
    }

    fn server(&self) -> Option<String> {
        let own = || self.speaks.base_url.trim_end_matches('/').to_owned();
        Some(self.base_url.clone().unwrap_or_else(own))
    }

    fn is_cacheable(&self) -> bool {
        true
    }

    fn check_config(&self, config: &GenerateConfig) -> errorbar_core::Result<()> {
        refuse(self.speaks, &self.name, config)
    }

    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            self.check_config(request.config)?;
            let conversation = conversation(request.messages, &self.name)?;
            let options = options(self.speaks, &self.model, request.config);
            // Where no key is wanted, none is sent.
            let key = self.address.key.as_ref().map(ApiKey::reveal).unwrap_or_default();
            let target = ServiceTarget {
                endpoint: self.endpoint.clone(),
                auth: AuthData::from_single(key),
                model: ModelIden::new(self.speaks.kind, self.model.as_str()),
            };
            let answered = self.client.exec_chat(target, conversation, Some(&options));
            match tokio::time::timeout(self.address.timeout, answered).await {
                Err(_) => Err(self.address.timed_out()),
                Ok(Err(error)) => Err(failed(error, &self.context())),
                Ok(Ok(response)) => read(response, self.speaks, &self.context()),
            }
        })
    }
}

// The providers, and what is to be known of each.

/// How a provider is called.
#[derive(Debug)]
pub(super) struct ProviderProtocol {
    pub(super) name: &'static str,
    pub(super) kind: AdapterKind,
    /// Where it is; `genai` knows it too, and a test compares.
    pub(super) base_url: &'static str,
}

/// The language of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiDialect {
    /// Chat completions, as OpenAI has them.
    Chat,
    Anthropic,
    Google,
    Cohere,
    Ollama,
}

impl ProviderProtocol {
    /// The language.
    pub(super) fn language(&self) -> ApiDialect {
        match self.kind {
            AdapterKind::Anthropic | AdapterKind::MiniMax => ApiDialect::Anthropic,
            AdapterKind::Gemini => ApiDialect::Google,
            AdapterKind::Cohere => ApiDialect::Cohere,
            AdapterKind::Ollama => ApiDialect::Ollama,
            _ => ApiDialect::Chat,
        }
    }

    /// What requests are sent to, beneath the base URL; for messages alone, as `genai` builds it itself.
    pub(super) fn path(&self, model: &str) -> String {
        match self.language() {
            ApiDialect::Chat => "chat/completions".to_owned(),
            ApiDialect::Anthropic => "messages".to_owned(),
            ApiDialect::Google => format!("models/{model}:generateContent"),
            ApiDialect::Cohere => "chat".to_owned(),
            ApiDialect::Ollama => "api/chat".to_owned(),
        }
    }

    /// The variable that holds the key, if one is wanted.
    pub(super) fn key_variable(&self) -> Option<&'static str> {
        self.kind.default_key_env_name()
    }
}

/// One entry for each: the name, how `genai` calls it, where it is, and what its models are, with the variable of the key
/// unless that says how it is called.
macro_rules! providers {
    ($($name:literal $kind:ident $base_url:literal $what:literal $($key:literal)?;)*) => {
        /// All of them.
        pub(crate) const PROVIDERS: &[ProviderEntry] = &[$({
            const DOC: &str = concat!($what $(, ": ", $name, "/NAME; the key is ", $key, " or in a file.")?);
            const PROTOCOL: ProviderProtocol =
                ProviderProtocol { name: $name, kind: AdapterKind::$kind, base_url: $base_url };
            provider!($name, DOC, Provider::remote(|model, options| {
                Ok(GenaiModel::open(&PROTOCOL, model, options, |name| std::env::var_os(name))?.into())
            }))
        }),*];

        #[cfg(test)]
        pub(super) const PROTOCOL: &[ProviderProtocol] =
            &[$(ProviderProtocol { name: $name, kind: AdapterKind::$kind, base_url: $base_url }),*];
    };
}

providers! {
    "anthropic" Anthropic "https://api.anthropic.com/v1/" "Claude, of Anthropic" "ANTHROPIC_API_KEY";
    "cohere" Cohere "https://api.cohere.com/v1/" "Command, of Cohere" "COHERE_API_KEY";
    "deepseek" DeepSeek "https://api.deepseek.com/v1/" "Models of DeepSeek" "DEEPSEEK_API_KEY";
    "fireworks" Fireworks "https://api.fireworks.ai/inference/v1/" "Models at Fireworks AI" "FIREWORKS_API_KEY";
    "google" Gemini "https://generativelanguage.googleapis.com/v1beta/" "Gemini, of Google" "GEMINI_API_KEY";
    "groq" Groq "https://api.groq.com/openai/v1/" "Models at Groq" "GROQ_API_KEY";
    "minimax" MiniMax "https://api.minimax.io/anthropic/v1/" "Models of MiniMax" "MINIMAX_API_KEY";
    "mistral" Mistral "https://api.mistral.ai/v1/" "Models of Mistral" "MISTRAL_API_KEY";
    "moonshot" Moonshot "https://api.moonshot.cn/v1/" "Models of Moonshot" "MOONSHOT_API_KEY";
    "nebius" Nebius "https://api.studio.nebius.ai/v1/" "Models at Nebius" "NEBIUS_API_KEY";
    "ollama" Ollama "http://localhost:11434/"
        "Models that Ollama runs on this machine, or at the base URL of the run: ollama/NAME; it takes no key.";
    "openrouter" OpenRouter "https://openrouter.ai/api/v1/"
        "Models that OpenRouter leads to: openrouter/MAKER/NAME; the key is OPEN_ROUTER_API_KEY or in a file.";
    "together" Together "https://api.together.xyz/v1/" "Models at Together AI" "TOGETHER_API_KEY";
    "xai" Xai "https://api.x.ai/v1/" "Grok, of xAI" "XAI_API_KEY";
}

// From a request of ours to one of `genai`.

/// Refuses what the provider has no field for: left out, it would make answers to another question.
pub(super) fn refuse(
    speaks: &ProviderProtocol,
    model: &str,
    config: &GenerateConfig,
) -> errorbar_core::Result<()> {
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
        return Err(errorbar_core::Error::custom(format!(
            "`{model}` cannot be sent {}; leave it out{advice}",
            unknown.join(", ")
        )));
    }
    if let Some(seed) = config.seed.filter(|seed| *seed < 0) {
        return Err(errorbar_core::Error::custom(format!("`{model}` takes a seed from 0 on, found {seed}")));
    }
    Ok(())
}

/// The conversation; all is there already, a system message of the configuration too.
pub(super) fn conversation(
    messages: &[Message],
    model: &str,
) -> errorbar_core::Result<ChatRequest, ModelError> {
    let message = |message: &Message| match message.role {
        MessageRole::System => Ok(ChatMessage::system(message.content.as_str())),
        MessageRole::User => Ok(ChatMessage::user(message.content.as_str())),
        MessageRole::Assistant => Ok(ChatMessage::assistant(message.content.as_str())),
        MessageRole::Tool => Err(ModelError::permanent(format!(
            "`{model}` cannot be sent the message of a tool, which this conversation has"
        ))),
    };
    Ok(ChatRequest::new(messages.iter().map(message).collect::<errorbar_core::Result<_, _>>()?))
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
    const FIELDS: [&str; 5] = ["max_tokens", "temperature", "top_p", "stop", "seed"];
    let mut body = openai::settings(config);
    body.retain(|name, _| !FIELDS.contains(&name.as_str()));
    body.extend(config.extra_body.clone());
    body
}

/// `genai` would cut `mistral-medium` into a model and an effort. It does not if an effort is set, and this one is not
/// sent in chat completions; but it is to DeepSeek.
fn unset_effort(speaks: &ProviderProtocol, model: &str) -> Option<ReasoningEffort> {
    let is_cut = speaks.language() == ApiDialect::Chat && ReasoningEffort::from_model_name(model).0.is_some();
    (is_cut && speaks.kind != AdapterKind::DeepSeek).then_some(ReasoningEffort::Budget(0))
}

// From what `genai` returns to an answer, or to the reason why there is none.

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
    let none = |what, problem| no_answer(context.address, what, &problem, &raw.to_string());
    let key = context.address.key.as_ref();
    if speaks.language() == ApiDialect::Chat {
        // `genai` would drop probabilities, all choices but the first, and the spaces around the text.
        let body = raw.to_string().into_bytes();
        let body = match key {
            Some(key) => key.hide_in_answer(body),
            None => body,
        };
        let answer = openai::read_answer(&body, context.model, key);
        return answer.map_err(|problem| none("chat completion", problem));
    }
    if let Some(StopReason::Other(reason)) = &response.stop_reason
        && openai::is_failure(reason)
    {
        return Err(none("answer", NoAnswer::Failed(format!("stop reason {reason:?}"))));
    }
    let found = TEXTS.iter().filter_map(|place| raw.pointer(place));
    if let Some(found) = found.into_iter().find(|found| !found.is_string() && !found.is_null()) {
        let problem = format!("its text is not a string, but {found}");
        return Err(none("answer", NoAnswer::Malformed(problem)));
    }
    // A server may repeat the key, and this gets into logs.
    let hide = |text: String| match key {
        Some(key) => key.hide_in_answer_text(text),
        None => text,
    };
    let text = hide(response.content.texts().join("\n"));
    if text.is_empty() && response.stop_reason.is_none() {
        let problem = "it has neither text nor a stop reason".to_owned();
        return Err(none("answer", NoAnswer::Malformed(problem)));
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
fn failed(error: genai::Error, context: &RequestContext<'_>) -> ModelError {
    let address = context.address;
    let malformed = |problem, body: &str| no_answer(address, "answer", &NoAnswer::Malformed(problem), body);
    match error {
        genai::Error::WebModelCall { webc_error, .. } | genai::Error::WebAdapterCall { webc_error, .. } => {
            match webc_error {
                webc::Error::ResponseFailedStatus { status, body, headers } => {
                    failure::of(&Reply { status, headers: *headers, body: body.into_bytes() }, context)
                }
                webc::Error::ResponseFailedNotJson { content_type, body } => {
                    malformed(format!("its type is `{content_type}`, not JSON"), &body)
                }
                webc::Error::ResponseFailedInvalidJson { body, cause } => malformed(cause, &body),
                webc::Error::Reqwest(error) => address.failed(error),
                other @ webc::Error::JsonValueExt(_) => malformed(other.to_string(), ""),
            }
        }
        genai::Error::HttpError { status, body, headers, .. } => {
            failure::of(&Reply { status, headers: *headers, body: body.into_bytes() }, context)
        }
        genai::Error::ChatResponseGeneration { response_body, cause, .. } => match blocked(&response_body) {
            Some(reason) => {
                let reason = address.quote(reason, 100);
                ModelError::permanent(
                    address.describe(&format!("answered that the prompt is blocked: {reason}")),
                )
            }
            None => malformed(cause, &response_body.to_string()),
        },
        // Nothing was sent.
        other => ModelError::permanent(
            address.describe(&format!("cannot be made: {}", address.quote(&other.to_string(), 300))),
        ),
    }
}

/// `genai` does not report which of the statuses of success it was.
fn no_answer(address: &Address, what: &str, problem: &NoAnswer, body: &str) -> ModelError {
    failure::no_answer(address, StatusCode::OK, what, problem, body)
}

/// Google has no candidates for a prompt that it does not like.
fn blocked(body: &Json) -> Option<&str> {
    body.pointer("/promptFeedback/blockReason")?.as_str()
}
