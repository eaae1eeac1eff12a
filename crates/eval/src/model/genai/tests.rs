//! Against a server with one fixed response. What chat completions go through is tested with `tests/network`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread::{self, JoinHandle};

use serde_json::{Value as Json, json};

use super::PROTOCOL;
use super::*;
use crate::model::{ModelErrorKind, UNREADABLE_USAGE};
use crate::{Message, SampleId, Usage, built_in_registry};

const SECRET: &str = "sk-very-secret";

fn speaks(name: &str) -> &'static ProviderProtocol {
    PROTOCOL.iter().find(|speaks| speaks.name == name).unwrap()
}

fn open(provider: &str, model: &str, base_url: Option<&str>) -> Result<GenaiModel> {
    let options = OpenOptions { base_url, ..OpenOptions::new(Path::new("")) };
    GenaiModel::open(speaks(provider), model, &options, |_| Some(SECRET.into()))
}

/// A server for one request: its address, and the request, once it was made.
fn server(answer: Json) -> (String, JoinHandle<(String, Json)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/base", listener.local_addr().unwrap());
    let context = thread::spawn(move || {
        let mut stream = BufReader::new(listener.accept().unwrap().0);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).unwrap(), 0);
        }
        let lower = head.to_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).unwrap();
        let answer = answer.to_string();
        let head_of_answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        stream.get_mut().write_all((head_of_answer + &answer).as_bytes()).unwrap();
        (lower, serde_json::from_slice(&body).unwrap())
    });
    (address, context)
}

/// What a model of this provider makes of an answer, and what it had been sent.
async fn ask(provider: &str, config: Json, answer: Json) -> (Result<ModelOutput, ModelError>, String, Json) {
    let (base_url, context) = server(answer);
    let model = open(provider, "m", Some(&base_url)).unwrap();
    let messages = [Message::system("Be brief."), Message::user("2 + 2?")];
    let (sample_id, config) = (SampleId::from("q1"), serde_json::from_value(config).unwrap());
    let request =
        Request { sample_id: &sample_id, epoch: 1, call: 0, repeat: 0, messages: &messages, config: &config };
    let output = model.generate(request).await;
    let (head, body) = context.join().unwrap();
    (output, head, body)
}

fn counted(output: &ModelOutput) -> [Option<u64>; 6] {
    let usage = output.usage.as_ref().unwrap();
    let Usage { input_tokens, output_tokens, total_tokens, .. } = *usage;
    let rest = [usage.input_tokens_cache_read, usage.input_tokens_cache_write, usage.reasoning_tokens];
    [Some(input_tokens), Some(output_tokens), Some(total_tokens), rest[0], rest[1], rest[2]]
}

#[tokio::test]
async fn providers_are_where_genai_has_them_and_tell_the_variable_of_their_key() {
    let client = Client::builder()
        .with_reqwest(shared_client(&BaseUrl::parse("http://h", None).unwrap(), None).unwrap());
    let client = client.build().unwrap();
    let registry = built_in_registry();
    for (speaks, entry) in PROTOCOL.iter().zip(PROVIDERS) {
        let target = client.resolve_service_target(ModelIden::new(speaks.kind, "m")).await.unwrap();
        assert_eq!(target.endpoint.base_url(), speaks.base_url, "{}", speaks.name);
        let variable = speaks.key_variable().unwrap_or("takes no key");
        assert!(entry.doc.contains(variable) && entry.name == speaks.name, "{}", entry.doc);
        assert!(registry.list::<crate::model::Provider>().any(|listing| listing.name == speaks.name));
    }
}

#[test]
fn a_key_is_wanted_and_shows_nowhere() {
    let options = OpenOptions::new(Path::new(""));
    let unset = GenaiModel::open(speaks("google"), "m", &options, |_| None).unwrap_err();
    assert!(matches!(unset, Error::MissingKey { variable, .. } if variable == "GEMINI_API_KEY"));
    let model = open("anthropic", "m", Some("http://h/v1/")).unwrap();
    let shown = format!("{model:?} {:?}", model.args());
    assert!(!shown.contains("secret") && shown.contains("http://h/v1/messages"), "{shown}");
    assert_eq!(model.args()["base_url"], "http://h/v1");
    assert!(open("groq", "m", None).unwrap().args().is_empty());
    let with_file = OpenOptions { api_key_file: Some(Path::new("key.txt")), ..options };
    let error = GenaiModel::open(speaks("ollama"), "m", &with_file, |_| None).unwrap_err();
    assert!(matches!(error, Error::UnwantedKey { .. }));
}

