//! Values as the strings that Python's `str()` and `repr()` write.
//!
//! Group names and frequency keys appear in logs that were written from Python, so `1.0`, `1e-05`, `True` and `[1, 'a']`
//! are part of the results, not a matter of taste. Nothing else in errorbar should format numbers this way.

use std::iter;

use serde_json::Value;

/// A float as Python's `repr` writes it: the shortest digits that read back as the same number, in
/// scientific notation when the decimal exponent is below −4 or at least 16.
///
/// ```
/// use errorbar_core::python_text::float_repr;
///
/// assert_eq!(float_repr(1.0), "1.0");
/// assert_eq!(float_repr(0.00001), "1e-05");
/// assert_eq!(float_repr(1e16), "1e+16");
/// ```
pub fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned(); // Python drops the sign of a NaN; so do we.
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }

    let scientific = shortest_digits(value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let magnitude = match usize::try_from(exponent) {
        Ok(exponent @ ..16) => {
            let digits = mantissa.replace('.', "");
            let whole: String = digits.chars().chain(iter::repeat('0')).take(exponent + 1).collect();
            let fraction = digits.get(exponent + 1..).filter(|rest| !rest.is_empty()).unwrap_or("0");
            format!("{whole}.{fraction}")
        }
        Err(_) if exponent >= -4 => {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            format!("0.{zeros}{}", mantissa.replace('.', ""))
        }
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
        }
    };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    format!("{sign}{magnitude}")
}

/// A string as Python's `repr` writes it: in single quotes, unless it holds a single quote and no double
/// one; backslash, line breaks and tabs by letter, other unprintable characters by number.
///
/// Which characters are printable depends on the edition of Unicode. The rule is Python's (everything but controls,
/// format characters, private use, unassigned code points and spaces other than `' '`), applied to the tables of Rust's
/// standard library. The two differ only for characters assigned after the Unicode edition of the Python at hand.
///
/// ```
/// use errorbar_core::python_text::str_repr;
///
/// assert_eq!(str_repr("plain"), "'plain'");
/// assert_eq!(str_repr("it's"), "\"it's\"");
/// assert_eq!(str_repr("a\u{a0}b\n"), r"'a\xa0b\n'");
/// ```
pub fn str_repr(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_str_repr(&mut out, text);
    out
}

/// Python's `ascii()` of a string: its `repr` with escapes for what is not ASCII.
///
/// ```
/// use errorbar_core::python_text::str_ascii;
///
/// assert_eq!(str_ascii("é\u{3a9}😀"), r"'\xe9\u03a9\U0001f600'");
/// ```
pub fn str_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for c in str_repr(text).chars() {
        match u32::from(c) {
            ..0x80 => out.push(c),
            code @ ..0x100 => out.push_str(&format!("\\x{code:02x}")),
            code @ ..0x1_0000 => out.push_str(&format!("\\u{code:04x}")),
            code => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    out
}

/// Python's `str()` of the value that a piece of JSON decodes to: a string as it is, anything else as `repr` writes it.
///
/// An integer beyond the range of `i64` and `u64` keeps its digits only where `serde_json` retains them (its
/// `arbitrary_precision` feature); otherwise it has become a float before it gets here, and is written as one.
///
/// ```
/// use errorbar_core::python_text::json_text;
/// use serde_json::json;
///
/// assert_eq!(json_text(&json!("physics")), "physics");
/// assert_eq!(json_text(&json!(true)), "True");
/// assert_eq!(json_text(&json!([1, "a", null])), "[1, 'a', None]");
/// assert_eq!(json_text(&json!({"k": 1.0})), "{'k': 1.0}");
/// ```
pub fn json_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => {
            let mut out = String::new();
            push_json_repr(&mut out, other);
            out
        }
    }
}

/// Whether Python's `str.isprintable` holds for this character.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    // The standard library keeps the table to itself but uses it in `str::escape_debug`. Combining marks are escaped
    // there only at the start of a string, hence the letter in front.
    let text = String::from_iter(['a', c]);
    text.escape_debug().nth(1) == Some(c)
}

