//! Several scorers and reducers with the same metrics: one table in place of a block for each.

use errorbar_core::{EstimateRow, Role, ScoreResult};

use crate::figure::EstimateText;
use crate::notes;
use crate::rows::{DisplayRow, EstimateLine, RowBuilder, ScoreBlock, is_plain};
use crate::text::{clean, width};
use crate::title::{counts, title};

/// The most that a reason for an unknown figure widens its column.
pub(crate) const MOST_UNKNOWN: usize = 17;

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReportPart {
    Block(ScoreBlock),
    Matrix(Matrix),
}

/// A row for each scorer, reducer and field, a column for each metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) name: String,
    pub(crate) details: Vec<String>,
    pub(crate) titles: Vec<String>,
    /// For each column whether its metric is an interval, which is shown whether or not there is room for others.
    pub(crate) intervals: Vec<bool>,
    pub(crate) rows: Vec<MatrixRow>,
}

/// A scorer under a reducer; without cells, what the rows below it have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatrixRow {
    pub(crate) nested: bool,
    pub(crate) label: String,
    pub(crate) cells: Vec<Option<EstimateText>>,
    pub(crate) notes: Vec<String>,
}

impl Matrix {
    /// The matrix as a terminal may show it.
    pub(crate) fn cleaned(self) -> Self {
        let all = |texts: Vec<String>| texts.iter().map(|text| clean(text)).collect::<Vec<String>>();
        let row = |row: MatrixRow| MatrixRow { label: clean(&row.label), notes: all(row.notes), ..row };
        Matrix {
            name: clean(&self.name),
            details: all(self.details),
            titles: all(self.titles),
            intervals: self.intervals,
            rows: self.rows.into_iter().map(row).collect(),
        }
    }
}

/// Everything of a report. Scores that share metrics come first, in one table; then what they have besides.
pub(crate) fn parts(context: &RowBuilder<'_>) -> Vec<ReportPart> {
    let positions = context.positions();
    match SharedMetrics::of(context, &positions) {
        Some(shared) => {
            let rest = positions.iter().filter_map(|at| context.rest(*at)).map(ReportPart::Block);
            std::iter::once(shared.part()).chain(rest).collect()
        }
        None => positions.iter().filter_map(|at| context.block(*at)).map(ReportPart::Block).collect(),
    }
}

/// A score and its plain figures.
struct ScoreFigures<'a> {
    score: &'a ScoreResult,
    lines: Vec<(MetricColumn, EstimateLine, bool)>,
    /// Scores that have a reason, counted.
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
    fn of(context: &RowBuilder<'a>, positions: &[usize]) -> Option<Self> {
        if positions.len() < 2 {
            return None;
        }
        let mut scores = Vec::new();
        let mut columns: Vec<MetricColumn> = Vec::new();
        let mut is_shared = false;
        for at in positions {
            let score = context.results.scores.get(*at)?;
            let mut lines: Vec<(MetricColumn, EstimateLine, bool)> = Vec::new();
            for row in context.results.rows_of(*at).iter().filter(|row| is_plain(row)) {
                let column = MetricColumn::of(row);
                let is_estimate = notes::is_estimate(row);
                let mut line = context.line(row, score, false);
                line.notes.retain(|note| !column.arguments.contains(note));
                // A cell has room for the start of a reason.
                let reason = line.figure.value().is_none().then(|| line.figure.short());
                line.notes.extend(reason.filter(|reason| width(reason) > MOST_UNKNOWN));
                if lines.iter().any(|(known, ..)| *known == column) {
                    // The same metric twice has two keys in logs, and no place in one cell.
                    return None;
                }
                if columns.contains(&column) {
                    is_shared = true;
                } else {
                    columns.push(column.clone());
                }
                lines.push((column, line, is_estimate));
            }
            if !lines.is_empty() {
                scores.push(ScoreFigures { score, lines, reasons: context.reasons(score) });
            }
        }
        is_shared.then(|| SharedMetrics { scores: by_heading(scores), columns })
    }

    fn part(self) -> ReportPart {
        let labels = labels(&self.scores);
        let common = common_counts(&self.scores);
        let own = |scored: &ScoreFigures<'_>| -> Vec<String> {
            let counts = counts(scored.score).into_iter().filter(|count| !common.contains(count));
            scored.reasons.iter().cloned().chain(counts).collect()
        };
        let headings = |nested: bool, at: usize| -> Option<String> {
            let (heading, _) = labels.get(at).filter(|_| nested)?;
            let before = at.checked_sub(1).and_then(|before| labels.get(before));
            heading.clone().filter(|heading| before.and_then(|(before, _)| before.as_ref()) != Some(heading))
        };
        let name = self.name();
        if let [column] = self.columns.as_slice() {
            let mut rows = Vec::new();
            for (at, (scored, (heading, label))) in self.scores.iter().zip(&labels).enumerate() {
                let nested = heading.is_some();
                rows.extend(
                    headings(nested, at).map(|label| DisplayRow::Heading { label, notes: Vec::new() }),
                );
                let Some((_, line, _)) = scored.lines.first() else { continue };
                let notes = line.notes.iter().cloned().chain(own(scored)).collect();
                rows.push(DisplayRow::Estimate(EstimateLine {
                    nested,
                    label: label.clone(),
                    notes,
                    ..line.clone()
                }));
            }
            let name = [name, Some(column.title())].into_iter().flatten().collect::<Vec<_>>().join(": ");
            let lines = rows.iter_mut().filter_map(|row| match row {
                DisplayRow::Estimate(line) => Some(&mut line.notes),
                _ => None,
            });
            let details = common.iter().cloned().chain(take_shared(lines.collect())).collect();
            return ReportPart::Block(ScoreBlock { name, details, column: "", rows });
        }
        let mut rows = Vec::new();
        for (at, (scored, (heading, label))) in self.scores.iter().zip(&labels).enumerate() {
            let nested = heading.is_some();
            let no_cells = |label| MatrixRow { nested: false, label, cells: Vec::new(), notes: Vec::new() };
            rows.extend(headings(nested, at).map(no_cells));
            let cell = |column: &MetricColumn| {
                scored.lines.iter().find(|(of, ..)| of == column).map(|(_, line, _)| line.figure.clone())
            };
            let cells = self.columns.iter().map(cell).collect();
            let notes = merged_notes(&scored.lines).into_iter().chain(own(scored)).collect();
            rows.push(MatrixRow { nested, label: label.clone(), cells, notes });
        }
        let titles = titles(&self.columns);
        let intervals = self.columns.iter().map(|column| column.is_interval).collect();
        let with_cells = rows.iter_mut().filter(|row| !row.cells.is_empty());
        let shared = take_shared(with_cells.map(|row| &mut row.notes).collect());
        let details = common.iter().cloned().chain(shared).collect();
        let name = name.unwrap_or_else(|| {
            let mut scorers: Vec<&str> =
                self.scores.iter().map(|scored| scored.score.scorer.as_str()).collect();
            scorers.dedup();
            scorers.join(", ")
        });
        ReportPart::Matrix(Matrix { name, details, titles, intervals, rows })
    }

    /// What all scores have in common, if they are of one scorer.
    fn name(&self) -> Option<String> {
        let first = self.scores.first()?.score;
        let is_one = self.scores.iter().all(|scored| scored.score.scorer == first.scorer);
        let is_one_field = self.scores.iter().all(|scored| scored.score.field == first.field);
        let name = if is_one_field { title(first).0 } else { first.scorer.clone() };
        is_one.then_some(name)
    }
}

