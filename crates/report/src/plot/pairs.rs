//! Every pair of runs: their difference, and what it supports.

use errorbar_core::{Direction, Estimate};
use errorbar_inference::Comparison;

use super::rows::{Row, Rows};
use super::text::{difference, estimate_list, estimate_row, fitted, level, short_difference, visible, whole};
use super::{Plot, PlotPart, RunMarks};
use crate::comparison::Pair;
use crate::listing::{Listing, ListingCell};
use crate::svg::{Drawing, IntervalSize, Scale, Series, percent, px};

/// The most pairs that have a row; more are a matrix.
const MOST_ROWS: usize = 15;
/// The most runs of a matrix whose cells have numbers.
const MOST_NUMBERS: usize = 9;
/// Below this p-value a difference is in the colour of the run that is ahead.
const ALPHA: f64 = 0.05;

/// A p-value: two significant digits.
fn p_text(p: f64) -> String {
    if p < 0.0001 {
        return "p < 0.0001".to_owned();
    }
    let digits = (1 - p.log10().floor() as i32).clamp(2, 6) as usize;
    format!("p {p:.digits$}")
}

/// Paired differences of one figure, of all samples or of one group. `runs` are in the order of their colours.
pub fn pairs(runs: &[String], comparisons: &[Comparison], marks: &RunMarks) -> Plot {
    PairsPlot { runs, comparisons, marks }.draw()
}

struct PairsPlot<'a> {
    runs: &'a [String],
    comparisons: &'a [Comparison],
    marks: &'a RunMarks,
}

/// Whether the run that is ahead is so for sure.
fn is_shown(pair: &Pair<'_>) -> bool {
    pair.p().is_some_and(|p| p < ALPHA)
}

