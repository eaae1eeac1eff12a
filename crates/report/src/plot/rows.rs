//! Rows of intervals on one scale: estimates, groups, ranks, differences.
//!
//! In a page a row has its name above the interval, so that names of any length fit into any width. A file is wide enough
//! for the name beside it.

use errorbar_core::Estimate;
use errorbar_inference::Rank;

use super::text::{fitted, whole};
use super::{Plot, PlotPart, RunMarks};
use crate::listing::Listing;
use crate::notes::unique;
use crate::svg::{
    Drawing, IntervalSize, IntervalStyle, Reference, Scale, Series, Y, axis, axis_height, escape, grid,
    interval, percent, px,
};

/// The most levels of lines that join rows.
const MOST_TIES: u32 = 8;

/// A row, or the heading of the rows below it.
#[derive(Default)]
pub(super) struct Row {
    pub(super) name: String,
    /// In front of the name: the rank.
    pub(super) prefix: String,
    /// The figure as it is written in a file, and in a page, where there is less room.
    pub(super) text: String,
    pub(super) short: String,
    /// None for a heading.
    pub(super) estimate: Option<(Estimate, Series)>,
    /// Whether the row has a mark beside its name.
    pub(super) has_mark: bool,
    /// The half-width of what cannot be told from 0, hatched.
    pub(super) hatch: Option<f64>,
}

impl Row {
    pub(super) fn new(name: &str, estimate: &Estimate, series: Series, text: String, short: String) -> Self {
        let estimate = Some((estimate.clone(), series));
        Row { name: name.to_owned(), text, short, estimate, has_mark: true, ..Row::default() }
    }

    pub(super) fn heading(name: &str, text: String) -> Self {
        Row { name: name.to_owned(), short: text.clone(), text, ..Row::default() }
    }
}

/// Rows on one scale.
pub(super) struct Rows {
    pub(super) scale: Scale,
    pub(super) reference: Option<Reference>,
    pub(super) rows: Vec<Row>,
    /// Upright lines at the left that join rows which cannot be told apart.
    pub(super) ties: Vec<TieLine>,
    pub(super) size: IntervalSize,
}

/// Where the parts of a row are.
#[derive(Clone, Copy)]
struct Columns {
    /// The left end of the scale and its width, in percent.
    plot: (f64, f64),
    /// The most characters of a name.
    name: usize,
    row: f64,
    heading: f64,
    /// Whether the name is above the interval.
    is_above: bool,
}

impl Rows {
    /// The plot, in both forms.
    pub(super) fn plot(
        &self,
        label: String,
        tables: (Listing, Listing),
        caption: String,
        marks: &RunMarks,
    ) -> Plot {
        let ((narrow, narrow_height), (wide, wide_height)) = (self.narrow(), self.wide());
        let page = PlotPart::new(narrow, narrow_height, label.clone());
        let mut plot = Plot::new(vec![page], 1, tables, caption, marks);
        plot.file.parts = vec![PlotPart::new(wide, wide_height, label)];
        plot
    }

    /// The drawing for a file, and its height.
    fn wide(&self) -> (String, u32) {
        let row = match self.size {
            IntervalSize::Headline => 38.0,
            IntervalSize::Table => 32.0,
            _ => 24.0,
        };
        let longest = self.rows.iter().map(|row| crate::text::width(&row.text)).max().unwrap_or(0);
        // 688 pixels: 6.6 for a character of the figures, and a margin.
        let figures = (longest as f64 * 6.9 / 6.88 + 4.0).clamp(16.0, 34.0);
        self.drawn(Columns {
            plot: (28.0, 70.0 - figures),
            name: 25,
            row: row + self.below(),
            heading: 26.0,
            is_above: false,
        })
    }

    /// What brackets below intervals add to the height of a row.
    fn below(&self) -> f64 {
        let has_bounds =
            |row: &Row| row.estimate.as_ref().is_some_and(|(estimate, _)| estimate.bounds.is_some());
        if self.rows.iter().any(has_bounds) { 10.0 } else { 0.0 }
    }

    /// The drawing for a page, and its height.
    fn narrow(&self) -> (String, u32) {
        let row = if matches!(self.size, IntervalSize::Headline | IntervalSize::Table) { 54.0 } else { 44.0 };
        self.drawn(Columns {
            plot: (2.0, 96.0),
            name: 28,
            row: row + self.below(),
            heading: 30.0,
            is_above: true,
        })
    }

    fn drawn(&self, columns: Columns) -> (String, u32) {
        let mut drawing = Drawing::default();
        let (left, wide) = (percent(columns.plot.0), percent(columns.plot.1));
        let top = f64::from(axis_height(&self.scale, self.reference.as_ref()));
        let height = |row: &Row| if row.estimate.is_some() { columns.row } else { columns.heading };
        let bottom = top + self.rows.iter().map(height).sum::<f64>() + 4.0;
        drawing.strip(&left, 0, &wide, top, &axis(&self.scale, self.reference.as_ref()).0);
        let grid = grid(&self.scale, self.reference.as_ref()).0;
        drawing.strip(&left, top, &wide, px(bottom - top), &grid);
        let mut y = top;
        for row in &self.rows {
            self.row(&mut drawing, row, y, &columns);
            y += height(row);
        }
        self.ties(&mut drawing, top, &columns);
        (drawing.0, bottom.ceil() as u32)
    }

