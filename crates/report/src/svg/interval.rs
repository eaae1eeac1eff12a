//! The interval: a line with caps, a box of ± one standard error, a mark at the estimate.

use errorbar_core::{Estimate, IntervalSide};
use maud::{Markup, PreEscaped};

use super::drawing::Drawing;
use super::mark::Series;
use super::scale::{Scale, percent};

/// How large an interval is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalSize {
    /// The headline of a page: a box of 22 pixels.
    Headline,
    /// A row of a table: 14.
    Table,
    /// A line of a forest plot: 10.
    Forest,
    /// One of several in a row of 32 pixels: 6, without the interval's line where there are few scores.
    Thin,
}

impl IntervalSize {
    fn box_height(self) -> f64 {
        match self {
            IntervalSize::Headline => 22.0,
            IntervalSize::Table => 14.0,
            IntervalSize::Forest => 10.0,
            IntervalSize::Thin => 6.0,
        }
    }

    fn cap(self) -> &'static str {
        match self {
            IntervalSize::Headline => "bcap",
            IntervalSize::Table => "cap",
            IntervalSize::Forest | IntervalSize::Thin => "scap",
        }
    }

    fn is_small(self) -> bool {
        matches!(self, IntervalSize::Forest | IntervalSize::Thin)
    }
}

/// A vertical position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Y {
    /// In percent of the height.
    Percent(f64),
    /// In pixels.
    Pixels(f64),
}

impl Y {
    fn text(self) -> String {
        match self {
            Y::Percent(number) => percent(number),
            Y::Pixels(number) => percent(number).trim_end_matches('%').to_owned(),
        }
    }
}

/// How an interval is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalStyle {
    /// Mark and colour.
    pub series: Series,
    /// How large.
    pub size: IntervalSize,
    /// Where.
    pub y: Y,
}

impl IntervalStyle {
    /// In the middle of the row.
    pub fn new(series: Series, size: IntervalSize) -> Self {
        IntervalStyle { series, size, y: Y::Percent(50.0) }
    }

    /// The same at another height.
    #[must_use]
    pub fn at(mut self, y: Y) -> Self {
        self.y = y;
        self
    }

    /// The same of a run in progress.
    #[must_use]
    pub fn running(mut self) -> Self {
        self.series.is_partial = true;
        self
    }
}

/// The number of scores below which [`IntervalSize::Thin`] leaves out the interval's line.
const FEW: u64 = 10;

/// An estimate on a scale, as a `<g>`. Empty if it has no number: that is for words to say, with no mark on the scale.
///
/// A line beyond the scale ends in a chevron. Without error and interval the mark is hollow. What the number would be with
/// the samples that have no score is a dotted bracket below.
pub fn interval(scale: &Scale, estimate: &Estimate, style: &IntervalStyle) -> Markup {
    let Some(value) = estimate.number().filter(|value| value.is_finite()) else {
        return Markup::default();
    };
    let y = style.y.text();
    let error = estimate.error.as_ref().ok().filter(|error| !error.degenerate && error.se > 0.0);
    let ends = ends(estimate, value).filter(|_| style.size != IntervalSize::Thin || estimate.n >= FEW);
    let has_error = error.is_some() || ends.is_some();
    let size = if style.size == IntervalSize::Headline { " lg" } else { "" };
    let mut drawn = Drawing::default();
    drawn.group(&format!("{}{size}", style.series.class), |drawn| {
        if let Some(error) = error {
            let (from, to) = (scale.within(value - error.se), scale.within(value + error.se));
            let height = style.size.box_height();
            drawn.put(format_args!(
                "<rect class=\"se\" x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{height}\" transform=\"translate(0 -{})\"/>",
                percent(from),
                percent(to - from),
                height / 2.0
            ));
        }
        if let Some((lower, upper)) = ends {
            let class = if style.series.is_partial { "ci far" } else { "ci" };
            let ends = [lower.unwrap_or(value), upper.unwrap_or(value)];
            drawn.line(class, ends.map(|end| percent(scale.within(end))), [&y, &y]);
            [lower, upper].into_iter().flatten().for_each(|end| cap(drawn, scale, end, style.size.cap(), &y));
        }
        let mark = style.series.mark;
        let id = if style.size.is_small() { mark.small() } else { mark.large() };
        let hollow = if style.series.is_partial || !has_error { " hollow" } else { "" };
        let x = percent(scale.within(value));
        drawn.put(format_args!("<use class=\"mk{hollow}\" href=\"#{id}\" x=\"{x}\" y=\"{y}\"/>"));
        if let Some(bounds) = &estimate.bounds {
            drawn.group("absent", |drawn| {
                let ends = [bounds.worst, bounds.best];
                drawn.line("gone", ends.map(|end| percent(scale.within(end))), [&y, &y]);
                ends.into_iter().for_each(|end| cap(drawn, scale, end, "dotcap", &y));
            });
        }
    });
    PreEscaped(drawn.0)
}

/// The ends of the interval that are bounds; none if they carry no information.
fn ends(estimate: &Estimate, value: f64) -> Option<(Option<f64>, Option<f64>)> {
    let interval = estimate.interval.as_ref().ok()?;
    let (lower, upper) = (interval.lower, interval.upper);
    match interval.side {
        IntervalSide::Lower => (!lower.is_nan() && lower != value).then_some((Some(lower), None)),
        IntervalSide::Upper => (!upper.is_nan() && upper != value).then_some((None, Some(upper))),
        _ => (!lower.is_nan() && !upper.is_nan() && lower != upper).then_some((Some(lower), Some(upper))),
    }
}

