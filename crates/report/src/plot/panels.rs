//! Plots of counts: samples by score, samples by epoch, pairs of runs, and pairs of labels.

use errorbar_core::{Confusion, Direction, Distribution, EpochSpread, EpochStrip, Estimate, StripColumn};
use errorbar_inference::Comparison;

use super::rows::{Row, Rows};
use super::{
    Plot, PlotPart, RunMarks, difference, estimate_list, estimate_row, figure, fitted, level, panels, score,
    short_difference, short_or_unknown, visible, whole,
};
use crate::comparison::Pair;
use crate::record::{Listing, ListingCell};
use crate::svg::{Drawing, IntervalSize, IntervalStyle, Scale, Series, interval, percent, px};
use crate::text::grouped;

/// The most different scores that have a column each.
const MOST_VALUES: usize = 8;
/// The most samples that are drawn as dots.
const MOST_DOTS: u64 = 200;
/// The columns of more samples.
const COLUMNS: usize = 20;
/// Places for dots.
const DOT_PLACES: usize = 40;
/// Where columns end below.
const BASE: f64 = 128.0;
/// The height of the highest column.
const HIGHEST: f64 = 100.0;
/// The part of the width that the axis has.
const LEFT: f64 = 9.0;
const WIDE: f64 = 82.0;

/// The scores of samples, for one run or several, in the order of their colours.
pub fn distribution(runs: &[(String, Distribution)], marks: &RunMarks) -> Plot {
    let counts = || runs.iter().flat_map(|(_, run)| &run.counts);
    let mut values: Vec<f64> = counts().map(|(score, _)| *score).collect();
    let is_unit = values.iter().all(|score| (0.0..=1.0).contains(score));
    let scale = if is_unit { Scale::unit() } else { Scale::around(values.iter().copied()) };
    values.sort_by(f64::total_cmp);
    values.dedup();
    let most_samples = runs.iter().map(|(_, run)| run.total()).max().unwrap_or(0);
    let form = match values.len() {
        0..=MOST_VALUES => Form::Values,
        _ if most_samples <= MOST_DOTS => Form::Dots,
        _ => Form::Bins,
    };
    let range = (scale.lower, scale.upper);
    let bins = |run: &Distribution| match form {
        Form::Values => run.counts.clone(),
        Form::Dots => middles(run, DOT_PLACES, range),
        Form::Bins => middles(run, COLUMNS, range),
    };
    let highest = runs.iter().flat_map(|(_, run)| bins(run)).map(|(_, count)| count).max().unwrap_or(0);
    let mut table = Listing::new(["run", "score", "samples"]);
    let mut data = Listing::new(["run", "from", "to", "samples"]);
    let parts = panels(runs, marks, |name, run, series| {
        let columns = bins(run);
        let mut drawing = Drawing::default();
        drawing.group(series.class, |drawing| match form {
            Form::Dots => dots(drawing, &columns, highest, &scale),
            _ => bars(drawing, &columns, highest, &scale, form),
        });
        ticks(&mut drawing, &values, &scale, form);
        let style = IntervalStyle::new(series, IntervalSize::Table).at(px(0.0));
        let mean = interval(&scale, &run.estimate, &style).0;
        drawing.strip(&percent(LEFT), 164, &percent(WIDE), 1, &mean);
        let mut add = |from: f64, to: f64, text: String, samples: u64| {
            table.push([name.to_owned(), text, samples.to_string()]);
            data.push([name.into(), ListingCell::from(from), to.into(), samples.into()]);
        };
        let words = match form {
            Form::Values => {
                run.counts.iter().for_each(|(value, n)| add(*value, *value, score(*value), *n));
                let words: Vec<String> =
                    run.counts.iter().map(|(value, n)| format!("{n} at {}", score(*value))).collect();
                words.join(", ")
            }
            _ => {
                for bin in run.bins(COLUMNS, range).iter().filter(|bin| bin.count > 0) {
                    let ends = format!("{} to {}", score(bin.lower), score(bin.upper));
                    add(bin.lower, bin.upper, ends, bin.count);
                }
                let ends = [run.counts.first(), run.counts.last()];
                let [from, to] = ends.map(|end| end.map(|(value, _)| score(*value)).unwrap_or_default());
                format!("{} samples from {from} to {to}", run.total())
            }
        };
        let (without, absent) = match run.absent {
            0 => (String::new(), String::new()),
            absent => (format!("; {absent} without a score"), format!(", {} absent", grouped(absent))),
        };
        let mean = marks.figure(name, figure(&run.estimate));
        let label = format!("{}: samples by score, {words}{without}; mean {mean}", visible(name));
        let note = marks.figure(name, short_or_unknown(&run.estimate)) + &absent;
        PlotPart { note, ..PlotPart::new(drawing.0, 180, label) }
    });
    let what = match form {
        Form::Values => "columns: number of samples with each score",
        Form::Dots => "a dot is a sample",
        Form::Bins => "columns: number of samples with a score in 20 equal steps",
    };
    let caption = format!("{what} · below, on the same axis: the mean with its interval");
    // Three fit side by side if nothing long is beside their names.
    let is_short = parts.iter().all(|part| crate::text::width(&part.note) <= 14);
    let columns = parts.len().min(if is_short { 3 } else { 2 });
    Plot::new(parts, columns, (table, data), caption, marks)
}

