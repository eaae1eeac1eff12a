//! What the reference's text scorers said, committed under `conformance/cases/text`, against ours.
//!
//! `conformance/README.md` says how the cases are made and gives a verdict for every tag of a case where we
//! part from the reference on purpose; `verdicts.rs` says what ours must do there.

mod case;
mod verdicts;

fn check(file: &str) {
    let cases = case::read(file);
    assert!(cases.len() >= 40, "{file} holds only {} cases", cases.len());
    let mut problems = Vec::new();
    for case in &cases {
        let ours = case.run();
        let differences = case.differences(&ours);
        let found = match &case.verdict {
            None => differences,
            Some(tag) => verdicts::check(tag, &ours, &differences),
        };
        if !found.is_empty() {
            problems.push(format!("{}: {}\n    {}", case.name, found.join("; "), case.summary()));
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {} cases of {file} differ from the reference:\n{}",
        problems.len(),
        cases.len(),
        problems.into_iter().take(25).collect::<Vec<_>>().join("\n")
    );
}

macro_rules! conformance {
    ($($name:ident: $file:literal,)*) => {
        $(
            #[test]
            fn $name() {
                check($file);
            }
        )*

        #[test]
        fn every_file_is_checked() {
            assert_eq!(case::files(), [$($file),*]);
        }
    };
}

conformance! {
    answer: "answer.json",
    choice: "choice.json",
    exact: "exact.json",
    f1: "f1.json",
    includes: "includes.json",
    match_numeric: "match-numeric.json",
    match_text: "match.json",
    pattern: "pattern.json",
}

#[test]
fn every_verdict_is_written_down() {
    let readme = std::fs::read_to_string(case::folder().join("../../README.md")).unwrap();
    for file in case::files() {
        for tag in case::read(&file).iter().filter_map(|case| case.verdict.as_deref()) {
            assert!(readme.contains(&format!("- **`{tag}`**")), "no verdict for {tag}");
        }
    }
}

/// A test that compares nothing would pass: each kind of outcome must occur in each file that can have it.
#[test]
fn the_cases_tell_right_from_wrong() {
    for file in case::files() {
        let cases = case::read(&file);
        let with = |value: &str| cases.iter().filter(|case| case.expect["value"] == value).count();
        match file.as_str() {
            "f1.json" => {
                assert!(cases.iter().any(|c| c.expect["value"].as_f64().is_some_and(|v| 0.0 < v && v < 1.0)))
            }
            _ => assert!(with("C") >= 40 && with("I") >= 40, "{file}: {} C, {} I", with("C"), with("I")),
        }
    }
}
