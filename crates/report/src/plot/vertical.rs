//! What plots with a vertical scale share.

use errorbar_core::{Estimate, IntervalSide};

use crate::svg::{Drawing, Scale, Series, percent, px};

/// A number on a vertical axis of pixels.
#[derive(Clone, Debug)]
pub(super) struct Vertical {
    pub(super) scale: Scale,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Vertical {
    /// Where a number is, no further than the ends.
    pub(super) fn y(&self, number: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.scale.within(number) / 100.0
    }

    /// Lines with their numbers above them at the left, so that the drawing needs no margin of a fixed width.
    pub(super) fn lines(&self, drawing: &mut Drawing) {
        for tick in self.scale.ticks() {
            let y = px(self.y(*tick));
            drawing.line("gl", ["0", "100%"], [&y, &y]);
            drawing.text("tick l", "0", px(self.y(*tick) - 3.0), &self.scale.label(*tick));
        }
    }

    /// An estimate as an upright interval with a mark, at a horizontal position in percent.
    pub(super) fn interval(&self, drawing: &mut Drawing, estimate: &Estimate, series: Series, x: f64) {
        let Some(value) = estimate.number().filter(|value| value.is_finite()) else { return };
        let x = percent(x);
        let ends = estimate.interval.as_ref().ok().and_then(|interval| match interval.side {
            IntervalSide::Lower => Some((interval.lower, value)),
            IntervalSide::Upper => Some((value, interval.upper)),
            _ => (interval.lower != interval.upper).then_some((interval.lower, interval.upper)),
        });
        let ends = ends.filter(|(lower, upper)| !lower.is_nan() && !upper.is_nan());
        drawing.group(series.class, |drawing| {
            if let Some((lower, upper)) = ends {
                let (from, to) = (px(self.y(lower)), px(self.y(upper)));
                let class = if series.is_partial { "ci far" } else { "ci" };
                drawing.line(class, [&x, &x], [&from, &to]);
                let ends = [(lower, &from, "M-4-4L0 0L4-4"), (upper, &to, "M-4 4L0 0L4 4")];
                for (end, y, beyond) in ends.into_iter().filter(|(end, ..)| *end != value) {
                    let is_beyond = !(-1e-6..=100.0 + 1e-6).contains(&self.scale.position(end));
                    let path = if is_beyond { beyond } else { "M-3.5 0H3.5" };
                    drawing.nested(&x, y, &format!("<path class=\"cap\" d=\"{path}\"/>"));
                }
            }
            let has_error = ends.is_some() || estimate.stderr().is_some_and(|se| se > 0.0);
            let hollow = if series.is_partial || !has_error { " hollow" } else { "" };
            let (id, y) = (series.mark.small(), px(self.y(value)));
            drawing.put(format_args!("<use class=\"mk{hollow}\" href=\"#{id}\" x=\"{x}\" y=\"{y}\"/>"));
        });
    }
}

/// Heights for labels at about these heights, none nearer to another than `gap`; between the ends if there is room.
pub(super) fn apart(wanted: &[f64], gap: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let at = |index: usize| wanted.get(index).copied().unwrap_or(0.0);
    order.sort_by(|a, b| at(*a).total_cmp(&at(*b)));
    let mut placed = vec![0.0; wanted.len()];
    let mut last = f64::NEG_INFINITY;
    for index in &order {
        last = at(*index).max(last + gap).max(top);
        if let Some(slot) = placed.get_mut(*index) {
            *slot = last;
        }
    }
    let mut next = f64::INFINITY;
    for index in order.iter().rev() {
        if let Some(slot) = placed.get_mut(*index) {
            *slot = slot.min(next - gap).min(bottom);
            next = *slot;
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_overlap() {
        assert_eq!(apart(&[10.0, 12.0, 80.0], 14.0, (0.0, 100.0)), [10.0, 24.0, 80.0]);
        assert_eq!(apart(&[99.0, 98.0], 14.0, (0.0, 100.0)), [100.0, 86.0]);
        assert_eq!(apart(&[], 14.0, (0.0, 100.0)), [0.0; 0]);
    }

    #[test]
    fn an_upright_interval_beyond_the_scale_has_a_chevron() {
        let vertical = Vertical { scale: Scale::unit(), top: 0.0, bottom: 100.0 };
        let mut drawing = Drawing::default();
        let estimate = Estimate::new(0.9).with_stderr(0.1).with_interval(0.7, 1.1, 0.95);
        vertical.interval(&mut drawing, &estimate, Series::of(0, 1), 50.0);
        assert!(drawing.0.contains("y=\"0\" overflow=\"visible\"><path class=\"cap\" d=\"M-4 4L0 0L4 4\""));
        assert!(drawing.0.contains("y=\"30\" overflow=\"visible\"><path class=\"cap\" d=\"M-3.5 0H3.5\""));
        let mut alone = Drawing::default();
        vertical.interval(&mut alone, &Estimate::new(0.5), Series::of(0, 1), 50.0);
        assert!(alone.0.contains("mk hollow") && !alone.0.contains("class=\"ci\""));
        let mut none = Drawing::default();
        let undefined = Estimate::undefined(errorbar_core::Undefined::NoScores);
        vertical.interval(&mut none, &undefined, Series::of(0, 1), 50.0);
        assert_eq!(none.0, "", "an unknown is not drawn as 0");
    }
}
