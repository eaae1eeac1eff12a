//! `errorbar list`, `errorbar completions` and the help.

#[cfg(unix)]
use std::os::unix::process::CommandExt as _;

use crate::{check_examples, errorbar, workspace};

#[test]
fn everything_that_a_spec_can_name() {
    check_examples("list", &["list"]);
    check_examples("list_reducers_json", &["list", "reducers", "--format", "json"]);
    check_examples("list_reducers_csv", &["list", "reducers", "--format", "csv"]);
    check_examples("list_metrics_markdown", &["list", "metrics", "--format", "markdown"]);
    check_examples("list_nonsense", &["list", "metric"]);
}

#[test]
fn help_has_examples() {
    check_examples("help", &["--help"]);
    check_examples("help_score", &["score", "--help"]);
    check_examples("help_list", &["help", "list"]);
    check_examples("no_arguments", &[]);
    check_examples("unknown_option", &["score", "t.csv", "--metrics", "mean"]);
}

#[cfg(unix)]
#[test]
fn a_program_goes_by_the_name_of_its_file() {
    let printed = |args: &[&str]| {
        let output = errorbar(&workspace(), args).arg0("/opt/my-scores").output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert!(printed(&["--help"]).contains("my-scores score scores.csv"));
    assert!(printed(&["--version"]).starts_with("my-scores (errorbar "));
    let hint = "hint: `my-scores list metrics` shows names and arguments";
    assert_eq!(printed(&["score", "t.csv", "-m", "zzz"]).trim_end().lines().last(), Some(hint));
    let script = printed(&["completions", "bash"]);
    assert!(script.contains("my-scores") && !script.contains("errorbar"), "{script}");
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = errorbar(&workspace(), &["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains("ERRORBAR_COMPLETE"), "{shell}: {script}");
    }
}
