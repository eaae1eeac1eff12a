//! The two plain tables: values to floats, values to Python's text.

use errorbar_core::python_text::json_text;
use errorbar_core::{Leaf, value_to_float};
use errorbar_test_support::conformance::read_json;
use serde_json::Value as Json;

use super::case;
use super::compare::close;

#[test]
fn value_to_float_of_everything() {
    let json = read_json("value_to_float.json");
    let rows = json["rows"].as_array().unwrap();
    assert!(rows.len() >= 100);
    let mut problems = Vec::new();
    for row in rows {
        let mut conversion = value_to_float();
        for (name, grade) in row["args"].as_object().unwrap() {
            let grade = case::leaf(grade);
            conversion = match name.as_str() {
                "correct" => conversion.correct(grade),
                "incorrect" => conversion.incorrect(grade),
                "partial" => conversion.partial(grade),
                "noanswer" => conversion.noanswer(grade),
                other => panic!("{other}"),
            };
        }
        // Unscored never reaches a conversion; the reference passes not-a-number through.
        let json = &row["value"];
        let converted = match json {
            Json::Null => conversion.convert_leaf(Leaf::Null.view()),
            _ if case::special(json).is_some_and(f64::is_nan) => continue,
            _ => conversion.convert(case::value(json).view()),
        };
        let expected = case::special(&row["expect"]).or(row["expect"].as_f64()).unwrap();
        if !close(converted.value, expected, 0.0) || converted.convertible == row["warned"].as_bool().unwrap()
        {
            problems.push(format!("{row}: {converted:?}"));
        }
    }
    assert!(problems.is_empty(), "{} of {}:\n{}", problems.len(), rows.len(), problems.join("\n"));
}

#[test]
fn python_text_of_everything() {
    let json = read_json("python_text.json");
    let rows = json["rows"].as_array().unwrap();
    assert!(rows.len() >= 60);
    let mut problems = Vec::new();
    for row in rows {
        if has_special(&row["value"]) || is_big_integer(row) {
            continue;
        }
        let text = json_text(&row["value"]);
        if row["text"] != text.as_str() {
            problems.push(format!("{row}: {text}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Metadata is JSON in our types and cannot hold such a float.
fn has_special(json: &Json) -> bool {
    match json {
        _ if case::special(json).is_some() => true,
        Json::Array(items) => items.iter().any(has_special),
        Json::Object(map) => map.values().any(has_special),
        _ => false,
    }
}

/// An integer beyond 64 bits, which our JSON reads as a float (verdict `json-metadata`).
fn is_big_integer(row: &Json) -> bool {
    row["value"].as_f64().is_some_and(|f| f >= 2f64.powi(64))
        && row["text"].as_str().unwrap().bytes().all(|b| b.is_ascii_digit())
}
