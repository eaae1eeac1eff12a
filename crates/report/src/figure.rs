//! A number with its error and its interval, as text: all to the same place.

use std::fmt;

use errorbar_core::{Estimate, EstimateRow, Interval, IntervalSide, Role, ScoreColumns, StdError, Undefined};

use crate::text::{decimals, fixed, plain, precise};

/// The most that a reason for an unknown figure widens a column of values: `undefined (n < 2)`.
pub(crate) const MOST_UNKNOWN: usize = 17;

/// The error of a number, unless it is 0: that means that scores have no spread, not that the number is exact.
pub(crate) fn shown_error(estimate: &Estimate) -> Option<&StdError> {
    let error = estimate.error.as_ref().ok().filter(|_| estimate.value.is_ok());
    error.filter(|error| !error.degenerate && error.se > 0.0)
}

/// The interval of a number, unless its ends are equal, which means the same.
pub(crate) fn shown_interval(estimate: &Estimate) -> Option<&Interval> {
    let interval = estimate.interval.as_ref().ok().filter(|_| estimate.value.is_ok());
    interval.filter(|i| i.lower != i.upper && !i.lower.is_nan() && !i.upper.is_nan())
}

/// A number with its standard error and its interval, to be written in one line.
///
/// Two significant digits of the error set the decimals of all parts; without an error, those of half the interval's
/// width. An error of 0 is left out: it means that scores have no spread, not that the number is exact.
///
/// ```
/// use errorbar_core::Estimate;
/// use errorbar_report::EstimateText;
///
/// let estimate = Estimate::new(0.8194).with_stderr(0.0342).with_interval(0.7501, 0.8879, 0.95);
/// let figure = EstimateText::from(&estimate);
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
        EstimateText::from(&Estimate::new(value))
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
    pub fn stderr(&self) -> Option<f64> {
        self.error.filter(|_| self.value.is_ok())
    }

    /// From where to where a bar goes: the interval, else a standard error around the number.
    fn span(&self) -> Option<(f64, f64)> {
        self.ends().or_else(|| self.value().zip(self.stderr()).map(|(value, se)| (value - se, value + se)))
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
        let value = match &estimate.value {
            Ok(value) if value.is_nan() => Err("undefined (not a number)".to_owned()),
            Ok(value) => Ok(*value),
            Err(Undefined::NoScores) => Err("no scores".to_owned()),
            Err(reason) => Err(format!("undefined ({reason})")),
        };
        let interval = shown_interval(estimate);
        EstimateText {
            value,
            error: shown_error(estimate).map(|error| error.se),
            interval: interval.map(|interval| (interval.lower, interval.upper)),
            side: interval.map_or(IntervalSide::TwoSided, |interval| interval.side),
            is_signed: false,
        }
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

// Intervals drawn with characters, on one scale for all rows of a block.

/// What a row draws: a point, and how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BarSpan {
    pub(crate) point: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// Whether the scale has to hold it: another kind of figure is drawn only where it fits.
    pub(crate) sets_scale: bool,
}

impl BarSpan {
    /// What is drawn of a figure: its interval, else its error, else a point if it lies among the scores.
    pub(crate) fn of(figure: &EstimateText, role: Role) -> Option<Self> {
        let point = figure.value().filter(|value| value.is_finite())?;
        let sets_scale = matches!(role, Role::Location | Role::Share);
        let is_drawn = matches!(role, Role::Location | Role::Share | Role::IntervalOf | Role::Other);
        let (lower, upper) = match figure.span() {
            Some(ends) if is_drawn => ends,
            None if sets_scale => (point, point),
            _ => return None,
        };
        Some(BarSpan { point, lower, upper, sets_scale })
    }

    /// The bar of a difference.
    pub(crate) fn of_difference(difference: &EstimateText, sets_scale: bool) -> Option<Self> {
        let span = BarSpan { sets_scale, ..BarSpan::of(difference, Role::Location)? };
        (span.lower.is_finite() && span.upper.is_finite()).then_some(span)
    }
}

/// The characters that a bar is drawn with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    pub(crate) left: char,
    pub(crate) line: char,
    pub(crate) right: char,
    pub(crate) point: char,
}

pub(crate) const UNICODE: Pen = Pen { left: '├', line: '─', right: '┤', point: '●' };
pub(crate) const ASCII: Pen = Pen { left: '|', line: '-', right: '|', point: 'o' };

