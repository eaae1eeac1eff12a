//! True labels against predicted ones, a matrix for each run.

use errorbar_core::Confusion;

use super::text::{figure, fitted, short_or_unknown, visible, whole};
use super::{Plot, PlotPart, RunMarks, panels};
use crate::listing::Listing;
use crate::number::grouped;
use crate::svg::{Drawing, Series, percent, px};

/// The most labels that have a row each.
const MOST: usize = 20;
const LEFT: f64 = 22.0;
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
        PlotPart::new(body, height, label).with_note(note)
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
    let wide = (RIGHT - LEFT) / n as f64;
    let cell = if n > 10 { 22.0 } else { 30.0 };
    let longest = columns.iter().map(|label| crate::text::width(&visible(name(*label)))).max().unwrap_or(0);
    // A narrow drawing has about a character for three percent.
    let fits = longest as f64 <= wide * 0.36;
    let top = if fits { 40.0 } else { 22.0 + 5.4 * longest.min(12) as f64 + 14.0 };
    let mut drawing = Drawing::default();
    drawing.text("tick l", "0", px(top - 7.0), "true");
    drawing.text("tick l", percent(LEFT), "12", "predicted");
    drawing.text("tick r", "100%", px(top - 7.0), "recall");
    for (at, label) in columns.iter().enumerate() {
        let middle = percent(LEFT + wide * (at as f64 + 0.5));
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
                let x = LEFT + wide * place as f64;
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