/// How scores are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Values,
    Dots,
    Bins,
}

/// The middle of each bin that is not empty, and its count.
fn middles(run: &Distribution, bins: usize, range: (f64, f64)) -> Vec<(f64, u64)> {
    let bins = run.bins(bins, range).into_iter().filter(|bin| bin.count > 0);
    bins.map(|bin| (f64::midpoint(bin.lower, bin.upper), bin.count)).collect()
}

/// A position on the axis, in percent of the drawing.
fn x(scale: &Scale, value: f64) -> f64 {
    LEFT + WIDE * scale.within(value) / 100.0
}

fn bars(drawing: &mut Drawing, columns: &[(f64, u64)], highest: u64, scale: &Scale, form: Form) {
    let positions: Vec<f64> = columns.iter().map(|(value, _)| x(scale, *value)).collect();
    let nearest = positions.windows(2).map(|pair| match pair {
        [a, b] => b - a,
        _ => WIDE,
    });
    let wide = match form {
        Form::Bins => WIDE / COLUMNS as f64 * 0.92,
        _ => nearest.fold(WIDE, f64::min).mul_add(0.8, 0.0).clamp(0.6, 15.0),
    };
    let mut last = f64::NEG_INFINITY;
    let height_of = |number: u64| HIGHEST * number as f64 / highest.max(1) as f64;
    for ((_, number), at) in columns.iter().zip(positions) {
        let height = height_of(*number);
        drawing.column(percent(at - wide / 2.0), percent(wide), BASE - height, height.max(1.0));
        let text = grouped(*number);
        // A digit needs a thirtieth of a narrow drawing.
        let half = 1.0 + 1.5 * text.chars().count() as f64;
        if form == Form::Values && at - half >= last {
            drawing.text("cnt", percent(at), px(BASE - height - 6.0), &text);
            last = at + half;
        }
    }
    let top = columns.iter().max_by_key(|(_, number)| *number).filter(|_| form == Form::Bins);
    if let Some((value, number)) = top {
        let y = px(BASE - height_of(*number) - 6.0);
        drawing.text("cnt", percent(x(scale, *value)), y, &grouped(*number));
    }
}

fn dots(drawing: &mut Drawing, columns: &[(f64, u64)], highest: u64, scale: &Scale) {
    let step = (HIGHEST / highest.max(1) as f64).min(6.0);
    let radius = px((step / 2.0).clamp(1.0, 2.6));
    for (value, number) in columns {
        let at = percent(x(scale, *value));
        for place in 0..*number {
            let y = px(BASE - 4.0 - step * place as f64);
            drawing.put(format_args!("<circle class=\"s3\" cx=\"{at}\" cy=\"{y}\" r=\"{radius}\"/>"));
        }
    }
}

