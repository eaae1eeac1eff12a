//! Options that pages name in backticks, against the help of the commands.

use std::collections::{BTreeMap, BTreeSet};

use super::page::Page;
use crate::{errorbar, workspace};

/// Options of other programs, which pages name.
const OF_OTHERS: [&str; 13] = [
    "--log_samples",
    "--output",
    "--repeat",
    "--release",
    "--workspace",
    "--path",
    "--features",
    "--test",
    "--repo-type",
    "--apply_chat_template",
    "--num_fewshot",
    "--output_path",
    "--bootstrap_iters",
];

/// The options in a text: words that begin with two dashes.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    text.match_indices("--").filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at..];
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let starts = before.is_none_or(|c| c.is_whitespace() || "([{'\"|".contains(c));
        (starts && end > 2 && rest.as_bytes().get(2).is_some_and(u8::is_ascii_lowercase))
            .then(|| &rest[..end])
    })
}

/// The commands in a help text.
fn verbs(help: &str) -> Vec<String> {
    let after = help.split_once("\nCommands:\n").map_or("", |(_, after)| after);
    let lines = after.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

fn help(words: &[&str]) -> String {
    let words = [words, &["--help"]].concat();
    String::from_utf8(errorbar(&workspace(), &words).output().unwrap().stdout).unwrap()
}

/// The options of every command, by its words: `score`, `log show`.
fn all_options() -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    let of = |help: &str| options(help).map(str::to_owned).collect::<BTreeSet<String>>();
    for verb in verbs(&help(&[])) {
        let text = help(&[&verb]);
        for inner in verbs(&text) {
            all.insert(format!("{verb} {inner}"), of(&help(&[&verb, &inner])));
        }
        all.insert(verb, of(&text));
    }
    all
}

#[test]
fn every_option_that_a_page_names_exists() {
    let all = all_options();
    assert!(all.len() > 10 && all["score"].contains("--metric"), "{all:?}");
    let mut problems = Vec::new();
    for page in Page::all() {
        for (line, span) in page.spans() {
            let place = page.place(line);
            let words: Vec<&str> = span.strip_prefix("errorbar ").unwrap_or(span).split(' ').collect();
            let inner = words.get(..2).map(|words| words.join(" ")).filter(|name| all.contains_key(name));
            let verb = inner.or_else(|| words.first().map(|word| (*word).to_owned()));
            let verb = verb.filter(|name| all.contains_key(name));
            if verb.is_none() && span.strip_prefix("errorbar ").is_some_and(is_verb) {
                problems.push(format!("{place}: there is no command `{span}`"));
            }
            for option in options(span).filter(|option| !OF_OTHERS.contains(option)) {
                let is_known = match &verb {
                    Some(verb) => all[verb].contains(option),
                    None => all.values().any(|options| options.contains(option)),
                };
                if !is_known {
                    problems.push(format!("{place}: `{span}` has no option {option}"));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Whether what follows `errorbar` is meant to be a command: a lower-case word, and not `help`.
fn is_verb(rest: &str) -> bool {
    let word = rest.split(' ').next().unwrap_or_default();
    !word.is_empty() && word != "help" && word.chars().all(|c| c.is_ascii_lowercase())
}
