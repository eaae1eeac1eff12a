//! The rows of a report: one for each estimate, with its notes.
//!
//! Which error and interval belong to which number is decided by core; here they are only put into words.

use std::cmp::Ordering;

use errorbar_core::{EstimateRow, Results, Scope, ScoreResult};

use crate::figure::EstimateText;
use crate::notes::{self, CommonMethods};
use crate::table::{ReportTable, TableRow};
use crate::title::title;

/// Builds rows from results.
#[derive(Debug, Clone, Copy)]
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
            (SortKey { is_aggregate: is_aggregate(row), name, value, n: row.estimate.n }, shown)
        };
        let mut shown: Vec<(SortKey, TableRow)> = rows.iter().map(nested).collect();
        shown.sort_by(|(a, _), (b, _)| self.sort.compare(a, b));
        let mut notes = notes::arguments(first);
        let groups = shown.iter_mut().filter(|(key, _)| !key.is_aggregate).map(|(_, row)| row);
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

/// What rows are sorted by.
#[derive(Debug, Clone)]
pub(crate) struct SortKey {
    pub(crate) is_aggregate: bool,
    pub(crate) name: String,
    pub(crate) value: Option<f64>,
    pub(crate) n: u64,
}

impl Sort {
    pub(crate) fn compare(self, a: &SortKey, b: &SortKey) -> Ordering {
        // Unsorted aggregates stay where they belong.
        let order = match self {
            Sort::None => return Ordering::Equal,
            Sort::Value => match (a.value, b.value) {
                (Some(a), Some(b)) => b.total_cmp(&a),
                (a, b) => b.is_some().cmp(&a.is_some()),
            },
            Sort::Name => match (number(&a.name), number(&b.name)) {
                (Some(first), Some(second)) => first.total_cmp(&second).then_with(|| a.name.cmp(&b.name)),
                (None, None) => a.name.cmp(&b.name),
                (first, second) => second.is_some().cmp(&first.is_some()),
            },
            Sort::N => b.n.cmp(&a.n),
        };
        a.is_aggregate.cmp(&b.is_aggregate).then(order)
    }
}

fn number(name: &str) -> Option<f64> {
    name.parse::<f64>().ok().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order() {
        let key = |name: &str, value, n| SortKey { is_aggregate: false, name: name.to_owned(), value, n };
        let all =
            [key("10", Some(0.5), 3), key("b", None, 0), key("2", Some(0.9), 40), key("a", Some(-1.0), 7)];
        let names = |sort: Sort| {
            let mut sorted = all.to_vec();
            sorted.sort_by(|a, b| sort.compare(a, b));
            sorted.iter().map(|key| key.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(Sort::None), ["10", "b", "2", "a"]);
        assert_eq!(names(Sort::Value), ["2", "10", "a", "b"]);
        assert_eq!(names(Sort::Name), ["2", "10", "a", "b"]);
        assert_eq!(names(Sort::N), ["2", "a", "10", "b"]);
    }
}
