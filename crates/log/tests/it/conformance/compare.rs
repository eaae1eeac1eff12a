//! Ours against the reference: keys, names, counts and order exactly, numbers to 1e-9.

use errorbar_core::{Reduction, Score, ScoreColumns, Value};
use errorbar_log::eval::{RecordedBlock, RecordedMetric, RecordedResults};
use errorbar_test_support::conformance::ReferenceCase;
use serde_json::Value as Json;

use super::case::{self, Outcome};

/// Everything that differs from the reference.
pub(crate) fn differences(case: &ReferenceCase, outcome: &Outcome) -> Vec<String> {
    let expected_error = case.expect.get("error");
    match (outcome, expected_error) {
        // At which step a mistake is found may differ: ours finds them earlier.
        (Outcome::BuildError(_) | Outcome::ComputeError(_), Some(_)) => Vec::new(),
        (Outcome::BuildError(e) | Outcome::ComputeError(e), None) => vec![format!("ours fails: {e}")],
        (Outcome::Results(computed), Some(error)) => {
            if computed.failures().next().is_some() {
                Vec::new()
            } else {
                vec![format!("the reference fails: {error}")]
            }
        }
        (Outcome::Results(computed), None) => {
            let mut found = Vec::new();
            compare_results(&case.expect["results"], &computed.recorded, &mut found);
            found.extend(computed.failures().map(|f| format!("{} fails: {}", f.metric, f.error)));
            if let Some(reductions) = case.expect["reductions"].as_array() {
                compare_reductions(
                    reductions,
                    &computed.evaluation.reductions,
                    &computed.columns,
                    &mut found,
                );
            }
            found
        }
    }
}

fn compare_results(expected: &Json, results: &RecordedResults, found: &mut Vec<String>) {
    equal(found, "total_samples", &expected["total_samples"], &Json::from(results.total_samples));
    let mut headline = serde_json::to_value(&results.headline).unwrap();
    if let Some(reducer) = headline.get_mut("reducer") {
        *reducer = reducer.as_str().map(short_reducer).map_or(Json::Null, Json::from);
    }
    equal(found, "headline", &expected["headline"], &headline);
    let blocks = expected["scores"].as_array().unwrap();
    if blocks.len() != results.scores.len() {
        let ours: Vec<_> = results.scores.iter().map(|b| (&b.scorer, &b.name, &b.reducer)).collect();
        found.push(format!("{} blocks, expected {}: {ours:?}", results.scores.len(), blocks.len()));
        return;
    }
    for (expected, block) in blocks.iter().zip(&results.scores) {
        compare_block(expected, block, found);
    }
}

fn compare_block(expected: &Json, block: &RecordedBlock, found: &mut Vec<String>) {
    for (field, ours) in [
        ("name", Json::from(block.name.as_str())),
        ("scorer", Json::from(block.scorer.as_str())),
        ("reducer", block.reducer.as_deref().map(short_reducer).map_or(Json::Null, Json::from)),
        ("scored_samples", Json::from(block.scored_samples.unwrap())),
        ("unscored_samples", Json::from(block.unscored_samples.unwrap())),
    ] {
        equal(found, field, &expected[field], &ours);
    }
    let metrics = expected["metrics"].as_object().unwrap();
    let keys: Vec<&String> = metrics.keys().collect();
    let ours: Vec<&String> = block.metrics.keys().collect();
    if keys != ours {
        found.push(format!("keys {ours:?}, expected {keys:?}"));
        return;
    }
    let scale = metrics.values().filter_map(|m| m["value"].as_f64()).map(f64::abs).fold(0.0, f64::max);
    for ((key, expected), entry) in metrics.iter().zip(block.metrics.values()) {
        compare_entry(key, expected, entry, scale, found);
    }
}

fn compare_entry(key: &str, expected: &Json, entry: &RecordedMetric, scale: f64, found: &mut Vec<String>) {
    equal(found, &format!("{key}.name"), &expected["name"], &Json::from(entry.name.as_str()));
    let group = entry.group.clone().map_or(Json::Null, Json::from);
    equal(found, &format!("{key}.group"), &expected["group"], &group);
    equal(
        found,
        &format!("{key}.params"),
        &without_conversions(&expected["params"]),
        &without_conversions(&entry.params.clone().into()),
    );
    let wanted = case::special(&expected["value"]).or(expected["value"].as_f64()).unwrap();
    let random = |field: &str| expected.get(field).and_then(Json::as_f64);
    let agrees = match (random("sd"), random("min"), random("max")) {
        (Some(sd), Some(min), Some(max)) => {
            (entry.value - wanted).abs() <= 6.0 * sd || (min..=max).contains(&entry.value)
        }
        // A figure that is zero but for the rounding of the reference may be as far off as that.
        _ => close(entry.value, wanted, (scale * 1e-15).max(1e-12)),
    };
    if !agrees {
        found.push(format!("{key} is {}, expected {wanted}", entry.value));
    }
}

