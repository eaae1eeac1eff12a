//! Whole runs against a server: what users see of every way to go wrong, and that results do not depend on it.

use std::process::Command;

use serde_json::{Value as Json, json};

use errorbar_test_support::ProgramOutput;

use crate::TRANSIENT_FAULTS;
use crate::desk::Desk;
use crate::server::{Server, wait_for_attempt};

/// The transient faults, which a retry overcomes; `slow` takes its time and is tested separately.
const PASSING: [&str; 11] = [
    "429",
    "429-without",
    "500",
    "503",
    "truncated",
    "malformed",
    "wrong-type",
    "dropped",
    "dropped-midway",
    "empty-choices",
    "error-in-200",
];

/// How the report of a failed sample starts.
const SAMPLE_FAILED: &str = "sample \"q0\", epoch 1: the solver failed: ";
/// How that of a run of one sample starts whose server has never answered.
const NEVER_ANSWERED: &str =
    "error: sums: ended after 0 of 1 samples, because the server of openai/unsure has never answered: ";

#[track_caller]
fn assert_has_line(ran: &ProgramOutput, line: &str) {
    assert!(ran.stderr.lines().any(|found| found == line), "no line {line}\n{}", ran.stderr);
}

/// The results of a run that nothing disturbs.
fn undisturbed() -> Json {
    let results = Desk::new().eval(&Server::start(&[]), &["--format", "json"]).results();
    // Of the sums from 5 to 34 ten can be divided by three.
    assert_eq!(results["scores"][0]["metrics"]["accuracy"]["value"], json!(20.0 / 30.0));
    results
}

#[test]
fn a_failure_that_lasts_fails_the_sample_after_the_retries_with_the_cause() {
    let own = [
        ("429", "answered 429 Too Many Requests: Slow down."),
        ("429-without", "answered 429 Too Many Requests: Slow down."),
        ("slow", "got no whole answer within 0.3 s; a slow server needs a longer timeout"),
        (
            "truncated",
            r#"answered 200 with something that is no chat completion: EOF while parsing a string at line 1 column 135; it begins: {"id":"chatcmpl-test","object":"chat.completion","created":0,"model":"unsure-as-served","choices":[{"index":0,"message":{"role":"assist"#,
        ),
    ];
    for (fault, message) in own.into_iter().chain(TRANSIENT_FAULTS) {
        let server = Server::start(&["--fault", fault, "--retry-after", "0.01"]);
        let patience = ["--limit", "1", "--max-retries", "2", "--timeout", "0.3"];
        let ran = Desk::new().eval(&server, &patience);
        assert_eq!((ran.code, server.requests()), (Some(1), 3), "{fault}: {}", ran.stderr);
        // Who closes every connection before an answer is no server, which ends the run and leaves no failed sample.
        let is_dead = fault == "dropped";
        let start = if is_dead { NEVER_ANSWERED } else { SAMPLE_FAILED };
        assert_has_line(&ran, &format!("{start}{}{message} (retried 2 times)", server.request()));
        assert!(!ran.stderr.contains(['\u{1b}', '\u{7}']), "{fault}: {}", ran.stderr);
        assert!(is_dead || ran.stdout.contains("1 errored"), "{fault}: {}", ran.stdout);
    }
}

