//! What a server means by a status that is not 200.

use std::time::SystemTime;

use reqwest::StatusCode;
use reqwest::header::LOCATION;
use serde_json::Value as Json;

use super::http::{Address, Reply, limit_reset, retry_after};
use super::{ModelError, ModelErrorKind};

/// Who was asked for what.
pub(super) struct Asked<'a> {
    pub(super) address: &'a Address,
    /// The model, as the server knows it.
    pub(super) model: &'a str,
    /// The variable that holds the key.
    pub(super) key_variable: &'a str,
}

/// The error that an answer is.
pub(super) fn of(reply: &Reply, asked: &Asked<'_>) -> ModelError {
    let said = Said::read(&reply.body);
    let status = reply.status;
    let mut message = format!("answered {}", status.as_u16());
    if let Some(reason) = status.canonical_reason() {
        message.push_str(&format!(" {reason}"));
    }
    let quoted = asked.address.quote(&said.message, 300);
    if !quoted.is_empty() {
        message.push_str(&format!(": {quoted}"));
    }
    if let Some(advice) = advice(reply, &said, asked) {
        let end = message.trim_end_matches('.').len();
        message.truncate(end);
        message.push_str(&format!("; {advice}"));
    }
    ModelError::new(kind(reply, &said), asked.address.says(&message))
}

/// The error that an answer is which calls itself a success and is none, for this problem.
pub(super) fn no_answer(
    address: &Address,
    status: StatusCode,
    what: &str,
    problem: &str,
    body: &str,
) -> ModelError {
    ModelError::transient(address.says(&format!(
        "answered {} with something that is no {what}: {}; it begins: {}",
        status.as_u16(),
        address.quote(problem, 300),
        address.quote(body, 200)
    )))
}

/// Whether asking again may help.
fn kind(reply: &Reply, said: &Said) -> ModelErrorKind {
    let asked = retry_after(&reply.headers, SystemTime::now());
    match reply.status.as_u16() {
        429 if said.is("insufficient_quota") => ModelErrorKind::Permanent,
        429 => ModelErrorKind::RateLimited { retry_after: asked.or_else(|| limit_reset(&reply.headers)) },
        408 | 409 | 425 | 500.. => ModelErrorKind::Transient { retry_after: asked },
        _ => ModelErrorKind::Permanent,
    }
}

/// The way out, where there is one.
fn advice(reply: &Reply, said: &Said, asked: &Asked<'_>) -> Option<String> {
    let Asked { address, model, key_variable } = asked;
    let model = address.quote(model, 100);
    Some(match reply.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            format!("check the key, in {key_variable} or the file of --api-key-file")
        }
        StatusCode::NOT_FOUND => {
            format!("check that the server has a model `{model}`, and the base URL, which often ends in /v1")
        }
        StatusCode::TOO_MANY_REQUESTS if said.is("insufficient_quota") => {
            "the account has nothing left to pay with; waiting does not help".to_owned()
        }
        StatusCode::BAD_REQUEST if said.is("context_length_exceeded") => {
            "shorten the prompt, lower --max-tokens, or take a model with a longer context".to_owned()
        }
        status if status.is_redirection() => {
            let location = reply.headers.get(LOCATION).and_then(|location| location.to_str().ok());
            let to = location.and_then(|location| reqwest::Url::parse(location).ok());
            let to =
                to.as_ref().and_then(|url| url.host_str()).unwrap_or("another address of the same server");
            format!(
                "it points to {}, where the key is not sent unasked; if that is right, say so with --base-url",
                address.quote(to, 100)
            )
        }
        _ => return None,
    })
}

/// What the body of an error says.
#[derive(Default)]
struct Said {
    message: String,
    code: Option<String>,
    kind: Option<String>,
}

impl Said {
    /// As OpenAI says it, or as others do: `error` a text, `message`, or `detail`; else the body as it is.
    fn read(body: &[u8]) -> Said {
        let Ok(body) = serde_json::from_slice::<Json>(body) else {
            return Said { message: String::from_utf8_lossy(body).into_owned(), ..Said::default() };
        };
        let error = body.get("error").unwrap_or(&body);
        let text = |key: &str| error.get(key)?.as_str().map(str::to_owned);
        let message = text("message").or_else(|| match error.get("detail").unwrap_or(error) {
            Json::String(text) => Some(text.clone()),
            _ => None,
        });
        Said { message: message.unwrap_or_else(|| error.to_string()), code: text("code"), kind: text("type") }
    }

