//! One request to one model: what is sent, what comes back, and which error each fault is.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use errorbar_eval::{
    AnyModel, GenerateConfig, Message, ModelError, ModelErrorKind, ModelOutput, OpenOptions, Request,
    SampleId, built_in_registry, open_model,
};
use serde_json::json;

use crate::TRANSIENT_FAULTS;
use crate::server::Server;

const TRANSIENT: ModelErrorKind = ModelErrorKind::Transient { retry_after: None };

fn open(base_url: &str, timeout: Duration, key_file: Option<&Path>) -> AnyModel {
    let options = OpenOptions {
        base_url: Some(base_url),
        api_key_file: key_file,
        timeout,
        ..OpenOptions::new(Path::new(""))
    };
    open_model("openai/tiny", &options, &built_in_registry()).unwrap()
}

pub(crate) async fn ask_with(model: &AnyModel, config: &GenerateConfig) -> Result<ModelOutput, ModelError> {
    let messages = [Message::system("Be brief."), Message::user("What is 17 + 5?")];
    let sample_id = SampleId::from("q1");
    model
        .generate(Request {
            sample_id: &sample_id,
            epoch: 1,
            call: 0,
            repeat: 0,
            messages: &messages,
            config,
        })
        .await
}

async fn ask(model: &AnyModel) -> Result<ModelOutput, ModelError> {
    ask_with(model, &GenerateConfig::default()).await
}

/// The error of a request to a server with this fault, its address replaced by `SERVER`.
async fn fails_with(options: &[&str]) -> (ModelErrorKind, String) {
    let server = Server::start(options);
    let error = ask(&open(&server.base_url(), Duration::from_millis(1500), None)).await.unwrap_err();
    (error.kind(), error.to_string().replace(&server.address, "SERVER"))
}

#[tokio::test]
async fn an_answer_comes_with_all_that_the_server_tells() {
    let server = Server::start(&[]);
    let model = open(&format!("{}/", server.base_url()), Duration::from_secs(30), None);
    let config = GenerateConfig {
        temperature: Some(0.5),
        max_tokens: Some(1),
        top_logprobs: Some(2),
        ..GenerateConfig::default()
    };
    let output = ask_with(&model, &config).await.unwrap();
    assert_eq!((output.model.as_str(), output.completion.as_str()), ("tiny-as-served", "ANSWER: "));
    assert_eq!(output.choices[0].stop_reason, "max_tokens");
    assert_eq!(
        output.choices[0].logprobs.as_ref().unwrap()["content"][0]["top_logprobs"][1]["logprob"],
        -1.5
    );
    let usage = output.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (7, 1, 8));
    let body = json!({
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 17 + 5?"}],
        "model": "tiny", "max_tokens": 1, "temperature": 0.5, "logprobs": true, "top_logprobs": 2,
    });
    assert_eq!(server.stats()["last_body"], body);
    assert_eq!(ask(&model).await.unwrap().completion, "ANSWER: 22");
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::start(&["--delay-ms", "20"]);
    let models = [(); 2].map(|()| open(&server.base_url(), Duration::from_secs(30), None));
    for model in &models {
        let results = (0..100).map(|_| {
            let model = model.clone();
            tokio::spawn(async move { ask(&model).await.map(|output| output.completion) })
        });
        for result in results.collect::<Vec<_>>() {
            assert_eq!(result.await.unwrap().unwrap(), "ANSWER: 22");
        }
    }
    let stats = server.stats();
    assert_eq!(stats["requests"], 200);
    // One more requests the statistics.
    assert!(stats["connections"].as_u64() <= Some(101), "{stats}");
}

#[tokio::test]
async fn too_many_requests_are_distinguished_from_other_errors_and_have_a_wait() {
    let message = "POST http://SERVER/v1/chat/completions answered 429 Too Many Requests: Slow down.";
    for (options, retry_after) in [
        (&["--fault", "429", "--retry-after", "7"][..], Some(Duration::from_secs(7))),
        (&["--fault", "429", "--retry-after", "soon"], None),
        (&["--fault", "429-without"], None),
    ] {
        let expected = (ModelErrorKind::RateLimited { retry_after }, message.to_owned());
        assert_eq!(fails_with(options).await, expected, "{options:?}");
    }
}

#[tokio::test]
async fn what_passes_is_worth_another_try() {
    let own = [
        ("slow", "got no whole answer within 1.5 s; a slow server needs a longer timeout"),
        (
            "truncated",
            r#"answered 200 with something that is no chat completion: EOF while parsing a string at line 1 column 135; it begins: {"id":"chatcmpl-test","object":"chat.completion","created":0,"model":"tiny-as-served","choices":[{"index":0,"message":{"role":"assistan"#,
        ),
    ];
    for (fault, message) in own.into_iter().chain(TRANSIENT_FAULTS) {
        let (kind, found) = fails_with(&["--fault", fault]).await;
        let expected = if fault == "dropped" { ModelErrorKind::Unreachable } else { TRANSIENT };
        assert_eq!(kind, expected, "{fault}: {found}");
        assert_eq!(found, format!("POST http://SERVER/v1/chat/completions {message}"), "{fault}");
    }
}

