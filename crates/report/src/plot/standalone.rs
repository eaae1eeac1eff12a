//! A plot as a file of its own.

use super::present::{STYLE, with_attributes};
use super::text::{fitted, visible};
use super::{Plot, PlotPart};
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
        let columns = self.file.columns.clamp(1, self.file.parts.len().max(1));
        let inner = WIDTH - 2.0 * MARGIN;
        let wide = (inner - GAP * (columns as f64 - 1.0)) / columns as f64;
        for row in self.file.parts.chunks(columns) {
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
