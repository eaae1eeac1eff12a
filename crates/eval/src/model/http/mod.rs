//! Talking to servers: where they are, the key they want, one request, and what became of it.
//!
//! Nothing here knows what is in a request or an answer; that is for the providers.

mod address;
mod key;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use errorbar_core::{Error, Result};
use errorbar_files::read_small;
use jiff::{Span, SpanRelativeTo};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::lock;

#[cfg(feature = "providers")]
pub(super) use address::invalid_base_url;
pub(super) use address::{Address, BaseUrl, Reply};
pub(super) use key::ApiKey;

// The connections of the whole process: models of one server share them.

/// How long it may take to reach a server, of the time that the whole request has.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The client for a server, with or without TLS.
///
/// There is another one without because the one with TLS wants the certificates of the system, which a small container does not
/// have, and a server next door does not need.
///
/// Certificates in `ca_file` are trusted beside those of the system.
///
/// # Errors
/// No certificates on this machine, if the address needs them; a file that has none.
pub(in crate::model) fn shared_client(base: &BaseUrl, ca_file: Option<&Path>) -> Result<Client> {
    /// By whether they use TLS, and what they trust beside the system.
    static CLIENTS: Mutex<Vec<((bool, Certificates), Client)>> = Mutex::new(Vec::new());
    // Read and reported in any case: who names a file that is wrong should know.
    let mut trusted = ca_file.map(read_certificates).transpose()?.unwrap_or_default();
    if !base.is_https() {
        trusted.clear();
    }
    let kind = (base.is_https(), trusted);
    let mut clients = lock(&CLIENTS);
    if let Some((_, client)) = clients.iter().find(|(known, _)| *known == kind) {
        return Ok(client.clone());
    }
    let client = match &kind {
        (false, _) => build(builder().tls_certs_only([]), ""),
        (true, trusted) if trusted.is_empty() => {
            build(builder(), "; is the package ca-certificates installed?")
        }
        (true, trusted) => {
            let unusable = |error| Error::custom(format!("the certificates cannot be used: {error}"));
            let config = trusting_config(trusted.clone()).map_err(unusable)?;
            build(builder().tls_backend_preconfigured(config), "")
        }
    }?;
    clients.push((kind, client.clone()));
    Ok(client)
}

fn builder() -> ClientBuilder {
    // Other code in the process may have chosen one before, which does as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("errorbar/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(most_idle())
        .tcp_nodelay(true)
        // A redirect could send the key to any server.
        .redirect(Policy::none())
        // The caller decides whether to retry.
        .retry(reqwest::retry::never())
}

fn build(builder: ClientBuilder, advice: &str) -> Result<Client> {
    builder.build().map_err(|error| {
        let cause = address::cause(&error);
        Error::custom(format!("connections to servers cannot be set up: {cause}{advice}"))
    })
}

/// Certificates that a user trusts beside those of the system.
type Certificates = Vec<CertificateDer<'static>>;

/// Reads certificates in PEM, or one in DER.
///
/// # Errors
/// A file that cannot be read, or has no certificate.
fn read_certificates(path: &Path) -> Result<Certificates> {
    let refused = |problem: String| {
        Error::custom(format!("cannot read the certificates in {}: {problem}", path.display()))
    };
    let bytes = read_small(path).map_err(|error| refused(error.to_string()))?;
    let certificates = match bytes.first() {
        // A sequence, which is how a certificate starts in DER.
        Some(0x30) => vec![CertificateDer::from(bytes)],
        _ => {
            let all: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
            all.map_err(|error| refused(error.to_string()))?
        }
    };
    if certificates.is_empty() {
        let problem = "it has none; a certificate starts with -----BEGIN CERTIFICATE-----";
        return Err(refused(problem.to_owned()));
    }
    Ok(certificates)
}

/// The configuration of connections that trust them, beside those of the system.
fn trusting_config(certificates: Certificates) -> std::result::Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let inner = Verifier::new_with_extra_roots(certificates.iter().cloned(), Arc::clone(&provider))?;
    let verifier = Arc::new(TrustingVerifier { inner, certificates });
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// Trusts what the system does, what is signed by the given certificates, and these themselves.
///
/// A certificate that signs itself is an authority by the defaults of the common tools, and no authority may be that of a
/// server; often it names no host either. Who names the very certificate of a server means that server, and the
/// server must still prove that it has its key.
#[derive(Debug)]
struct TrustingVerifier {
    inner: Verifier,
    certificates: Certificates,
}