fn ticks(drawing: &mut Drawing, values: &[f64], scale: &Scale, form: Form) {
    drawing.line("baseline", ["0", "100%"], [BASE, BASE]);
    let named: Vec<(f64, String)> = match form {
        Form::Values => values.iter().map(|value| (*value, score(*value))).collect(),
        _ => scale.ticks.iter().map(|tick| (*tick, scale.label(*tick))).collect(),
    };
    let mut last = f64::NEG_INFINITY;
    for (value, text) in named {
        let at = x(scale, value);
        let room = 4.0 + 2.6 * text.chars().count() as f64;
        if at - last >= room {
            drawing.text("tick", percent(at), 145, &text);
            last = at;
        }
    }
}

// Every sample from the hardest to the easiest, shaded by the mean of its epochs.

/// The most samples that have a column each.
const MOST_COLUMNS: usize = 600;
const STRIP: f64 = 26.0;

/// The classes of shades, the lowest first.
const SHADES: [&str; 4] = ["s0", "s1", "s2", "s3"];

/// What shades are of.
struct Shading {
    range: (f64, f64),
    /// Whether columns are means of several samples.
    is_binned: bool,
}

impl Shading {
    /// The class of a mean.
    fn class(&self, mean: f64) -> &'static str {
        /// Beside 0, a half and 1 is what rounding makes of them.
        const ALMOST: f64 = 1e-9;
        let (low, high) = self.range;
        let share = if high > low { (mean - low) / (high - low) } else { 1.0 };
        let steps = if self.is_binned { [0.25, 0.5, 0.75] } else { [ALMOST, 0.5 - ALMOST, 1.0 - ALMOST] };
        let above = steps.iter().filter(|step| share >= **step).count();
        SHADES.get(above).copied().unwrap_or_default()
    }

    /// What each class means, the lowest first, as markup.
    fn legend(&self) -> [String; 4] {
        let (low, high) = self.range;
        let at = |share: f64| score(((low + (high - low) * share) * 1e9).round() / 1e9);
        let below = |share: f64| format!("&lt; {}", at(share));
        let from = |share: f64| format!("≥ {}", at(share));
        match self.is_binned {
            true => [below(0.25), below(0.5), below(0.75), from(0.75)],
            false => [at(0.0), below(0.5), from(0.5), at(1.0)],
        }
    }
}

/// The epochs of samples, for one run or several, in the order of their colours.
pub fn epochs(runs: &[(String, EpochSpread)], marks: &RunMarks) -> Plot {
    let spreads: Vec<&EpochSpread> = runs.iter().map(|(_, run)| run).collect();
    let strip = EpochStrip::new(&spreads, MOST_COLUMNS);
    let (low, high) = strip.range.unwrap_or((0.0, 1.0));
    let range = if low >= 0.0 && high <= 1.0 { (0.0, 1.0) } else { (low, high) };
    let shading = Shading { range, is_binned: strip.columns.len() < strip.samples };
    let mut drawing = Drawing::default();
    let mut y = legend(&mut drawing, &shading);
    let mut words = Vec::new();
    let mut table = Listing::new(["run", "samples", "epochs", "with different scores"]);
    for (at, (name, run)) in runs.iter().enumerate() {
        let series = marks.series(name, at, runs.len());
        let (samples, varying, epochs) = (run.samples.len(), run.varying(), run.epochs());
        drawing.mark(series, 6, px(y + 9.5));
        drawing.text("lab", 17, px(y + 14.0), &(fitted(name, 20) + &whole(name, 20)));
        let varies = format!("varies on {} of {}", grouped(varying as u64), grouped(samples as u64));
        drawing.text_at_end("100%", px(y + 14.0), &marks.figure(name, varies));
        y += 21.0;
        columns(&mut drawing, &strip.columns, at, series, &shading, y);
        y += STRIP + 10.0;
        let spread = format!(
            "{}: {samples} samples, up to {epochs} epochs, {varying} with different scores",
            visible(name)
        );
        words.push(marks.figure(name, spread));
        table.push([name.clone(), samples.to_string(), epochs.to_string(), varying.to_string()]);
    }
    let left = if runs.len() > 1 { "hardest for all" } else { "hardest" };
    drawing.text("tick l", "0", px(y + 6.0), left);
    drawing.text("tick", "50%", px(y + 6.0), &format!("{} samples", grouped(strip.samples as u64)));
    drawing.text("tick r", "100%", px(y + 6.0), "easiest");
    let label = format!("Samples from the hardest to the easiest. {}", words.join("; "));
    let each = match shading.is_binned {
        true => {
            format!("a column is the mean of about {} samples", strip.samples / strip.columns.len().max(1))
        }
        false => "a column is a sample".to_owned(),
    };
    let is_absent = strip.columns.iter().any(|column| column.means.contains(&None));
    let absent = if is_absent { " · blank: no score" } else { "" };
    let mut data = Listing::new(["run", "sample", "samples", "mean"]);
    for column in &strip.columns {
        for ((name, _), mean) in runs.iter().zip(&column.means) {
            let sample = ListingCell::from(column.id.as_str());
            data.push([name.as_str().into(), sample, column.samples.into(), (*mean).into()]);
        }
    }
    let caption = format!("{each}, shaded by the mean of its epochs{absent}");
    let part = PlotPart::new(drawing.0, (y + 12.0).ceil() as u32, label);
    Plot::new(vec![part], 1, (table, data), caption, marks)
}

