//! What must hold for any scores: no panic, the same bits in any order and on any number of threads.

use std::collections::BTreeMap;

use crate::projected::recorded::{Results, results};
use errorbar_core::{Leaf, Plan, Reducers, Registry, Score, ScoreColumns, Value};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// Every metric, with the arguments that change how it computes.
const METRICS: &[&str] = &[
    "accuracy",
    "mean",
    "var",
    "std",
    "stderr",
    "stderr(cluster='c')",
    "bootstrap_stderr(num_samples=20)",
    "ci",
    "ci(cluster='c', level=0.5)",
    "ci(method='bootstrap', num_samples=20)",
    "ci(method='bootstrap', num_samples=20, cluster='c')",
    "ci_wilson",
    "ci_wilson(cluster='c')",
    "grouped(mean(), 'c')",
    "grouped(stderr(), 'c', all='groups', name_template='g_{group_name}')",
    "grouped(ci(), 'c', all=False)",
    "grouped(ci_wilson(cluster='c'), 'c', all='groups')",
    "grouped(stderr(cluster='c'), 'c', all=False)",
    "errorbar/grouped(errorbar/mean(), 'c')",
    "aggregate('a', mean(), on_missing='skip')",
    "frequency",
    "frequency(['C', 'I'], normalize=False)",
    "krippendorff_alpha",
    "krippendorff_alpha('ordinal', value_to_float())",
    "krippendorff_alpha('interval', value_to_float())",
    "perplexity_per_token",
    "perplexity_per_seq",
    "mean(to_float=value_to_float(correct=1, incorrect='x'))",
];

const REDUCERS: &[&str] = &[
    "mean",
    "median",
    "mode",
    "max",
    "pass_at_2",
    "pass_k_2",
    "at_least(2, value=0.5)",
    "errorbar/pass_at_2",
    "majority",
    "collect",
];

fn any_leaf() -> impl Strategy<Value = Leaf> {
    prop_oneof![
        Just(Leaf::Unscored),
        Just(Leaf::Null),
        any::<bool>().prop_map(Leaf::Bool),
        any::<i64>().prop_map(Leaf::Int),
        (-3i64..4).prop_map(Leaf::Int),
        any::<f64>().prop_map(Leaf::from),
        prop::sample::select(vec!["C", "I", "P", "N", "yes", "0.5", "", "nan", "x"]).prop_map(Leaf::from),
        ".{0,6}".prop_map(Leaf::from),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any_leaf().prop_map(Value::from),
        1 => prop::collection::vec(any_leaf(), 0..4).prop_map(Value::List),
        1 => prop::collection::vec((prop::sample::select(vec!["a", "b", "al"]), any_leaf()), 0..3).prop_map(Value::map),
    ]
}

fn any_metadata() -> impl Strategy<Value = Option<Json>> {
    prop::sample::select(vec![
        None,
        Some(Json::Null),
        Some(json!("x")),
        Some(json!("all")),
        Some(json!(1)),
        Some(json!(1.0)),
        Some(json!(true)),
        Some(json!([1, "a"])),
    ])
}

/// Values that every metric over numbers takes, far apart in size.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => prop::sample::select(vec![0.0, 1.0, 0.5]),
        1 => -1e3..1e3,
        1 => prop::sample::select(vec![1e9 + 0.1, 1e-300, -1e16, 1e16, 3.5e15]),
    ]
}

#[derive(Clone, Debug)]
struct RowOf {
    id: u8,
    epoch: u32,
    value: Option<Value>,
    cluster: Option<Json>,
}

fn columns(rows: &[RowOf]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for row in rows {
        let mut pushed = columns.push(row.id.to_string(), row.epoch);
        if let Some(cluster) = &row.cluster {
            pushed = pushed.metadata("c", cluster.clone());
        }
        if let Some(value) = &row.value {
            let score = Score::new(value.clone())
                .metadata("num_tokens", 7)
                .metadata("sum_log_probs", -f64::from(row.id));
            pushed.score("s", score).unwrap();
        }
    }
    columns
}

fn plan(metrics: &str, reducers: &[&str]) -> Plan {
    let registry = Registry::built_in();
    let metrics = registry.metrics(&metrics.parse().unwrap()).unwrap();
    let reducers = reducers.iter().map(|r| registry.reducer(&r.parse().unwrap()).unwrap()).collect();
    Plan::new().metrics(metrics).reducers(Reducers::explicit(reducers)).seed(11)
}

