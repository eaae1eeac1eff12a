//! The tables of comparisons, built once for every format for people. Names are as they are.

use errorbar_inference::{Comparison, ComparisonReport, Ranking};

use super::figures::{self, Figures};
use super::grid;
use crate::figure::EstimateText;
use crate::notes::unique;
use crate::number::counted;
use crate::table::TextTable;

/// Comparisons of one score: a row for each metric, task, group or side.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ComparedTable {
    pub(crate) name: String,
    pub(crate) details: Vec<String>,
    /// What the column of labels is about.
    pub(crate) label_title: &'static str,
    /// The titles of both columns of values; the base has none if it is a row.
    pub(crate) base_title: Option<String>,
    pub(crate) other_title: String,
    /// Whether p-values are corrected, by which method.
    pub(crate) correction: Option<&'static str>,
    pub(crate) rows: Vec<ComparedRow>,
}

impl ComparedTable {
    /// The titles and the cells; `indent` marks nested rows.
    pub(crate) fn texts(&self, indent: &str, has_notes: bool) -> TextTable {
        let mut titles = vec![self.label_title.to_owned()];
        titles.extend(self.base_title.clone());
        titles.extend([self.other_title.clone(), "difference".to_owned()]);
        titles.push(self.correction.map_or_else(|| "p".to_owned(), |correction| format!("p ({correction})")));
        titles.push("verdict".to_owned());
        let figures = titles.len();
        titles.extend(has_notes.then(|| "notes".to_owned()));
        let row = |row: &ComparedRow| {
            let label = if row.nested { format!("{indent}{}", row.label) } else { row.label.clone() };
            let mut cells = vec![label];
            match &row.content {
                RowContent::Heading => {}
                RowContent::Base(value) => cells.push(value.short()),
                RowContent::Compared(figures) => {
                    cells.extend(self.base_title.as_ref().map(|_| figures.base.short()));
                    cells.extend([figures.other.short(), figures.difference.to_string()]);
                    cells.extend([figures.p.clone(), figures.verdict.to_string()]);
                }
            }
            cells.resize(figures, String::new());
            cells.extend(has_notes.then(|| row.notes.join(" · ")));
            cells
        };
        let rows = self.rows.iter().map(row).collect();
        let (name, details) = (self.name.clone(), self.details.clone());
        TextTable { name, details, titles, rows, ..TextTable::default() }
    }
}

/// One row of a [`ComparedTable`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ComparedRow {
    pub(crate) label: String,
    pub(crate) nested: bool,
    /// Whether it is over all samples, and over all tasks if there are several.
    pub(crate) is_whole: bool,
    pub(crate) content: RowContent,
    pub(crate) notes: Vec<String>,
}

/// What a row shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RowContent {
    /// Nothing: it is the heading of the nested rows below.
    Heading,
    /// The side that the others are compared with.
    Base(EstimateText),
    /// A comparison.
    Compared(Box<Figures>),
}

impl ComparedRow {
    fn heading(label: String) -> Self {
        ComparedRow { label, nested: false, is_whole: false, content: RowContent::Heading, notes: Vec::new() }
    }

    pub(crate) fn figures(&self) -> Option<&Figures> {
        match &self.content {
            RowContent::Compared(figures) => Some(figures),
            _ => None,
        }
    }

    /// The value of the other side, or of the base if the row is that of the base.
    pub(crate) fn value(&self) -> Option<&EstimateText> {
        match &self.content {
            RowContent::Heading => None,
            RowContent::Base(value) => Some(value),
            RowContent::Compared(figures) => Some(&figures.other),
        }
    }
}

/// All that is shown of a report, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ComparisonTables {
    /// Whether there are more than two sides.
    pub(crate) is_many: bool,
    pub(crate) compared: Vec<ComparedTable>,
    pub(crate) grids: Vec<TextTable>,
}

/// What a table is about: a score, and its metric if a table has only one.
#[derive(Debug, Clone, PartialEq)]
struct TableKey {
    scorer: String,
    field: Option<String>,
    reducer: Option<String>,
    metric: Option<String>,
}

impl TableKey {
    fn of(c: &Comparison, is_many: bool) -> Self {
        TableKey {
            scorer: c.scorer.clone(),
            field: c.field.clone(),
            reducer: c.reducer.clone(),
            metric: is_many.then(|| c.metric.clone()),
        }
    }

    fn is_of(&self, ranking: &Ranking) -> bool {
        ranking.scorer == self.scorer
            && ranking.field == self.field
            && ranking.reducer == self.reducer
            && Some(&ranking.metric) == self.metric.as_ref()
    }