/// The end of a line: a cap, or a chevron if it is beyond the scale.
fn cap(drawn: &mut Drawing, scale: &Scale, end: f64, cap: &str, y: &str) {
    // Beyond by rounding is not beyond.
    const SLACK: f64 = 1e-6;
    let (id, at) = match scale.position(end) {
        at if at < -SLACK => ("over-l", 0.0),
        at if at > 100.0 + SLACK => ("over-r", 100.0),
        at => (cap, at),
    };
    drawn.put(format_args!("<use class=\"cap\" href=\"#{id}\" x=\"{}\" y=\"{y}\"/>", percent(at)));
}

#[cfg(test)]
mod tests {
    use errorbar_core::{Bounds, Interval, IntervalMethod, Undefined};

    use super::*;

    fn drawn(estimate: &Estimate) -> String {
        interval(&Scale::unit(), estimate, &IntervalStyle::new(Series::of(1, 2), IntervalSize::Table)).0
    }

    #[test]
    fn line_box_and_mark_are_where_the_numbers_are() {
        let estimate = Estimate::new(0.5).with_stderr(0.1).with_interval(0.3, 0.7, 0.95).with_n(24);
        assert_eq!(
            drawn(&estimate),
            "<g class=\"m2\"><rect class=\"se\" x=\"40%\" y=\"50%\" width=\"20%\" height=\"14\" transform=\"translate(0 \
             -7)\"/><line class=\"ci\" x1=\"30%\" x2=\"70%\" y1=\"50%\" y2=\"50%\"/><use class=\"cap\" href=\"#cap\" \
             x=\"30%\" y=\"50%\"/><use class=\"cap\" href=\"#cap\" x=\"70%\" y=\"50%\"/><use class=\"mk\" href=\"#Ks\" \
             x=\"50%\" y=\"50%\"/></g>"
        );
    }

    #[test]
    fn nothing_is_clipped_silently() {
        let text = drawn(&Estimate::new(0.9).with_stderr(0.07).with_interval(0.742, 1.063, 0.95));
        assert!(
            text.contains("href=\"#over-r\" x=\"100%\"") && text.contains("href=\"#cap\" x=\"74.2%\""),
            "{text}"
        );
        let text = drawn(&Estimate::new(0.1).with_stderr(0.07).with_interval(-0.02, 0.2, 0.95));
        assert!(text.contains("href=\"#over-l\" x=\"0%\""), "{text}");
        let text = drawn(&Estimate::new(1.0).with_stderr(0.07).with_interval(0.5, 1.0 + 1e-15, 0.95));
        assert!(!text.contains("over-"), "{text}");
    }

    #[test]
    fn what_is_unknown_is_not_drawn_as_known() {
        let alone = drawn(&Estimate::new(1.0).with_stderr(0.0));
        assert!(
            alone.contains("mk hollow") && !alone.contains("class=\"se\"") && !alone.contains("class=\"ci\"")
        );
        assert_eq!(drawn(&Estimate::undefined(Undefined::NoScores)), "");
        let wilson = drawn(&Estimate::new(1.0).with_stderr(0.0).with_interval(0.44, 1.0, 0.95));
        assert!(wilson.contains("class=\"ci\"") && !wilson.contains("hollow"), "{wilson}");
    }

    #[test]
    fn absent_samples_are_a_bracket_of_their_own() {
        let mut estimate = Estimate::new(0.5).with_stderr(0.1);
        estimate.bounds = Some(Bounds::new(0.4, 0.6, 0.4));
        let text = drawn(&estimate);
        assert!(text.contains("<g class=\"absent\"><line class=\"gone\" x1=\"40%\" x2=\"60%\""), "{text}");
    }

    #[test]
    fn a_bound_has_one_cap() {
        let mut estimate = Estimate::new(0.5).with_stderr(0.1);
        estimate.interval =
            Ok(Interval::new(0.3, 1.0, 0.95, IntervalMethod::Custom).one_sided(IntervalSide::Lower, None));
        let text = drawn(&estimate);
        assert!(
            text.contains("x1=\"30%\" x2=\"50%\"") && text.matches("href=\"#cap\"").count() == 1,
            "{text}"
        );
    }

    #[test]
    fn few_scores_have_no_line_in_a_thin_row_and_runs_are_hollow() {
        let estimate = Estimate::new(0.5).with_stderr(0.1).with_interval(0.3, 0.7, 0.95).with_n(3);
        let style = IntervalStyle::new(Series::of(0, 1), IntervalSize::Thin).at(Y::Percent(22.0));
        let text = interval(&Scale::unit(), &estimate, &style).0;
        assert!(
            text.contains("class=\"se\"") && !text.contains("class=\"ci\"") && text.contains("y=\"22%\""),
            "{text}"
        );
        let style = IntervalStyle::new(Series::of(0, 1), IntervalSize::Table).at(Y::Pixels(19.0)).running();
        let text = interval(&Scale::unit(), &estimate, &style).0;
        assert!(
            text.contains("ci far") && text.contains("mk hollow") && text.contains("y1=\"19\""),
            "{text}"
        );
    }
}
