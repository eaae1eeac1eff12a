//! The reference's answers, committed under `conformance/cases`, against ours.
//!
//! `conformance/README.md` says how the cases are made and gives a verdict for every tag of a case
//! where we part from the reference on purpose; `verdicts.rs` says what ours must do there.

mod case;
mod compare;
mod estimates;
mod tables;
mod verdicts;

fn check(file: &str) {
    let cases = case::read(file);
    assert!(!cases.is_empty(), "{file} holds no case");
    let mut problems = Vec::new();
    for case in &cases {
        let outcome = case.run();
        let differences = compare::differences(case, &outcome);
        let found = match &case.verdict {
            None => differences,
            Some(tag) => verdicts::check(tag, case, &outcome, &differences),
        };
        if !found.is_empty() {
            problems.push(format!("{}: {}", case.name, found.join("; ")));
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
            let mut listed = vec![$($file),*];
            listed.extend(["python_text.json", "value_to_float.json"]);
            listed.sort_unstable();
            assert_eq!(case::files(), listed);
        }

        #[test]
        fn there_are_enough_cases() {
            let count: usize = [$($file),*].iter().map(|file| case::read(file).len()).sum();
            assert!(count >= 400, "{count}");
        }
    };
}

conformance! {
    aggregate: "aggregate.json",
    bootstrap: "bootstrap.json",
    clustered: "clustered.json",
    conversion: "conversion.json",
    empty: "empty.json",
    frequency: "frequency.json",
    grouped: "grouped.json",
    headline: "headline.json",
    infinite: "infinite.json",
    krippendorff: "krippendorff.json",
    majority: "majority.json",
    maps: "maps.json",
    metrics_basic: "metrics-basic.json",
    missing: "missing.json",
    naming: "naming.json",
    perplexity: "perplexity.json",
    ranges: "ranges.json",
    reducer_errors: "reducer-errors.json",
    reducer_fields: "reducer-fields.json",
    reducer_options: "reducer-options.json",
    reducers: "reducers.json",
    scorers: "scorers.json",
    unscored: "unscored.json",
    wants: "wants.json",
}

#[test]
fn every_verdict_is_written_down() {
    let readme = std::fs::read_to_string(case::folder().join("../README.md")).unwrap();
    for file in case::files() {
        if matches!(file.as_str(), "python_text.json" | "value_to_float.json") {
            continue;
        }
        for case in case::read(&file) {
            if let Some(tag) = &case.verdict {
                assert!(readme.contains(&format!("- **`{tag}`**")), "no verdict for {tag}");
            }
        }
    }
    assert!(!readme.to_lowercase().contains("to be settled"), "an open verdict");
}
