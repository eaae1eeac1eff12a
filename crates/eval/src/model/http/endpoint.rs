//! One address of a server that requests are sent to.

use std::time::Duration;

use errorbar_core::Result;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, StatusCode};

use super::{Address, ApiKey, BaseUrl, client};
use crate::model::ModelError;

/// An answer that is longer is none.
const MOST_BYTES: usize = 16 << 20;

/// The maximum size of an error that is read.
const MOST_ERROR_BYTES: usize = 64 << 10;

/// An address that requests are sent to, and the connections that they go over.
#[derive(Debug)]
pub(in crate::model) struct Endpoint {
    client: Client,
    address: Address,
}

/// What a server answered.
pub(in crate::model) struct Reply {
    pub(in crate::model) status: StatusCode,
    pub(in crate::model) headers: HeaderMap,
    pub(in crate::model) body: Vec<u8>,
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
        Ok(Endpoint { client: client::shared(base)?, address: Address::new(base, path, key, timeout) })
    }

    /// Where requests go.
    pub(in crate::model) fn address(&self) -> &Address {
        &self.address
    }

    /// Sends JSON and returns the answer, whatever its status.
    ///
    /// # Errors
    /// No whole answer: the server was not reached, was too slow, dropped the connection, or did not stop talking.
    pub(in crate::model) async fn post(&self, body: Vec<u8>) -> Result<Reply, ModelError> {
        let mut request = self
            .client
            .post(self.address.url())
            .timeout(self.address.timeout())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(key) = self.address.key() {
            let header =
                key.header().map_err(|_| ModelError::permanent("the key cannot be sent in a header"))?;
            request = request.header(AUTHORIZATION, header);
        }
        let mut response = request.send().await.map_err(|error| self.address.failed(error))?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let most = if status.is_success() { MOST_BYTES } else { MOST_ERROR_BYTES };
        let (body, failure) = read_body(response, most).await;
        if status.is_success() {
            failure.map_or(Ok(()), |error| Err(self.address.failed(error)))?;
            if body.len() > MOST_BYTES {
                return Err(ModelError::permanent(self.address.describe(&format!(
                    "answered with more than {} MB, which no chat completion has; is it the right server?",
                    MOST_BYTES >> 20
                ))));
            }
        }
        let body = match self.address.key() {
            Some(key) => key.hide_in_answer(body),
            None => body,
        };
        Ok(Reply { status, headers, body })
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
