//! Why a model gave no answer, and whether a retry may help.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::LOCATION;
use serde_json::Value as Json;

use super::http::{Address, Reply, limit_reset, retry_after};

/// Why a model gave no answer.
///
/// The message is for people: it names the request and its address, the response and the way out, and holds no
/// secret. The kind is for the caller, who retries or does not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    /// Whether the server has answered, if only with an error.
    pub(super) has_response: bool,
}

/// Whether a retry may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many requests. A later retry helps, and so do fewer connections.
    RateLimited {
        /// How long to wait before a retry, if the server sets it.
        retry_after: Option<Duration>,
    },
    /// A transient error: a busy or failing server, a dropped connection, an answer that was cut off.
    Transient {
        /// How long to wait before a retry, if the server sets it.
        retry_after: Option<Duration>,
    },
    /// The server was not reached, or closed the connection before it answered. It may be starting; a run ends if it
    /// never answers.
    Unreachable,
    /// A retry would fail too.
    Permanent,
    /// Unauthorized or forbidden: the key is wrong, or may not do this. Every other request would fail too, so the run
    /// ends.
    AccessRefused,
    /// The certificate of the server is not trusted. Every other request would fail too, so the run ends.
    Untrusted,
}

impl ModelError {
    /// An error of this kind.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let is_silent = matches!(kind, ModelErrorKind::Unreachable | ModelErrorKind::Untrusted);
        ModelError { kind, message: message.into(), has_response: !is_silent }
    }

    /// An error that a retry would not help.
    pub fn permanent(message: impl Into<String>) -> Self {
        ModelError::new(ModelErrorKind::Permanent, message)
    }

    /// A transient error.
    pub fn transient(message: impl Into<String>) -> Self {
        ModelError::new(ModelErrorKind::Transient { retry_after: None }, message)
    }

    /// The server was not reached.
    pub fn unreachable(message: impl Into<String>) -> Self {
        ModelError::new(ModelErrorKind::Unreachable, message)
    }

    /// The same, of a request that the server has not answered.
    #[must_use]
    pub(crate) fn without_response(mut self) -> Self {
        self.has_response = false;
        self
    }

    /// The same in other words.
    #[must_use]
    pub(crate) fn with_message(mut self, message: impl FnOnce(&str) -> String) -> Self {
        self.message = message(&self.message);
        self
    }

    /// Its kind.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// How long to wait before a retry, if the server sets it.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            ModelErrorKind::RateLimited { retry_after } | ModelErrorKind::Transient { retry_after } => {
                retry_after
            }
            _ => None,
        }
    }

    /// Whether a retry may help.
    pub fn is_retryable(&self) -> bool {
        !matches!(self.kind, ModelErrorKind::Permanent) && !self.ends_run()
    }

    /// Whether every other request would fail too.
    pub(crate) fn ends_run(&self) -> bool {
        matches!(self.kind, ModelErrorKind::AccessRefused | ModelErrorKind::Untrusted)
    }
}

impl From<errorbar_core::Error> for ModelError {
    fn from(error: errorbar_core::Error) -> Self {
        ModelError::permanent(error.to_string())
    }
}

impl From<ModelError> for errorbar_core::Error {
    fn from(error: ModelError) -> Self {
        errorbar_core::Error::custom(error.message)
    }
}

// What a server means by a status that is not 200.

/// Where a request went, and for what.
pub(super) struct RequestContext<'a> {
    pub(super) address: &'a Address,
    /// The model, as the server knows it.
    pub(super) model: &'a str,
    /// The variable that holds the key.
    pub(super) key_variable: &'a str,
}

/// The error that an answer is.
pub(super) fn of(reply: &Reply, context: &RequestContext<'_>) -> ModelError {
    let error = ErrorBody::read(&reply.body);
    let status = reply.status;
    let mut message = format!("answered {}", status.as_u16());
    if let Some(reason) = status.canonical_reason() {
        message.push_str(&format!(" {reason}"));
    }
    let quoted = context.address.quote(&error.message, 300);
    if !quoted.is_empty() {
        message.push_str(&format!(": {quoted}"));
    }
    if let Some(advice) = advice(reply, &error, context) {
        let end = message.trim_end_matches('.').len();
        message.truncate(end);
        message.push_str(&format!("; {advice}"));
    }
    ModelError::new(kind(reply, &error), context.address.describe(&message))
}

/// Why an answer that calls itself a success is none.
#[derive(Debug, PartialEq)]
pub(super) enum NoAnswer {
    /// It has another form, for this reason.
    Malformed(String),
    /// The server gave it up, and says so with this.
    Failed(String),
}

/// The error that an answer is which calls itself a success and is none, for this problem.
pub(super) fn no_answer(
    address: &Address,
    status: StatusCode,
    what: &str,
    problem: &NoAnswer,
    body: &str,
) -> ModelError {
    let problem = match problem {
        NoAnswer::Malformed(problem) => format!(
            "answered {} with something that is no {what}: {}",
            status.as_u16(),
            address.quote(problem, 300)
        ),
        NoAnswer::Failed(reason) => {
            format!("ended the answer with an error ({})", address.quote(reason, 300))
        }
    };
    ModelError::transient(address.describe(&format!("{problem}; it begins: {}", address.quote(body, 200))))
}

