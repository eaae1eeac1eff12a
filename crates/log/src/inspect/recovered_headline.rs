//! Which figure of recorded results is shown first.
//!
//! A log of either side records a headline, but where the task names none it is merely the first entry: the first group of
//! a metric by group, or a standard deviation before the accuracy. So the recorded one counts only where it was requested.

use std::fmt;

use errorbar_core::HeadlineRequest;

use super::pairing::{is_error, is_mean, is_share};
use super::recover::{RecordedRow, block_rows, has_estimates, recover};
use crate::eval::{Header, RecordedBlock, RecordedResults, is_unreduced};

/// The figure to show first: the one that the task requests, else the first estimate over all samples, else the one over
/// all groups, else whatever else is over all samples. A standard error is never it, unless the task requests that.
///
/// ```
/// use errorbar_log::eval::{RecordedBlock, RecordedMetric, RecordedResults};
/// use errorbar_log::inspect::recovered_headline;
/// let mut block = RecordedBlock::default();
/// for (name, value) in [("std", 0.5), ("accuracy", 0.75)] {
///     block.metrics.insert(name.into(), RecordedMetric::new(name, value));
/// }
/// let mut recorded = RecordedResults::default();
/// recorded.scores.push(block);
/// assert_eq!(recovered_headline(&recorded, None)?.key, "accuracy");
/// # Ok::<(), errorbar_log::inspect::NoHeadline>(())
/// ```
///
/// # Errors
/// There is no figure over all samples.
pub fn recovered_headline(
    recorded: &RecordedResults,
    requested: Option<&HeadlineRequest>,
) -> Result<RecordedRow, NoHeadline> {
    if let Some(row) = requested_row(recorded, requested) {
        return Ok(row);
    }
    let rows = recover(recorded);
    let of_request = requested.and_then(|wanted| {
        default(rows.iter().filter(|row| recorded.scores.get(row.block).is_some_and(|b| is_of(wanted, b))))
    });
    let found = of_request.or_else(|| default(rows.iter()));
    found.cloned().ok_or_else(|| {
        let has_errors = rows.iter().any(|row| is_error(&row.innermost));
        let mut keys: Vec<String> = Vec::new();
        for key in rows.into_iter().filter_map(|row| row.group_key) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        match () {
            () if !keys.is_empty() => NoHeadline::OnlyGroups(keys),
            () if has_errors => NoHeadline::OnlyErrors,
            () => NoHeadline::NoFigures,
        }
    })
}

/// The same of a header. The error that the reference records of unreduced epochs takes them as independent, so it is not
/// the one of this figure.
pub fn headline_of(header: &Header) -> Option<Result<RecordedRow, NoHeadline>> {
    let results = header.results.as_ref()?;
    let headline = recovered_headline(results, header.eval.headline_request().as_ref());
    Some(headline.map(|row| match results.scores.get(row.block) {
        Some(block) if !has_estimates(block) && is_unreduced(header, block) => {
            RecordedRow { stderr: None, interval: None, ..row }
        }
        _ => row,
    }))
}

/// Why no figure is shown first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoHeadline {
    /// The log records none.
    NoFigures,
    /// Standard errors of figures that the log does not record.
    OnlyErrors,
    /// Figures of groups alone; these are the metadata keys.
    OnlyGroups(Vec<String>),
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

/// The row of the headline that was requested; none if the recorded one is merely the first entry.
fn requested_row(recorded: &RecordedResults, wanted: Option<&HeadlineRequest>) -> Option<RecordedRow> {
    let headline = recorded.headline.as_ref()?;
    let key = &headline.metric;
    let is_wanted = wanted.is_some_and(|wanted| wanted.metric.as_ref() == Some(key));
    let is_it = |block: &RecordedBlock| {
        block.scorer == headline.scorer
            && block.name == headline.score
            && block.reducer == headline.reducer
            && block.metrics.contains_key(key)
    };
    let at = recorded.scores.iter().position(is_it)?;
    let block = recorded.scores.get(at)?;
    // Not every log records the request; but nobody else chooses another entry.
    let first = recorded.scores.iter().position(|block| !block.metrics.is_empty());
    let is_first = first == Some(at) && block.metrics.keys().next() == Some(key);
    if is_first && !is_wanted {
        return None;
    }
    let row = block_rows(at, block).into_iter().find(|row| row.key == *key);
    // An error that is in the row of another number is shown by itself if it was requested.
    row.or_else(|| Some(RecordedRow::new(at, block, key, block.metrics.get(key)?)))
}

