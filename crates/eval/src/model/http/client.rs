//! The connections of the whole process: models of one server share them.

use std::sync::OnceLock;
use std::time::Duration;

use errorbar_core::{Error, Result};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use super::{BaseUrl, descriptors};

/// How long it may take to reach a server, of the time that the whole request has.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The client for a server, with or without TLS.
///
/// There are two because the one with TLS wants the certificates of the system, which a small container does not
/// have, and a server next door does not need.
///
/// # Errors
/// No certificates on this machine, if the address needs them.
pub(in crate::model) fn shared(base: &BaseUrl) -> Result<Client> {
    static PLAIN: OnceLock<Result<Client>> = OnceLock::new();
    static TLS: OnceLock<Result<Client>> = OnceLock::new();
    if base.is_https() {
        TLS.get_or_init(|| build(builder(), "; is the package ca-certificates installed?")).clone()
    } else {
        PLAIN.get_or_init(|| build(builder().tls_certs_only([]), "")).clone()
    }
}

fn builder() -> ClientBuilder {
    // Other code in the process may have chosen one before, which does as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("errorbar/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(descriptors::most_idle())
        .tcp_nodelay(true)
        // A redirect could send the key to any server.
        .redirect(Policy::none())
        // The caller decides whether to retry.
        .retry(reqwest::retry::never())
}

fn build(builder: ClientBuilder, advice: &str) -> Result<Client> {
    builder.build().map_err(|error| {
        let cause = super::address::cause(&error);
        Error::custom(format!("connections to servers cannot be set up: {cause}{advice}"))
    })
}