/// Where the bars of a block begin and end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BarScale {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl BarScale {
    /// From 0 to 1 if that is what the spans are about, else from the least to the greatest of them, widened to round
    /// numbers; none if there is nothing to compare.
    pub(crate) fn of(spans: &[BarSpan]) -> Option<Self> {
        let is_finite = |span: &&BarSpan| span.lower.is_finite() && span.upper.is_finite();
        let main: Vec<&BarSpan> = spans.iter().filter(is_finite).filter(|span| span.sets_scale).collect();
        let spans = if main.is_empty() { spans.iter().filter(is_finite).collect() } else { main };
        let shares = BarScale { from: 0.0, to: 1.0 };
        if !spans.is_empty() && spans.iter().all(|span| shares.fits(**span)) {
            return Some(shares);
        }
        let least = spans.iter().map(|span| span.lower).reduce(f64::min)?;
        let greatest = spans.iter().map(|span| span.upper).reduce(f64::max)?;
        let range = greatest - least;
        if range <= 0.0 || !range.is_finite() {
            return None;
        }
        let step = power_of_ten(range / 2.0)?;
        let (from, to) = ((least / step).floor() * step, (greatest / step).ceil() * step);
        (from < to && from.is_finite() && to.is_finite()).then_some(BarScale { from, to })
    }

    /// Whether a span can be drawn.
    pub(crate) fn holds(self, span: BarSpan) -> bool {
        span.sets_scale || self.fits(span)
    }

    /// Whether a span lies on the scale, or sticks out so little that it can be cut there.
    fn fits(self, span: BarSpan) -> bool {
        /// How far an interval may stick out, as a share of the scale; of a wider one, a side would be missing.
        const SLACK: f64 = 0.1;
        let slack = SLACK * (self.to - self.from);
        let holds_point = self.from <= span.point && span.point <= self.to;
        holds_point && span.lower >= self.from - slack && span.upper <= self.to + slack
    }

    /// A length in cells.
    fn cells(self, length: f64, cells: usize) -> f64 {
        length / (self.to - self.from) * cells.saturating_sub(1) as f64
    }

    /// The span in cells. An end that lies outside is drawn as a line that runs to the edge.
    ///
    /// Distances from the point are rounded, not ends: what is symmetric looks symmetric.
    pub(crate) fn draw(self, span: BarSpan, cells: usize, pen: Pen) -> String {
        /// Differences of two distances, in cells, that come from rounding alone.
        const SAME: f64 = 1e-6;
        let point = self.cells(span.point - self.from, cells).round() as i64;
        let below = self.cells(span.point - span.lower, cells);
        let above = self.cells(span.upper - span.point, cells);
        let above = if (above - below).abs() < SAME { below } else { above };
        let lower = point.saturating_sub(below.round() as i64);
        let upper = point.saturating_add(above.round() as i64);
        let glyph = |at: i64| match at {
            _ if at == point => pen.point,
            _ if at == lower => pen.left,
            _ if at == upper => pen.right,
            _ if lower < at && at < upper => pen.line,
            _ => ' ',
        };
        (0..cells as i64).map(glyph).collect::<String>()
    }
}

/// The largest power of ten that is not above a number; none of 0 and what is not finite. From its digits, so that it is the same
/// on every platform.
pub(crate) fn power_of_ten(number: f64) -> Option<f64> {
    let text = format!("{:e}", number.abs());
    let (digits, exponent) = text.split_once('e')?;
    let power = format!("1e{exponent}").parse().ok()?;
    (digits != "0").then_some(power)
}

// The score of guessing.

/// The accuracy to expect of guessing: of picking one of the choices of each sample at random. It is known only where every
/// sample has choices, one of which is right.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChanceLevel {
    /// The mean of 1 / choices over samples.
    pub value: f64,
    /// The number of choices, if all samples have the same: then it is the level of every group, too.
    pub choices: Option<u32>,
}

