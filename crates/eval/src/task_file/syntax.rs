//! From text to tables, and what is no TOML in it.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::section::TaskFile;

/// Reads the text as far as it is TOML. Returns the places where it is not, besides reporting them.
pub(super) fn parse<'t>(file: &TaskFile<'t>) -> (DeTable<'t>, Vec<Range<usize>>) {
    let text = file.text;
    let (table, mut errors) = DeTable::parse_recoverable(text);
    let table = table.into_inner();
    errors.sort_by_key(|error| place(error).start);
    file.mistakes.is_broken.set(!errors.is_empty());

    // A bracket that is never closed is reported once, and not at every line behind it.
    let mut reported = None;
    for error in &errors {
        let within = Some(entry_around(text, &table, &place(error)));
        if within == reported {
            continue;
        }
        // After a bare word the parser continues as if it had quotes.
        if unquoted(text, error).is_none() {
            reported = within;
        }
        report(file, error);
    }
    (table, errors.iter().map(place).collect())
}

fn place(error: &Error) -> Range<usize> {
    error.span().unwrap_or_default()
}

/// Where the entry of the file starts that this place is in, or right behind; else its line.
fn entry_around(text: &str, table: &DeTable<'_>, place: &Range<usize>) -> usize {
    let start = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let start = key.span().start;
        (start <= place.start && place.start <= value.span().end).then_some(start)
    };
    let line = || text.get(..place.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    table.iter().find_map(start).unwrap_or_else(line)
}

/// The bare word that stands where only a string in quotes could.
fn unquoted<'t>(text: &'t str, error: &Error) -> Option<&'t str> {
    let word = text.get(place(error)).filter(|word| !word.is_empty())?;
    // A word that starts like `true`, `false`, `inf` or `nan` is taken for one of them.
    let is_guess =
        error.message().starts_with("invalid boolean") || error.message().starts_with("invalid float");
    let is_word = word.starts_with(char::is_alphabetic) && boolean(word).is_none();
    (error.message().starts_with("string values must be quoted") || is_guess && is_word).then_some(word)
}

/// `True` and the like.
fn boolean(word: &str) -> Option<&'static str> {
    ["true", "false"].into_iter().find(|boolean| word.eq_ignore_ascii_case(boolean))
}

/// Words it so that it fits a task file, where the parser's own are about grammar.
fn report(file: &TaskFile<'_>, error: &Error) {
    let text = file.text;
    let place = place(error);
    let written = text.get(place.clone()).unwrap_or_default();
    let next = text.get(place.start..).and_then(|rest| rest.chars().next());
    let message = error.message();
    let with_hint = |message: &str, hint: &str| (message.to_owned(), Some(hint.to_owned()));
    let (message, hint) = match (unquoted(text, error), boolean(written), next) {
        (Some(word), ..) => with_hint("a string must stand in quotes", &format!("write {}", quoted(word))),
        (None, Some(boolean), _) => {
            with_hint(&format!("`{written}` is no value"), &format!("write {boolean}"))
        }
        _ if message.starts_with("string values must be quoted") => ("there is no value".to_owned(), None),
        _ if message == "duplicate key" => (format!("the key `{written}` is given twice"), None),
        _ if message.ends_with("string, expected `\"`") || message.ends_with("string, expected `'`") => {
            ("a string in quotes is not closed".to_owned(), None)
        }
        (.., Some(c)) if message.starts_with("missing escaped value") => with_hint(
            &format!("`\\{c}` is an invalid escape sequence"),
            "write a backslash as \\\\, or the string in single quotes",
        ),
        // It is often not the comma that is missing.
        _ if message.starts_with("missing comma") && starts_line(text, place.start) => {
            with_hint(message, "or the bracket that was opened above is not closed")
        }
        _ if written == ":" => with_hint(message, "between a key and its value stands `=`"),
        _ => (message.to_owned(), None),
    };
    file.mistakes.add(place, message, hint);
}

/// Whether there are only blanks before this byte of its line.
fn starts_line(text: &str, at: usize) -> bool {
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next());
    line.is_some_and(|line| line.trim().is_empty())
}

/// The string in quotes that it needs no escapes in, if there are such.
pub(super) fn quoted(text: &str) -> String {
    if text.contains('"') { format!("'{text}'") } else { format!("\"{text}\"") }
}
