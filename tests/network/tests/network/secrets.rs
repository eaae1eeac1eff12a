//! Keys get to the server, and nowhere else.

use std::path::{Path, PathBuf};

use errorbar_test_support::ProgramOutput;

use crate::desk::Desk;
use crate::server::Server;

const RIGHT: &str = "sk-right-4711";
const WRONG: &str = "sk-wrong-0815";

fn key_file(desk: &Desk, key: &str) -> PathBuf {
    let path = desk.folder.path().join("key.txt");
    std::fs::write(&path, format!("{key}\n")).unwrap();
    path
}

/// No output or log of a run contains the secret.
fn assert_hidden(desk: &Desk, ran: &ProgramOutput, secret: &str) {
    for text in desk.logs().iter().chain([&ran.stdout, &ran.stderr]) {
        assert!(!text.contains(secret), "{text}");
    }
    assert_eq!(desk.logs().len(), 1);
}

/// What the files of a folder hold, and of those in it.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![std::fs::read(path).unwrap()] })
        .collect()
}

#[test]
fn a_key_from_a_file_or_the_environment_is_sent_and_not_recorded() {
    for is_file in [true, false] {
        let desk = Desk::new();
        let server = Server::start(&["--require-key", RIGHT]);
        let (path, base_url) = (key_file(&desk, RIGHT), server.base_url());
        let arguments = ["eval", "sums.toml", "--model", "openai/m", "--base-url", &base_url];
        let mut command = desk.command(&arguments);
        command.args(["--cache", "--cache-dir", "cache"]);
        if is_file {
            command.arg("--api-key-file").arg(path).env("OPENAI_API_KEY", WRONG);
        } else {
            command.env("OPENAI_API_KEY", RIGHT);
        }
        let ran = ProgramOutput::from(command.output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_hidden(&desk, &ran, RIGHT);
        let cached = files(&desk.folder.path().join("cache"));
        let have = |secret: &str| {
            cached.iter().filter(|file| String::from_utf8_lossy(file).contains(secret)).count()
        };
        assert_eq!((have("ANSWER: 7"), have(RIGHT)), (1, 0));
    }
}

#[test]
fn a_key_that_the_server_repeats_in_its_refusal_is_not_passed_on() {
    let desk = Desk::new();
    let server = Server::start(&["--require-key", RIGHT]);
    let path = key_file(&desk, WRONG);
    let arguments = ["--max-connections", "1", "--api-key-file", path.to_str().unwrap()];
    let ran = desk.eval(&server, &arguments);
    assert_eq!((ran.code, server.requests()), (Some(1), 1));
    assert!(ran.stderr.contains("Incorrect API key provided: ***."), "{}", ran.stderr);
    assert!(desk.logs().concat().contains("Incorrect API key provided: ***."));
    assert_hidden(&desk, &ran, WRONG);
}

/// A key that is long enough to be taken out of answers, with characters that JSON may escape.
const LONG: &str = "sk/Right/0123456789+abcdef";

/// In whatever way JSON writes it, decoded once or twice.
fn assert_nowhere(text: &str) {
    let plain = text.replace('\\', "");
    let decoded = LONG.chars().fold(plain, |text, character| {
        let (lower, upper) =
            (format!("u{:04x}", u32::from(character)), format!("u{:04X}", u32::from(character)));
        text.replace(&lower, &character.to_string()).replace(&upper, &character.to_string())
    });
    assert!(!decoded.contains("0123456789"), "{text}");
}

#[test]
fn a_key_that_the_server_repeats_in_any_way_gets_nowhere() {
    for way in ["plain", "slashes", "unicode", "mixed", "nested"] {
        for (fault, code, message) in [
            (&[][..], 0, "ANSWER: 7 Your key is ***."),
            (&["--require-key", "another"], 1, "Incorrect API key provided: ***"),
            (&["--fault", "key-cut-off"], 1, "No such key: ***"),
        ] {
            let desk = Desk::new();
            let server = Server::start(&[&["--echo-key", way], fault].concat());
            let path = key_file(&desk, LONG);
            let arguments = ["--api-key-file", path.to_str().unwrap(), "--cache", "--cache-dir", "cache"];
            let ran = desk.eval(&server, &[&arguments[..], &["--logprobs", "--limit", "6"]].concat());
            assert_eq!(ran.code, Some(code), "{way} {fault:?}: {}", ran.stderr);
            let logs = desk.logs();
            assert!(logs.concat().contains(message), "{way} {fault:?}: {logs:?}");
            let cached = files(&desk.folder.path().join("cache"));
            assert_eq!(cached.is_empty(), code != 0);
            let cached = cached.iter().map(|file| String::from_utf8_lossy(file).into_owned());
            for text in logs.into_iter().chain(cached).chain([ran.stdout, ran.stderr]) {
                assert_nowhere(&text);
                // The bytes of `/Ri`.
                let numbers: String = text.split_whitespace().collect();
                assert!(!numbers.contains("47,82,105"), "{way} {fault:?}: {text}");
            }
        }
    }
}

/// The report of a sample whose request has a query, which the server does not know.
fn nothing_there(server: &Server) -> String {
    format!(
        "sample \"q0\", epoch 1: the solver failed: {}answered 404 Not Found: There is nothing at \
         /v1/chat/completions?key=***; check that the server has a model `m`, and the base URL, which often ends in /v1",
        server.request()
    )
}

#[test]
fn a_password_in_an_address_is_refused_and_a_query_is_not_recorded() {
    let desk = Desk::new();
    let server = Server::start(&[]);
    let with_password = format!("http://me:{WRONG}@{}/v1", server.address);
    let ran =
        desk.command(&["eval", "sums.toml", "--model", "openai/m", "--base-url", &with_password]).output();
    let ran = ProgramOutput::from(ran.unwrap());
    assert_eq!((ran.code, server.requests(), desk.logs().len()), (Some(2), 0, 0));
    assert_eq!(
        ran.stderr,
        "error: sums.toml: the base URL has a user or a password in it, which would get into logs; give the key in its \
         own place, a file or the environment; it is written as in http://127.0.0.1:8080/v1\n"
    );

    // The path of the request ends in the query, which the server does not know.
    let with_query = format!("{}?key={WRONG}", server.base_url());
    let arguments = ["eval", "sums.toml", "--model", "openai/m", "--base-url", &with_query, "--limit", "1"];
    let ran = ProgramOutput::from(desk.command(&arguments).output().unwrap());
    assert!(ran.stderr.lines().any(|line| line == nothing_there(&server)), "{}", ran.stderr);
    assert_hidden(&desk, &ran, WRONG);
}

#[test]
fn a_run_on_a_server_with_a_query_is_resumed_if_it_is_given_again() {
    let desk = Desk::new();
    let server = Server::start(&[]);
    let with_query = format!("{}?key={WRONG}", server.base_url());
    // The server knows no queries, so the sample fails and is left to do.
    let eval = |arguments: &[&str]| {
        ProgramOutput::from(desk.command(&[&["eval"], arguments].concat()).output().unwrap())
    };
    eval(&["sums.toml", "--model", "openai/m", "--base-url", &with_query, "--limit", "1"]);
    let log = std::fs::read_dir(desk.folder.path().join("logs")).unwrap().next().unwrap().unwrap().path();
    let log = log.to_str().unwrap();
    let base_url = server.base_url();
    let changed = format!("error: {log} cannot be resumed: the task `sums` has changed since: its");
    for (arguments, code, line) in [
        (
            &["--resume", log][..],
            2,
            format!(
                "error: {log}: the log alone names the server {base_url} (of openai/m), and the key is not sent to a server \
                 that only a log names"
            ),
        ),
        (
            &["--resume", log, "--base-url", &base_url],
            2,
            format!("{changed} base URLs (what stands behind a `?` is in no log: give it again) differ"),
        ),
        (
            &["--resume", log, "--base-url", "http://127.0.0.1:1/v1?key=x"],
            2,
            format!("{changed} server is `{base_url}`, not `http://127.0.0.1:1/v1`"),
        ),
        (&["--resume", log, "--base-url", &with_query], 1, nothing_there(&server)),
    ] {
        let ran = eval(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.lines().any(|found| found == line), "{arguments:?}: {}", ran.stderr);
        assert_hidden(&desk, &ran, WRONG);
    }
}
