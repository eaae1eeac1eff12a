//! Every pair of runs: their difference, and what it supports.

use errorbar_core::{Direction, Estimate};
use errorbar_inference::Comparison;

use super::area::{Drawing, px};
use super::estimates::{percentage, plot_of_rows};
use super::rows::{Row, Rows};
use super::text::{difference, estimate_list, estimate_row, fitted, short_difference, visible, whole};
use super::{Plot, PlotPart, RunMarks};
use crate::listing::Listing;
use crate::svg::{IntervalSize, Scale, Series, escape, percent};

/// The most pairs that have a row; more are a matrix.
const MOST_ROWS: usize = 15;
/// The most runs of a matrix whose cells have numbers.
const MOST_NUMBERS: usize = 9;
/// Below this p-value a difference is in the colour of the run that is ahead.
const ALPHA: f64 = 0.05;

/// Paired differences of one figure, of all samples or of one group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pairs<'a> {
    /// The runs, in the order of their colours.
    pub runs: &'a [String],
    /// Their marks; by position if unset.
    pub marks: RunMarks,
    /// One comparison for each pair.
    pub comparisons: Vec<&'a Comparison>,
}

/// A pair with the better run first.
struct Pair<'a> {
    better: &'a str,
    worse: &'a str,
    /// Better minus worse.
    difference: Estimate,
    /// After correction if there is one.
    p: Option<f64>,
    comparison: &'a Comparison,
}

impl Pair<'_> {
    fn is_shown(&self) -> bool {
        self.p.is_some_and(|p| p < ALPHA)
    }
}

/// The same difference the other way round.
fn reversed(estimate: &Estimate) -> Estimate {
    let mut other = estimate.clone();
    other.value = other.value.map(|value| 0.0 - value);
    if let Ok(interval) = &mut other.interval {
        (interval.lower, interval.upper) = (0.0 - interval.upper, 0.0 - interval.lower);
        interval.side = match interval.side {
            errorbar_core::IntervalSide::Lower => errorbar_core::IntervalSide::Upper,
            errorbar_core::IntervalSide::Upper => errorbar_core::IntervalSide::Lower,
            side => side,
        };
    }
    if let Some(bounds) = &mut other.bounds {
        (bounds.worst, bounds.best) = (0.0 - bounds.best, 0.0 - bounds.worst);
        bounds.absent_as_wrong = 0.0 - bounds.absent_as_wrong;
    }
    other
}

