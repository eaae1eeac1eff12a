//! From a score value to a float.

use std::fmt;
use std::sync::Arc;

use super::{Leaf, LeafRef, ValueRef};
use crate::registry::Params;
use crate::spec::{Spec, ToSpec};

/// Grades to numbers: correct 1, partial 0.5, incorrect and noanswer 0; numbers and truth words as they are.
///
/// In this order: equal to *correct* → 1, *partial* → 0.5, *incorrect* or *noanswer* → 0; numbers
/// and booleans as they are; the strings yes/true → 1 and no/false → 0 in any case; strings that are
/// finite numbers → that number. Anything else is 0 and counted as not convertible.
///
/// ```
/// use errorbar_core::{Value, value_to_float};
/// let grades = value_to_float().correct("yes").incorrect("no");
/// assert_eq!(grades.convert(Value::from("yes").view()).value, 1.0);
/// assert!(!grades.convert(Value::from("perhaps").view()).convertible);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Params)]
#[params(crate = crate, name = "value_to_float")]
pub struct ValueToFloat {
    /// The grade that counts 1.
    #[param(default = "C")]
    correct: Option<Leaf>,
    /// The grade that counts 0.
    #[param(default = "I")]
    incorrect: Option<Leaf>,
    /// The grade that counts one half.
    #[param(default = "P")]
    partial: Option<Leaf>,
    /// The grade for no answer, which counts 0.
    #[param(default = "N")]
    noanswer: Option<Leaf>,
}

/// What a conversion made of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvertedNumber {
    /// The number; 0 where the value is not convertible.
    pub value: f64,
    /// Whether the value had a meaning as a number.
    pub convertible: bool,
}

impl ValueToFloat {
    /// Converts one value.
    pub fn convert(&self, value: ValueRef<'_>) -> ConvertedNumber {
        match value {
            ValueRef::Leaf(leaf) => self.convert_leaf(leaf),
            ValueRef::List(_) | ValueRef::Map(_) => ConvertedNumber { value: 0.0, convertible: false },
        }
    }

    /// Converts one scalar.
    pub fn convert_leaf(&self, leaf: LeafRef<'_>) -> ConvertedNumber {
        let number = self.grade(leaf).or_else(|| leaf.number()).or_else(|| match leaf {
            LeafRef::Str(text) => truth_word(text).or_else(|| parse_number(text)),
            _ => None,
        });
        ConvertedNumber { value: number.unwrap_or(0.0), convertible: number.is_some() }
    }

    fn grade(&self, leaf: LeafRef<'_>) -> Option<f64> {
        let is = |grade: &Option<Leaf>, default: &'static str| match grade {
            Some(grade) => leaf.equals(grade.view()),
            None => matches!(leaf, LeafRef::Str(text) if text == default),
        };
        if is(&self.correct, "C") {
            Some(1.0)
        } else if is(&self.partial, "P") {
            Some(0.5)
        } else if is(&self.incorrect, "I") || is(&self.noanswer, "N") {
            Some(0.0)
        } else {
            None
        }
    }
}

fn truth_word(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("yes") || text.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if text.eq_ignore_ascii_case("no") || text.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
}

/// A string as a finite number: surrounding blanks, a sign, a leading or trailing point, an exponent
/// and single underscores between digits are accepted, digits of any script too; `nan`, `inf`, hex
/// and overflow are not.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust's parser would also take "inf", "nan" and "infinity": a number has no other letter than e.
    let plain = text.bytes().all(|b| b.is_ascii() && (!b.is_ascii_alphabetic() || matches!(b, b'e' | b'E')));
    let parsed = if plain && !text.contains('_') { text.parse() } else { spelled_out(text)?.parse() };
    parsed.ok().filter(|f: &f64| f.is_finite())
}

/// The number in plain ASCII, without its underscores; nothing if there is more to it than that.
fn spelled_out(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut after_digit = false;
    while let Some(c) = characters.next() {
        let digit = decimal_digit(c);
        match (digit, c) {
            (Some(digit), _) => plain.push(char::from(b'0' + digit)),
            (None, '.' | '+' | '-' | 'e' | 'E') => plain.push(c),
            (None, '_') if after_digit && characters.peek().is_some_and(|c| decimal_digit(*c).is_some()) => {}
            _ => return None,
        }
        after_digit = digit.is_some();
    }
    Some(plain)
}

