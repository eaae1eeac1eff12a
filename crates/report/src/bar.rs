//! Intervals drawn with characters, on one scale for all rows of a block.

use errorbar_core::Role;

use crate::figure::EstimateText;

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
        let around = figure.stderr().map(|error| (point - error, point + error));
        let (lower, upper) = match figure.ends().or(around) {
            Some(ends) if is_drawn => ends,
            None if sets_scale => (point, point),
            _ => return None,
        };
        Some(BarSpan { point, lower, upper, sets_scale })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::plain;

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
        let alpha = EstimateText::new(0.7).interval(0.6, 0.8);
        let perplexity = EstimateText::new(23.0).error(3.0);
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
}
