//! The tables of comparisons, built once for every format for people. Names are as they are.

use errorbar_analysis::Flip;
use errorbar_core::Estimate;
use errorbar_inference::{Comparison, ComparisonReport, Rank, Ranking};
use serde_json::Value as Json;

use super::correction_title;
use super::figures::{self, Figures, NONE, is_identical, is_significant};
use crate::figure::EstimateText;
use crate::notes::{by_key, unique};
use crate::table::TextTable;
use crate::text::{counted, joined, percent, plain, truncate};

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
    /// The title of the column of p-values.
    pub(crate) fn p_title(&self) -> String {
        self.correction.map_or_else(|| "p".to_owned(), |correction| format!("p ({correction})"))
    }

    /// The titles and the cells; `indent` marks nested rows.
    pub(crate) fn texts(&self, indent: &str, has_notes: bool) -> TextTable {
        let mut titles = vec![self.label_title.to_owned()];
        titles.extend(self.base_title.clone());
        titles.extend([self.other_title.clone(), "difference".to_owned(), self.p_title()]);
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
pub(crate) struct ComparisonTables {
    /// Whether there are more than two sides.
    pub(crate) is_many: bool,
    pub(crate) compared: Vec<ComparedTable>,
    pub(crate) grids: Vec<TextTable>,
}

/// What the rows of a table have in common: scorer, field, reducer, and the metric if there are many sides.
type TableKey<'c> = (&'c str, Option<&'c str>, Option<&'c str>, Option<&'c str>);

fn table_key(c: &Comparison, is_many: bool) -> TableKey<'_> {
    (&c.scorer, c.field.as_deref(), c.reducer.as_deref(), is_many.then_some(&c.metric))
}

fn table_name((scorer, field, reducer, metric): TableKey<'_>) -> String {
    let field = field.map(|field| format!(": {field}")).unwrap_or_default();
    let reducer = reducer.map(|reducer| format!(", reduced by {reducer}")).unwrap_or_default();
    let metric = metric.map(|metric| format!(" · {metric}")).unwrap_or_default();
    format!("{scorer}{field}{reducer}{metric}")
}

impl ComparisonTables {
    pub(crate) fn of(report: &ComparisonReport) -> Self {
        let is_many = report.sides.len() > 2;
        let with_base =
            report.comparisons.iter().filter(|c| !is_many || report.sides.first() == Some(&c.base));
        let of_keys = by_key(with_base.map(|c| (table_key(c, is_many), c)));
        let compared = of_keys.iter().map(|(key, of_key)| ComparedTable::of(report, *key, of_key)).collect();
        let mut grids: Vec<TextTable> = Vec::new();
        for (key, _) in of_keys.iter().filter(|_| is_many) {
            let is_of_key = |c: &&Comparison| table_key(c, is_many) == *key && c.group_key.is_none();
            let all: Vec<&Comparison> = report.comparisons.iter().filter(is_of_key).collect();
            let name = table_name(*key);
            grids.extend(tasks(&name, report, &all));
            grids.extend(differences(&name, report, &all));
            let key_of = |r: &&Ranking| {
                (&*r.scorer, r.field.as_deref(), r.reducer.as_deref(), Some(&*r.metric)) == *key
            };
            grids.extend(report.rankings.iter().filter(key_of).map(|one| ranking(&name, one)));
        }
        ComparisonTables { is_many, compared, grids }
    }
}

