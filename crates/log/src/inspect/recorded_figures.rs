//! Recorded figures as results, for a log without samples.

use errorbar_core::spec::without_own_package;
use errorbar_core::{
    AggregateBasis, Group, Groups, IndexMap, MetricResult, MetricValue, Results, Role, ScoreResult, Spec,
};

use super::pairing::{is_error, is_mean, is_share};
use super::recover::{RecordedRow, block_rows};
use crate::eval::{RecordedBlock, RecordedResults};

/// Results of the figures that a log records, each with the error and the interval that are recorded with it. Nothing is
/// computed.
///
/// ```
/// use errorbar_log::eval::{RecordedBlock, RecordedMetric, RecordedResults};
/// use errorbar_log::inspect::recorded_figures;
/// let mut block = RecordedBlock::default();
/// block.scorer = "match".into();
/// for (name, value) in [("accuracy", 0.75), ("stderr", 0.25)] {
///     block.metrics.insert(name.into(), RecordedMetric::new(name, value));
/// }
/// let mut recorded = RecordedResults::default();
/// recorded.scores.push(block);
/// let results = recorded_figures(&recorded);
/// let accuracy = results.estimate("accuracy")?;
/// assert_eq!((accuracy.number(), accuracy.stderr()), (Some(0.75), Some(0.25)));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
pub fn recorded_figures(recorded: &RecordedResults) -> Results {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut results = Results::default();
    (results.total_samples, results.completed_samples) =
        (count(recorded.total_samples), count(recorded.completed_samples));
    results.scores = recorded.scores.iter().enumerate().map(|(at, block)| score(at, block)).collect();
    results
}

fn score(at: usize, block: &RecordedBlock) -> ScoreResult {
    let count = |count: Option<u64>| count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let mut score = ScoreResult::default();
    score.scorer.clone_from(&block.scorer);
    score.reducer.clone_from(&block.reducer);
    score.field = (block.name != block.scorer).then(|| block.name.clone());
    (score.counts.scored, score.counts.unscored) =
        (count(block.scored_samples), count(block.unscored_samples));
    score.params.clone_from(&block.params);
    let rows = block_rows(at, block);
    let is_of_one = |a: &RecordedRow, b: &RecordedRow| {
        let of = |row: &RecordedRow| (row.group.clone(), row.group_key.clone(), row.metric.clone());
        a.group.is_some() && of(a) == of(b)
    };
    score.metrics = rows.chunk_by(is_of_one).filter_map(metric).collect();
    score
}

/// The rows of one metric.
fn metric(rows: &[RecordedRow]) -> Option<MetricResult> {
    let first = rows.first()?;
    let label = |row: &RecordedRow| row.part.clone().unwrap_or_else(|| row.name.clone());
    let value = match (&first.group_key, &first.group) {
        (Some(key), _) => {
            let (all, of_groups): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.is_aggregate);
            let group = |row: &&RecordedRow| Group::new(label(row), row.n.unwrap_or(0), row.estimate());
            let groups = Groups::new(key.clone(), of_groups.iter().map(group).collect());
            MetricValue::Groups(match all.first() {
                Some(all) => groups.with_all(label(all), AggregateBasis::Samples, all.estimate()),
                None => groups,
            })
        }
        (None, Some(_)) => {
            let entries = rows.iter().map(|row| (label(row), Some(row.estimate())));
            MetricValue::Map(entries.collect::<IndexMap<_, _>>())
        }
        (None, None) => MetricValue::One(first.estimate()),
    };
    let name = first.innermost.strip_prefix("inspect_ai/").unwrap_or(&first.innermost);
    let name = without_own_package(name).to_owned();
    let role = match () {
        () if is_mean(&first.innermost) => Role::Location,
        () if is_share(&first.innermost) => Role::Share,
        () if is_error(&first.innermost) => Role::ErrorOf,
        () => Role::Other,
    };
    Some(MetricResult::new(Spec::new(name), role, value))
}
