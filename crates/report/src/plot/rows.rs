//! Rows of intervals on one scale: estimates, groups, ranks, differences.
//!
//! In a page a row has its name above the interval, so that names of any length fit into any width. A file is wide enough
//! for the name beside it.

use errorbar_core::Estimate;
use errorbar_inference::{Rank, Ranking};

use super::{
    Plot, PlotPart, RunMarks, estimate_list, estimate_row, figure, fitted, interval_text, level, row_text,
    short, short_difference, visible, whole,
};
use crate::figure::ChanceLevel;
use crate::notes::{best_first, mean, unique};
use crate::record::Listing;
use crate::svg::{
    Drawing, IntervalSize, IntervalStyle, Scale, Series, axis, axis_height, escape, grid, interval, percent,
    px,
};
use crate::text::grouped;

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
    /// A line to compare with: the score of guessing.
    pub(super) chance: Option<ChanceLevel>,
    pub(super) rows: Vec<Row>,
    /// Upright lines at the left that join rows which cannot be told apart.
    pub(super) ties: Vec<TieLine>,
    pub(super) size: IntervalSize,
}

/// Where the parts of a row are.
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
        let (page, file) = (self.drawn(&self.columns(true)), self.drawn(&self.columns(false)));
        let mut plot =
            Plot::new(vec![PlotPart::new(page.0, page.1, label.clone())], 1, tables, caption, marks);
        plot.file.0 = vec![PlotPart::new(file.0, file.1, label)];
        plot
    }

    /// Where the parts of a row are: in a page names are above the intervals, in a file beside them.
    fn columns(&self, is_above: bool) -> Columns {
        let is_large = self.size == IntervalSize::Table;
        if is_above {
            let row = self.below() + if is_large { 54.0 } else { 44.0 };
            return Columns { plot: (2.0, 96.0), name: 28, row, heading: 30.0, is_above };
        }
        let row = self.below() + if is_large { 32.0 } else { 24.0 };
        let longest = self.rows.iter().map(|row| crate::text::width(&row.text)).max().unwrap_or(0);
        // 688 pixels: 6.6 for a character of the figures, and a margin.
        let figures = (longest as f64 * 6.9 / 6.88 + 4.0).clamp(16.0, 34.0);
        Columns { plot: (28.0, 70.0 - figures), name: 25, row, heading: 26.0, is_above }
    }

    /// What brackets below intervals add to the height of a row.
    fn below(&self) -> f64 {
        let has_bounds =
            |row: &Row| row.estimate.as_ref().is_some_and(|(estimate, _)| estimate.bounds.is_some());
        if self.rows.iter().any(has_bounds) { 10.0 } else { 0.0 }
    }

    /// The drawing and its height.
    fn drawn(&self, columns: &Columns) -> (String, u32) {
        let mut drawing = Drawing::default();
        let (left, wide) = (percent(columns.plot.0), percent(columns.plot.1));
        let top = f64::from(axis_height(&self.scale, self.chance));
        let height = |row: &Row| if row.estimate.is_some() { columns.row } else { columns.heading };
        let bottom = top + self.rows.iter().map(height).sum::<f64>() + 4.0;
        drawing.strip(&left, 0, &wide, top, &axis(&self.scale, self.chance).0);
        let grid = grid(&self.scale, self.chance).0;
        drawing.strip(&left, top, &wide, px(bottom - top), &grid);
        let mut y = top;
        for row in &self.rows {
            self.row(&mut drawing, row, y, columns);
            y += height(row);
        }
        self.ties(&mut drawing, top, columns);
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
        let style = IntervalStyle::new(*series, self.size).at(px(0.0));
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

// One figure of several runs, on one scale.

/// The estimate of one run.
#[derive(Clone, Debug)]
pub struct NamedEstimate {
    /// The run, by its shortest unambiguous name.
    pub name: String,
    /// Its estimate.
    pub estimate: Estimate,
}

/// One figure of several runs, the best first.
#[derive(Clone, Debug, Default)]
pub struct Estimates {
    /// What the figure is.
    pub metric: String,
    /// The runs, in the order of their colours.
    pub runs: Vec<NamedEstimate>,
    /// Whether lower figures are better.
    pub lower_is_better: bool,
    /// A line to compare with: the score of guessing.
    pub chance: Option<ChanceLevel>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
    /// Whether these are differences, whose scale has 0 and signs.
    pub are_differences: bool,
}

impl Estimates {
    /// Draws it.
    pub fn draw(&self) -> Plot {
        let Estimates { metric, marks, .. } = self;
        let count = self.runs.len();
        let order = best_first(self.runs.iter().map(|run| run.estimate.number()), self.lower_is_better);
        let ordered = order.into_iter().filter_map(|at| Some((at, self.runs.get(at)?)));
        let mut rows = Vec::new();
        let mut words = Vec::new();
        let mut table = Listing::new(["run", metric, "interval", "n", "absent"]);
        let mut data = estimate_list(["run", "metric"], ["absent"]);
        for (at, NamedEstimate { name, estimate }) in ordered {
            let written = |text: String| marks.figure(name, text);
            let (n, absent) = (estimate.n, estimate.absent);
            let (text, brief) = match self.are_differences {
                true => (short_difference(estimate), short_difference(estimate)),
                false => (row_text(estimate, true), short(estimate)),
            };
            rows.push(Row::new(name, estimate, marks.series(name, at, count), written(text), written(brief)));
            let missing = if absent > 0 { format!(", {absent} absent") } else { String::new() };
            words.push(format!("{}: {}, n {n}{missing}", visible(name), written(figure(estimate))));
            let figures =
                [written(short(estimate)), interval_text(estimate), n.to_string(), absent.to_string()];
            table.push([name.clone()].into_iter().chain(figures));
            data.push(estimate_row(
                [name.as_str().into(), metric.as_str().into()],
                estimate,
                [absent.into()],
            ));
        }
        let estimates = || self.runs.iter().map(|run| &run.estimate);
        let rows = Rows {
            scale: if self.are_differences {
                Scale::of_differences(estimates())
            } else {
                Scale::of(estimates())
            },
            chance: self.chance,
            rows,
            ties: Vec::new(),
            size: if count > 12 { IntervalSize::Forest } else { IntervalSize::Table },
        };
        let label = format!("{metric}. {}{}", words.join("; "), chance_words(self.chance));
        rows.plot(label, (table, data), caption(estimates(), self.chance), marks)
    }
}

/// The level of guessing at the end of a text alternative.
pub(super) fn chance_words(chance: Option<ChanceLevel>) -> String {
    chance.map(|chance| format!(". {}: {}", chance.label(), chance.meaning())).unwrap_or_default()
}

/// What the parts of intervals mean, and the line of guessing.
pub(super) fn caption<'a>(
    estimates: impl Iterator<Item = &'a Estimate>,
    chance: Option<ChanceLevel>,
) -> String {
    let estimates: Vec<&Estimate> = estimates.collect();
    let any = |is: fn(&Estimate) -> bool| estimates.iter().any(|estimate| is(estimate));
    let parts = [
        level(estimates.iter().copied()).map(|level| format!("line: {level}")),
        any(|one| one.stderr().is_some_and(|se| se > 0.0)).then(|| "box: ± 1 standard error".to_owned()),
        Some("mark: estimate".to_owned()),
        any(|one| one.bounds.is_some()).then(|| "dotted: with the absent samples, worst to best".to_owned()),
        any(|one| one.value.is_err()).then(|| "dashed ring: no figure".to_owned()),
        chance.map(|chance| format!("dashed line: {}", chance.meaning())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

// One figure by group, for one run or several.

/// One figure by group.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    /// What the figure is.
    pub metric: String,
    /// The metadata key of the groups.
    pub key: String,
    /// The runs, in the order of their colours.
    pub runs: Vec<String>,
    /// The figures over all samples, if they are to be compared with.
    pub all: Option<ForestGroup>,
    /// The groups, in the order of the data.
    pub groups: Vec<ForestGroup>,
    /// Whether lower figures are better.
    pub lower_is_better: bool,
    /// A line to compare with: the score of guessing, which is that of every group.
    pub chance: Option<ChanceLevel>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
}

/// A group.
#[derive(Clone, Debug)]
pub struct ForestGroup {
    /// Its name.
    pub name: String,
    /// The estimate of each run; none where it does not have the group.
    pub estimates: Vec<Option<Estimate>>,
}

impl Forest {
    /// The groups, the best first; ties in the order of the data.
    fn ordered(&self) -> Vec<&ForestGroup> {
        let mean = |group: &ForestGroup| mean(group.estimates.iter().flatten().filter_map(Estimate::number));
        let order = best_first(self.groups.iter().map(mean), self.lower_is_better);
        self.all.iter().chain(order.into_iter().filter_map(|at| self.groups.get(at))).collect()
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        /// The most groups whose figures are in the text alternative; the table has all.
        const MOST: usize = 20;
        let Forest { metric, key, marks, .. } = self;
        let groups = self.ordered();
        let is_one = self.runs.len() == 1;
        let mut rows = Vec::new();
        let mut words = Vec::new();
        let mut table = Listing::new([key, "run", metric, "interval", "n"]);
        let mut data = estimate_list(["key", "group", "run", "metric"], ["absent"]);
        for group in &groups {
            let runs = self.runs.iter().zip(&group.estimates).enumerate();
            let known: Vec<(usize, &String, &Estimate)> =
                runs.filter_map(|(at, (run, estimate))| Some((at, run, estimate.as_ref()?))).collect();
            let mut ns: Vec<u64> = known.iter().map(|(.., estimate)| estimate.n).collect();
            ns.dedup();
            // Where the runs differ, each line has its own.
            let common = if let [n] = ns.as_slice() { Some(*n) } else { None };
            if !is_one {
                let n = common.map(|n| format!("n {}", grouped(n))).unwrap_or_default();
                rows.push(Row::heading(&group.name, n));
            }
            let mut figures = Vec::new();
            for (at, run, estimate) in known {
                let name = if is_one { &group.name } else { run };
                let series = marks.series(run, at, self.runs.len());
                let text = marks.figure(run, row_text(estimate, is_one || common.is_none()));
                let brief = marks.figure(run, short(estimate));
                rows.push(Row { has_mark: !is_one, ..Row::new(name, estimate, series, text, brief.clone()) });
                let n = estimate.n.to_string();
                table.push([group.name.clone(), run.clone(), brief, interval_text(estimate), n]);
                let named = [key, &group.name, run, metric].map(|text| text.as_str().into());
                data.push(estimate_row(named, estimate, [estimate.absent.into()]));
                figures.push(format!("{} {}", visible(run), marks.figure(run, figure(estimate))));
            }
            words.push(format!("{}: {}", visible(&group.name), figures.join(", ")));
        }
        let estimates = || groups.iter().flat_map(|group| group.estimates.iter().flatten());
        let rows = Rows {
            scale: Scale::of(estimates()),
            chance: self.chance,
            rows,
            ties: Vec::new(),
            size: IntervalSize::Forest,
        };
        let more = groups.len().saturating_sub(MOST);
        words.truncate(MOST);
        let more = if more > 0 { format!("; and {more} more groups") } else { String::new() };
        let chance = chance_words(self.chance);
        let label = format!("{metric} by {}. {}{more}{chance}", visible(key), words.join("; "));
        rows.plot(label, (table, data), caption(estimates(), self.chance), marks)
    }
}

// Several runs in order, with the places that the data support.

/// The most runs that are drawn large.
const LARGE: usize = 12;

/// Several runs in order; a line joins those that the data do not distinguish. `runs` are in the order of their colours.
pub fn ranking(ranking: &Ranking, runs: &[String], marks: &RunMarks) -> Plot {
    let Ranking { ranks, metric, .. } = ranking;
    let mut rows = Vec::new();
    let mut words = Vec::new();
    let mut table = Listing::new(["place", "run", metric, "interval", "tie groups"]);
    let mut data = estimate_list(["ranks", "run", "metric"], ["tie groups"]);
    for rank in ranks {
        let Rank { side, estimate, tie_groups, .. } = rank;
        let place = rank.range_text();
        let at = runs.iter().position(|run| run == side).unwrap_or(usize::MAX);
        let series = marks.series(side, at, runs.len());
        let written = |text: String| marks.figure(side, text);
        let (text, brief) = (written(row_text(estimate, true)), written(short(estimate)));
        rows.push(Row { prefix: place.clone(), ..Row::new(side, estimate, series, text, brief.clone()) });
        words.push(format!("{} place {place}, {}", visible(side), written(figure(estimate))));
        let named = [place.as_str().into(), side.as_str().into(), metric.as_str().into()];
        data.push(estimate_row(named, estimate, [tie_groups.as_str().into()]));
        table.push([place, side.clone(), brief, interval_text(estimate), tie_groups.clone()]);
    }
    let estimates = || ranks.iter().map(|rank| &rank.estimate);
    let rows = Rows {
        scale: Scale::of(estimates()),
        chance: None,
        rows,
        ties: tie_lines(ranks),
        size: if ranks.len() > LARGE { IntervalSize::Forest } else { IntervalSize::Table },
    };
    let label = format!("Ranking by {metric} of {} samples. {}", ranking.n, words.join("; "));
    let alpha = crate::text::plain(((1.0 - ranking.level) * 1e9).round() / 1e9);
    let caption = format!(
        "{}\nupright line: these runs cannot be told apart (Holm’s p ≥ {alpha} for all pairs) · numbers: the ranks that the \
         same tests leave",
        caption(estimates(), None),
    );
    rows.plot(label, (table, data), caption, marks)
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
