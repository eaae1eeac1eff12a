//! The models that did one task, side by side.

use errorbar_core::EstimateRow;

use crate::bar::BarSpan;
use crate::cells::interval;
use crate::figure::EstimateText;
use crate::headline::headline;
use crate::latex::{headed, listed};
use crate::layout::INDENT;
use crate::markdown::{escape, table};
use crate::notes::{self, CommonMethods};
use crate::rows::{DisplayRow, EstimateLine, ScoreBlock, keys};
use crate::table::{LegendContent, TerminalTable};
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
    line: EstimateLine,
    tokens: Option<u64>,
}

impl SideBySide {
    /// The tasks that several of the reports are about. `tokens` has what each of them took, where that is known.
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
        let headlines: Vec<Option<EstimateRow<'_>>> =
            reports.iter().map(|(report, _)| headline(&report.results)).collect();
        // Only what is shown here: other rows of the reports may have other errors.
        let shown = headlines.iter().zip(reports);
        let shown = shown.filter_map(|(row, (report, _))| row.as_ref().map(|row| (row, &report.results)));
        let common = CommonMethods::of_rows(shown.map(|(row, results)| (row, notes::keys_of(results, row))));
        let (mut models, mut metrics, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for ((report, tokens), shown) in reports.iter().zip(headlines) {
            let several = report.results.scores.len() > 1;
            let metric = shown.as_ref().map(|row| name(row, several)).unwrap_or_default();
            add(&mut metrics, metric.clone());
            report.results.rows().iter().for_each(|row| add(&mut others, name(row, several)));
            let label = report.model.clone().unwrap_or_default();
            models.push(ModelHeadline { metric, line: line(label, shown, report, &common), tokens: *tokens });
        }
        others.retain(|name| !metrics.contains(name));
        SideBySide { task: task.to_owned(), metrics, models, left_out: others, common }
    }

    /// For a terminal of 100 columns, without colour.
    pub fn to_text(&self) -> String {
        self.to_table(&TerminalTable::default())
    }

    /// For a terminal, as wide and in the colours that a table is.
    pub fn to_table(&self, table: &TerminalTable) -> String {
        let is_one = self.metrics.len() == 1;
        let row = |model: &ModelHeadline| {
            let mut line = model.line.clone();
            line.notes.extend(model.tokens.map(|tokens| format!("{tokens} tokens")));
            line.notes.extend((!is_one).then(|| model.metric.clone()));
            DisplayRow::Estimate(line)
        };
        let name = format!("{}, side by side", self.task);
        let details = if is_one { self.metrics.clone() } else { Vec::new() };
        let block = ScoreBlock { name, details, column: "", rows: self.models.iter().map(row).collect() };
        let mut signs = LegendContent::default();
        let mut text = table.block(block.cleaned(), &mut signs);
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
        let rows: Vec<Vec<String>> = listing
            .rows()
            .iter()
            .map(|row| row.iter().map(|cell| cell.text().to_owned()).collect())
            .collect();
        let mut text =
            format!("**{}**, side by side\n\n{}", escape(&self.task), table(listing.titles(), &rows));
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
        headed(&about, self.common.legend(), &listed(&self.to_listing()))
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
        for ModelHeadline { metric, line, tokens } in &self.models {
            let mut cells = vec![
                ListingCell::from(line.label.as_str()),
                ListingCell::from(line.figure.short()),
                ListingCell::from(interval(&line.figure)),
                ListingCell::from(line.n.clone()),
            ];
            cells.extend(has_tokens.then(|| ListingCell::from(*tokens)));
            let notes = line.notes.iter().cloned().chain((!is_one).then(|| metric.clone()));
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

fn add(names: &mut Vec<String>, name: String) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// What a row is called among all rows of a report: `accuracy by category`, `match mode accuracy`.
fn name(row: &EstimateRow<'_>, several: bool) -> String {
    let of_score = [Some(row.scorer), row.field, row.reducer].into_iter().flatten().filter(|_| several);
    let keys = keys(row);
    let by = if keys.is_empty() { None } else { Some(format!("by {}", keys.join(" / "))) };
    let words = of_score.map(str::to_owned).chain([row.metric.to_owned()]).chain(by);
    words.collect::<Vec<_>>().join(" ")
}

fn line(
    label: String,
    row: Option<EstimateRow<'_>>,
    report: &Report,
    common: &CommonMethods,
) -> EstimateLine {
    let Some(row) = row else {
        let figure = EstimateText::undefined(&errorbar_core::Undefined::NoScores);
        return EstimateLine {
            nested: false,
            label,
            figure,
            span: None,
            n: None,
            shows_n: false,
            notes: Vec::new(),
        };
    };
    let figure = EstimateText::from(row.estimate.as_ref());
    let few = notes::few(&row, false);
    let mut all: Vec<String> = few.iter().cloned().collect();
    all.extend(notes::methods(&row, notes::keys_of(&report.results, &row), common));
    all.extend(report.partial_run.as_ref().map(|partial_run| partial_run.status.clone()));
    all.extend(report.self_graded.as_ref().map(|_| "graded by itself".to_owned()));
    let span = BarSpan::of(&figure, row.role);
    let n = notes::n_text(&row.estimate);
    EstimateLine { nested: false, label, figure, span, n, shows_n: few.is_none(), notes: all }
}
