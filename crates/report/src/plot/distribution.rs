//! How the scores of samples are distributed, with their mean below.

use errorbar_core::Distribution;

use super::area::{Drawing, px};
use super::text::{figure, score, short_or_unknown, visible};
use super::{Plot, PlotPart, RunMarks};
use crate::listing::{Listing, ListingCell};
use crate::number::grouped;
use crate::svg::{IntervalSize, IntervalStyle, Scale, Y, interval, percent};

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

/// The scores of samples, for one run or several.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DistributionPlot<'a> {
    /// The runs, in the order of their colours.
    pub runs: Vec<(String, &'a Distribution)>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
}

impl<'a> DistributionPlot<'a> {
    /// These runs.
    pub fn new(runs: Vec<(String, &'a Distribution)>) -> Self {
        DistributionPlot { runs, marks: RunMarks::default() }
    }

    fn scale(&self) -> Scale {
        let scores = || self.runs.iter().flat_map(|(_, run)| run.counts.iter().map(|(score, _)| *score));
        match scores().all(|score| (0.0..=1.0).contains(&score)) {
            true => Scale::unit(),
            false => Scale::around(scores()),
        }
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let scale = self.scale();
        let mut values: Vec<f64> =
            self.runs.iter().flat_map(|(_, run)| run.counts.iter().map(|(score, _)| *score)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let most_samples = self.runs.iter().map(|(_, run)| run.total()).max().unwrap_or(0);
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
        let highest =
            self.runs.iter().flat_map(|(_, run)| bins(run)).map(|(_, count)| count).max().unwrap_or(0);
        let mut table = Listing::new(["run", "score", "samples"].map(str::to_owned));
        let mut data = Listing::new(["run", "from", "to", "samples"]);
        let mut parts = Vec::new();
        for (at, (name, run)) in self.runs.iter().enumerate() {
            let series = self.marks.series(name, at, self.runs.len());
            let columns = bins(run);
            let mut drawing = Drawing::default();
            drawing.put(format_args!("<g class=\"{}\">", series.class));
            match form {
                Form::Dots => dots(&mut drawing, &columns, highest, &scale),
                _ => bars(&mut drawing, &columns, highest, &scale, form),
            }
            drawing.put(format_args!("</g>"));
            ticks(&mut drawing, &values, &scale, form);
            let style = IntervalStyle::new(series, IntervalSize::Table).at(Y::Pixels(0.0));
            drawing.put(format_args!(
                "<svg x=\"{}\" y=\"164\" width=\"{}\" height=\"1\" overflow=\"visible\">{}</svg>",
                percent(LEFT),
                percent(WIDE),
                interval(&scale, &run.estimate, &style).0
            ));
            let words = match form {
                Form::Values => {
                    run.counts.iter().map(|(value, n)| format!("{n} at {}", score(*value))).collect()
                }
                _ => vec![format!(
                    "{} samples from {} to {}",
                    run.total(),
                    run.counts.first().map_or_else(String::new, |(value, _)| score(*value)),
                    run.counts.last().map_or_else(String::new, |(value, _)| score(*value))
                )],
            };
            let absent =
                if run.absent > 0 { format!("; {} without a score", run.absent) } else { String::new() };
            let label = format!(
                "{}: samples by score, {}{absent}; mean {}",
                visible(name),
                words.join(", "),
                self.marks.figure(name, figure(&run.estimate))
            );
            match form {
                Form::Values => run.counts.iter().for_each(|(value, n)| {
                    table.push([name.clone(), score(*value), n.to_string()]);
                    data.push([name.clone().into(), ListingCell::from(*value), (*value).into(), (*n).into()]);
                }),
                _ => run.bins(COLUMNS, range).iter().filter(|bin| bin.count > 0).for_each(|bin| {
                    let ends = format!("{} to {}", score(bin.lower), score(bin.upper));
                    table.push([name.clone(), ends, bin.count.to_string()]);
                    data.push([
                        name.clone().into(),
                        ListingCell::from(bin.lower),
                        bin.upper.into(),
                        bin.count.into(),
                    ]);
                }),
            }
            let absent =
                if run.absent > 0 { format!(", {} absent", grouped(run.absent)) } else { String::new() };
            let note = self.marks.figure(name, short_or_unknown(&run.estimate)) + &absent;
            parts.push(PlotPart::new(drawing.0, 180, label).named(series, name, note));
        }
        let label = parts.iter().map(|part| part.label.as_str()).collect::<Vec<_>>().join(". ");
        let what = match form {
            Form::Values => "columns: number of samples with each score",
            Form::Dots => "a dot is a sample",
            Form::Bins => "columns: number of samples with a score in 20 equal steps",
        };
        // Three fit side by side if nothing long is beside their names.
        let is_short = parts.iter().all(|part| crate::text::width(&part.note) <= 14);
        let columns = parts.len().min(if is_short { 3 } else { 2 });
        let plot = Plot::of_parts(parts, columns, label, table)
            .with_data(data)
            .with_caption(format!("{what} · below, on the same axis: the mean with its interval"));
        self.marks.explain(plot)
    }
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
    for ((_, number), at) in columns.iter().zip(positions) {
        let height = HIGHEST * *number as f64 / highest.max(1) as f64;
        drawing.put(format_args!(
            "<rect class=\"colm\" x=\"{}\" width=\"{}\" y=\"{}\" height=\"{}\"/>",
            percent(at - wide / 2.0),
            percent(wide),
            px(BASE - height),
            px(height.max(1.0))
        ));
        let text = grouped(*number);
        // A digit needs a thirtieth of a narrow drawing.
        let half = 1.0 + 1.5 * text.chars().count() as f64;
        if form == Form::Values && at - half >= last {
            drawing.put(format_args!(
                "<text class=\"cnt\" x=\"{}\" y=\"{}\">{}</text>",
                percent(at),
                px(BASE - height - 6.0),
                text
            ));
            last = at + half;
        }
    }
    if form == Form::Bins {
        let top = columns.iter().max_by_key(|(_, number)| *number);
        if let Some((value, number)) = top {
            let height = HIGHEST * *number as f64 / highest.max(1) as f64;
            drawing.put(format_args!(
                "<text class=\"cnt\" x=\"{}\" y=\"{}\">{}</text>",
                percent(x(scale, *value)),
                px(BASE - height - 6.0),
                grouped(*number)
            ));
        }
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
    drawing.put(format_args!("<line class=\"baseline\" x1=\"0\" x2=\"100%\" y1=\"{BASE}\" y2=\"{BASE}\"/>"));
    let named: Vec<(f64, String)> = match form {
        Form::Values => values.iter().map(|value| (*value, score(*value))).collect(),
        _ => scale.ticks().iter().map(|tick| (*tick, scale.label(*tick))).collect(),
    };
    let mut last = f64::NEG_INFINITY;
    for (value, text) in named {
        let at = x(scale, value);
        let room = 4.0 + 2.6 * text.chars().count() as f64;
        if at - last >= room {
            drawing.put(format_args!("<text class=\"tick\" x=\"{}\" y=\"145\">{text}</text>", percent(at)));
            last = at;
        }
    }
}
