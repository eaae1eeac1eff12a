//! `errorbar verify` and `errorbar score` on logs that `errorbar eval` or old versions of the reference wrote.

use std::fs;
use std::process::Output;

use crate::eval::{Logs, quiz};
use crate::{check_text, errorbar, transcript, workspace};

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

/// Logs that old versions of the reference wrote.
const OLD_LOGS: &str = "conformance/old_logs/logs";

fn verify(args: &[&str]) -> Output {
    errorbar(&workspace(), &[&["verify"], args].concat()).output().unwrap()
}

#[test]
fn logs_of_old_versions_agree_or_are_not_checkable() {
    let args = ["verify", OLD_LOGS];
    check_text("verify_old_logs", &transcript(&args, &verify(&args[1..])));
}

#[test]
fn what_is_not_checkable_fails_only_on_request() {
    for (log, is_checked) in [
        ("0.3.240/plain.json", true),
        ("0.3.140/appended.eval", true),
        ("0.3.100/custom_beside.eval", false),
        ("0.3.60/custom_only.eval", false),
        ("0.3.40/without_samples.json", false),
        ("0.3.60/without_scores.eval", false),
        ("0.3.280/failed_run.eval", false),
    ] {
        let log = format!("{OLD_LOGS}/{log}");
        assert_eq!(verify(&[&log]).status.code(), Some(0), "{log}");
        let code = if is_checked { 0 } else { 1 };
        assert_eq!(verify(&[&log, "--require-checked"]).status.code(), Some(code), "{log}");
    }
}

#[test]
fn a_changed_figure_beside_a_custom_one_differs() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(workspace().join(OLD_LOGS).join("0.3.40/custom.json")).unwrap();
    let claimed = "{\"name\":\"mean\",\"value\":4.55,";
    assert!(text.contains(claimed), "{text}");
    let log = folder.path().join("custom.json");
    fs::write(&log, text.replace(claimed, "{\"name\":\"mean\",\"value\":4.56,")).unwrap();
    let args = ["verify", "custom.json"];
    let output = errorbar(folder.path(), &args).output().unwrap();
    check_text("verify_differs_beside_custom", &transcript(&args, &output));
}

#[test]
fn figures_that_cannot_be_computed_are_undefined_with_the_reason() {
    // No surface has the figure of another conversion: accuracy by the default one is 4.55 and 6.55.
    let log = format!("{OLD_LOGS}/0.3.285/conversion_by_name.eval");
    let other = tempfile::tempdir().unwrap();
    let copy = other.path().join("other.eval");
    fs::copy(workspace().join(&log), &copy).unwrap();
    let copy = copy.to_str().unwrap();
    let args = ["score", &log, "--format", "json"];
    let output = errorbar(&workspace(), &args).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json[0]["estimates"].as_array().unwrap();
    let accuracies: Vec<_> = rows.iter().filter(|row| row["metric"] == "accuracy").collect();
    assert!(!accuracies.is_empty(), "{json:#}");
    assert!(accuracies.iter().all(|row| row["value"].is_null()), "{accuracies:#?}");
    // Without a metric that the user names, accuracy has no difference.
    let output = errorbar(&workspace(), &["compare", &log, copy, "--format", "json"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("recorded by a name only (halved)"), "{text}");
    let page = other.path().join("report.html");
    let args = ["report", &log, "-o", page.to_str().unwrap()];
    assert!(errorbar(&workspace(), &args).output().unwrap().status.success());
    assert!(fs::read_to_string(page).unwrap().contains("recorded by a name only (halved)"));
}

#[test]
fn json_has_every_figure_and_is_valid_by_the_schema() {
    let log = format!("{OLD_LOGS}/0.3.100/custom_beside.eval");
    let args = ["verify", &log, "--format", "json"];
    check_text("verify_json", &transcript(&args, &verify(&args[1..])));

    let output = verify(&[OLD_LOGS, "--format", "json"]);
    let output: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = fs::read_to_string(workspace().join("docs/schema/verify.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let problems: Vec<String> =
        schema.iter_errors(&output).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(output.as_array().map(Vec::len), Some(67));
    for (path, wrong) in [
        ("/0/outcome", "maybe".into()),
        ("/0/counts/agree", serde_json::Value::Null),
        ("/0/figures/0/recorded", "0.5".into()),
        ("/0/figures/0/reason", serde_json::json!({"kind": "bad_weather", "text": ""})),
    ] {
        let mut output = output.clone();
        *output.pointer_mut(path).unwrap() = wrong;
        assert!(!schema.is_valid(&output), "{path}");
    }
}

#[test]
fn what_is_no_log_is_an_error_and_the_others_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str| workspace().join(OLD_LOGS).join(name);
    fs::copy(log("0.3.240/plain.json"), folder.path().join("whole.json")).unwrap();
    fs::write(folder.path().join("notes.eval"), "not a log").unwrap();
    let bytes = fs::read(log("0.3.240/plain.json")).unwrap();
    fs::write(folder.path().join("torn.json"), &bytes[..bytes.len() / 2]).unwrap();
    let args = ["verify", "notes.eval", "torn.json", "whole.json"];
    let output = errorbar(folder.path(), &args).output().unwrap();
    check_text("verify_no_log", &transcript(&args, &output));
}
