//! The models that did one task, side by side.

use errorbar_core::EstimateRow;

use crate::latex::{headed, listed_with_notes};
use crate::markdown::{escape, pipe_table};
use crate::notes::{self, CommonMethods};
use crate::rows::keys;
use crate::table::{ReportTable, TableRow};
use crate::terminal::layout::INDENT;
use crate::terminal::{LegendContent, TerminalTable};
use crate::text::{clean, wrap};
use crate::{Listing, ListingCell, Report};

/// The models that did one task, a line each, with the headline of each and what was left out.
///
/// ```
/// use errorbar_core::{MetricResult, MetricValue, Results, Role, ScoreResult};
/// use errorbar_core::{Estimate, Spec};
/// use errorbar_report::{Report, SideBySide};
///
/// let report = |model: &str, estimate: Estimate| {
///     let mut score = ScoreResult::default();
///     score.scorer = "match".to_owned();
///     score.metrics = vec![MetricResult::new(Spec::new("accuracy"), Role::Location, MetricValue::One(estimate))];
///     let mut results = Results::default();
///     results.scores = vec![score];
///     Report::new("log", results).of_run("quiz", model)
/// };
/// let first = Estimate::new(0.75).with_stderr(0.0306).with_interval(0.69, 0.81, 0.95).with_n(200);
/// let second = Estimate::new(0.5).with_stderr(0.0354).with_interval(0.43, 0.57, 0.95).with_n(200);
/// let tables = SideBySide::of(&[report("a/x", first), report("a/yy", second)], &[Some(1200), None]);
/// assert_eq!(tables[0].to_text(), "\
/// quiz, side by side · accuracy
///                                       0                                       1
///   a/x   0.750 ± 0.031 [0.690, 0.810]                              ├─●─┤          n 200 · 1200 tokens
///   a/yy  0.500 ± 0.035 [0.430, 0.570]                   ├──●──┤                   n 200
///
/// ± one standard error · [95 % interval] · ├─●─┤ the interval
/// ");
/// ```
#[derive(Clone, Debug)]
pub struct SideBySide {
    task: String,
    /// The names of the headlines; one if all are of the same metric.
    metrics: Vec<String>,
    models: Vec<ModelHeadline>,
    left_out: Vec<String>,
    common: CommonMethods,
}

/// The headline of a model.
#[derive(Clone, Debug)]
struct ModelHeadline {
    metric: String,
    row: TableRow,
    tokens: Option<u64>,
}

impl SideBySide {
    /// The tasks that several of the reports are about. `tokens` has what each of them took, where that is known.
    pub fn of(reports: &[Report], tokens: &[Option<u64>]) -> Vec<Self> {
        let task_of = |report: &Report| report.task.clone().unwrap_or_default();
        let tasks = notes::unique(reports.iter().map(task_of));
        let of_task = |task: String| {
            let tokens = tokens.iter().copied().chain(std::iter::repeat(None));
            let reports: Vec<_> =
                reports.iter().zip(tokens).filter(|(report, _)| task_of(report) == task).collect();
            (reports.len() > 1).then(|| SideBySide::of_task(task, &reports))
        };
        tasks.into_iter().filter_map(of_task).collect()
    }

    fn of_task(task: String, reports: &[(&Report, Option<u64>)]) -> Self {
        let headlines: Vec<Option<EstimateRow<'_>>> =
            reports.iter().map(|(report, _)| report.results.headline_row().ok()).collect();
        // Only what is shown here: other rows of the reports may have other errors.
        let shown = headlines.iter().zip(reports);
        let shown = shown.filter_map(|(row, (report, _))| row.as_ref().map(|row| (row, &report.results)));
        let common = CommonMethods::of_rows(shown.map(|(row, results)| (row, notes::keys_of(results, row))));
        let (mut models, mut others) = (Vec::new(), Vec::new());
        for ((report, tokens), shown) in reports.iter().zip(headlines) {
            let several = report.results.scores.len() > 1;
            let metric = shown.as_ref().map(|row| name(row, several)).unwrap_or_default();
            others.extend(report.results.rows().iter().map(|row| name(row, several)));
            let label = report.model.clone().unwrap_or_default();
            models.push(ModelHeadline { metric, row: row(label, shown, report, &common), tokens: *tokens });
        }
        let metrics = notes::unique(models.iter().map(|model: &ModelHeadline| model.metric.clone()));
        let left_out = notes::unique(others.into_iter().filter(|name| !metrics.contains(name)));
        SideBySide { task, metrics, models, left_out, common }
    }

    /// For a terminal of 100 columns, without colour.
    pub fn to_text(&self) -> String {
        self.to_table(&TerminalTable::default())
    }

