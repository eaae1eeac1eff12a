//! Results in parts: merged they are what one machine computes in key order, to the last bit.

mod bytes;
mod catalog;
mod laws;
mod plans;

use errorbar_core::{
    Order, Partial, Plan, Reducers, Registry, Results, SampleId, Score, ScoreColumns, Value,
};
use proptest::prelude::*;
use serde_json::json;

/// What the scores of a set are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Grades,
    Numbers,
    Labels,
    Maps,
    Lists,
    /// Numbers, some of which are infinite.
    Infinite,
    /// All of them at once.
    Mixed,
}

const SHAPES: [Shape; 7] =
    [Shape::Grades, Shape::Numbers, Shape::Labels, Shape::Maps, Shape::Lists, Shape::Infinite, Shape::Mixed];

/// Some bits of the genes of a sample, as a number below `count`.
fn gene(genes: u32, at: u32, count: u32) -> usize {
    (genes.rotate_right(at).wrapping_mul(0x9e37_79b1) >> 16) as usize % count as usize
}

fn value(shape: Shape, genes: u32) -> Value {
    let number = |at: u32| {
        let numbers = [0.0, -0.0, 1.0, 0.25, 1e300, -1e-300, 5e-324, 3.0, f64::NAN, 0.1];
        numbers[gene(genes, at, numbers.len() as u32)]
    };
    match shape {
        Shape::Grades => {
            let grades = [Value::from("C"), "I".into(), "P".into(), true.into(), 1.into(), 0.0.into()];
            grades[gene(genes, 3, 6)].clone()
        }
        Shape::Numbers => match gene(genes, 1, 8) {
            0 => Value::from(gene(genes, 4, 3) as i64),
            1 => Value::from(true),
            _ => Value::from(number(7)),
        },
        Shape::Labels => Value::from(["x", "y", "C", "1", "", "no number"][gene(genes, 5, 6)]),
        Shape::Maps => match gene(genes, 2, 3) {
            0 => Value::map([("b", 1.0), ("a", number(3))]),
            _ => Value::map([("a", [0.0, 1.0][gene(genes, 9, 2)]), ("b", 0.5)]),
        },
        Shape::Lists => Value::list([gene(genes, 3, 2) as i64, gene(genes, 6, 2) as i64]),
        Shape::Infinite => match gene(genes, 8, 4) {
            0 => Value::from([f64::INFINITY, f64::NEG_INFINITY][gene(genes, 10, 2)]),
            _ => value(Shape::Numbers, genes),
        },
        Shape::Mixed => value(SHAPES[gene(genes, 11, 6)], genes),
    }
}

/// The id of a sample: integers and strings, some of which look like integers.
fn id(sample: usize) -> SampleId {
    match sample % 4 {
        0 => SampleId::from(sample as i64),
        1 => SampleId::from(sample.to_string()),
        2 => SampleId::from(format!("q{sample}𝄞")),
        _ => SampleId::from(format!("ü\u{1}{}", sample % 7 * 100 + sample)),
    }
}

/// The scores of some of these samples, each made from its genes, with their rows in no order.
fn columns(shape: Shape, samples: &[u32], is_here: impl Fn(usize) -> bool) -> ScoreColumns {
    let mut rows = Vec::new();
    for (sample, genes) in samples.iter().enumerate().filter(|(sample, _)| is_here(*sample)) {
        for epoch in 1..=3 {
            // Most samples have three epochs.
            if gene(*genes, epoch, 8) > 0 || epoch == 1 {
                rows.push((sample, epoch, genes.rotate_left(7 * epoch) / 3));
            }
        }
    }
    rows.sort_by_key(|(sample, epoch, _)| (sample * 7 + *epoch as usize * 11) % 13);
    // Another machine may have met the scorers in another order.
    let is_reversed = rows.len() % 2 == 1;
    let mut columns = ScoreColumns::new(if is_reversed { ["s", "human"] } else { ["human", "s"] });
    for (sample, epoch, genes) in rows {
        let of_sample = samples[sample];
        // Epochs of some samples start at 0 and leave numbers out.
        let epoch = if gene(of_sample, 12, 5) == 0 { [0, 7, u32::MAX][epoch as usize - 1] } else { epoch };
        let mut row = columns.push_sample(&id(sample), epoch);
        if gene(genes, 13, 20) == 0 {
            row = row.errored();
        }
        let group = [json!("x"), json!("y"), json!(true), json!("True"), json!(null), json!(1.5)];
        row = row.metadata("g", group[gene(of_sample, 17, 6)].clone());
        row = row.metadata("c", [json!("1"), json!(1), json!(2.0)][gene(of_sample, 19, 3)].clone());
        row = row.metadata(
            "w",
            [json!(1), json!(0.1), json!(2.000_000_000_000_000_4)][gene(of_sample, 20, 3)].clone(),
        );
        row = row.metadata("unused", sample);
        row = row.metadata("confidence", [0.5, 0.9, 1.0][gene(genes, 21, 3)]);
        if gene(of_sample, 23, 9) == 0 {
            row = row.metadata("rare", [1, 2]);
        }
        if gene(genes, 25, 10) > 0 {
            let score = match gene(genes, 27, 9) {
                0 => Score::unscored(["refusal", "no_response"][gene(genes, 29, 2)]),
                1 => Score::new(value(shape, genes)).reason("late").answer("x").explanation("y"),
                _ => Score::new(value(shape, genes)),
            };
            let tokens = score.metadata("num_tokens", 2).metadata("sum_log_probs", -1.5);
            row = row.score("s", tokens).unwrap();
        }
        if gene(genes, 30, 3) > 0 {
            row.score("human", Score::new(gene(genes, 31, 2) as i64)).unwrap();
        }
    }
    columns
}

/// All of the results or the error, to the last bit: floats are printed so that they can be read back.
fn shown(results: errorbar_core::Result<Results>) -> String {
    format!("{results:#?}")
}

/// What one machine computes in key order.
fn whole(columns: &ScoreColumns, plan: &Plan) -> String {
    let plan = plan.clone().order(Order::Key);
    shown(plan.evaluate(columns).map(|evaluation| evaluation.results))
}

fn plan(metrics: &str, reducers: Option<&[&str]>, errors: &str) -> Plan {
    let registry = Registry::built_in();
    let mut plan = Plan::new().seed(5).errors(errors.parse().unwrap());
    plan.task_metrics = Some(registry.metrics(&metrics.parse().unwrap()).unwrap());
    if let Some(names) = reducers {
        let build = |name: &&str| registry.reducer(&name.parse().unwrap()).unwrap();
        plan.reducers = Reducers::explicit(names.iter().map(build).collect());
    }
    plan
}

/// Samples of which many look the same.
fn samples(most: usize) -> impl Strategy<Value = Vec<u32>> {
    let genes = prop_oneof![3 => 0..12_u32, 1 => any::<u32>()];
    proptest::collection::vec(genes.prop_map(|genes| genes.wrapping_mul(0x85eb_ca6b)), 0..most)
}

fn merged<'p>(parts: impl IntoIterator<Item = Partial<'p>>) -> Partial<'p> {
    parts.into_iter().reduce(|all, part| all.merge(part).unwrap()).unwrap()
}
