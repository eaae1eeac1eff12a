//! Gates of `errorbar compare`: what the interval decides, and the exit code.

use crate::Folder;

/// A table of 60 samples, of which the first are wrong and the others right.
fn wrong_until(wrong: usize) -> String {
    let row = |at: usize| {
        let category = if at.is_multiple_of(2) { "art" } else { "law" };
        format!("q{at},{},{category}\n", u8::from(at >= wrong))
    };
    let rows: String = (0..60).map(row).collect();
    format!("id,score,category\n{rows}")
}

/// A base with 30 right answers of 60, and sides with more or fewer.
fn folder() -> Folder {
    Folder::new(&[
        ("base.csv", &wrong_until(30)),
        ("worse.csv", &wrong_until(45)),
        ("near.csv", &wrong_until(32)),
        ("better.csv", &wrong_until(15)),
    ])
}

/// The exit code of a comparison with the base.
fn code(other: &str, options: &[&str]) -> Option<i32> {
    let args: Vec<&str> = ["compare", "base.csv", other].into_iter().chain(options.iter().copied()).collect();
    folder().run(&args).status.code()
}

#[test]
fn every_gate_has_its_exit_codes() {
    let (worse, near, better) = ("worse.csv", "near.csv", "better.csv");
    for (other, options, expected) in [
        (worse, &["--fail-if-worse"][..], 1),
        (near, &["--fail-if-worse"], 0),
        (near, &["--fail-if-worse", "--decisive"], 1),
        (better, &["--fail-if-worse"], 0),
        (better, &["--fail-if-worse", "--decisive"], 0),
        (worse, &["--margin", "0.1"], 1),
        (near, &["--margin", "0.1"], 0),
        (near, &["--margin", "0.02"], 1),
        (better, &["--margin", "0.02", "--decisive"], 0),
        (worse, &["--equivalent", "0.1"], 1),
        (near, &["--equivalent", "0.1"], 0),
        (near, &["--equivalent", "0.05"], 1),
        (better, &["--equivalent", "0.1"], 1),
        (worse, &["--min-difference", "0"], 1),
        (near, &["--min-difference", "0"], 1),
        (better, &["--min-difference", "0"], 0),
        (better, &["--min-difference", "0.1"], 0),
        (better, &["--min-difference", "0.2"], 1),
        // A key that there is not decides nothing.
        (near, &["--fail-if-worse", "--cluster", "passage"], 2),
        // The same interval at another level.
        (near, &["--margin", "0.09", "--alpha", "0.05"], 0),
        (near, &["--margin", "0.09", "--alpha", "0.005"], 1),
        (near, &["--margin", "0.09", "--alpha", "0.05", "--level", "0.9"], 0),
    ] {
        assert_eq!(code(other, options), Some(expected), "{other} {options:?}");
    }
}

#[test]
fn what_a_gate_says() {
    let folder = folder();
    let check = |name: &str, other: &str, options: &[&str]| {
        let args = ["compare", "base.csv", other].into_iter().chain(options.iter().copied());
        let output = folder.run(&args.collect::<Vec<&str>>());
        let code = output.status.code().unwrap();
        crate::check_text(name, &format!("exit code: {code}\n{}", String::from_utf8(output.stderr).unwrap()));
    };
    check("gate_worse", "worse.csv", &["--fail-if-worse"]);
    check("gate_undecided", "near.csv", &["--fail-if-worse"]);
    check("gate_margin_too_small", "near.csv", &["--margin", "0.02"]);
    check("gate_equivalent", "near.csv", &["--equivalent", "0.1"]);
    check("gate_min_difference_open", "better.csv", &["--min-difference", "0.2"]);
    // Groups are shown, and not decided.
    check("gate_groups", "worse.csv", &["--margin", "0.1", "--by", "category"]);
}

#[test]
fn a_search_for_a_loss_in_several_places_is_warned_about() {
    let args = ["compare", "base.csv", "near.csv", "better.csv", "--fail-if-worse", "--format", "csv"];
    let output = folder().run(&args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("up to 10 % of runs fail by chance\nhint: --alpha 0.025"), "{stderr}");
    // A claim about all of them is no likelier to pass by chance.
    let args = ["compare", "base.csv", "near.csv", "better.csv", "--margin", "0.1", "--format", "csv"];
    let output = folder().run(&args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn options_that_contradict_a_gate() {
    let folder = folder();
    for (name, options) in [
        ("gate_level", &["--margin", "0.1", "--level", "0.95"][..]),
        ("gate_side", &["--margin", "0.1", "--side", "lower"]),
        ("gate_margin_negative", &["--margin", "-0.1"]),
        ("gate_difference_negative", &["--min-difference", "-0.1"]),
        ("gate_alpha", &["--fail-if-worse", "--alpha", "0.5"]),
        ("gate_two", &["--margin", "0.1", "--fail-if-worse"]),
        ("gate_none", &["--decisive"]),
        ("gate_of_a_spread", &["--metric", "std", "--fail-if-worse", "--format", "csv"]),
    ] {
        let args: Vec<&str> =
            ["compare", "base.csv", "near.csv"].into_iter().chain(options.iter().copied()).collect();
        let output = folder.run(&args);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        crate::check_text(name, &String::from_utf8(output.stderr).unwrap());
    }
}

/// Differences that are all equal have no interval, and nothing is decided by them.
#[test]
fn without_an_interval_a_gate_is_open() {
    let table = |more: f64| format!("id,score\nq1,{}\nq2,{}\nq3,{}\n", 2.5 + more, 7.5 + more, 4.0 + more);
    let folder = Folder::new(&[("base.csv", &table(0.0)), ("other.csv", &table(1.0))]);
    for (gate, expected) in [("--fail-if-worse", 0), ("--min-difference=0", 1)] {
        let args = ["compare", "base.csv", "other.csv", gate];
        let output = folder.run(&args);
        let text = crate::transcript(&args, &output);
        assert_eq!(output.status.code(), Some(expected), "{text}");
        assert!(text.contains("undecided: there is no interval"), "{text}");
    }
}

/// Scores that are absent on one side may hide a loss.
#[test]
fn a_gate_that_passes_without_some_samples_says_so() {
    let absent: String = (60..80).map(|at| format!("q{at},,art\n")).collect();
    let right: String = (60..80).map(|at| format!("q{at},1,art\n")).collect();
    let base = wrong_until(30) + &right;
    let other = wrong_until(30) + &absent;
    let folder = Folder::new(&[("base.csv", &base), ("other.csv", &other)]);
    let args = ["compare", "base.csv", "other.csv", "--margin", "0.1", "--format", "csv"];
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(0));
    crate::check_text("gate_absent", &String::from_utf8(output.stderr).unwrap());
}

#[test]
fn junit_has_a_case_for_each_comparison() {
    let folder = folder();
    let args = ["compare", "base.csv", "near.csv", "worse.csv", "--fail-if-worse", "--junit", "gates.xml"];
    assert_eq!(folder.run(&args).status.code(), Some(1));
    let xml = folder.text("gates.xml");
    crate::check_text("gate_junit", &xml);
    // What must be decided and is not is a failure.
    let args = [&args[..], &["--decisive"]].concat();
    assert_eq!(folder.run(&args).status.code(), Some(1));
    assert!(folder.text("gates.xml").contains("tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\""));
    // A slip does not cost a table.
    let args = ["compare", "base.csv", "near.csv", "--fail-if-worse", "--junit", "worse.csv"];
    assert_eq!(folder.run(&args).status.code(), Some(2));
    assert!(folder.text("worse.csv").starts_with("id,"));
}
