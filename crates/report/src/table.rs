//! The tables of a report, built once for every format for people: rows under a title. Formats that draw no bars write the
//! same as texts, results and comparisons alike.
//!
//! Names are as they are; a terminal shows a table [cleaned](ReportTable::cleaned).

use std::cmp::Ordering;
use std::iter::once;

use errorbar_core::{Estimate, EstimateRow, Results, Role, Scope, ScoreResult, Undefined};

use crate::Report;
use crate::figure::{BarSpan, EstimateText, MOST_UNKNOWN};
use crate::notes::{self, CommonMethods, counts, title, unique};
use crate::text::{clean, width};

/// Rows under a title.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportTable {
    pub(crate) name: String,
    pub(crate) details: Vec<String>,
    /// The title of the column of labels; empty if the name describes the rows.
    pub(crate) label_title: &'static str,
    /// A column of figures for each of these metrics; empty if a row has one figure, whatever its metric is.
    pub(crate) columns: Vec<ColumnTitle>,
    pub(crate) rows: Vec<TableRow>,
}

/// The title of a column of figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnTitle {
    pub(crate) title: String,
    /// Whether the metric is an interval, which is shown even if there is no space for other intervals.
    pub(crate) is_interval: bool,
}

/// One row of a [`ReportTable`]. Without figures it is a heading: what the nested rows below it have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TableRow {
    pub(crate) nested: bool,
    pub(crate) label: String,
    pub(crate) figures: Vec<Option<EstimateText>>,
    /// Whether the metric could not be computed; its only note is the error.
    pub(crate) failed: bool,
    pub(crate) span: Option<BarSpan>,
    /// The number of scores: `36`, `34 of 36`.
    pub(crate) n: Option<String>,
    /// Whether the number of scores differs from that in the title of the table.
    pub(crate) shows_n: bool,
    pub(crate) notes: Vec<String>,
}

impl TableRow {
    /// The figure of an estimate, without notes.
    pub(crate) fn of(row: &EstimateRow<'_>, label: String) -> Self {
        let figure = EstimateText::from(row.estimate.as_ref());
        let (span, n) = (BarSpan::of(&figure, row.role), notes::n_text(&row.estimate));
        TableRow { label, figures: vec![Some(figure)], span, n, ..TableRow::default() }
    }

    /// A row without an estimate.
    pub(crate) fn without_scores(label: String) -> Self {
        let figures = vec![Some(EstimateText::from(&Estimate::undefined(Undefined::NoScores)))];
        TableRow { label, figures, ..TableRow::default() }
    }

    /// The figure of a row that has one.
    pub(crate) fn figure(&self) -> Option<&EstimateText> {
        self.figures.first()?.as_ref()
    }

    /// The notes, the number of scores among them.
    pub(crate) fn all_notes(&self) -> Vec<String> {
        let n = self.n.as_ref().filter(|_| self.shows_n).map(|n| format!("n {n}"));
        n.into_iter().chain(self.notes.iter().cloned()).collect()
    }
}

impl ReportTable {
    /// The table as a terminal may show it.
    pub(crate) fn cleaned(mut self) -> Self {
        let titles = self.columns.iter_mut().map(|column| &mut column.title);
        let rows = self.rows.iter_mut().flat_map(|row| once(&mut row.label).chain(&mut row.notes));
        for text in once(&mut self.name).chain(&mut self.details).chain(titles).chain(rows) {
            *text = clean(text);
        }
        self
    }

    /// The titles and the rows as texts, for formats that draw no bars; `indent` marks nested rows, and the last column has
    /// notes.
    pub(crate) fn texts(&self, common: &CommonMethods, indent: &str) -> TextTable {
        TextTable {
            name: self.name.clone(),
            details: self.details.clone(),
            titles: self.titles(common),
            rows: self.cells(indent),
            ..TextTable::default()
        }
    }

    fn titles(&self, common: &CommonMethods) -> Vec<String> {
        let mut titles = vec![self.label_title.to_owned()];
        if self.columns.is_empty() {
            titles.extend(["value".to_owned(), common.interval_title(), "n".to_owned()]);
        }
        titles.extend(self.columns.iter().map(|column| column.title.clone()));
        titles.push("notes".to_owned());
        titles
    }

