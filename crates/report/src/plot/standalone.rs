//! A plot as a file of its own.

use super::{Plot, PlotPart, fitted, visible};
use crate::svg::{Drawing, defs, escape};
use crate::text::{width, wrap};

/// The width of a file.
const WIDTH: f64 = 720.0;
const MARGIN: f64 = 16.0;
/// About the width of a bold character of 12.5 pixels; fonts differ, so it is a wide one.
const BOLD: f64 = 8.6;
const GAP: f64 = 28.0;

impl Plot {
    /// The plot as an SVG file that needs nothing else: colours are attributes, so that any program draws it, and it
    /// follows the theme of the reader where that is possible.
    pub fn standalone(&self, title: &str) -> String {
        let mut body = Drawing::default();
        body.text("title", MARGIN, 30, &fitted(title, 64));
        let mut y: f64 = 44.0;
        let (parts, columns) = &self.file;
        let columns = (*columns).clamp(1, parts.len().max(1));
        let inner = WIDTH - 2.0 * MARGIN;
        let wide = (inner - GAP * (columns as f64 - 1.0)) / columns as f64;
        for row in parts.chunks(columns) {
            let mut lowest = y;
            for (at, part) in row.iter().enumerate() {
                let x = MARGIN + at as f64 * (wide + GAP);
                lowest = lowest.max(place(&mut body, part, x, y, wide));
            }
            y = lowest + 20.0;
        }
        for line in self.caption.split('\n').flat_map(|line| wrap(line, (inner / 6.6) as usize)) {
            body.text("lab s", MARGIN, px(y + 4.0), &escape(&line));
            y += 17.0;
        }
        let height = px(y + 8.0);
        let (title, label) = (escape(&visible(title)), escape(&self.label));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif\" font-size=\"13\" \
             role=\"img\" aria-labelledby=\"title desc\"><title id=\"title\">{title}</title><desc id=\"desc\">{label}</desc>\
             <style>{STYLE}</style>{}\n</svg>\n",
            with_attributes(&format!(
                "{}\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>{}",
                file_defs(),
                body.0
            ))
        )
    }
}

/// The marks that plots use, without the signs of notices.
fn file_defs() -> String {
    let marks = defs().0;
    match marks.find("<g id=\"warn\"") {
        Some(end) => format!("{}</defs>", marks.get(..end).unwrap_or_default()),
        None => marks.to_owned(),
    }
}

/// Puts a part, and returns where it ends.
fn place(body: &mut Drawing, part: &PlotPart, x: f64, y: f64, wide: f64) -> f64 {
    let mut y = y;
    if let Some((series, name)) = &part.name {
        let note = width(&part.note) as f64 * 7.4;
        let most = ((wide - note - 30.0) / BOLD).max(8.0) as usize;
        body.mark(*series, px(x + 6.0), px(y + 9.5));
        body.put(format_args!(
            "<text class=\"lab\" font-weight=\"600\" x=\"{}\" y=\"{}\">{}</text>",
            px(x + 17.0),
            px(y + 14.0),
            fitted(name, most)
        ));
        body.text_at_end(px(x + wide), px(y + 14.0), &escape(&part.note));
        body.line("gl", [px(x), px(x + wide)], [px(y + 22.5), px(y + 22.5)]);
        y += 34.0;
    }
    // Programs differ in what nested drawings are clipped to.
    let drawn = part.body.replace("<svg class=\"iv ax\"", "<svg overflow=\"visible\"");
    body.0.push('\n');
    body.strip(&px(x), px(y), &px(wide), part.height, &drawn);
    y + f64::from(part.height)
}

