//! Axes and grid lines.

use maud::{Markup, PreEscaped};

use super::drawing::Drawing;
use super::escape::escape;
use super::scale::{Scale, percent};

/// The height of an axis without a named reference line, in pixels.
const AXIS_HEIGHT: u32 = 28;
/// What a named reference line adds.
const REFERENCE_HEIGHT: u32 = 16;

/// A dashed line with a name: the score of guessing, a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Where it is.
    pub value: f64,
    /// What it is called: `chance 0.25`.
    pub label: String,
}

impl Reference {
    /// The position, if it is on the scale.
    fn position(&self, scale: &Scale) -> Option<f64> {
        Some(scale.position(self.value)).filter(|at| (0.0..=100.0).contains(at))
    }
}

/// The height of an axis in pixels: a reference line on the scale is named above the ticks.
pub fn axis_height(scale: &Scale, reference: Option<&Reference>) -> u32 {
    let is_named = reference.is_some_and(|reference| reference.position(scale).is_some());
    AXIS_HEIGHT + if is_named { REFERENCE_HEIGHT } else { 0 }
}

/// The axis above a column of plots, as an `<svg>`.
pub fn axis(scale: &Scale, reference: Option<&Reference>) -> Markup {
    let height = axis_height(scale, reference);
    let reference = reference.and_then(|reference| Some((reference, reference.position(scale)?)));
    let top = height - AXIS_HEIGHT;
    let mut drawn = Drawing(format!(
        "<svg class=\"iv ax\" width=\"100%\" height=\"{height}\" aria-hidden=\"true\" focusable=\"false\">"
    ));
    for (index, tick) in scale.ticks().iter().enumerate() {
        let at = percent(scale.position(*tick));
        let class = if is_spare(scale, index) { "tick t2" } else { "tick" };
        drawn.text(class, &at, height - 8, &scale.label(*tick));
        drawn.line("gl", [&at, &at], [height - 4, height]);
    }
    if let Some((reference, at)) = reference {
        let at = percent(at);
        drawn.text("reft", &at, top + 4, &escape(&reference.label));
        drawn.line("gl ref", [&at, &at], [top + 8, height]);
    }
    PreEscaped(drawn.0 + "</svg>")
}

/// Whether a narrow axis does without the label of a tick: between the ends of 0 to 1, else every second one from 0.
fn is_spare(scale: &Scale, index: usize) -> bool {
    let ticks = scale.ticks();
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
    let longest = scale.ticks().iter().map(|tick| scale.label(*tick).chars().count()).max().unwrap_or(0);
    scale.ticks().len() as f64 * (longest as f64 * CHARACTER + GAP)
}

/// The grid lines behind a row of a plot, over its whole height.
pub fn grid(scale: &Scale, reference: Option<&Reference>) -> Markup {
    let mut drawn = Drawing::default();
    let mut line = |class: &str, at: f64| drawn.line(class, [percent(at), percent(at)], ["0", "100%"]);
    for tick in scale.ticks() {
        let is_zero = scale.is_signed() && *tick == 0.0;
        line(if is_zero { "gl zero" } else { "gl" }, scale.position(*tick));
    }
    if let Some(at) = reference.and_then(|reference| reference.position(scale)) {
        line("gl ref", at);
    }
    PreEscaped(drawn.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_reference_are_named() {
        let reference = Reference { value: 0.25, label: "chance <0.25>".to_owned() };
        let text = axis(&Scale::unit(), Some(&reference)).0;
        assert!(text.contains("height=\"44\"") && text.contains(">0.2</text>"), "{text}");
        assert!(text.contains("x=\"25%\" y=\"20\">chance &lt;0.25&gt;</text>"), "{text}");
        assert_eq!(grid(&Scale::unit(), Some(&reference)).0.matches("gl ref").count(), 1);
        let beyond = Reference { value: 2.0, ..reference };
        assert!(!axis(&Scale::unit(), Some(&beyond)).0.contains("ref"), "not on the scale");
    }

    #[test]
    fn narrow_axes_keep_the_ends_or_zero() {
        let spare = |scale: &Scale| {
            let ticks = scale.ticks().iter().enumerate();
            ticks.filter(|(at, _)| !is_spare(scale, *at)).map(|(_, tick)| *tick).collect::<Vec<_>>()
        };
        assert_eq!(spare(&Scale::unit()), [0.0, 1.0]);
        let kept = spare(&Scale::differences([-0.1, 0.4]));
        assert!(
            kept.contains(&0.0) && kept.len() < Scale::differences([-0.1, 0.4]).ticks().len(),
            "{kept:?}"
        );
        assert!(axis_width(&Scale::unit()) < 200.0);
    }

    #[test]
    fn zero_of_differences_stands_out() {
        assert_eq!(grid(&Scale::differences([-0.1, 0.4]), None).0.matches("gl zero").count(), 1);
        assert!(!grid(&Scale::unit(), None).0.contains("zero"));
    }
}
