//! What is shown in several formats besides scores and comparisons: runs side by side, an evaluation set, plans.

use errorbar_analysis::{PlannedGoal, PlannedRow, Plans, short};
use errorbar_core::{EstimateRow, NoHeadline};
use errorbar_inference::{PowerDesign, PowerMethod};

use crate::figure::EstimateText;
use crate::markup::{captioned, escape_markdown, headed, listed_with_notes, pipe_table, titled};
use crate::notes::{self, CommonMethods, common};
use crate::table::{ReportTable, TableRow, TextTable, keys};
use crate::terminal::{INDENT, LegendContent, TerminalTable};
use crate::text::{clean, hanging, joined, wrap};
use crate::{Listing, ListingCell, Render, Report};

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
            let lines = hanging(&clean(&left_out), table.width.saturating_sub(2 * INDENT), INDENT);
            text += &table.below(INDENT, lines);
        }
        text + &table.legend(signs, &self.common)
    }

    /// As a table in Markdown, with its legend.
    pub fn to_markdown(&self) -> String {
        let listing = self.to_listing();
        let table = pipe_table(listing.titles(), &listing.texts());
        let mut text = format!("**{}**, side by side\n\n{table}", escape_markdown(&self.task));
        for below in self.also().into_iter().chain(self.common.legend()) {
            text += &format!("\n{}\n", escape_markdown(&below));
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
        joined(&self.left_out, ", ").map(|left_out| format!("also computed: {left_out}"))
    }
}

/// What a row is called among all rows of a report: `accuracy by category`, `match mode accuracy`.
pub(crate) fn name(row: &EstimateRow<'_>, several: bool) -> String {
    let of_score = [Some(row.scorer), row.field, row.reducer].into_iter().flatten().filter(|_| several);
    let by = joined(keys(row), " / ").map(|keys| format!("by {keys}"));
    let words = of_score.map(str::to_owned).chain([row.metric.to_owned()]).chain(by);
    joined(words, " ").unwrap_or_default()
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

// The runs of several tasks: a row for each task, a column for each model.

/// What a figure means that an earlier run has computed.
const EARLIER: &str = "* complete before, and not run again";

/// The headlines of the runs of several tasks: a row for each task, a column for each model.
///
/// ```
/// use errorbar_core::{NoHeadline, Estimate, MetricResult, MetricValue, Results, Role, ScoreResult, Spec};
/// use errorbar_report::{EvaluationSet, Report, TerminalTable};
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
/// assert_eq!(set.to_table(&TerminalTable::default()), "\
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
        let metric = row.as_ref().ok().map(|row| name(row, several));
        let none =
            row.as_ref().err().and_then(NoHeadline::in_words).unwrap_or_else(|| "no scores".to_owned());
        let (mut cell, mut has_error) = (none, false);
        if let Ok(row) = &row {
            let figure = EstimateText::from(row.estimate.as_ref()).short();
            has_error = figure.contains('±');
            let n = notes::n_text(&row.estimate).map(|n| format!("n {n}"));
            let status = report.partial_run.as_ref().map(|run| run.status.clone());
            let about = joined(n.into_iter().chain(status), ", ").map(|about| format!(" ({about})"));
            cell = figure + &about.unwrap_or_default();
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

    /// As a terminal shows it.
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
        let legend = joined(errors.into_iter().chain(earlier), "; ");
        let table = TextTable::labelled("all runs".to_owned(), models.clone(), tasks.iter().map(row));
        TextTable { details: if is_one { metrics } else { Vec::new() }, legend, ..table }
    }
}

// Plans as a table for people, and as data.

/// Plans in all formats.
#[derive(Clone, Copy, Debug)]
pub struct PlansView<'a>(pub &'a Plans);

