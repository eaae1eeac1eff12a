//! How the scores of samples are distributed, with their mean below.

use errorbar_core::Distribution;

use super::text::{figure, score, short_or_unknown, visible};
use super::{Plot, PlotPart, RunMarks, panels};
use crate::listing::{Listing, ListingCell};
use crate::number::grouped;
use crate::svg::{Drawing, IntervalSize, IntervalStyle, Scale, Y, interval, percent, px};

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
