//! A server that has never answered: the run ends soon, with nothing in the log that would be lost.

use errorbar_test_support::ProgramOutput;

use crate::access::{log, log_path};
use crate::desk::Desk;
use crate::server::{Server, wait_for_attempt};

/// A server that is not there any more; its address.
fn gone() -> String {
    let server = Server::start(&[]);
    server.base_url()
}

/// Runs all samples, with few retries or little time for them.
fn eval(desk: &Desk, base_url: &str, arguments: &[&str]) -> ProgramOutput {
    let always = ["eval", "sums.toml", "--model", "openai/unsure", "--base-url", base_url];
    ProgramOutput::from(desk.command(&[&always, arguments].concat()).output().unwrap())
}

/// What happened to requests to a server that is not there.
fn not_reached(base_url: &str) -> String {
    let address = base_url.trim_start_matches("http://").trim_end_matches("/v1");
    format!("did not reach {address}: Connection refused (os error 111); does the server run there?")
}

/// The run ended because of this problem of a model, however often it was tried, and is resumed by the hint.
#[track_caller]
fn assert_ended(desk: &Desk, ran: &ProgramOutput, model: &str, base_url: &str, problem: &str) {
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let start = format!(
        "error: sums: ended after 0 of 30 samples, because the server of {model} has never answered: POST \
         {base_url}/chat/completions "
    );
    let mut errors = ran.stderr.lines().filter(|line| line.starts_with("error: "));
    let error = errors.next().and_then(|error| error.strip_prefix(&start)).expect(&ran.stderr);
    assert_eq!(errors.next(), None);
    assert_eq!(error.split_once(" (retried ").map_or(error, |(problem, _)| problem), problem);
    let hint = ran.stderr.lines().last().and_then(|hint| {
        hint.strip_prefix("hint: when the server runs, resume it with `")?.strip_suffix('`')?.split_once(' ')
    });
    let name = std::path::PathBuf::from(log_path(desk));
    let resume = format!("eval --resume logs/{} --base-url ", name.file_name().unwrap().display());
    assert!(hint.is_some_and(|(_, command)| command.starts_with(&resume)), "{resume}\n{}", ran.stderr);
    let (header, samples) = log(desk);
    assert_eq!((header["status"].as_str(), samples), (Some("error"), 0));
}

#[test]
fn a_server_that_is_not_there_ends_the_run_and_it_is_resumed_when_it_is() {
    let desk = Desk::new();
    let base_url = gone();
    let patience: [&[&str]; 4] = [
        // The first wave has tried it often enough.
        &["--max-retries", "1", "--retry-wait", "0.01", "--max-connections", "3"],
        // Its time to start is over.
        &["--max-retries", "100000", "--retry-wait", "0.01", "--startup-timeout", "0.3"],
        &["--max-retries", "100000", "--retry-wait", "600", "--startup-timeout", "0.3"],
        // Samples give up before.
        &["--time-limit", "0.3", "--max-samples", "2"],
    ];
    for arguments in patience {
        let desk = Desk::new();
        let ran = eval(&desk, &base_url, arguments);
        assert_ended(&desk, &ran, "openai/unsure", &base_url, &not_reached(&base_url));
    }
    let ran = eval(&desk, &base_url, patience[0]);
    assert_ended(&desk, &ran, "openai/unsure", &base_url, &not_reached(&base_url));
    let port = base_url.trim_end_matches("/v1").rsplit(':').next().unwrap();
    let _server = Server::start(&["--port", port]);
    let resumed = ["eval", "--resume", &log_path(&desk), "--base-url", &base_url, "--format", "json"];
    let results = ProgramOutput::from(desk.command(&resumed).output().unwrap()).results();
    assert_eq!(results["scores"][0]["metrics"]["accuracy"]["value"], 20.0 / 30.0);
}

#[test]
fn a_server_that_closes_every_connection_is_as_good_as_none() {
    let (desk, server) = (Desk::new(), Server::start(&["--fault", "dropped"]));
    let ran = eval(&desk, &server.base_url(), &["--max-retries", "2", "--retry-wait", "0.01"]);
    let problem = "got no whole answer: connection closed before message completed";
    assert_ended(&desk, &ran, "openai/unsure", &server.base_url(), problem);
}

#[test]
fn a_grader_that_is_not_there_ends_the_run_too() {
    let (desk, server) = (Desk::new(), Server::start(&[]));
    let task = "dataset = \"sums.jsonl\"\nscorer = \"model_graded_qa\"\n";
    std::fs::write(desk.folder.path().join("sums.toml"), task).unwrap();
    let base_url = gone();
    let role_url = format!("grader={base_url}");
    let roles = ["--model-role", "grader=openai/kind", "--role-base-url", &role_url, "--max-retries", "1"];
    let ran = desk.eval(&server, &roles);
    assert_ended(&desk, &ran, "openai/kind", &base_url, &not_reached(&base_url));
}

#[test]
fn a_server_that_is_starting_is_waited_for() {
    let desk = Desk::new();
    let base_url = gone();
    let port = base_url.trim_end_matches("/v1").rsplit(':').next().unwrap().to_owned();
    let starting = std::thread::spawn(move || {
        wait_for_attempt(&format!("127.0.0.1:{port}"));
        Server::start(&["--port", &port])
    });
    let patience =
        ["--max-retries", "100000", "--retry-wait", "0.05", "--startup-timeout", "60", "--format", "json"];
    let results = eval(&desk, &base_url, &patience).results();
    assert_eq!(results["scores"][0]["metrics"]["accuracy"]["value"], 20.0 / 30.0);
    drop(starting.join().unwrap());
}

#[test]
fn a_server_that_has_answered_is_retried_as_often_as_ever() {
    // The first answer is an error, which is one.
    let (desk, server) = (Desk::new(), Server::start(&["--fault", "500"]));
    let patience =
        ["--max-retries", "2", "--retry-wait", "0.01", "--startup-timeout", "0.001", "--limit", "2"];
    let ran = eval(&desk, &server.base_url(), &patience);
    assert_eq!((ran.code, server.requests()), (Some(1), 6), "{}", ran.stderr);
    assert_eq!(log(&desk).1, 2, "{}", ran.stderr);
}
