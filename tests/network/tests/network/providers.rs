//! Providers that speak chat completions, through `genai`: the same is sent as by `openai/NAME`, and the same faults are
//! the same errors.

use std::path::Path;
use std::time::Duration;

use errorbar_eval::{AnyModel, GenerateConfig, ModelErrorKind, OpenOptions, built_in_registry, open_model};
use serde_json::json;
use tempfile::NamedTempFile;

use errorbar_test_support::ProgramOutput;

use crate::desk::Desk;
use crate::library::ask_with;
use crate::server::Server;

const KEY: &str = "sk-right-4711";

/// The providers that are tested here; each has its own dialect.
const PROVIDERS: [&str; 7] = ["groq", "mistral", "deepseek", "xai", "together", "openrouter", "fireworks"];

fn key_file() -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{KEY}\n")).unwrap();
    file
}

fn open(name: &str, server: &Server) -> AnyModel {
    let (base_url, key) = (server.base_url(), key_file());
    let options = OpenOptions {
        base_url: Some(&base_url),
        api_key_file: Some(key.path()),
        timeout: Duration::from_millis(1500),
        ..OpenOptions::new(Path::new(""))
    };
    open_model(name, &options, &built_in_registry()).unwrap()
}

#[tokio::test]
async fn options_are_sent_and_all_of_an_answer_is_recorded() {
    let config = GenerateConfig {
        temperature: Some(0.5),
        top_p: Some(0.9),
        max_tokens: Some(1),
        stop_seqs: vec!["END".to_owned()],
        seed: Some(7),
        frequency_penalty: Some(0.25),
        top_logprobs: Some(2),
        extra_body: json!({"top_k": 3}).as_object().unwrap().clone().into(),
        ..GenerateConfig::default()
    };
    for provider in PROVIDERS {
        let server = Server::start(&["--require-key", KEY]);
        let output = ask_with(&open(&format!("{provider}/maker/tiny-max"), &server), &config).await.unwrap();
        // The space at the end is part of the model's answer.
        assert_eq!(
            (output.completion.as_str(), output.choices[0].stop_reason.as_str()),
            ("ANSWER: ", "max_tokens")
        );
        let logprobs = output.choices[0].logprobs.as_ref().unwrap();
        assert_eq!(logprobs["content"][0]["top_logprobs"][1]["logprob"], -1.5);
        let usage = output.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (7, 1, 8));

        let seed = if provider == "mistral" { "random_seed" } else { "seed" };
        let mut body = json!({
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 17 + 5?"}],
            "model": "maker/tiny-max", "stream": false, "max_tokens": 1, "temperature": 0.5, "top_p": 0.9,
            "stop": ["END"], seed: 7, "frequency_penalty": 0.25, "logprobs": true, "top_logprobs": 2, "top_k": 3,
        });
        if provider == "deepseek" {
            // Nothing keeps genai from taking the end of the name for an effort here.
            body["model"] = json!("maker/tiny");
            body["thinking"] = json!({"type": "enabled"});
            body["reasoning_effort"] = json!("max");
        }
        assert_eq!(server.stats()["last_body"], body, "{provider}");
    }
}

