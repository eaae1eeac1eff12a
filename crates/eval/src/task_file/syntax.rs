//! From text to tables, and what is no TOML in it.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::mistake::Mistakes;

/// How the parser says that a value is a bare word; the text goes on as if it had quotes.
const UNQUOTED: &str = "string values must be quoted";

/// Reads the text as far as it is TOML. Returns the places where it is not, besides telling them.
pub(super) fn parse<'t>(text: &'t str, mistakes: &mut Mistakes) -> (DeTable<'t>, Vec<Range<usize>>) {
    let (table, mut errors) = DeTable::parse_recoverable(text);
    let table = table.into_inner();
    errors.sort_by_key(|error| place(error).start);
    mistakes.broken = !errors.is_empty();

    // A bracket that is never closed is told once, and not at every line behind it.
    let mut told = None;
    for error in &errors {
        let within = Some(entry_around(text, &table, &place(error)));
        if within == told {
            continue;
        }
        if !error.message().starts_with(UNQUOTED) {
            told = within;
        }
        tell(text, error, mistakes);
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

fn tell(text: &str, error: &Error, mistakes: &mut Mistakes) {
    let place = place(error);
    let written = text.get(place.clone()).unwrap_or_default();
    let (message, hint) = match error.message() {
        message if message.starts_with(UNQUOTED) && !written.is_empty() => {
            ("a text must stand in quotes".to_owned(), Some(format!("write {}", quoted(written))))
        }
        message if message.starts_with(UNQUOTED) => ("there is no value".to_owned(), None),
        "duplicate key" => (format!("the key `{written}` is given twice"), None),
        message if message.starts_with("missing escaped value") => (
            message.to_owned(),
            Some("between ' and ' a backslash stands for itself, as in 'pattern(\"\\\\d+\")'".to_owned()),
        ),
        message if written == ":" => {
            (message.to_owned(), Some("between a key and its value stands `=`".to_owned()))
        }
        message if message.starts_with("invalid boolean") => {
            (message.to_owned(), Some("write true or false".to_owned()))
        }
        message => (message.to_owned(), None),
    };
    mistakes.add(place, message, hint);
}

/// The text in quotes that it needs no escapes in, if there are such.
pub(super) fn quoted(text: &str) -> String {
    if text.contains('"') { format!("'{text}'") } else { format!("\"{text}\"") }
}
