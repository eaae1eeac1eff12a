//! Comparisons as JSON, CSV and JUnit XML.

use errorbar_core::IntervalMethod;
use errorbar_inference::{ComparisonReport, Gate, GateOutcome, TestMethod};
use insta::assert_snapshot;
use serde_json::Value;

use super::check_columns;
use super::comparison_fixtures::{
    all, flips, four_sides, gated, hostile, nothing_known, two_sides, with_flips,
};
use crate::{
    COMPARISON_SCHEMA, CaseOutcome, ComparisonView, Csv, JUnitCase, Json, REPLACEMENT, Render, TestSuite,
    comparison_columns, gate_cases,
};

/// The keys that are promised, in order; others come behind them.
const KEYS: &str = "base,other,scorer,metric,group_key,group,n,only_base,only_other,base_value,other_value,difference,\
    stderr,df,lower,upper,level,method,p_value,test,p_adjusted,correction,p_mcnemar_exact,p_mcnemar_mid,p_sign_flip,p_tost,\
    wins,losses,ties,correlation,variance_removed,mde,gate";

fn json(view: &ComparisonView<'_>) -> Value {
    serde_json::from_str(&Json.comparison_text(view)).unwrap()
}

fn schema() -> jsonschema::Validator {
    jsonschema::draft202012::new(&serde_json::from_str(COMPARISON_SCHEMA).unwrap()).unwrap()
}

#[test]
fn json_is_valid_by_the_schema() {
    let (schema, flips) = (schema(), flips());
    for report in all() {
        let output = json(&with_flips(&report, &flips));
        let problems: Vec<String> =
            schema.iter_errors(&output).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(problems.is_empty(), "{problems:#?}");
        assert_eq!(output["comparisons"].as_array().unwrap().len(), report.comparisons.len());
        assert_eq!(output["flips"].as_array().unwrap().len(), 3);
        check_columns(&comparison_columns(), &output["comparisons"]);
    }
    // The schema is strict: each of these is refused.
    let output = json(&with_flips(&four_sides(), &flips));
    for (path, wrong) in [
        ("/schema", Value::from(2)),
        ("/comparisons/0/difference", Value::from("0.1")),
        ("/comparisons/0/stderr", Value::from(0.0)),
        ("/comparisons/0/p_value", Value::from(1.5)),
        ("/comparisons/0/test", Value::from("T")),
        ("/comparisons/0/gate", Value::from(true)),
        ("/comparisons/0/undefined", serde_json::json!({})),
        ("/flips/0/id", Value::Null),
        ("/rankings/0/ranks/0/rank", Value::from(0)),
    ] {
        let mut output = output.clone();
        *output.pointer_mut(path).unwrap() = wrong;
        assert!(!schema.is_valid(&output), "{path}");
    }
    for (path, key) in
        [("", "flips"), ("/comparisons/0", "note"), ("/flips/0", "input"), ("/rankings/0", "n")]
    {
        let (mut without, mut with) = (output.clone(), output.clone());
        without.pointer_mut(path).and_then(Value::as_object_mut).unwrap().remove(key).unwrap();
        with.pointer_mut(path).and_then(Value::as_object_mut).unwrap().insert("more".to_owned(), Value::Null);
        assert!(!schema.is_valid(&without) && !schema.is_valid(&with), "{path}");
    }
}

#[test]
fn keys_have_the_promised_order() {
    let promised: Vec<&str> = KEYS.split(',').collect();
    let output = json(&ComparisonView::new(&two_sides()));
    let found: Vec<&str> = output["comparisons"][0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found[..promised.len()], promised);
    let top: Vec<&str> = output.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(top[..3], ["schema", "comparisons", "flips"]);
    assert_eq!(output["flips"], serde_json::json!([]));
    let csv = Csv::default().comparison_text(&ComparisonView::new(&two_sides()));
    assert_eq!(csv.lines().next().unwrap(), found.join(","));
    let flips = flips();
    let output = json(&with_flips(&two_sides(), &flips));
    let flip: Vec<&str> = output["flips"][2].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(flip[..6], ["id", "input", "base_answer", "other_answer", "base_score", "other_score"]);
    assert_eq!(
        (&output["flips"][2]["id"], &output["flips"][0]["id"]),
        (&Value::from(7), &Value::from("geo-1-a"))
    );
}

#[test]
fn numbers_are_those_of_the_report() {
    let report = four_sides();
    let output = json(&ComparisonView::new(&report));
    for (c, record) in report.comparisons.iter().zip(output["comparisons"].as_array().unwrap()) {
        let interval = c.difference.interval.as_ref().unwrap();
        let number = |key: &str| record[key].as_f64();
        assert_eq!(number("difference"), c.difference.number());
        assert_eq!(number("stderr"), c.difference.stderr());
        assert_eq!((number("lower"), number("upper")), (Some(interval.lower), Some(interval.upper)));
        assert_eq!((number("p_adjusted"), record["correction"].as_str()), (c.p_adjusted, Some("holm")));
        assert_eq!(number("p_mcnemar_exact"), c.flips.map(|flips| flips.p_exact));
        assert_eq!(record["ties"].as_u64(), c.ties);
        assert!(record["undefined"].is_null() && record["gate"].is_null());
    }
}

