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

/// A text with keyword arguments for options. Commands stay as they are: `` `score --strict` ``; so do strings in double
/// quotes, which are data.
pub(crate) fn keywords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // The argument before, and where it is written: several values of one are a list.
    let mut last: Option<(usize, Argument<'_>)> = None;
    let mut marks = Marks::default();
    while let Some(at) = rest.find("--") {
        let (before, option) = rest.split_at(at);
        out.push_str(before);
        marks.pass(before);
        let end = option.find(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c));
        let (name, after) = option.split_at(end.unwrap_or(option.len()));
        let is_start = out.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
        if !is_start || name.len() < 4 || marks.is_quoted || marks.is_code && !out.ends_with('`') {
            out.push_str(name);
            rest = after;
            last = None;
            continue;
        }
        let mut argument = Argument::new(name, after);
        rest = argument.rest;
        marks.pass(option.get(..option.len() - rest.len()).unwrap_or_default());
        let mut start = out.len();
        if let Some((first, known)) = last.take().filter(|_| before == " ") {
            let is_same = known.keyword == argument.keyword;
            if is_same && !known.values.is_empty() && !argument.values.is_empty() {
                argument.values = [known.values, argument.values].concat();
                start = first;
                out.truncate(first);
            } else if known.is_whole() {
                // Arguments are separated.
                out.truncate(start - 1);
                out.push_str(", ");
                start = out.len();
            }
        }
        out.push_str(&argument.text());
        last = Some((start, argument));
    }
    out.push_str(rest);
    out
}

/// What the marks before a place make of it.
#[derive(Default)]
struct Marks {
    /// Whether it is within double quotes, which hold data.
    is_quoted: bool,
    is_escaped: bool,
    /// Whether it is within backticks, which hold a command, or an option if that comes first.
    is_code: bool,
}

impl Marks {
    /// Goes on behind this text.
    fn pass(&mut self, text: &str) {
        for byte in text.bytes() {
            self.is_quoted ^= byte == b'"' && !self.is_escaped;
            self.is_code ^= byte == b'`';
            self.is_escaped = byte == b'\\' && !self.is_escaped;
        }
    }
}

/// An option as an argument, and what follows it: of ` 0 10;` behind `--range` that is `range=(0, 10)` and `;`.
struct Argument<'a> {
    keyword: String,
    /// Its values in Python; none if only the option is named.
    values: Vec<String>,
    /// Whether several values are one pair.
    is_pair: bool,
    rest: &'a str,
}

impl<'a> Argument<'a> {
    fn new(name: &str, after: &'a str) -> Self {
        let known = OPTION_NAMES.iter().find(|(option, _)| *option == name);
        let keyword = match known {
            Some((_, keyword)) => (*keyword).to_owned(),
            None => name.trim_start_matches('-').replace('-', "_"),
        };
        let whole = |keyword: String, value: &str, rest: &'a str| Argument {
            keyword,
            values: vec![value.to_owned()],
            is_pair: false,
            rest,
        };
        if name == "--no-reduce" {
            return whole("reduce".to_owned(), "False", after);
        }
        // The parser of options writes what a value is, and what it may be: ` <SIZE>` and `[=<N>]`.
        if let Some((value, rest)) = after.strip_prefix("[=").and_then(|after| after.split_once(']')) {
            return whole(keyword, value, rest);
        }
        if let Some(rest) = after.strip_prefix(' ').filter(|after| after.starts_with('<')) {
            return Argument { keyword, values: Vec::new(), is_pair: false, rest };
        }
        if is_flag(name) && !after.starts_with('=') {
            return whole(keyword, "True", after);
        }
        let (is_number, is_sign) = (NUMBERS.contains(&name), SIGNS.contains(&name));
        let (mut values, mut rest) = (Vec::new(), after);
        let most = if is_number || LISTS.contains(&name) { 2 } else { 1 };
        while values.len() < most {
            let Some((value, behind)) = value(rest, is_sign) else { break };
            let is_placeholder = value.chars().all(|c| c.is_ascii_uppercase());
            let is_numeric = value.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
            // Where a number or a second value can stand, a word is a word.
            let is_any = !is_number && values.is_empty();
            if !is_any && !is_numeric && !is_placeholder {
                break;
            }
            let is_bare = is_number || name == "--from" && is_placeholder;
            values.push(if is_bare { value } else { string(&value) });
            rest = behind;
        }
        Argument { keyword, values, is_pair: is_number, rest }
    }

    /// Whether it has its value.
    fn is_whole(&self) -> bool {
        !self.values.is_empty()
    }

    /// As it is written in a call; without a value it is a name: `range=`.
    fn text(&self) -> String {
        let value = match self.values.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            several if self.is_pair => format!("({})", several.join(", ")),
            several => format!("[{}]", several.join(", ")),
        };
        format!("{}={value}", self.keyword)
    }
}

/// A string of Python: in double quotes, or in single ones if that is easier to read.
fn string(text: &str) -> String {
    let is_plain = text.contains('"') && !text.contains(['\'', '\\']) && !text.contains(char::is_control);
    match is_plain {
        true => format!("'{text}'"),
        // What JSON escapes, Python reads in the same way.
        false => serde_json::Value::from(text).to_string(),
    }
}

/// The value of an option that stands before this text, and what follows it: of ` judge?` that is `judge` and `?`. It is a
/// word of a shell, and may be in its quotes.
fn value(text: &str, is_sign: bool) -> Option<(String, &str)> {
    let is_joined = text.starts_with('=');
    let text = text.strip_prefix([' ', '='])?;
    if is_sign && text.starts_with(|c: char| c.is_ascii_punctuation() && c != '\'') {
        let (sign, rest) = text.split_at(1);
        return Some((sign.to_owned(), rest));
    }
    if text.starts_with('\'') {
        return quoted(text);
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '`').unwrap_or(text.len());
    let value = text.get(..end)?.trim_end_matches([';', ',', '?', ')', ':']);
    let first = value.chars().next()?;
    let is_value =
        is_joined || first == '_' || first.is_alphanumeric() || first == '-' && !value.starts_with("--");
    let is_word = !is_joined && WORDS.contains(&value);
    (is_value && !is_word).then(|| (value.to_owned(), text.get(value.len()..).unwrap_or_default()))
}

/// A word in single quotes, and what follows it. A quote within is written as `'\''`.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut word, mut rest) = (String::new(), text.strip_prefix('\'')?);
    loop {
        let (part, behind) = rest.split_once('\'')?;
        word.push_str(part);
        match behind.strip_prefix("\\''") {
            Some(more) => {
                word.push('\'');
                rest = more;
            }
            None => return Some((word, behind)),
        }
    }
}
