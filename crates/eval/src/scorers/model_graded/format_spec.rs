//! What stands behind the colon of `{name:>8.2f}`: width, side, digits.

use errorbar_core::python_text::json_text;
use serde_json::Value as Json;

/// Wider than any prompt needs, and no way to fill the memory.
const WIDEST: usize = 1000;

/// How a value is laid out: `[[fill]align][0][width][,][.precision][type]`, with `<`, `>`, `^` for the side and `s`,
/// `d`, `f`, `%` for the type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FormatSpec {
    fill: Option<char>,
    align: Option<char>,
    zeros: bool,
    width: usize,
    commas: bool,
    precision: Option<usize>,
    kind: Option<char>,
}

impl FormatSpec {
    /// Reads a layout; nothing if it is none that is supported.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut layout = FormatSpec::default();
        let mut chars = text.chars();
        let is_side = |c: char| matches!(c, '<' | '>' | '^');
        let (first, second) = (chars.next(), chars.next());
        let mut rest = if let Some(side) = second.filter(|c| is_side(*c)) {
            (layout.fill, layout.align) = (first, Some(side));
            chars.as_str()
        } else if let Some(side) = first.filter(|c| is_side(*c)) {
            layout.align = Some(side);
            text.get(1..)?
        } else {
            text
        };
        if let Some(after) = rest.strip_prefix('0') {
            (layout.zeros, rest) = (true, after);
        }
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            (layout.width, rest) = number(rest)?;
        }
        if let Some(after) = rest.strip_prefix(',') {
            (layout.commas, rest) = (true, after);
        }
        if let Some(after) = rest.strip_prefix('.') {
            let (digits, after) = number(after)?;
            (layout.precision, rest) = (Some(digits), after);
        }
        let mut kind = rest.chars();
        layout.kind = kind.next();
        let is_kind = layout.kind.is_none_or(|c| matches!(c, 's' | 'd' | 'f' | '%'));
        (is_kind && kind.next().is_none()).then_some(layout)
    }

    /// The value laid out; nothing if a value of its type cannot be.
    pub(super) fn apply(&self, value: &Json) -> Option<String> {
        let (text, default_side) = match value {
            Json::String(text) => (self.text(text)?, '<'),
            Json::Bool(truth) => (self.number(&Json::from(u8::from(*truth)))?, '>'),
            Json::Number(_) => (self.number(value)?, '>'),
            Json::Null | Json::Array(_) | Json::Object(_) => return None,
        };
        let missing = self.width.saturating_sub(text.chars().count());
        let fill = self.fill.unwrap_or(if self.zeros { '0' } else { ' ' });
        let pad = |n: usize| std::iter::repeat_n(fill, n).collect::<String>();
        // Zeros go between the sign and the digits.
        if self.zeros && self.align.is_none() && !value.is_string() {
            let digits = text.trim_start_matches('-');
            let sign = if digits.len() < text.len() { "-" } else { "" };
            return Some(format!("{sign}{}{digits}", pad(missing)));
        }
        Some(match self.align.unwrap_or(default_side) {
            '<' => text + &pad(missing),
            '^' => format!("{}{text}{}", pad(missing / 2), pad(missing - missing / 2)),
            _ => pad(missing) + &text,
        })
    }

    fn text(&self, text: &str) -> Option<String> {
        let is_of_text = !self.commas && self.kind.is_none_or(|kind| kind == 's');
        is_of_text.then(|| text.chars().take(self.precision.unwrap_or(usize::MAX)).collect())
    }

    fn number(&self, value: &Json) -> Option<String> {
        let is_whole = value.is_i64() || value.is_u64();
        let decimals = self.precision.unwrap_or(6);
        let text = match self.kind {
            Some('f') => format!("{:.decimals$}", value.as_f64()?),
            Some('%') => format!("{:.decimals$}%", value.as_f64()? * 100.0),
            Some('d') | None if is_whole && self.precision.is_none() => value.to_string(),
            // Which digits a precision alone leaves is another matter.
            None if self.precision.is_none() => json_text(value),
            _ => return None,
        };
        // Commas and zeros together go between each other.
        match self.commas {
            false => Some(text),
            true => (!self.zeros).then(|| with_commas(&text)),
        }
    }
}

/// A number that is not too large, and what follows it.
fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok().filter(|n| *n <= WIDEST)?, rest))
}

/// With a comma before each three digits of the whole part.
fn with_commas(text: &str) -> String {
    let end = text.find(['.', '%', 'e']).unwrap_or(text.len());
    let (whole, rest) = text.split_at(end);
    let digits = whole.trim_start_matches('-').len();
    let sign = whole.len() - digits;
    let mut out = String::with_capacity(text.len() + digits / 3);
    for (at, c) in whole.chars().enumerate() {
        if at > sign && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // The right-hand sides were printed by Python's `format`.
    #[test]
    fn values_are_laid_out_as_python_does() {
        for (value, layout, text) in [
            (json!(1.5), ".2f", "1.50"),
            (json!(0.125), ".2f", "0.12"),
            (json!(2), "f", "2.000000"),
            (json!(-2.5), "08.2f", "-0002.50"),
            (json!(1234), "d", "1234"),
            (json!(1234), ",", "1,234"),
            (json!(-123456), ",d", "-123,456"),
            (json!(1234567.891), ",.1f", "1,234,567.9"),
            (json!(1234), "06d", "001234"),
            (json!(7), ">4", "   7"),
            (json!(7), "4", "   7"),
            (json!(7), "*^5", "**7**"),
            (json!(0.123), ".1%", "12.3%"),
            (json!(0.5), "", "0.5"),
            (json!(true), "3", "  1"),
            (json!("abcdef"), ".3", "abc"),
            (json!("abcdef"), "^9", " abcdef  "),
            (json!("abcdef"), "*<8s", "abcdef**"),
            (json!("é"), ">3", "  é"),
            (json!("a"), "03", "a00"),
        ] {
            let laid_out = FormatSpec::parse(layout).unwrap().apply(&value);
            assert_eq!(laid_out.as_deref(), Some(text), "{value} by {layout:?}");
        }
    }

    #[test]
    fn what_is_not_supported_is_refused_and_not_guessed() {
        for layout in ["x", ".2e", "+d", ".", "99999", ".99999f", ".2ff", "{width}"] {
            assert_eq!(FormatSpec::parse(layout), None, "{layout}");
        }
        for (value, layout) in [
            (json!("text"), ".2f"),
            (json!("text"), ","),
            (json!(1.5), "d"),
            (json!(1.5), ".2"),
            (json!(3), ".1d"),
            (json!(3), "s"),
            (json!(3), "08,d"),
            (json!(null), ">5"),
            (json!([1]), ">5"),
        ] {
            assert_eq!(FormatSpec::parse(layout).unwrap().apply(&value), None, "{value} by {layout:?}");
        }
    }
}
