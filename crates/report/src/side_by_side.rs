//! The models that did one task, side by side.

use errorbar_core::spec::without_own_package;
use errorbar_core::{Block, Entry};

use crate::markdown::escape;
use crate::text::{clean, width};
use crate::{Figure, Report};

/// How many figures stand beside each other at most; the reports above have them all.
const MOST_FIGURES: usize = 4;

/// The models that did one task, a line each, with the figures that they have in common.
///
/// ```
/// use errorbar_core::{Plan, Score, ScoreColumns, results};
/// use errorbar_report::{Report, SideBySide};
///
/// let report = |model: &str, grades: [&str; 4]| {
///     let mut columns = ScoreColumns::new(["match"]);
///     for (id, grade) in ["q1", "q2", "q3", "q4"].iter().zip(grades) {
///         columns.push(id, 1).score("match", Score::new(grade))?;
///     }
///     let results = results(&columns, &Plan::new())?;
///     Ok::<_, errorbar_core::Error>(Report::new("log", results).of_run("quiz", model))
/// };
/// let reports = [report("a/x", ["C", "I", "C", "C"])?, report("a/yy", ["I", "I", "C", "I"])?];
/// let text = SideBySide::of(&reports, &[Some(1200), None])[0].to_text();
/// assert_eq!(text, "\
/// quiz, side by side
///   model  accuracy     scored  tokens
///   a/x    0.75 ± 0.25  4 of 4  1200
///   a/yy   0.25 ± 0.25  4 of 4
/// ");
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SideBySide {
    task: String,
    /// The titles, then a line for each model.
    lines: Vec<Vec<String>>,
}

impl SideBySide {
    /// The tasks that several of the reports are about. `tokens` says what each of them took, where that is known.
    pub fn of(reports: &[Report], tokens: &[Option<u64>]) -> Vec<Self> {
        let mut tasks: Vec<&str> = Vec::new();
        for report in reports {
            let task = report.task.as_deref().unwrap_or_default();
            if !tasks.contains(&task) {
                tasks.push(task);
            }
        }
        let of_task = |task: &str| {
            let of_task = |report: &Report| report.task.as_deref().unwrap_or_default() == task;
            let tokens = tokens.iter().copied().chain(std::iter::repeat(None));
            let reports: Vec<_> = reports.iter().zip(tokens).filter(|(report, _)| of_task(report)).collect();
            (reports.len() > 1).then(|| SideBySide::of_task(task, &reports))
        };
        tasks.into_iter().filter_map(of_task).collect()
    }

    fn of_task(task: &str, reports: &[(&Report, Option<u64>)]) -> Self {
        let figures = figures(reports);
        let has_tokens = reports.iter().any(|(_, tokens)| tokens.is_some());
        let mut titles = vec!["model".to_owned()];
        titles.extend(figures.iter().map(|figure| figure.title.clone()));
        titles.push("scored".to_owned());
        titles.extend(has_tokens.then(|| "tokens".to_owned()));
        let line = |(report, tokens): &(&Report, Option<u64>)| {
            let mut line = vec![report.model.as_deref().unwrap_or_default().to_owned()];
            line.extend(figures.iter().map(|figure| figure.cell(report)));
            line.push(scored(report));
            line.extend(has_tokens.then(|| tokens.map(|count| count.to_string()).unwrap_or_default()));
            line
        };
        let lines = std::iter::once(titles).chain(reports.iter().map(line)).collect();
        SideBySide { task: task.to_owned(), lines }
    }