/// Whether a retry may help.
fn kind(reply: &Reply, error: &ErrorBody) -> ModelErrorKind {
    let wait = retry_after(&reply.headers, SystemTime::now());
    match reply.status.as_u16() {
        429 if error.is("insufficient_quota") => ModelErrorKind::Permanent,
        429 => ModelErrorKind::RateLimited { retry_after: wait.or_else(|| limit_reset(&reply.headers)) },
        408 | 409 | 425 | 500.. => ModelErrorKind::Transient { retry_after: wait },
        401 => ModelErrorKind::AccessRefused,
        400 if error.is_about_access() => ModelErrorKind::AccessRefused,
        403 if error.is_about_access() || error.speaks_of_access() => ModelErrorKind::AccessRefused,
        _ => ModelErrorKind::Permanent,
    }
}

/// The way out, where there is one.
fn advice(reply: &Reply, error: &ErrorBody, context: &RequestContext<'_>) -> Option<String> {
    let RequestContext { address, model, key_variable } = context;
    let model = address.quote(model, 100);
    Some(match reply.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => check_the_key(key_variable),
        StatusCode::BAD_REQUEST if error.is_about_access() => check_the_key(key_variable),
        StatusCode::NOT_FOUND => {
            format!("check that the server has a model `{model}`, and the base URL, which often ends in /v1")
        }
        StatusCode::TOO_MANY_REQUESTS if error.is("insufficient_quota") => {
            "the account has nothing left to pay with; waiting does not help".to_owned()
        }
        StatusCode::BAD_REQUEST if error.is("context_length_exceeded") => {
            "shorten the prompt, lower max_tokens, or take a model with a longer context".to_owned()
        }
        status if status.is_redirection() => {
            let location = reply.headers.get(LOCATION).and_then(|location| location.to_str().ok());
            let to = location.and_then(|location| reqwest::Url::parse(location).ok());
            let to =
                to.as_ref().and_then(|url| url.host_str()).unwrap_or("another address of the same server");
            format!(
                "it points to {}, where the key is not sent; if that is right, make it the base URL",
                address.quote(to, 100)
            )
        }
        _ => return None,
    })
}

fn check_the_key(variable: &str) -> String {
    format!("check the key, in {variable} or the key file")
}

/// What servers call a refusal that is about access. A 403 alone may also be about the content of a request: some
/// servers respond with it to a prompt that they reject.
const ABOUT_ACCESS: [&str; 9] = [
    "authentication_error",
    "permission_error",
    "permission_denied",
    "invalid_api_key",
    "invalid_authentication",
    "unauthorized",
    "unauthenticated",
    "unsupported_country_region_territory",
    "api_key_invalid",
];

/// Words of which a 403 that is about access has one, where it has no name.
const WORDS_OF_ACCESS: [&str; 7] =
    ["api key", "api_key", "permission", "authoriz", "authentic", "credential", "access to"];

/// The content of an error's body.
#[derive(Default)]
struct ErrorBody {
    message: String,
    /// By what names the error is known to programs.
    names: Vec<String>,
}

impl ErrorBody {
    /// In the format of OpenAI, or of others: `error` as a string, `message`, or `detail`; else the body as it is.
    fn read(body: &[u8]) -> ErrorBody {
        let Ok(body) = serde_json::from_slice::<Json>(body) else {
            return ErrorBody { message: String::from_utf8_lossy(body).into_owned(), ..ErrorBody::default() };
        };
        let error = body.get("error").unwrap_or(&body);
        let text = |key: &str| error.get(key)?.as_str().map(str::to_owned);
        let message = text("message").or_else(|| match error.get("detail").unwrap_or(error) {
            Json::String(text) => Some(text.clone()),
            _ => None,
        });
        let details = error.get("details").and_then(Json::as_array).into_iter().flatten();
        // Google has one in `status`, and a closer one among the details.
        let reasons = details.filter_map(|detail| detail.get("reason")?.as_str().map(str::to_owned));
        let names = ["code", "type", "status"].into_iter().filter_map(text).chain(reasons).collect();
        ErrorBody { message: message.unwrap_or_else(|| error.to_string()), names }
    }