impl ChanceLevel {
    /// The level of these samples, by the number of choices of each row, 0 for rows without; none if one is unknown.
    pub fn of_rows(columns: &ScoreColumns, choice_counts: &[u32]) -> Option<Self> {
        // A sample counts once, however many epochs it has.
        let counts: Option<Vec<u32>> =
            columns.first_rows().iter().map(|row| choice_counts.get(*row).copied()).collect();
        let counts = counts.filter(|counts| !counts.is_empty() && counts.iter().all(|count| *count > 1))?;
        let first = counts.first().copied();
        let choices = first.filter(|first| counts.iter().all(|count| count == first));
        let value = match choices {
            Some(choices) => 1.0 / f64::from(choices),
            None => counts.iter().map(|count| 1.0 / f64::from(*count)).sum::<f64>() / counts.len() as f64,
        };
        Some(ChanceLevel { value, choices })
    }

    /// The level of a part of the samples: known if it is that of each.
    pub fn of_part(self) -> Option<Self> {
        self.choices.map(|_| self)
    }

    /// The level that all runs have; none if one is unknown, or they differ.
    pub fn common(levels: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let mut levels = levels.into_iter();
        let first = levels.next().flatten()?;
        levels.all(|level| level == Some(first)).then_some(first)
    }

    /// Whether the level is one of this figure: the share of right choices, by sample.
    pub fn is_of(row: &EstimateRow<'_>) -> bool {
        // The best or the most frequent of several epochs is better than a guess.
        row.of.picks_option && row.field.is_none() && row.is_plain_mean()
    }

    /// `chance 0.25`.
    pub fn label(self) -> String {
        format!("chance {}", plain((self.value * 1e3).round() / 1e3))
    }