/// The shortest digits that read back as `value`, as `d.ddde±x`.
///
/// Rust and Python agree on how many there are, but where two candidates are equally near (…01.25 between …01.2 and
/// …01.3) Rust takes the upper and Python the even one. Rounding to that many digits breaks ties as Python does; at a
/// power of two, where the gaps to the neighbours differ, it may miss the value, and then Rust's choice is Python's.
fn shortest_digits(value: f64) -> String {
    let shortest = format!("{value:e}");
    let mantissa = shortest.split('e').next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let rounded = format!("{value:.*e}", digits.saturating_sub(1));
    if rounded.parse() == Ok(value) { rounded } else { shortest }
}

fn push_json_repr(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number_repr(number)),
        Value::String(text) => push_str_repr(out, text),
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "[" } else { ", " });
                push_json_repr(out, item);
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(entries) => {
            for (i, (key, item)) in entries.iter().enumerate() {
                out.push_str(if i == 0 { "{" } else { ", " });
                push_str_repr(out, key);
                out.push_str(": ");
                push_json_repr(out, item);
            }
            out.push_str(if entries.is_empty() { "{}" } else { "}" });
        }
    }
}

fn number_repr(number: &serde_json::Number) -> String {
    let text = number.to_string();
    // Digits alone are an integer, of any size: `as_i64` would lose those that only `arbitrary_precision` can hold.
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return text;
    }
    number.as_f64().map_or(text, float_repr)
}

