//! A number with its error and its interval, as text: all to the same place.

use std::fmt;

use errorbar_core::{Estimate, IntervalSide, Undefined};

use crate::number::{decimals, fixed, plain, precise};

/// The most that a reason for an unknown figure widens a column of values: `undefined (n < 2)`.
pub(crate) const MOST_UNKNOWN: usize = 17;

/// A number with its standard error and its interval, to be written in one line.
///
/// Two significant digits of the error set the decimals of all parts; without an error, those of half the interval's
/// width. An error of 0 is left out: it means that scores have no spread, not that the number is exact.
///
/// ```
/// use errorbar_core::Estimate;
/// use errorbar_report::EstimateText;
///
/// let figure = EstimateText::new(0.8194).error(0.0342).interval(0.7501, 0.8879);
/// assert_eq!(figure.to_string(), "0.819 ± 0.034 [0.750, 0.888]");
/// assert_eq!(figure.short(), "0.819 ± 0.034");
/// let certain = Estimate::new(1.0).with_stderr(0.0).with_interval(0.4385, 1.0, 0.95);
/// assert_eq!(EstimateText::from(&certain).to_string(), "1.00 [0.44, 1.00]");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateText {
    value: Result<f64, String>,
    error: Option<f64>,
    interval: Option<(f64, f64)>,
    side: IntervalSide,
    /// Whether a number above 0 has a sign, as differences do.
    is_signed: bool,
}

/// The parts of a figure as text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextParts {
    pub(crate) value: String,
    pub(crate) error: Option<String>,
    /// `[0.750, 0.888]`, `≤ 0.888` for an upper bound.
    pub(crate) interval: Option<IntervalText>,
}

/// An interval as text: two ends, or a bound.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum IntervalText {
    TwoSided(String, String),
    Lower(String),
    Upper(String),
}

impl fmt::Display for IntervalText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntervalText::TwoSided(lower, upper) => write!(f, "[{lower}, {upper}]"),
            IntervalText::Lower(bound) => write!(f, "≥ {bound}"),
            IntervalText::Upper(bound) => write!(f, "≤ {bound}"),
        }
    }
}

impl EstimateText {
    /// A number alone.
    pub fn new(value: f64) -> Self {
        let value = if value.is_nan() { Err("undefined (not a number)".to_owned()) } else { Ok(value) };
        EstimateText { value, error: None, interval: None, side: IntervalSide::TwoSided, is_signed: false }
    }

    /// No number, with the reason.
    pub fn undefined(reason: &Undefined) -> Self {
        let text = match reason {
            Undefined::NoScores => "no scores".to_owned(),
            reason => format!("undefined ({reason})"),
        };
        EstimateText { value: Err(text), ..EstimateText::new(0.0) }
    }

    /// The same with a standard error, unless it is 0 or no number.
    #[must_use]
    pub fn error(mut self, se: f64) -> Self {
        self.error = Some(se).filter(|se| *se > 0.0);
        self
    }

    /// The same with an interval, unless an end is no number or both are the same: that means that scores have no
    /// spread, not that the number is exact.
    #[must_use]
    pub fn interval(mut self, lower: f64, upper: f64) -> Self {
        self.interval = Some((lower, upper)).filter(|_| !lower.is_nan() && !upper.is_nan() && lower != upper);
        self
    }

    /// The same with an interval that has one bound.
    #[must_use]
    pub fn side(mut self, side: IntervalSide) -> Self {
        self.side = side;
        self
    }

    /// The same with a sign before a number above 0: a difference.
    #[must_use]
    pub fn signed(mut self) -> Self {
        self.is_signed = true;
        self
    }

    /// The number, if there is one.
    pub fn value(&self) -> Option<f64> {
        self.value.as_ref().ok().copied()
    }

    /// The number and its error, without the interval.
    pub fn short(&self) -> String {
        let TextParts { value, error, .. } = self.texts();
        match error {
            Some(error) => format!("{value} ± {error}"),
            None => value,
        }
    }

    /// The interval as it is written: `[0.750, 0.888]`, `≤ 0.888`; empty if there is none.
    pub fn interval_text(&self) -> String {
        self.texts().interval.map(|interval| interval.to_string()).unwrap_or_default()
    }

    /// The ends, if there is a number with an interval; of one with a bound, from the number to the bound.
    pub(crate) fn ends(&self) -> Option<(f64, f64)> {
        let (value, (lower, upper)) = self.value().zip(self.interval)?;
        Some(match self.side {
            IntervalSide::Lower => (lower, value),
            IntervalSide::Upper => (value, upper),
            _ => (lower, upper),
        })
    }

    /// The error, if there is a number with one.
    pub(crate) fn stderr(&self) -> Option<f64> {
        self.error.filter(|_| self.value.is_ok())
    }