/// The reference names a reducer by name and k alone; we record every argument (verdict `reducer-name`).
fn short_reducer(name: &str) -> String {
    match (name.split_once("(k="), name.split_once('(')) {
        (Some((name, rest)), _) => {
            let k: String = rest.chars().take_while(char::is_ascii_digit).collect();
            format!("{name}_{k}")
        }
        (None, Some((name, _))) => name.to_owned(),
        (None, None) => name.to_owned(),
    }
}

/// A conversion is recorded by its spec; the reference records only that there was one.
fn without_conversions(params: &Json) -> Json {
    match params {
        Json::Object(map) => map
            .iter()
            .map(|(key, value)| match key.as_str() {
                "to_float" | "value_to_float" => (key.clone(), Json::from("a conversion")),
                _ => (key.clone(), without_conversions(value)),
            })
            .collect(),
        other => other.clone(),
    }
}

pub(crate) fn close(ours: f64, wanted: f64, absolute: f64) -> bool {
    (ours.is_nan() && wanted.is_nan())
        || ours == wanted
        || ours.is_finite()
            && wanted.is_finite()
            && (ours - wanted).abs() <= absolute.max(1e-9 * ours.abs().max(wanted.abs()))
}

fn compare_reductions(
    expected: &[Json],
    reductions: &[Reduction],
    columns: &ScoreColumns,
    found: &mut Vec<String>,
) {
    if expected.len() != reductions.len() {
        found.push(format!("{} reductions, expected {}", reductions.len(), expected.len()));
        return;
    }
    for (expected, reduction) in expected.iter().zip(reductions) {
        equal(found, "reduction scorer", &expected["scorer"], &Json::from(reduction.scorer.as_str()));
        let reducer = reduction.reducer.as_deref().map(short_reducer).map_or(Json::Null, Json::from);
        equal(found, "reduction reducer", &expected["reducer"], &reducer);
        let samples = expected["samples"].as_array().unwrap();
        if samples.len() != reduction.len() {
            found.push(format!("{} reduced samples, expected {}", reduction.len(), samples.len()));
            continue;
        }
        for (sample, (id, score)) in samples.iter().zip(reduction.iter(columns)) {
            compare_sample(sample, &id.to_string(), &score, found);
        }
    }
}

fn compare_sample(expected: &Json, id: &str, score: &Score, found: &mut Vec<String>) {
    equal(found, "sample_id", &expected["sample_id"], &Json::from(id));
    let wanted = case::value(&expected["value"]);
    if !same_value(&score.value, &wanted) {
        found.push(format!("sample {id}: {:?}, expected {wanted:?}", score.value));
    }
    for (field, ours) in
        [("answer", &score.answer), ("explanation", &score.explanation), ("reason", &score.reason)]
    {
        let ours = ours.clone().map_or(Json::Null, Json::from);
        equal(found, &format!("sample {id} {field}"), &expected[field], &ours);
    }
    let metadata = score.metadata.clone().map_or(Json::Null, Json::from);
    equal(found, &format!("sample {id} metadata"), &nan_as_null(&expected["metadata"]), &metadata);
}

fn nan_as_null(json: &Json) -> Json {
    match json {
        _ if case::special(json).is_some() => Json::Null,
        Json::Array(items) => items.iter().map(nan_as_null).collect(),
        Json::Object(map) => map.iter().map(|(k, v)| (k.clone(), nan_as_null(v))).collect(),
        other => other.clone(),
    }
}

/// Types exactly, floats to the tolerance of all figures.
fn same_value(ours: &Value, wanted: &Value) -> bool {
    use errorbar_core::Leaf;
    let leaf = |a: &Leaf, b: &Leaf| match (a, b) {
        (Leaf::Float(a), Leaf::Float(b)) => close(*a, *b, 1e-12),
        _ => a == b,
    };
    match (ours, wanted) {
        (Value::Float(a), Value::Float(b)) => close(*a, *b, 1e-12),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| leaf(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.keys().eq(b.keys()) && a.values().zip(b.values()).all(|(a, b)| leaf(a, b))
        }
        _ => ours == wanted,
    }
}

fn equal(found: &mut Vec<String>, what: &str, expected: &Json, ours: &Json) {
    if expected != ours {
        found.push(format!("{what} is {ours}, expected {expected}"));
    }
}
