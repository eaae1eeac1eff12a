//! `docs/reference.md`, as the registry has it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use errorbar::core::registry::EntryInfo;
use errorbar::eval::{AnyScorer, AnySolver};
use errorbar::eval::{Provider, built_in_registry};
use errorbar::prelude::*;

const HEAD: &str = "# Everything that can be named

Made from the registry by a test, which also compares the two and runs the examples: `UPDATE_REFERENCE=1
cargo test -p errorbar --test reference` writes this page. `errorbar help NAME` shows the same in the
terminal, custom entries included. Arguments stand in order; those without a default are required.
";

/// The headings of entries: which anchor each has.
struct Anchors(HashMap<(&'static str, String), String>);

impl Anchors {
    /// A heading that occurs again gets a number.
    fn new(sections: &[(&'static str, Vec<&EntryInfo>)]) -> Self {
        let (mut counts, mut anchors) = (HashMap::<String, usize>::new(), HashMap::new());
        for (title, entries) in sections {
            *counts.entry(title.to_lowercase()).or_default() += 1;
            for entry in entries {
                let count = counts.entry(entry.name.clone()).or_default();
                let anchor = if *count == 0 { entry.name.clone() } else { format!("{}-{count}", entry.name) };
                *count += 1;
                anchors.insert((*title, entry.name.clone()), anchor);
            }
        }
        Anchors(anchors)
    }

    /// The link to an entry: of the same kind, if there are several of the name.
    fn link(&self, title: &'static str, name: &str) -> String {
        let titles = [title, "Metrics", "Reducers", "Scorers", "Solvers"];
        let anchor = titles.iter().find_map(|title| self.0.get(&(*title, name.to_owned()))).unwrap();
        format!("[`{name}`](#{anchor})")
    }
}

fn page(registry: &Registry) -> String {
    let sections: [(&'static str, Vec<&EntryInfo>); 5] = [
        ("Metrics", registry.list_metrics().collect()),
        ("Reducers", registry.list_reducers().collect()),
        ("Scorers", registry.list::<AnyScorer>().collect()),
        ("Solvers", registry.list::<AnySolver>().collect()),
        ("Conversions", registry.list_conversions().collect()),
    ];
    let (mut page, anchors) = (HEAD.to_owned(), Anchors::new(&sections));
    for (title, entries) in &sections {
        let links: Vec<String> = entries.iter().map(|entry| anchors.link(title, &entry.name)).collect();
        writeln!(page, "\n## {title}\n\n{}", wrapped(&links.join(", "))).unwrap();
        entries.iter().for_each(|entry| add_entry(&mut page, title, entry, &anchors));
    }
    page += "\n## Models\n\n| written | what it is |\n|---|---|\n";
    for provider in registry.list::<Provider>() {
        writeln!(page, "| `{}/…` | {} |", provider.name, cell(&provider.summary())).unwrap();
    }
    page
}

fn add_entry(page: &mut String, title: &'static str, entry: &EntryInfo, anchors: &Anchors) {
    let sections = &entry.sections;
    writeln!(page, "\n### {}\n\n```text\n{}\n```", entry.name, entry.signature()).unwrap();
    for paragraph in entry.doc.split("\n\n") {
        let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(page, "\n{}", wrapped(&paragraph)).unwrap();
    }
    if !sections.formula.is_empty() {
        writeln!(page, "\n```text\n{}\n```", sections.formula).unwrap();
    }
    if !entry.params.is_empty() {
        *page += "\n| argument | type | default | what it is |\n|---|---|---|---|\n";
    }
    for param in &entry.params {
        let default = param.default.as_ref().map(|default| format!("`{}`", cell(default)));
        let (name, default) = (param.name, default.unwrap_or_default());
        writeln!(page, "| `{name}` | {} | {default} | {} |", cell(param.expected), cell(param.doc)).unwrap();
    }
    if !sections.when.is_empty() {
        writeln!(page, "\n{}", wrapped(&format!("*When:* {}", sections.when))).unwrap();
    }
    if !sections.example.is_empty() {
        writeln!(page, "\n```console\n{}\n```", sections.example).unwrap();
    }
    if !sections.see_also.is_empty() {
        let links: Vec<String> = sections.see_also.iter().map(|name| anchors.link(title, name)).collect();
        writeln!(page, "\n{}", wrapped(&format!("*See also:* {}", links.join(", ")))).unwrap();
    }
    if !sections.source.is_empty() {
        writeln!(page, "\n{}", wrapped(&format!("*Source:* {}", sections.source))).unwrap();
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