    pub(crate) fn texts(&self) -> TextParts {
        let value = match &self.value {
            Ok(value) => *value,
            Err(reason) => return TextParts { value: reason.clone(), error: None, interval: None },
        };
        let half_width = self.interval.map(|(lower, upper)| match self.side {
            IntervalSide::Lower => value - lower,
            IntervalSide::Upper => upper - value,
            _ => (upper - lower) / 2.0,
        });
        let decimals = self.error.or(half_width).and_then(decimals);
        let has_scale = self.error.is_some() || half_width.is_some();
        let text = |number: f64| match decimals {
            Some(decimals) => fixed(number, decimals),
            None if has_scale => precise(number),
            None => plain(number),
        };
        let number = text(value);
        let is_positive = value > 0.0 && number.bytes().any(|b| (b'1'..=b'9').contains(&b));
        TextParts {
            value: if self.is_signed && is_positive { format!("+{number}") } else { number },
            error: self
                .error
                .map(|error| decimals.map_or_else(|| plain(error), |decimals| fixed(error, decimals))),
            interval: self.interval.map(|(lower, upper)| match self.side {
                IntervalSide::Lower => IntervalText::Lower(text(lower)),
                IntervalSide::Upper => IntervalText::Upper(text(upper)),
                _ => IntervalText::TwoSided(text(lower), text(upper)),
            }),
        }
    }
}

impl From<&Estimate> for EstimateText {
    fn from(estimate: &Estimate) -> Self {
        let figure = match &estimate.value {
            Ok(value) => EstimateText::new(*value),
            Err(reason) => EstimateText::undefined(reason),
        };
        let error = estimate.error.as_ref().ok().filter(|error| !error.degenerate);
        let ends = estimate.interval.as_ref().map_or((0.0, 0.0), |interval| (interval.lower, interval.upper));
        let side = estimate.interval.as_ref().map_or(IntervalSide::TwoSided, |interval| interval.side);
        // An error of 0 and equal ends are left out.
        figure.error(error.map_or(0.0, |error| error.se)).interval(ends.0, ends.1).side(side)
    }
}

/// `0.819 ± 0.034 [0.750, 0.888]`, `12.35`, `undefined (n < 2)`.
impl fmt::Display for EstimateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())?;
        match self.texts().interval {
            Some(interval) => write!(f, " {interval}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_have_the_same_decimals() {
        let shown = |value, error| EstimateText::new(value).error(error).to_string();
        assert_eq!(shown(0.741_935, 0.061_4), "0.742 ± 0.061");
        assert_eq!(shown(0.75, 0.25), "0.75 ± 0.25");
        assert_eq!(shown(0.741_935, 0.099_6), "0.74 ± 0.10");
        assert_eq!(shown(7.25, 1.27), "7.2 ± 1.3");
        assert_eq!(shown(12_345.6, 234.5), "12346 ± 234");
        assert_eq!(shown(-0.000_1, 0.1), "0.00 ± 0.10");
        assert_eq!(shown(0.5, 1.2e-12), "0.5 ± 1.200e-12");
        assert_eq!(shown(0.999_993, 7e-6), "0.999993 ± 7.000e-6", "not 0.9999930 ± 0.0000070");
        assert_eq!(shown(1e300, 1e299), "1.000e300 ± 1.000e299");
        let interval = |lower, upper| EstimateText::new(0.8194).interval(lower, upper).to_string();
        assert_eq!(interval(0.6123, 0.8711), "0.82 [0.61, 0.87]");
        assert_eq!(interval(f64::NAN, 0.9), "0.8194");
        assert_eq!(EstimateText::new(0.5).interval(0.5, 0.5).to_string(), "0.5", "no width is no interval");
        let bound = |side| EstimateText::new(0.8194).interval(f64::NEG_INFINITY, 0.8711).side(side);
        assert_eq!(bound(IntervalSide::Upper).to_string(), "0.819 ≤ 0.871");
        assert_eq!(
            bound(IntervalSide::Upper).ends(),
            Some((0.8194, 0.8711)),
            "a bar from the number to the bound"
        );
        let below =
            EstimateText::new(0.8194).error(0.034).interval(0.7123, f64::INFINITY).side(IntervalSide::Lower);
        assert_eq!(
            (below.to_string().as_str(), below.interval_text().as_str()),
            ("0.819 ± 0.034 ≥ 0.712", "≥ 0.712")
        );
    }

    #[test]
    fn what_is_unknown_is_no_number() {
        assert_eq!(shown_of(Estimate::new(1.0).with_stderr(0.0)), "1");
        assert_eq!(shown_of(Estimate::new(0.0).with_stderr(0.0)), "0");
        assert_eq!(shown_of(Estimate::new(1.0).with_stderr(f64::NAN)), "1");
        assert_eq!(shown_of(Estimate::new(f64::NAN)), "undefined (not a number)");
        assert_eq!(shown_of(Estimate::undefined(Undefined::NoScores)), "no scores");
        assert_eq!(shown_of(Estimate::undefined(Undefined::TooFewScores { n: 1 })), "undefined (n < 2)");
        let with_parts = EstimateText {
            error: Some(0.1),
            interval: Some((0.0, 1.0)),
            ..EstimateText::undefined(&Undefined::NoScores)
        };
        assert_eq!((with_parts.stderr(), with_parts.ends(), with_parts.value()), (None, None, None));
    }

    fn shown_of(estimate: Estimate) -> String {
        EstimateText::from(&estimate).to_string()
    }
}
