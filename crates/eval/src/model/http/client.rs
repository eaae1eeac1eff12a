//! The connections of the whole process: models of one server share them.

use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use errorbar_core::{Error, Result};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use super::trust::TrustedCertificates;
use super::{BaseUrl, descriptors};
use crate::lock;

/// How long it may take to reach a server, of the time that the whole request has.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The client for a server, with or without TLS.
///
/// There are two because the one with TLS wants the certificates of the system, which a small container does not
/// have, and a server next door does not need.
///
/// Certificates in `ca_file` are trusted beside those of the system.
///
/// # Errors
/// No certificates on this machine, if the address needs them; a file that has none.
pub(in crate::model) fn shared(base: &BaseUrl, ca_file: Option<&Path>) -> Result<Client> {
    static PLAIN: OnceLock<Result<Client>> = OnceLock::new();
    static TLS: OnceLock<Result<Client>> = OnceLock::new();
    // Read and reported in any case: who names a file that is wrong should know.
    let trusted = ca_file.map(TrustedCertificates::read).transpose()?;
    if let Some(trusted) = trusted.filter(|_| base.is_https()) {
        trusting(trusted)
    } else if base.is_https() {
        TLS.get_or_init(|| build(builder(), "; is the package ca-certificates installed?")).clone()
    } else {
        PLAIN.get_or_init(|| build(builder().tls_certs_only([]), "")).clone()
    }
}

/// The client that trusts these certificates too; one for all models that do.
fn trusting(trusted: TrustedCertificates) -> Result<Client> {
    static CLIENTS: Mutex<Vec<(TrustedCertificates, Client)>> = Mutex::new(Vec::new());
    let mut clients = lock(&CLIENTS);
    if let Some((_, client)) = clients.iter().find(|(known, _)| *known == trusted) {
        return Ok(client.clone());
    }
    let config = trusted.clone().config();
    let config =
        config.map_err(|error| Error::custom(format!("the certificates cannot be used: {error}")))?;
    let client = build(builder().tls_backend_preconfigured(config), "")?;
    clients.push((trusted, client.clone()));
    Ok(client)
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
