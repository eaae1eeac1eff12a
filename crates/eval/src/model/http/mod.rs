//! Talking to servers: where they are, the key they want, one request, and what became of it.
//!
//! Nothing here knows what is in a request or an answer; that is for the providers.

mod address;
mod base_url;
mod client;
mod descriptors;
mod endpoint;
mod excerpt;
mod key;
mod redact;
mod retry_after;
mod trust;

pub(super) use address::Address;
pub(super) use base_url::BaseUrl;
#[cfg(feature = "providers")]
pub(super) use client::shared as shared_client;
pub use descriptors::{allow_connections, max_open_files};
pub(super) use endpoint::{Endpoint, Reply};
pub(super) use key::ApiKey;
pub(super) use retry_after::{limit_reset, retry_after};
