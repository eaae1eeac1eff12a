//! `errorbar help` and `errorbar man`.

use std::fs;
use std::process::Command;

use crate::{check_examples, errorbar, workspace};

/// What is printed on standard output.
fn printed(args: &[&str]) -> String {
    let output = errorbar(&workspace(), args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn entries_are_explained() {
    check_examples("help_grouped", &["help", "grouped"]);
    check_examples("help_pass_at", &["help", "pass_at_2"]);
    check_examples("help_choice", &["help", "choice"]);
    check_examples("help_reducers", &["help", "reducers"]);
    check_examples("help_unknown", &["help", "groupd"]);
}

#[test]
fn a_name_of_several_kinds_is_explained_for_each_or_for_one() {
    let (both, one) = (printed(&["help", "mean"]), printed(&["help", "reducer", "mean"]));
    assert!(both.contains("\n  metric\n") && both.contains("\n  reducer\n"), "{both}");
    assert!(!one.contains("\n  metric\n") && one.contains("\n  reducer\n"), "{one}");
    assert_eq!(printed(&["help", "ci(0.9)"]), printed(&["help", "ci"]));
}

#[test]
fn commands_have_the_same_help_either_way() {
    for command in [&["score"][..], &["log", "show"], &["help"], &[]] {
        let (by_name, by_option) = ([&["help"], command].concat(), [command, &["--help"]].concat());
        assert_eq!(printed(&by_name), printed(&by_option), "{command:?}");
    }
}

#[test]
fn what_there_is_not_has_a_way_out() {
    for args in
        [&["help", "zzzz"][..], &["help", "log", "zzzz"], &["help", "reducer", "grouped"], &["man", "zzzz"]]
    {
        let output = errorbar(&workspace(), args).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text.contains("error: there is no") && text.contains("hint: "), "{args:?}: {text}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    printed(&["man", "--dir", pages.to_str().unwrap()]);
    let text = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    assert_eq!(text("errorbar-log-show.1"), printed(&["man", "log", "show"]));
    assert_eq!(text("errorbar.1"), printed(&["man"]));
    // What the page lists is there, and what is there is listed.
    let verbs: Vec<String> =
        fs::read_dir(&pages).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    let program = text("errorbar.1");
    for name in verbs.iter().filter(|name| name.matches('-').count() == 1) {
        let escaped = name.trim_end_matches(".1").replace('-', "\\-");
        assert!(program.contains(&format!("{escaped}(1)")), "{name} is not in {program}");
    }
    assert_eq!(
        program.matches("(1)").count(),
        verbs.iter().filter(|name| name.matches('-').count() == 1).count()
    );
    let page = text("errorbar-score.1");
    for part in ["NAME", "SYNOPSIS", "OPTIONS", "\\-\\-metric", "Examples:", "errorbar score"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// Every line is text or a request that manual pages have; the program that formats them, where it is installed, finds nothing
/// to complain about.
#[test]
fn manual_pages_are_well_formed() {
    const REQUESTS: [&str; 11] =
        [".TH", ".SH", ".TP", ".RS", ".RE", ".IP", ".PP", ".br", ".sp", ".ie", ".el"];
    let folder = tempfile::tempdir().unwrap();
    printed(&["man", "--dir", folder.path().to_str().unwrap()]);
    let has_man = Command::new("man").arg("--version").output().is_ok();
    for page in folder.path().read_dir().unwrap().map(|page| page.unwrap().path()) {
        let text = fs::read_to_string(&page).unwrap();
        let requests = text.lines().filter(|line| line.starts_with(['.', '\'']));
        for line in requests {
            let known = REQUESTS.iter().any(|request| line.split(' ').next() == Some(request));
            assert!(known, "{}: {line}", page.display());
        }
        assert!(text.lines().any(|line| line.starts_with(".TH ")), "{}", page.display());
        if has_man {
            let mut man = Command::new("man");
            man.args(["--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l"]).arg(&page).env("MANWIDTH", "80");
            let output = man.output().unwrap();
            let problems = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && problems.is_empty(), "{}: {problems}", page.display());
        }
    }
}
