//! Several scorers and reducers with the same metrics: one table in place of one for each.

use errorbar_core::{EstimateRow, Role, ScoreResult};

use crate::figure::{EstimateText, MOST_UNKNOWN};
use crate::notes::{self, CommonMethods};
use crate::rows::{RowBuilder, is_plain, take_shared};
use crate::table::{ColumnTitle, ReportTable, TableRow};
use crate::text::width;
use crate::title::{counts, title};
use crate::{Report, Sort};

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
    figures: Vec<MetricFigure>,
    /// The number of scores for each reason.
    reasons: Vec<String>,
}

/// The figure of a score in a column.
struct MetricFigure {
    column: MetricColumn,
    row: TableRow,
    is_estimate: bool,
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
            let mut figures: Vec<MetricFigure> = Vec::new();
            for estimate in builder.results.rows_of(*at).iter().filter(|row| is_plain(row)) {
                let column = MetricColumn::of(estimate);
                let mut row = builder.row(estimate, score, false);
                row.notes.retain(|note| !column.arguments.contains(note));
                // A cell has space for the start of a reason.
                let reason =
                    row.figure().filter(|figure| figure.value().is_none()).map(|figure| figure.short());
                row.notes.extend(reason.filter(|reason| width(reason) > MOST_UNKNOWN));
                if figures.iter().any(|known| known.column == column) {
                    // The same metric twice has two keys in logs, and no place in one cell.
                    return None;
                }
                if columns.contains(&column) {
                    is_shared = true;
                } else {
                    columns.push(column.clone());
                }
                figures.push(MetricFigure { column, row, is_estimate: notes::is_estimate(estimate) });
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
                [figure] if one.is_some() => figure.row.clone(),
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
        self.figures.iter().find(|figure| figure.column == *column)?.row.figure().cloned()
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
    let differs: Vec<bool> = (0..3)
        .map(|part| all.iter().any(|parts| parts.get(part) != all.first().and_then(|first| first.get(part))))
        .collect();
    let label = |parts: &[String; 3]| {
        let mut differing =
            parts.iter().zip(&differs).filter(|(_, differs)| **differs).map(|(part, _)| part.clone());
        // A score as a whole beside its fields has the name of its scorer.
        let first = differing.next().filter(|part| !part.is_empty()).unwrap_or_else(|| parts[0].clone());
        let rest: Vec<String> = differing.filter(|part| !part.is_empty()).collect();
        if rest.is_empty() { (None, first) } else { (Some(first), rest.join(" / ")) }
    };
    all.iter().map(label).collect()
}

/// The notes of all figures of a score, each once; one that is not of all estimates names its metric.
fn merged_notes(figures: &[MetricFigure]) -> Vec<String> {
    let estimates = figures.iter().filter(|figure| figure.is_estimate).count();
    let notes = notes::by_key(
        figures
            .iter()
            .flat_map(|figure| figure.row.all_notes().into_iter().map(|note| (note, figure.column.title()))),
    );
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