#[test]
fn permanent_errors_are_not_retried() {
    let refused = "error: sums: ended after 0 of 1 samples, because openai/unsure rejects the key: ";
    for (fault, start, message) in [
        (
            "400-context",
            SAMPLE_FAILED,
            "answered 400 Bad Request: This model's maximum context length is 8 tokens; shorten the prompt, lower \
             max_tokens, or take a model with a longer context",
        ),
        (
            "401",
            refused,
            "answered 401 Unauthorized: Incorrect API key provided; check the key, in OPENAI_API_KEY or the key file",
        ),
        (
            "404",
            SAMPLE_FAILED,
            "answered 404 Not Found: The model does not exist; check that the server has a model `unsure`, and the base \
             URL, which often ends in /v1",
        ),
        (
            "429-quota",
            SAMPLE_FAILED,
            "answered 429 Too Many Requests: You exceeded your current quota; the account has nothing left to pay with; \
             waiting does not help",
        ),
        (
            "redirect",
            SAMPLE_FAILED,
            "answered 307 Temporary Redirect; it points to 127.0.0.1, where the key is not sent; if that is right, make \
             it the base URL",
        ),
        (
            "oversize",
            SAMPLE_FAILED,
            "answered with more than 16 MB, which no chat completion has; is it the right server?",
        ),
    ] {
        let server = Server::start(&["--fault", fault]);
        let ran = Desk::new().eval(&server, &["--limit", "1"]);
        assert_eq!((ran.code, server.requests()), (Some(1), 1), "{fault}: {}", ran.stderr);
        assert_has_line(&ran, &format!("{start}{}{message}", server.request()));
    }
}

#[test]
fn a_failure_that_passes_leaves_no_trace_in_the_results() {
    let expected = undisturbed();
    for fault in PASSING {
        let server = Server::start(&["--fault", fault, "--fault-first", "1", "--retry-after", "0.01"]);
        let ran = Desk::new().eval(&server, &["--format", "json"]);
        assert_eq!(ran.results(), expected, "{fault}");
        let stats = server.stats();
        assert_eq!((&stats["requests"], &stats["by_fault"][fault]), (&json!(60), &json!(30)), "{fault}");
    }
}

#[test]
fn a_slow_answer_times_out_and_is_retried() {
    let server = Server::start(&["--fault", "slow", "--fault-first", "1"]);
    let ran = Desk::new().eval(&server, &["--format", "json", "--timeout", "1", "--max-connections", "30"]);
    assert_eq!(ran.results(), undisturbed());
    assert_eq!(server.requests(), 60);
}

#[test]
fn a_share_of_failures_of_all_kinds_changes_no_result() {
    let expected = undisturbed();
    for seed in ["1", "2", "3"] {
        let faults = ["--fault-rate", "0.2", "--fault-seed", seed, "--retry-after", "0.01"];
        let server = Server::start(&faults);
        let ran = Desk::new().eval(&server, &["--format", "json", "--epochs", "1"]);
        assert_eq!(ran.results(), expected, "seed {seed}");
        assert!(server.requests() > 30, "seed {seed}: nothing went wrong");
    }
}