/// The pairs as data, the better run minus the worse.
fn data(pairs: &[Pair<'_>]) -> Listing {
    let mut data = estimate_list(["run", "minus", "metric"], ["p", "better", "equal", "worse", "detectable"]);
    for Pair { better, worse, difference, p, comparison } in pairs {
        let (wins, losses) = match *better == comparison.base {
            true => (comparison.losses, comparison.wins),
            false => (comparison.wins, comparison.losses),
        };
        let named = [(*better).into(), (*worse).into(), comparison.metric.as_str().into()];
        let mut difference = difference.clone();
        difference.n = comparison.n;
        let detectable = comparison.mde.as_ref().ok().copied();
        let after = [(*p).into(), wins.into(), comparison.ties.into(), losses.into(), detectable.into()];
        data.push(estimate_row(named, &difference, after));
    }
    data
}

/// A p-value: two significant digits.
fn p_text(p: f64) -> String {
    if p < 0.0001 {
        return "p < 0.0001".to_owned();
    }
    let digits = (1 - p.log10().floor() as i32).clamp(2, 6) as usize;
    format!("p {p:.digits$}")
}

impl<'a> Pairs<'a> {
    /// The comparisons of runs.
    pub fn new(runs: &'a [String], comparisons: Vec<&'a Comparison>) -> Self {
        Pairs { runs, marks: RunMarks::default(), comparisons }
    }

    fn series(&self, run: &str) -> Series {
        let at = self.runs.iter().position(|name| name == run).unwrap_or(usize::MAX);
        self.marks.series(run, at, self.runs.len())
    }

    fn pairs(&self) -> Vec<Pair<'a>> {
        let pair = |comparison: &&'a Comparison| {
            let comparison: &'a Comparison = comparison;
            let raised = comparison.difference.number().unwrap_or(0.0);
            // If neither is better, the higher figure is first.
            let other_is_better =
                if comparison.direction == Direction::Lower { raised < 0.0 } else { raised > 0.0 };
            let (better, worse) = match other_is_better {
                true => (&comparison.other, &comparison.base),
                false => (&comparison.base, &comparison.other),
            };
            let difference = match other_is_better {
                true => comparison.difference.clone(),
                false => reversed(&comparison.difference),
            };
            let p = comparison.p_adjusted.or_else(|| comparison.test.as_ref().ok().map(|test| test.p_value));
            Pair { better, worse, difference, p, comparison }
        };
        self.comparisons.iter().map(pair).collect()
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let pairs = self.pairs();
        let metric = pairs.first().map_or("", |pair| pair.comparison.metric.as_str());
        let words = |pair: &Pair<'_>| {
            let p = pair.p.map(|p| format!(", {}", p_text(p))).unwrap_or_default();
            let difference = self.so_far(pair, difference(&pair.difference));
            format!("{} minus {}: {difference}{p}", visible(pair.better), visible(pair.worse))
        };
        let mut label: Vec<String> = pairs.iter().take(30).map(words).collect();
        if pairs.len() > 30 {
            label.push(format!("and {} more pairs", pairs.len() - 30));
        }
        let label = format!("Differences of {metric}. {}", label.join("; "));
        let titles = ["pair", "difference", "p", "n", "better", "equal", "worse", "detectable"];
        let mut table = Listing::new(titles.map(str::to_owned));
        for pair in &pairs {
            let comparison = pair.comparison;
            let is_turned = pair.better == comparison.base;
            let (wins, losses) = match is_turned {
                true => (comparison.losses, comparison.wins),
                false => (comparison.wins, comparison.losses),
            };
            let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
            table.push([
                format!("{} − {}", pair.better, pair.worse),
                self.so_far(pair, difference(&pair.difference)),
                pair.p.map(p_text).unwrap_or_default().trim_start_matches("p ").to_owned(),
                comparison.n.to_string(),
                number(wins),
                number(comparison.ties),
                number(losses),
                comparison.mde.as_ref().map(|mde| crate::number::plain(*mde)).unwrap_or_default(),
            ]);
        }
        let plot = match pairs.len() > MOST_ROWS {
            true => self.matrix(&pairs, label, table),
            false => self.rows(&pairs, label, table),
        };
        self.marks.explain(plot.with_data(data(&pairs)))
    }

    fn is_partial(&self, pair: &Pair<'_>) -> bool {
        self.marks.is_partial(pair.better) || self.marks.is_partial(pair.worse)
    }

    /// The text of a difference, which is not final if one of the runs has not reached its end.
    fn so_far(&self, pair: &Pair<'_>, text: String) -> String {
        self.marks.figure(if self.marks.is_partial(pair.better) { pair.better } else { pair.worse }, text)
    }

    fn rows(&self, pairs: &[Pair<'_>], label: String, table: Listing) -> Plot {
        let row = |pair: &Pair<'_>| {
            let series = self.series(pair.better);
            let series = if pair.is_shown() { series } else { series.muted() };
            let series = Series { is_partial: self.is_partial(pair), ..series };
            let side = |name: &str| crate::text::truncate_middle(&visible(name), 11, "…");
            let name = format!("{} − {}", side(pair.better), side(pair.worse));
            let p = pair.p.map(|p| format!(" · {}", p_text(p))).unwrap_or_default();
            let text = self.so_far(pair, short_difference(&pair.difference) + &p);
            let mut row = Row::new(&name, &pair.difference, series, text.clone(), text);
            row.hatch = pair.comparison.mde.as_ref().ok().copied();
            row
        };
        let ends = pairs.iter().flat_map(|pair| {
            let interval = pair.difference.interval.as_ref().ok();
            let mde = pair.comparison.mde.as_ref().ok().copied();
            let ends = interval.map_or([f64::NAN; 2], |interval| [interval.lower, interval.upper]);
            let mde = mde.map_or([f64::NAN; 2], |mde| [-mde, mde]);
            [ends[0], ends[1], mde[0], mde[1], pair.difference.number().unwrap_or(f64::NAN)]
        });
        let rows = Rows {
            scale: Scale::differences(ends),
            reference: None,
            rows: pairs.iter().map(row).collect(),
            ties: Vec::new(),
            size: IntervalSize::Table,
        };
        let has_mde = pairs.iter().any(|pair| pair.comparison.mde.is_ok());
        let hatch = if has_mde { " · hatched: too small to be detected with a power of 80 %" } else { "" };
        let level = pairs.iter().find_map(|pair| pair.difference.interval.as_ref().ok());
        let level = level.map_or(0.95, |interval| interval.level);
        let caption = format!(
            "line: {} interval of the difference · box: ± 1 standard error{hatch}\ngrey: p ≥ 0.05{}",
            percentage(level),
            self.corrected()
        );
        plot_of_rows(&rows, label, table).with_caption(caption)
    }

    /// How p-values are corrected.
    fn corrected(&self) -> String {
        let count = self.comparisons.iter().filter(|comparison| comparison.p_adjusted.is_some()).count();
        if count > 0 { format!(", corrected for {count} comparisons") } else { String::new() }
    }

    /// Rows minus columns.
    fn matrix(&self, pairs: &[Pair<'_>], label: String, table: Listing) -> Plot {
        let count = self.runs.len();
        let (left, top, cell) = (28.0, 112.0, if count > MOST_NUMBERS { 18.0 } else { 26.0 });
        let wide = (100.0 - left) / count.max(1) as f64;
        let mut drawing = Drawing::default();
        for (at, run) in self.runs.iter().enumerate() {
            let (x, y) = (percent(left + wide * (at as f64 + 0.5)), top + cell * (at as f64 + 0.5));
            drawing.put(format_args!(
                "<text class=\"lab\" x=\"0\" y=\"{}\">{}{}</text><svg x=\"{x}\" y=\"{}\" overflow=\"visible\"><text \
                 class=\"lab s\" transform=\"rotate(-90)\" y=\"4\">{}</text></svg>",
                px(y + 4.0),
                fitted(run, 22),
                whole(run, 22),
                px(top - 6.0),
                fitted(run, 15)
            ));
            for other in 0..count {
                let x = percent(left + wide * other as f64);
                let class = if other == at { "s0" } else { "gl" };
                drawing.put(format_args!(
                    "<rect class=\"{class}\"{} x=\"{x}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                    if other == at { "" } else { " fill=\"none\"" },
                    px(top + cell * at as f64),
                    percent(wide),
                    px(cell)
                ));
            }
        }
        let place = |run: &str| self.runs.iter().position(|name| name == run);
        let largest =
            pairs.iter().filter_map(|pair| pair.difference.number()).fold(0.0, |a: f64, b| a.max(b.abs()));
        for pair in pairs {
            let (Some(better), Some(worse)) = (place(pair.better), place(pair.worse)) else { continue };
            let Some(value) = pair.difference.number() else { continue };
            for (row, column, is_ahead) in [(better, worse, true), (worse, better, false)] {
                let (x, y) = (left + wide * column as f64, top + cell * row as f64);
                let strength = if largest > 0.0 { 0.1 + 0.35 * value.abs() / largest } else { 0.1 };
                if pair.is_shown() && is_ahead {
                    drawing.put(format_args!(
                        "<g class=\"{}\"><rect class=\"s3\" fill-opacity=\"{strength:.2}\" x=\"{}\" y=\"{}\" width=\"{}\" \
                         height=\"{}\"/></g>",
                        Series::NEUTRAL.class,
                        percent(x),
                        px(y),
                        percent(wide),
                        px(cell)
                    ));
                }
                let sign =
                    if is_ahead == (pair.comparison.direction != Direction::Lower) { '+' } else { '−' };
                let text = match count > MOST_NUMBERS {
                    true => {
                        if pair.is_shown() {
                            sign.to_string()
                        } else {
                            String::new()
                        }
                    }
                    // A sign would claim a difference that the digits do not show.
                    false if format!("{:.2}", value.abs()) == "0.00" => "0.00".to_owned(),
                    false => format!("{sign}{:.2}", value.abs()),
                };
                let class = if pair.is_shown() { "cnt" } else { "cnt z" };
                drawing.put(format_args!(
                    "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
                    percent(x + wide / 2.0),
                    px(y + cell / 2.0 + 4.5),
                    escape(&text)
                ));
            }
        }
        let height = (top + cell * count as f64 + 2.0).ceil() as u32;
        let part = PlotPart::new(drawing.0, height, label.clone());
        let caption = format!(
            "row minus column · filled: the row is better, p < 0.05{} · grey or empty: cannot be told apart",
            self.corrected()
        );
        Plot::of_parts(vec![part], 1, label, table).with_caption(caption)
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

    #[test]
    fn a_difference_can_be_turned() {
        let estimate = Estimate::new(-0.3).with_stderr(0.1).with_interval(-0.5, -0.1, 0.95);
        let turned = reversed(&estimate);
        let interval = turned.interval.unwrap();
        assert_eq!((turned.value, interval.lower, interval.upper), (Ok(0.3), 0.1, 0.5));
    }
}
