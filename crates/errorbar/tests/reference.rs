//! `docs/reference.md` is made of the registry: every entry with its arguments, and nothing by hand.
//!
//! `UPDATE_REFERENCE=1 cargo test -p errorbar --test reference` writes the page.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected should stop there"
)]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use errorbar::eval::{Provider, built_in_registry};
use errorbar::prelude::*;
use errorbar::registry::{EntryInfo, EntryKind};

const HEAD: &str = "# Everything that can be named

Made from the registry by a test, which also compares the two: \
`UPDATE_REFERENCE=1 cargo test -p errorbar\n--test reference` writes this page. \
`errorbar list` shows the same, custom entries included. Arguments stand\nin order; \
those without a default are required.
";

fn page(registry: &Registry) -> String {
    let mut page = HEAD.to_owned();
    section(&mut page, "Metrics", registry.list_metrics());
    section(&mut page, "Reducers", registry.list_reducers());
    section(&mut page, "Scorers", registry.list::<AnyScorer>());
    section(&mut page, "Solvers", registry.list::<AnySolver>());
    section(&mut page, "Conversions", registry.list_conversions());
    page += "\n## Models\n\n| written | what it is |\n|---|---|\n";
    for provider in registry.list::<Provider>() {
        writeln!(page, "| `{}/…` | {} |", provider.name, cell(&provider.summary())).unwrap();
    }
    page
}

fn section<'r>(page: &mut String, title: &str, entries: impl Iterator<Item = &'r EntryInfo>) {
    writeln!(page, "\n## {title}").unwrap();
    for entry in entries {
        writeln!(page, "\n### {}\n\n```text\n{}\n```", entry.name, entry.signature()).unwrap();
        for paragraph in entry.doc.split("\n\n") {
            writeln!(page, "\n{}", wrapped(&paragraph.split_whitespace().collect::<Vec<_>>().join(" ")))
                .unwrap();
        }
        if !entry.params.is_empty() {
            *page += "\n| argument | default | what it is |\n|---|---|---|\n";
        }
        for param in &entry.params {
            let default = param.default.as_ref().map(|default| format!("`{}`", cell(default)));
            let (name, default) = (param.name, default.unwrap_or_default());
            writeln!(page, "| `{name}` | {default} | {} |", cell(param.doc)).unwrap();
        }
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A paragraph in lines of at most 110 characters.
fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split(' ') {
        let line = lines.last_mut().unwrap();
        match line.chars().count() + 1 + word.chars().count() {
            0..=110 if line.is_empty() => line.push_str(word),
            0..=110 => write!(line, " {word}").unwrap(),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[test]
fn the_page_is_that_of_the_registry() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md");
    // Providers of the feature `providers` are not in a default build.
    let page = page(&built_in_registry());
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, page, "run with UPDATE_REFERENCE=1 and look at the difference");
}

/// A spec with every argument at its default, or at something that fits.
fn full_spec(info: &EntryInfo, file: &str) -> String {
    let arguments = info.params.iter().map(|param| {
        let value = match (param.name, &param.default) {
            ("metric" | "agg", None) => "accuracy()".to_owned(),
            ("scorers", None) => "[includes()]".to_owned(),
            ("reducer", None) => "\"mode\"".to_owned(),
            ("k" | "j", None) => "2".to_owned(),
            ("q", None) => "0.9".to_owned(),
            ("condition", None) => "\"key=value\"".to_owned(),
            ("pattern", None) if info.name == "answer" => "\"line\"".to_owned(),
            ("file", None) => format!("{file:?}"),
            ("command", None) => "[\"true\"]".to_owned(),
            ("**params", None) => return "custom=\"word\"".to_owned(),
            (_, None) => "\"key\"".to_owned(),
            (_, Some(default)) => default.clone(),
        };
        format!("{}={value}", param.name)
    });
    format!("{}({})", info.name, arguments.collect::<Vec<_>>().join(", "))
}

/// Every entry of a kind: documented with each of its arguments, named once, buildable at its defaults, and equal to itself
/// through its spec.
fn walk<T: EntryKind>(spec_of: impl Fn(&T) -> Spec) {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("scores.csv");
    std::fs::write(&table, "id,score\n1,1\n").unwrap();
    let (registry, mut names) = (built_in_registry(), HashSet::new());
    for info in registry.list::<T>() {
        assert!(names.insert(info.name.as_str()), "{} twice", info.name);
        assert!(info.doc.ends_with('.') && info.built_in, "{}: {:?}", info.name, info.doc);
        for param in &info.params {
            assert!(param.doc.ends_with('.'), "{}({}): {:?}", info.name, param.name, param.doc);
        }
        let text = full_spec(info, table.to_str().unwrap());
        let built: T =
            registry.build(&text.parse().unwrap()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let spec = spec_of(&built);
        let again: T = registry.build(&spec.to_string().parse().unwrap()).unwrap();
        assert_eq!(spec_of(&again), spec, "{text}");
    }
    assert!(!names.is_empty());
}

#[test]
fn every_entry_is_documented_and_comes_back_from_its_spec() {
    walk::<std::sync::Arc<dyn Metric>>(|metric| metric.spec());
    walk::<std::sync::Arc<dyn Reducer>>(|reducer| reducer.spec());
    walk::<AnyScorer>(|scorer| scorer.spec());
    walk::<AnySolver>(|solver| solver.spec());
    walk::<Conversion>(Conversion::spec);
}
