//! Where requests go, and messages about them that hold no secret.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, StatusCode, Url};

use super::ApiKey;
use super::key::redact;
use crate::model::{ModelError, ModelErrorKind};
use crate::{Error, Result};

/// An answer that is longer is none.
const MOST_BYTES: usize = 16 << 20;

/// The maximum size of an error that is read.
const MOST_ERROR_BYTES: usize = 64 << 10;

/// What a server answered.
pub(in crate::model) struct Reply {
    pub(in crate::model) status: StatusCode,
    pub(in crate::model) headers: HeaderMap,
    pub(in crate::model) body: Vec<u8>,
}

/// An address that requests are sent to, with the key and the patience that they have.
pub(in crate::model) struct Address {
    url: Url,
    /// The key, if there is one.
    pub(in crate::model) key: Option<ApiKey>,
    /// How long one request may take.
    pub(in crate::model) timeout: Duration,
}

/// Neither the key nor what may be one.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address")
            .field("url", &shown(&self.url))
            .field("key", &self.key)
            .field("timeout", &self.timeout)
            .finish()
    }
}

impl Address {
    /// The path beneath the base URL.
    pub(in crate::model) fn new(
        base: &BaseUrl,
        path: &[&str],
        key: Option<ApiKey>,
        timeout: Duration,
    ) -> Self {
        Address { url: base.join(path), key, timeout }
    }

    /// Sends JSON and returns the answer, whatever its status.
    ///
    /// # Errors
    /// No whole answer: the server was not reached, was too slow, dropped the connection, or did not stop talking.
    pub(in crate::model) async fn post(&self, client: &Client, body: Vec<u8>) -> Result<Reply, ModelError> {
        let mut request = client.post(self.url.clone()).timeout(self.timeout).body(body);
        request = request.header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            let header =
                key.header().map_err(|_| ModelError::permanent("the key cannot be sent in a header"))?;
            request = request.header(AUTHORIZATION, header);
        }
        let mut response = request.send().await.map_err(|error| self.failed(error))?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let most = if status.is_success() { MOST_BYTES } else { MOST_ERROR_BYTES };
        let (body, failure) = read_body(response, most).await;
        if status.is_success() {
            failure.map_or(Ok(()), |error| Err(self.failed(error)))?;
            if body.len() > MOST_BYTES {
                return Err(ModelError::permanent(self.describe(&format!(
                    "answered with more than {} MB, which no chat completion has; is it the right server?",
                    MOST_BYTES >> 20
                ))));
            }
        }
        let body = match &self.key {
            Some(key) => key.hide_in_answer(body),
            None => body,
        };
        Ok(Reply { status, headers, body })
    }

    /// What stands behind a `?`, where some servers take keys.
    pub(in crate::model) fn query(&self) -> &str {
        self.url.query().unwrap_or_default()
    }

    /// A sentence about a request to this address.
    pub(in crate::model) fn describe(&self, what: &str) -> String {
        format!("POST {} {what}", shown(&self.url))
    }

    /// The beginning of what the server answered: in one line, and without what may be secret, which servers repeat.
    pub(in crate::model) fn quote(&self, text: &str, most_characters: usize) -> String {
        let mut text = text.to_owned();
        if let Some(key) = &self.key {
            text = key.hide_in(text);
        }
        let as_sent = self.query().split(['&', '=']).map(str::to_owned);
        let as_read = self.url.query_pairs().flat_map(|(key, value)| [key.into_owned(), value.into_owned()]);
        for part in as_sent.chain(as_read) {
            // Shorter than any key, and likely to be in a string by chance.
            if part.len() >= 8 {
                text = redact(&text, &part, true).unwrap_or(text);
            }
        }
        excerpt(&text, most_characters)
    }

    /// Why there was no answer. Most of these errors are transient, as far as can be known here.
    pub(in crate::model) fn failed(&self, error: reqwest::Error) -> ModelError {
        // The address is shown by us, without what may be a key.
        let error = error.without_url();
        let cause = self.quote(&cause(&error), 300);
        let host = self.url.host_str().unwrap_or_default();
        if is_about_certificate(&error) {
            let message = format!("was not sent, because the certificate of {host} is not trusted: {cause}");
            return ModelError::new(ModelErrorKind::Untrusted, self.describe(&message));
        }
        if is_about_descriptors(&error) {
            return ModelError::transient(self.describe(&format!(
                "could not be sent: {cause}; lower the number of connections, or allow more open files (ulimit -n)"
            )))
            .without_response();
        }
        if error.is_connect() {
            let port = self.url.port_or_known_default().unwrap_or_default();
            let tls = if self.url.scheme() == "https" { ", and speak TLS" } else { "" };
            let message = format!("did not reach {host}:{port}: {cause}; does the server run there{tls}?");
            return ModelError::unreachable(self.describe(&message));
        }
        if error.is_timeout() {
            return self.timed_out();
        }
        let message = self.describe(&format!("got no whole answer: {cause}"));
        // Before there was a response, or in the middle of it.
        if error.is_request() { ModelError::unreachable(message) } else { ModelError::transient(message) }
    }

    /// An answer that took too long.
    pub(in crate::model) fn timed_out(&self) -> ModelError {
        let seconds = self.timeout.as_secs_f64();
        ModelError::transient(self.describe(&format!(
            "got no whole answer within {seconds} s; a slow server needs a longer timeout"
        )))
        .without_response()
    }
}