impl ComparedTable {
    fn of(report: &ComparisonReport, key: TableKey<'_>, comparisons: &[&Comparison]) -> Self {
        let is_many = report.sides.len() > 2;
        let has_tasks = comparisons.iter().any(|c| c.task.is_some());
        let whole = comparisons.iter().find(|c| c.group_key.is_none() && !has_tasks);
        let heading = |c: &&Comparison| if is_many { part(c, has_tasks) } else { heading(c, has_tasks) };
        let mut rows: Vec<ComparedRow> = Vec::new();
        for (above, below) in by_key(comparisons.iter().map(|c| (heading(c), *c))) {
            rows.extend(above.clone().map(ComparedRow::heading));
            let base = below.first().filter(|_| is_many).copied();
            rows.extend(base.map(|c| ComparedRow {
                label: format!("{} (base)", c.base),
                nested: above.is_some(),
                is_whole: is_whole(c),
                content: RowContent::Base(EstimateText::from(&c.base_estimate)),
                notes: Vec::new(),
            }));
            rows.extend(below.iter().map(|c| {
                let shows_n = whole.is_none_or(|whole| whole.n != c.n);
                let mut notes = figures::notes(c, report, shows_n);
                // Over other samples, the base is another, too.
                let is_other = |base: &Comparison| base.base_estimate.value != c.base_estimate.value;
                let of_base = || EstimateText::from(&c.base_estimate).short();
                notes.extend(
                    base.filter(|base| is_other(base)).map(|_| format!("here {} has {}", c.base, of_base())),
                );
                ComparedRow {
                    label: if is_many { c.other.clone() } else { label(c, has_tasks) },
                    nested: above.is_some(),
                    is_whole: is_whole(c),
                    content: RowContent::Compared(Box::new(Figures::of(c, report))),
                    notes,
                }
            }));
        }
        let (base_title, other_title) = match whole.or_else(|| comparisons.first()) {
            Some(c) if !is_many => (Some(c.base.clone()), c.other.clone()),
            _ => (None, "value".to_owned()),
        };
        let is_corrected = comparisons.iter().any(|c| c.p_adjusted.is_some());
        let correction =
            report.options.correction.filter(|_| is_corrected).map(|correction| correction.name());
        let label_title = if is_many { "side" } else { "" };
        let details = whole.map(|c| samples(c)).unwrap_or_default();
        ComparedTable {
            name: table_name(key),
            details,
            label_title,
            base_title,
            other_title,
            correction,
            rows,
        }
    }
}

/// How many samples the sides have in common, and in how many clusters.
fn samples(c: &Comparison) -> Vec<String> {
    let pairs =
        if c.is_paired { counted(c.n, "pair") } else { format!("unpaired, {}", counted(c.n, "score")) };
    std::iter::once(pairs).chain(figures::clusters(c)).collect()
}

/// The heading above a row of two sides.
fn heading(c: &Comparison, has_tasks: bool) -> Option<String> {
    let Some(key) = &c.group_key else { return has_tasks.then(|| c.metric.clone()) };
    let task = task(c, has_tasks).map(|task| format!(" · {task}")).unwrap_or_default();
    Some(format!("{} by {key}{task}", c.metric))
}

/// The task of a comparison, or that it is over several.
fn task(c: &Comparison, has_tasks: bool) -> Option<String> {
    c.task.clone().or_else(|| has_tasks.then(|| "mean over tasks".to_owned()))
}

/// As many rows as a comment lists, and the number of the others. Those with a shown difference stay, then those with the
/// largest ones; in their order, below their headings.
pub(crate) fn most_telling(rows: Vec<ComparedRow>, most: usize) -> (Vec<ComparedRow>, usize) {
    let telling = |(at, row): (usize, &ComparedRow)| {
        let figures = row.figures()?;
        Some((figures.verdict.is_decided(), figures.difference.value().map_or(-1.0, f64::abs), at))
    };
    let mut order: Vec<(bool, f64, usize)> = rows.iter().enumerate().filter_map(telling).collect();
    let left_out = order.len().saturating_sub(most);
    order.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let kept: Vec<usize> = order.into_iter().take(most).map(|(.., at)| at).collect();
    // From below: a heading stays if a row does that it is of.
    let (mut shown, mut is_needed, mut is_in_block) = (Vec::new(), false, false);
    for (at, row) in rows.into_iter().enumerate().rev() {
        let is_compared = row.figures().is_some();
        is_needed &= is_in_block || !is_compared;
        is_in_block = is_compared;
        let is_kept = kept.contains(&at);
        is_needed |= is_kept;
        shown.extend((left_out == 0 || is_kept || !is_compared && is_needed).then_some(row));
    }
    shown.reverse();
    (shown, left_out)
}

/// The rows over all samples, and the others. If there are only the latter, they are the table.
pub(crate) fn whole_and_parts(table: &ComparedTable) -> (Vec<ComparedRow>, Vec<ComparedRow>) {
    let (mut whole, mut parts): (Vec<_>, Vec<_>) = table.rows.iter().cloned().partition(|row| row.is_whole);
    if whole.is_empty() {
        return (parts, Vec::new());
    }
    whole.iter_mut().for_each(|row| row.nested = false);
    // Headings of rows that are not here.
    let is_heading: Vec<bool> = parts.iter().map(|row| row.content == RowContent::Heading).collect();
    let mut below = is_heading.iter().skip(1).chain([&true]);
    parts.retain(|row| below.next() != Some(&true) || row.content != RowContent::Heading);
    (whole, parts)
}

