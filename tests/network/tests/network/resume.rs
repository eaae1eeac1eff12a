//! The user who resumes a run names its servers: a key is not sent to an address that only a log names.

use errorbar_test_support::ProgramOutput;

use crate::access::log_path;
use crate::desk::Desk;
use crate::server::Server;

const KEY: &str = "sk-of-the-environment-4711";

/// A run that was ended early, on a server that has received requests by then.
fn unfinished(server: &Server) -> Desk {
    let desk = Desk::new();
    let ran = desk.eval(server, &["--run-token-limit", "1", "--max-samples", "1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    desk
}

/// Runs a command with a key in the environment.
fn with_key(desk: &Desk, arguments: &[&str]) -> ProgramOutput {
    ProgramOutput::from(desk.command(arguments).env("OPENAI_API_KEY", KEY).output().unwrap())
}

/// The command in the quotes of a message.
fn quoted(stderr: &str) -> Vec<String> {
    let command =
        stderr.split('`').find(|part| part.contains(" eval ") && part.contains("--resume ")).expect(stderr);
    command.split(' ').skip(1).map(str::to_owned).collect()
}

#[test]
fn a_key_is_not_sent_to_a_server_that_only_the_log_names() {
    let server = Server::start(&[]);
    let (desk, base_url) = (unfinished(&server), server.base_url());
    let (requests, log) = (server.requests(), log_path(&desk));
    for task in [&[][..], &["sums.toml"]] {
        let ran = with_key(&desk, &[&["eval"], task, &["--resume", &log]].concat());
        assert_eq!((ran.code, server.requests()), (Some(2), requests), "{}", ran.stderr);
        let error = format!(
            "error: {log}: the log alone names the server {base_url} (of openai/unsure), and the key is not sent to a \
             server that only a log names"
        );
        assert_eq!(ran.stderr.lines().nth(1), Some(error.as_str()), "{}", ran.stderr);
        let given = [task, &["--resume", &log, "--base-url", &base_url]].concat().join(" ");
        assert_eq!(quoted(&ran.stderr).join(" "), format!("eval {given}"));
    }
    // Another server than that of the log is no better.
    let other = Server::start(&[]);
    let ran = with_key(&desk, &["eval", "--resume", &log, "--base-url", &other.base_url()]);
    assert_eq!((ran.code, server.requests(), other.requests()), (Some(2), requests, 0), "{}", ran.stderr);
    let error = format!(
        "error: {log} cannot be resumed: the task `sums` has changed since: its server is `{base_url}`, not `{}`",
        other.base_url()
    );
    assert!(ran.stderr.lines().any(|line| line == error), "{}", ran.stderr);

    // The command of the message does, and names the server before it is called.
    let refused = with_key(&desk, &["eval", "--resume", &log]);
    let command = quoted(&refused.stderr);
    let ran = with_key(&desk, &command.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.code, Some(1), "the limit of the run ends it once more: {}", ran.stderr);
    assert!(server.requests() > requests);
    let [task, servers] = [0, 1].map(|at| ran.stderr.lines().nth(at).unwrap());
    assert!(task.ends_with(": resumed with the task file sums.toml"), "{task}");
    assert!(servers.ends_with(&format!("{base_url} (openai/unsure)")), "{servers}");
    // So does every command that a run prints when it ends.
    let printed = quoted(&ran.stderr).join(" ");
    assert_eq!(printed, format!("eval --resume {log} --base-url {base_url}"));
}

#[test]
fn what_the_environment_names_is_not_named_again() {
    let server = Server::start(&[]);
    let (desk, base_url) = (unfinished(&server), server.base_url());
    let mut command = desk.command(&["eval", "--resume", &log_path(&desk), "--run-token-limit", "100000"]);
    let ran = ProgramOutput::from(
        command.env("OPENAI_BASE_URL", base_url).env("OPENAI_API_KEY", KEY).output().unwrap(),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn a_server_that_requires_no_key_is_sent_none() {
    let server = Server::start(&[]);
    let (desk, base_url) = (unfinished(&server), server.base_url());
    let arguments =
        ["eval", "--resume", &log_path(&desk), "--base-url", &base_url, "--run-token-limit", "100000"];
    let ran = ProgramOutput::from(desk.command(&arguments).output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn the_server_of_a_role_is_named_too() {
    let (server, grader) = (Server::start(&[]), Server::start(&[]));
    let desk = Desk::new();
    let task = "dataset = \"sums.jsonl\"\nscorer = \"model_graded_qa\"\n";
    std::fs::write(desk.folder.path().join("sums.toml"), task).unwrap();
    let role_url = format!("grader={}", grader.base_url());
    let roles = ["--model-role", "grader=openai/kind", "--role-base-url", &role_url];
    let ran = desk.eval(&server, &[&roles[..], &["--run-token-limit", "1", "--max-samples", "1"]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let both =
        format!("{} (openai/unsure), {} (openai/kind as grader)", server.base_url(), grader.base_url());
    let first = ran.stderr.lines().next().unwrap();
    assert!(first.ends_with(&both), "{first}");
    let (log, requests, base_url) = (log_path(&desk), grader.requests(), server.base_url());
    let ran = with_key(&desk, &["eval", "--resume", &log, "--base-url", &base_url]);
    assert_eq!((ran.code, grader.requests()), (Some(2), requests), "{}", ran.stderr);
    assert_eq!(
        quoted(&ran.stderr).join(" "),
        format!("eval --resume {log} --base-url {base_url} --role-base-url {role_url}")
    );
    let given = ["--base-url", &base_url, "--role-base-url", &role_url, "--run-token-limit", "100000"];
    let ran = with_key(&desk, &[&["eval", "--resume", &log], &given[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}
