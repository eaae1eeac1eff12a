//! The loop over conformance cases: what is computed is compared with the answers of the reference, committed under
//! `conformance/cases`; `conformance/README.md` says how they are made.

use std::path::PathBuf;

use serde_json::Value as Json;

use crate::{file_names, workspace};

/// The names of the files with cases in a folder below `conformance/cases`, sorted.
pub fn files(folder: &str) -> Vec<String> {
    let is_json = |name: &String| name.ends_with(".json");
    file_names(&cases_folder().join(folder)).into_iter().filter(is_json).collect()
}

/// A file of cases or tables, by its path below `conformance/cases`.
pub fn read_json(file: &str) -> Json {
    let text = std::fs::read_to_string(cases_folder().join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn cases_folder() -> PathBuf {
    workspace().join("conformance/cases")
}

/// The cases of a file.
pub fn cases(file: &str) -> Vec<ReferenceCase> {
    let json = read_json(file);
    let string = |json: &Json| json.as_str().unwrap().to_owned();
    let case = |json: &Json| ReferenceCase {
        name: string(&json["name"]),
        verdict: json.get("verdict").map(string),
        expect: json["expect"].clone(),
        json: json.clone(),
    };
    json["cases"].as_array().unwrap().iter().map(case).collect()
}

/// A case with the answer of the reference.
#[derive(Debug, Clone)]
pub struct ReferenceCase {
    /// The name, unique in its file.
    pub name: String,
    /// The tag of the verdict if ours differs from the reference on purpose.
    pub verdict: Option<String>,
    /// The answer of the reference.
    pub expect: Json,
    /// All of the case.
    pub json: Json,
}

/// Checks all cases of a file, of which there must be at least `least`. `differences` compares ours with the reference;
/// `judge` returns what is wrong with ours under a verdict, by its tag.
pub fn check<O>(
    file: &str,
    least: usize,
    compute: impl Fn(&ReferenceCase) -> O,
    differences: impl Fn(&ReferenceCase, &O) -> Vec<String>,
    judge: impl Fn(&str, &ReferenceCase, &O, &[String]) -> Vec<String>,
) {
    let cases = cases(file);
    assert!(cases.len() >= least, "{file} has only {} cases", cases.len());
    let mut problems = Vec::new();
    for case in &cases {
        let ours = compute(case);
        let differences = differences(case, &ours);
        let found = match &case.verdict {
            None => differences,
            Some(tag) => judge(tag, case, &ours, &differences),
        };
        if !found.is_empty() {
            problems.push(format!("{}: {}\n    {}", case.name, found.join("; "), case.json));
        }
    }
    let shown: Vec<String> = problems.iter().take(25).cloned().collect();
    assert!(
        problems.is_empty(),
        "{} of {} cases of {file} differ from the reference:\n{}",
        problems.len(),
        cases.len(),
        shown.join("\n")
    );
}

/// Checks that `conformance/README.md` explains every verdict in these files, and leaves none open.
pub fn check_verdicts(files: impl IntoIterator<Item = String>) {
    let readme = std::fs::read_to_string(workspace().join("conformance/README.md")).unwrap();
    for file in files {
        for tag in cases(&file).iter().filter_map(|case| case.verdict.as_deref()) {
            assert!(readme.contains(&format!("- **`{tag}`**")), "{file}: no verdict for {tag}");
        }
    }
    assert!(!readme.to_lowercase().contains("to be settled"), "an open verdict");
}

/// A test for each file of cases, and one that no file was forgotten.
///
/// `check` runs the cases of a file; `folder` is where the files are, below `conformance/cases`; `besides` are files
/// there that other tests read.
#[macro_export]
macro_rules! conformance_tests {
    (check: $check:path, folder: $folder:literal, besides: [$($other:literal),*], $($name:ident: $file:literal,)*) => {
        $(
            #[test]
            fn $name() {
                $check($file);
            }
        )*

        #[test]
        fn every_file_is_checked() {
            let mut listed: Vec<&str> = vec![$($file,)* $($other),*];
            listed.sort_unstable();
            assert_eq!($crate::conformance::files($folder), listed);
        }
    };
}
