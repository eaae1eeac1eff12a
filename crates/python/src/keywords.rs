//! Options of the command line in messages, as keyword arguments of Python.

use errorbar::analysis;
use pyo3::prelude::*;

/// The options that have another name in Python than their own with `_` for `-`, and that name.
pub(crate) const OPTION_NAMES: [(&str, &str); 8] = [
    ("--score-column", "score"),
    ("--id-column", "id"),
    ("--epoch-column", "epoch"),
    ("--metric", "metrics"),
    ("--reducer", "reducers"),
    ("--scorers", "compare_scorers"),
    ("--scorer", "scorers"),
    ("--from", "runs"),
];
/// The options whose value is a number, or two.
const NUMBERS: [&str; 27] = [
    "--alpha",
    "--call-cost",
    "--correlation",
    "--design-effect",
    "--difference",
    "--draws",
    "--epochs",
    "--equivalent",
    "--level",
    "--margin",
    "--max-columns",
    "--max-ratio",
    "--max-samples",
    "--min-difference",
    "--p01",
    "--p10",
    "--population",
    "--power",
    "--range",
    "--sample-cost",
    "--samples",
    "--scale",
    "--sd",
    "--sd-within",
    "--seed",
    "--share",
    "--width",
];
/// The options with a list of placeholders.
const LISTS: [&str; 2] = ["--from", "--scorers"];
/// The options whose value is a sign that ends a value elsewhere.
const SIGNS: [&str; 2] = ["--decimal", "--delimiter"];
/// Words that follow the name of an option in a sentence, and are no value of it.
const WORDS: [&str; 34] = [
    "and",
    "as",
    "both",
    "by",
    "counts",
    "does",
    "exists",
    "for",
    "if",
    "in",
    "is",
    "lists",
    "matches",
    "names",
    "need",
    "needs",
    "of",
    "once",
    "or",
    "otherwise",
    "reads",
    "say",
    "says",
    "sets",
    "shows",
    "skips",
    "such",
    "takes",
    "the",
    "to",
    "twice",
    "where",
    "with",
    "writes",
];

/// Whether an option needs no value, so that it is True or False in Python.
#[pyfunction]
pub(crate) fn is_flag(option: &str) -> bool {
    analysis::is_flag(option)
}

/// A text with keyword arguments for options. Commands stay as they are: `` `score --strict` ``.
pub(crate) fn keywords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, option) = rest.split_at(at);
        out.push_str(before);
        let end = option.find(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
        let (name, after) = option.split_at(end.unwrap_or(option.len()));
        let is_start = out.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
        if !is_start || name.len() < 4 || is_in_command(&out) {
            out.push_str(name);
            rest = after;
            continue;
        }
        let (argument, after) = argument(name, after);
        out.push_str(&argument);
        rest = match after.strip_prefix(' ') {
            // Arguments are separated.
            Some(next) if next.starts_with("--") && !argument.ends_with('=') => {
                out.push_str(", ");
                next
            }
            _ => after,
        };
    }
    out.push_str(rest);
    out
}

/// Whether what follows this text is within backticks, behind a word.
fn is_in_command(before: &str) -> bool {
    before.matches('`').count() % 2 == 1 && !before.ends_with('`')
}

/// An option as an argument, and what follows it: of ` 0 10;` behind `--range` that is `range=(0, 10)` and `;`. An option
/// without its value is a name: `range=`.
fn argument<'a>(name: &str, after: &'a str) -> (String, &'a str) {
    if name == "--no-reduce" {
        return ("reduce=False".to_owned(), after);
    }
    let known =
        OPTION_NAMES.iter().find(|(option, _)| *option == name).map(|(_, keyword)| (*keyword).to_owned());
    let keyword = known.unwrap_or_else(|| name.trim_start_matches('-').replace('-', "_"));
    // The parser of options writes what a value is, and what it may be: ` <SIZE>` and `[=<N>]`.
    if let Some((value, rest)) = after.strip_prefix("[=").and_then(|after| after.split_once(']')) {
        return (format!("{keyword}={value}"), rest);
    }
    if let Some(rest) = after.strip_prefix(' ').filter(|after| after.starts_with('<')) {
        return (format!("{keyword}="), rest);
    }
    if is_flag(name) && !after.starts_with('=') {
        return (format!("{keyword}=True"), after);
    }
    let is_number = NUMBERS.contains(&name);
    let (mut values, mut rest) = (Vec::new(), after);
    let most = if is_number || LISTS.contains(&name) { 2 } else { 1 };
    while values.len() < most {
        let Some((value, behind)) = value(rest, SIGNS.contains(&name)) else { break };
        let is_placeholder = value.chars().all(|c| c.is_ascii_uppercase());
        let is_numeric = value.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        // Where a number or a second value can stand, a word is a word.
        let is_any = !is_number && values.is_empty();
        if !is_any && !is_numeric && !is_placeholder {
            break;
        }
        let is_bare = is_number || name == "--from" && is_placeholder || value.starts_with('\'');
        values.push(if is_bare { value.to_owned() } else { format!("{value:?}") });
        rest = behind;
    }
    let value = match values.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        several if is_number => format!("({})", several.join(", ")),
        several => format!("[{}]", several.join(", ")),
    };
    (format!("{keyword}={value}"), rest)
}

/// The value of an option that stands before this text, and what follows it: of ` judge?` that is `judge` and `?`.
fn value(text: &str, is_sign: bool) -> Option<(&str, &str)> {
    let text = text.strip_prefix([' ', '='])?;
    let end = match text.strip_prefix('\'') {
        Some(quoted) => quoted.find('\'').map(|end| end + 2)?,
        None if is_sign && text.starts_with(|c: char| c.is_ascii_punctuation()) => 1,
        None => text.find(|c: char| c.is_whitespace() || ";,?):`".contains(c)).unwrap_or(text.len()),
    };
    let (value, rest) = text.split_at(end);
    let is_value = match value.chars().next()? {
        '-' => !value.starts_with("--"),
        c => is_sign || c == '\'' || c == '_' || c.is_alphanumeric(),
    };
    (is_value && !WORDS.contains(&value)).then_some((value, rest))
}