    fn cells(&self, indent: &str) -> Vec<Vec<String>> {
        let figures = if self.columns.is_empty() { 3 } else { self.columns.len() };
        let cells = |row: &TableRow| {
            let label = if row.nested { format!("{indent}{}", row.label) } else { row.label.clone() };
            let mut cells = vec![label];
            match row.figure().filter(|_| self.columns.is_empty()) {
                Some(figure) => {
                    cells.extend([figure.short(), figure.interval_text(), row.n.clone().unwrap_or_default()]);
                }
                None if row.failed => cells.push("failed".to_owned()),
                None => {
                    let text = |figure: &Option<EstimateText>| figure.as_ref().map(EstimateText::to_string);
                    cells.extend(row.figures.iter().map(|figure| text(figure).unwrap_or_default()));
                }
            }
            cells.resize(1 + figures, String::new());
            cells.push(row.notes.join(" · "));
            cells
        };
        self.rows.iter().map(cells).collect()
    }
}

/// Texts in rows under titles; the first column has the labels of the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TextTable {
    pub(crate) name: String,
    pub(crate) details: Vec<String>,
    pub(crate) titles: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// What the cells mean.
    pub(crate) legend: Option<String>,
    /// Whether a narrow terminal does without the last column.
    pub(crate) drops_last: bool,
}

impl TextTable {
    /// Rows with a label each, whose column has no title.
    pub(crate) fn labelled(
        name: String,
        columns: impl IntoIterator<Item = String>,
        rows: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> Self {
        let row = |(label, cells): (String, Vec<String>)| std::iter::once(label).chain(cells).collect();
        TextTable {
            name,
            titles: std::iter::once(String::new()).chain(columns).collect(),
            rows: rows.into_iter().map(row).collect(),
            ..TextTable::default()
        }
    }
}

// The rows of a report: one for each estimate, with its notes.
//
// Which error and interval belong to which number is decided by core; here they are only put into words.

/// Builds rows from results.
pub(crate) struct RowBuilder<'a> {
    pub(crate) results: &'a Results,
    pub(crate) common: &'a CommonMethods,
    pub(crate) sort: Sort,
}

impl<'a> RowBuilder<'a> {
    /// The positions of scores with metrics: metrics by key alone have a plain score without any.
    pub(crate) fn positions(&self) -> Vec<usize> {
        let has_metrics = |score: &ScoreResult| !score.metrics.is_empty() || !score.failures.is_empty();
        let scores = self.results.scores.iter().enumerate();
        scores.filter(|(_, score)| has_metrics(score)).map(|(at, _)| at).collect()
    }

    /// The rows of one score; without the plain figures of its metrics if those are shown elsewhere. None if no rows are
    /// left then.
    pub(crate) fn table(&self, at: usize, has_plain: bool) -> Option<ReportTable> {
        let score = self.results.scores.get(at)?;
        let (name, mut details) = title(score);
        let rows = self.results.rows_of(at);
        let counted =
            rows.iter().find(|row| is_plain(row) && notes::is_estimate(row)).map(|row| row.position);
        let has_reasons = has_plain && counted.is_none();
        let mut shown: Vec<TableRow> = Vec::new();
        for of_metric in rows.chunk_by(|a, b| a.position == b.position) {
            match of_metric {
                [row] if is_plain(row) => {
                    let is_first = counted == Some(row.position);
                    shown.extend(has_plain.then(|| self.row(row, score, is_first)));
                }
                rows => shown.extend(self.section(rows, score, has_reasons)),
            }
        }
        if has_reasons {
            details.extend(self.reasons(score));
        }
        shown.extend(failures(score));
        let table = ReportTable { name, details, label_title: "metric", columns: Vec::new(), rows: shown };
        Some(table).filter(|table| has_plain || !table.rows.is_empty())
    }

