//! Where requests go, and messages about them that hold no secret.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use reqwest::Url;

use super::base_url::shown;
use super::redact::redact_beginning;
use super::{ApiKey, BaseUrl, excerpt::excerpt};
use crate::model::ModelError;

/// An address that requests are sent to, with the key and the patience that they have.
pub(in crate::model) struct Address {
    url: Url,
    key: Option<ApiKey>,
    timeout: Duration,
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

    pub(super) fn url(&self) -> Url {
        self.url.clone()
    }

    /// The key, if there is one.
    pub(in crate::model) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// How long one request may take.
    pub(in crate::model) fn timeout(&self) -> Duration {
        self.timeout
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
        let as_sent =
            self.url.query().into_iter().flat_map(|query| query.split(['&', '=']).map(str::to_owned));
        let as_read = self.url.query_pairs().flat_map(|(key, value)| [key.into_owned(), value.into_owned()]);
        for part in as_sent.chain(as_read) {
            // Shorter than any key, and likely to be in a string by chance.
            if part.len() >= 8 {
                text = redact_beginning(&text, &part).unwrap_or(text);
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
            return ModelError::permanent(self.describe(&format!(
                "does not trust {host}: {cause}; a certificate of your own is trusted if SSL_CERT_FILE names it"
            )))
            .without_response();
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
    let mut cause: &dyn StdError = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
