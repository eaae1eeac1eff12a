//! Scores that are small whole numbers stay in a byte each up to the metrics. That must not show: the same
//! scores as floats give the same figures, to the bit.

use crate::projected::recorded::{Results, results};
use errorbar_core::{MetricItem, Metrics, Plan, Reducers, Registry, Score, ScoreColumns, Value};

const METRICS: &[&str] = &[
    "accuracy",
    "mean",
    "var",
    "std",
    "stderr",
    "stderr(cluster=\"doc\")",
    "bootstrap_stderr(num_samples=50)",
    "ci",
    "ci(cluster=\"doc\")",
    "ci(method=\"bootstrap\", num_samples=50)",
    "ci(method=\"bootstrap\", num_samples=50, cluster=\"doc\")",
    "grouped(mean(), \"doc\")",
];

/// Scores of samples in clusters, every epoch of one after the other; `None` is no score.
fn columns(scores: &[Vec<Option<i64>>], value: impl Fn(i64) -> Value) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    let epochs = scores.first().map_or(0, Vec::len);
    for epoch in 0..epochs {
        for (sample, of_sample) in scores.iter().enumerate() {
            let row = columns.push(format!("q{sample}"), epoch as u32 + 1);
            let row = row.metadata("doc", format!("doc {}", sample % 7));
            if let Some(score) = of_sample[epoch] {
                row.score("s", Score::new(value(score))).unwrap();
            }
        }
    }
    columns
}

fn figures(columns: &ScoreColumns, metrics: &[&str], reducers: Reducers) -> Vec<String> {
    let registry = Registry::built_in();
    let metrics = metrics
        .iter()
        .map(|text| MetricItem::Metric(registry.metric(&text.parse().unwrap()).unwrap()))
        .collect();
    let plan = Plan::new().metrics(Metrics::List(metrics)).reducers(reducers).seed(5);
    let Results { scores, warnings, .. } = results(columns, &plan).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let entry = |(key, entry)| format!("{key}: {entry:?}");
    scores.iter().flat_map(|block| block.metrics.iter().map(entry)).collect()
}

#[test]
fn bytes_give_the_figures_of_floats() {
    // Right and wrong, numbers up to the largest byte, and some beyond; with and without gaps; one epoch and three.
    for (largest, gaps, epochs) in [
        (1, false, 1),
        (1, true, 1),
        (2, true, 1),
        (255, false, 1),
        (300, false, 1),
        (1, false, 3),
        (200, true, 3),
    ] {
        let score = |sample: i64, epoch: i64| {
            let gap = gaps && (sample + epoch) % 5 == 0;
            (!gap).then_some((sample * sample * 31 + epoch * 17 + sample / 3) % (largest + 1))
        };
        let scores: Vec<Vec<Option<i64>>> =
            (0..200).map(|sample| (0..epochs).map(|epoch| score(sample, epoch)).collect()).collect();
        let mut metrics = METRICS.to_vec();
        metrics.extend((largest == 1).then_some("ci_wilson"));
        for reducers in [Reducers::Implicit, Reducers::Disabled] {
            let of_ints = figures(&columns(&scores, Value::Int), &metrics, reducers.clone());
            let floats = columns(&scores, |score| Value::Float(score as f64));
            let of_floats = figures(&floats, &metrics, reducers);
            assert!(of_ints.len() >= metrics.len());
            assert_eq!(of_ints, of_floats, "up to {largest}, gaps: {gaps}, epochs: {epochs}");
        }
    }
}
