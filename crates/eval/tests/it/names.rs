//! What is decided by a property of entries is not decided by their names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use errorbar_eval::{AnyScorer, built_in_registry};
use fancy_regex::Regex;

/// Where names are what it is about: the definitions of entries, and what names in logs mean.
const EXEMPT: [&str; 4] = [
    "crates/core/src/metrics/",
    "crates/core/src/reducers/",
    "crates/eval/src/scorers/",
    "crates/log/src/inspect/",
];

/// Words that are names of entries and here of something else, by file.
const OTHERS: [(&str, &str); 11] = [
    ("crates/analysis/src/compare/flips.rs", "const ANSWER: &str = \"answer\";"),
    ("crates/eval/src/expression/names.rs", "name == \"pattern\""),
    ("crates/eval/src/task_file/options.rs", "section.get(\"count\")"),
    ("crates/eval/src/task_file/few_shot.rs", "section.get(\"count\")"),
    // As the reference fills this column of its frames.
    ("crates/log/src/eval/frames/evals.rs", "it.score.value(\"stderr\")"),
    ("crates/log/src/eval/frames/samples.rs", "fallback.get(\"count\")"),
    ("crates/log/src/eval/wire.rs", "\"answer\" => score.answer"),
    ("crates/table/src/layout.rs", "\"answer\" | \"explanation\""),
    ("crates/table/src/layout.rs", "\"answer\" if is_long"),
    ("crates/table/src/score_records.rs", "\"answer\" => score.answer"),
    ("crates/table/src/resolve/doubts.rs", "is_gold(name) || name.eq_ignore_ascii_case(\"answer\")"),
];

/// Lines that compare something with one of these names.
fn comparisons(names: &[String]) -> Regex {
    let name = format!("[\"'](?:inspect_ai/|errorbar/)?(?:{})[\"']", names.join("|"));
    let call = "contains|contains_key|starts_with|ends_with|strip_prefix|strip_suffix|eq|eq_ignore_ascii_case|get|value\
                |find|any|remove|position";
    let forms = [
        format!(r"[=!]=\s*(?:&|Some\(|Ok\()*{name}"),
        format!(r"{name}\)*\s*[=!]="),
        // An arm of a match, or one of several patterns.
        format!(r"{name}\)*\s*(?:\||=>|if )"),
        format!(r"(?:[\x22')]\s*|^\s*)\|\s*(?:Some\()?{name}"),
        format!(r"matches!\(.*{name}"),
        format!(r"\b(?:{call})\(&?{name}"),
        format!(r"^(?!for\b).*\bin\s*[\[({{].*{name}"),
        format!(r"const \w+: &(?:'static )?str = {name}"),
    ];
    Regex::new(&forms.join("|")).unwrap()
}

/// The source files in a folder and below it, without tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_source =
            ["rs", "py", "js"].iter().any(|kind| path.extension().is_some_and(|found| found == *kind));
        if path.is_dir() && !["tests", "target", "test-support", "node_modules"].contains(&name.as_str()) {
            sources(&path, found);
        } else if is_source && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// The code without comments and without tests within the file.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let is_module = |at: &usize| text[*at..].lines().take(4).any(|line| line.ends_with("mod tests {"));
    let end = text.match_indices("#[cfg(test)]").map(|(at, _)| at).find(is_module);
    text[..end.unwrap_or(text.len())]
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//") && !line.starts_with('#'))
}

#[test]
fn nothing_is_decided_by_the_name_of_a_metric() {
    let registry = built_in_registry();
    let entries = registry.list_metrics().chain(registry.list_reducers()).chain(registry.list::<AnyScorer>());
    let names: Vec<String> = entries.map(|entry| entry.name.to_string()).collect();
    assert!(["accuracy", "pass_at", "choice"].iter().all(|name| names.iter().any(|found| found == name)));
    let (comparisons, known) =
        (comparisons(&names), names.iter().map(String::as_str).collect::<HashSet<_>>());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    ["crates", "bench/src", "examples", "fuzz"]
        .iter()
        .for_each(|folder| sources(&root.join(folder), &mut files));
    assert!(files.len() > 500, "{}", files.len());
    let (mut found, mut others) = (Vec::new(), [false; OTHERS.len()]);
    for path in files {
        let file = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        if EXEMPT.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let has_name = |line: &&str| {
            let literals = line.split(['"', '\'']).map(|word| word.rsplit('/').next().unwrap_or(word));
            literals.into_iter().any(|word| known.contains(word))
        };
        for line in code(&text).filter(has_name).filter(|line| comparisons.is_match(line).unwrap()) {
            match OTHERS.iter().position(|(of, part)| *of == file && line.contains(part)) {
                Some(at) => others[at] = true,
                None => found.push(format!("{file}: {line}")),
            }
        }
    }
    assert!(found.is_empty(), "a name decides; let the entry say it:\n{}", found.join("\n"));
    let unused: Vec<_> = OTHERS.iter().zip(others).filter(|(_, is_there)| !is_there).collect();
    assert!(unused.is_empty(), "no longer there: {unused:?}");
}
