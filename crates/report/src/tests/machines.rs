//! CSV and JSON.

use errorbar_core::{Error, ErrorMethod, Estimate, Interval, IntervalMethod, Role, StdError, Undefined};
use serde_json::{Value, json};

use super::fixtures::{everything, metric, results, score, share, ten_groups};
use super::{all, check_columns};
use crate::{Csv, Json, PartialRun, Render, Report, estimate_columns, estimates};

/// The keys that issue and documentation promise, in order.
const KEYS: &str = "scorer,reducer,unreduced,field,metric,spec,group_key,group,key,index,value,stderr,stderr_fixed,error_method,df,\
    clusters,lower,upper,level,method,side,n,absent,partly_absent,bound_worst,bound_best,absent_as_wrong,effective_n,design_effect,\
    largest_cluster_share,degenerate,seed,draws,undefined,note";

fn parsed(reports: &[Report]) -> Value {
    serde_json::from_str(&Json.to_text(reports)).unwrap()
}

fn schema() -> jsonschema::Validator {
    let text = crate::RESULTS_SCHEMA;
    jsonschema::draft202012::new(&serde_json::from_str(text).unwrap()).unwrap()
}

#[test]
fn a_record_has_the_columns_that_it_declares() {
    let reports = parsed(&all());
    for report in reports.as_array().unwrap() {
        check_columns(&estimate_columns(), &report["estimates"]);
    }
    let declared: Vec<&str> = estimate_columns().into_iter().map(|(name, _)| name).collect();
    assert_eq!(declared.join(","), KEYS);
}

#[test]
fn json_is_valid_by_the_schema() {
    let schema = schema();
    let mut partial = ten_groups();
    partial.partial_run = Some(PartialRun { status: "cancelled".to_owned(), planned: Some(400) });
    (partial.skipped, partial.self_graded) = (2, Some("m".to_owned()));
    let mut limited = ten_groups();
    limited.limits = [("token".to_owned(), 3)].into_iter().collect();
    let reports: Vec<Report> = all().into_iter().chain([partial, limited]).collect();
    let output = parsed(&reports);
    let problems: Vec<String> =
        schema.iter_errors(&output).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(output.as_array().map(Vec::len), Some(7));

    // The schema is strict: each of these is refused.
    for (path, wrong) in [
        ("/0/schema", Value::from(2)),
        ("/0/estimates/0/value", Value::from("0.7")),
        ("/0/estimates/0/method", Value::from("Wilson")),
        ("/0/estimates/0/n", Value::Null),
        ("/0/estimates/0/undefined", serde_json::json!({})),
        ("/0/results/scores/0/epochs", Value::from(1.5)),
    ] {
        let mut output = output.clone();
        *output.pointer_mut(path).unwrap() = wrong;
        assert!(!schema.is_valid(&output), "{path}");
    }
    for (path, key) in [("/0", "estimates"), ("/0/estimates/0", "note"), ("/0/results/scores/0", "unreduced")]
    {
        let (mut without, mut with) = (output.clone(), output.clone());
        without.pointer_mut(path).and_then(Value::as_object_mut).unwrap().remove(key).unwrap();
        with.pointer_mut(path).and_then(Value::as_object_mut).unwrap().insert("more".to_owned(), Value::Null);
        assert!(!schema.is_valid(&without) && !schema.is_valid(&with), "{path}");
    }
}

/// `median` has an interval of `order_statistics`, which the schema refused.
#[test]
fn the_schema_has_every_method() {
    let schema = schema();
    let errors = ErrorMethod::NAMES.into_iter().map(|(_, method)| method);
    let errors = errors.map(|method| {
        let mut estimate = Estimate::new(0.5);
        estimate.error = Ok(StdError::new(0.1, method));
        estimate
    });
    let more = "wild(weights=\"rademacher\")".parse();
    let of_comparisons = [IntervalMethod::BonettPrice, IntervalMethod::Newcombe];
    let intervals = IntervalMethod::NAMES.into_iter().map(|(_, method)| method);
    let intervals = intervals.filter(|method| !of_comparisons.contains(method)).chain(more);
    let intervals = intervals.map(|method| {
        let mut estimate = Estimate::new(0.5);
        estimate.interval = Ok(Interval::new(0.4, 0.6, 0.95, method));
        estimate
    });
    for estimate in errors.chain(intervals) {
        let methods = (
            estimate.error.as_ref().ok().map(|e| e.method),
            estimate.interval.as_ref().ok().map(|i| i.method),
        );
        let report =
            Report::new("t", results(vec![score("s", 9, vec![metric("m", Role::Location, estimate)])]));
        let output = parsed(&[report]);
        let problems: Vec<String> = schema.iter_errors(&output).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{methods:?}: {problems:#?}");
    }
}

#[test]
fn rows_have_the_keys_that_are_promised_in_order() {
    let output = parsed(&[ten_groups()]);
    let row = output.pointer("/0/estimates/0").and_then(Value::as_object).unwrap();
    let keys: Vec<&str> = row.keys().map(String::as_str).collect();
    assert_eq!(keys.join(","), KEYS);
    let csv = Csv::default().to_text(&[ten_groups()]);
    assert_eq!(csv.lines().next(), Some(format!("log,task,model,{KEYS}").as_str()));
}

#[test]
fn machines_have_every_estimate() {
    for report in all() {
        let rows = report.results.rows();
        let output = parsed(std::slice::from_ref(&report));
        let estimates = output.pointer("/0/estimates").and_then(Value::as_array).unwrap();
        assert_eq!(estimates.len(), rows.len());
        for (row, record) in rows.iter().zip(estimates) {
            let number = row.estimate.number().filter(|number| number.is_finite());
            assert_eq!(record["value"].as_f64(), number);
            assert_eq!(record["stderr"].as_f64(), row.estimate.stderr());
            assert_eq!(record["undefined"]["value"].is_string(), number.is_none());
        }
        let failures: usize = report.results.scores.iter().map(|score| score.failures.len()).sum();
        let csv = Csv::default().to_text(&[report]);
        assert_eq!(csv.lines().count(), 1 + estimates.len() + failures);
        assert!(!csv.contains("NaN") && !csv.contains("inf,"), "{csv}");
    }
}

/// The cells of the first row of CSV that has a text.
fn csv_row(csv: &str, has: &str) -> std::collections::HashMap<String, String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let titles = reader.headers().unwrap().clone();
    let found = reader.records().map(Result::unwrap).find(|row| row.iter().any(|cell| cell == has)).unwrap();
    titles.iter().map(str::to_owned).zip(found.iter().map(str::to_owned)).collect()
}