#[test]
fn what_would_be_lost_on_the_way_is_refused() {
    let refused =
        |model: &str, base_url: Option<&str>| open("groq", model, base_url).unwrap_err().to_string();
    assert!(refused("", None).starts_with("`groq/` names no model"));
    assert!(refused("openai::m", None).starts_with("`groq/openai::m` has `::` in it"));
    for (base_url, problem) in [
        ("http://h/v1?key=x", "has a `?` in it, behind which `groq` takes nothing; leave it out"),
        ("h", "cannot be read: relative URL without a base"),
    ] {
        let message = refused("m", Some(base_url));
        assert!(message.contains(problem), "{message}");
    }
    let extra = "or set it in extra_body as the provider knows it";
    for (provider, config, refused) in [
        (
            "groq",
            json!({"frequency_penalty": 1.0, "top_logprobs": 2, "seed": 1, "extra_body": {"a": 1}}),
            None,
        ),
        ("groq", json!({"seed": -1}), Some("takes a seed from 0 on, found -1".to_owned())),
        ("anthropic", json!({"temperature": 0.5, "extra_body": {"a": 1}}), None),
        (
            "anthropic",
            json!({"seed": 1, "logprobs": true}),
            Some(format!("cannot be sent logprobs, seed; leave it out, {extra}")),
        ),
        ("google", json!({"seed": 1, "extra_body": {"a": 1}}), None),
        (
            "google",
            json!({"presence_penalty": 1.0}),
            Some(format!("cannot be sent presence_penalty; leave it out, {extra}")),
        ),
        ("cohere", json!({"seed": 1}), Some("cannot be sent seed; leave it out".to_owned())),
        ("ollama", json!({"seed": 1}), None),
        (
            "ollama",
            json!({"extra_body": {"a": 1}}),
            Some("cannot be sent extra_body; leave it out".to_owned()),
        ),
    ] {
        let model = open(provider, "m", None).unwrap();
        let error = model.check_config(&serde_json::from_value(config).unwrap()).err();
        let refused = refused.map(|problem| format!("`{provider}/m` {problem}"));
        assert_eq!(error.map(|error| error.to_string()), refused);
    }
}

#[tokio::test]
async fn anthropic_is_understood() {
    let config = json!({"max_tokens": 5, "temperature": 0.5, "top_p": 0.9, "stop_seqs": ["END"], "extra_body": {"top_k": 3}});
    let answer = json!({
        "model": "m-2026", "stop_reason": "max_tokens", "content": [{"type": "text", "text": " 4 "}],
        "usage": {"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3},
    });
    let (output, head, body) = ask("anthropic", config, answer).await;
    assert!(
        head.starts_with("post /base/messages ") && head.contains(&format!("x-api-key: {SECRET}")),
        "{head}"
    );
    for (key, value) in [
        ("model", json!("m")),
        ("max_tokens", json!(5)),
        ("temperature", json!(0.5)),
        ("top_p", json!(0.9)),
        ("stop_sequences", json!(["END"])),
        ("top_k", json!(3)),
        ("messages", json!([{"role": "user", "content": "2 + 2?"}])),
    ] {
        assert_eq!(body[key], value, "{key}");
    }
    assert!(body["system"].to_string().contains("Be brief."), "{body}");
    let output = output.unwrap();
    assert_eq!((output.model.as_str(), output.completion.as_str()), ("m-2026", " 4 "));
    assert_eq!(output.choices[0].stop_reason, "max_tokens");
    assert_eq!(counted(&output), [Some(9), Some(2), Some(18), Some(4), Some(3), None]);
}

#[tokio::test]
async fn google_is_understood() {
    let config = json!({"max_tokens": 5, "seed": 7});
    let answer = json!({
        "modelVersion": "m-1", "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 5, "totalTokenCount": 16},
        "candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "hm", "thought": true}, {"text": "4"}]}}],
    });
    let (output, head, body) = ask("google", config, answer).await;
    assert!(head.starts_with("post /base/models/m:generatecontent "), "{head}");
    assert!(head.contains(&format!("x-goog-api-key: {SECRET}")), "{head}");
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 5, "seed": 7}));
    let output = output.unwrap();
    assert_eq!((output.completion.as_str(), output.choices[0].stop_reason.as_str()), ("4", "stop"));
    assert_eq!(output.metadata.as_ref().unwrap()["reasoning"], "hm");
    assert_eq!(counted(&output), [Some(9), Some(7), Some(16), None, None, Some(5)]);

    let refused = json!({"candidates": [{"finishReason": "SAFETY"}]});
    let output = ask("google", json!({}), refused).await.0.unwrap();
    assert_eq!((output.completion.as_str(), output.choices[0].stop_reason.as_str()), ("", "content_filter"));
    let error =
        ask("google", json!({}), json!({"promptFeedback": {"blockReason": "SAFETY"}})).await.0.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Permanent);
    let message = "/base/models/m:generateContent answered that the prompt is blocked: SAFETY";
    assert!(error.to_string().ends_with(message), "{error}");
}

