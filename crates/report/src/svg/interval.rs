//! The interval: a line with caps, a box of ± one standard error, a mark at the estimate.

use errorbar_core::{Estimate, IntervalSide};
use maud::{Markup, PreEscaped};

use super::{Drawing, Series};
use crate::figure::{ChanceLevel, shown_error};

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
    /// The height of the box, the id of the caps, and whether the mark is small.
    fn parts(self) -> (f64, &'static str, bool) {
        match self {
            IntervalSize::Headline => (22.0, "bcap", false),
            IntervalSize::Table => (14.0, "cap", false),
            IntervalSize::Forest => (10.0, "scap", true),
            IntervalSize::Thin => (6.0, "scap", true),
        }
    }
}

/// How an interval is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalStyle {
    /// Mark and colour.
    pub series: Series,
    /// How large.
    pub size: IntervalSize,
    /// Where: a height in pixels, or in percent of the drawing.
    pub y: String,
}

impl IntervalStyle {
    /// In the middle of the row.
    pub fn new(series: Series, size: IntervalSize) -> Self {
        IntervalStyle { series, size, y: "50%".to_owned() }
    }

    /// The same at another height.
    #[must_use]
    pub fn at(self, y: String) -> Self {
        IntervalStyle { y, ..self }
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
    let (height, cap_id, is_small) = style.size.parts();
    let y = &style.y;
    let error = shown_error(estimate);
    let ends = ends(estimate, value).filter(|_| style.size != IntervalSize::Thin || estimate.n >= FEW);
    let has_error = error.is_some() || ends.is_some();
    let size = if style.size == IntervalSize::Headline { " lg" } else { "" };
    let mut drawn = Drawing::default();
    drawn.group(&format!("{}{size}", style.series.class), |drawn| {
        if let Some(error) = error {
            let (from, to) = (scale.within(value - error.se), scale.within(value + error.se));
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
            drawn.line(class, ends.map(|end| percent(scale.within(end))), [y, y]);
                    [lower, upper].into_iter().flatten().for_each(|end| cap(drawn, scale, end, cap_id, y));
                }
                let (large, small) = style.series.mark;
                let id = if is_small { small } else { large };
        let hollow = if style.series.is_partial || !has_error { " hollow" } else { "" };
        let x = percent(scale.within(value));
        drawn.put(format_args!("<use class=\"mk{hollow}\" href=\"#{id}\" x=\"{x}\" y=\"{y}\"/>"));
        if let Some(bounds) = &estimate.bounds {
            drawn.group("absent", |drawn| {
                let ends = [bounds.worst, bounds.best];
                drawn.line("gone", ends.map(|end| percent(scale.within(end))), [y, y]);
                ends.into_iter().for_each(|end| cap(drawn, scale, end, "dotcap", y));
            });
        }
    });
    PreEscaped(drawn.0)
}

/// The ends of the interval that are bounds; none if they carry no information.
pub(crate) fn ends(estimate: &Estimate, value: f64) -> Option<(Option<f64>, Option<f64>)> {
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

// The scale of a plot: from numbers to percentages of its width.

/// The number of steps between ticks that is aimed at.
const STEPS: f64 = 5.0;

/// A linear scale with its ticks.
///
/// ```
/// use errorbar_report::svg::Scale;
///
/// let scale = Scale::around([3.1, 7.4]);
/// assert_eq!((scale.lower, scale.upper), (3.0, 8.0));
/// assert_eq!((scale.ticks.as_slice(), scale.position(5.5)), ([3.0, 4.0, 5.0, 6.0, 7.0, 8.0].as_slice(), 50.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scale {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The numbers that have a tick.
    pub ticks: Vec<f64>,
    /// Whether it is a scale of differences.
    pub is_signed: bool,
}

impl Scale {
    /// From 0 to 1, with a tick each 0.2: the scale of every figure that lies in it.
    pub fn unit() -> Self {
        Scale { lower: 0.0, upper: 1.0, ticks: vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0], is_signed: false }
    }

