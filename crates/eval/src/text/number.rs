//! Numbers in running text: `$1,234.50`, `-5`, `1e3`, `5²`, `2½`, `٣`, `二十五`.

use std::borrow::Cow;

use super::words::{is_space, trim, words};

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
        if point && decimal_digit(c).is_some() {
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
    let number: String = unsigned.chars().map(plain_form).collect();
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
fn without_last_separators(number: &str) -> &str {
    let is_special = |c: char| fraction(c).is_some() || superscript_digit(c).is_some();
    Some(number.trim_end_matches(is_separator)).filter(|kept| kept.ends_with(is_special)).unwrap_or(number)
}

/// A raised exponent at the end: `10⁻³` is 10 and −3. A number that is raised as a whole has none.
fn split_exponent(number: &str) -> (&str, Option<f64>) {
    let signed = number.trim_end_matches(|c| superscript_digit(c).is_some());
    let raised = number.strip_prefix(signed).unwrap_or_default();
    let base = signed.strip_suffix(['⁻', '⁺']).unwrap_or(signed);
    if base.is_empty() || raised.is_empty() {
        return (number, None);
    }
    let size = raised.chars().filter_map(superscript_digit).fold(0.0, |n, d| n * 10.0 + f64::from(d));
    (base, Some(if signed.ends_with('⁻') { -size } else { size }))
}

/// A number with a fraction behind it, either of which may be absent: `2½`, `2`, `½`.
fn mixed(number: &str) -> Option<f64> {
    let number = without_last_separators(number);
    let mut whole = number.chars();
    match whole.next_back().and_then(fraction) {
        Some(part) if whole.as_str().is_empty() => Some(part),
        Some(part) => Some(plain(whole.as_str())? + part),
        None => plain(number),
    }
}

fn plain(number: &str) -> Option<f64> {
    let mut chars = number.chars();
    if let (Some(only), None) = (chars.next(), chars.next())
        && let Some(value) = lone_number(only)
    {
        return Some(value);
    }
    // A sign before the number was taken off already; the one of an exponent follows its e.
    let mut signs = number.match_indices(['+', '-']);
    if signs.any(|(at, _)| number.get(..at).is_some_and(|before| before.ends_with(is_separator))) {
        return None;
    }
    let ascii = |c: char| match any_digit(c) {
        Some(digit) => char::from_digit(digit, 10),
        None => Some(c).filter(char::is_ascii),
    };
    let characters = number.chars().filter(|c| !is_separator(*c));
    match characters.clone().map(ascii).collect::<Option<String>>() {
        Some(text) if text.starts_with(['+', '-']) => None,
        Some(text) => parse_decimal(&text),
        None => chinese(characters),
    }
}

/// A number with Chinese units: digits, times tens to thousands, times powers of ten thousand.
fn chinese(number: impl Iterator<Item = char>) -> Option<f64> {
    let (mut total, mut section, mut digits) = (0.0, 0.0, 0.0);
    for c in number {
        if let Some(digit) = any_digit(c) {
            digits = digits * 10.0 + f64::from(digit);
        } else if let Some(unit) = chinese_unit(c) {
            section += f64::from(unit) * if digits == 0.0 { 1.0 } else { digits };
            digits = 0.0;
        } else {
            total += (section + digits) * chinese_myriad(c)?;
            (section, digits) = (0.0, 0.0);
        }
    }
    Some(total + section + digits)
}

/// The zeros of the decimal digits of every script (Unicode 14, general category Nd); each is followed by its
/// 1 to 9.
const ZEROS: [u32; 65] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
    0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0,
    0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50,
    0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140,
    0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The value of a decimal digit of any script.
pub(crate) fn decimal_digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let code = u32::from(c);
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let zero = ZEROS.get(after.checked_sub(1)?)?;
    Some(code - zero).filter(|value| *value < 10)
}

/// The value of a character that stands for one digit within a number: also superscript, subscript, circled
/// and Chinese digits.
pub(crate) fn any_digit(c: char) -> Option<u32> {
    decimal_digit(c)
        .or_else(|| superscript_digit(c))
        .or_else(|| enclosed(c).filter(|value| *value < 10))
        .or_else(|| chinese_digit(c))
        .or_else(|| match c {
            '₀'..='₉' => Some(u32::from(c) - u32::from('₀')),
            _ => None,
        })
}

/// The value of a raised digit, as in 10⁶.
pub(crate) fn superscript_digit(c: char) -> Option<u32> {
    match c {
        '¹' => Some(1),
        '²' => Some(2),
        '³' => Some(3),
        '⁰' | '⁴'..='⁹' => Some(u32::from(c) - u32::from('⁰')),
        _ => None,
    }
}

/// The value of a character that is a fraction.
pub(crate) fn fraction(c: char) -> Option<f64> {
    const ABOVE: [u8; 19] = [1, 1, 2, 1, 3, 1, 2, 3, 4, 1, 5, 1, 1, 3, 5, 7, 1, 1, 0];
    const BELOW: [u8; 19] = [2, 3, 3, 4, 4, 5, 5, 5, 5, 6, 6, 7, 8, 8, 8, 8, 9, 10, 3];
    let at = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒↉".chars().position(|fraction| fraction == c)?;
    Some(f64::from(*ABOVE.get(at)?) / f64::from(*BELOW.get(at)?))
}

/// The value of a character that is a whole number by itself: circled numbers, Roman numerals, Chinese units.
pub(crate) fn lone_number(c: char) -> Option<f64> {
    enclosed(c).or_else(|| roman(c)).or_else(|| chinese_unit(c)).map(f64::from).or_else(|| chinese_myriad(c))
}