    /// The row of a metric that gives one estimate over all samples.
    pub(crate) fn row(&self, row: &EstimateRow<'_>, score: &ScoreResult, is_first: bool) -> TableRow {
        let label = match row.field.filter(|field| score.field.as_deref() != Some(*field)) {
            Some(field) => format!("{} of {field}", row.metric),
            None => row.metric.to_owned(),
        };
        let mut shown = TableRow::of(row, label);
        let few = notes::few(row, true);
        // `only 6 scores` has the number already.
        shown.shows_n = few.is_none() && row.estimate.n != score.counts.scored as u64 && row.estimate.n > 0;
        shown.notes.extend(few);
        shown.notes.extend(notes::arguments(row));
        shown.notes.extend(self.remarks(row, true));
        shown.notes.extend(is_first.then(|| self.reasons(score)).into_iter().flatten());
        shown
    }

    /// What is to be known about a figure; without what another row has already, if it repeats that.
    fn remarks(&self, row: &EstimateRow<'_>, is_new: bool) -> Vec<String> {
        let mut remarks = notes::methods(row, notes::keys_of(self.results, row), self.common);
        remarks.extend(notes::fixed_error(&row.estimate).filter(|_| is_new && row.group.is_none()));
        remarks.extend(notes::bounds(&row.estimate).filter(|_| is_new));
        remarks.extend(notes::remarks(&row.estimate));
        remarks
    }

    /// The number of scores for each reason: `4 of 144: invalid_response_format`.
    pub(crate) fn reasons(&self, score: &ScoreResult) -> Vec<String> {
        let total = self.results.total_samples;
        let reasons = score.counts.reasons.iter().filter(|(_, count)| **count > 0);
        reasons.map(|(reason, count)| format!("{count} of {total}: {reason}")).collect()
    }

    /// The rows of a metric that gives several estimates: by group, key or position. `is_first`: no other
    /// row of the table is of all samples.
    fn section(&self, rows: &[EstimateRow<'_>], score: &ScoreResult, is_first: bool) -> Vec<TableRow> {
        let Some(first) = rows.first() else { return Vec::new() };
        let keys = rows.iter().map(keys).max_by_key(Vec::len).unwrap_or_default();
        let label = match keys.as_slice() {
            [] => first.metric.to_owned(),
            keys => format!("{} by {}", first.metric, keys.join(" / ")),
        };
        let nested = |row: &EstimateRow<'_>| {
            let shown = self.nested(row, score, is_first);
            let (name, value) = (shown.label.clone(), shown.figure().and_then(EstimateText::value));
            ((is_aggregate(row), name, value, row.estimate.n), shown)
        };
        let mut shown: Vec<(SortKey, TableRow)> = rows.iter().map(nested).collect();
        shown.sort_by(|(a, _), (b, _)| self.sort.compare(a, b));
        let mut notes = notes::arguments(first);
        let groups = shown.iter_mut().filter(|((is_aggregate, ..), _)| !is_aggregate).map(|(_, row)| row);
        notes.extend(take_common(groups.collect()));
        let heading = TableRow { label, notes, ..TableRow::default() };
        std::iter::once(heading).chain(shown.into_iter().map(|(_, row)| row)).collect()
    }

    fn nested(&self, row: &EstimateRow<'_>, score: &ScoreResult, is_first: bool) -> TableRow {
        let mut shown = TableRow { nested: true, ..TableRow::of(row, nested_label(row)) };
        // The metric over all samples has a row of its own above.
        let is_new = is_first || !is_aggregate(row) || row.is_mean_of_groups();
        let few = notes::few(row, is_new);
        let is_all = row.estimate.n == score.counts.scored as u64;
        shown.shows_n = few.is_none() && !(is_all && row.group.is_none());
        shown.notes.extend(few);
        shown.notes.extend(row.is_mean_of_groups().then(|| "mean of the groups".to_owned()));
        shown.notes.extend(self.remarks(row, is_new));
        shown
    }
}