impl ServerCertVerifier for TrustingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        if self.certificates.iter().any(|trusted| trusted == end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

// How many files and connections this process may have open.
//
// A process without a descriptor left can neither connect nor open a file. So connections get no more than there are,
// less a reserve for the log, the cache, the runtime and the names of servers that are looked up.

/// Descriptors for anything but connections, if there are that many.
const RESERVE: usize = 128;

/// The maximum number of idle connections: more than are used at once, as a new connection for each request would
/// take longer than many a request.
const MOST_IDLE: usize = 1024;

/// Of a number of connections that are wanted at once, how many this process can have. Allows it more open files, as far
/// as the system lets it, if that is needed.
pub fn allow_connections(wanted: usize) -> usize {
    match max_open_files() {
        Some(limit) if connections(limit) < wanted => {
            let limit = raise_limit().unwrap_or(limit);
            wanted.min(connections(limit)).max(1)
        }
        _ => wanted,
    }
}

/// How many files this process may have open, if there is a limit.
pub fn max_open_files() -> Option<usize> {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let limit: Option<u64> = None;
    usize::try_from(limit?).ok()
}

/// The maximum number of idle connections to one server.
pub(super) fn most_idle() -> usize {
    max_open_files().map_or(MOST_IDLE, |limit| (for_connections(limit) / 4).clamp(1, MOST_IDLE))
}

fn for_connections(limit: usize) -> usize {
    limit - RESERVE.min(limit / 2)
}

/// Half of them: a request that finds no idle connection opens one, and takes another that becomes idle meanwhile, so
/// that there may be twice as many as are in use. And those at other servers stay idle for a while.
fn connections(limit: usize) -> usize {
    for_connections(limit) / 2
}

/// Allows as many open files as the system lets us; how many those are.
#[cfg(unix)]
fn raise_limit() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Some systems take no infinity here, and then it stays as it is.
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).ok()?;
    Some(max_open_files().unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn raise_limit() -> Option<usize> {
    None
}

// When a server allows a retry, by its headers.

/// The longest wait for one answer, in seconds.
const LONGEST: f64 = 3600.0;

/// How long to wait before a retry, if the server sets it: `retry-after-ms`, else `Retry-After` with seconds or a date.
pub(in crate::model) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let milliseconds = || seconds(text(headers, "retry-after-ms")?.parse::<f64>().ok()? / 1e3);
    milliseconds().or_else(|| {
        let text = text(headers, RETRY_AFTER.as_str())?;
        let date = || httpdate::parse_http_date(text).ok()?.duration_since(now).ok();
        duration(text).or_else(|| seconds(date()?.as_secs_f64()))
    })
}

/// When all rate limits are reset, if the server reports it.
pub(in crate::model) fn limit_reset(headers: &HeaderMap) -> Option<Duration> {
    let names = ["x-ratelimit-reset-requests", "x-ratelimit-reset-tokens"];
    names.into_iter().filter_map(|name| duration(text(headers, name)?)).max()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// What makes sense as a time to wait.
fn seconds(seconds: f64) -> Option<Duration> {
    let makes_sense = seconds.is_finite() && seconds > 0.0;
    makes_sense.then(|| Duration::from_secs_f64(seconds.min(LONGEST)))
}

/// `12`, `0.5`, `1m30s`, `500ms`; a number without a unit is in seconds.
fn duration(text: &str) -> Option<Duration> {
    let days = SpanRelativeTo::days_are_24_hours();
    let with_units = || Some(text.parse::<Span>().ok()?.to_duration(days).ok()?.as_secs_f64());
    seconds(text.parse().ok().or_else(with_units)?)
}

#[cfg(test)]
mod descriptors_tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_the_rest() {
        for limit in [16, 64, 256, 1024, 65536] {
            assert!(connections(limit) >= limit / 4, "{limit}");
            assert!(2 * connections(limit) + RESERVE.min(limit / 2) <= limit, "{limit}");
        }
        assert_eq!(connections(1024), 448);
        assert_eq!(allow_connections(1), 1);
    }
}

#[cfg(test)]
mod retry_after_tests {
    use std::time::UNIX_EPOCH;

    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    /// 2026-10-21 07:28:00 UTC.
    const NOW: u64 = 1_792_567_680;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    fn wait(pairs: &[(&'static str, &str)]) -> Option<f64> {
        let now = UNIX_EPOCH + Duration::from_secs(NOW);
        retry_after(&headers(pairs), now).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn seconds_dates_and_durations_are_understood() {
        let cases = [
            ("7", Some(7.0)),
            (" 0.25 ", Some(0.25)),
            ("1m30s", Some(90.0)),
            ("500ms", Some(0.5)),
            ("Wed, 21 Oct 2026 07:28:30 GMT", Some(30.0)),
            ("Wed, 21 Oct 2026 09:28:00 GMT", Some(3600.0)),
            ("99999999999999999999", Some(3600.0)),
            ("Wed, 21 Oct 2026 07:27:00 GMT", None),
            ("0", None),
            ("-5", None),
            ("", None),
            ("soon", None),
            ("inf", None),
            ("nan", None),
            ("5 6", None),
            ("1m30", None),
            ("1.2.3", None),
        ];
        for (text, expected) in cases {
            assert_eq!(wait(&[("retry-after", text)]), expected, "{text:?}");
        }
    }

    #[test]
    fn milliseconds_go_first_if_they_make_sense() {
        assert_eq!(wait(&[("retry-after-ms", "1500"), ("retry-after", "9")]), Some(1.5));
        for nonsense in ["x", "-1", "0", "NaN", "inf"] {
            assert_eq!(wait(&[("retry-after-ms", nonsense), ("retry-after", "9")]), Some(9.0), "{nonsense}");
        }
    }

    #[test]
    fn of_several_limits_the_last_one_to_be_lifted_counts() {
        let both = headers(&[("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "6m0s")]);
        assert_eq!(limit_reset(&both), Some(Duration::from_secs(360)));
        assert_eq!(limit_reset(&headers(&[("x-ratelimit-reset-requests", "0s")])), None);
        assert_eq!(wait(&[("x-ratelimit-reset-tokens", "6m0s")]), None);
    }
}