    fn is(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code) || self.kind.as_deref() == Some(code)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::*;
    use crate::model::http::{ApiKey, BaseUrl};

    fn failure(status: u16, header: Option<(&'static str, &'static str)>, body: &str) -> ModelError {
        let header =
            header.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let reply = Reply {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::from_iter(header),
            body: body.as_bytes().to_vec(),
        };
        let base = BaseUrl::parse("http://127.0.0.1:8080/v1?q=1&key=hunter22&more=rabbit%2F77", "").unwrap();
        let key = ApiKey::new("sk-secret", "").unwrap();
        let address = Address::new(&base, &["chat", "completions"], Some(key), Duration::from_secs(1));
        of(&reply, &Asked { address: &address, model: "m", key_variable: "OPENAI_API_KEY" })
    }

    #[test]
    fn the_status_says_whether_asking_again_helps() {
        let later = Some(Duration::from_secs(7));
        let wait = Some(("retry-after", "7"));
        let reset = Some(("x-ratelimit-reset-tokens", "7s"));
        assert_eq!(failure(429, None, "").kind(), ModelErrorKind::RateLimited { retry_after: None });
        assert_eq!(failure(429, wait, "").kind(), ModelErrorKind::RateLimited { retry_after: later });
        assert_eq!(failure(429, reset, "").kind(), ModelErrorKind::RateLimited { retry_after: later });
        for status in [408, 409, 425, 500, 502, 503, 529, 599] {
            assert_eq!(
                failure(status, wait, "").kind(),
                ModelErrorKind::Transient { retry_after: later },
                "{status}"
            );
            assert_eq!(
                failure(status, reset, "").kind(),
                ModelErrorKind::Transient { retry_after: None },
                "{status}"
            );
        }
        for status in [301, 307, 400, 401, 403, 404, 405, 413, 422] {
            assert_eq!(failure(status, wait, "").kind(), ModelErrorKind::Permanent, "{status}");
        }
        let quota = r#"{"error": {"message": "You have no money.", "code": "insufficient_quota"}}"#;
        assert_eq!(failure(429, wait, quota).kind(), ModelErrorKind::Permanent);
    }

    #[test]
    fn the_message_is_the_servers_wherever_it_has_it() {
        for body in [
            r#"{"error": {"message": "Not today.", "type": "t", "code": 7}}"#,
            r#"{"error": "Not today."}"#,
            r#"{"message": "Not today."}"#,
            r#"{"detail": "Not today."}"#,
            r#""Not today.""#,
            "Not today.\n",
        ] {
            assert_eq!(
                failure(500, None, body).to_string(),
                "POST http://127.0.0.1:8080/v1/chat/completions answered 500 Internal Server Error: Not today."
            );
        }
        assert!(failure(422, None, r#"{"detail": [{"loc": ["body"]}]}"#).to_string().contains(r#""loc""#));
        assert!(failure(500, None, "").to_string().ends_with("answered 500 Internal Server Error"));
        assert!(
            failure(500, None, &"x".repeat(1000)).to_string().ends_with(&format!(": {}…", "x".repeat(300)))
        );
    }

    #[test]
    fn the_way_out_is_named() {
        for (status, header, body, way_out) in [
            (401, None, "", "OPENAI_API_KEY"),
            (403, None, "", "--api-key-file"),
            (404, None, "", "model `m`, and the base URL"),
            (400, None, r#"{"error": {"code": "context_length_exceeded"}}"#, "shorten the prompt"),
            (429, None, r#"{"error": {"type": "insufficient_quota"}}"#, "waiting does not help"),
            (302, Some(("location", "https://evil.example/x?key=sk-secret")), "", "points to evil.example,"),
            (302, Some(("location", "/v2")), "", "another address of the same server"),
        ] {
            let message = failure(status, header, body).to_string();
            assert!(message.contains(way_out), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn a_key_that_the_server_repeats_is_taken_out_before_the_text_is_cut() {
        let body = format!("{}sk-secret", "x".repeat(295));
        let message = failure(401, None, &body).to_string();
        assert!(message.contains("x***;") && !message.contains("sk-"), "{message}");
        let message = failure(404, None, "nothing at /v1?q=1&key=hunter22&more=rabbit%2F77").to_string();
        assert!(message.contains("nothing at /v1?q=1&key=***&more=***;"), "{message}");
        // As the server has read it.
        let message = failure(404, None, "no such rabbit/77").to_string();
        assert!(message.contains("no such ***;"), "{message}");
    }
}