/// Takes out of several groups what they have in common: the number of scores and notes.
fn take_common(mut groups: Vec<&mut TableRow>) -> Vec<String> {
    let [first, others @ ..] = groups.as_slice() else { return Vec::new() };
    let is_same = first.shows_n && others.iter().all(|row| row.shows_n && row.n == first.n);
    let n = first.n.clone().filter(|_| is_same && !others.is_empty()).map(|n| format!("n {n} each"));
    groups.iter_mut().for_each(|row| row.shows_n &= n.is_none());
    n.into_iter().chain(take_shared(groups.into_iter().map(|row| &mut row.notes).collect())).collect()
}

/// Takes out of the notes of several rows what all of them have.
pub(crate) fn take_shared(mut rows: Vec<&mut Vec<String>>) -> Vec<String> {
    let mut shared = rows.first().filter(|_| rows.len() > 1).map(|notes| notes.to_vec()).unwrap_or_default();
    shared.retain(|note| rows.iter().all(|notes| notes.contains(note)));
    rows.iter_mut().for_each(|notes| notes.retain(|note| !shared.contains(note)));
    shared
}

/// Whether a row is of a metric that gives one estimate over all samples.
pub(crate) fn is_plain(row: &EstimateRow<'_>) -> bool {
    row.group_key.is_none() && row.scopes.is_empty() && row.key.is_none() && row.index.is_none()
}

/// Whether a row stands for all groups.
fn is_aggregate(row: &EstimateRow<'_>) -> bool {
    row.group_key.is_some() && row.group.is_none()
}

/// The metadata keys of the groups of a row, the outermost first.
pub(crate) fn keys(row: &EstimateRow<'_>) -> Vec<String> {
    let key = |scope: &Scope<'_>| match scope {
        Scope::Group(key, _) | Scope::MeanOfGroups(key) => Some((*key).to_owned()),
        _ => None,
    };
    let mut keys: Vec<String> = row.scopes.iter().filter_map(key).collect();
    // An aggregate over all samples has no separate scope.
    if let Some(own) = row.group_key
        && row.group.is_none()
        && !matches!(row.scopes.last(), Some(Scope::MeanOfGroups(key)) if *key == own)
    {
        keys.push(own.to_owned());
    }
    keys
}

/// The groups of a row, the outermost first; none for those that stand for all.
pub(crate) fn groups<'a>(row: &EstimateRow<'a>) -> Vec<&'a str> {
    let group = |scope: &Scope<'a>| match scope {
        Scope::Group(_, name) => Some(*name),
        _ => None,
    };
    row.scopes.iter().filter_map(group).collect()
}

/// What a row is called below its heading.
fn nested_label(row: &EstimateRow<'_>) -> String {
    let mut path = groups(row);
    if row.group.is_some() {
        path.pop();
    }
    path.extend(row.label.or(row.group));
    let path = path.join(" / ");
    let part = row.key.map(str::to_owned).or_else(|| row.index.map(|index| index.to_string()));
    match part {
        Some(part) if path.is_empty() => part,
        Some(part) => format!("{path}: {part}"),
        None => path,
    }
}

fn failures(score: &ScoreResult) -> impl Iterator<Item = TableRow> {
    score.failures.iter().map(|failure| {
        let message = failure.error.to_string();
        let own = format!("{}: ", failure.metric);
        let notes = vec![message.strip_prefix(&own).unwrap_or(&message).to_owned()];
        TableRow { label: failure.metric.clone(), failed: true, notes, ..TableRow::default() }
    })
}

/// The order of groups and shares below their heading. The aggregate of groups stays the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// As they come: the order of first appearance.
    #[default]
    None,
    /// The highest value first, undefined ones last.
    Value,
    /// By name; numbers by their size, before other names.
    Name,
    /// The largest number of scores first.
    N,
}