#[tokio::test]
async fn cohere_and_ollama_are_understood() {
    let answer = json!({
        "finish_reason": "COMPLETE", "meta": {"tokens": {"input_tokens": 9, "output_tokens": 2}},
        "chat_history": [{"role": "CHATBOT", "message": "4"}],
    });
    let (output, head, body) = ask("cohere", json!({"top_p": 0.5}), answer).await;
    assert!(head.starts_with("post /base/chat "), "{head}");
    assert_eq!(
        (&body["p"], &body["message"], &body["preamble"]),
        (&json!(0.5), &json!("2 + 2?"), &json!("Be brief."))
    );
    assert_eq!(output.unwrap().completion, "4");

    let answer = json!({"message": {"content": "4"}, "done_reason": "length", "prompt_eval_count": 9, "eval_count": 2});
    let (output, head, body) = ask("ollama", json!({"max_tokens": 1, "seed": 7}), answer).await;
    assert!(head.starts_with("post /base/api/chat ") && !head.contains("secret"), "{head}");
    assert_eq!(body["options"], json!({"num_predict": 1, "seed": 7}));
    let output = output.unwrap();
    assert_eq!((output.completion.as_str(), output.choices[0].stop_reason.as_str()), ("4", "max_tokens"));
    assert_eq!(counted(&output), [Some(9), Some(2), Some(11), None, None, None]);
}

#[tokio::test]
async fn a_usage_that_cannot_be_read_costs_no_answer() {
    let anthropic = |usage: Json| json!({"content": [{"type": "text", "text": "4"}], "stop_reason": "end_turn", "usage": usage});
    let google = |usage: Json| json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "4"}]}}], "usageMetadata": usage});
    let ollama = |count: Json| json!({"message": {"content": "4"}, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": count});
    for (provider, answer, wrong) in [
        (
            "anthropic",
            anthropic(json!({"input_tokens": "9", "output_tokens": 2})),
            json!({"input_tokens": "9", "output_tokens": 2}),
        ),
        ("anthropic", anthropic(json!("many")), json!("many")),
        ("google", google(json!({"promptTokenCount": -1})), json!({"promptTokenCount": -1})),
        ("ollama", ollama(json!(1.5)), json!({"eval_count": 1.5})),
    ] {
        let output = ask(provider, json!({}), answer).await.0.unwrap();
        assert_eq!((output.completion.as_str(), &output.usage), ("4", &None), "{wrong}");
        assert_eq!(output.metadata.unwrap().get(UNREADABLE_USAGE), Some(&wrong));
    }
    // What is not there, or has other fields, is no mistake.
    for usage in [json!(null), json!({"input_tokens": 9, "output_tokens": 2, "service_tier": "standard"})] {
        let output = ask("anthropic", json!({}), anthropic(usage)).await.0.unwrap();
        assert_eq!(output.metadata, None);
    }
}

#[tokio::test]
async fn a_success_that_is_none_is_worth_another_try() {
    for (provider, answer) in [
        ("anthropic", json!({"content": 42, "stop_reason": "end_turn"})),
        ("anthropic", json!({"content": [], "usage": {"input_tokens": 1}})),
        ("anthropic", json!("hello")),
        ("google", json!({"error": {"message": "overloaded"}})),
        ("google", json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": 42}]}}]})),
        ("google", json!({"candidates": []})),
        ("cohere", json!({"chat_history": [{"message": 42}]})),
        ("ollama", json!({"message": {"content": 42}, "done_reason": "stop"})),
        ("ollama", json!({})),
    ] {
        let error = ask(provider, json!({}), answer.clone()).await.0.expect_err(&answer.to_string());
        assert_eq!(error.kind(), ModelErrorKind::Transient { retry_after: None }, "{error}");
        // In between are the words of `genai`, and in front is the address.
        let message = error.to_string();
        let (_, rest) = message.split_once(" answered 200 with something that is no answer: ").unwrap();
        assert!(rest.ends_with(&format!("; it begins: {answer}")), "{error}");
    }
}

#[tokio::test]
async fn a_key_that_the_server_repeats_gets_into_no_answer() {
    const KEY: &str = "sk-0123456789abcdef";
    let escaped: String = KEY.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    for (provider, answer) in [
        ("groq", json!({"model": KEY, "choices": [{"message": {"content": escaped, "reasoning": KEY}}]})),
        (
            "anthropic",
            json!({"model": KEY, "content": [{"type": "text", "text": escaped}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ),
    ] {
        let (base_url, context) = server(answer);
        let options = OpenOptions { base_url: Some(&base_url), ..OpenOptions::new(Path::new("")) };
        let model = GenaiModel::open(speaks(provider), "m", &options, |_| Some(KEY.into())).unwrap();
        let (sample_id, config) = (SampleId::from("q1"), GenerateConfig::default());
        let messages = [Message::user("2 + 2?")];
        let request = Request {
            sample_id: &sample_id,
            epoch: 1,
            call: 0,
            repeat: 0,
            messages: &messages,
            config: &config,
        };
        let output = model.generate(request).await.unwrap();
        context.join().unwrap();
        assert_eq!(output.completion, "***", "{provider}");
        let output = format!("{output:?}");
        assert!(!output.contains(KEY) && !output.contains("0073"), "{provider}: {output}");
    }
}