/// As much of the body as there is, until it has more than this many bytes; and what ended it, if that is an error.
async fn read_body(mut response: Response, most: usize) -> (Vec<u8>, Option<reqwest::Error>) {
    let mut body = Vec::new();
    while body.len() <= most {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => return (body, Some(error)),
        }
    }
    (body, None)
}

/// An error and what it was caused by, down to the bottom. An error of the system holds others, and skips them when it
/// names its source.
fn causes<'e>(error: &'e (dyn StdError + 'static)) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        held.map(|held| held as &(dyn StdError + 'static)).or(error.source())
    })
}

/// Whether the server's certificate is invalid: for another host, or not trusted, for example.
fn is_about_certificate(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| matches!(cause.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))))
}

/// Whether this process, or the system, has too many files open.
fn is_about_descriptors(error: &reqwest::Error) -> bool {
    // EMFILE and ENFILE, which are the same wherever there are any.
    let is_it = |error: &std::io::Error| cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24));
    causes(error).any(|cause| cause.downcast_ref().is_some_and(is_it))
}

/// The root cause of an error; what is above only reports that something went wrong.
pub(super) fn cause(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

// Where a server is.

/// Where a server is: what stands before the paths of its requests.
#[derive(Clone)]
pub(in crate::model) struct BaseUrl(Url);

/// A base URL that cannot be used; `url` if it may be repeated, and the variable that it is from.
pub(in crate::model) fn invalid_base_url(url: Option<&str>, variable: Option<&str>, problem: &str) -> Error {
    let url = url.map(|url| format!(" `{url}`")).unwrap_or_default();
    let variable = variable.map(|variable| format!(" ({variable})")).unwrap_or_default();
    Error::other(format!(
        "the base URL{url}{variable} {problem}; it is written as in http://127.0.0.1:8080/v1"
    ))
}

impl BaseUrl {
    /// Reads it; `variable` names the environment variable that the string comes from, for the error.
    ///
    /// # Errors
    /// Anything but an address with http or https and a host, and one with a password, which would get into logs.
    pub(in crate::model) fn parse(text: &str, variable: Option<&str>) -> Result<Self> {
        // What has an `@` may hold a password, and what stands behind a `?` a key: neither is repeated.
        let without_query = text.split(['?', '#']).next().unwrap_or_default();
        let shown = (!text.contains('@')).then(|| without_query.escape_debug().to_string());
        let fail = |problem: &str| invalid_base_url(shown.as_deref(), variable, problem);
        let url = Url::parse(text.trim()).map_err(|error| fail(&format!("cannot be read: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(fail("is not one of http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(fail(
                "has a user or a password in it, which would get into logs; give the key in its own place, a file or \
                 the environment",
            ));
        }
        if url.path().trim_end_matches('/').ends_with("/chat/completions") {
            return Err(fail("is already that of a request; leave out /chat/completions"));
        }
        Ok(BaseUrl(url))
    }

    /// The name of the host.
    pub(in crate::model) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Whether requests to it use TLS.
    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The address of this path beneath it; what stands behind a `?` stays there.
    pub(super) fn join(&self, path: &[&str]) -> Url {
        let mut url = self.0.clone();
        // Only an address without a host has no path, and those are refused.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url.set_fragment(None);
        url
    }

    /// The string with a slash at its end, unless something stands behind a `?`.
    #[cfg(feature = "providers")]
    pub(in crate::model) fn without_query(&self) -> Option<String> {
        self.0.query().is_none().then(|| self.join(&[""]).to_string())
    }

    /// As errors and logs show it.
    pub(in crate::model) fn shown(&self) -> String {
        shown(&self.0).trim_end_matches('/').to_owned()
    }
}

/// An address without what stands behind a `?`, where some servers take keys.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

// Excerpts of server responses, for error messages.

/// The beginning of a string in one line, with nothing in it that a terminal would obey.
pub(super) fn excerpt(text: &str, most_characters: usize) -> String {
    let text = text.trim();
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == most_characters {
            shown.push('…');
            break;
        }
        // Not quotes, which `escape_debug` would escape as well, but all that is invisible or turns the direction.
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod base_url_tests {
    use super::*;

    fn refused(text: &str) -> String {
        BaseUrl::parse(text, Some("VARIABLE")).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_path_goes_between_base_and_query_with_one_slash() {
        for base in ["http://h:1/v1", "http://h:1/v1/", " http://h:1/v1\n"] {
            let base = BaseUrl::parse(base, None).unwrap();
            assert_eq!(base.join(&["chat", "completions"]).as_str(), "http://h:1/v1/chat/completions");
            assert_eq!(base.shown(), "http://h:1/v1");
        }
        let azure = BaseUrl::parse("https://h/openai?api-version=7#x", None).unwrap();
        assert_eq!(azure.join(&["chat"]).as_str(), "https://h/openai/chat?api-version=7");
        assert_eq!(azure.shown(), "https://h/openai");
        assert_eq!(BaseUrl::parse("http://h", None).unwrap().join(&["chat"]).as_str(), "http://h/chat");
    }

    #[test]
    fn what_is_no_address_of_a_server_is_refused() {
        let scheme = "is not one of http:// or https://";
        for (text, problem) in [
            ("", "cannot be read: relative URL without a base"),
            ("127.0.0.1:8080/v1", "cannot be read: relative URL without a base"),
            ("localhost:8080", scheme),
            ("ftp://h/v1", scheme),
            ("http://", "cannot be read: empty host"),
            ("file:///v1", scheme),
            ("http://h/v1/chat/completions/", "is already that of a request; leave out /chat/completions"),
        ] {
            let advice = "it is written as in http://127.0.0.1:8080/v1";
            let message = format!("the base URL `{text}` (VARIABLE) {problem}; {advice}");
            assert_eq!(refused(text), message);
        }
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        let message = "the base URL (VARIABLE) has a user or a password in it, which would get into logs; give the key \
                       in its own place, a file or the environment; it is written as in http://127.0.0.1:8080/v1";
        for text in ["http://me:hunter2@h/v1", "http://hunter2@h/v1"] {
            assert_eq!(refused(text), message);
        }
        let message = refused("http//me:hunter2@h");
        assert!(message.contains("cannot be read") && !message.contains("hunter2"), "{message}");
    }

    #[test]
    fn a_query_is_not_repeated() {
        for text in [
            "http://h/v1/chat/completions?key=hunter2",
            "h/v1?key=hunter2",
            "http://h:x/?hunter2",
            "ftp://h#hunter2",
        ] {
            assert!(!refused(text).contains("hunter2"), "{text}");
        }
    }
}

#[cfg(test)]
mod excerpt_tests {
    use super::*;

    #[test]
    fn a_terminal_has_nothing_to_obey() {
        assert_eq!(excerpt(" a\"b'\\\n\x1b[31m\u{202e}é日 ", 99), r#"a"b'\\n\u{1b}[31m\u{202e}é日"#);
    }

    #[test]
    fn long_strings_are_cut_between_characters() {
        assert_eq!(excerpt("éééé", 4), "éééé");
        assert_eq!(excerpt("ééééé", 4), "éééé…");
    }
}
