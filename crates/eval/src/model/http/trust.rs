//! Certificates that a user trusts beside those of the system.

use std::path::Path;
use std::sync::Arc;

use errorbar_core::{Error, Result};
use errorbar_files::read_small;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// The certificates of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TrustedCertificates {
    certificates: Vec<CertificateDer<'static>>,
}

impl TrustedCertificates {
    /// Reads certificates in PEM, or one in DER.
    ///
    /// # Errors
    /// A file that cannot be read, or has no certificate.
    pub(super) fn read(path: &Path) -> Result<Self> {
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
        Ok(TrustedCertificates { certificates })
    }

    /// The configuration of connections that trust them, beside those of the system.
    pub(super) fn config(self) -> std::result::Result<ClientConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = TrustingVerifier::new(self.certificates, &provider)?;
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        Ok(config.with_no_client_auth())
    }
}

/// Trusts what the system does, what is signed by the given certificates, and these themselves.
///
/// A certificate that signs itself is an authority by the defaults of the common tools, and no authority may be that of a
/// server; often it names no host either. Who names the very certificate of a server means that server, and the
/// server must still prove that it has its key.
#[derive(Debug)]
struct TrustingVerifier {
    inner: Verifier,
    certificates: Vec<CertificateDer<'static>>,
}

impl TrustingVerifier {
    fn new(
        certificates: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> std::result::Result<Self, rustls::Error> {
        let inner = Verifier::new_with_extra_roots(certificates.iter().cloned(), Arc::clone(provider))?;
        Ok(TrustingVerifier { inner, certificates })
    }
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
