//! Keys that the server refuses: the run ends there, and resumes when they are fixed.

use serde_json::{Value as Json, json};

use errorbar_test_support::ProgramOutput;

use crate::desk::Desk;
use crate::server::Server;

const KEY: &str = "sk-right-4711";
/// What the server answers to requests without a key, and the advice.
const UNAUTHORIZED: &str = "answered 401 Unauthorized: Incorrect API key provided: . It is not sk-right-4711; check the \
                            key, in OPENAI_API_KEY or the key file";
/// More samples are under way than there are connections, so that some wait for one when the refusal comes.
const CROWD: [&str; 4] = ["--max-connections", "4", "--max-samples", "30"];

/// The header of the log of a desk, and how many samples it has.
pub(crate) fn log(desk: &Desk) -> (Json, usize) {
    let dump = |arguments: &[&str]| {
        let dumped = desk.command(&[&["log", "dump", &log_path(desk)], arguments].concat()).output();
        ProgramOutput::from(dumped.unwrap()).stdout
    };
    (serde_json::from_str(&dump(&[])).unwrap(), dump(&["--samples"]).lines().count())
}

pub(crate) fn log_path(desk: &Desk) -> String {
    let log = std::fs::read_dir(desk.folder.path().join("logs")).unwrap().next().unwrap().unwrap().path();
    log.to_str().unwrap().to_owned()
}

/// The only error of a run, with its message.
fn error_of(ran: &ProgramOutput) -> &str {
    let mut errors = ran.stderr.lines().filter(|line| line.starts_with("error: "));
    let error = errors.next().expect(&ran.stderr);
    assert_eq!(errors.next(), None);
    assert!(!ran.stderr.contains("sample \"q"), "{}", ran.stderr);
    error
}

#[test]
fn a_key_that_is_refused_ends_the_run_and_a_right_one_goes_on_with_it() {
    let desk = Desk::new();
    let server = Server::start(&["--require-key", KEY, "--delay-ms", "20"]);
    let ran = desk.eval(&server, &[&CROWD[..], &["--quiet"]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!((1..=4).contains(&server.requests()), "{} requests", server.requests());
    let problem = format!("{}{UNAUTHORIZED}", server.request());
    assert_eq!(
        error_of(&ran),
        format!("error: sums: ended after 0 of 30 samples, because openai/unsure rejects the key: {problem}")
    );
    let hint = ran.stderr.lines().last().unwrap();
    assert!(hint.starts_with("hint: when the key is fixed, resume it with `"), "{}", ran.stderr);
    let (header, samples) = log(&desk);
    assert_eq!((&header["status"], samples), (&json!("error"), 0));
    assert_eq!(header["error"]["message"], format!("openai/unsure refuses the key: {problem}"));

    let log = log_path(&desk);
    let base_url = server.base_url();
    let mut resumed = desk.command(&["eval", "--resume", &log, "--base-url", &base_url, "--format", "json"]);
    let results = ProgramOutput::from(resumed.env("OPENAI_API_KEY", KEY).output().unwrap()).results();
    assert_eq!(results["scores"][0]["metrics"]["accuracy"]["value"], json!(20.0 / 30.0));
}

#[test]
fn a_key_that_is_refused_later_leaves_what_is_done() {
    let desk = Desk::new();
    let server = Server::start(&[]);
    let ran = desk.eval(&server, &["--limit", "7", "--run-token-limit", "1", "--max-samples", "1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let (_, done) = log(&desk);
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    drop(server);
    let server = Server::start(&["--port", &port, "--fault", "403"]);
    let resumed = ["eval", "--resume", &log_path(&desk), "--base-url", &server.base_url()];
    let ran = ProgramOutput::from(desk.command(&resumed).output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(
        error_of(&ran),
        format!(
            "error: sums: ended after {done} of 7 samples, because openai/unsure rejects the key: {}answered 403 \
             Forbidden: Your key may not use this; check the key, in OPENAI_API_KEY or the key file",
            server.request()
        )
    );
    assert_eq!(log(&desk).1, done);
    drop(server);
}

#[test]
fn a_grader_that_refuses_the_key_ends_the_run_too() {
    let desk = Desk::new();
    let task = "dataset = \"sums.jsonl\"\nscorer = \"model_graded_qa\"\n";
    std::fs::write(desk.folder.path().join("sums.toml"), task).unwrap();
    let (server, grader) = (Server::start(&[]), Server::start(&["--require-key", KEY]));
    let role_url = format!("grader={}", grader.base_url());
    let roles = ["--model-role", "grader=openai/kind", "--role-base-url", &role_url];
    let ran = desk.eval(&server, &[&CROWD[..], &roles].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!((1..=4).contains(&grader.requests()), "{} requests", grader.requests());
    assert_eq!(
        error_of(&ran),
        format!(
            "error: sums: ended after 0 of 30 samples, because openai/kind rejects the key: {}{UNAUTHORIZED}",
            grader.request()
        )
    );
}

#[test]
fn a_prompt_that_is_refused_is_the_matter_of_its_sample() {
    let server = Server::start(&["--fault", "403-flagged"]);
    let ran = Desk::new().eval(&server, &[]);
    assert_eq!((ran.code, server.requests()), (Some(1), 30), "{}", ran.stderr);
    assert!(ran.stdout.contains("30 errored"), "{}", ran.stdout);
}
