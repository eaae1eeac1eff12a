//! The marks of models: a shape and a colour, the same on the whole page.

use maud::{Markup, PreEscaped, html};

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The first model.
    Circle,
    /// The second.
    Square,
    /// The third.
    Triangle,
    /// The fourth.
    Diamond,
    /// The fifth.
    Cross,
    /// The sixth.
    Down,
}

impl Mark {
    /// The marks in the order of models.
    pub const ALL: [Mark; 6] =
        [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Cross, Mark::Down];

    /// The ids of the large and of the small form in [`defs`].
    fn ids(self) -> (&'static str, &'static str) {
        match self {
            Mark::Circle => ("Kc", "kc"),
            Mark::Square => ("Ks", "ks"),
            Mark::Triangle => ("Kt", "kt"),
            Mark::Diamond => ("Kd", "kd"),
            Mark::Cross => ("Kp", "kp"),
            Mark::Down => ("Kx", "kx"),
        }
    }

    /// The id of the large form.
    pub fn large(self) -> &'static str {
        self.ids().0
    }

    /// The id of the small form.
    pub fn small(self) -> &'static str {
        self.ids().1
    }
}

/// How a model is drawn: its mark and the class of its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// The shape.
    pub mark: Mark,
    /// The class: `m1` to `m6`, or `m0` for the colour of notes.
    pub class: &'static str,
    /// Whether samples are still to come: marks are hollow and lines dashed.
    pub is_partial: bool,
}

impl Series {
    /// What is not of a model.
    pub const NEUTRAL: Series = Series { mark: Mark::Circle, class: "m0", is_partial: false };

    /// The model at this position, of so many. Beyond six, colours no longer tell models apart, and all are neutral.
    pub fn of(position: usize, count: usize) -> Self {
        const CLASSES: [&str; 6] = ["m1", "m2", "m3", "m4", "m5", "m6"];
        let found = Mark::ALL.get(position).zip(CLASSES.get(position)).filter(|_| count <= CLASSES.len());
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
                use.mk href={ "#" (self.mark.large()) } {}
            }
        }
    }
}

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
    fn every_mark_is_defined_once() {
        let ids = Mark::ALL.iter().flat_map(|mark| [mark.large(), mark.small()]);
        for id in ids.chain(["cap", "bcap", "scap", "dotcap", "over-r", "over-l", "hatch", "warn", "info"]) {
            assert_eq!(defs().0.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
    }

    #[test]
    fn models_beyond_six_are_neutral() {
        assert_eq!(Series::of(5, 6), Series { mark: Mark::Down, class: "m6", is_partial: false });
        assert_eq!(Series::of(0, 7), Series::NEUTRAL);
        assert_eq!(Series::of(1, 3).muted(), Series { mark: Mark::Square, class: "m0", is_partial: false });
    }
}
