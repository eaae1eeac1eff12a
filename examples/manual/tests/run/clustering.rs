//! "Clustered Stderr"

use serde_json::{Value as Json, json};

use crate::data::{first_epoch, first_epoch_of, mean, stderr};
use crate::harness::{assert_near, keys, metric, run_both};

/// √( Σ_g (Σ_{i∈g}(x_i − x̄))² · G/(G − 1) ) / n
fn clustered() -> f64 {
    let all = first_epoch();
    let sums = ["physics", "chemistry", "biology"]
        .map(|category| first_epoch_of(category).iter().map(|score| score - mean(&all)).sum::<f64>());
    (sums.iter().map(|sum| sum * sum).sum::<f64>() * 3.0 / 2.0).sqrt() / all.len() as f64
}

#[test]
fn the_error_knows_that_categories_belong_together() {
    // By hand: x̄ = 15/24 = 5/8; the sums are 7 − 10·5/8 = 3/4, 4 − 8·5/8 = −1 and 4 − 6·5/8 = 1/4.
    let by_hand = ((9.0 / 16.0 + 1.0 + 1.0 / 16.0) * 3.0 / 2.0_f64).sqrt() / 24.0;
    assert_near(clustered(), by_hand);
    for log in run_both("gpqa_clustered") {
        let block = log.block();
        assert_eq!(keys(block), ["accuracy", "stderr"]);
        assert_near(metric(block, "accuracy").value, mean(&first_epoch()));
        let error = metric(block, "stderr");
        assert_near(error.value, by_hand);
        assert!((error.value - stderr(&first_epoch())).abs() > 0.01, "not the plain one");
        assert_eq!(Json::from(error.params.clone()), json!({"cluster": "category"}));
        let recorded = json!([
            {"name": "inspect_ai/accuracy", "options": {}},
            {"name": "inspect_ai/stderr", "options": {"cluster": "category"}},
        ]);
        assert_eq!(*log.task_metrics(), recorded);
    }
}