type ConvertFn = dyn Fn(ValueRef<'_>) -> Option<f64> + Send + Sync;

/// How a numeric metric or reducer reads a value: the default conversion, a configured one, or
/// a custom function.
#[derive(Clone)]
pub struct Conversion(ConversionKind);

#[derive(Clone)]
enum ConversionKind {
    Grades(ValueToFloat),
    Custom { name: Arc<str>, convert: Arc<ConvertFn> },
}

impl Conversion {
    /// A custom conversion; `None` means "not convertible": 0, and counted.
    ///
    /// ```
    /// use errorbar_core::{Conversion, Value};
    /// let length = Conversion::from_fn("length", |value| value.as_text().ok().map(|t| t.len() as f64));
    /// assert_eq!(length.convert(Value::from("four").view()).value, 4.0);
    /// ```
    pub fn from_fn(
        name: impl Into<Arc<str>>,
        convert: impl Fn(ValueRef<'_>) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Conversion(ConversionKind::Custom { name: name.into(), convert: Arc::new(convert) })
    }

    /// Converts one value.
    pub fn convert(&self, value: ValueRef<'_>) -> ConvertedNumber {
        match &self.0 {
            ConversionKind::Grades(grades) => grades.convert(value),
            ConversionKind::Custom { convert, .. } => {
                let number = convert(value).filter(|number| !number.is_nan());
                ConvertedNumber { value: number.unwrap_or(0.0), convertible: number.is_some() }
            }
        }
    }

    /// Converts one scalar.
    pub fn convert_leaf(&self, leaf: LeafRef<'_>) -> ConvertedNumber {
        match &self.0 {
            ConversionKind::Grades(grades) => grades.convert_leaf(leaf),
            ConversionKind::Custom { .. } => self.convert(ValueRef::Leaf(leaf)),
        }
    }

    /// Whether plain numbers and booleans convert to themselves: no grade is a number or boolean.
    pub fn keeps_numbers(&self) -> bool {
        let text = |grade: &Option<Leaf>| matches!(grade, None | Some(Leaf::Str(_)));
        match &self.0 {
            ConversionKind::Grades(g) => {
                [&g.correct, &g.incorrect, &g.partial, &g.noanswer].into_iter().all(text)
            }
            ConversionKind::Custom { .. } => false,
        }
    }

    /// The spec this conversion is built from; a function is recorded by its name alone.
    pub fn spec(&self) -> Spec {
        match &self.0 {
            ConversionKind::Grades(grades) => grades.spec(),
            ConversionKind::Custom { name, .. } => Spec::new(name),
        }
    }
}

impl Default for Conversion {
    fn default() -> Self {
        Conversion(ConversionKind::Grades(ValueToFloat::default()))
    }
}

impl From<ValueToFloat> for Conversion {
    fn from(grades: ValueToFloat) -> Self {
        Conversion(ConversionKind::Grades(grades))
    }
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.spec())
    }
}

impl PartialEq for Conversion {
    /// Two functions are the same conversion only if they are the same function.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (ConversionKind::Grades(a), ConversionKind::Grades(b)) => a == b,
            (ConversionKind::Custom { convert: a, .. }, ConversionKind::Custom { convert: b, .. }) => {
                Arc::ptr_eq(a, b)
            }
            _ => false,
        }
    }
}

// Decimal digits of every script, which the reference reads in numbers: `１２` is twelve.

/// The digit zero of each script (Unicode general category Nd; the other nine follow it).
const ZEROS: &[u32] = &[
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50,
    0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40,
    0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066,
    0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950,
    0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6,
    0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// The value of a decimal digit of any script.
pub(crate) fn decimal_digit(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.to_digit(10).map(|d| d as u8);
    }
    let code = u32::from(c);
    let zero = *ZEROS.get(ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?)?;
    u8::try_from(code - zero).ok().filter(|digit| *digit < 10)
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use super::*;

    fn float(value: impl Into<Value>) -> f64 {
        let converted = ValueToFloat::default().convert(value.into().view());
        assert!(converted.convertible);
        converted.value
    }

    #[test]
    fn grades_truth_words_and_numbers() {
        assert_eq!(float("C"), 1.0);
        assert_eq!(float("P"), 0.5);
        assert_eq!(float("I"), 0.0);
        assert_eq!(float("N"), 0.0);
        assert_eq!(float("YES"), 1.0);
        assert_eq!(float("False"), 0.0);
        assert_eq!(float(" 1e-2 "), 0.01);
        assert_eq!(float(".5"), 0.5);
        assert_eq!(float("+5"), 5.0);
        assert_eq!(float("1_000"), 1000.0);
        assert_eq!(float("１２.５"), 12.5);
        assert_eq!(float(true), 1.0);
        assert_eq!(float(-3), -3.0);
    }

    #[test]
    fn what_has_no_meaning_is_zero_and_not_convertible() {
        for text in [
            "c",
            " yes",
            "",
            "nan",
            "inf",
            "-Infinity",
            "0x10",
            "1e999",
            "1__0",
            "_1",
            "1_",
            "1_.5",
            "e",
            "1e",
        ] {
            let converted = ValueToFloat::default().convert(Value::from(text).view());
            assert_eq!(converted, ConvertedNumber { value: 0.0, convertible: false }, "{text:?}");
        }
        let null = ValueToFloat::default().convert_leaf(LeafRef::Null);
        assert!(!null.convertible);
    }

    #[test]
    fn a_number_may_be_a_grade() {
        let grades = value_to_float().correct(10).partial("half").incorrect(0);
        assert_eq!(grades.convert_leaf(LeafRef::Float(10.0)).value, 1.0);
        assert_eq!(grades.convert_leaf(LeafRef::Str("half")).value, 0.5);
        assert_eq!(grades.convert_leaf(LeafRef::Bool(false)).value, 0.0);
        assert_eq!(grades.convert_leaf(LeafRef::Int(7)).value, 7.0, "not a grade: itself");
        assert!(!Conversion::from(grades).keeps_numbers());
        assert!(Conversion::default().keeps_numbers());
    }
}

#[cfg(test)]
mod digits_tests {
    use super::*;

    #[test]
    fn digits_of_other_scripts() {
        assert!(ZEROS.is_sorted());
        assert_eq!(decimal_digit('7'), Some(7));
        assert_eq!(decimal_digit('٣'), Some(3));
        assert_eq!(decimal_digit('９'), Some(9));
        assert_eq!(decimal_digit('²'), None);
        assert_eq!(decimal_digit('\u{66a}'), None, "right after the Arabic nine");
        assert_eq!(decimal_digit('a'), None);
    }
}