fn push_str_repr(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => out.push_str(&match u32::from(c) {
                code @ ..=0xff => format!("\\x{code:02x}"),
                code @ ..=0xffff => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    // The right-hand sides of these tables were printed by CPython 3.11.
    #[expect(clippy::excessive_precision, reason = "a tie is shown by its exact value")]
    #[rustfmt::skip] // a table
    const FLOATS: &[(f64, &str)] = &[
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (-1.0, "-1.0"), (0.5, "0.5"), (0.1, "0.1"), (0.2, "0.2"),
        (0.30000000000000004, "0.30000000000000004"), (100.0, "100.0"), (0.0001, "0.0001"), (0.00012, "0.00012"),
        (0.00001, "1e-05"), (0.000012345, "1.2345e-05"), (9.999e-05, "9.999e-05"), (-1e-05, "-1e-05"),
        (1e-07, "1e-07"), (1.5e-10, "1.5e-10"), (123456789012345.0, "123456789012345.0"),
        (1234567890123456.0, "1234567890123456.0"), (9999999999999998.0, "9999999999999998.0"),
        (5.960464477539063e-8, "5.960464477539063e-08"), // a power of two: …062 is nearer, and another number
        (6.189700196426902e26, "6.189700196426902e+26"),
        (1223383794756801.25, "1223383794756801.2"), // a tie: to the even digit
        (1656115884915332.25, "1656115884915332.2"), (608779182203.53125, "608779182203.5312"),
        (9007199254740993.0, "9007199254740992.0"), (1e15, "1000000000000000.0"), (1e16, "1e+16"),
        (12345678901234567.0, "1.2345678901234568e+16"), (1e17, "1e+17"), (1e21, "1e+21"), (1e22, "1e+22"),
        (1e23, "1e+23"), (-1e22, "-1e+22"), (1.5e300, "1.5e+300"), (1e300, "1e+300"), (1e100, "1e+100"),
        (5e-324, "5e-324"), (2.2250738585072014e-308, "2.2250738585072014e-308"),
        (1.7976931348623157e308, "1.7976931348623157e+308"), (0.3333333333333333, "0.3333333333333333"),
        (66.66666666666667, "66.66666666666667"), (1e2, "100.0"), (123.456, "123.456"), (4.35, "4.35"),
        (0.001, "0.001"), (1000000.0, "1000000.0"), (2.5e-05, "2.5e-05"),
    ];

    #[rustfmt::skip] // a table
    const STRINGS: &[(&str, &str)] = &[
        ("", "''"), ("plain", "'plain'"), ("it's", "\"it's\""), ("say \"hi\"", "'say \"hi\"'"),
        ("it's \"both\"", "'it\\'s \"both\"'"), ("back\\slash", "'back\\\\slash'"),
        ("a\nb", "'a\\nb'"), ("a\rb", "'a\\rb'"), ("a\tb", "'a\\tb'"), ("\u{0}", "'\\x00'"),
        ("\u{7}", "'\\x07'"), ("\u{1b}[31m", "'\\x1b[31m'"), ("\u{7f}", "'\\x7f'"),
        ("\u{80}", "'\\x80'"), ("\u{9f}", "'\\x9f'"), ("\u{a0}", "'\\xa0'"),
        ("\u{ad}", "'\\xad'"), ("é", "'é'"), ("ÿ", "'ÿ'"), ("日本語", "'日本語'"), ("🎉", "'🎉'"),
        ("á", "'á'"), ("\u{200b}", "'\\u200b'"), ("\u{200d}", "'\\u200d'"),
        ("\u{2028}", "'\\u2028'"), ("\u{202e}", "'\\u202e'"), ("\u{3000}", "'\\u3000'"),
        ("\u{feff}", "'\\ufeff'"), ("\u{e000}", "'\\ue000'"), ("\u{e0001}", "'\\U000e0001'"),
        ("\u{10ffff}", "'\\U0010ffff'"), ("\u{378}", "'\\u0378'"), ("\u{1680}", "'\\u1680'"),
        ("'", "\"'\""), ("\"", "'\"'"), ("{curly}", "'{curly}'"), ("\u{d7ff}", "'\\ud7ff'"),
        ("�", "'�'"),
    ];

    #[rustfmt::skip] // a table
    const JSON: &[(&str, &str)] = &[
        (r#"null"#, "None"),
        (r#"true"#, "True"),
        (r#"false"#, "False"),
        (r#"0"#, "0"),
        (r#"-7"#, "-7"),
        (r#"9223372036854775807"#, "9223372036854775807"),
        (r#"-9223372036854775808"#, "-9223372036854775808"),
        (r#"18446744073709551615"#, "18446744073709551615"),
        (r#"1.0"#, "1.0"),
        (r#"1e2"#, "100.0"),
        (r#"1E-5"#, "1e-05"),
        (r#""text""#, "text"),
        (r#""it's""#, "it's"),
        (r#"[]"#, "[]"),
        (r#"{}"#, "{}"),
        (r#"[1, "a"]"#, "[1, 'a']"),
        (r#"[1.0, true, null]"#, "[1.0, True, None]"),
        (r#"{"k": 1}"#, "{'k': 1}"),
        (r#"{"b": [1, {"a": "x"}], "a": null}"#, "{'b': [1, {'a': 'x'}], 'a': None}"),
        (r#"[[], [[]], {}]"#, "[[], [[]], {}]"),
        (r#"["it's", "\"", "\n"]"#, "[\"it's\", '\"', '\\n']"),
        (r#"{"it's": "\u00a0"}"#, "{\"it's\": '\\xa0'}"),
    ];

    #[test]
    fn floats_read_like_python() {
        for (value, text) in FLOATS {
            assert_eq!(float_repr(*value), *text);
        }
        assert_eq!(float_repr(f64::NAN), "nan");
        assert_eq!(float_repr(-f64::NAN), "nan");
        assert_eq!(float_repr(f64::INFINITY), "inf");
        assert_eq!(float_repr(f64::NEG_INFINITY), "-inf");
    }

    #[test]
    fn strings_read_like_python() {
        for (value, text) in STRINGS {
            assert_eq!(str_repr(value), *text);
        }
    }

    #[test]
    fn json_reads_like_python() {
        for (source, text) in JSON {
            let value: Value = serde_json::from_str(source).unwrap();
            assert_eq!(json_text(&value), *text, "from {source}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_float_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            let back: f64 = float_repr(value).parse().unwrap();
            assert!(back.to_bits() == value.to_bits() || value.is_nan());
        }
    }
}