/// The scores, those of one scorer and within them those of one field next to each other: they are below one heading.
fn by_heading(scores: Vec<ScoreFigures<'_>>) -> Vec<ScoreFigures<'_>> {
    let first = |is_same: &dyn Fn(&ScoreResult) -> bool| scores.iter().position(|other| is_same(other.score));
    let place = |scored: &ScoreFigures<'_>| {
        let ScoreResult { scorer, field, .. } = scored.score;
        let of_scorer = first(&|other| other.scorer == *scorer);
        (of_scorer, first(&|other| other.scorer == *scorer && other.field == *field))
    };
    let places: Vec<_> = scores.iter().map(place).collect();
    let mut placed: Vec<_> = places.into_iter().zip(scores).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, scored)| scored).collect()
}

/// The titles of columns; metrics that would have the same are named in full.
fn titles(columns: &[MetricColumn]) -> Vec<String> {
    let titles: Vec<String> = columns.iter().map(MetricColumn::title).collect();
    let is_unique = |title: &String| titles.iter().filter(|other| *other == title).count() == 1;
    let named = titles.iter().zip(columns);
    named.map(|(title, column)| if is_unique(title) { title.clone() } else { column.spec.clone() }).collect()
}

/// Takes out of the notes of rows what all of them say.
fn take_shared(mut rows: Vec<&mut Vec<String>>) -> Vec<String> {
    let mut shared = rows.first().filter(|_| rows.len() > 1).map(|notes| notes.to_vec()).unwrap_or_default();
    shared.retain(|note| rows.iter().all(|notes| notes.contains(note)));
    rows.iter_mut().for_each(|notes| notes.retain(|note| !shared.contains(note)));
    shared
}

/// The counts of most scores; a row has only those that differ.
fn common_counts(scores: &[ScoreFigures<'_>]) -> Vec<String> {
    let all: Vec<Vec<String>> = scores.iter().map(|scored| counts(scored.score)).collect();
    notes::most_frequent(&all).unwrap_or_default()
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
fn merged_notes(lines: &[(MetricColumn, EstimateLine, bool)]) -> Vec<String> {
    let estimates = lines.iter().filter(|(.., is_estimate)| *is_estimate).count();
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for (column, line, _) in lines {
        for note in line.all_notes() {
            match notes.iter_mut().find(|(known, _)| *known == note) {
                Some((_, columns)) => columns.push(column.title()),
                None => notes.push((note, vec![column.title()])),
            }
        }
    }
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