#[test]
fn csv_is_tidy() {
    let csv = Csv::default().to_text(&[ten_groups(), everything()]);
    let history = csv_row(&csv, "history");
    let cell = |key: &str| history[key].as_str();
    assert_eq!(
        (cell("log"), cell("task"), cell("model")),
        ("logs/almanac.eval", "almanac", "openai/heron"),
        "every row has them"
    );
    assert_eq!((cell("metric"), cell("group_key"), cell("group")), ("accuracy", "category", "history"));
    assert_eq!(cell("spec"), "grouped(accuracy(), \"category\")");
    assert_eq!((cell("n"), cell("absent"), cell("degenerate"), cell("key")), ("34", "2", "false", ""));
    assert_eq!(cell("value").parse(), Ok(25.0 / 34.0), "every digit");
    let astronomy = csv_row(&csv, "astronomy");
    assert_eq!((astronomy["value"].as_str(), astronomy["n"].as_str()), ("", "0"));
    assert_eq!(astronomy["undefined"], r#"{"value":"n = 0","stderr":"n = 0","interval":"n = 0"}"#);
    let broken = csv_row(&csv, "broken");
    assert_eq!((broken["value"].as_str(), broken["spec"].as_str(), broken["n"].as_str()), ("", "", ""));
    assert_eq!(broken["undefined"], r#"{"value":"division by zero"}"#);
    let two_way = csv_row(&csv, "two_way");
    assert_eq!((two_way["clusters"].as_str(), two_way["error_method"].as_str()), ("[12,4]", "CR2"));
}

#[test]
fn records_hold_what_there_is() {
    let found = estimates(&everything().results);
    let of = |metric: &str| found.iter().find(|record| record["metric"] == metric).unwrap();
    let accuracy = of("accuracy");
    assert_eq!((&accuracy["error_method"], &accuracy["stderr"]), (&json!("CR0"), &json!(0.09)));
    assert_eq!(accuracy["df"], Value::Null);
    assert_eq!((&accuracy["lower"], &accuracy["level"]), (&json!(0.41), &json!(0.9)));
    assert_eq!((&accuracy["seed"], &accuracy["draws"]), (&json!(7), &json!(1000)));
    assert_eq!(of("infinite")["value"], Value::Null, "not finite");
    assert_eq!(of("words_per_answer")["note"], "units: 40; kind: tokens per word");
    assert_eq!(of("frequency")["key"], "A");
    let third = found.iter().find(|record| record["index"] == 3).unwrap();
    assert_eq!(third["undefined"]["value"], "overflow");
    let nested: Vec<_> = found
        .iter()
        .filter(|record| !record["group_key"].is_null())
        .map(|record| (record["group_key"].as_str().unwrap(), record["group"].as_str().unwrap()))
        .collect();
    let key = "outer / inner";
    assert_eq!(nested, [(key, "x / p"), (key, "x / q"), (key, "x")]);
    // Of two errors, the first is in the row of the mean, the second has its own row.
    let errors: Vec<_> =
        found.iter().filter(|record| record["metric"] == "stderr").map(|record| &record["spec"]).collect();
    assert_eq!(errors, ["stderr"]);
}

#[test]
fn what_is_undefined_has_a_reason_and_no_number() {
    let mut single = share(1, 1, 0);
    single.interval = Err(Undefined::TooFewScores { n: 1 });
    let metrics = vec![
        metric("accuracy", Role::Location, single),
        metric("spread", Role::Spread, 0.2),
        metric("nothing", Role::Other, Estimate::new(f64::NAN)),
    ];
    let mut score = score("match", 1, metrics);
    let error = Error::custom("no, \"really\"\nnot");
    score.failures.push(errorbar_core::Failure { metric: "x".to_owned(), error });
    let report = Report::new("t.csv", results(vec![score]));
    let output = parsed(&[report]);
    let undefined = |at: usize| output[0]["estimates"][at]["undefined"].to_string();
    assert_eq!(undefined(0), r#"{"stderr":"n < 2","interval":"n < 2"}"#);
    assert_eq!(undefined(1), r#"{"stderr":"no error model","interval":"no error model"}"#);
    assert!(undefined(2).starts_with(r#"{"value":"not a number""#));
    assert_eq!(output[0]["results"]["scores"][0]["failures"][0]["metric"], "x");
}
