//! The estimate to show first.

use errorbar_core::{EstimateRow, HeadlineRequest, Results, Role, Scope};

/// The estimate to show first: the one that the plan wants, else the first location or share over all samples, else the
/// one over all groups, else the first of any other kind over all samples, but no error of another figure. Groups alone
/// have none: see [`no_headline`].
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

/// The figure that plots of parts are of: the headline, or what there is by group where nothing is over all samples.
pub fn main_figure(results: &Results) -> Option<EstimateRow<'_>> {
    headline(results).or_else(|| {
        let rows = results.rows();
        rows.iter().find(is_main).or(rows.first()).cloned()
    })
}

/// Why there is no headline, in words; none if there is one, or nothing at all.
pub fn no_headline(results: &Results) -> Option<String> {
    if headline(results).is_some() {
        return None;
    }
    let mut keys: Vec<&str> = Vec::new();
    for key in results.rows().iter().filter_map(|row| row.group_key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    match keys.is_empty() {
        false => Some(format!("by {} only, none over all samples", keys.join(", "))),
        true => (!results.rows().is_empty()).then(|| "of errors only, no estimate".to_owned()),
    }
}

fn default<'a>(rows: &[EstimateRow<'a>]) -> Option<EstimateRow<'a>> {
    // An error by itself says nothing of how good a model is.
    let figures = || rows.iter().filter(|row| row.role != Role::ErrorOf);
    let over_samples = || figures().filter(|row| row.group_key.is_none());
    let aggregates = || figures().filter(|row| is_aggregate(row));
    let whole = over_samples().filter(|row| is_whole(row)).find(is_main);
    whole
        .or_else(|| aggregates().filter(|row| is_whole(row)).find(is_main))
        .or_else(|| over_samples().find(is_main))
        .or_else(|| over_samples().next())
        .or_else(|| aggregates().next())
        .cloned()
}

fn is_main(row: &&EstimateRow<'_>) -> bool {
    matches!(row.role, Role::Location | Role::Share)
}

/// Whether a row is over all groups of a metric by group.
fn is_aggregate(row: &EstimateRow<'_>) -> bool {
    let is_of_group = row.scopes.iter().any(|scope| matches!(scope, Scope::Group(..)));
    row.group_key.is_some() && row.group.is_none() && !is_of_group
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
