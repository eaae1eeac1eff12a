//! Estimates by name: `accuracy`, `match/accuracy/pass_at_2`, `accuracy[category=law]`.

use indexmap::{IndexMap, IndexSet};

use super::{EstimateRow, FigurePath, Results};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::spec::nearest;

/// How many names an error lists.
const LISTED: usize = 20;

impl Results {
    /// The estimate of a metric over all samples. If several scorers or reducers have it, `scorer/metric` or
    /// `scorer/metric/reducer` names one of them.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], or [`Error::AmbiguousMetric`] if there are several.
    pub fn estimate(&self, metric: &str) -> Result<Estimate> {
        self.find(&FigurePath::of_metric(metric))
    }

    /// The estimate of this name.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], or [`Error::AmbiguousMetric`] if there are several.
    pub fn find(&self, path: &FigurePath) -> Result<Estimate> {
        let rows = self.rows();
        let is_named = |row: &&EstimateRow<'_>| path.fits(row.scorer, row.field, row.metric, row.reducer);
        let named: Vec<&EstimateRow<'_>> = rows.iter().filter(is_named).collect();
        let mut found: IndexMap<(usize, Option<&str>), &EstimateRow<'_>> = IndexMap::new();
        for row in named.iter().filter(|row| path.selects_row(row)) {
            let first = found.entry((row.score, row.field)).or_insert(row);
            // The metric itself, rather than the aggregate beside groups.
            if first.group_key.is_some() && row.group_key.is_none() && row.scopes.is_empty() {
                *first = row;
            }
        }
        match found.into_values().collect::<Vec<_>>().as_slice() {
            [row] => Ok(row.estimate.clone().into_owned()),
            [] => {
                let figures: IndexSet<String> = match named.as_slice() {
                    [] if path.names.len() < 2 => rows.iter().map(|row| row.metric.to_owned()).collect(),
                    [] => rows.iter().map(|row| FigurePath::of(row).to_string()).collect(),
                    named => named.iter().map(|row| FigurePath::of(row).to_string()).collect(),
                };
                Err(unknown(path, figures))
            }
            several => {
                let candidates = several.iter().map(|row| FigurePath::of(row).to_string()).collect();
                Err(Error::AmbiguousMetric { metric: path.to_string(), candidates })
            }
        }
    }
}

/// There is no estimate of this name, and these are there.
pub fn unknown(path: &FigurePath, known: IndexSet<String>) -> Error {
    let metric = path.to_string();
    let near = nearest(&metric, known.iter().map(String::as_str)).map(str::to_owned);
    let hidden = known.len().saturating_sub(LISTED);
    let mut known: Vec<String> = known.into_iter().take(LISTED).collect();
    known.extend((hidden > 0).then(|| format!("and {hidden} more")));
    Error::UnknownMetric { metric, nearest: near, known }
}