/// Numbers in circles, in brackets, or with a full stop.
fn enclosed(c: char) -> Option<u32> {
    let (first, value) = match c {
        '①'..='⑳' => ('①', 1),
        '⑴'..='⒇' => ('⑴', 1),
        '⒈'..='⒛' => ('⒈', 1),
        '⓪' => ('⓪', 0),
        '⓫'..='⓴' => ('⓫', 11),
        '⓵'..='⓾' => ('⓵', 1),
        '⓿' => ('⓿', 0),
        '❶'..='❿' => ('❶', 1),
        '➀'..='➉' => ('➀', 1),
        '➊'..='➓' => ('➊', 1),
        '㉑'..='㉟' => ('㉑', 21),
        '㊱'..='㊿' => ('㊱', 36),
        _ => return None,
    };
    Some(u32::from(c) - u32::from(first) + value)
}

fn roman(c: char) -> Option<u32> {
    match c {
        'Ⅰ'..='Ⅻ' => Some(u32::from(c) - u32::from('Ⅰ') + 1),
        'ⅰ'..='ⅻ' => Some(u32::from(c) - u32::from('ⅰ') + 1),
        'Ⅼ' | 'ⅼ' => Some(50),
        'Ⅽ' | 'ⅽ' => Some(100),
        'Ⅾ' | 'ⅾ' => Some(500),
        'Ⅿ' | 'ⅿ' => Some(1000),
        _ => None,
    }
}

fn chinese_digit(c: char) -> Option<u32> {
    let forms =
        ["〇零", "一壹壱", "二两兩贰貳弐", "三叁參参", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖"];
    forms.iter().position(|forms| forms.contains(c)).and_then(|digit| u32::try_from(digit).ok())
}

/// Tens, hundreds and thousands, which multiply the digit before them.
pub(crate) fn chinese_unit(c: char) -> Option<u32> {
    match c {
        '十' | '拾' => Some(10),
        '百' | '佰' => Some(100),
        '千' | '仟' => Some(1000),
        _ => None,
    }
}

/// The powers of ten thousand, which multiply all that stands before them.
pub(crate) fn chinese_myriad(c: char) -> Option<f64> {
    match c {
        '万' | '萬' => Some(1e4),
        '亿' | '億' => Some(1e8),
        '兆' => Some(1e12),
        _ => None,
    }
}

/// A decimal number: sign, digits with an optional point, exponent. Words such as `inf` and `nan`, and
/// numbers too large for a float, are none.
pub(crate) fn parse_decimal(text: &str) -> Option<f64> {
    // The standard parser also knows words; every decimal number has a digit or a point after its sign.
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !body.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// The number with five significant digits, as C's `%.5g` writes it: `3.1416`, `42`, `1.2346e+05`, `1e-07`.
pub(crate) fn five_digits(number: f64) -> String {
    let scientific = format!("{number:.4e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..5).contains(&exponent) {
        let decimals = usize::try_from(4 - exponent).unwrap_or_default();
        return without_trailing_zeros(&format!("{number:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.unsigned_abs())
}

fn without_trailing_zeros(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// The number with two decimals.
pub(crate) fn two_decimals(number: f64) -> f64 {
    // Through text, because the text is rounded from the exact value: 0.285 is a little less than its digits.
    format!("{number:.2}").parse().unwrap_or(number)
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

#[cfg(test)]
mod digits_tests {
    use super::*;

    #[test]
    fn zeros_are_sorted() {
        assert!(ZEROS.is_sorted());
    }

    #[test]
    fn digits_of_many_scripts() {
        for (c, value) in [
            ('7', 7),
            ('٣', 3),
            ('४', 4),
            ('９', 9),
            ('𝟓', 5),
            ('²', 2),
            ('⁷', 7),
            ('₅', 5),
            ('③', 3),
            ('五', 5),
        ] {
            assert_eq!(any_digit(c), Some(value), "{c}");
        }
        for c in ['a', 'é', '⑩', 'Ⅳ', '½', '十', '日', '\u{66a}'] {
            assert_eq!(any_digit(c), None, "{c}");
        }
    }

    #[test]
    fn lone_numbers() {
        for (c, value) in [('⑳', 20.0), ('Ⅻ', 12.0), ('㊿', 50.0), ('十', 10.0), ('億', 1e8), ('⓪', 0.0)]
        {
            assert_eq!(lone_number(c), Some(value), "{c}");
        }
    }
}

#[cfg(test)]
mod float_tests {
    use super::*;

    #[test]
    fn five_digits_as_c_writes_them() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (42.0, "42"),
            (-42.5, "-42.5"),
            (99_999.0, "99999"),
            (99_999.5, "1e+05"),
            (123_456.789, "1.2346e+05"),
            (0.000_123_456, "0.00012346"),
            (0.000_012_345, "1.2345e-05"),
            (std::f64::consts::PI, "3.1416"),
            (1e22, "1e+22"),
            (1e-300, "1e-300"),
            (2.5, "2.5"),
        ] {
            assert_eq!(five_digits(number), text);
        }
    }

    #[test]
    fn words_and_overflow_are_no_numbers() {
        for text in ["inf", "nan", "infinity", "-inf", "1e400", "", "+", "1_0", "0x1", "1e", "."] {
            assert_eq!(parse_decimal(text), None, "{text}");
        }
        assert_eq!(parse_decimal(".5"), Some(0.5));
        assert_eq!(parse_decimal("1e3"), Some(1000.0));
    }
}