impl Sort {
    fn compare(self, a: &SortKey, b: &SortKey) -> Ordering {
        let ((a_is_aggregate, a_name, a_value, a_n), (b_is_aggregate, b_name, b_value, b_n)) = (a, b);
        // Unsorted aggregates stay where they belong.
        let order = match self {
            Sort::None => return Ordering::Equal,
            Sort::Value => match (a_value, b_value) {
                (Some(a), Some(b)) => b.total_cmp(a),
                (a, b) => b.is_some().cmp(&a.is_some()),
            },
            Sort::Name => match (number(a_name), number(b_name)) {
                (Some(first), Some(second)) => first.total_cmp(&second).then_with(|| a_name.cmp(b_name)),
                (None, None) => a_name.cmp(b_name),
                (first, second) => second.is_some().cmp(&first.is_some()),
            },
            Sort::N => b_n.cmp(a_n),
        };
        a_is_aggregate.cmp(b_is_aggregate).then(order)
    }
}

/// What rows are sorted by: whether it is an aggregate, name, value, n.
type SortKey = (bool, String, Option<f64>, u64);

fn number(name: &str) -> Option<f64> {
    name.parse::<f64>().ok().filter(|number| number.is_finite())
}

// Several scorers and reducers with the same metrics: one table in place of one for each.

/// The tables of a report, and what their figures have in common. Scores that share metrics come first, in one table; then
/// their other figures.
pub(crate) fn tables(report: &Report, sort: Sort) -> (CommonMethods, Vec<ReportTable>) {
    let common = CommonMethods::of(&report.results);
    let builder = RowBuilder { results: &report.results, common: &common, sort };
    let positions = builder.positions();
    let shared = SharedMetrics::of(&builder, &positions).map(SharedMetrics::table);
    let each = positions.iter().filter_map(|at| builder.table(*at, shared.is_none()));
    let each: Vec<ReportTable> = each.collect();
    let tables = shared.into_iter().chain(each).collect();
    (common, tables)
}

/// A score and its plain figures.
struct ScoreFigures<'a> {
    score: &'a ScoreResult,
    /// Each with its column, and whether it is an estimate.
    figures: Vec<(MetricColumn, TableRow, bool)>,
    reasons: Vec<String>,
}

/// Which metric a figure is of.
#[derive(Debug, Clone, PartialEq)]
struct MetricColumn {
    spec: String,
    metric: String,
    arguments: Vec<String>,
    is_interval: bool,
}

impl MetricColumn {
    fn of(row: &EstimateRow<'_>) -> Self {
        let (spec, metric) = (row.result.spec.to_string(), row.metric.to_owned());
        let is_interval = row.role == Role::IntervalOf;
        MetricColumn { spec, metric, arguments: notes::arguments(row), is_interval }
    }

    fn title(&self) -> String {
        let MetricColumn { metric, arguments, .. } = self;
        if arguments.is_empty() { metric.clone() } else { format!("{metric} {}", arguments.join(" ")) }
    }
}

/// The scores and the metrics that they share.
struct SharedMetrics<'a> {
    scores: Vec<ScoreFigures<'a>>,
    columns: Vec<MetricColumn>,
}

impl<'a> SharedMetrics<'a> {
    /// The scores, if they have a metric in common.
    fn of(builder: &RowBuilder<'a>, positions: &[usize]) -> Option<Self> {
        let mut scores = Vec::new();
        let mut columns: Vec<MetricColumn> = Vec::new();
        let mut is_shared = false;
        for at in positions {
            let score = builder.results.scores.get(*at)?;
            let mut figures: Vec<(MetricColumn, TableRow, bool)> = Vec::new();
            for estimate in builder.results.rows_of(*at).iter().filter(|row| is_plain(row)) {
                let column = MetricColumn::of(estimate);
                let mut row = builder.row(estimate, score, false);
                row.notes.retain(|note| !column.arguments.contains(note));
                // A cell has space for the start of a reason.
                let reason =
                    row.figure().filter(|figure| figure.value().is_none()).map(|figure| figure.short());
                row.notes.extend(reason.filter(|reason| width(reason) > MOST_UNKNOWN));
                if figures.iter().any(|(known, ..)| *known == column) {
                    // The same metric twice has two keys in logs, and no place in one cell.
                    return None;
                }
                if columns.contains(&column) {
                    is_shared = true;
                } else {
                    columns.push(column.clone());
                }
                figures.push((column, row, notes::is_estimate(estimate)));
            }
            if !figures.is_empty() {
                scores.push(ScoreFigures { score, figures, reasons: builder.reasons(score) });
            }
        }
        is_shared.then(|| SharedMetrics { scores: by_heading(scores), columns })
    }

