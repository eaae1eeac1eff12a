//! `openai/NAME`: chat completions, of OpenAI and of every server that speaks as it does: vLLM, llama.cpp, Ollama, …

mod answer;

use std::ffi::OsString;

use errorbar_core::Metadata;
use reqwest::Client;
use serde_json::{Value as Json, json};

use super::error::{self as failure, RequestContext};
use super::http::{Address, ApiKey, BaseUrl, shared_client};
use super::{Model, ModelError, OpenOptions, Provider, ProviderEntry, Request, no_model_name, provider};
use crate::{BoxFuture, GenerateConfig, Message, ModelOutput, Result};

#[cfg(feature = "providers")]
pub(super) use answer::{is_failure, read as read_answer};

pub(super) const PROVIDER: ProviderEntry = provider!(
    "openai",
    "Chat completions of any server: openai/NAME is the model NAME at the base URL of the run, or OPENAI_BASE_URL, or OpenAI; the key is OPENAI_API_KEY or in a file.",
    Provider::remote(
        |model, options| Ok(OpenAi::open(model, options, |name| std::env::var_os(name))?.into())
    )
);

const BASE_URL: &str = "https://api.openai.com/v1";
const HOST: &str = "api.openai.com";
const BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";
/// Where it is recorded that the address of the server has something behind a `?`.
pub(crate) const QUERY: &str = "base_url_query";
const KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// Stands for what is not shown.
const HIDDEN: &str = "***";

/// A model of a server that speaks chat completions.
#[derive(Debug)]
struct OpenAi {
    /// `openai/NAME`.
    name: String,
    /// As the server knows it.
    model: String,
    /// Where the server is, for the record.
    base_url: String,
    client: Client,
    address: Address,
}

impl OpenAi {
    /// Opens a model; what the options leave unset is taken from the environment.
    fn open(
        model: &str,
        options: &OpenOptions<'_>,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self> {
        if model.trim().is_empty() {
            return Err(no_model_name("openai"));
        }
        let variable = environment(BASE_URL_VARIABLE).filter(|text| !text.is_empty());
        let base = match (options.base_url, variable) {
            (Some(text), _) => BaseUrl::parse(text, None)?,
            // Bytes that are no UTF-8 become a character that no address has.
            (None, Some(text)) => BaseUrl::parse(&text.to_string_lossy(), Some(BASE_URL_VARIABLE))?,
            (None, None) => BaseUrl::parse(BASE_URL, None)?,
        };
        let (name, is_own_server) = (format!("openai/{model}"), base.host() != HOST);
        let key = ApiKey::find(&name, KEY_VARIABLE, options.api_key_file, is_own_server, environment)?;
        Ok(OpenAi {
            name,
            model: model.to_owned(),
            base_url: base.shown(),
            client: shared_client(&base, options.ca_file)?,
            address: Address::new(&base, &["chat", "completions"], key, options.timeout),
        })
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    fn args(&self) -> Metadata {
        let other =
            (self.base_url != BASE_URL).then(|| ("base_url".to_owned(), self.base_url.as_str().into()));
        // A run can only be resumed if the user gives it again.
        let query = (!self.address.query().is_empty()).then(|| (QUERY.to_owned(), HIDDEN.into()));
        Metadata::from_iter(other.into_iter().chain(query))
    }

    fn server(&self) -> Option<String> {
        Some(self.base_url.clone())
    }

    fn hidden_args(&self) -> &str {
        self.address.query()
    }

    fn is_cacheable(&self) -> bool {
        true
    }

    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            let address = &self.address;
            let body = body_of(&self.model, request.messages, request.config);
            let reply = address.post(&self.client, body.to_string().into_bytes()).await?;
            if !reply.status.is_success() {
                let asked = RequestContext { address, model: &self.model, key_variable: KEY_VARIABLE };
                return Err(failure::of(&reply, &asked));
            }
            answer::read(&reply.body, &self.model, address.key.as_ref()).map_err(|problem| {
                let beginning = String::from_utf8_lossy(&reply.body);
                failure::no_answer(address, reply.status, "chat completion", &problem, &beginning)
            })
        })
    }
}

// The body of a request for a chat completion.

