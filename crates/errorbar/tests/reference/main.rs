//! `docs/reference.md` is made of the registry: every entry with its arguments, and nothing by hand.
//!
//! `UPDATE_REFERENCE=1 cargo test -p errorbar --test reference` writes the page.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected should stop there"
)]

#[cfg(unix)]
mod examples;
mod page;

use std::collections::HashSet;

use errorbar::core::Spec;
use errorbar::core::registry::{EntryInfo, EntryKind};
use errorbar::eval::built_in_registry;
use errorbar::eval::{AnyScorer, AnySolver};
use errorbar::prelude::*;

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
            let is_typed = !param.expected.is_empty() || param.name.starts_with("**");
            assert!(is_typed, "{}({}) has no type", info.name, param.name);
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

/// All entries that are documented with sections, by kind.
pub(crate) fn documented(registry: &Registry) -> Vec<(&'static str, &EntryInfo)> {
    let kinds: [(&'static str, Vec<&EntryInfo>); 4] = [
        ("metric", registry.list_metrics().collect()),
        ("reducer", registry.list_reducers().collect()),
        ("scorer", registry.list::<AnyScorer>().collect()),
        ("solver", registry.list::<AnySolver>().collect()),
    ];
    kinds
        .into_iter()
        .flat_map(|(kind, entries)| entries.into_iter().map(move |entry| (kind, entry)))
        .collect()
}

#[test]
fn every_entry_says_how_when_and_what_else() {
    let registry = built_in_registry();
    let documented = documented(&registry);
    let names: HashSet<&str> = documented.iter().map(|(_, entry)| entry.name.as_str()).collect();
    for (kind, entry) in &documented {
        let (name, sections) = (&entry.name, &entry.sections);
        let has_formula = !sections.formula.is_empty() || matches!(*kind, "scorer" | "solver");
        assert!(has_formula, "the {kind} {name} has no section `# Formula`");
        assert!(sections.when.ends_with('.'), "the {kind} {name}: `# When` is {:?}", sections.when);
        assert!(sections.example.contains("$ errorbar "), "the {kind} {name} has no example");
        // The example is one of this entry, by name.
        assert!(sections.example.contains(name.as_str()), "the example of the {kind} {name} is of another");
        assert!(!sections.see_also.is_empty(), "the {kind} {name} has no section `# See also`");
        for other in sections.see_also {
            assert!(names.contains(other), "the {kind} {name}: see also `{other}`, which there is not");
            assert_ne!(other, name, "the {kind} {name}: see also itself");
        }
        // A paper with its year, or whose definition it is.
        let source = sections.source;
        let is_named = source.contains("inspect_ai") || source.contains("errorbar");
        let has_year = source.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() == 4);
        assert!(
            source.ends_with('.') && (is_named || has_year),
            "the {kind} {name}: `# Source` is {source:?}"
        );
    }
}

/// Formulas are shown as they are, in terminals too.
#[test]
fn formulas_fit_a_terminal() {
    for (kind, entry) in documented(&built_in_registry()) {
        for line in entry.sections.formula.lines() {
            assert!(line.chars().count() <= 110, "the {kind} {}: {line}", entry.name);
        }
    }
}
