//! The estimate to show first.

use errorbar_core::HeadlineRequest;
use errorbar_core::evaluation::{EstimateRow, Results, Role};

/// The estimate to show first: the one that the plan wants, else the first location or share over all samples, else the
/// first of any kind.
pub fn headline(results: &Results) -> Option<EstimateRow<'_>> {
    let rows = results.rows();
    let wanted = results.headline.as_ref();
    let fits = |row: &&EstimateRow<'_>| wanted.is_some_and(|wanted| is_wanted(wanted, results, row));
    let is_main = |row: &&EstimateRow<'_>| matches!(row.role, Role::Location | Role::Share);
    let is_of_all = |row: &&EstimateRow<'_>| row.group.is_none() && row.key.is_none() && row.index.is_none();
    let found = rows.iter().filter(is_of_all).find(fits).or_else(|| rows.iter().find(fits));
    let found = found.or_else(|| rows.iter().filter(is_of_all).find(is_main));
    let found = found.or_else(|| rows.iter().find(is_main));
    found.or_else(|| rows.first()).cloned()
}

/// Whether a row is the one that a user named.
fn is_wanted(wanted: &HeadlineRequest, results: &Results, row: &EstimateRow<'_>) -> bool {
    let fits = |wanted: &Option<String>, found: &[Option<&str>]| match wanted {
        Some(wanted) => found.contains(&Some(wanted.as_str())),
        None => true,
    };
    let score = results.scores.get(row.score).map(|score| score.name());
    let spec = row.result.spec.to_string();
    fits(&wanted.scorer, &[Some(row.scorer)])
        && fits(&wanted.score, &[score])
        && fits(&wanted.reducer, &[row.reducer])
        && fits(&wanted.metric, &[Some(row.metric), Some(&spec), row.label, row.key])
}