#[test]
fn what_is_undefined_is_null_with_its_reason() {
    let output = json(&ComparisonView::new(&nothing_known()));
    let [none, one, equal, other] = [0, 1, 2, 3].map(|at| &output["comparisons"][at]);
    assert!(none["difference"].is_null() && none["undefined"]["difference"] == "n = 0");
    assert!(one["p_value"].is_null() && one["undefined"]["p_value"] == "n < 2");
    assert!(one["undefined"]["interval"] == "n < 2" && one["difference"] == 1.0);
    assert!(equal["stderr"].is_null() && equal["undefined"]["stderr"] == "no spread");
    assert_eq!(equal["undefined"]["correlation"], "no spread in 12 scores");
    assert!(other["undefined"]["difference"].as_str().unwrap().starts_with("the metric gives"));
}

#[test]
fn csv_has_a_row_for_each_comparison() {
    for report in all() {
        let text = Csv::default().comparison_text(&ComparisonView::new(&report));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), report.comparisons.len());
        for (row, c) in rows.iter().zip(&report.comparisons) {
            // Names stay as they are: they may be read again.
            assert_eq!((&row[0], &row[1]), (c.base.as_str(), c.other.as_str()));
        }
    }
    assert_snapshot!("csv", Csv::default().comparison_text(&ComparisonView::new(&nothing_known())));
}

#[test]
fn the_schema_has_every_test() {
    let schema = schema();
    use TestMethod as T;
    let tests = [T::T, T::McNemarMid, T::McNemarExact, T::SignFlip, T::Bootstrap, T::Welch, T::Newcombe];
    let mut output = json(&ComparisonView::new(&two_sides()));
    for name in tests.map(TestMethod::name) {
        output["comparisons"][0]["test"] = Value::from(name);
        assert!(schema.is_valid(&output), "{name}");
    }
    for method in [IntervalMethod::BonettPrice, IntervalMethod::Newcombe] {
        output["comparisons"][0]["method"] = Value::from(method.to_string());
        assert!(schema.is_valid(&output), "{method}");
    }
}

fn outcome(report: &mut ComparisonReport, gate: Gate, outcome: GateOutcome) {
    report.options.gate = Some(gate);
    report.comparisons.iter_mut().for_each(|c| c.gate = Some(outcome));
}

#[test]
fn gates_are_test_cases() {
    let mut report = gated();
    assert_snapshot!("junit", gate_cases(&report, false).to_xml());
    let counts = |report: &ComparisonReport, decisive| {
        let suite = gate_cases(report, decisive);
        (suite.cases.len(), suite.failures(), suite.skipped())
    };
    assert_eq!(counts(&report, false), (2, 1, 0), "a claim that is not shown");
    outcome(&mut report, Gate::NotWorse, GateOutcome::Undecided);
    assert_eq!(counts(&report, false), (2, 0, 2), "nothing is claimed");
    assert_eq!(counts(&report, true), (2, 2, 0), "a decision is asked for");
    outcome(&mut report, Gate::NotWorse, GateOutcome::Failed);
    assert_eq!(counts(&report, false), (2, 2, 0));
    outcome(&mut report, Gate::Equivalent(0.02), GateOutcome::Passed);
    assert_eq!(counts(&report, false), (2, 0, 0));
    report.options.gate = None;
    assert_eq!(counts(&report, false), (0, 0, 0));
}

#[test]
fn xml_is_escaped_and_has_only_characters_of_xml() {
    let (mut report, _) = hostile();
    outcome(&mut report, Gate::Margin(0.01), GateOutcome::Failed);
    let xml = gate_cases(&report, false).to_xml();
    assert!(!xml.contains("<b>") && !xml.contains("]]>"), "{xml}");
    let mut suite = TestSuite { name: "a & \"b\"\n<c>".to_owned(), cases: Vec::new() };
    let (skipped, details) = (CaseOutcome::Skipped("why >".to_owned()), "out\r\n\u{1b}[31m ]]>".to_owned());
    let (name, class_name) = ("x\u{0}\u{b}\u{ffff}y".to_owned(), "\t".to_owned());
    suite.cases.push(JUnitCase { name, class_name, outcome: skipped, details: Some(details) });
    let xml = suite.to_xml();
    assert!(xml.contains("name=\"a &amp; &quot;b&quot;&#10;&lt;c&gt;\""), "{xml}");
    assert!(xml.contains(&format!("name=\"x{0}{0}{0}y\" classname=\"&#9;\"", REPLACEMENT)), "{xml}");
    assert!(xml.contains(&format!("<system-out>out&#13;\n{REPLACEMENT}[31m ]]&gt;</system-out>")), "{xml}");
    assert!(xml.contains("<skipped message=\"why &gt;\"/>"), "{xml}");
}
