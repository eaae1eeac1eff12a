//! Drawing primitives: scales, marks, intervals and axes as SVG.
//!
//! A drawing has no viewBox: horizontal positions are percentages and heights are pixels, so that plots stretch with the
//! page and type does not. Colours come from the classes of the stylesheet (`m1` to `m6`), never from attributes, because
//! the content security policy of the page allows no inline styles. Marks, caps and chevrons are `<use>` of [`defs`].
//!
//! ```
//! use errorbar_core::Estimate;
//! use errorbar_report::svg::{interval, IntervalSize, IntervalStyle, Scale, Series};
//!
//! let estimate = Estimate::new(0.8472).with_stderr(0.0255).with_interval(0.7958, 0.8986, 0.95);
//! let style = IntervalStyle::new(Series::of(0, 3), IntervalSize::Table);
//! let drawn = interval(&Scale::unit(), &estimate, &style).into_string();
//! assert!(drawn.contains("<use class=\"mk\" href=\"#Kc\" x=\"84.72%\" y=\"50%\"/>"), "{drawn}");
//! ```

mod interval;

use std::borrow::Cow;
use std::fmt::{Arguments, Display, Write as _};

use maud::{Markup, PreEscaped, html};

use crate::text::is_unsafe;

pub(crate) use interval::ends;
pub use interval::{
    IntervalSize, IntervalStyle, Scale, axis, axis_height, axis_width, grid, interval, percent, tick_text,
};

// SVG in the making: what templates would make longer.

