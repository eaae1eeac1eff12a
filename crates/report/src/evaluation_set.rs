//! The runs of several tasks: a row for each task, a column for each model.

use errorbar_core::NoHeadline;

use crate::figure::EstimateText;
use crate::latex::captioned;
use crate::markdown::titled;
use crate::notes;
use crate::table::TextTable;
use crate::terminal::TerminalTable;
use crate::{Report, side_by_side};

/// What a figure means that an earlier run has computed.
const EARLIER: &str = "* complete before, and not run again";

/// The headlines of the runs of several tasks: a row for each task, a column for each model.
///
/// ```
/// use errorbar_core::{NoHeadline, Estimate, MetricResult, MetricValue, Results, Role, ScoreResult, Spec};
/// use errorbar_report::{EvaluationSet, Report};
///
/// let report = |value: f64, is_earlier: bool| {
///     let estimate = Estimate::new(value).with_stderr(0.0306).with_n(200);
///     let mut score = ScoreResult::default();
///     score.scorer = "match".to_owned();
///     score.metrics = vec![MetricResult::new(Spec::new("accuracy"), Role::Location, MetricValue::One(estimate))];
///     let mut results = Results::default();
///     results.scores = vec![score];
///     let mut report = Report::new("log", results);
///     report.earlier_run = is_earlier;
///     report
/// };
/// let mut set = EvaluationSet::default();
/// set.add("law", "a/x", &report(0.75, false));
/// set.add("law", "a/y", &report(0.5, true));
/// set.add("logic", "a/x", &report(0.625, false));
/// set.add_missing("logic", "a/y", "failed");
/// assert_eq!(set.to_text(), "\
/// all runs · accuracy
///          a/x                    a/y
///   law    0.750 ± 0.031 (n 200)  0.500 ± 0.031 (n 200) *
///   logic  0.625 ± 0.031 (n 200)  failed
///   ± one standard error; * complete before, and not run again
/// ");
/// ```
#[derive(Clone, Debug, Default)]
pub struct EvaluationSet {
    runs: Vec<SetRun>,
}

#[derive(Clone, Debug)]
struct SetRun {
    task: String,
    model: String,
    metric: Option<String>,
    cell: String,
    is_earlier: bool,
    has_error: bool,
}

impl EvaluationSet {
    /// Adds a run.
    pub fn add(&mut self, task: &str, model: &str, report: &Report) {
        let is_earlier = report.earlier_run;
        let several = report.results.scores.len() > 1;
        let row = report.results.headline_row();
        let metric = row.as_ref().ok().map(|row| side_by_side::name(row, several));
        let none =
            row.as_ref().err().and_then(NoHeadline::in_words).unwrap_or_else(|| "no scores".to_owned());
        let (mut cell, mut has_error) = (none, false);
        if let Ok(row) = &row {
            let figure = EstimateText::from(row.estimate.as_ref()).short();
            has_error = figure.contains('±');
            let n = notes::n_text(&row.estimate).map(|n| format!("n {n}"));
            let status = report.partial_run.as_ref().map(|run| run.status.clone());
            let about: Vec<String> = n.into_iter().chain(status).collect();
            cell = match about.is_empty() {
                true => figure,
                false => format!("{figure} ({})", about.join(", ")),
            };
        }
        if is_earlier {
            cell += " *";
        }
        let (task, model) = (task.to_owned(), model.to_owned());
        self.runs.push(SetRun { task, model, metric, cell, is_earlier, has_error });
    }

    /// Adds a run without results, and why.
    pub fn add_missing(&mut self, task: &str, model: &str, reason: &str) {
        let (task, model, cell) = (task.to_owned(), model.to_owned(), reason.to_owned());
        self.runs.push(SetRun { task, model, metric: None, cell, is_earlier: false, has_error: false });
    }

    /// For a terminal of 100 columns, without colour.
    pub fn to_text(&self) -> String {
        self.to_table(&TerminalTable::default())
    }

    /// For a terminal, as wide and in the colours that a table is.
    pub fn to_table(&self, table: &TerminalTable) -> String {
        table.text_table(&self.texts())
    }

    /// As a table in Markdown, with its legend.
    pub fn to_markdown(&self) -> String {
        titled(&self.texts()).trim_start_matches('\n').to_owned()
    }

    /// As a table in LaTeX, under a caption.
    pub fn to_latex(&self) -> String {
        captioned(&[], &self.texts(), &[])
    }

    fn texts(&self) -> TextTable {
        let tasks = notes::unique(self.runs.iter().map(|run| run.task.clone()));
        let models = notes::unique(self.runs.iter().map(|run| run.model.clone()));
        let metrics = notes::unique(self.runs.iter().filter_map(|run| run.metric.clone()));
        let is_one = metrics.len() <= 1;
        let row = |task: &String| {
            let of_task = || self.runs.iter().filter(|run| run.task == *task);
            let metric = of_task().find_map(|run| run.metric.as_ref()).filter(|_| !is_one);
            let label = metric.map_or_else(|| task.clone(), |metric| format!("{task}, {metric}"));
            let cell = |model: &String| {
                // A task may have been given twice.
                let cells = of_task().filter(|run| run.model == *model).map(|run| run.cell.as_str());
                cells.collect::<Vec<_>>().join("; ")
            };
            (label, models.iter().map(cell).collect())
        };
        let errors = self.runs.iter().any(|run| run.has_error).then_some("± one standard error");
        let earlier = self.runs.iter().any(|run| run.is_earlier).then_some(EARLIER);
        let legend: Vec<&str> = errors.into_iter().chain(earlier).collect();
        let legend = (!legend.is_empty()).then(|| legend.join("; "));
        let table = TextTable::labelled("all runs".to_owned(), models.clone(), tasks.iter().map(row));
        TextTable { details: if is_one { metrics } else { Vec::new() }, legend, ..table }
    }
}