    /// As lines of text, for a terminal.
    pub fn to_text(&self) -> String {
        let lines: Vec<Vec<String>> =
            self.lines.iter().map(|line| line.iter().map(|cell| clean(cell)).collect()).collect();
        let columns = lines.first().map_or(0, Vec::len);
        let wide = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|c| width(c)).max();
        let widths: Vec<usize> = (0..columns).map(|at| wide(at).unwrap_or(0)).collect();
        let mut text = format!("{}, side by side\n", clean(&self.task));
        for line in &lines {
            let cells = line.iter().zip(&widths);
            let padded = cells.map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide - width(cell))));
            let padded = padded.collect::<Vec<_>>().join("  ");
            text.push_str(&format!("  {}\n", padded.trim_end()));
        }
        text
    }

    /// As a table in Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("**{}**, side by side\n\n", escape(&self.task));
        for (at, line) in self.lines.iter().enumerate() {
            let cells: Vec<String> = line.iter().map(|cell| escape(cell)).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
            if at == 0 {
                text.push_str(&format!("|{}\n", " --- |".repeat(line.len())));
            }
        }
        text
    }
}

/// How many scores of how many that there might be, where most are: of samples if epochs are reduced, else of epochs.
fn scored(report: &Report) -> String {
    let most = report.results.scores.iter().max_by_key(|block| block.scored_samples);
    let counts = |block: &Block| {
        let scored = block.scored_samples;
        (scored, scored + block.unscored_samples + block.missing_samples)
    };
    let (scored, total) = most.map_or((0, report.results.total_samples), counts);
    format!("{scored} of {total}")
}

/// A figure that reports have, and where it is in them.
struct Column {
    title: String,
    block: String,
    reducer: Option<String>,
    key: String,
}

impl Column {
    fn cell(&self, report: &Report) -> String {
        let same = |block: &&Block| block.name == self.block && block.reducer == self.reducer;
        let block = report.results.scores.iter().find(same);
        block.and_then(|block| Figure::of(block, &self.key)).map_or_else(|| "-".to_owned(), |f| f.to_string())
    }
}

/// The figures of all reports, in order, errors aside: they stand with their figures.
fn figures(reports: &[(&Report, Option<u64>)]) -> Vec<Column> {
    let is_error = |entry: &Entry| {
        let metric = without_own_package(entry.group.as_deref().unwrap_or(&entry.name));
        matches!(metric, "stderr" | "bootstrap_stderr" | "std" | "var")
    };
    let mut columns: Vec<Column> = Vec::new();
    for block in reports.iter().flat_map(|(report, _)| &report.results.scores) {
        for (key, entry) in &block.metrics {
            let is_known = |column: &Column| {
                column.block == block.name && column.reducer == block.reducer && column.key == *key
            };
            if is_error(entry) || columns.iter().any(is_known) {
                continue;
            }
            columns.push(Column {
                title: key.clone(),
                block: block.name.clone(),
                reducer: block.reducer.clone(),
                key: key.clone(),
            });
        }
    }
    columns.truncate(MOST_FIGURES);
    let several = columns.iter().any(|column| {
        columns.iter().any(|other| (&other.block, &other.reducer) != (&column.block, &column.reducer))
    });
    if several {
        for column in &mut columns {
            let reducer = column.reducer.as_deref().map(|reducer| format!(" {reducer}")).unwrap_or_default();
            column.title = format!("{}{reducer} {}", column.block, column.title);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use errorbar_core::{Plan, Reducers, Score, ScoreColumns, results};

    use super::*;

    /// The column `scored` of a report of three samples in two epochs, of which one was never scored and one failed once.
    fn scored_of(plan: &Plan) -> String {
        let mut columns = ScoreColumns::new(["match"]);
        for epoch in 1..=2 {
            columns.push("q1", epoch).score("match", Score::new("C")).unwrap();
            columns.push("q2", epoch).score("match", Score::unscored("grader_failed")).unwrap();
        }
        columns.push("q3", 1).score("match", Score::new("I")).unwrap();
        columns.push("q3", 2).errored();
        scored(&Report::new("log", results(&columns, plan).unwrap()))
    }

    #[test]
    fn what_is_scored_and_what_might_be_are_counted_alike() {
        assert_eq!(scored_of(&Plan::new()), "2 of 3");
        assert_eq!(scored_of(&Plan { reducers: Reducers::explicit(Vec::new()), ..Plan::new() }), "3 of 6");
    }
}