/// Pixels for an attribute, to a tenth.
pub(crate) fn px(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// The elements of a drawing. Positions are as attributes have them; texts are markup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawing(pub(crate) String);

impl Drawing {
    pub(crate) fn put(&mut self, text: Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.0.write_fmt(text);
    }

    pub(crate) fn text(&mut self, class: &str, x: impl Display, y: impl Display, text: &str) {
        self.put(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    /// A text whose end is at the right edge.
    pub(crate) fn text_at_end(&mut self, x: impl Display, y: impl Display, text: &str) {
        self.put(format_args!("<text class=\"lab s\" text-anchor=\"end\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    pub(crate) fn line<X: Display, Y: Display>(&mut self, class: &str, [x1, x2]: [X; 2], [y1, y2]: [Y; 2]) {
        self.put(format_args!("<line class=\"{class}\" x1=\"{x1}\" x2=\"{x2}\" y1=\"{y1}\" y2=\"{y2}\"/>"));
    }

    /// A rectangle whose shade is in further attributes, if it has one.
    pub(crate) fn rect(&mut self, class: &str, shade: &str, [x, y, width, height]: [&str; 4]) {
        self.put(format_args!(
            "<rect class=\"{class}\"{shade} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// The column of a histogram that ends above at `y`.
    pub(crate) fn column(&mut self, x: String, width: String, y: f64, height: f64) {
        self.put(format_args!(
            "<rect class=\"colm\" x=\"{x}\" width=\"{width}\" y=\"{}\" height=\"{}\"/>",
            px(y),
            px(height)
        ));
    }

    /// A shape of pixels at a percentage, for which there have to be nested drawings.
    pub(crate) fn nested(&mut self, x: impl Display, y: impl Display, shape: &str) {
        self.put(format_args!("<svg x=\"{x}\" y=\"{y}\" overflow=\"visible\">{shape}</svg>"));
    }

    /// A strip as wide as `width` around the height `y`.
    pub(crate) fn strip(
        &mut self,
        x: &str,
        y: impl Display,
        width: &str,
        height: impl Display,
        content: &str,
    ) {
        self.put(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" overflow=\"visible\">{content}</svg>"
        ));
    }

    /// The mark beside a name.
    pub(crate) fn mark(&mut self, series: Series, x: impl Display, y: impl Display) {
        let (class, (id, _)) = (series.class, series.mark);
        self.put(format_args!(
            "<g class=\"{class}\"><use class=\"mk\" href=\"#{id}\" x=\"{x}\" y=\"{y}\"/></g>"
        ));
    }

    /// What is drawn in the colour of a class.
    pub(crate) fn group(&mut self, class: &str, draw: impl FnOnce(&mut Self)) {
        self.put(format_args!("<g class=\"{class}\">"));
        draw(self);
        self.0.push_str("</g>");
    }
}

// Strings from anyone, in HTML and SVG.

/// The text with control characters, and those that turn the direction of the text or show nothing, as what they are:
/// `‹U+202E›`. Markup may pass through it as a whole, as none of them has a meaning there.
///
/// ```
/// assert_eq!(errorbar_report::svg::visible("a\u{202e}b\n"), "a‹U+202E›b‹U+000A›");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // Writing to a string does not fail.
        let _ =
            if is_unsafe(c) { write!(shown, "‹U+{:04X}›", u32::from(c)) } else { shown.write_char(c) };
    }
    Cow::Owned(shown)
}

/// The [visible] text for SVG that is not written by a template, in an element or in a quoted attribute.
///
/// ```
/// use errorbar_report::svg::escape;
///
/// assert_eq!(escape("<b a='x'>\"&"), "&lt;b a=&#39;x&#39;&gt;&quot;&amp;");
/// assert_eq!(escape("a\u{202e}b\n"), "a‹U+202E›b‹U+000A›");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A name with places where it may be broken if it is long: behind `/`, `_` and `:`.
pub fn breakable(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split_inclusive(['/', '_', ':']).enumerate() {
            @if at > 0 { wbr; }
            (part)
        }
    }
}

/// The class of a name by its length, with a blank before it: a short name stays on its line, one of medium length has a
/// line of its own on a small screen, and a long one is broken where it has to be.
pub(crate) fn name_length(name: &str) -> &'static str {
    match name.chars().count() {
        ..=14 => "",
        15..=24 => " mid",
        _ => " long",
    }
}

// The marks of models: a shape and a colour, the same on the whole page.

/// How a model is drawn: its mark and the class of its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// The id of its mark, and that of the mark in small.
    pub mark: (&'static str, &'static str),
    /// The class: `m1` to `m6`, or `m0` for the colour of notes.
    pub class: &'static str,
    /// Whether samples are still to come: marks are hollow and lines dashed.
    pub is_partial: bool,
}

impl Series {
    /// What is not of a model.
    pub const NEUTRAL: Series = Series { mark: MARKS[0], class: "m0", is_partial: false };

    /// The model at this position, of so many. Beyond six, colours no longer tell models apart, and all are neutral.
    pub fn of(position: usize, count: usize) -> Self {
        const CLASSES: [&str; 6] = ["m1", "m2", "m3", "m4", "m5", "m6"];
        let found = MARKS.get(position).zip(CLASSES.get(position)).filter(|_| count <= CLASSES.len());
        found.map_or(Series::NEUTRAL, |(mark, class)| Series { mark: *mark, class, is_partial: false })
    }

    /// The same shape without the colour: nothing is claimed about the model.
    #[must_use]
    pub fn muted(self) -> Self {
        Series { class: Series::NEUTRAL.class, ..self }
    }

    /// The mark beside a name.
    pub fn dot(self) -> Markup {
        html! {
            svg class={ "dot " (self.class) } viewBox="-6 -6 12 12" aria-hidden="true" focusable="false" {
                use.mk href={ "#" (self.mark.0) } {}
            }
        }
    }
}

/// Circle, square, triangle, diamond, cross, triangle upside down: large and small.
const MARKS: [(&str, &str); 6] =
    [("Kc", "kc"), ("Ks", "ks"), ("Kt", "kt"), ("Kd", "kd"), ("Kp", "kp"), ("Kx", "kx")];

/// The sign of errorbar, for the head of a page.
pub fn brand() -> Markup {
    html! {
        svg viewBox="0 0 30 14" aria-hidden="true" focusable="false" {
            path d="M1 2V12M29 2V12M1 7H29" fill="none" stroke="currentColor" stroke-width="1.75" {}
            circle cx="15" cy="7" r="4" fill="currentColor" {}
        }
    }
}

/// The one `<defs>` of a page or of a drawing that stands alone: marks, caps, chevrons, the hatch, and the signs of notices.
pub fn defs() -> PreEscaped<&'static str> {
    PreEscaped(DEFS)
}

const DEFS: &str = "<defs>\
<circle id=\"Kc\" r=\"5\"/><rect id=\"Ks\" x=\"-4.5\" y=\"-4.5\" width=\"9\" height=\"9\"/>\
<path id=\"Kt\" d=\"M0-5.6L5.4 4H-5.4Z\"/><path id=\"Kd\" d=\"M0-6L6 0L0 6L-6 0Z\"/>\
<path id=\"Kp\" d=\"M-1.9-5.2H1.9V-1.9H5.2V1.9H1.9V5.2H-1.9V1.9H-5.2V-1.9H-1.9Z\"/>\
<path id=\"Kx\" d=\"M0 5.6L5.4-4H-5.4Z\"/>\
<circle id=\"kc\" r=\"4\"/><rect id=\"ks\" x=\"-3.6\" y=\"-3.6\" width=\"7.2\" height=\"7.2\"/>\
<path id=\"kt\" d=\"M0-4.6L4.5 3.3H-4.5Z\"/><path id=\"kd\" d=\"M0-4.8L4.8 0L0 4.8L-4.8 0Z\"/>\
<path id=\"kp\" d=\"M-1.5-4.2H1.5V-1.5H4.2V1.5H1.5V4.2H-1.5V1.5H-4.2V-1.5H-1.5Z\"/>\
<path id=\"kx\" d=\"M0 4.6L4.5-3.3H-4.5Z\"/>\
<path id=\"cap\" d=\"M0-5.5V5.5\"/><path id=\"bcap\" d=\"M0-8V8\"/><path id=\"scap\" d=\"M0-3.5V3.5\"/>\
<path id=\"dotcap\" d=\"M0-3V3\"/><path id=\"over-r\" d=\"M-4-4L0 0L-4 4\"/><path id=\"over-l\" d=\"M4-4L0 0L4 4\"/>\
<pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
<line class=\"hatchline\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"5\"/></pattern>\
<g id=\"warn\"><path class=\"wn\" d=\"M7 1.6L13 12.4H1Z\" stroke-linejoin=\"round\"/><path class=\"wn\" d=\"M7 5.4V8.6\"/>\
<circle class=\"wn f\" cx=\"7\" cy=\"10.4\" r=\".9\"/></g>\
<g id=\"info\"><circle class=\"wn\" cx=\"7\" cy=\"7\" r=\"5.6\"/><path class=\"wn\" d=\"M7 6.4V10\"/>\
<circle class=\"wn f\" cx=\"7\" cy=\"4.2\" r=\".9\"/></g>\
</defs>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup_and_nothing_is_invisible() {
        for hostile in
            ["<script>alert(1)</script>", "\" onload=\"x", "' onload='x", "</svg><img src=x>", "&lt;b&gt;"]
        {
            let escaped = escape(hostile);
            assert!(!escaped.contains(['<', '>', '"', '\'']), "{escaped}");
        }
        assert_eq!(escape("&lt;"), "&amp;lt;", "what is escaped already is a text, too");
        assert_eq!(escape("\u{0}\u{1b}[31m\u{200b}\u{2066}"), "‹U+0000›‹U+001B›[31m‹U+200B›‹U+2066›");
        assert_eq!(escape("Größe 数学 😀"), "Größe 数学 😀");
    }

    #[test]
    fn long_names_break_behind_their_parts() {
        assert_eq!(breakable("openai/gpt_4/").0, "openai/<wbr>gpt_<wbr>4/");
        assert_eq!(breakable("<i>/x").0, "&lt;i&gt;/<wbr>x");
    }

    #[test]
    fn every_mark_is_defined_once() {
        let ids = MARKS.iter().flat_map(|(large, small)| [*large, *small]);
        for id in ids.chain(["cap", "bcap", "scap", "dotcap", "over-r", "over-l", "hatch", "warn", "info"]) {
            assert_eq!(defs().0.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
    }

    #[test]
    fn models_beyond_six_are_neutral() {
        assert_eq!(Series::of(5, 6), Series { mark: ("Kx", "kx"), class: "m6", is_partial: false });
        assert_eq!(Series::of(0, 7), Series::NEUTRAL);
        assert_eq!(Series::of(1, 3).muted(), Series { mark: ("Ks", "ks"), class: "m0", is_partial: false });
    }
}