    /// `choice`, `choice: relevance, reduced by max`, `choice · accuracy`.
    fn name(&self) -> String {
        let field = self.field.as_ref().map(|field| format!(": {field}")).unwrap_or_default();
        let reducer =
            self.reducer.as_ref().map(|reducer| format!(", reduced by {reducer}")).unwrap_or_default();
        let metric = self.metric.as_ref().map(|metric| format!(" · {metric}")).unwrap_or_default();
        format!("{}{field}{reducer}{metric}", self.scorer)
    }
}

impl ComparisonTables {
    pub(crate) fn of(report: &ComparisonReport) -> Self {
        let is_many = report.sides.len() > 2;
        let with_base =
            report.comparisons.iter().filter(|c| !is_many || report.sides.first() == Some(&c.base));
        let with_base: Vec<&Comparison> = with_base.collect();
        let keys = unique(with_base.iter().map(|c| TableKey::of(c, is_many)));
        let builder = TableBuilder { report, is_many };
        let table = |key: &TableKey| {
            let is_of_key = |c: &&Comparison| TableKey::of(c, is_many) == *key;
            builder.table(key, &with_base.iter().copied().filter(is_of_key).collect::<Vec<_>>())
        };
        let compared = keys.iter().map(table).collect();
        let mut grids: Vec<TextTable> = Vec::new();
        for key in keys.iter().filter(|_| is_many) {
            let is_of_key = |c: &&Comparison| TableKey::of(c, is_many) == *key && c.group_key.is_none();
            let all: Vec<&Comparison> = report.comparisons.iter().filter(is_of_key).collect();
            grids.extend(grid::tasks(&key.name(), report, &all));
            grids.extend(grid::differences(&key.name(), report, &all));
            let rankings = report.rankings.iter().filter(|ranking| key.is_of(ranking));
            grids.extend(rankings.map(|ranking| grid::ranking(&key.name(), ranking)));
        }
        ComparisonTables { is_many, compared, grids }
    }
}

struct TableBuilder<'a> {
    report: &'a ComparisonReport,
    is_many: bool,
}

impl TableBuilder<'_> {
    fn table(&self, key: &TableKey, comparisons: &[&Comparison]) -> ComparedTable {
        let has_tasks = comparisons.iter().any(|c| c.task.is_some());
        // All samples: the title has their number. Other rows have their own.
        let whole = comparisons.iter().find(|c| c.group_key.is_none() && !has_tasks);
        let heading =
            |c: &Comparison| if self.is_many { part(c, has_tasks) } else { self.heading(c, has_tasks) };
        let headings = unique(comparisons.iter().map(|c| heading(c)));
        let mut rows: Vec<ComparedRow> = Vec::new();
        for above in headings {
            rows.extend(above.clone().map(ComparedRow::heading));
            let below: Vec<&Comparison> =
                comparisons.iter().copied().filter(|c| heading(c) == above).collect();
            let base = below.first().filter(|_| self.is_many).copied();
            rows.extend(base.map(|c| ComparedRow {
                label: format!("{} (base)", c.base),
                nested: above.is_some(),
                is_whole: is_whole(c),
                content: RowContent::Base(EstimateText::from(&c.base_estimate)),
                notes: Vec::new(),
            }));
            rows.extend(below.iter().map(|c| {
                let shows_n = whole.is_none_or(|whole| whole.n != c.n);
                let mut notes = figures::notes(c, self.report, shows_n);
                // Over other samples, the base is another, too.
                let is_other = |base: &Comparison| base.base_estimate.value != c.base_estimate.value;
                let of_base = || EstimateText::from(&c.base_estimate).short();
                notes.extend(
                    base.filter(|base| is_other(base)).map(|_| format!("here {} has {}", c.base, of_base())),
                );
                ComparedRow {
                    label: if self.is_many { c.other.clone() } else { label(c, has_tasks) },
                    nested: above.is_some(),
                    is_whole: is_whole(c),
                    content: RowContent::Compared(Box::new(Figures::of(c, self.report))),
                    notes,
                }
            }));
        }
        let first = whole.or_else(|| comparisons.first());
        let (base, other) = match first {
            Some(c) if !self.is_many => (Some(c.base.clone()), c.other.clone()),
            _ => (None, "value".to_owned()),
        };
        ComparedTable {
            name: key.name(),
            details: whole.map(|c| self.samples(c)).unwrap_or_default(),
            label_title: if self.is_many { "side" } else { "" },
            base_title: base,
            other_title: other,
            correction: self.correction(comparisons),
            rows,
        }
    }

    fn correction(&self, comparisons: &[&Comparison]) -> Option<&'static str> {
        let is_corrected = comparisons.iter().any(|c| c.p_adjusted.is_some());
        self.report.options.correction.filter(|_| is_corrected).map(|correction| correction.name())
    }

    /// The samples that a comparison is over.
    fn samples(&self, c: &Comparison) -> Vec<String> {
        let pairs =
            if c.is_paired { counted(c.n, "pair") } else { format!("unpaired, {}", counted(c.n, "score")) };
        std::iter::once(pairs).chain(figures::clusters(c)).collect()
    }

    /// What rows of two sides have in common, if they are below a heading.
    fn heading(&self, c: &Comparison, has_tasks: bool) -> Option<String> {
        match (&c.group_key, &c.task) {
            (Some(key), Some(task)) => Some(format!("{} by {key} · {task}", c.metric)),
            (Some(key), None) if has_tasks => Some(format!("{} by {key} · mean over tasks", c.metric)),
            (Some(key), None) => Some(format!("{} by {key}", c.metric)),
            (None, _) if has_tasks => Some(c.metric.clone()),
            (None, _) => None,
        }
    }
}

