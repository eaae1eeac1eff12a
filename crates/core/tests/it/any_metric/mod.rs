//! Any metric with an error bar: resampling, quantiles, ratios, labels, conditions.

mod bootstrap;
mod labels;
mod numbers;

use errorbar_core::{
    ErrorPlan, Estimate, Metric, MetricValue, Metrics, Plan, Result, Results, Score, ScoreColumns, ScoreSet,
    Value,
};

/// One epoch of a sample: its id, epoch, score and metadata.
type Row<'r> = (String, u32, Value, Vec<(&'r str, serde_json::Value)>);

fn table(rows: Vec<Row<'_>>) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, epoch, value, metadata) in rows {
        let mut row = columns.push(id, epoch);
        for (key, json) in metadata {
            row = row.metadata(key, json);
        }
        row.score("s", Score::new(value)).unwrap();
    }
    columns
}

/// Scores of one epoch each, two of a cluster `c`.
fn scores(values: &[f64]) -> ScoreColumns {
    let row = |(at, value): (usize, &f64)| {
        (format!("q{at:03}"), 1, Value::from(*value), vec![("c", (at / 2).to_string().into())])
    };
    table(values.iter().enumerate().map(row).collect())
}

/// The value of a metric over unreduced scores.
fn computed(columns: &ScoreColumns, metric: &dyn Metric, errors: ErrorPlan) -> Result<MetricValue> {
    metric.compute(&ScoreSet::unreduced(columns, "s")?.with_errors(errors).with_seed(5).scores())
}

fn estimate(columns: &ScoreColumns, metric: &dyn Metric, errors: ErrorPlan) -> Estimate {
    computed(columns, metric, errors).unwrap().estimate().unwrap().clone()
}

fn evaluated(columns: &ScoreColumns, metrics: Metrics, errors: ErrorPlan) -> Results {
    Plan::new().metrics(metrics).errors(errors).seed(5).evaluate(columns).unwrap().results
}

fn plan(json: &str) -> ErrorPlan {
    json.parse().unwrap()
}

fn close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance * wanted.abs(), "found {found}, wanted {wanted}");
}
