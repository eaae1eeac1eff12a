//! Numbers in running text: `$1,234.50`, `-5`, `1e3`, `5²`, `2½`, `٣`, `二十五`.

use std::borrow::Cow;

use super::digits;
use super::float::parse_decimal;
use super::space::{is_space, trim, words};

/// Currency, thousands and markdown: characters that do not affect the value. The percent sign does.
fn is_marker(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | ',' | '*' | '_')
}

/// Without markers, and without full stops that are no decimal point.
pub(crate) fn unmark(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_marker(c) || c == '.') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut point = false;
    for c in text.chars().filter(|c| !is_marker(*c)) {
        if point && digits::decimal_digit(c).is_some() {
            plain.push('.');
        }
        point = c == '.';
        if !point {
            plain.push(c);
        }
    }
    Cow::Owned(plain)
}

/// The number that a word is, apart from what brackets, quotes and punctuation are around it.
pub(crate) fn word_number(word: &str) -> Option<f64> {
    // Most words of a completion are plain letters.
    if word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    parse_number(unwrapped(&unmark(word)))
}

/// The numbers among the words of a text.
pub(crate) fn numbers(text: &str) -> impl DoubleEndedIterator<Item = f64> {
    words(text).filter_map(word_number)
}

/// The number that a target is, blanks within it ignored.
pub(crate) fn target_number(target: &str) -> Option<f64> {
    let plain = unmark(target);
    parse_without_spaces(unwrapped(trim(&plain)))
}

/// The number that a text is, blanks within it ignored.
pub(crate) fn parse_without_spaces(text: &str) -> Option<f64> {
    if text.contains(is_space) {
        return parse_number(&text.replace(is_space, ""));
    }
    parse_number(text)
}

fn unwrapped(word: &str) -> &str {
    word.trim_matches(|c| {
        matches!(c, '!' | '"' | '\'' | '(' | ')' | ':' | ';' | '?' | '[' | ']' | '{' | '}' | '`')
    })
}

/// The value of a number without markers. Nothing, if any character of it has no part in the number.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let unsigned = text.trim_start_matches(|c| is_minus(c) || is_plus(c));
    let signs = text.get(..text.len() - unsigned.len())?;
    let negative = signs.chars().filter(|c| is_minus(*c)).count() % 2 == 1;
    let sign = if negative { -1.0 } else { 1.0 };
    if unsigned.is_ascii() && !unsigned.contains('\'') {
        // A sign here would be the second one.
        return parse_decimal(unsigned).map(|value| sign * value);
    }
    let number: Vec<char> = unsigned.chars().map(plain_form).collect();
    let (base, exponent) = split_exponent(without_last_separators(&number));
    let value = sign * mixed(base)?;
    let value = match exponent {
        Some(exponent) => value.powf(exponent),
        None => value,
    };
    Some(value).filter(|value| value.is_finite())
}

fn is_minus(c: char) -> bool {
    matches!(c, '-' | '−' | '－' | '﹣')
}

fn is_plus(c: char) -> bool {
    matches!(c, '+' | '＋' | '﹢')
}

/// What stands between thousands, other than the comma.
fn is_separator(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʼ' | '٬' | '，' | '﹐' | '、')
}

fn plain_form(c: char) -> char {
    match c {
        '．' | '٫' => '.',
        _ if is_minus(c) => '-',
        _ if is_plus(c) => '+',
        _ => c,
    }
}

/// Without separators behind a fraction or an exponent; elsewhere they do no harm.
fn without_last_separators(number: &[char]) -> &[char] {
    let mut kept = number;
    while let [rest @ .., last] = kept
        && is_separator(*last)
    {
        kept = rest;
    }
    let special = |c: &char| digits::fraction(*c).is_some() || digits::superscript_digit(*c).is_some();
    if kept.last().is_some_and(special) { kept } else { number }
}