/// Whether a comparison is over all samples, and over all tasks if there are several.
pub(super) fn is_whole(c: &Comparison) -> bool {
    c.group_key.is_none() && c.task.is_none()
}

/// The name of a row of two sides.
fn label(c: &Comparison, has_tasks: bool) -> String {
    match (&c.group_key, &c.group) {
        (Some(_), Some(group)) => group.clone(),
        (Some(_), None) => "mean of the groups".to_owned(),
        (None, _) => task(c, has_tasks).unwrap_or_else(|| c.metric.clone()),
    }
}

/// The part of the samples that rows of several sides are about; none for all of them.
fn part(c: &Comparison, has_tasks: bool) -> Option<String> {
    let group = c.group_key.as_ref().map(|key| match &c.group {
        Some(group) => format!("{key}: {group}"),
        None => format!("mean over {key}"),
    });
    joined(task(c, has_tasks).into_iter().chain(group), " · ")
}

// Tables of several sides: models and tasks, all differences, ranks.

/// The values of all sides in all tasks, and the mean over tasks; only if there are several.
pub(super) fn tasks(name: &str, report: &ComparisonReport, comparisons: &[&Comparison]) -> Option<TextTable> {
    let mut tasks = unique(comparisons.iter().map(|c| c.task.as_deref()));
    if !tasks.iter().any(Option::is_some) || tasks.len() < 2 {
        return None;
    }
    // The mean comes last, wherever it was computed.
    tasks.sort_by_key(Option::is_none);
    let value = |side: &String, task: Option<&str>| {
        let of_task = || comparisons.iter().filter(|c| c.task.as_deref() == task);
        let as_other = of_task().find(|c| c.other == *side).map(|c| &c.other_estimate);
        let estimate = as_other.or_else(|| of_task().find(|c| c.base == *side).map(|c| &c.base_estimate));
        estimate.map_or_else(|| "not compared".to_owned(), |estimate| EstimateText::from(estimate).short())
    };
    let row = |side: &String| (side.clone(), tasks.iter().map(|task| value(side, *task)).collect());
    let columns = tasks.iter().map(|task| task.unwrap_or("mean over tasks").to_owned());
    Some(TextTable::labelled(format!("{name}, by task"), columns, report.sides.iter().map(row)))
}

/// The difference of each side to each other; only if all pairs were compared.
pub(super) fn differences(
    name: &str,
    report: &ComparisonReport,
    comparisons: &[&Comparison],
) -> Option<TextTable> {
    let has_tasks = comparisons.iter().any(|c| c.task.is_some());
    // Over all tasks if there are several, else over all samples.
    let shown: Vec<&&Comparison> = comparisons.iter().filter(|c| c.task.is_none() || !has_tasks).collect();
    let base = report.sides.first()?;
    if shown.iter().all(|c| c.base == *base) {
        return None;
    }
    let cell = |row: &String, column: &String| {
        if row == column {
            return "·".to_owned();
        }
        let forward = shown.iter().find(|c| c.other == *row && c.base == *column);
        let backward = shown.iter().find(|c| c.base == *row && c.other == *column);
        match (forward, backward) {
            (Some(c), _) => difference(c, &c.difference),
            (None, Some(c)) => difference(c, &c.difference.negated()),
            (None, None) => NONE.to_owned(),
        }
    };
    let row = |side: &String| (side.clone(), report.sides.iter().map(|column| cell(side, column)).collect());
    let by = match report.options.correction {
        Some(correction) if shown.iter().any(|c| c.p_adjusted.is_some()) => {
            format!("p corrected by {}", correction_title(correction))
        }
        _ => "each by its own interval, not corrected, so a ranking may distinguish less".to_owned(),
    };
    let legend = format!("row minus column; in brackets: no difference shown ({by})");
    let name = format!("{name}, all differences");
    let table = TextTable::labelled(name, report.sides.clone(), report.sides.iter().map(row));
    let details = if has_tasks { vec!["mean over tasks".to_owned()] } else { Vec::new() };
    Some(TextTable { details, legend: Some(legend), ..table })
}