    fn table(self) -> ReportTable {
        let counts = scored_counts(&self.scores);
        let common = notes::most_frequent(&counts).unwrap_or_default();
        let one = if let [column] = self.columns.as_slice() { Some(column.title()) } else { None };
        let mut rows: Vec<TableRow> = Vec::new();
        let mut above: Option<String> = None;
        let scores = self.scores.iter().zip(counts);
        for ((scored, counts), (heading, label)) in scores.zip(labels(&self.scores)) {
            let nested = heading.is_some();
            if nested && heading != above {
                rows.push(TableRow { label: heading.clone().unwrap_or_default(), ..TableRow::default() });
            }
            above = heading;
            let mut row = match scored.figures.as_slice() {
                [(_, row, _)] if one.is_some() => row.clone(),
                figures => TableRow {
                    figures: self.columns.iter().map(|column| scored.figure(column)).collect(),
                    notes: merged_notes(figures),
                    ..TableRow::default()
                },
            };
            (row.nested, row.label) = (nested, label);
            row.notes.extend(scored.reasons.iter().cloned());
            row.notes.extend(counts.into_iter().filter(|count| !common.contains(count)));
            rows.push(row);
        }
        let with_figures = rows.iter_mut().filter(|row| !row.figures.is_empty());
        let shared = take_shared(with_figures.map(|row| &mut row.notes).collect());
        let details = common.into_iter().chain(shared).collect();
        let columns = if one.is_some() { Vec::new() } else { titles(&self.columns) };
        ReportTable { name: self.name(one), details, label_title: "", columns, rows }
    }

    /// What all scores have in common: the scorer if it is one, and the metric if it is one; else the scorers.
    fn name(&self, metric: Option<String>) -> String {
        let mut scorers: Vec<&str> = self.scores.iter().map(|scored| scored.score.scorer.as_str()).collect();
        scorers.dedup();
        let scorer = match (self.scores.first(), scorers.as_slice()) {
            (Some(first), [scorer]) => {
                let is_one_field = self.scores.iter().all(|scored| scored.score.field == first.score.field);
                Some(if is_one_field { title(first.score).0 } else { (*scorer).to_owned() })
            }
            _ if metric.is_none() => Some(scorers.join(", ")),
            _ => None,
        };
        scorer.into_iter().chain(metric).collect::<Vec<_>>().join(": ")
    }
}

impl ScoreFigures<'_> {
    fn figure(&self, column: &MetricColumn) -> Option<EstimateText> {
        self.figures.iter().find(|(known, ..)| known == column)?.1.figure().cloned()
    }
}

