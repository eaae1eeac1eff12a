//! Intervals drawn with characters, on one scale for all rows of a block.

/// What a row draws: a point, and how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) point: Option<f64>,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Span {
    pub(crate) fn point(value: f64) -> Self {
        Span { point: Some(value), lower: value, upper: value }
    }

    pub(crate) fn around(value: f64, error: f64) -> Self {
        Span { point: Some(value), lower: value - error, upper: value + error }
    }
}

/// The characters that a bar is drawn with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    left: char,
    line: char,
    right: char,
    point: char,
}

pub(crate) const UNICODE: Pen = Pen { left: '├', line: '─', right: '┤', point: '●' };
pub(crate) const ASCII: Pen = Pen { left: '|', line: '-', right: '|', point: 'o' };

/// Where the bars of a block begin and end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Scale {
    /// From 0 to 1 if that is what the spans are about, else from the least to the greatest of them,
    /// widened to round numbers; none if there is nothing to compare.
    pub(crate) fn of(spans: &[Span]) -> Option<Self> {
        /// How far an error may stick out of [0, 1] and still be that of a share.
        const SLACK: f64 = 0.25;
        let spans: Vec<&Span> = spans.iter().filter(|s| s.lower.is_finite() && s.upper.is_finite()).collect();
        let least = spans.iter().map(|s| s.lower).reduce(f64::min)?;
        let greatest = spans.iter().map(|s| s.upper).reduce(f64::max)?;
        let points_fit = spans.iter().filter_map(|s| s.point).all(|p| (0.0..=1.0).contains(&p));
        if points_fit && least >= -SLACK && greatest <= 1.0 + SLACK {
            return Some(Scale { from: 0.0, to: 1.0 });
        }
        let range = greatest - least;
        if range <= 0.0 || !range.is_finite() {
            return None;
        }
        let step = 10f64.powi((range.log10() - 0.3).floor() as i32);
        let (from, to) = ((least / step).floor() * step, (greatest / step).ceil() * step);
        (from < to && from.is_finite() && to.is_finite()).then_some(Scale { from, to })
    }

    /// The cell of a value, which may lie beyond either end.
    fn cell(self, value: f64, cells: usize) -> i64 {
        let last = cells.saturating_sub(1) as f64;
        ((value - self.from) / (self.to - self.from) * last).round() as i64
    }

    /// The span in so many cells. An end that lies outside is drawn as a line that runs to the edge.
    pub(crate) fn draw(self, span: Span, cells: usize, pen: Pen) -> String {
        let (lower, upper) = (self.cell(span.lower, cells), self.cell(span.upper, cells));
        let point = span.point.map(|p| self.cell(p, cells));
        let glyph = |at: i64| match at {
            _ if Some(at) == point => pen.point,
            _ if at == lower => pen.left,
            _ if at == upper => pen.right,
            _ if lower < at && at < upper => pen.line,
            _ => ' ',
        };
        (0..cells as i64).map(glyph).collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(span: Span) -> String {
        let scale = Scale::of(&[span]).unwrap();
        scale.draw(span, 21, UNICODE)
    }

    #[test]
    fn shares_are_drawn_from_0_to_1() {
        assert_eq!(draw(Span::around(0.5, 0.2)), "      ├───●───┤      ");
        assert_eq!(draw(Span::point(0.0)).trim_end(), "●");
        assert_eq!(draw(Span::point(1.0)).chars().position(|c| c == '●'), Some(20));
        assert_eq!(draw(Span::around(0.95, 0.2)), "               ├───●─", "cut at the edge");
        assert_eq!(draw(Span { point: None, lower: 0.25, upper: 0.5 }), "     ├────┤          ");
        assert_eq!(draw(Span::around(0.5, 0.001)).trim(), "●", "too narrow to be seen");
    }

    #[test]
    fn other_scales_come_from_the_spans() {
        let spans = [Span::around(7.25, 0.4), Span::around(6.9, 0.2)];
        assert_eq!(Scale::of(&spans), Some(Scale { from: 6.7, to: 7.7 }));
        assert_eq!(Scale::of(&[Span::point(3.0)]), None);
        assert_eq!(Scale::of(&[Span::around(0.5, f64::NAN)]), None);
        assert_eq!(Scale::of(&[Span::around(0.5, 40.0)]), Some(Scale { from: -40.0, to: 50.0 }));
        assert_eq!(Scale::of(&[]), None);
        let huge = [Span::point(-1e308), Span::point(1e308)];
        assert_eq!(Scale::of(&huge), None, "the range itself overflows");
    }
}
