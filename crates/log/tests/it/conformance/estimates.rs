//! For every case, the rows of estimates and what a log records are the same wherever both have a number.

use std::collections::HashMap;

use errorbar_core::{EstimateRow, Results, Role};
use errorbar_log::eval::RecordedResults;
use errorbar_log::inspect::recover;
use errorbar_test_support::conformance::cases;

use super::case::{self, Computed, Outcome};

/// How many numbers were compared.
#[derive(Default)]
struct Compared {
    values: usize,
    errors: usize,
    intervals: usize,
}

#[test]
fn estimates_are_what_logs_record() {
    let mut problems = Vec::new();
    let mut compared = Compared::default();
    for file in super::files() {
        for case in cases(&file) {
            if let Outcome::Results(computed) = case::run(&case) {
                for problem in check(&computed, &mut compared) {
                    problems.push(format!("{file} {}: {problem}", case.name));
                }
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems[..problems.len().min(40)].join("\n")
    );
    let Compared { values, errors, intervals } = compared;
    assert!(values > 2_400 && errors > 160 && intervals > 60, "{values} {errors} {intervals}");
}

fn check(computed: &Computed, compared: &mut Compared) -> Vec<String> {
    let mut problems = Vec::new();
    let results = &computed.evaluation.results;
    let rows: Vec<EstimateRow<'_>> =
        results.rows().into_iter().filter(|row| is_recorded(computed, row)).collect();
    let has_scores = |row: &EstimateRow<'_>| computed.recorded.scores[row.score].scored_samples != Some(0);
    let in_log = recover(&computed.recorded);
    let recovered: Vec<EstimateRow<'_>> = in_log.rows().into_iter().filter(has_scores).collect();
    if rows.len() != recovered.len() {
        let keys: Vec<&str> = recovered.iter().map(key).collect();
        let names: Vec<_> = rows.iter().map(|row| (row.metric, row.label, row.key)).collect();
        return vec![format!("{} rows {names:?}, in the log {keys:?}", rows.len())];
    }
    // The same without what our logs have beside the numbers: paired by name.
    let paired = recover(&without_estimates(&computed.recorded));
    let paired = by_key(&paired);
    for (row, recovered) in rows.iter().zip(&recovered) {
        let name = format!("{} of {}", key(recovered), recovered.of.name());
        let mut differ = |what: &str, ours: Option<f64>, theirs: Option<f64>| {
            if ours != theirs {
                problems.push(format!("{name}: {what} is {ours:?}, in the log {theirs:?}"));
            }
        };
        let estimate = &row.estimate;
        let interval = estimate.interval.as_ref().ok();
        let in_log = recovered.estimate.interval.as_ref().ok();
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        differ("the error", finite(estimate.stderr()), recovered.estimate.stderr());
        differ("the lower end", finite(interval.map(|i| i.lower)), in_log.map(|i| i.lower));
        differ("the upper end", finite(interval.map(|i| i.upper)), in_log.map(|i| i.upper));
        differ("the level", interval.map(|i| i.level), in_log.map(|i| i.level));
        let is_value = row.role != Role::IntervalOf;
        let metric = &computed.recorded.scores[row.score].metrics[key(recovered)];
        if let (true, Some(value)) = (is_value && !metric.value.is_nan(), estimate.number()) {
            compared.values += 1;
            differ("the number", Some(value), Some(metric.value));
            differ("the value", finite(Some(value)), finite(recovered.estimate.number()));
        }
        // An error or interval that a metric computed is what the entry of that metric has.
        let Some(paired) = paired.get(&(row.score, key(recovered).to_owned())) else { continue };
        if let (Some(_), Some(error), Some(of_name)) =
            (row.error_metric, estimate.stderr(), paired.estimate.stderr())
        {
            compared.errors += 1;
            differ("the error by name", Some(error), Some(of_name));
        }
        if let (Some(_), Some(interval), Some(of_name)) =
            (row.interval_metric, interval, paired.estimate.interval.as_ref().ok())
        {
            compared.intervals += 1;
            differ("the lower end by name", Some(interval.lower), Some(of_name.lower));
            differ("the upper end by name", Some(interval.upper), Some(of_name.upper));
        }
    }
    problems
}

/// Groups without a score are not in logs, and where there is no score at all nothing but names is.
fn is_recorded(computed: &Computed, row: &EstimateRow<'_>) -> bool {
    let score = &computed.evaluation.results.scores[row.score];
    score.counts.scored > 0 && (row.group.is_none() || row.estimate.n > 0 || row.estimate.value.is_ok())
}

fn by_key(recovered: &Results) -> HashMap<(usize, String), EstimateRow<'_>> {
    recovered.rows().into_iter().map(|row| ((row.score, key(&row).to_owned()), row)).collect()
}

/// The key of a row in the log.
fn key<'r>(row: &'r EstimateRow<'_>) -> &'r str {
    row.estimate.notes.log_key.as_deref().unwrap()
}

fn without_estimates(recorded: &RecordedResults) -> RecordedResults {
    let mut recorded = recorded.clone();
    for metric in recorded.scores.iter_mut().flat_map(|block| block.metrics.values_mut()) {
        metric.metadata.as_mut().and_then(|notes| notes.remove("estimate"));
    }
    recorded
}