    /// All these numbers, rounded out to ticks that are 1, 2 or 5 times a power of ten apart. Zero is not forced.
    pub fn around(numbers: impl IntoIterator<Item = f64>) -> Self {
        let finite = numbers.into_iter().filter(|number| number.is_finite());
        let range = finite.fold(None, |range: Option<(f64, f64)>, number| {
            let (lower, upper) = range.unwrap_or((number, number));
            Some((lower.min(number), upper.max(number)))
        });
        let (lower, upper) = match range {
            None => return Scale::unit(),
            Some((lower, upper)) if lower < upper => (lower, upper),
            Some((only, _)) => {
                let margin = if only == 0.0 { 1.0 } else { only.abs() / 10.0 };
                (only - margin, only + margin)
            }
        };
        let step = step(upper - lower);
        // A number at a tick needs no further one, though rounding puts it beyond.
        let first = (lower / step + 1e-9).floor();
        let last = (upper / step - 1e-9).ceil().max(first + 1.0);
        let count = (last - first).min(64.0) as usize;
        // Dividing by a whole number keeps 0.3 from being 0.30000000000000004.
        let tick = |at: f64| if step < 1.0 { at / (1.0 / step).round() } else { at * step };
        let ticks: Vec<f64> = (0..=count).map(|at| tick(first + at as f64) + 0.0).collect();
        Scale { lower: tick(first), upper: tick(last), ticks, is_signed: false }
    }

    /// The scale of differences: always with 0, and ticks have signs.
    pub fn differences(numbers: impl IntoIterator<Item = f64>) -> Self {
        Scale { is_signed: true, ..Scale::around(numbers.into_iter().chain([0.0])) }
    }

    /// The scale of estimates that are differences.
    pub fn of_differences<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> Self {
        Scale::differences(estimates.into_iter().flat_map(extent))
    }

    /// The scale of estimates: 0 to 1 if all their values are within, else around all intervals.
    pub fn of<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> Self {
        let estimates: Vec<&Estimate> = estimates.into_iter().collect();
        let is_unit = |value: f64| (0.0..=1.0).contains(&value);
        if estimates.iter().filter_map(|estimate| estimate.number()).all(is_unit) {
            return Scale::unit();
        }
        Scale::around(estimates.into_iter().flat_map(extent))
    }

    /// Where a number is, in percent of the width; beyond 0 to 100 if the number is beyond the scale.
    pub fn position(&self, number: f64) -> f64 {
        100.0 * (number - self.lower) / (self.upper - self.lower)
    }

    /// The same, no further than the edges.
    pub fn within(&self, number: f64) -> f64 {
        self.position(number).clamp(0.0, 100.0)
    }

    /// A tick as it is written: `0.2`, `+0.1`, `−1`.
    pub fn label(&self, tick: f64) -> String {
        tick_text(tick, self.is_signed)
    }

    /// Both ends, as scripts read them.
    pub fn ends(&self) -> String {
        format!("{},{}", self.lower, self.upper)
    }
}

/// The numbers that a scale of an estimate must hold: the value, the interval, ± one standard error, the bounds.
fn extent(estimate: &Estimate) -> Vec<f64> {
    let Some(value) = estimate.number() else { return Vec::new() };
    let mut numbers = vec![value];
    if let Ok(interval) = &estimate.interval {
        numbers.extend([interval.lower, interval.upper]);
    }
    if let Some(se) = estimate.stderr() {
        numbers.extend([value - se, value + se]);
    }
    if let Some(bounds) = &estimate.bounds {
        numbers.extend([bounds.worst, bounds.best]);
    }
    numbers
}

