//! Parts of the messages about tables, read and written.

use super::location::TableLocation;

pub(super) fn too_long(limit: u64, is_header: bool, in_quote: bool) -> String {
    let (line, limit) = (if is_header { "header" } else { "line" }, bytes(limit));
    match in_quote {
        true => format!("a quote that opens in this row is still open after {limit}"),
        false => format!("the {line} is longer than {limit}"),
    }
}

/// A number of bytes for a message.
pub(super) fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// Names for a message, the first few of them.
pub fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let excerpt: Vec<String> = names.iter().take(SHOWN).map(|name| quoted(name)).collect();
    match names.len().saturating_sub(SHOWN) {
        0 if names.is_empty() => "none".to_owned(),
        0 => excerpt.join(", "),
        more => format!("{} and {more} more", excerpt.join(", ")),
    }
}

pub(super) fn or(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(" or ")
}

/// A name from a file, without control characters.
fn quoted(name: &str) -> String {
    if name.is_empty() {
        return "a column without a name".to_owned();
    }
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let short: String = name.chars().take(60).map(visible).collect();
    format!("`{short}{}`", if short.chars().count() < name.chars().count() { "…" } else { "" })
}

/// A string from a file, shortened and in quotes.
pub(crate) fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("{short:?}{}", if short.len() < text.len() { "…" } else { "" })
}

/// Delimiters for people: those that cannot be seen by their names.
pub(super) fn or_chars(characters: &[char]) -> String {
    let name = |character: &char| match character {
        '\t' => "a tab".to_owned(),
        character => format!("`{character}`"),
    };
    characters.iter().map(name).collect::<Vec<_>>().join(" or ")
}

/// What is wrong with values of a scorer: how many they are, the most frequent ones, which are shown as they are, and where the
/// first is.
pub fn no_scores(
    (scorer, key): (&str, Option<&str>),
    count: usize,
    values: impl ExactSizeIterator<Item = (String, usize)>,
    first: Option<(Option<TableLocation>, &str)>,
    why: &str,
) -> String {
    const LISTED: usize = 5;
    let more = match values.len().saturating_sub(LISTED) {
        0 => String::new(),
        1 => " and 1 more distinct value".to_owned(),
        more => format!(" and {more} more distinct values"),
    };
    let listed = values.take(LISTED).map(|(value, count)| format!("{value} ({count})"));
    let listed = listed.collect::<Vec<_>>().join(", ") + &more;
    let key = key.map(|key| format!(" under the key {key:?}")).unwrap_or_default();
    let (values_are, why) = match (count, why) {
        (1, "no scores") => ("value is", "no score"),
        (1, why) => ("value is", why),
        (_, why) => ("values are", why),
    };
    let first = first.map(|(location, sample)| match location {
        Some(TableLocation::Line(line)) => format!("; the first is in line {line}, sample {sample:?}"),
        Some(TableLocation::Row(row)) => format!("; the first is in row {row}, sample {sample:?}"),
        _ => format!("; the first is in sample {sample:?}"),
    });
    // A reducer may have made them, so that no row has them.
    let listed = if listed.is_empty() { listed } else { format!(": {listed}") };
    format!("`{scorer}`{key}: {count} {values_are} {why}{listed}{}", first.unwrap_or_default())
}