    /// For a terminal, as wide and in the colours that a table is.
    pub fn to_table(&self, table: &TerminalTable) -> String {
        let is_one = self.metrics.len() == 1;
        let row = |model: &ModelHeadline| {
            let mut row = model.row.clone();
            row.notes.extend(model.tokens.map(|tokens| format!("{tokens} tokens")));
            row.notes.extend((!is_one).then(|| model.metric.clone()));
            row
        };
        let block = ReportTable {
            name: format!("{}, side by side", self.task),
            details: if is_one { self.metrics.clone() } else { Vec::new() },
            label_title: "",
            columns: Vec::new(),
            rows: self.models.iter().map(row).collect(),
        };
        let mut signs = LegendContent::default();
        let mut text = table.report_table(block.cleaned(), &mut signs);
        if let Some(left_out) = self.also() {
            let lines = wrap(&clean(&left_out), table.width.saturating_sub(2 * INDENT));
            let lines = lines.iter().enumerate().map(|(at, line)| match at {
                0 => line.clone(),
                _ => format!("{}{line}", " ".repeat(INDENT)),
            });
            text += &table.below(INDENT, lines);
        }
        text + &table.legend(signs, &self.common)
    }

    /// As a table in Markdown, with its legend.
    pub fn to_markdown(&self) -> String {
        let listing = self.to_listing();
        let table = pipe_table(listing.titles(), &listing.texts());
        let mut text = format!("**{}**, side by side\n\n{table}", escape(&self.task));
        for below in self.also().into_iter().chain(self.common.legend()) {
            text += &format!("\n{}\n", escape(&below));
        }
        text
    }

    /// As a table in LaTeX, under a caption.
    pub fn to_latex(&self) -> String {
        let mut about = vec![format!("{}, side by side", self.task)];
        about.extend(self.metrics.first().filter(|_| self.metrics.len() == 1).cloned());
        about.extend(self.also());
        let (tabular, notes) = listed_with_notes(&self.to_listing());
        headed(&about, self.common.legend(), &tabular, &notes)
    }

    /// As a list, for any format.
    pub fn to_listing(&self) -> Listing {
        let is_one = self.metrics.len() == 1;
        let has_tokens = self.models.iter().any(|model| model.tokens.is_some());
        let value = if is_one { self.metrics.concat() } else { "value".to_owned() };
        let mut titles = vec!["model".to_owned(), value, self.common.interval_title(), "n".to_owned()];
        titles.extend(has_tokens.then(|| "tokens".to_owned()));
        titles.push("notes".to_owned());
        let mut listing = Listing::new(titles);
        for ModelHeadline { metric, row, tokens } in &self.models {
            let figure = row.figure();
            let mut cells = vec![
                ListingCell::from(row.label.as_str()),
                ListingCell::from(figure.map(|figure| figure.short())),
                ListingCell::from(figure.map(|figure| figure.interval_text())),
                ListingCell::from(row.n.clone()),
            ];
            cells.extend(has_tokens.then(|| ListingCell::from(*tokens)));
            let notes = row.notes.iter().cloned().chain((!is_one).then(|| metric.clone()));
            cells.push(ListingCell::from(notes.collect::<Vec<_>>().join(" · ")));
            listing.push(cells);
        }
        listing
    }

    /// What was computed besides, in one line.
    fn also(&self) -> Option<String> {
        (!self.left_out.is_empty()).then(|| format!("also computed: {}", self.left_out.join(", ")))
    }
}

/// What a row is called among all rows of a report: `accuracy by category`, `match mode accuracy`.
pub(crate) fn name(row: &EstimateRow<'_>, several: bool) -> String {
    let of_score = [Some(row.scorer), row.field, row.reducer].into_iter().flatten().filter(|_| several);
    let keys = keys(row);
    let by = if keys.is_empty() { None } else { Some(format!("by {}", keys.join(" / "))) };
    let words = of_score.map(str::to_owned).chain([row.metric.to_owned()]).chain(by);
    words.collect::<Vec<_>>().join(" ")
}

fn row(
    label: String,
    estimate: Option<EstimateRow<'_>>,
    report: &Report,
    common: &CommonMethods,
) -> TableRow {
    let Some(estimate) = estimate else { return TableRow::without_scores(label) };
    let mut row = TableRow::of(&estimate, label);
    let few = notes::few(&estimate, false);
    row.shows_n = few.is_none();
    row.notes.extend(few);
    row.notes.extend(notes::methods(&estimate, notes::keys_of(&report.results, &estimate), common));
    row.notes.extend(report.partial_run.as_ref().map(|run| run.status.clone()));
    row.notes.extend(report.self_graded.as_ref().map(|_| "graded by itself".to_owned()));
    row
}
