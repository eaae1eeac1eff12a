//! Numbers as the reference's language reads and writes them.

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