impl PairsPlot<'_> {
    fn draw(&self) -> Plot {
        /// The most pairs whose figures are in the text alternative; the table has all.
        const MOST_IN_WORDS: usize = 30;
        let pairs: Vec<Pair<'_>> = self.comparisons.iter().map(Pair::of).collect();
        let metric = self.comparisons.first().map_or("", |comparison| comparison.metric.as_str());
        let mut words = Vec::new();
        let mut table =
            Listing::new(["pair", "difference", "p", "n", "better", "equal", "worse", "detectable"]);
        let mut data =
            estimate_list(["run", "minus", "metric"], ["p", "better", "equal", "worse", "detectable"]);
        for pair in &pairs {
            let Pair { ahead, behind, comparison, .. } = pair;
            let mut estimate = pair.difference();
            estimate.n = comparison.n;
            let figure = self.so_far(pair, difference(&estimate));
            let p = pair.p().map(p_text);
            let in_words = p.as_ref().map(|p| format!(", {p}")).unwrap_or_default();
            words.push(format!("{} minus {}: {figure}{in_words}", visible(ahead), visible(behind)));
            let counts =
                pair.outcomes().map_or([None; 3], |(better, equal, worse)| [better, equal, worse].map(Some));
            let mde = comparison.mde.as_ref().ok().copied();
            let named = [(*ahead).into(), (*behind).into(), comparison.metric.as_str().into()];
            let [better, equal, worse] = counts.map(ListingCell::from);
            data.push(estimate_row(named, &estimate, [pair.p().into(), better, equal, worse, mde.into()]));
            let p = p.unwrap_or_default().trim_start_matches("p ").to_owned();
            let [better, equal, worse] =
                counts.map(|count| count.map(|count| count.to_string()).unwrap_or_default());
            let (pair, n) = (format!("{ahead} − {behind}"), comparison.n.to_string());
            let mde = mde.map(crate::number::plain).unwrap_or_default();
            table.push([pair, figure, p, n, better, equal, worse, mde]);
        }
        let more = words.len().saturating_sub(MOST_IN_WORDS);
        words.truncate(MOST_IN_WORDS);
        words.extend((more > 0).then(|| format!("and {more} more pairs")));
        let label = format!("Differences of {metric}. {}", words.join("; "));
        match pairs.len() > MOST_ROWS {
            true => self.matrix(&pairs, label, (table, data)),
            false => self.rows(&pairs, label, (table, data)),
        }
    }

    fn series(&self, run: &str) -> Series {
        let at = self.runs.iter().position(|name| name == run).unwrap_or(usize::MAX);
        self.marks.series(run, at, self.runs.len())
    }

    fn is_partial(&self, pair: &Pair<'_>) -> bool {
        self.marks.is_partial(pair.ahead) || self.marks.is_partial(pair.behind)
    }

    /// The text of a difference, which is not final if one of the runs has not reached its end.
    fn so_far(&self, pair: &Pair<'_>, text: String) -> String {
        self.marks.figure(if self.marks.is_partial(pair.ahead) { pair.ahead } else { pair.behind }, text)
    }

    fn rows(&self, pairs: &[Pair<'_>], label: String, tables: (Listing, Listing)) -> Plot {
        let differences: Vec<Estimate> = pairs.iter().map(Pair::difference).collect();
        let mde = |pair: &Pair<'_>| pair.comparison.mde.as_ref().ok().copied();
        let row = |(pair, estimate): (&Pair<'_>, &Estimate)| {
            let series = self.series(pair.ahead);
            let series = if is_shown(pair) { series } else { series.muted() };
            let series = Series { is_partial: self.is_partial(pair), ..series };
            let side = |name: &str| crate::text::truncate_middle(&visible(name), 11, "…");
            let name = format!("{} − {}", side(pair.ahead), side(pair.behind));
            let p = pair.p().map(|p| format!(" · {}", p_text(p))).unwrap_or_default();
            let text = self.so_far(pair, short_difference(estimate) + &p);
            Row { hatch: mde(pair), ..Row::new(&name, estimate, series, text.clone(), text) }
        };
        let ends = pairs.iter().zip(&differences).flat_map(|(pair, estimate)| {
            let interval = estimate.interval.as_ref().ok().map(|interval| [interval.lower, interval.upper]);
            let mde = mde(pair).map(|mde| [-mde, mde]);
            interval.into_iter().chain(mde).flatten().chain(estimate.number())
        });
        let rows = Rows {
            scale: Scale::differences(ends),
            reference: None,
            rows: pairs.iter().zip(&differences).map(row).collect(),
            ties: Vec::new(),
            size: IntervalSize::Table,
        };
        let has_mde = pairs.iter().any(|pair| mde(pair).is_some());
        let hatch = if has_mde { " · hatched: too small to be detected with a power of 80 %" } else { "" };
        let level = level(&differences).unwrap_or_else(|| "95 % interval".to_owned());
        let caption = format!(
            "line: {level} of the difference · box: ± 1 standard error{hatch}\ngrey: p ≥ 0.05{}",
            self.corrected()
        );
        rows.plot(label, tables, caption, self.marks)
    }

    /// How p-values are corrected.
    fn corrected(&self) -> String {
        let count = self.comparisons.iter().filter(|comparison| comparison.p_adjusted.is_some()).count();
        if count > 0 { format!(", corrected for {count} comparisons") } else { String::new() }
    }

    /// Rows minus columns.
    fn matrix(&self, pairs: &[Pair<'_>], label: String, tables: (Listing, Listing)) -> Plot {
        let count = self.runs.len();
        let (left, top, cell) = (28.0, 112.0, if count > MOST_NUMBERS { 18.0 } else { 26.0 });
        let wide = (100.0 - left) / count.max(1) as f64;
        let size = [percent(wide), px(cell)];
        let corner =
            |row: usize, column: usize| [percent(left + wide * column as f64), px(top + cell * row as f64)];
        let mut drawing = Drawing::default();
        let square = |drawing: &mut Drawing, class: &str, shade: &str, row: usize, column: usize| {
            let ([x, y], [width, height]) = (&corner(row, column), &size);
            drawing.rect(class, shade, [x, y, width, height]);
        };
        for (at, run) in self.runs.iter().enumerate() {
            let (x, y) = (percent(left + wide * (at as f64 + 0.5)), top + cell * (at as f64 + 0.5));
            drawing.text("lab", "0", px(y + 4.0), &(fitted(run, 22) + &whole(run, 22)));
            let name = fitted(run, 15);
            let turned = format!("<text class=\"lab s\" transform=\"rotate(-90)\" y=\"4\">{name}</text>");
            drawing.nested(x, px(top - 6.0), &turned);
            for other in 0..count {
                let (class, shade) = if other == at { ("s0", "") } else { ("gl", " fill=\"none\"") };
                square(&mut drawing, class, shade, at, other);
            }
        }
        let place = |run: &str| self.runs.iter().position(|name| name == run);
        let numbers = pairs.iter().filter_map(|pair| pair.difference().number());
        let largest = numbers.fold(0.0, |a: f64, b| a.max(b.abs()));
        for pair in pairs {
            let (Some(ahead), Some(behind)) = (place(pair.ahead), place(pair.behind)) else { continue };
            let Some(size) = pair.difference().number().map(f64::abs) else { continue };
            for (row, column, is_ahead) in [(ahead, behind, true), (behind, ahead, false)] {
                let strength = if largest > 0.0 { 0.1 + 0.35 * size / largest } else { 0.1 };
                if is_shown(pair) && is_ahead {
                    let shade = format!(" fill-opacity=\"{strength:.2}\"");
                    drawing
                        .group(Series::NEUTRAL.class, |drawing| square(drawing, "s3", &shade, row, column));
                }
                let sign =
                    if is_ahead == (pair.comparison.direction != Direction::Lower) { '+' } else { '−' };
                let text = match count > MOST_NUMBERS {
                    true if is_shown(pair) => sign.to_string(),
                    true => String::new(),
                    // A sign would claim a difference that the digits do not show.
                    false if format!("{size:.2}") == "0.00" => "0.00".to_owned(),
                    false => format!("{sign}{size:.2}"),
                };
                let class = if is_shown(pair) { "cnt" } else { "cnt z" };
                let (x, y) = (left + wide * column as f64, top + cell * row as f64);
                drawing.text(class, percent(x + wide / 2.0), px(y + cell / 2.0 + 4.5), &text);
            }
        }
        let height = (top + cell * count as f64 + 2.0).ceil() as u32;
        let caption = format!(
            "row minus column · filled: the row is better, p < 0.05{} · grey or empty: cannot be told apart",
            self.corrected()
        );
        Plot::new(vec![PlotPart::new(drawing.0, height, label)], 1, tables, caption, self.marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_have_two_significant_digits() {
        assert_eq!(
            [p_text(0.0083), p_text(0.21), p_text(1.0), p_text(0.00001)],
            ["p 0.0083", "p 0.21", "p 1.00", "p < 0.0001"]
        );
    }
}
