//! `errorbar verify` and `errorbar score` on logs that `errorbar eval` wrote.

use std::fs;

use crate::eval::{Logs, quiz};
use crate::{check_text, transcript, workspace};

#[test]
fn a_log_is_what_it_claims() {
    let logs = Logs::new();
    logs.run(&workspace(), &["eval", "examples/sums/sums.toml", "-m", "mean", "-m", "bootstrap_stderr"]);
    let log = logs.only();
    logs.check("verify_agrees", &workspace(), &["verify", log.to_str().unwrap()]);
}

#[test]
fn a_log_is_scored_again_as_recorded_or_otherwise() {
    let logs = Logs::new();
    logs.run(&workspace(), &["eval", "examples/almanac/almanac.toml", "--epochs", "2"]);
    let log = logs.only();
    logs.check("score_log", &workspace(), &["score", log.to_str().unwrap()]);
    let args = [
        "score",
        log.to_str().unwrap(),
        "-r",
        "pass_at_2",
        "-m",
        "accuracy",
        "-m",
        "ci_wilson",
        "--format",
        "csv",
    ];
    logs.check("score_log_otherwise", &workspace(), &args);
}

#[test]
fn a_claim_that_is_wrong_is_found() {
    let logs = Logs::new();
    let args = ["eval", "examples/almanac/almanac.toml", "--log-format", "json", "-m", "accuracy"];
    logs.run(&workspace(), &args);
    let log = logs.only();
    let text = fs::read_to_string(&log).unwrap();
    let claimed = "\"value\":0.8194444444444444";
    assert!(text.contains(claimed), "{}", &text[text.len() - 2000..]);
    fs::write(&log, text.replace(claimed, "\"value\":0.9194444444444444")).unwrap();
    let args = ["verify", log.to_str().unwrap(), "missing.eval"];
    let output = logs.run(&workspace(), &args);
    check_text("verify_differs", &logs.mask(&transcript(&args, &output)));
    let output = logs.run(&workspace(), &["verify", log.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_interrupted_log_has_nothing_to_verify_but_can_be_scored() {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    quiz(folder.path(), "");
    logs.run(folder.path(), &["eval", "quiz.toml", "--max-samples", "1"]);
    let log = logs.only();
    // As a run leaves it that is killed behind its last sample: the end of the file is missing.
    let bytes = fs::read(&log).unwrap();
    let end = bytes.windows(14).position(|window| window == b"summaries.json").unwrap() - 30;
    fs::write(&log, &bytes[..end]).unwrap();
    logs.check("verify_interrupted", folder.path(), &["verify", log.to_str().unwrap()]);
    logs.check("score_interrupted", folder.path(), &["score", log.to_str().unwrap()]);
}