#[tokio::test]
async fn permanent_errors_name_the_way_out() {
    for (fault, message) in [
        (
            "429-quota",
            "answered 429 Too Many Requests: You exceeded your current quota; the account has nothing left to pay with; \
             waiting does not help",
        ),
        (
            "400-context",
            "answered 400 Bad Request: This model's maximum context length is 8 tokens; shorten the prompt, lower \
             max_tokens, or take a model with a longer context",
        ),
        (
            "404",
            "answered 404 Not Found: The model does not exist; check that the server has a model `tiny`, and the base \
             URL, which often ends in /v1",
        ),
        ("oversize", "answered with more than 16 MB, which no chat completion has; is it the right server?"),
    ] {
        let (kind, found) = fails_with(&["--fault", fault]).await;
        assert_eq!(kind, ModelErrorKind::Permanent, "{fault}: {found}");
        assert_eq!(found, format!("POST http://SERVER/v1/chat/completions {message}"), "{fault}");
    }
}

#[tokio::test]
async fn an_unauthorized_request_names_the_key_to_check() {
    for (fault, message) in [
        ("401", "answered 401 Unauthorized: Incorrect API key provided"),
        ("403", "answered 403 Forbidden: Your key may not use this"),
    ] {
        let (kind, found) = fails_with(&["--fault", fault]).await;
        assert_eq!(kind, ModelErrorKind::AccessRefused, "{fault}: {found}");
        let advice = "check the key, in OPENAI_API_KEY or the key file";
        assert_eq!(found, format!("POST http://SERVER/v1/chat/completions {message}; {advice}"), "{fault}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start(&[]);
    let (kind, message) = fails_with(&["--fault", "redirect", "--redirect-to", &other.base_url()]).await;
    assert_eq!(kind, ModelErrorKind::Permanent);
    assert_eq!(
        message,
        "POST http://SERVER/v1/chat/completions answered 307 Temporary Redirect; it points to 127.0.0.1, where the key \
         is not sent; if that is right, make it the base URL"
    );
    assert_eq!(other.requests(), 0);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    // A port that was free a moment ago, and a name that no one may register.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (host, cause) in [(free.to_string(), "Connection refused"), ("no.invalid:81".to_owned(), "")] {
        let model = open(&format!("http://{host}/v1"), Duration::from_secs(20), None);
        let error = ask(&model).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Unreachable, "{error}");
        let message = error.to_string();
        let found =
            message.strip_prefix(&format!("POST http://{host}/v1/chat/completions did not reach {host}: "));
        let found = found.and_then(|rest| rest.strip_suffix("; does the server run there?"));
        assert!(found.is_some_and(|found| found.starts_with(cause)), "{message}");
    }
}

#[tokio::test]
async fn a_key_opens_the_door_and_is_repeated_by_no_error() {
    let server = Server::start(&["--require-key", "sk-right"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "sk-right\n").unwrap();
    let model = open(&server.base_url(), Duration::from_secs(30), Some(file.path()));
    assert_eq!(ask(&model).await.unwrap().completion, "ANSWER: 22");

    std::fs::write(file.path(), "sk-wrong\n").unwrap();
    let model = open(&server.base_url(), Duration::from_secs(30), Some(file.path()));
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::AccessRefused);
    assert_eq!(
        error.to_string(),
        format!(
            "{}answered 401 Unauthorized: Incorrect API key provided: ***. It is not sk-right; check the key, in \
             OPENAI_API_KEY or the key file",
            server.request()
        )
    );
    let shown = format!("{error:?} {model:?} {:?}", model.args());
    assert!(!shown.contains("sk-wrong"), "{shown}");
}

/// A server that answers one request with what it received; its address.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 1 << 16];
        let length = stream.read(&mut request).unwrap();
        let sent = String::from_utf8_lossy(&request[..length]).into_owned();
        let body = json!({"choices": [{"message": {"content": sent}}]}).to_string();
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    });
    address
}

#[tokio::test]
async fn a_key_that_a_server_repeats_in_its_answer_does_not_get_into_logs() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "sk-0123456789abcdef\n").unwrap();
    let model = open(&format!("http://{}/v1", echo()), Duration::from_secs(30), Some(file.path()));
    let output = ask(&model).await.unwrap();
    assert!(output.completion.contains("Bearer ***\r\n"), "{}", output.completion);
}

#[tokio::test]
async fn a_request_takes_no_longer_than_its_timeout() {
    let server = Server::start(&["--fault", "slow"]);
    let error = ask(&open(&server.base_url(), Duration::from_millis(200), None)).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert_eq!(server.stats()["by_fault"]["slow"], serde_json::Value::Null, "the answer was not waited for");
}

#[tokio::test]
async fn faults_of_a_share_pass_when_retried() {
    let server = Server::start(&["--fault-rate", "0.5", "--fault-seed", "3"]);
    let model = open(&server.base_url(), Duration::from_secs(5), None);
    let mut tries = 0;
    loop {
        tries += 1;
        match ask(&model).await {
            Ok(output) => break assert_eq!(output.completion, "ANSWER: 22"),
            Err(error) => assert!(error.is_retryable() && tries < 50, "{error}"),
        }
    }
}
