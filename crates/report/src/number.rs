//! Numbers as people read them: as many digits as mean something.

pub(crate) use errorbar_analysis::counted;

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
    let decimals = usize::try_from(3 - exponent(value)).unwrap_or(0);
    let fixed = fixed(value, decimals);
    if decimals == 0 { fixed } else { fixed.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// A share as a percentage: `95 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", plain(share * 100.0))
}

/// A count with commas between the thousands.
///
/// ```
/// assert_eq!([999, 1296, 1_234_567].map(errorbar_report::grouped), ["999", "1,296", "1,234,567"]);
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
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
    let decimals = usize::try_from(6 - exponent(value)).unwrap_or(0);
    let fixed = fixed(value, decimals);
    if decimals == 0 { fixed } else { fixed.trim_end_matches('0').trim_end_matches('.').to_owned() }
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