impl PlansView<'_> {
    /// The method of the test, or of the interval.
    fn method(self) -> PowerMethod {
        let Plans { goal, design, .. } = self.0;
        if goal.is_width() { design.plan.interval_method() } else { design.plan.test_method() }
    }

    /// As JSON: one plan is one object, several are an array.
    pub fn to_json(self) -> String {
        match self.data().to_json() {
            serde_json::Value::Array(rows) if rows.len() == 1 => {
                rows.iter().map(|row| format!("{row:#}\n")).collect()
            }
            list => format!("{list:#}\n"),
        }
    }

    /// As a terminal shows it, in lines of this width.
    pub fn to_text(self, table: &TerminalTable, width: usize) -> String {
        let lines = |text: &String| -> String {
            wrap(&clean(text), width).into_iter().map(|line| line + "\n").collect()
        };
        self.heading().iter().map(lines).collect::<String>() + &table.listing_text(&self.listing())
    }

    /// What is planned, and where variances are from: lines for above the table.
    pub fn heading(self) -> Vec<String> {
        let Plans { goal, design, rows, .. } = self.0;
        let (plan, method) = (&design.plan, self.method());
        let what = match plan.design {
            PowerDesign::Mean(_) | PowerDesign::Share(_) if design.models == 1 => "one model",
            PowerDesign::TwoMeans(_) | PowerDesign::TwoShares(_) => "two models, unpaired",
            _ => "two models, paired",
        };
        let method = match (method, goal.is_width()) {
            (PowerMethod::T, true) => "t interval",
            (PowerMethod::T, false) => "t test",
            (PowerMethod::Normal, true) => "normal interval",
            (PowerMethod::Normal, false) => "normal test",
            (PowerMethod::McNemarMid, _) => "McNemar's test (mid-p)",
            (PowerMethod::McNemarExact, _) => "McNemar's exact test",
            (PowerMethod::Score, _) => "score test of two shares",
            (PowerMethod::Wilson, _) => "Wilson interval",
            (PowerMethod::BonettPrice, _) => "Bonett–Price interval",
            (PowerMethod::Newcombe, _) => "Newcombe interval",
            (other, _) => other.name(),
        };
        let mut parts = vec![what.to_owned(), method.to_owned()];
        parts.push(match goal.is_width() {
            true => format!("level {}", short(1.0 - plan.alpha, 6)),
            false => format!("alpha {}", short(plan.alpha, 6)),
        });
        match plan.design {
            PowerDesign::Share(share) | PowerDesign::TwoShares(share) => {
                parts.push(format!("share {}", short(share, 4)))
            }
            _ => {
                if let Some(sd) = common(rows.iter().map(|row| short(row.sd, 4))) {
                    parts.push(format!("sd {sd}"));
                }
                let flips = rows.iter().filter_map(|row| row.flips);
                if let Some(flips) =
                    common(flips.map(|(p10, p01)| format!("p10 {}, p01 {}", short(p10, 4), short(p01, 4))))
                {
                    parts.push(flips);
                }
            }
        }
        // Where it is from clusters, the line above has it.
        if plan.design_effect != 1.0 && !design.has_clusters {
            parts.push(format!("design effect {}", short(plan.design_effect, 4)));
        }
        design.source.iter().cloned().chain([parts.join(" · ")]).collect()
    }

    /// The table for people: what is the same in all rows is in the heading.
    pub fn listing(self) -> Listing {
        let Plans { goal, rows, .. } = self.0;
        let has_epochs = rows.iter().any(|row| row.epochs != 1);
        let has_cost = rows.iter().any(|row| row.cost.is_some());
        let varies =
            |column: &str| common(rows.iter().map(|row| self.cell(column, row).text().to_owned())).is_none();
        let has_flips = varies("p10") || varies("p01");
        let has_notes = rows.iter().any(|row| row.is_cheapest || row.reason.is_some());
        let columns = [
            ("samples", true),
            ("epochs", has_epochs),
            ("calls", has_epochs || has_cost),
            ("cost", has_cost),
            ("difference", !goal.is_width()),
            ("width", true),
            ("power", !goal.is_width()),
            ("sd", has_epochs || varies("sd")),
            ("p10", has_flips),
            ("p01", has_flips),
            ("note", has_notes),
        ];
        self.listed(columns.into_iter().filter(|(_, is_shown)| *is_shown).map(|(title, _)| title))
    }

    /// A row per plan, for programs.
    pub fn data(self) -> Listing {
        const COLUMNS: &str = "samples epochs difference width power alpha sd method design design_effect p10 p01 \
                               calls cost cheapest reason";
        self.listed(COLUMNS.split_whitespace())
    }

    fn listed<'t>(self, titles: impl IntoIterator<Item = &'t str>) -> Listing {
        let titles: Vec<&str> = titles.into_iter().collect();
        let mut listing = Listing::new(titles.iter().copied());
        self.0.rows.iter().for_each(|row| listing.push(titles.iter().map(|title| self.cell(title, row))));
        listing
    }

    /// The cell of a plan in the column of this title.
    fn cell(self, title: &str, row: &PlannedRow) -> ListingCell {
        let Plans { goal, design, rows, .. } = self.0;
        let figure = |number: Option<f64>| -> ListingCell {
            number.map(|number| ListingCell::new(short(number, 4), number.into())).into()
        };
        match title {
            "samples" => row.samples.into(),
            "epochs" => u64::from(row.epochs).into(),
            "calls" => row.calls.into(),
            "cost" => figure(row.cost),
            "difference" => figure(row.difference),
            "width" => figure(row.width),
            "power" => row.power.map(|power| ListingCell::new(power_text(power, *goal), power.into())).into(),
            "alpha" => design.plan.alpha.into(),
            "sd" => figure(Some(row.sd)),
            "method" => self.method().name().into(),
            "design" => match design.plan.design {
                PowerDesign::TwoMeans(_) | PowerDesign::TwoShares(_) => "unpaired",
                _ if design.models == 1 => "one",
                _ => "paired",
            }
            .into(),
            "design_effect" => row.design_effect.into(),
            "p10" => figure(row.flips.map(|(p10, _)| p10)),
            "p01" => figure(row.flips.map(|(_, p01)| p01)),
            "cheapest" => ListingCell::new(row.is_cheapest.to_string(), row.is_cheapest.into()),
            "reason" => row.reason.clone().into(),
            "note" => match (&row.reason, row.is_cheapest) {
                (Some(reason), _) => reason.as_str().into(),
                (None, true) if rows.iter().any(|row| row.cost.is_some()) => "lowest cost".into(),
                (None, true) => "fewest calls".into(),
                (None, false) => ListingCell::default(),
            },
            _ => ListingCell::default(),
        }
    }
}

/// A wanted power as it was given; a computed one with three decimals, and one that is not 1 does not look like it.
fn power_text(power: f64, goal: PlannedGoal) -> String {
    match goal {
        PlannedGoal::Power if (0.9995..1.0).contains(&power) => "> 0.999".to_owned(),
        PlannedGoal::Power => format!("{power:.3}"),
        _ => short(power, 6),
    }
}