/// A raised exponent at the end: `10⁻³` is 10 and −3. A number that is raised as a whole has none.
fn split_exponent(number: &[char]) -> (&[char], Option<f64>) {
    let digits = number.iter().rev().take_while(|c| digits::superscript_digit(**c).is_some()).count();
    let (base, raised) = number.split_at(number.len() - digits);
    let (base, negative) = match base {
        [rest @ .., '⁻'] => (rest, true),
        [rest @ .., '⁺'] => (rest, false),
        _ => (base, false),
    };
    if base.is_empty() || raised.is_empty() {
        return (number, None);
    }
    let size =
        raised.iter().filter_map(|c| digits::superscript_digit(*c)).fold(0.0, |n, d| n * 10.0 + f64::from(d));
    (base, Some(if negative { -size } else { size }))
}

/// A number with a fraction behind it, either of which may be absent: `2½`, `2`, `½`.
fn mixed(number: &[char]) -> Option<f64> {
    match without_last_separators(number) {
        [rest @ .., last] => match digits::fraction(*last) {
            Some(part) if rest.is_empty() => Some(part),
            Some(part) => Some(plain(rest)? + part),
            None => plain(number),
        },
        [] => None,
    }
}

fn plain(number: &[char]) -> Option<f64> {
    if let [only] = number
        && let Some(value) = digits::lone_number(*only)
    {
        return Some(value);
    }
    // A sign before the number was taken off already; the one of an exponent follows its e.
    if number.windows(2).any(|pair| matches!(pair, [before, '+' | '-'] if is_separator(*before))) {
        return None;
    }
    let ascii = |c: &char| match digits::any_digit(*c) {
        Some(digit) => char::from_digit(digit, 10),
        None => Some(*c).filter(char::is_ascii),
    };
    let characters = number.iter().filter(|c| !is_separator(**c));
    match characters.clone().map(ascii).collect::<Option<String>>() {
        Some(text) if text.starts_with(['+', '-']) => None,
        Some(text) => parse_decimal(&text),
        None => chinese(characters),
    }
}

/// A number with Chinese units: digits, times tens to thousands, times powers of ten thousand.
fn chinese<'a>(number: impl Iterator<Item = &'a char>) -> Option<f64> {
    let (mut total, mut section, mut digits) = (0.0, 0.0, 0.0);
    for c in number {
        if let Some(digit) = digits::any_digit(*c) {
            digits = digits * 10.0 + f64::from(digit);
        } else if let Some(unit) = digits::chinese_unit(*c) {
            section += f64::from(unit) * if digits == 0.0 { 1.0 } else { digits };
            digits = 0.0;
        } else {
            total += (section + digits) * digits::chinese_myriad(*c)?;
            (section, digits) = (0.0, 0.0);
        }
    }
    Some(total + section + digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_kinds() {
        for (word, value) in [
            ("$1,234.50.", 1234.5),
            ("(-5)", -5.0),
            ("--5", 5.0),
            ("−5", -5.0),
            ("1e3", 1000.0),
            ("**7**", 7.0),
            ("5²", 25.0),
            ("-3²", 9.0),
            ("10⁻³", 0.001),
            ("²", 2.0),
            ("2½", 2.5),
            ("½’", 0.5),
            ("5²’", 25.0),
            ("½’²", 0.25),
            ("-1½", -1.5),
            ("1'000", 1000.0),
            ("٣٫٥", 3.5),
            ("二十五", 25.0),
            ("一億二千三百万", 123_000_000.0),
            ("Ⅳ½", 4.5),
            ("..5", 0.5),
        ] {
            assert_eq!(word_number(word), Some(value), "{word}");
        }
    }

    #[test]
    fn what_is_no_number() {
        for word in [
            "", "five", "5%", "5th", "x=5", "1/2", "1.2.3", "nan", "inf", "1e400", "½½", "½1", "0⁻¹", "-(5)",
            "5-", "⁻5", "ⅣⅣ", "第五",
        ] {
            assert_eq!(word_number(word), None, "{word}");
        }
    }

    #[test]
    fn full_stops_are_not_points() {
        assert_eq!(unmark("a. 5. b.5"), "a 5 b.5");
        assert_eq!(unmark("1...2"), "1.2");
        assert!(matches!(unmark("abc"), Cow::Borrowed(_)));
    }
}