#[test]
fn no_more_requests_are_under_way_than_allowed_and_as_many_as_possible() {
    let server = Server::start(&["--delay-ms", "50"]);
    let ran = Desk::new().eval(&server, &["--max-connections", "7"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(server.stats()["in_flight_max"], 7);
}

#[test]
fn a_server_that_takes_few_at_once_gets_few() {
    let faults = ["--max-concurrent", "3", "--delay-ms", "10", "--retry-after", "0.02"];
    let server = Server::start(&faults);
    let ran = Desk::new().eval(&server, &["--format", "json"]);
    assert_eq!(ran.results(), undisturbed());
    assert!(server.stats()["by_fault"]["too-many"].as_u64() > Some(0), "{}", server.stats());
}

#[test]
fn a_server_that_goes_away_and_comes_back_is_waited_for() {
    let desk = Desk::new();
    let server = Server::start(&["--delay-ms", "20"]);
    let arguments = ["--format", "json", "--max-connections", "2"];
    let run = desk.start_eval(&server, &arguments);
    server.wait_for_requests(5);
    let address = server.address.clone();
    let port = address.rsplit(':').next().unwrap();
    drop(server);
    wait_for_attempt(&address);
    let _server = Server::start(&["--port", port]);
    assert_eq!(ProgramOutput::from(run.wait_with_output().unwrap()).results(), undisturbed());
}

#[test]
fn a_server_that_is_not_there_is_named_with_the_question_whether_it_runs() {
    let desk = Desk::new();
    let server = Server::start(&[]);
    let (base_url, address) = (server.base_url(), server.address.clone());
    drop(server);
    let arguments =
        ["eval", "sums.toml", "--model", "openai/m", "--base-url", &base_url, "--max-retries", "0"];
    let ran = ProgramOutput::from(desk.command(&arguments).output().unwrap());
    assert_eq!(ran.code, Some(1));
    assert_has_line(
        &ran,
        &format!(
            "error: sums: ended after 0 of 30 samples, because the server of openai/m has never answered: POST \
             {base_url}/chat/completions did not reach {address}: Connection refused (os error 111); does the server run \
             there?"
        ),
    );
}

#[test]
fn an_interrupt_does_not_wait_for_a_server_that_does_not_answer() {
    let desk = Desk::new();
    let server = Server::start(&["--fault", "slow"]);
    let run = desk.start_eval(&server, &[]);
    server.wait_for_requests(1);
    let killed = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ran = ProgramOutput::from(run.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(server.stats()["by_fault"]["slow"], Json::Null, "the answer was not waited for");
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_sent_or_written() {
    let desk = Desk::new();
    let server = Server::start(&[]);
    let base_url = server.base_url();
    let eval = |arguments: &[&str]| {
        ProgramOutput::from(desk.command(&[&["eval", "sums.toml"], arguments].concat()).output().unwrap())
    };
    for (arguments, message) in [
        (
            &["--model", "openai/m"][..],
            "error: sums.toml: `openai/m` needs a key: set OPENAI_API_KEY, or name a file that holds the key\n\
             hint: --api-key-file names a file that holds the key; for another server, --base-url sets its address\n",
        ),
        (
            &["--model", "openai/m", "--base-url", &base_url, "--model-role", "grader=openai/judge"],
            "error: sums.toml: the role `grader`: `openai/judge` needs a key: set OPENAI_API_KEY, or name a file that \
             holds the key\n\
             hint: --role-api-key-file names a file that holds the key; for another server, --role-base-url sets its \
             address\n",
        ),
        (
            &["--model", "openai/", "--base-url", &base_url],
            "error: sums.toml: `openai/` names no model; it is written openai/NAME, as the server knows it\n",
        ),
        (
            &["--model", "openai/m", "--base-url", "localhost:8080"],
            "error: sums.toml: the base URL `localhost:8080` is not one of http:// or https://; it is written as in \
             http://127.0.0.1:8080/v1\n",
        ),
        (
            &["--model", "openai/m", "--base-url", &base_url, "--api-key-file", "none"],
            "error: sums.toml: cannot read the key from the file none: No such file or directory (os error 2)\n",
        ),
        (
            &["--model", "openai/m", "--base-url", &base_url, "--top-p", "1.5"],
            "error: sums.toml: top_p is a share from 0 to 1, found 1.5\n",
        ),
        (
            &["--model", "openai/m", "--base-url", &base_url, "--prices", "p", "--cost-limit", "nan"],
            "error: invalid value 'nan' for '--cost-limit <COST>': expected a number of at least 0\n\n\
             For more information, try '--help'.\n",
        ),
        (
            &["--model", "openai/m", "--base-url", &base_url, "--extra-body", r#"{"stream": true}"#],
            "error: sums.toml: extra_body has `stream`, which is always sent and cannot be overridden; leave it out\n",
        ),
    ] {
        let ran = eval(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), message), "{arguments:?}");
    }
    assert_eq!((server.requests(), desk.folder.path().join("logs").exists()), (0, false));
}

#[test]
fn answers_are_cached_and_failures_are_not() {
    let desk = Desk::new();
    let server = Server::start(&["--fault-rate", "0.3", "--fault-seed", "5", "--retry-after", "0.01"]);
    let arguments = ["--format", "json", "--cache", "--cache-dir", "cache"];
    let first = desk.eval(&server, &arguments).results();
    let requests = server.requests();
    assert!(requests > 30);
    let second = desk.eval(&server, &arguments).results();
    assert_eq!((&first, &second, server.requests()), (&undisturbed(), &first, requests));
    // Another configuration is another question.
    desk.eval(&server, &[&arguments[..], &["--temperature", "0.5"]].concat()).results();
    assert!(server.requests() >= requests + 30);
}

#[test]
fn graders_are_called_over_the_network_and_their_failures_are_retried_too() {
    let desk = Desk::new();
    let task = "dataset = \"sums.jsonl\"\nscorer = \"model_graded_qa\"\n";
    std::fs::write(desk.folder.path().join("sums.toml"), task).unwrap();
    for (grader, accuracy) in [("grader=openai/kind", 1.0), ("grader=openai/strict", 0.0)] {
        let server = Server::start(&["--fault-rate", "0.2", "--fault-seed", "9", "--retry-after", "0.01"]);
        let role_url = format!("grader={}", server.base_url());
        let arguments = ["--format", "json", "--model-role", grader, "--role-base-url", &role_url];
        let results = desk.eval(&server, &arguments).results();
        assert_eq!(results["scores"][0]["metrics"]["accuracy"]["value"], json!(accuracy), "{grader}");
        assert!(server.requests() > 60, "{grader}");
    }
}

#[test]
fn samples_that_met_a_limit_are_counted_by_its_kind_where_the_figures_are() {
    let (desk, server) = (Desk::new(), Server::start(&[]));
    // A question and its answer are seven tokens, and ten answers of thirty start with `Well`.
    let ran = desk.eval(&server, &["--token-limit", "7", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let limits = |stdout: &str| serde_json::from_str::<Json>(stdout).unwrap()[0]["limits"].clone();
    assert_eq!(limits(&ran.stdout), json!({"token": 10}));
    let score = |format: &str| {
        ProgramOutput::from(desk.command(&["score", "logs", "--format", format]).output().unwrap()).stdout
    };
    assert_eq!(limits(&score("json")), json!({"token": 10}));
    assert!(score("table").contains(" · 10 reached the token limit\n"), "{}", score("table"));
    let ran = desk.eval(&server, &["--token-limit", "7", "--limit", "5"]);
    assert!(ran.stdout.contains("5 samples · 2 reached the token limit\n"), "{}", ran.stdout);
    let ran = desk.eval(&server, &["--format", "json"]);
    assert_eq!(limits(&ran.stdout), Json::Null, "no limit was reached, so none is reported");
}

#[test]
fn a_resumed_run_has_the_limits_and_prices_of_its_log_unless_others_are_given() {
    let (desk, server) = (Desk::new(), Server::start(&[]));
    std::fs::write(desk.folder.path().join("prices.toml"), "[\"openai/unsure\"]\noutput = 1e6\n").unwrap();
    // The answers to sums are two or three tokens long.
    let limits =
        ["--prices", "prices.toml", "--cost-limit", "2", "--run-cost-limit", "8", "--max-samples", "1"];
    let ran = desk.eval(&server, &limits);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let log = std::fs::read_dir(desk.folder.path().join("logs")).unwrap().next().unwrap().unwrap().path();
    let config = || {
        let dumped = desk.command(&["log", "dump", log.to_str().unwrap()]).output().unwrap();
        let header: Json = serde_json::from_str(&ProgramOutput::from(dumped).stdout).unwrap();
        header["eval"]["config"].clone()
    };
    let resume = |arguments: &[&str]| {
        let base_url = server.base_url();
        let always = ["eval", "--resume", log.to_str().unwrap(), "--base-url", &base_url];
        ProgramOutput::from(desk.command(&[&always, arguments].concat()).output().unwrap())
    };
    assert_eq!((&config()["cost_limit"], &config()["run_cost_limit"]), (&json!(2.0), &json!(8.0)));
    let ran = resume(&[]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("and 8 is allowed"), "{}", ran.stderr);
    assert!(ran.stdout.contains("reached the cost limit"), "{}", ran.stdout);
    let ran = resume(&["--run-cost-limit", "1000", "--cost-limit", "3"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!((&config()["cost_limit"], &config()["run_cost_limit"]), (&json!(3.0), &json!(1000.0)));
}