/// As many rows as a comment lists, and the number of the others. Those with a shown difference stay, then those with the
/// largest ones; in their order, below their headings.
pub(crate) fn most_telling(rows: Vec<ComparedRow>, most: usize) -> (Vec<ComparedRow>, usize) {
    let size = |row: &ComparedRow| {
        row.figures().and_then(|figures| figures.difference.value()).map_or(-1.0, f64::abs)
    };
    let is_decided = |row: &ComparedRow| row.figures().is_some_and(|figures| figures.verdict.is_decided());
    let mut order: Vec<usize> =
        rows.iter().enumerate().filter(|(_, row)| row.figures().is_some()).map(|(at, _)| at).collect();
    let left_out = order.len().saturating_sub(most);
    let key = |at: &usize| rows.get(*at).map_or((false, -1.0), |row| (is_decided(row), size(row)));
    order.sort_by(|a, b| {
        let ((decided_a, a), (decided_b, b)) = (key(a), key(b));
        decided_b.cmp(&decided_a).then(b.total_cmp(&a))
    });
    let kept: Vec<usize> = order.into_iter().take(most).collect();
    // A heading and the row of a base stay if a row below them does.
    let is_compared = |row: &ComparedRow| row.figures().is_some();
    let is_kept = |at: usize| {
        let below = rows.iter().enumerate().skip(at).skip_while(|(_, row)| !is_compared(row));
        let mut below = below.take_while(|(_, row)| is_compared(row));
        if rows.get(at).is_some_and(is_compared) {
            kept.contains(&at)
        } else {
            below.any(|(below, _)| kept.contains(&below))
        }
    };
    let flags: Vec<bool> = (0..rows.len()).map(is_kept).collect();
    let shown =
        rows.into_iter().zip(flags).filter(|(_, is_kept)| left_out == 0 || *is_kept).map(|(row, _)| row);
    (shown.collect(), left_out)
}

/// The rows over all samples, and the others. If there are only the latter, they are the table.
pub(crate) fn whole_and_parts(table: &ComparedTable) -> (Vec<ComparedRow>, Vec<ComparedRow>) {
    let (mut whole, mut parts): (Vec<_>, Vec<_>) = table.rows.iter().cloned().partition(|row| row.is_whole);
    if whole.is_empty() {
        return (parts, Vec::new());
    }
    whole.iter_mut().for_each(|row| row.nested = false);
    // Headings of rows that are not here.
    let is_empty = |at: usize, parts: &[ComparedRow]| {
        let is_heading = |at: usize| parts.get(at).is_none_or(|row| row.content == RowContent::Heading);
        is_heading(at) && is_heading(at + 1)
    };
    let empty: Vec<bool> = (0..parts.len()).map(|at| is_empty(at, &parts)).collect();
    let mut empty = empty.into_iter();
    parts.retain(|_| !empty.next().unwrap_or(false));
    (whole, parts)
}

/// Whether a comparison is over all samples, and over all tasks if there are several.
pub(super) fn is_whole(c: &Comparison) -> bool {
    c.group_key.is_none() && c.task.is_none()
}

/// The name of a row of two sides.
fn label(c: &Comparison, has_tasks: bool) -> String {
    match (&c.group_key, &c.group, &c.task) {
        (Some(_), Some(group), _) => group.clone(),
        (Some(_), None, _) => "mean of the groups".to_owned(),
        (None, _, Some(task)) => task.clone(),
        (None, _, None) if has_tasks => "mean over tasks".to_owned(),
        (None, _, None) => c.metric.clone(),
    }
}

/// The part of the samples that rows of several sides are about; none for all of them.
fn part(c: &Comparison, has_tasks: bool) -> Option<String> {
    let task = match &c.task {
        Some(task) => Some(task.clone()),
        None if has_tasks => Some("mean over tasks".to_owned()),
        None => None,
    };
    let group = c.group_key.as_ref().map(|key| match &c.group {
        Some(group) => format!("{key}: {group}"),
        None => format!("mean over {key}"),
    });
    let parts: Vec<String> = task.into_iter().chain(group).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}