/// The shades and what they mean, and where it ends.
fn legend(drawing: &mut Drawing, shading: &Shading) -> f64 {
    drawing.group("m0", |drawing| {
        for (at, (text, class)) in shading.legend().iter().zip(SHADES).enumerate() {
            let shade = format!(
                "<rect class=\"{class}\" y=\"1\" width=\"12\" height=\"12\"/><text class=\"tick l\" x=\"17\" \
                 y=\"11.5\">{text}</text>"
            );
            // Four at equal distances fit into any width.
            drawing.strip(&format!("{}%", at * 25), 0, "25%", 16, &shade);
        }
    });
    28.0
}

fn columns(
    drawing: &mut Drawing,
    columns: &[StripColumn],
    run: usize,
    series: Series,
    shading: &Shading,
    y: f64,
) {
    drawing.put(format_args!(
        "<svg class=\"{}\" x=\"0\" y=\"{}\" width=\"100%\" height=\"{STRIP}\" viewBox=\"0 0 {} 1\" \
         preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">",
        series.class,
        px(y),
        columns.len().max(1)
    ));
    let class =
        |column: &StripColumn| column.means.get(run).copied().flatten().map(|mean| shading.class(mean));
    let mut x = 0;
    for same in columns.chunk_by(|a, b| class(a) == class(b)) {
        if let Some(class) = same.first().and_then(class) {
            let width = same.len();
            drawing.put(format_args!("<rect class=\"{class}\" x=\"{x}\" width=\"{width}\" height=\"1\"/>"));
        }
        x += same.len();
    }
    drawing.put(format_args!("</svg>"));
}

// Plots of pairs: of runs, and of labels.

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
            let mde = mde.map(crate::text::plain).unwrap_or_default();
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
            chance: None,
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

// True labels against predicted ones, a matrix for each run.

/// The most labels that have a row each.
const MOST: usize = 20;
const LABELS_LEFT: f64 = 22.0;
/// Where the cells end; the recall of each label is behind them.
const RIGHT: f64 = 68.0;

/// Which labels are taken for which, for one run or several, in the order of their colours.
pub fn confusion(runs: &[(String, Confusion)], marks: &RunMarks) -> Plot {
    let mut table = Listing::new(["run", "true label", "predicted", "answers"]);
    let parts = panels(runs, marks, |name, confusion, series| {
        for (label, row) in confusion.labels.iter().zip(&confusion.counts) {
            for (predicted, number) in confusion.labels.iter().zip(row).filter(|(_, number)| **number > 0) {
                table.push([name, label.name.as_str(), predicted.name.as_str(), &number.to_string()]);
            }
        }
        let shown = confusion.clone().with_most(MOST);
        let words = |label: &errorbar_core::ConfusionLabel| {
            format!("recall of {} {}", visible(&label.name), figure(&label.recall))
        };
        let words: Vec<String> = shown.labels.iter().map(words).collect();
        let same = marks.figure(name, figure(&confusion.accuracy));
        let label = format!("{}: same label {same}; {}", visible(name), words.join("; "));
        let (body, height) = matrix(&shown, series);
        // Not the headline: scorers may accept answers that differ from the label.
        let note = format!("same label {}", marks.figure(name, short_or_unknown(&confusion.accuracy)));
        PlotPart { note, ..PlotPart::new(body, height, label) }
    });
    let labels = runs.iter().map(|(_, run)| run.labels.len()).max().unwrap_or(0);
    let columns = if labels > 5 { 1 } else { parts.len().min(2) };
    let caption = "rows: true label, columns: predicted label, shaded by the share of the row · at the right: recall ± 1 \
                   standard error";
    Plot::new(parts, columns, (table.clone(), table), caption.to_owned(), marks)
}

