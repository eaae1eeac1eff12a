//! Names and numbers as they are written in plots.

use errorbar_core::Estimate;

use crate::figure::EstimateText;
use crate::svg::escape;
use crate::text::{is_unsafe, truncate_middle};

/// The most characters of a name that are looked at.
const LONGEST: usize = 200;

/// A name from anyone with nothing invisible in it, no longer than a line or two.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::new();
    for (at, c) in text.chars().enumerate() {
        match c {
            _ if at >= LONGEST => {
                shown.push('…');
                break;
            }
            c if is_unsafe(c) => shown.push_str(&format!("‹U+{:04X}›", u32::from(c))),
            // No character of XML.
            '\u{fffe}' | '\u{ffff}' => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    shown
}

/// A name for an element of a drawing, cut in the middle to a number of characters.
pub(super) fn fitted(text: &str, to: usize) -> String {
    escape(&truncate_middle(&visible(text), to, "…"))
}

/// A `<title>` with the whole name, if it is cut.
pub(super) fn whole(text: &str, to: usize) -> String {
    let shown = visible(text);
    match crate::text::width(&shown) > to {
        true => format!("<title>{}</title>", escape(&shown)),
        false => String::new(),
    }
}

/// An estimate: `0.847 ± 0.026 [0.796, 0.899]`.
pub(super) fn figure(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).to_string())
}

/// The same without the interval: `0.847 ± 0.026`.
pub(super) fn short(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).short())
}

/// The interval alone.
pub(super) fn interval_text(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).interval_text())
}

/// A difference, with its sign.
pub(super) fn difference(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).signed().to_string())
}

/// The same without the interval.
pub(super) fn short_difference(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).signed().short())
}

/// A real minus sign before numbers, not within `1e-7`.
fn minus(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        written.push(if c == '-' && matches!(before, ' ' | '[') { '\u{2212}' } else { c });
        before = c;
    }
    written
}

/// A whole number with commas between thousands.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A score as it is counted: a fraction if it is the mean of few epochs, `2/3`, else a number.
pub(super) fn score(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e9 {
        return minus(&format!("{number}"));
    }
    // A number that few decimals hold is easier to read than a fraction.
    let is_decimal = (number * 1e4 - (number * 1e4).round()).abs() < 1e-9;
    for of in (3..=12_u32).filter(|_| !is_decimal) {
        let top = number * f64::from(of);
        if (top - top.round()).abs() < 1e-9 && number.abs() < 1.0 {
            return minus(&format!("{}/{of}", top.round()));
        }
    }
    minus(&crate::number::plain(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            (count(7), count(1296), count(10_000_000)),
            ("7".into(), "1,296".into(), "10,000,000".into())
        );
        assert_eq!([2.0 / 3.0, 0.25, 0.5, -1.0].map(score), ["2/3", "0.25", "0.5", "−1"]);
        let estimate = Estimate::new(-0.36).with_stderr(0.05).with_interval(-0.46, -0.26, 0.95);
        assert_eq!(figure(&estimate), "−0.360 ± 0.050 [−0.460, −0.260]");
        assert_eq!(minus("0.5 ± 1.2e-12"), "0.5 ± 1.2e-12");
    }

    #[test]
    fn hostile_names_are_shown_and_shortened() {
        assert_eq!(fitted("<script>", 20), "&lt;script&gt;");
        assert_eq!(fitted("a\u{202e}b", 20), "a‹U+202E›b");
        assert!(visible(&"x".repeat(10_000)).chars().count() <= LONGEST + 1);
        assert!(fitted(&"<".repeat(10_000), 10).len() < 60);
        assert_eq!(visible("a\u{ffff}"), "a\u{fffd}");
    }
}
