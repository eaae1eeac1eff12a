//! One address of a server that requests are sent to.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use errorbar_core::Result;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, StatusCode, Url};

use super::base_url::shown;
use super::{ApiKey, BaseUrl, client, excerpt::excerpt};
use crate::model::ModelError;

/// An answer that is longer is none.
const MOST_BYTES: usize = 64 << 20;

/// More of an error nobody reads.
const MOST_ERROR_BYTES: usize = 64 << 10;

/// An address that requests are sent to, with the key and the patience that they have.
pub(in crate::model) struct Endpoint {
    client: Client,
    url: Url,
    key: Option<ApiKey>,
    timeout: Duration,
}

/// What a server answered.
pub(in crate::model) struct Reply {
    pub(in crate::model) status: StatusCode,
    pub(in crate::model) headers: HeaderMap,
    pub(in crate::model) body: Vec<u8>,
}

/// Neither the key nor what may be one.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &shown(&self.url))
            .field("key", &self.key)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The path beneath the base URL.
    ///
    /// # Errors
    /// No certificates on this machine, if the address needs them.
    pub(in crate::model) fn new(
        base: &BaseUrl,
        path: &[&str],
        key: Option<ApiKey>,
        timeout: Duration,
    ) -> Result<Self> {
        let url = base.join(path);
        Ok(Endpoint { client: client::shared(url.scheme() == "https")?, url, key, timeout })
    }

    /// Sends JSON and returns the answer, whatever its status.
    ///
    /// # Errors
    /// No whole answer: the server was not reached, was too slow, dropped the connection, or did not stop talking.
    pub(in crate::model) async fn post(&self, body: Vec<u8>) -> Result<Reply, ModelError> {
        let mut request = self
            .client
            .post(self.url.clone())
            .timeout(self.timeout)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(key) = &self.key {
            let header =
                key.header().map_err(|_| ModelError::permanent("the key cannot be sent in a header"))?;
            request = request.header(AUTHORIZATION, header);
        }
        let mut response = request.send().await.map_err(|error| self.failed(error))?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let body = if status.is_success() { self.whole(response).await? } else { beginning(response).await };
        let body = match &self.key {
            Some(key) => key.hide_in_answer(body),
            None => body,
        };
        Ok(Reply { status, headers, body })
    }

    /// The body, of which not more is read than an answer can have.
    async fn whole(&self, mut response: Response) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(error))? {
            if body.len() + chunk.len() > MOST_BYTES {
                return Err(ModelError::permanent(self.says(&format!(
                    "answered with more than {} MB, which no chat completion has; is it the right server?",
                    MOST_BYTES >> 20
                ))));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// A sentence about a request to this address.
    pub(in crate::model) fn says(&self, what: &str) -> String {
        format!("POST {} {what}", shown(&self.url))
    }

    /// The beginning of what the server said: in one line, and without what may be secret, which servers repeat.
    pub(in crate::model) fn quote(&self, text: &str, most_characters: usize) -> String {
        let mut text = text.to_owned();
        if let Some(key) = &self.key {
            text = key.hide_in(&text);
        }
        let as_sent =
            self.url.query().into_iter().flat_map(|query| query.split(['&', '=']).map(str::to_owned));
        let as_read = self.url.query_pairs().flat_map(|(key, value)| [key.into_owned(), value.into_owned()]);
        for part in as_sent.chain(as_read) {
            // Shorter than any key, and likely to be in a text by chance.
            if part.len() >= 8 {
                text = text.replace(&part, "***");
            }
        }
        excerpt(&text, most_characters)
    }

    /// What kept an answer from coming. Most of it passes, as far as one can tell from here.
    fn failed(&self, error: reqwest::Error) -> ModelError {
        // The address is shown by us, without what may be a key.
        let error = error.without_url();
        let cause = self.quote(&cause(&error), 300);
        let host = self.url.host_str().unwrap_or_default();
        if is_about_certificate(&error) {
            return ModelError::permanent(self.says(&format!(
                "does not trust {host}: {cause}; a certificate of your own is trusted if SSL_CERT_FILE names it"
            )));
        }
        ModelError::transient(if error.is_connect() {
            let port = self.url.port_or_known_default().unwrap_or_default();
            let tls = if self.url.scheme() == "https" { ", and speak TLS" } else { "" };
            self.says(&format!("did not reach {host}:{port}: {cause}; does the server run there{tls}?"))
        } else if error.is_timeout() {
            let seconds = self.timeout.as_secs_f64();
            self.says(&format!(
                "got no whole answer within {seconds} s; a slow server needs a longer --timeout"
            ))
        } else {
            self.says(&format!("got no whole answer: {cause}"))
        })
    }
}

/// Whether a server is not who it says, or nobody we know.
fn is_about_certificate(error: &(dyn StdError + 'static)) -> bool {
    if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
        return true;
    }
    // An error of the system holds others, and passes over them when it names its source.
    let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    held.map(|held| held as &(dyn StdError + 'static)).or(error.source()).is_some_and(is_about_certificate)
}

/// As much of the body as there is, but not more than an error message needs.
async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MOST_ERROR_BYTES {
            break;
        }
    }
    body
}

/// What is at the bottom of an error; what is above only says that something went wrong.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn StdError = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