fn matrix(confusion: &Confusion, series: Series) -> (String, u32) {
    let count_of = |row: usize, column: usize| {
        confusion.counts.get(row).and_then(|of| of.get(column)).copied().unwrap_or(0)
    };
    let all = || 0..confusion.labels.len();
    // What is never true has no row, and what is never predicted no column.
    let rows: Vec<usize> = all().filter(|row| all().any(|column| count_of(*row, column) > 0)).collect();
    let columns: Vec<usize> = all().filter(|column| all().any(|row| count_of(row, *column) > 0)).collect();
    let name = |label: usize| confusion.labels.get(label).map_or("", |label| label.name.as_str());
    let n = columns.len().max(1);
    let wide = (RIGHT - LABELS_LEFT) / n as f64;
    let cell = if n > 10 { 22.0 } else { 30.0 };
    let longest = columns.iter().map(|label| crate::text::width(&visible(name(*label)))).max().unwrap_or(0);
    // A narrow drawing has about a character for three percent.
    let fits = longest as f64 <= wide * 0.36;
    let top = if fits { 40.0 } else { 22.0 + 5.4 * longest.min(12) as f64 + 14.0 };
    let mut drawing = Drawing::default();
    drawing.text("tick l", "0", px(top - 7.0), "true");
    drawing.text("tick l", percent(LABELS_LEFT), "12", "predicted");
    drawing.text("tick r", "100%", px(top - 7.0), "recall");
    for (at, label) in columns.iter().enumerate() {
        let middle = percent(LABELS_LEFT + wide * (at as f64 + 0.5));
        let text = fitted(name(*label), 12);
        match fits {
            true => drawing.text("tick", middle, px(top - 7.0), &text),
            false => {
                let turned = format!("<text class=\"tick l\" transform=\"rotate(-50)\">{text}</text>");
                drawing.nested(middle, px(top - 6.0), &turned);
            }
        }
    }
    for (at, row) in rows.iter().enumerate() {
        let y = top + cell * at as f64;
        let text_y = px(y + cell / 2.0 + 4.5);
        drawing.text("lab", "0", &text_y, &(fitted(name(*row), 10) + &whole(name(*row), 10)));
        let total: u64 = columns.iter().map(|column| count_of(*row, *column)).sum();
        drawing.group(series.class, |drawing| {
            for (place, column) in columns.iter().enumerate() {
                let number = count_of(*row, *column);
                let share = if total > 0 { number as f64 / total as f64 } else { 0.0 };
                let x = LABELS_LEFT + wide * place as f64;
                // Letters stay readable on the strongest shade.
                let (class, shade) = match number {
                    0 => ("s0", String::new()),
                    _ => ("s3", format!(" fill-opacity=\"{:.2}\"", 0.08 + 0.37 * share)),
                };
                let (width, height) = (percent(wide - 0.4), px(cell - 2.0));
                drawing.rect(class, &shade, [&percent(x + 0.2), &px(y + 1.0), &width, &height]);
                // Zeros of many narrow cells would hide the rest; the table has them.
                if n <= 12 || number > 0 {
                    drawing.put(format_args!(
                        "<text class=\"{}\"{} x=\"{}\" y=\"{text_y}\">{}</text>",
                        if number == 0 { "cnt z" } else { "cnt" },
                        if n > 10 { " font-size=\"10\"" } else { "" },
                        percent(x + wide / 2.0),
                        grouped(number)
                    ));
                }
            }
        });
        let recall =
            confusion.labels.get(*row).map(|label| &label.recall).filter(|recall| recall.value.is_ok());
        let recall = recall.map_or_else(|| "–".to_owned(), short_or_unknown);
        drawing.text_at_end("100%", text_y, &recall);
    }
    (drawing.0, (top + cell * rows.len().max(1) as f64 + 4.0).ceil() as u32)
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