#[tokio::test]
async fn faults_are_the_errors_that_they_are_elsewhere() {
    let transient = ModelErrorKind::Transient { retry_after: None };
    let later = ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(7)) };
    for (fault, kind, message) in [
        ("429", later, "answered 429 Too Many Requests: Slow down."),
        (
            "429-without",
            ModelErrorKind::RateLimited { retry_after: None },
            "answered 429 Too Many Requests: Slow down.",
        ),
        (
            "429-quota",
            ModelErrorKind::Permanent,
            "answered 429 Too Many Requests: You exceeded your current quota; the account has nothing left to pay with; \
             waiting does not help",
        ),
        ("500", transient, r"answered 500 Internal Server Error: Something\u{1b}[31m broke."),
        ("503", transient, "answered 503 Service Unavailable: <html>no backend</html>"),
        ("slow", transient, "got no whole answer within 1.5 s; a slow server needs a longer timeout"),
        (
            "truncated",
            transient,
            r#"answered 200 with something that is no answer: EOF while parsing a string at line 1 column 135; it begins: {"id":"chatcmpl-test","object":"chat.completion","created":0,"model":"tiny-as-served","choices":[{"index":0,"message":{"role":"assistan"#,
        ),
        (
            "malformed",
            transient,
            r"answered 200 with something that is no answer: expected value at line 1 column 1; it begins: <html>\u{7}please log in</html>",
        ),
        (
            "wrong-type",
            transient,
            r#"answered 200 with something that is no chat completion: the `content` of a message is a string or a list of parts, found 42; it begins: {"choices":[{"message":{"content":42}}]}"#,
        ),
        (
            "dropped",
            ModelErrorKind::Unreachable,
            "got no whole answer: connection closed before message completed",
        ),
        ("dropped-midway", transient, "got no whole answer: end of file before message length reached"),
        (
            "empty-choices",
            transient,
            r#"answered 200 with something that is no chat completion: its `choices` are empty; it begins: {"choices":[]}"#,
        ),
        (
            "error-in-200",
            transient,
            r#"answered 200 with something that is no chat completion: it holds an error: The model is overloaded.; it begins: {"error":{"message":"The model is overloaded."}}"#,
        ),
        (
            "400-context",
            ModelErrorKind::Permanent,
            "answered 400 Bad Request: This model's maximum context length is 8 tokens; shorten the prompt, lower \
             max_tokens, or take a model with a longer context",
        ),
        (
            "401",
            ModelErrorKind::AccessRefused,
            "answered 401 Unauthorized: Incorrect API key provided; check the key, in GROQ_API_KEY or the key file",
        ),
        (
            "404",
            ModelErrorKind::Permanent,
            "answered 404 Not Found: The model does not exist; check that the server has a model `tiny`, and the base \
             URL, which often ends in /v1",
        ),
        (
            "redirect",
            ModelErrorKind::Permanent,
            "answered 307 Temporary Redirect; it points to 127.0.0.1, where the key is not sent; if that is right, make \
             it the base URL",
        ),
    ] {
        let server = Server::start(&["--fault", fault, "--retry-after", "7"]);
        let error = ask_with(&open("groq/tiny", &server), &GenerateConfig::default()).await.unwrap_err();
        let found = error.to_string();
        assert_eq!(error.kind(), kind, "{fault}: {found}");
        assert_eq!(found, format!("{}{message}", server.request()), "{fault}");
        assert_eq!(server.requests(), 1, "{fault}: genai retries by itself");
    }
}

#[test]
fn a_run_takes_the_key_of_the_provider_and_records_it_nowhere() {
    let server = Server::start(&["--require-key", KEY]);
    let base_url = server.base_url();
    let arguments = ["eval", "sums.toml", "--model", "together/unsure", "--base-url", &base_url];
    let wrong = "sk-wrong-0815";
    for key in [KEY, wrong] {
        let desk = Desk::new();
        let ran =
            ProgramOutput::from(desk.command(&arguments).env("TOGETHER_API_KEY", key).output().unwrap());
        assert_eq!(ran.code, Some(i32::from(key == wrong)), "{}", ran.stderr);
        let refused = format!(
            "error: sums: ended after 0 of 30 samples, because together/unsure rejects the key: {}answered 401 \
             Unauthorized: Incorrect API key provided: ***. It is not {KEY}; check the key, in TOGETHER_API_KEY or the key \
             file",
            server.request()
        );
        let error = ran.stderr.lines().find(|line| line.starts_with("error: "));
        assert_eq!(error, (key == wrong).then_some(refused.as_str()), "{}", ran.stderr);
        assert_eq!(desk.logs().len(), 1);
        for text in desk.logs().iter().chain([&ran.stdout, &ran.stderr]) {
            assert!(!text.contains(key), "{text}");
        }
    }
}

#[test]
fn a_custom_server_needs_no_key_until_it_requires_one() {
    for (options, code) in [(&[][..], 0), (&["--require-key", KEY], 1)] {
        let (desk, server) = (Desk::new(), Server::start(options));
        let base_url = server.base_url();
        let arguments = ["eval", "sums.toml", "--model", "groq/unsure", "--base-url", &base_url];
        let ran = ProgramOutput::from(desk.command(&arguments).env_remove("GROQ_API_KEY").output().unwrap());
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        let refused = format!(
            "error: sums: ended after 0 of 30 samples, because groq/unsure rejects the key: {}answered 401 Unauthorized: \
             Incorrect API key provided: . It is not {KEY}; check the key, in GROQ_API_KEY or the key file",
            server.request()
        );
        let error = ran.stderr.lines().find(|line| line.starts_with("error: "));
        assert_eq!(error, (code == 1).then_some(refused.as_str()), "{}", ran.stderr);
    }
}

#[test]
fn what_a_provider_cannot_be_sent_is_refused_before_the_run() {
    let (desk, server) = (Desk::new(), Server::start(&[]));
    let base_url = server.base_url();
    let arguments =
        ["eval", "sums.toml", "--model", "anthropic/m", "--base-url", &base_url, "--sampling-seed", "1"];
    let ran = ProgramOutput::from(desk.command(&arguments).env("ANTHROPIC_API_KEY", KEY).output().unwrap());
    assert_eq!((ran.code, server.requests(), desk.logs().len()), (Some(2), 0, 0), "{}", ran.stderr);
    assert_eq!(
        ran.stderr,
        "error: sums.toml: `anthropic/m` cannot be sent seed; leave it out, or say it in extra_body as the provider \
         knows it\n"
    );
}
