//! The rows that people read, made once for every format that shows them: one for each estimate.
//!
//! Which error and interval belong to which number is known by core; here they are only put into words. Names are as
//! they are; what shows rows on a terminal takes them [cleaned](ScoreBlock::cleaned).

use errorbar_core::{EstimateRow, Results, Scope, ScoreResult};

use crate::Sort;
use crate::bar::BarSpan;
use crate::figure::EstimateText;
use crate::notes::{self, CommonMethods};
use crate::sort::SortKey;
use crate::text::clean;
use crate::title::title;

/// Rows under a title.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoreBlock {
    pub(crate) name: String,
    pub(crate) details: Vec<String>,
    /// What rows are, as the title of their column; empty if the title of the block says it.
    pub(crate) column: &'static str,
    pub(crate) rows: Vec<DisplayRow>,
}

/// The title of the column if a row is a metric.
pub(crate) const METRIC: &str = "metric";

/// One row of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DisplayRow {
    /// What the rows below it, which are nested, have in common.
    Heading { label: String, notes: Vec<String> },
    /// An estimate.
    Estimate(EstimateLine),
    /// A metric that could not be computed.
    Failure { label: String, message: String },
}

/// An estimate as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EstimateLine {
    pub(crate) nested: bool,
    pub(crate) label: String,
    pub(crate) figure: EstimateText,
    pub(crate) span: Option<BarSpan>,
    /// How many scores it is of: `36`, `34 of 36`.
    pub(crate) n: Option<String>,
    /// Whether that is news beside the title of the block.
    pub(crate) shows_n: bool,
    pub(crate) notes: Vec<String>,
}

impl EstimateLine {
    /// The notes, the number of scores among them.
    pub(crate) fn all_notes(&self) -> Vec<String> {
        let n = self.n.as_ref().filter(|_| self.shows_n).map(|n| format!("n {n}"));
        n.into_iter().chain(self.notes.iter().cloned()).collect()
    }
}

impl ScoreBlock {
    /// The block as a terminal may show it.
    pub(crate) fn cleaned(self) -> Self {
        let all = |texts: Vec<String>| texts.iter().map(|text| clean(text)).collect::<Vec<String>>();
        let row = |row: DisplayRow| match row {
            DisplayRow::Heading { label, notes } => {
                DisplayRow::Heading { label: clean(&label), notes: all(notes) }
            }
            DisplayRow::Estimate(line) => DisplayRow::Estimate(EstimateLine {
                label: clean(&line.label),
                notes: all(line.notes),
                ..line
            }),
            DisplayRow::Failure { label, message } => {
                DisplayRow::Failure { label: clean(&label), message: clean(&message) }
            }
        };
        ScoreBlock {
            name: clean(&self.name),
            details: all(self.details),
            column: self.column,
            rows: self.rows.into_iter().map(row).collect(),
        }
    }
}

/// What rows are made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowBuilder<'a> {
    pub(crate) results: &'a Results,
    pub(crate) common: &'a CommonMethods,
    pub(crate) sort: Sort,
}

impl<'a> RowBuilder<'a> {
    /// The positions of scores that say something: metrics by key alone have a plain one without metrics.
    pub(crate) fn positions(&self) -> Vec<usize> {
        let says = |score: &ScoreResult| !score.metrics.is_empty() || !score.failures.is_empty();
        let scores = self.results.scores.iter().enumerate();
        scores.filter(|(_, score)| says(score)).map(|(at, _)| at).collect()
    }

    /// All of one score.
    pub(crate) fn block(&self, at: usize) -> Option<ScoreBlock> {
        let score = self.results.scores.get(at)?;
        let (name, details) = title(score);
        let rows = self.results.rows_of(at);
        let counted =
            rows.iter().find(|row| is_plain(row) && notes::is_estimate(row)).map(|row| row.position);
        let mut shown: Vec<DisplayRow> = Vec::new();
        for of_metric in rows.chunk_by(|a, b| a.position == b.position) {
            match of_metric {
                [row] if is_plain(row) => {
                    let is_first = counted == Some(row.position);
                    shown.push(DisplayRow::Estimate(self.line(row, score, is_first)));
                }
                rows => shown.extend(self.section(rows, score, counted.is_none())),
            }
        }
        let mut details = details;
        if counted.is_none() {
            details.extend(self.reasons(score));
        }
        shown.extend(failures(score));
        Some(ScoreBlock { name, details, column: METRIC, rows: shown })
    }

    /// What a block has besides the plain figures of its metrics.
    pub(crate) fn rest(&self, at: usize) -> Option<ScoreBlock> {
        let score = self.results.scores.get(at)?;
        let (name, details) = title(score);
        let rows = self.results.rows_of(at);
        let sections = rows.chunk_by(|a, b| a.position == b.position);
        let sections = sections.filter(|rows| !rows.iter().all(is_plain));
        let mut shown: Vec<DisplayRow> = sections.flat_map(|rows| self.section(rows, score, false)).collect();
        shown.extend(failures(score));
        (!shown.is_empty()).then_some(ScoreBlock { name, details, column: METRIC, rows: shown })
    }