/// Models of these names take `max_completion_tokens` and refuse `max_tokens`, which is all that other servers know.
const THINKING: [&str; 4] = ["o1", "o3", "o4", "gpt-5"];

/// The body of a request.
fn body_of(model: &str, messages: &[Message], config: &GenerateConfig) -> Json {
    let messages: Json = messages
        .iter()
        .map(|message| json!({"role": message.role.name(), "content": message.content}))
        .collect();
    let mut settings = settings(config);
    if THINKING.iter().any(|prefix| model.starts_with(prefix))
        && let Some(most) = settings.remove("max_tokens")
    {
        settings.insert("max_completion_tokens", most);
    }
    let mut body =
        Metadata::from_iter([("messages".to_owned(), messages), ("model".to_owned(), model.into())]);
    body.extend(settings);
    body.extend(config.extra_body.clone());
    body.into()
}

/// The settings under the names that chat completions have for them: what is unset is not sent, so that the server has
/// its default.
pub(super) fn settings(config: &GenerateConfig) -> Metadata {
    let mut settings = config.to_log();
    settings.retain(|name, _| !["system_message", "extra_body"].contains(&name.as_str()));
    if let Some(stop) = settings.remove("stop_seqs") {
        settings.insert("stop", stop);
    }
    if config.top_logprobs.is_some() && config.logprobs.is_none() {
        settings.insert("logprobs", true.into());
    }
    settings
}

#[cfg(test)]
mod openai_tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::{AnyModel, Error};

    const SECRET: &str = "sk-very-secret";

    fn options() -> OpenOptions<'static> {
        OpenOptions { base_url: Some("http://127.0.0.1:9/v1/"), ..OpenOptions::new(Path::new("")) }
    }

    fn open(options: &OpenOptions<'_>, variables: &[(&'static str, &'static str)]) -> Result<OpenAi> {
        let environment = |name: &str| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| OsString::from(value))
        };
        OpenAi::open("a/b c", options, environment)
    }

    #[test]
    fn the_name_is_whatever_the_server_calls_it() {
        let model = open(&options(), &[]).unwrap();
        assert_eq!((model.name(), model.model.as_str()), ("openai/a/b c", "a/b c"));
        let unnamed = OpenAi::open("", &options(), |_| None).unwrap_err().to_string();
        assert!(unnamed.starts_with("`openai/` names no model"), "{unnamed}");
    }

    #[test]
    fn the_option_goes_before_the_environment_and_that_before_openai() {
        let both = [(BASE_URL_VARIABLE, "http://h/v2"), (KEY_VARIABLE, SECRET)];
        let base_url = |options: &OpenOptions<'_>| open(options, &both).unwrap().args().remove("base_url");
        assert_eq!(base_url(&options()), Some("http://127.0.0.1:9/v1".into()));
        let unsaid = OpenOptions::new(Path::new(""));
        assert_eq!(base_url(&unsaid), Some("http://h/v2".into()));
        assert!(open(&unsaid, &[(BASE_URL_VARIABLE, ""), (KEY_VARIABLE, SECRET)]).unwrap().args().is_empty());
    }

    #[test]
    fn openai_itself_needs_a_key_and_others_do_not() {
        let unsaid = OpenOptions::new(Path::new(""));
        let error = open(&unsaid, &[(KEY_VARIABLE, "")]).unwrap_err();
        assert!(matches!(error, Error::MissingKey { variable, .. } if variable == KEY_VARIABLE));
        assert!(open(&options(), &[]).unwrap().endpoint_has_no_key());
    }

    #[test]
    fn a_key_shows_nowhere() {
        let with_query = OpenOptions { base_url: Some("http://h/v1?key=sk-very-secret"), ..options() };
        let model = open(&with_query, &[(KEY_VARIABLE, SECRET)]).unwrap();
        let shown = format!(
            "{model:?} {model:#?} {:?} {:?}",
            AnyModel::from(open(&with_query, &[]).unwrap()),
            model.args()
        );
        assert!(!shown.contains("secret"), "{shown}");
        let error = open(&options(), &[(KEY_VARIABLE, "sk-very\u{7}secret")]).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(
            error.to_string().starts_with("the variable OPENAI_API_KEY holds no key: a key is"),
            "{error}"
        );
    }

    #[test]
    fn a_query_tells_servers_apart_and_is_not_shown() {
        use crate::model::{Cache, GenerateConfig};
        let opened = |base_url: &'static str| {
            open(&OpenOptions { base_url: Some(base_url), ..options() }, &[]).unwrap()
        };
        let key = |model: &OpenAi| {
            let (id, config) = (1.into(), GenerateConfig::default());
            Cache::key(
                model,
                &Request { sample_id: &id, epoch: 1, call: 0, repeat: 0, messages: &[], config: &config },
            )
        };
        let models = ["http://h/v1", "http://h/v1?b=red-one", "http://h/v1?b=blue-one"].map(opened);
        let [plain, red, blue] = models.each_ref().map(key);
        assert!(plain.hash != red.hash && red.hash != blue.hash);
        assert!(!format!("{red:?}").contains("red-one"));
        let [plain, red, _] = models.each_ref().map(Model::args);
        assert_eq!((plain.get(QUERY), red.get(QUERY)), (None, Some(&HIDDEN.into())));
    }

    #[test]
    fn a_key_in_a_file_goes_before_the_environment() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "\n").unwrap();
        let options =
            OpenOptions { api_key_file: Some(file.path()), timeout: Duration::from_secs(1), ..options() };
        let error = open(&options, &[(KEY_VARIABLE, SECRET)]).unwrap_err().to_string();
        let empty = format!("the file {} holds no key: its first line is empty", file.path().display());
        assert_eq!(error, empty);
    }

    impl OpenAi {
        fn endpoint_has_no_key(&self) -> bool {
            format!("{:?}", self.address).contains("key: None")
        }
    }
}

