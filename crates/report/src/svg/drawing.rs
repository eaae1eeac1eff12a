//! SVG in the making: what templates would make longer.

use std::fmt::{Arguments, Display, Write as _};

use super::mark::Series;

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
        let (class, id) = (series.class, series.mark.large());
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