/// The step of 1, 2 or 5 times a power of ten that gives about [`STEPS`] steps.
fn step(span: f64) -> f64 {
    let wanted = span / STEPS;
    let power = 10f64.powf(wanted.log10().floor());
    let factor = match wanted / power {
        f if f <= 1.0 + 1e-9 => 1.0,
        f if f <= 2.0 + 1e-9 => 2.0,
        f if f <= 5.0 + 1e-9 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// A number for a tick: no insignificant zeros, a real minus sign, thousands as `10k`.
pub fn tick_text(number: f64, is_signed: bool) -> String {
    let size = number.abs();
    let text = match size {
        0.0 => return "0".to_owned(),
        size if !(1e-6..1e15).contains(&size) => format!("{size:e}"),
        size if size >= 10_000.0 => {
            let (divisor, unit) = match size {
                size if size >= 1e9 => (1e9, "G"),
                size if size >= 1e6 => (1e6, "M"),
                _ => (1e3, "k"),
            };
            format!("{}{unit}", size / divisor)
        }
        size => {
            let fixed = format!("{size:.9}");
            fixed.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    match (number < 0.0, is_signed) {
        (true, _) => format!("\u{2212}{text}"),
        (false, true) => format!("+{text}"),
        (false, false) => text,
    }
}

/// A percentage for an attribute, to two decimals: `84.72%`, `50%`.
///
/// ```
/// assert_eq!(errorbar_report::svg::percent(84.7222), "84.72%");
/// assert_eq!(errorbar_report::svg::percent(50.0), "50%");
/// ```
pub fn percent(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{}%", if text == "-0" { "0" } else { text })
}

// Axes and grid lines.

/// The height of an axis without a named line, in pixels.
const AXIS_HEIGHT: u32 = 28;
/// What the line of guessing adds.
const CHANCE_HEIGHT: u32 = 16;

/// Where the score of guessing is, if it is on the scale.
fn chance_position(scale: &Scale, chance: Option<ChanceLevel>) -> Option<f64> {
    chance.map(|chance| scale.position(chance.value)).filter(|at| (0.0..=100.0).contains(at))
}

/// The height of an axis in pixels: the score of guessing is named above the ticks.
pub fn axis_height(scale: &Scale, chance: Option<ChanceLevel>) -> u32 {
    AXIS_HEIGHT + if chance_position(scale, chance).is_some() { CHANCE_HEIGHT } else { 0 }
}

/// The axis above a column of plots, as an `<svg>`.
pub fn axis(scale: &Scale, chance: Option<ChanceLevel>) -> Markup {
    let height = axis_height(scale, chance);
    let top = height - AXIS_HEIGHT;
    let mut drawn = Drawing(format!(
        "<svg class=\"iv ax\" width=\"100%\" height=\"{height}\" aria-hidden=\"true\" focusable=\"false\">"
    ));
    for (index, tick) in scale.ticks.iter().enumerate() {
        let at = percent(scale.position(*tick));
        let class = if is_spare(scale, index) { "tick t2" } else { "tick" };
        drawn.text(class, &at, height - 8, &scale.label(*tick));
        drawn.line("gl", [&at, &at], [height - 4, height]);
    }
    if let Some((chance, at)) = chance.zip(chance_position(scale, chance)) {
        let at = percent(at);
        drawn.text("reft", &at, top + 4, &chance.label());
        drawn.line("gl ref", [&at, &at], [top + 8, height]);
    }
    PreEscaped(drawn.0 + "</svg>")
}

/// Whether a narrow axis does without the label of a tick: between the ends of 0 to 1, else every second one from 0.
fn is_spare(scale: &Scale, index: usize) -> bool {
    let ticks = &scale.ticks;
    if *scale == Scale::unit() {
        return index != 0 && index + 1 != ticks.len();
    }
    let zero = ticks.iter().position(|tick| *tick == 0.0).unwrap_or(0);
    index.abs_diff(zero) % 2 == 1
}

/// The width in pixels that the labels of an axis need, by a wide font.
pub fn axis_width(scale: &Scale) -> f64 {
    const CHARACTER: f64 = 7.2;
    const GAP: f64 = 8.0;
    let longest = scale.ticks.iter().map(|tick| scale.label(*tick).chars().count()).max().unwrap_or(0);
    scale.ticks.len() as f64 * (longest as f64 * CHARACTER + GAP)
}

/// The grid lines behind a row of a plot, over its whole height.
pub fn grid(scale: &Scale, chance: Option<ChanceLevel>) -> Markup {
    let mut drawn = Drawing::default();
    let mut line = |class: &str, at: f64| drawn.line(class, [percent(at), percent(at)], ["0", "100%"]);
    for tick in &scale.ticks {
        let is_zero = scale.is_signed && *tick == 0.0;
        line(if is_zero { "gl zero" } else { "gl" }, scale.position(*tick));
    }
    if let Some(at) = chance_position(scale, chance) {
        line("gl ref", at);
    }
    PreEscaped(drawn.0)
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
        let style = IntervalStyle::new(Series::of(0, 1), IntervalSize::Thin).at(percent(22.0));
        let text = interval(&Scale::unit(), &estimate, &style).0;
        assert!(
            text.contains("class=\"se\"") && !text.contains("class=\"ci\"") && text.contains("y=\"22%\""),
            "{text}"
        );
        let style = IntervalStyle::new(Series { is_partial: true, ..Series::of(0, 1) }, IntervalSize::Table)
            .at("19".to_owned());
        let text = interval(&Scale::unit(), &estimate, &style).0;
        assert!(
            text.contains("ci far") && text.contains("mk hollow") && text.contains("y1=\"19\""),
            "{text}"
        );
    }

    #[test]
    fn shares_always_have_the_whole_scale() {
        let near = [Estimate::new(0.97).with_interval(0.93, 1.02, 0.95), Estimate::new(0.95)];
        assert_eq!(Scale::of(&near), Scale::unit(), "an interval beyond 1 does not stretch it");
        assert_eq!(Scale::of(&[]), Scale::unit());
        let wide = [Estimate::new(7.25).with_stderr(1.3).with_interval(4.6, 9.9, 0.95)];
        let scale = Scale::of(&wide);
        assert_eq!((scale.lower, scale.upper), (4.0, 10.0));
    }

    #[test]
    fn ticks_are_round_and_hold_all_numbers() {
        for (low, high) in
            [(0.0, 1.0), (-0.03, 0.37), (12.0, 14_000.0), (1e-7, 3e-7), (-5.0, -4.9), (0.1, 0.3), (5.0, 5.0)]
        {
            let scale = Scale::around([low, high]);
            let ticks = &scale.ticks;
            assert!(scale.lower <= low && scale.upper >= high, "{low} {high} {scale:?}");
            assert!((2..=12).contains(&ticks.len()), "{low} {high} {ticks:?}");
            assert_eq!(ticks.first().copied(), Some(scale.lower));
            assert!((ticks[ticks.len() - 1] - scale.upper).abs() < 1e-9 * (1.0 + high.abs()));
            assert!(ticks.iter().all(|tick| scale.label(*tick).len() < 10), "{ticks:?}");
        }
        assert_eq!(Scale::around([0.1, 0.3]).ticks, [0.1, 0.15, 0.2, 0.25, 0.3], "no 0.30000000000000004");
        assert_eq!(Scale::around([f64::NAN, f64::INFINITY]), Scale::unit());
    }

    #[test]
    fn differences_hold_zero_and_have_signs() {
        let scale = Scale::differences([0.036, 0.368, -0.06]);
        let labels: Vec<String> = scale.ticks.iter().map(|tick| scale.label(*tick)).collect();
        assert_eq!(labels, ["−0.1", "0", "+0.1", "+0.2", "+0.3", "+0.4"]);
        let above = Scale::differences([0.2, 0.3]);
        assert_eq!(above.lower, 0.0);
    }

    #[test]
    fn numbers_of_ticks() {
        for (number, text) in [
            (0.0, "0"),
            (0.05, "0.05"),
            (1500.0, "1500"),
            (20_000.0, "20k"),
            (2.5e6, "2.5M"),
            (-3.0, "−3"),
            (2e-7, "2e-7"),
        ] {
            assert_eq!(tick_text(number, false), text);
        }
        assert_eq!(
            (percent(0.0), percent(-0.001), percent(100.0)),
            ("0%".into(), "0%".into(), "100%".into())
        );
    }

    #[test]
    fn ticks_and_chance_are_named() {
        let chance = ChanceLevel { value: 0.25, choices: Some(4) };
        let text = axis(&Scale::unit(), Some(chance)).0;
        assert!(text.contains("height=\"44\"") && text.contains(">0.2</text>"), "{text}");
        assert!(text.contains("x=\"25%\" y=\"20\">chance 0.25</text>"), "{text}");
        assert_eq!(grid(&Scale::unit(), Some(chance)).0.matches("gl ref").count(), 1);
        let beyond = ChanceLevel { value: 2.0, ..chance };
        assert!(!axis(&Scale::unit(), Some(beyond)).0.contains("ref"), "not on the scale");
    }

    #[test]
    fn narrow_axes_keep_the_ends_or_zero() {
        let spare = |scale: &Scale| {
            let ticks = scale.ticks.iter().enumerate();
            ticks.filter(|(at, _)| !is_spare(scale, *at)).map(|(_, tick)| *tick).collect::<Vec<_>>()
        };
        assert_eq!(spare(&Scale::unit()), [0.0, 1.0]);
        let kept = spare(&Scale::differences([-0.1, 0.4]));
        assert!(kept.contains(&0.0) && kept.len() < Scale::differences([-0.1, 0.4]).ticks.len(), "{kept:?}");
        assert!(axis_width(&Scale::unit()) < 200.0);
    }

    #[test]
    fn zero_of_differences_stands_out() {
        assert_eq!(grid(&Scale::differences([-0.1, 0.4]), None).0.matches("gl zero").count(), 1);
        assert!(!grid(&Scale::unit(), None).0.contains("zero"));
    }
}
