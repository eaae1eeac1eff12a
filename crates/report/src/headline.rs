//! The estimate to show first.

use errorbar_core::{EstimateRow, HeadlineRequest, Results, Role};

/// The estimate to show first: the one that the plan wants, else the first location or share over all samples, else the
/// first of any kind.
///
/// The metric that the plan wants is looked for among the rows of all samples, then among the names of groups and
/// aggregates, then among the rows of groups.
pub fn headline(results: &Results) -> Option<EstimateRow<'_>> {
    let rows = results.rows();
    let Some(wanted) = &results.headline else { return default(&rows) };
    let of_score: Vec<EstimateRow<'_>> =
        rows.iter().filter(|row| is_of_score(wanted, results, row)).cloned().collect();
    let found = match &wanted.metric {
        Some(metric) => named(metric, &of_score),
        None => default(&of_score),
    };
    found.or_else(|| default(&rows))
}

/// The first location or share, over all samples if possible.
fn default<'a>(rows: &[EstimateRow<'a>]) -> Option<EstimateRow<'a>> {
    let is_main = |row: &&EstimateRow<'_>| matches!(row.role, Role::Location | Role::Share);
    let is_aggregate = |row: &&EstimateRow<'_>| row.group.is_none() && is_whole(row);
    let main = || rows.iter().filter(is_main);
    let found = main().find(|row| row.group_key.is_none() && is_whole(row));
    let found = found.or_else(|| main().find(is_aggregate)).or_else(|| main().next());
    found.or_else(|| rows.first()).cloned()
}

/// The row that a user named.
fn named<'a>(wanted: &str, rows: &[EstimateRow<'a>]) -> Option<EstimateRow<'a>> {
    let is_metric = |row: &&EstimateRow<'_>| row.metric == wanted || row.result.spec.to_string() == wanted;
    let is_part = |row: &&EstimateRow<'_>| row.key == Some(wanted);
    let of_all = || rows.iter().filter(|row| row.group_key.is_none());
    let of_groups = || rows.iter().filter(|row| row.group_key.is_some());
    let found = of_all().filter(is_metric).find(|row| is_whole(row));
    let found = found.or_else(|| of_all().find(|row| is_metric(row) || is_part(row)));
    let found = found.or_else(|| rows.iter().find(|row| row.label == Some(wanted)));
    let found = found.or_else(|| of_groups().filter(is_metric).find(|row| row.group.is_none()));
    found.or_else(|| of_groups().find(|row| is_metric(row) || is_part(row))).cloned()
}

/// Whether a row is the only number of its metric for its samples, not one of several.
fn is_whole(row: &EstimateRow<'_>) -> bool {
    row.key.is_none() && row.index.is_none()
}

/// Whether a row is of the scorer, the score and the reducer that a user named.
fn is_of_score(wanted: &HeadlineRequest, results: &Results, row: &EstimateRow<'_>) -> bool {
    let fits = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_ref().is_none_or(|wanted| found == Some(wanted.as_str()))
    };
    let score = results.scores.get(row.score).map(|score| score.name());
    fits(&wanted.scorer, Some(row.scorer)) && fits(&wanted.score, score) && fits(&wanted.reducer, row.reducer)
}