/// Whether a block is of the scorer, the score and the reducer that were requested.
fn is_of(wanted: &HeadlineRequest, block: &RecordedBlock) -> bool {
    let fits = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_ref().is_none_or(|wanted| found == Some(wanted.as_str()))
    };
    fits(&wanted.scorer, Some(&block.scorer))
        && fits(&wanted.score, Some(&block.name))
        && fits(&wanted.reducer, block.reducer.as_deref())
}

fn default<'r>(rows: impl Iterator<Item = &'r RecordedRow> + Clone) -> Option<&'r RecordedRow> {
    // A number with an error, or one that is meant to have one.
    let is_main = |row: &&RecordedRow| {
        is_mean(&row.innermost)
            || is_share(&row.innermost)
            || (row.value.is_some() && (row.stderr.is_some() || row.interval.is_some()))
    };
    // An error by itself says nothing of how good a model is.
    let figures = || rows.clone().filter(|row| !is_error(&row.innermost));
    let over_samples = || figures().filter(|row| row.group_key.is_none());
    let aggregates = || figures().filter(|row| row.is_aggregate);
    let whole = over_samples().filter(|row| row.part.is_none()).find(is_main);
    whole
        .or_else(|| aggregates().find(is_main))
        .or_else(|| over_samples().find(is_main))
        .or_else(|| over_samples().next())
        .or_else(|| aggregates().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::RecordedMetric;

    fn recorded(metrics: &[(&str, f64)]) -> RecordedResults {
        let mut block = RecordedBlock::default();
        for (name, value) in metrics {
            // The second of a name has a number in its key.
            let metric = RecordedMetric::new(name.trim_end_matches('2'), *value);
            block.metrics.insert((*name).into(), metric);
        }
        let mut recorded = RecordedResults::default();
        recorded.scores.push(block);
        recorded
    }

    #[test]
    fn a_mean_of_one_field_is_a_mean() {
        let mut results = recorded(&[("aggregate", 0.75)]);
        let metric = &mut results.scores[0].metrics["aggregate"];
        metric.params.insert("key".to_owned(), "alpha".into());
        metric.params.insert("agg".to_owned(), serde_json::json!({"name": "mean", "params": {}}));
        results.scores.push(recorded(&[("mean", 0.0)]).scores.remove(0));
        let found = recovered_headline(&results, None).unwrap();
        assert_eq!((found.title().as_str(), found.value), ("mean of alpha", Some(0.75)));
    }

    #[test]
    fn a_standard_error_is_no_headline() {
        let found =
            recovered_headline(&recorded(&[("stderr", 0.1), ("stderr2", 0.1), ("var", 0.2)]), None).unwrap();
        assert_eq!((found.key.as_str(), found.value), ("var", Some(0.2)));
        let alone = recovered_headline(&recorded(&[("stderr", 0.1)]), None);
        assert_eq!(alone, Err(NoHeadline::OnlyErrors));
        let request = HeadlineRequest { metric: Some("stderr".into()), ..HeadlineRequest::default() };
        let mut requested = recorded(&[("var", 0.2), ("stderr", 0.1)]);
        requested.headline = Some(errorbar_core::Headline {
            scorer: String::new(),
            score: String::new(),
            metric: "stderr".into(),
            reducer: None,
        });
        let found = recovered_headline(&requested, Some(&request)).unwrap();
        assert_eq!(found.key, "stderr", "the task wants it");
    }
}