    /// What the level is: `guessing one of 4 choices`.
    pub fn meaning(self) -> String {
        match self.choices {
            Some(choices) => format!("guessing one of {choices} choices"),
            None => "guessing one of the choices, the mean over samples".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use errorbar_core::{Plan, Reducers, Registry, Score};

    use super::*;
    use crate::text::plain;

    #[test]
    fn all_parts_have_the_same_decimals() {
        let shown = |value, error| shown_of(Estimate::new(value).with_stderr(error));
        assert_eq!(shown(0.741_935, 0.061_4), "0.742 ± 0.061");
        assert_eq!(shown(0.75, 0.25), "0.75 ± 0.25");
        assert_eq!(shown(0.741_935, 0.099_6), "0.74 ± 0.10");
        assert_eq!(shown(7.25, 1.27), "7.2 ± 1.3");
        assert_eq!(shown(12_345.6, 234.5), "12346 ± 234");
        assert_eq!(shown(-0.000_1, 0.1), "0.00 ± 0.10");
        assert_eq!(shown(0.5, 1.2e-12), "0.5 ± 1.200e-12");
        assert_eq!(shown(0.999_993, 7e-6), "0.999993 ± 7.000e-6", "not 0.9999930 ± 0.0000070");
        assert_eq!(shown(1e300, 1e299), "1.000e300 ± 1.000e299");
        let interval = |lower, upper| shown_of(Estimate::new(0.8194).with_interval(lower, upper, 0.95));
        assert_eq!(interval(0.6123, 0.8711), "0.82 [0.61, 0.87]");
        assert_eq!(interval(f64::NAN, 0.9), "0.8194");
        let equal = Estimate::new(0.5).with_interval(0.5, 0.5, 0.95);
        assert_eq!(shown_of(equal), "0.5", "no width is no interval");
        let sided = |mut estimate: Estimate, side| {
            estimate.interval.as_mut().unwrap().side = side;
            EstimateText::from(&estimate)
        };
        let bound = |side| sided(Estimate::new(0.8194).with_interval(f64::NEG_INFINITY, 0.8711, 0.95), side);
        assert_eq!(bound(IntervalSide::Upper).to_string(), "0.819 ≤ 0.871");
        assert_eq!(
            bound(IntervalSide::Upper).ends(),
            Some((0.8194, 0.8711)),
            "a bar from the number to the bound"
        );
        let below = Estimate::new(0.8194).with_stderr(0.034).with_interval(0.7123, f64::INFINITY, 0.95);
        let below = sided(below, IntervalSide::Lower);
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
        let mut with_parts = Estimate::new(1.0).with_stderr(0.1).with_interval(0.0, 1.0, 0.95);
        with_parts.value = Err(Undefined::NoScores);
        let with_parts = EstimateText::from(&with_parts);
        assert_eq!((with_parts.stderr(), with_parts.ends(), with_parts.value()), (None, None, None));
    }

    fn shown_of(estimate: Estimate) -> String {
        EstimateText::from(&estimate).to_string()
    }

    fn span(point: f64, lower: f64, upper: f64) -> BarSpan {
        BarSpan { point, lower, upper, sets_scale: true }
    }

    fn around(point: f64, error: f64) -> BarSpan {
        span(point, point - error, point + error)
    }

    fn draw(span: BarSpan) -> String {
        let scale = BarScale { from: 0.0, to: 1.0 };
        scale.draw(span, 21, UNICODE)
    }

    #[test]
    fn shares_are_drawn_from_0_to_1() {
        assert_eq!(draw(around(0.5, 0.2)), "      ├───●───┤      ");
        assert_eq!(draw(span(0.0, 0.0, 0.0)).trim_end(), "●");
        assert_eq!(draw(span(1.0, 1.0, 1.0)).chars().position(|c| c == '●'), Some(20));
        assert_eq!(draw(around(0.95, 0.2)), "               ├───●─", "cut at the edge");
        assert_eq!(draw(around(0.5, 0.001)).trim(), "●", "too narrow to be seen");
    }

    #[test]
    fn what_is_symmetric_looks_symmetric() {
        // 0.819 ± 0.034 was `●┤`: each end was rounded by itself.
        for thousandth in 0..=1000 {
            for error in [0.012, 0.034, 0.06, 0.075, 0.125, 0.21] {
                let drawn = draw(around(f64::from(thousandth) / 1000.0, error));
                let cells: Vec<char> = drawn.chars().collect();
                let at = cells.iter().position(|c| *c == '●').unwrap();
                let before = cells[..at].iter().filter(|c| **c != ' ').count();
                let after = cells[at + 1..].iter().filter(|c| **c != ' ').count();
                let is_cut = before == at || after == cells.len() - at - 1;
                assert!(before == after || is_cut, "{thousandth} ± {error}: {drawn:?}");
            }
        }
        assert_eq!(draw(span(0.9, 0.6, 0.95)).trim(), "├─────●┤", "Wilson's interval is not symmetric");
        assert_eq!(draw(span(1.0, 0.44, 1.0)).trim(), "├──────────●");
    }

    #[test]
    fn other_scales_come_from_the_spans() {
        let spans = [around(7.25, 0.4), around(6.9, 0.2)];
        assert_eq!(BarScale::of(&spans), Some(BarScale { from: 6.7, to: 7.7 }));
        assert_eq!(BarScale::of(&[span(3.0, 3.0, 3.0)]), None);
        assert_eq!(BarScale::of(&[around(0.5, f64::NAN)]), None);
        assert_eq!(BarScale::of(&[around(0.5, 40.0)]), Some(BarScale { from: -40.0, to: 50.0 }));
        assert_eq!(BarScale::of(&[]), None);
        let ends = |spans: &[BarSpan]| {
            BarScale::of(spans).map(|scale| (plain(scale.from), plain(scale.to))).unwrap()
        };
        let texts = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(ends(&[around(0.0, 0.24)]), texts("-0.3", "0.3"), "both sides are shown");
        let near_1 = [around(0.95, 0.14), around(0.5, 0.1)];
        assert_eq!(ends(&near_1), texts("0", "1"), "a little is cut at the edge");
        let few = [around(0.5, 0.7), around(0.5, 0.1), around(0.7, 0.1)];
        assert_eq!(ends(&few), texts("-0.2", "1.2"), "no end is hidden");
        let huge = [span(-1e308, -1e308, -1e308), span(1e308, 1e308, 1e308)];
        assert_eq!(BarScale::of(&huge), None, "the range itself overflows");
    }

    #[test]
    fn other_kinds_of_figures_are_drawn_where_they_fit() {
        let alpha = EstimateText::from(&Estimate::new(0.7).with_interval(0.6, 0.8, 0.95));
        let perplexity = EstimateText::from(&Estimate::new(23.0).with_stderr(3.0));
        let scale =
            BarScale::of(&[around(0.5, 0.1), BarSpan::of(&perplexity, Role::Other).unwrap()]).unwrap();
        assert_eq!(scale, BarScale { from: 0.0, to: 1.0 });
        assert!(scale.holds(BarSpan::of(&alpha, Role::Other).unwrap()));
        assert!(!scale.holds(BarSpan::of(&perplexity, Role::Other).unwrap()));
        // One that ends just below 0 is cut, as it would be if it set the scale; it was not drawn.
        let beyond = |lower| BarSpan { sets_scale: false, ..span(0.09, lower, 0.2) };
        assert_eq!(BarScale::of(&[beyond(-0.008)]), Some(scale));
        assert!(scale.holds(beyond(-0.008)) && !scale.holds(beyond(-0.2)));
        assert_eq!(scale.draw(beyond(-0.008), 21, UNICODE), "├─●─┤                ");
        assert_eq!(scale.draw(beyond(-0.09), 21, UNICODE), "──●─┤                ", "cut at the edge");
        assert_eq!(BarSpan::of(&alpha, Role::Spread), None);
        assert_eq!(BarSpan::of(&EstimateText::new(0.7), Role::Other), None);
        assert!(BarSpan::of(&EstimateText::new(0.7), Role::Share).is_some());
    }

    /// Two epochs of three samples.
    fn columns() -> ScoreColumns {
        let mut columns = ScoreColumns::new(["choice"]);
        for epoch in 1..=2 {
            for id in ["a", "b", "c"] {
                columns.push(id, epoch);
            }
        }
        columns
    }

    #[test]
    fn a_sample_counts_once_and_an_unknown_one_is_not_guessed() {
        let level = |counts: &[u32]| ChanceLevel::of_rows(&columns(), counts);
        let four = level(&[4; 6]).unwrap();
        assert_eq!((four.value, four.choices), (0.25, Some(4)));
        assert_eq!(
            (four.label(), four.meaning()),
            ("chance 0.25".into(), "guessing one of 4 choices".into())
        );
        // The second epoch is of the same samples: (1/2 + 1/4 + 1/4) / 3.
        let mixed = level(&[2, 4, 4, 2, 4, 4]).unwrap();
        assert!((mixed.value - 1.0 / 3.0).abs() < 1e-15 && mixed.choices.is_none(), "{mixed:?}");
        assert_eq!((mixed.label().as_str(), mixed.of_part()), ("chance 0.333", None));
        assert_eq!(level(&[4, 0, 4, 4, 0, 4]), None, "a sample without choices");
        assert_eq!(level(&[4, 1, 4, 4, 1, 4]), None, "there is nothing to choose");
        assert_eq!(level(&[]), None, "not read");
        assert_eq!(ChanceLevel::of_rows(&ScoreColumns::new(["choice"]), &[]), None, "no samples");
    }

    #[test]
    fn runs_that_differ_have_none_in_common() {
        let level = |value: f64| Some(ChanceLevel { value, choices: None });
        assert_eq!(ChanceLevel::common([level(0.25), level(0.25)]), level(0.25));
        assert_eq!(ChanceLevel::common([level(0.25), level(0.5)]), None);
        assert_eq!(ChanceLevel::common([level(0.25), None]), None);
        assert_eq!(ChanceLevel::common([]), None);
    }

    /// Whether the first figure of these metrics, reduced so, has a level.
    fn has_level(scorer: &str, metric: &str, reducer: Option<&str>) -> bool {
        let registry = Registry::built_in();
        let mut columns = ScoreColumns::new([scorer]);
        columns.set_picks_option("choice");
        for (id, epoch) in [("a", 1), ("a", 2), ("b", 1), ("b", 2)] {
            columns.push(id, epoch).score(scorer, Score::new("C")).unwrap();
        }
        let mut plan = Plan::new();
        plan.task_metrics = Some(registry.metrics(&metric.parse().unwrap()).unwrap());
        if let Some(reducer) = reducer {
            plan.reducers = Reducers::explicit(vec![registry.reducer(&reducer.parse().unwrap()).unwrap()]);
        }
        let results = plan.evaluate(&columns).unwrap().results;
        results.rows().first().is_some_and(ChanceLevel::is_of)
    }

    #[test]
    fn only_the_share_of_right_choices_has_a_level() {
        assert!(has_level("choice", "accuracy", None) && has_level("choice", "mean", Some("mean")));
        assert!(!has_level("match", "accuracy", None), "a scorer of texts");
        assert!(!has_level("choice", "accuracy", Some("max")), "the best of several guesses");
        assert!(!has_level("choice", "stderr", None) && !has_level("choice", "std", None));
        let other = "accuracy(to_float=value_to_float(correct=0.5))";
        assert!(!has_level("choice", other, None), "other numbers than the scores");
    }
}