/// The scores, those of one scorer and within them those of one field next to each other: they are below one heading.
fn by_heading(mut scores: Vec<ScoreFigures<'_>>) -> Vec<ScoreFigures<'_>> {
    let all: Vec<&ScoreResult> = scores.iter().map(|scored| scored.score).collect();
    scores.sort_by_key(|ScoreFigures { score, .. }| {
        let is_of_scorer = |other: &&ScoreResult| other.scorer == score.scorer;
        let is_of_field = |other: &&ScoreResult| is_of_scorer(other) && other.field == score.field;
        (all.iter().position(is_of_scorer), all.iter().position(is_of_field))
    });
    scores
}

/// The titles of columns; metrics with the same title are named in full.
fn titles(columns: &[MetricColumn]) -> Vec<ColumnTitle> {
    let is_unique = |title: &str| columns.iter().filter(|other| other.title() == title).count() == 1;
    let titled = columns.iter().map(|column| ColumnTitle {
        title: Some(column.title()).filter(|title| is_unique(title)).unwrap_or_else(|| column.spec.clone()),
        is_interval: column.is_interval,
    });
    titled.collect()
}

/// The counts of each score. Those of most scores are in the title, and a row has only those that differ. With them is the
/// reducer, if all scores have the same one: labels name only what differs.
fn scored_counts(scores: &[ScoreFigures<'_>]) -> Vec<Vec<String>> {
    let reduction = |scored: &ScoreFigures<'_>| (scored.score.reducer.clone(), scored.score.unreduced);
    let is_one = scores.iter().all(|scored| Some(reduction(scored)) == scores.first().map(reduction));
    // A scorer with one epoch beside one with several has to say so.
    let has_epochs = scores.iter().any(|scored| scored.score.counts.epochs > 1);
    let counts = |scored: &ScoreFigures<'_>| {
        let counts = if is_one { title(scored.score).1 } else { counts(scored.score) };
        let one = (has_epochs && scored.score.counts.epochs == 1).then(|| "1 epoch".to_owned());
        one.into_iter().chain(counts).collect()
    };
    scores.iter().map(counts).collect()
}

/// For each score what it is called, of those parts that differ; if two differ, the first is the heading above it.
fn labels(scores: &[ScoreFigures<'_>]) -> Vec<(Option<String>, String)> {
    let parts = |scored: &ScoreFigures<'_>| -> [String; 3] {
        let score = scored.score;
        let reducer = match &score.reducer {
            Some(reducer) => reducer.clone(),
            None if score.unreduced => "each epoch".to_owned(),
            None => "mean".to_owned(),
        };
        [score.scorer.clone(), score.field.clone().unwrap_or_default(), reducer]
    };
    let all: Vec<[String; 3]> = scores.iter().map(parts).collect();
    let differs = |part: &usize| unique(all.iter().map(|parts| parts.get(*part))).len() > 1;
    let differing: Vec<usize> = (0..3).filter(differs).collect();
    let label = |parts: &[String; 3]| {
        let mut differing = differing.iter().filter_map(|part| parts.get(*part).cloned());
        let first = differing.next().filter(|part| !part.is_empty()).unwrap_or_else(|| parts[0].clone());
        let rest: Vec<String> = differing.filter(|part| !part.is_empty()).collect();
        if rest.is_empty() { (None, first) } else { (Some(first), rest.join(" / ")) }
    };
    all.iter().map(label).collect()
}

/// The notes of all figures of a score, each once; one that is not of all estimates names its metric.
fn merged_notes(figures: &[(MetricColumn, TableRow, bool)]) -> Vec<String> {
    let estimates = figures.iter().filter(|(.., is_estimate)| *is_estimate).count();
    let of_figure = |(column, row, _): &(MetricColumn, TableRow, bool)| {
        let title = column.title();
        row.all_notes().into_iter().map(move |note| (note, title.clone()))
    };
    let notes = notes::by_key(figures.iter().flat_map(of_figure));
    let (shared, others): (Vec<_>, Vec<_>) =
        notes.into_iter().partition(|(_, columns)| columns.len() >= estimates);
    let mut texts: Vec<String> = shared.into_iter().map(|(note, _)| note).collect();
    for of_columns in others.chunk_by(|(_, a), (_, b)| a == b) {
        let notes: Vec<&str> = of_columns.iter().map(|(note, _)| note.as_str()).collect();
        let columns = of_columns.first().map(|(_, columns)| columns.join(", ")).unwrap_or_default();
        texts.push(format!("{columns}: {}", notes.join(", ")));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order() {
        let key = |name: &str, value, n| (false, name.to_owned(), value, n);
        let all =
            [key("10", Some(0.5), 3), key("b", None, 0), key("2", Some(0.9), 40), key("a", Some(-1.0), 7)];
        let names = |sort: Sort| {
            let mut sorted = all.to_vec();
            sorted.sort_by(|a, b| sort.compare(a, b));
            sorted.iter().map(|(_, name, ..)| name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(Sort::None), ["10", "b", "2", "a"]);
        assert_eq!(names(Sort::Value), ["2", "10", "a", "b"]);
        assert_eq!(names(Sort::Name), ["2", "10", "a", "b"]);
        assert_eq!(names(Sort::N), ["2", "a", "10", "b"]);
    }
}
