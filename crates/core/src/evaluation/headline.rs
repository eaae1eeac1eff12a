//! The estimate to show first.

use std::fmt;

use super::{EstimateRow, Results, Role, Scope};
use crate::plan::HeadlineRequest;

impl Results {
    /// The estimate to show first: the one that the plan wants, else the first location or share over all samples, else
    /// the one over all groups, else the first of any other kind over all samples, but no error of another figure.
    ///
    /// The metric that the plan wants is looked for under the keys of the log that results were read from, then among the
    /// rows of all samples, the names of groups and aggregates, and the rows of groups.
    ///
    /// # Errors
    /// There is none, for instance because there are groups alone.
    pub fn headline_row(&self) -> Result<EstimateRow<'_>, NoHeadline> {
        let rows = self.rows();
        self.requested_row(&rows).or_else(|| default(&rows)).ok_or_else(|| NoHeadline::of(&rows))
    }

    /// The figure that plots of parts are of: the headline, or what there is by group where nothing is over all samples.
    pub fn main_row(&self) -> Option<EstimateRow<'_>> {
        self.headline_row().ok().or_else(|| {
            let rows = self.rows();
            rows.iter().find(is_main).or(rows.first()).cloned()
        })
    }

    fn requested_row<'a>(&self, rows: &[EstimateRow<'a>]) -> Option<EstimateRow<'a>> {
        let wanted = self.headline.as_ref()?;
        let of_score: Vec<EstimateRow<'a>> =
            rows.iter().filter(|row| is_of_score(wanted, row)).cloned().collect();
        match &wanted.metric {
            Some(metric) => named(metric, &of_score),
            None => default(&of_score),
        }
    }
}

/// Why no figure is shown first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoHeadline {
    /// There are none.
    NoFigures,
    /// Standard errors of figures that are not there.
    OnlyErrors,
    /// Figures of groups alone; these are the metadata keys.
    OnlyGroups(Vec<String>),
}

impl NoHeadline {
    fn of(rows: &[EstimateRow<'_>]) -> Self {
        let mut keys: Vec<String> = Vec::new();
        for key in rows.iter().filter_map(|row| row.group_key) {
            if !keys.iter().any(|known| known == key) {
                keys.push(key.to_owned());
            }
        }
        match () {
            () if !keys.is_empty() => NoHeadline::OnlyGroups(keys),
            () if rows.is_empty() => NoHeadline::NoFigures,
            () => NoHeadline::OnlyErrors,
        }
    }

    /// What there is instead, in words; none if there is nothing at all.
    pub fn in_words(&self) -> Option<String> {
        (*self != NoHeadline::NoFigures).then(|| self.to_string())
    }
}

impl fmt::Display for NoHeadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoHeadline::NoFigures => f.write_str("no figures"),
            NoHeadline::OnlyErrors => f.write_str("of errors only, no estimate"),
            NoHeadline::OnlyGroups(keys) => write!(f, "by {} only, none over all samples", keys.join(", ")),
        }
    }
}

impl std::error::Error for NoHeadline {}

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
    let found = rows.iter().find(|row| row.estimate.notes.log_key.as_deref() == Some(wanted));
    let found = found.or_else(|| of_all().filter(is_metric).find(|row| is_whole(row)));
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
fn is_of_score(wanted: &HeadlineRequest, row: &EstimateRow<'_>) -> bool {
    let fits = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_ref().is_none_or(|wanted| found == Some(wanted.as_str()))
    };
    fits(&wanted.scorer, Some(row.scorer))
        && fits(&wanted.score, Some(row.of.name()))
        && fits(&wanted.reducer, row.reducer)
}