/// Pixels for an attribute, to a hundredth.
fn px(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

// Drawings outside of the page: what the stylesheet says by class, as attributes.
//
// Attributes alone are enough for the light theme, so programs without stylesheets draw it right. The colour of a model
// is the `color` of its group, which the dark theme replaces.

/// The attributes of each class. An element with several classes has those of the longest entry that matches.
const CLASSES: [(&str, &str); 34] = [
    ("m0", "color=\"#454a4f\""),
    ("m1", "color=\"#14489b\""),
    ("m2", "color=\"#bd4b00\""),
    ("m3", "color=\"#0a8272\""),
    ("m4", "color=\"#7d1f56\""),
    ("m5", "color=\"#7a6b10\""),
    ("m6", "color=\"#5f6b7d\""),
    ("mk", "fill=\"currentColor\" stroke=\"#fcfcfb\" stroke-width=\"1.5\""),
    ("mk hollow", "fill=\"#fcfcfb\" stroke=\"currentColor\" stroke-width=\"1.75\""),
    ("ci", "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.75\""),
    ("ci far", "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.75\" stroke-dasharray=\"4 3\""),
    ("cap", "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.75\""),
    ("se", "fill=\"currentColor\" fill-opacity=\"0.26\""),
    ("absent", "transform=\"translate(0 13)\""),
    ("gone", "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" stroke-dasharray=\"1.5 3\""),
    ("gl", "stroke=\"#e6e6e1\""),
    ("gl zero", "stroke=\"#454a4f\""),
    ("gl ref", "stroke=\"#85898d\" stroke-dasharray=\"2 3\""),
    ("tick", "fill=\"#63696f\" font-size=\"12\" text-anchor=\"middle\""),
    ("tick l", "fill=\"#63696f\" font-size=\"12\" text-anchor=\"start\""),
    ("tick r", "fill=\"#63696f\" font-size=\"12\" text-anchor=\"end\""),
    ("reft", "fill=\"#63696f\" font-size=\"12\" text-anchor=\"middle\""),
    ("lab", "fill=\"#17191b\" font-size=\"12.5\""),
    ("lab s", "fill=\"#454a4f\" font-size=\"12.5\""),
    ("cnt", "fill=\"#17191b\" font-size=\"13\" text-anchor=\"middle\""),
    ("cnt z", "fill=\"#63696f\" font-size=\"13\" text-anchor=\"middle\""),
    (
        "curve",
        "fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" vector-effect=\"non-scaling-stroke\"",
    ),
    (
        "curve k",
        "fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" stroke-dasharray=\"5 3\" vector-effect=\"non-scaling-stroke\"",
    ),
    ("band", "fill=\"currentColor\" fill-opacity=\"0.18\""),
    ("colm", "fill=\"currentColor\" fill-opacity=\"0.4\""),
    ("baseline", "stroke=\"#85898d\""),
    ("tiegap", "stroke=\"#63696f\" stroke-dasharray=\"1.5 3\""),
    ("tieline", "stroke=\"#63696f\" stroke-width=\"2.5\""),
    ("hatchline", "stroke=\"#c4c4bd\" stroke-width=\"1.25\""),
];

/// Classes whose attributes differ from those above in the shade alone.
const SHADES: [(&str, &str); 7] = [
    ("s0", "fill=\"#ebebe6\""),
    ("s1", "fill=\"currentColor\" fill-opacity=\"0.24\""),
    ("s2", "fill=\"currentColor\" fill-opacity=\"0.56\""),
    ("s3", "fill=\"currentColor\""),
    ("hatch", "fill=\"url(#hatch)\""),
    ("paper", "fill=\"#fcfcfb\""),
    ("title", "fill=\"#17191b\" font-size=\"17\" font-weight=\"650\""),
];

/// The dark theme.
pub(super) const STYLE: &str = "\
text{font-variant-numeric:tabular-nums lining-nums}\
@media (prefers-color-scheme:dark){\
.m0{color:#b9bdc0}.m1{color:#579df2}.m2{color:#ef8a40}.m3{color:#7adcc4}.m4{color:#d76aa8}.m5{color:#d9c25a}.m6{color:#a2acb8}\
.paper{fill:#121415}.mk{stroke:#121415}.mk.hollow{fill:#121415;stroke:currentColor}\
.gl{stroke:#25292b}.gl.zero{stroke:#b9bdc0}.gl.ref,.baseline{stroke:#777d82}\
.tick,.reft,.cnt.z{fill:#949a9f}.lab,.cnt,.title{fill:#ebebe8}.lab.s{fill:#b9bdc0}\
.s0{fill:#24282a}.hatchline{stroke:#454a4d}.tieline,.tiegap{stroke:#949a9f}.se{fill-opacity:.34}.cnt.z{fill:#949a9f}}";

/// The drawing with the attributes of its classes beside them.
pub(super) fn with_attributes(drawing: &str) -> String {
    const CLASS: &str = " class=\"";
    let mut presented = String::with_capacity(drawing.len() * 2);
    let mut rest = drawing;
    while let Some(start) = rest.find(CLASS) {
        let (before, from) = rest.split_at(start + CLASS.len());
        let Some((classes, after)) = from.split_once('"') else { break };
        presented.push_str(before);
        presented.push_str(classes);
        presented.push('"');
        let element = after.split_once('>').map_or(after, |(element, _)| element);
        for attribute in attributes(classes) {
            let name = attribute.split_once('=').map_or(attribute, |(name, _)| name);
            // What the drawing itself says counts, and an attribute may be there once.
            let is_given = element.contains(&format!(" {name}=\""));
            if !is_given {
                presented.push(' ');
                presented.push_str(attribute.trim_end_matches('"'));
                presented.push('"');
            }
        }
        rest = after;
    }
    presented.push_str(rest);
    presented
}

/// The attributes of the longest entry whose classes are all there; groups of models have further classes.
fn attributes(classes: &str) -> impl Iterator<Item = &'static str> {
    let given: Vec<&str> = classes.split(' ').collect();
    let fits = |entry: &&(&str, &str)| entry.0.split(' ').all(|class| given.contains(&class));
    let found = CLASSES.iter().chain(&SHADES).filter(fits).max_by_key(|entry| entry.0.len());
    // Attributes end in a quote and a blank, which no value does.
    found.map_or("", |entry| entry.1).split("\" ").filter(|attribute| !attribute.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_become_attributes() {
        assert_eq!(
            with_attributes("<g class=\"m2 lg\"><use class=\"mk hollow\" href=\"#Kc\"/></g>"),
            "<g class=\"m2 lg\" color=\"#bd4b00\"><use class=\"mk hollow\" fill=\"#fcfcfb\" stroke=\"currentColor\" \
             stroke-width=\"1.75\" href=\"#Kc\"/></g>"
        );
        let own = "<text class=\"lab\" text-anchor=\"end\" x=\"1\">a class=&quot;x&quot;</text>";
        assert!(with_attributes(own).contains("font-size=\"12.5\" text-anchor=\"end\""));
        assert_eq!(with_attributes(own).matches("text-anchor").count(), 1, "given once");
        assert_eq!(with_attributes("<p class=\"unknown\"/>"), "<p class=\"unknown\"/>");
    }
}