    fn is(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn is_about_access(&self) -> bool {
        ABOUT_ACCESS.iter().any(|name| self.is(name))
    }

    fn speaks_of_access(&self) -> bool {
        let message = self.message.to_lowercase();
        WORDS_OF_ACCESS.iter().any(|word| message.contains(word))
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
        let base =
            BaseUrl::parse("http://127.0.0.1:8080/v1?q=1&key=hunter22&more=rabbit%2F77", None).unwrap();
        let key = ApiKey::new("sk-secret", "").unwrap();
        let address = Address::new(&base, &["chat", "completions"], Some(key), Duration::from_secs(1));
        of(&reply, &RequestContext { address: &address, model: "m", key_variable: "OPENAI_API_KEY" })
    }

    const ANSWERED: &str = "POST http://127.0.0.1:8080/v1/chat/completions answered ";

    /// The message, from the status on.
    fn message(status: u16, body: &str) -> String {
        failure(status, None, body).to_string().strip_prefix(ANSWERED).unwrap().to_owned()
    }

    #[test]
    fn the_status_decides_whether_a_retry_helps() {
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
        for status in [301, 307, 400, 403, 404, 405, 413, 422] {
            assert_eq!(failure(status, wait, "").kind(), ModelErrorKind::Permanent, "{status}");
        }
        let quota = r#"{"error": {"message": "You have no money.", "code": "insufficient_quota"}}"#;
        assert_eq!(failure(429, wait, quota).kind(), ModelErrorKind::Permanent);
    }

    #[test]
    fn an_unauthorized_request_is_distinguished_from_a_forbidden_one() {
        let google = r#"{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
            "details": [{"reason": "API_KEY_INVALID"}]}}"#;
        for (status, body) in [
            (401, ""),
            (401, "<html>"),
            (403, r#"{"error": {"type": "permission_error", "message": "Not with this key."}}"#),
            (403, r#"{"error": {"code": "unsupported_country_region_territory"}}"#),
            (403, r#"{"error": {"status": "PERMISSION_DENIED"}}"#),
            (403, r#"{"detail": "Not authenticated"}"#),
            (
                403,
                r#"{"error": {"code": "model_not_found", "message": "Project `x` does not have access to model `m`"}}"#,
            ),
            (400, google),
        ] {
            let error = failure(status, None, body);
            assert_eq!(error.kind(), ModelErrorKind::AccessRefused, "{status} {body}");
            assert!(!error.is_retryable() && error.retry_after().is_none());
            assert!(
                error.to_string().ends_with("; check the key, in OPENAI_API_KEY or the key file"),
                "{error}"
            );
        }
        for (status, body) in [
            (
                403,
                r#"{"error": {"code": 403, "message": "Your input was flagged.", "metadata": {"reasons": ["x"]}}}"#,
            ),
            (403, "<html>Forbidden</html>"),
            (400, r#"{"error": {"status": "INVALID_ARGUMENT"}}"#),
            (404, r#"{"error": {"code": "unauthorized"}}"#),
        ] {
            assert_eq!(failure(status, None, body).kind(), ModelErrorKind::Permanent, "{status} {body}");
        }
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
        assert_eq!(
            message(422, r#"{"detail": [{"loc": ["body"]}]}"#),
            r#"422 Unprocessable Entity: {"detail":[{"loc":["body"]}]}"#
        );
        assert_eq!(message(500, ""), "500 Internal Server Error");
        assert_eq!(
            message(500, &"x".repeat(1000)),
            format!("500 Internal Server Error: {}…", "x".repeat(300))
        );
    }

    #[test]
    fn the_way_out_is_named() {
        let named = |name: &str| format!(r#"{{"error": {{"message": "No.", "code": "{name}"}}}}"#);
        for (status, body, expected) in [
            (401, String::new(), "401 Unauthorized; check the key, in OPENAI_API_KEY or the key file"),
            (403, String::new(), "403 Forbidden; check the key, in OPENAI_API_KEY or the key file"),
            (
                404,
                String::new(),
                "404 Not Found; check that the server has a model `m`, and the base URL, which often ends in /v1",
            ),
            (
                400,
                named("context_length_exceeded"),
                "400 Bad Request: No; shorten the prompt, lower max_tokens, or take a model with a longer context",
            ),
            (
                429,
                named("insufficient_quota"),
                "429 Too Many Requests: No; the account has nothing left to pay with; waiting does not help",
            ),
        ] {
            assert_eq!(message(status, &body), expected);
        }
        for (location, to) in [
            ("https://evil.example/x?key=sk-secret", "evil.example"),
            ("/v2", "another address of the same server"),
        ] {
            let expected = format!(
                "{ANSWERED}302 Found; it points to {to}, where the key is not sent; if that is right, make it the base URL"
            );
            assert_eq!(failure(302, Some(("location", location)), "").to_string(), expected);
        }
    }

    #[test]
    fn a_key_that_the_server_repeats_is_taken_out_before_the_text_is_cut() {
        let body = format!("{}sk-secret", "x".repeat(295));
        /// What the message quotes of the body.
        fn quoted(status: u16, body: &str) -> String {
            let message = message(status, body);
            let (_, rest) = message.split_once(": ").unwrap();
            rest.split_once("; ").unwrap().0.to_owned()
        }
        assert_eq!(quoted(401, &body), format!("{}***", "x".repeat(295)));
        assert_eq!(
            quoted(404, "nothing at /v1?q=1&key=hunter22&more=rabbit%2F77"),
            "nothing at /v1?q=1&key=***&more=***"
        );
        // As the server has read it.
        assert_eq!(quoted(404, "no such rabbit/77"), "no such ***");
    }
}