/// A difference in a cell; in brackets if it is not shown.
fn difference(c: &Comparison, difference: &Estimate) -> String {
    if difference.number().is_none() {
        return NONE.to_owned();
    }
    let text = EstimateText::from(difference).signed().texts().value;
    let is_shown = is_significant(c) == Some(true) && !is_identical(c);
    if is_shown { text } else { format!("({text})") }
}

/// The sides by rank.
pub(super) fn ranking(name: &str, ranking: &Ranking) -> TextTable {
    let has_ties = ranking.ranks.iter().any(|rank| !rank.tie_groups.is_empty());
    let or_none = |text: String| if text.is_empty() { NONE.to_owned() } else { text };
    let row = |rank: &Rank| {
        let figure = EstimateText::from(&rank.estimate);
        let mut cells = vec![rank.rank.to_string(), rank.range_text()];
        cells.extend(has_ties.then(|| or_none(rank.tie_groups.clone())));
        cells.extend([figure.short(), or_none(figure.interval_text())]);
        (rank.side.clone(), cells)
    };
    let mut columns = vec!["rank".to_owned(), "range".to_owned()];
    columns.extend(has_ties.then(|| "ties".to_owned()));
    columns.extend(["value".to_owned(), "interval".to_owned()]);
    let level = percent(ranking.level);
    let mut legend = format!(
        "range: the ranks that tests of all pairs leave, corrected by Holm ({level}, all sides at once)"
    );
    if has_ties {
        legend += "; ties: the same tests do not distinguish sides that share a letter";
    }
    let task = ranking.task.clone();
    TextTable {
        details: task.into_iter().chain([format!("{} samples that all sides have", ranking.n)]).collect(),
        legend: Some(legend),
        drops_last: true,
        ..TextTable::labelled(format!("{name}, ranking"), columns, ranking.ranks.iter().map(row))
    }
}

// Samples whose score changed, as text.

/// `C → I`.
pub(crate) fn flip_scores(flip: &Flip) -> String {
    format!("{} → {}", score(&flip.base_score), score(&flip.other_score))
}

/// A score as people read it.
fn score(score: &Json) -> String {
    match score {
        Json::Null => "absent".to_owned(),
        Json::String(grade) => grade.clone(),
        other => other.as_f64().map_or_else(|| other.to_string(), plain),
    }
}

/// A text on one line, blanks and line breaks as one blank each.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The start of a text, on one line, for a cell of a table.
fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    truncate(&one_line(text), MOST, "…")
}

/// How many samples changed, and how many of them are listed.
pub(crate) fn flip_title(listed: usize, changed: usize) -> String {
    match changed {
        0 => "no sample changed".to_owned(),
        changed if listed < changed => format!("{listed} of {changed} samples that changed"),
        1 => "1 sample changed".to_owned(),
        changed => format!("{changed} samples changed"),
    }
}

/// The samples by sides, scorer and task, under a heading each.
pub(crate) fn flips_by_pair(flips: &[Flip]) -> Vec<(String, Vec<&Flip>)> {
    let heading = |flip: &Flip| {
        let scorer = match &flip.field {
            Some(field) => format!("{}: {field}", flip.scorer),
            None => flip.scorer.clone(),
        };
        let parts = [Some(format!("{} → {}", flip.base, flip.other)), Some(scorer), flip.task.clone()];
        joined(parts.into_iter().flatten().filter(|part| !part.is_empty()), " · ").unwrap_or_default()
    };
    by_key(flips.iter().map(|flip| (heading(flip), flip)))
}

/// The same as tables, each with this many samples at most.
pub(crate) fn flip_tables(flips: &[Flip], most: usize) -> Vec<TextTable> {
    let cut = |text: &Option<String>| text.as_deref().map(shortened).unwrap_or_default();
    let row = |flip: &&Flip| {
        let (base, other) = (cut(&flip.base_answer), cut(&flip.other_answer));
        vec![flip.id.to_string(), flip_scores(flip), cut(&flip.input), base, other]
    };
    let table = |(name, flips): (String, Vec<&Flip>)| TextTable {
        name,
        titles: ["id", "score", "input", "base", "other"].map(str::to_owned).to_vec(),
        rows: flips.iter().take(most).map(row).collect(),
        ..TextTable::default()
    };
    flips_by_pair(flips).into_iter().map(table).collect()
}
