//! Strings from anyone, on a terminal: cleaned, measured, wrapped.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(crate) use errorbar_analysis::counted;

/// What stands in the place of a character that is not safe on a terminal.
pub const REPLACEMENT: char = '\u{fffd}';

/// Whether a terminal would obey a character instead of showing it: it moves the cursor, starts an escape sequence, breaks
/// the line, turns the direction of the text, or shows nothing at all, so that two names look the same.
///
/// ```
/// use errorbar_report::is_unsafe;
///
/// assert!(['\u{1b}', '\u{7}', '\n', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{e0041}'].map(is_unsafe).iter().all(|c| *c));
/// assert!(!['a', 'ß', '数', '±', '😀'].map(is_unsafe).iter().any(|c| *c));
/// ```
pub fn is_unsafe(c: char) -> bool {
    // Controls: C0, DEL, C1.
    c.is_control()
        || matches!(c,
            // Direction: marks, embeddings, overrides, isolates. Among them zero-width spaces and joiners, line and
            // paragraph separators, invisible operators.
            '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // The byte-order mark, annotations, tags and the other characters that are never shown.
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
            // What is no character, and never will be.
            | '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// The text on one line, without characters that are [unsafe](is_unsafe) on a terminal: names of groups and samples may
/// be anyone's.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { REPLACEMENT } else { c }).collect()
}

/// The text without characters that are [unsafe](is_unsafe) on a terminal, with its lines and tabs; borrowed if there are
/// none.
pub fn clean_lines(text: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| is_unsafe(c) && !matches!(c, '\n' | '\t');
    if text.contains(is_unsafe) {
        Cow::Owned(text.replace(is_unsafe, REPLACEMENT.encode_utf8(&mut [0; 4])))
    } else {
        Cow::Borrowed(text)
    }
}

/// The cells that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with blanks behind it, up to a width.
pub fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// The start of a text that fits, with a mark behind it if something is missing.
pub(crate) fn truncate(text: &str, to: usize, ellipsis: &str) -> String {
    if width(text) <= to {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken + width(ellipsis) <= to
    };
    let start: String = text.chars().take_while(fits).collect();
    start + ellipsis
}

/// The start and the end of a text that does not fit, with a mark between them: names of models and tasks often begin
/// alike.
pub fn truncate_middle(text: &str, to: usize, ellipsis: &str) -> String {
    if width(text) <= to {
        return text.to_owned();
    }
    let room = to.saturating_sub(width(ellipsis));
    let fitting = |characters: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut taken = 0;
        let fits = |c: &char| {
            taken += c.width().unwrap_or(0);
            taken <= room
        };
        characters.take_while(fits).collect()
    };
    let start: String = fitting(&mut text.chars(), room / 2).into_iter().collect();
    let end = fitting(&mut text.chars().rev(), room - width(&start));
    start + ellipsis + &end.into_iter().rev().collect::<String>()
}

/// Names cut in the middle to a width each. Those that would look alike also leave out the start that they share, and are
/// numbered if that does not help.
pub(crate) fn short_names(names: &[(String, usize)], ellipsis: &str) -> Vec<String> {
    let is_like = |all: &[String], at: usize| {
        all.get(at).is_some_and(|name| all.iter().filter(|other| *other == name).count() > 1)
    };
    let mut short: Vec<String> =
        names.iter().map(|(name, to)| truncate_middle(name, *to, ellipsis)).collect();
    let before = short.clone();
    for (at, (name, to)) in names.iter().enumerate().filter(|(at, _)| is_like(&before, *at)) {
        let alike = names.iter().zip(&before).enumerate();
        let alike = alike.filter(|(other, (_, cut))| *other != at && before.get(at) == Some(*cut));
        let shared = |(_, ((other, _), _)): (usize, (&(String, usize), &String))| {
            name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
        };
        let shared = alike.map(shared).min().unwrap_or(0);
        let head: String = name.chars().take((to / 4).min(shared)).collect();
        let rest: String = name.chars().skip(shared).collect();
        let room = to.saturating_sub(width(&head) + width(ellipsis));
        if let Some(short) = short.get_mut(at) {
            *short = format!("{head}{ellipsis}{}", truncate_middle(&rest, room, ellipsis));
        }
    }
    let after = short.clone();
    for (at, (name, to)) in names.iter().enumerate().filter(|(at, _)| is_like(&after, *at)) {
        let number = format!(" ({})", at + 1);
        if let Some(short) = short.get_mut(at) {
            *short = truncate_middle(name, to.saturating_sub(width(&number)), ellipsis) + &number;
        }
    }
    short
}

/// The first characters of a text, with `…` behind them if there are more.
pub fn start(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Texts with something between them; none if there are none.
pub(crate) fn joined<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, between: &str) -> Option<String> {
    texts.into_iter().fold(None, |all: Option<String>, text| match all {
        Some(all) => Some(all + between + text.as_ref()),
        None => Some(text.as_ref().to_owned()),
    })
}

/// The text in lines of at most `limit` cells, broken at blanks; a longer word is cut.
pub fn wrap(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(8);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        for piece in pieces(word, limit) {
            let Some(line) = lines.last_mut() else { continue };
            if line.is_empty() {
                line.push_str(&piece);
            } else if width(line) + 1 + width(&piece) <= limit {
                line.push(' ');
                line.push_str(&piece);
            } else {
                lines.push(piece);
            }
        }
    }
    lines
}

/// The same, with all lines but the first behind an indent.
pub(crate) fn hanging(text: &str, limit: usize, indent: usize) -> Vec<String> {
    let mut lines = wrap(text, limit);
    lines.iter_mut().skip(1).for_each(|line| line.insert_str(0, &" ".repeat(indent)));
    lines
}