    fn row(&self, drawing: &mut Drawing, row: &Row, y: f64, columns: &Columns) {
        let height = if row.estimate.is_some() { columns.row } else { columns.heading };
        let (text_y, plot_y) = match (columns.is_above, row.estimate.is_some()) {
            (true, true) => (y + 16.0, y + height - 15.0 - self.below()),
            (_, true) => (y + (height - self.below()) / 2.0 + 4.5, y + (height - self.below()) / 2.0),
            (_, false) => (y + height - 8.0, y),
        };
        // With headings, a line above each is enough.
        if row.estimate.is_none() || self.rows.iter().all(|row| row.estimate.is_some()) {
            drawing.line("gl", ["0", "100%"], [px(y + 0.5), px(y + 0.5)]);
        }
        let mut x = self.indent();
        if let Some((_, series)) = row.estimate.as_ref().filter(|_| row.has_mark) {
            drawing.mark(*series, x + 6, px(text_y - 4.5));
            x += 17;
        }
        if !row.prefix.is_empty() {
            drawing.text("lab s", x, px(text_y), &escape(&row.prefix));
            x += 34;
        }
        let most = columns.name.saturating_sub((x / 8) as usize).max(8);
        let (weight, to) = if row.estimate.is_some() { ("", most) } else { (" font-weight=\"600\"", 60) };
        drawing.put(format_args!(
            "<text class=\"lab\"{weight} x=\"{x}\" y=\"{}\">{}{}</text>",
            px(text_y),
            fitted(&row.name, to),
            whole(&row.name, most)
        ));
        let text = if columns.is_above { &row.short } else { &row.text };
        drawing.text_at_end("100%", px(text_y), &escape(text));
        let Some((estimate, series)) = &row.estimate else { return };
        let mut drawn = Drawing::default();
        if let Some(mde) = row.hatch.filter(|mde| mde.is_finite()) {
            let (from, to) = (self.scale.within(-mde), self.scale.within(mde));
            drawn.rect("hatch", "", [&percent(from), "-10", &percent(to - from), "20"]);
        }
        let style = IntervalStyle::new(*series, self.size).at(Y::Pixels(0.0));
        drawn.0 += &match estimate.number().filter(|number| number.is_finite()) {
            Some(_) => interval(&self.scale, estimate, &style).0,
            // A ring that is nowhere on the scale: there is no number.
            None => "<circle class=\"gl ref\" fill=\"none\" cx=\"-10\" cy=\"0\" r=\"4\"/>".to_owned(),
        };
        let (left, wide) = (percent(columns.plot.0), percent(columns.plot.1));
        drawing.strip(&left, px(plot_y), &wide, 1, &drawn.0);
    }

    /// The room for the lines of what cannot be told apart.
    fn indent(&self) -> u32 {
        let levels = self.ties.iter().map(|line| line.level + 1).max().unwrap_or(0);
        (levels as u32).min(MOST_TIES) * 7 + if levels > 0 { 5 } else { 0 }
    }

    fn ties(&self, drawing: &mut Drawing, top: f64, columns: &Columns) {
        let y = |at: usize| top + at as f64 * columns.row;
        for TieLine { level, stretches } in self.ties.iter().filter(|line| (line.level as u32) < MOST_TIES) {
            let x = level * 7 + 3;
            let mut put = |class: &str, first: usize, last: usize| {
                drawing.line(class, [x, x], [px(y(first) + 6.0), px(y(last) + columns.row - 6.0)]);
            };
            // A row in between that is not of them.
            if let [(first, _), .., (_, last)] = stretches.as_slice() {
                put("tiegap", *first, *last);
            }
            stretches.iter().for_each(|(first, last)| put("tieline", *first, *last));
        }
    }
}

/// A line that joins the runs of a tie group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TieLine {
    /// Lines that overlap are on different levels, from 0.
    pub(crate) level: usize,
    /// The positions that it joins, as first and last of neighbours: more than one stretch if a run of another group is in
    /// between.
    pub(crate) stretches: Vec<(usize, usize)>,
}

/// The lines of runs in this order; a group of one run has none.
pub(crate) fn tie_lines(ranks: &[Rank]) -> Vec<TieLine> {
    let letters = unique(ranks.iter().flat_map(Rank::tie_letters));
    let mut ends: Vec<usize> = Vec::new();
    let mut lines = Vec::new();
    for letter in letters {
        let has = |rank: &Rank| rank.tie_letters().any(|other| other == letter);
        let places: Vec<usize> =
            ranks.iter().enumerate().filter(|(_, rank)| has(rank)).map(|(at, _)| at).collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else { continue };
        if first == last {
            continue;
        }
        let level = ends.iter().position(|end| end < first).unwrap_or(ends.len());
        match ends.get_mut(level) {
            Some(end) => *end = *last,
            None => ends.push(*last),
        }
        let neighbours = places.chunk_by(|a, b| a + 1 == *b);
        let stretches = neighbours.filter_map(|chunk| Some((*chunk.first()?, *chunk.last()?))).collect();
        lines.push(TieLine { level, stretches });
    }
    lines
}

#[cfg(test)]
mod tests {
    use errorbar_core::Estimate;

    use super::*;

    fn lines(letters: &[&str]) -> Vec<(usize, Vec<(usize, usize)>)> {
        let ranks: Vec<Rank> =
            letters.iter().map(|letters| Rank::new("x", Estimate::new(0.5), 1, (1, 1), letters)).collect();
        tie_lines(&ranks).into_iter().map(|line| (line.level, line.stretches)).collect()
    }

    #[test]
    fn groups_of_neighbours_and_others() {
        assert_eq!(lines(&["a", "ab", "b"]), [(0, vec![(0, 1)]), (1, vec![(1, 2)])]);
        assert_eq!(lines(&["a", "a", "b", "b"]), [(0, vec![(0, 1)]), (0, vec![(2, 3)])]);
        assert_eq!(lines(&["a", "b", "a"]), [(0, vec![(0, 0), (2, 2)])], "b is none of them");
        assert_eq!(lines(&["a", "a2"]), [], "another group than a");
        assert_eq!(lines(&["", ""]), []);
    }
}