/// Every figure by where it stands, as bits; the order of groups is not part of it.
fn bits(results: &Results) -> BTreeMap<(String, Option<String>, String), u64> {
    let mut all = BTreeMap::new();
    for block in &results.scores {
        for (key, entry) in &block.metrics {
            all.insert((block.name.clone(), block.reducer.clone(), key.clone()), entry.value.to_bits());
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_mix_of_values_panics(
        rows in prop::collection::vec((0u8..6, 1u32..4, prop::option::of(any_value()), any_metadata()), 0..14),
    ) {
        let rows: Vec<RowOf> =
            rows.into_iter().map(|(id, epoch, value, cluster)| RowOf { id, epoch, value, cluster }).collect();
        let columns = columns(&rows);
        let list = format!("[{}]", METRICS.join(", "));
        for reducer in REDUCERS {
            let _ = results(&columns, &plan(&list, &[reducer]));
        }
        let _ = results(&columns, &plan(&list, &[]));
        let _ = results(&columns, &plan(&format!("{{'a*': {list}, '*': [mean]}}"), &[]));
    }

    #[test]
    fn order_changes_no_bit(
        values in prop::collection::vec(number(), 1..40),
        epochs in 1u32..4,
        shuffle in any::<u64>(),
    ) {
        let mut rows: Vec<RowOf> = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let (id, epoch) = (at as u32 / epochs, at as u32 % epochs + 1);
            let cluster = Some(json!(format!("k{}", id % 5)));
            rows.push(RowOf { id: id as u8, epoch, value: Some(Value::from(*value)), cluster });
        }
        let mut shuffled = rows.clone();
        // A fixed, seeded permutation: sort by a hash of the place.
        shuffled.sort_by_key(|row| (u64::from(row.id) * 31 + u64::from(row.epoch)).wrapping_mul(shuffle | 1).rotate_left(17));
        // One metric of shares only: a second one has the same keys, which are numbered, and the number of "0.0" depends
        // on whether "0.05" or "0.052" is taken before it.
        let is_compared = |m: &&str| !["aggregate", "wilson", "normalize=False"].iter().any(|word| m.contains(word));
        let numeric: Vec<&str> = METRICS.iter().copied().filter(is_compared).collect();
        let list = format!("[{}]", numeric.join(", "));
        for reducers in [&["mean"][..], &["median", "max", "pass_at_2"], &[]] {
            let plan = plan(&list, reducers);
            let ordered = results(&columns(&rows), &plan).unwrap();
            let other = results(&columns(&shuffled), &plan).unwrap();
            prop_assert_eq!(bits(&ordered), bits(&other));
        }
    }

}

#[test]
fn threads_change_no_bit() {
    let rows: Vec<RowOf> = (0..200u32)
        .map(|at| RowOf {
            id: at as u8,
            epoch: 1,
            value: Some(Value::from(f64::from(at * 7919 % 1000) / 997.0)),
            cluster: Some(json!(at % 20)),
        })
        .collect();
    let columns = columns(&rows);
    let plan = plan(
        "[bootstrap_stderr, ci(method='bootstrap'), ci(method='bootstrap', cluster='c'), stderr(cluster='c')]",
        &["mean"],
    );
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        bits(&pool.install(|| results(&columns, &plan)).unwrap())
    };
    let one = on(1);
    assert_eq!(one.len(), 6);
    for threads in [2, 3, 8] {
        assert_eq!(one, on(threads), "{threads} threads");
    }
}

#[test]
fn the_seed_alone_decides() {
    let rows: Vec<RowOf> = (0..50)
        .map(|at| RowOf { id: at, epoch: 1, value: Some(Value::from(f64::from(at).sqrt())), cluster: None })
        .collect();
    let columns = columns(&rows);
    let of_seed = |seed| bits(&results(&columns, &plan("bootstrap_stderr", &["mean"]).seed(seed)).unwrap());
    assert_eq!(of_seed(1), of_seed(1));
    assert_ne!(of_seed(1), of_seed(2));
    let own = results(&columns, &plan("bootstrap_stderr(seed=2)", &["mean"]).seed(1)).unwrap();
    assert_eq!(bits(&own), of_seed(2));
    let entry = &own.scores[0].metrics["bootstrap_stderr"];
    assert_eq!(entry.metadata.as_ref().unwrap()["seed"], 2);
    assert!(entry.params.is_empty(), "the seed is no argument that logs record");
}