#[cfg(test)]
mod body_tests {
    use super::*;

    fn sent(model: &str, config: Json) -> Json {
        let messages = [Message::system("Be brief."), Message::user("2 + 2?")];
        body_of(model, &messages, &serde_json::from_value(config).unwrap())
    }

    #[test]
    fn what_is_unset_is_not_sent() {
        let expected = json!({
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}],
            "model": "m",
        });
        // The system message of the configuration is among the messages already.
        assert_eq!(sent("m", json!({"system_message": "Be brief."})), expected);
    }

    #[test]
    fn what_is_set_is_sent_as_servers_call_it() {
        let config = json!({
            "max_tokens": 5, "temperature": 0.0, "top_p": 0.9, "stop_seqs": ["END", "\n"], "seed": -1,
            "frequency_penalty": 0.5, "presence_penalty": -0.5, "logprobs": false,
        });
        let mut body = sent("m", config.clone());
        body.as_object_mut().unwrap().retain(|key, _| key != "messages" && key != "model");
        let mut expected = config;
        let fields = expected.as_object_mut().unwrap();
        let stop = fields.remove("stop_seqs").unwrap();
        fields.insert("stop".to_owned(), stop);
        assert_eq!(body, expected);
    }

    #[test]
    fn a_number_of_probabilities_requests_probabilities() {
        let body = sent("m", json!({"top_logprobs": 2}));
        assert_eq!((&body["logprobs"], &body["top_logprobs"]), (&json!(true), &json!(2)));
    }

    #[test]
    fn models_that_think_count_their_tokens_under_another_name() {
        for model in ["o1", "o3-mini", "o4-mini-2025", "gpt-5-nano"] {
            let body = sent(model, json!({"max_tokens": 5}));
            assert_eq!(
                (&body["max_completion_tokens"], body.get("max_tokens")),
                (&json!(5), None),
                "{model}"
            );
        }
        for model in ["gpt-4o", "llama-o1", "tiny"] {
            assert_eq!(sent(model, json!({"max_tokens": 5}))["max_tokens"], 5, "{model}");
        }
    }

    #[test]
    fn the_extra_body_has_the_last_word() {
        let config = json!({"temperature": 1.0, "extra_body": {"temperature": null, "top_k": {"a": [1]}}});
        let body = sent("m", config);
        assert_eq!((body.get("temperature"), &body["top_k"]), (Some(&Json::Null), &json!({"a": [1]})));
    }
}