    /// The row of a metric that gives one estimate over all samples.
    pub(crate) fn line(&self, row: &EstimateRow<'_>, score: &ScoreResult, is_first: bool) -> EstimateLine {
        let label = match row.field.filter(|field| score.field.as_deref() != Some(*field)) {
            Some(field) => format!("{} of {field}", row.metric),
            None => row.metric.to_owned(),
        };
        let mut line = self.bare(row, label);
        let of_block = score.counts.scored as u64;
        line.shows_n = row.estimate.n != of_block && row.estimate.n > 0;
        let mut all = notes::arguments(row);
        all.extend(self.remarks(row, true));
        all.extend(is_first.then(|| self.reasons(score)).into_iter().flatten());
        let few = notes::few(row, true);
        // `only 6 scores` has the number already.
        line.shows_n &= few.is_none();
        line.notes = few.into_iter().chain(all).collect();
        line
    }

    fn bare(&self, row: &EstimateRow<'_>, label: String) -> EstimateLine {
        let figure = EstimateText::from(row.estimate.as_ref());
        let span = BarSpan::of(&figure, row.role);
        let n = notes::n_text(&row.estimate);
        EstimateLine { nested: false, label, figure, span, n, shows_n: false, notes: Vec::new() }
    }

    fn remarks(&self, row: &EstimateRow<'_>, has_bounds: bool) -> Vec<String> {
        let mut remarks = notes::methods(row, notes::keys_of(self.results, row), self.common);
        remarks.extend(notes::bounds(&row.estimate).filter(|_| has_bounds));
        remarks.extend(notes::remarks(&row.estimate));
        remarks
    }

    /// Scores that have a reason, counted: `4 of 144: invalid_response_format`.
    pub(crate) fn reasons(&self, score: &ScoreResult) -> Vec<String> {
        let total = self.results.total_samples;
        let reasons = score.counts.reasons.iter().filter(|(_, count)| **count > 0);
        reasons.map(|(reason, count)| format!("{count} of {total}: {reason}")).collect()
    }

    /// The rows of a metric that gives several estimates: by group, key or position. The aggregate has bounds if no other
    /// row of the block has them.
    fn section(&self, rows: &[EstimateRow<'_>], score: &ScoreResult, has_bounds: bool) -> Vec<DisplayRow> {
        let Some(first) = rows.first() else { return Vec::new() };
        let keys = rows.iter().map(keys).max_by_key(Vec::len).unwrap_or_default();
        let label = match keys.as_slice() {
            [] => first.metric.to_owned(),
            keys => format!("{} by {}", first.metric, keys.join(" / ")),
        };
        let mut lines: Vec<(EstimateLine, u64, bool)> = rows
            .iter()
            .map(|row| (self.nested(row, score, has_bounds), row.estimate.n, is_aggregate(row)))
            .collect();
        // Of what is sorted, the aggregates come last; without, they are where they belong.
        if self.sort != Sort::None {
            let key =
                |(line, n, _): &(EstimateLine, u64, bool)| (line.label.clone(), line.figure.value(), *n);
            lines.sort_by(|a, b| {
                let ((a_name, a_value, a_n), (b_name, b_value, b_n)) = (key(a), key(b));
                let a_key = SortKey { name: &a_name, value: a_value, n: a_n };
                let b_key = SortKey { name: &b_name, value: b_value, n: b_n };
                a.2.cmp(&b.2).then_with(|| self.sort.compare(&a_key, &b_key))
            });
        }
        let mut notes = notes::arguments(first);
        notes.extend(in_common(&mut lines));
        let heading = DisplayRow::Heading { label, notes };
        std::iter::once(heading)
            .chain(lines.into_iter().map(|(line, ..)| DisplayRow::Estimate(line)))
            .collect()
    }

    fn nested(&self, row: &EstimateRow<'_>, score: &ScoreResult, has_bounds: bool) -> EstimateLine {
        let mut line = self.bare(row, nested_label(row));
        line.nested = true;
        // Groups say how many are absent; the bounds are shown once, for all samples.
        let has_bounds = has_bounds && row.group.is_none();
        let few = notes::few(row, has_bounds);
        let of_block = row.estimate.n == score.counts.scored as u64;
        line.shows_n = few.is_none() && !(of_block && row.group.is_none());
        line.notes.extend(few);
        line.notes.extend(row.is_mean_of_groups().then(|| "mean of the groups".to_owned()));
        line.notes.extend(self.remarks(row, has_bounds));
        line
    }
}

/// Takes out of the lines what all of them say, but for the aggregates.
fn in_common(lines: &mut [(EstimateLine, u64, bool)]) -> Vec<String> {
    let mut groups: Vec<&mut EstimateLine> =
        lines.iter_mut().filter(|(.., is_aggregate)| !is_aggregate).map(|(line, ..)| line).collect();
    if groups.len() < 2 {
        return Vec::new();
    }
    let mut common = Vec::new();
    let n = groups.first().and_then(|line| line.n.clone()).filter(|_| groups.iter().all(|line| line.shows_n));
    if let Some(n) = n
        && groups.iter().all(|line| line.n.as_ref() == Some(&n))
    {
        common.push(format!("n {n} each"));
        groups.iter_mut().for_each(|line| line.shows_n = false);
    }
    for note in groups.first().map(|line| line.notes.clone()).unwrap_or_default() {
        if groups.iter().all(|line| line.notes.contains(&note)) {
            groups.iter_mut().for_each(|line| line.notes.retain(|other| *other != note));
            common.push(note);
        }
    }
    common
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
    // An aggregate over all samples is in no scope of its own.
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

fn failures(score: &ScoreResult) -> impl Iterator<Item = DisplayRow> {
    score.failures.iter().map(|failure| {
        let message = failure.error.to_string();
        let own = format!("{}: ", failure.metric);
        let message = message.strip_prefix(&own).unwrap_or(&message);
        DisplayRow::Failure { label: failure.metric.clone(), message: message.to_owned() }
    })
}
