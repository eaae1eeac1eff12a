//! Servers with certificates that the system does not trust. Those here were made with openssl: one that signs itself and
//! names no host, as its defaults have it, and one that an authority has signed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_eval::scorers::includes;
use errorbar_eval::{
    CancelToken, FinishedRun, ModelErrorKind, PrepareError, Quiet, RunOptions, Sample, StopReason, Task,
    block_on, built_in_registry,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

/// A server that answers "yes" to everything, with this certificate; its address. It ends with the process.
fn server(certificate: &str) -> String {
    let chain = vec![CertificateDer::from_pem_file(data(&format!("{certificate}.pem"))).unwrap()];
    let key = PrivateKeyDer::from_pem_file(data(&format!("{certificate}.key"))).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = BufReader::new(StreamOwned::new(connection, stream.unwrap()));
            // A client that does not trust us hangs up.
            let _ = answer(&mut stream);
        }
    });
    address
}

fn answer(stream: &mut BufReader<StreamOwned<ServerConnection, std::net::TcpStream>>) -> std::io::Result<()> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? <= 2 {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    stream.read_exact(&mut vec![0; length])?;
    let body = r#"{"choices": [{"message": {"content": "yes"}}]}"#;
    let stream = stream.get_mut();
    write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
    stream.flush()
}

fn run(server: &str, ca_file: Option<PathBuf>, folder: &Path) -> Result<FinishedRun, PrepareError> {
    let task = Task::new([Sample::new("a").target("yes"), Sample::new("b").target("yes")]).scorer(includes());
    let options = RunOptions {
        model: Some("openai/m".into()),
        base_url: Some(server.to_owned()),
        ca_file,
        log_dir: folder.to_owned(),
        ..RunOptions::default()
    };
    let prepared = task.prepare(&options, &built_in_registry())?;
    Ok(block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap())
}

#[test]
fn a_certificate_that_is_not_trusted_ends_the_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let signed = server("signed");
    for ca_file in [None, Some(data("self.pem"))] {
        let finished = run(&signed, ca_file, folder.path()).unwrap();
        assert!(
            matches!(finished.stopped, Some(StopReason::ModelFailed { kind: ModelErrorKind::Untrusted, .. })),
            "{:?}",
            finished.stopped
        );
        assert_eq!((finished.done, finished.failed), (0, 0), "nothing is wrong with the samples");
    }
}

#[test]
fn the_certificates_of_a_file_are_trusted() {
    let folder = tempfile::tempdir().unwrap();
    for (certificate, trusted) in
        [("signed", "authority.pem"), ("signed", "signed.pem"), ("self", "self.pem")]
    {
        let finished = run(&server(certificate), Some(data(trusted)), folder.path()).unwrap();
        assert_eq!((finished.done, finished.failed, &finished.stopped), (2, 0, &None), "{trusted}");
    }
}

#[test]
fn a_file_without_certificates_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (garbage, empty) = (folder.path().join("garbage"), folder.path().join("empty"));
    std::fs::write(&garbage, "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n").unwrap();
    std::fs::write(&empty, "").unwrap();
    for file in [data("self.key"), data("no such file"), garbage, empty] {
        // Also if the server needs none.
        for server in ["https://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"] {
            let error = run(server, Some(file.clone()), folder.path()).unwrap_err();
            assert!(error.to_string().contains(&file.display().to_string()), "{error}");
        }
    }
}