/// A word, cut where it is wider than a line.
fn pieces(word: &str, limit: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut taken = 0;
    for c in word.chars() {
        let cells = c.width().unwrap_or(0);
        if taken + cells > limit {
            pieces.push(String::new());
            taken = 0;
        }
        taken += cells;
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces
}

/// The text in an address: letters, digits and the characters that are named stay, other bytes are written by their number.
pub(crate) fn percent_encoded(text: &str, kept: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len() * 3 / 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            encoded.push(byte.into());
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

// Numbers as people read them: as many digits as mean something.

/// A number alone: four significant digits, and no insignificant zeros.
pub(crate) fn plain(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        return "undefined".to_owned();
    }
    if size == 0.0 || value.is_infinite() || (value.fract() == 0.0 && size < 1e15) {
        return format!("{}", value + 0.0); // + 0.0 takes the sign off a negative zero
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.3e}");
    }
    significant(value, 4)
}

/// A number with so many significant digits, less the zeros at its end.
fn significant(value: f64, digits: i32) -> String {
    let decimals = usize::try_from(digits - 1 - exponent(value)).unwrap_or(0);
    let fixed = fixed(value, decimals);
    if decimals == 0 { fixed } else { fixed.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// A share as a percentage: `95 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", plain(share * 100.0))
}

/// A count with commas between the thousands.
///
/// ```
/// assert_eq!([999, 1296, 1_234_567].map(errorbar_report::grouped), ["999", "1,296", "1,234,567"]);
/// ```
pub fn grouped(number: u64) -> String {
    in_thousands(&number.to_string())
}

/// Digits with commas between the thousands.
pub(crate) fn in_thousands(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The decimals that show an error to two significant digits; none for an error that is 0, not
/// finite, or so small that the zeros before it would hide it.
pub(crate) fn decimals(error: f64) -> Option<usize> {
    const MOST: usize = 6;
    if error == 0.0 || !error.is_finite() {
        return None;
    }
    // Rounded first: 0.0996 is 0.10, not 0.100.
    let decimals = usize::try_from(1 - exponent(error)).unwrap_or(0);
    (decimals <= MOST).then_some(decimals)
}

/// The power of ten of a number that was rounded to two significant digits.
fn exponent(value: f64) -> i32 {
    let text = format!("{value:.1e}");
    text.rsplit('e').next().and_then(|power| power.parse().ok()).unwrap_or(0)
}

/// A number whose error is too small for [`decimals`]: seven significant digits, and no insignificant zeros.
pub(crate) fn precise(value: f64) -> String {
    if !(1e-4..1e15).contains(&value.abs()) {
        return plain(value);
    }
    significant(value, 7)
}

pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if value.is_finite() && value.abs() >= 1e15 {
        return plain(value);
    }
    let text = format!("{value:.decimals$}");
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        assert_eq!(clean("a\u{1b}[31mred\nb\u{202e}c"), "a\u{fffd}[31mred\u{fffd}b\u{fffd}c");
        assert_eq!(clean("Größe 数学"), "Größe 数学");
        assert_eq!(clean("a\u{fffe}b\u{1ffff}c\u{fdd0}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(clean_lines("a\tb\nc\u{7}"), "a\tb\nc\u{fffd}");
    }

    #[test]
    fn lines_keep_to_the_width() {
        assert_eq!(wrap("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("数学数学数学 x", 8), ["数学数学", "数学 x"]);
        assert_eq!(wrap("", 9), [""]);
        assert_eq!(pad("数学", 6), "数学  ");
        assert_eq!(truncate("category", 8, "…"), "category");
        assert_eq!(truncate("category", 5, ".."), "cat..");
        assert_eq!(truncate("数学数学", 6, "…"), "数学…");
        assert_eq!(truncate_middle("category", 8, "…"), "category");
        assert_eq!(truncate_middle("replay/a/heron.jsonl", 12, "…"), "repla….jsonl");
        assert_eq!(truncate_middle("数学数学", 6, ".."), "数..学");
    }

    #[test]
    fn short_names_stay_different() {
        let short = |names: &[&str], to: usize| {
            short_names(&names.iter().map(|name| ((*name).to_owned(), to)).collect::<Vec<_>>(), "…")
        };
        assert_eq!(short(&["heron", "a-model-of-2026"], 9), ["heron", "a-mo…2026"]);
        let alike = short(&["provider/model-large-2026", "provider/model-small-2026"], 10);
        assert_eq!(alike, ["pr…lar…026", "pr…sma…026"]);
        assert_eq!(
            short(&["one/model/1", "one/model/1"], 8),
            ["o…/1 (1)", "o…/1 (2)"],
            "the same name twice"
        );
    }

    #[test]
    fn alone() {
        for (value, text) in [
            (0.75, "0.75"),
            (2.0 / 3.0, "0.6667"),
            (1.0, "1"),
            (-0.0, "0"),
            (12.3456, "12.35"),
            (1234.56, "1235"),
            (1_234_567.0, "1234567"),
            (0.000_123_44, "0.0001234"),
            (0.000_012_344, "1.234e-5"),
            (1.5e20, "1.500e20"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "undefined"),
            (0.999_96, "1"),
            (-0.25, "-0.25"),
        ] {
            assert_eq!(plain(value), text);
        }
        assert_eq!(fixed(1e300, 2), "1.000e300");
        assert_eq!(
            (precise(0.999_993), precise(1.0), precise(3.2e-5)),
            ("0.999993".into(), "1".into(), "3.200e-5".into())
        );
        assert_eq!((percent(0.95), percent(0.999)), ("95 %".into(), "99.9 %".into()));
        assert_eq!((counted(1, "score"), counted(0, "score")), ("1 score".into(), "0 scores".into()));
    }
}
