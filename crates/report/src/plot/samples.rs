//! Plots of single samples: the distribution of scores, and the epochs of each.

use errorbar_core::{Distribution, EpochSpread, EpochStrip, StripColumn};

use super::{Plot, PlotPart, RunMarks, figure, fitted, panels, score, short_or_unknown, visible, whole};
use crate::listing::{Listing, ListingCell};
use crate::svg::{Drawing, IntervalSize, IntervalStyle, Scale, Series, Y, interval, percent, px};
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
    let range = (scale.lower(), scale.upper());
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
        let style = IntervalStyle::new(series, IntervalSize::Table).at(Y::Pixels(0.0));
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
        PlotPart::new(drawing.0, 180, label).with_note(note)
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
        _ => scale.ticks().iter().map(|tick| (*tick, scale.label(*tick))).collect(),
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

/// What shades are of.
struct Shading {
    range: (f64, f64),
    /// Whether columns are means of several samples.
    is_binned: bool,
}

impl Shading {
    /// The class of a mean.
    fn class(&self, mean: f64) -> &'static str {
        let (low, high) = self.range;
        let share = if high > low { (mean - low) / (high - low) } else { 1.0 };
        const ALMOST: f64 = 1e-9;
        match share {
            share if self.is_binned => match share {
                share if share < 0.25 => "s0",
                share if share < 0.5 => "s1",
                share if share < 0.75 => "s2",
                _ => "s3",
            },
            share if share <= ALMOST => "s0",
            share if share >= 1.0 - ALMOST => "s3",
            share if share < 0.5 - ALMOST => "s1",
            _ => "s2",
        }
    }

    /// What each class means, the lowest first, as markup.
    fn legend(&self) -> [String; 4] {
        let (low, high) = self.range;
        let at = |share: f64| score(((low + (high - low) * share) * 1e9).round() / 1e9);
        match self.is_binned {
            true => [
                format!("&lt; {}", at(0.25)),
                format!("&lt; {}", at(0.5)),
                format!("&lt; {}", at(0.75)),
                format!("≥ {}", at(0.75)),
            ],
            false => [at(0.0), format!("&lt; {}", at(0.5)), format!("≥ {}", at(0.5)), at(1.0)],
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
        for (at, (text, class)) in shading.legend().iter().zip(["s0", "s1", "s2", "s3"]).enumerate() {
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
