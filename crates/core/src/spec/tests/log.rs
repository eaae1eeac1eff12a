//! Specs to logs and back.

use serde_json::{Value, json};

use super::spec;
use crate::spec::{Arg, MAX_DEPTH, MAX_ITEMS, MetricsSpec, Spec};

fn read(logged: &Value) -> Spec {
    Spec::from_log(logged["name"].as_str().unwrap(), logged["options"].as_object().unwrap()).unwrap()
}

#[test]
fn recorded_as_the_reference_does() {
    // `eval.metrics` of a log that inspect_ai 0.3.285 wrote for grouped(grouped(stderr(cluster="x"), "a"), "b").
    let logged = json!({
        "name": "inspect_ai/grouped",
        "options": {
            "metric": {"type": "metric", "name": "grouped", "params": {
                "metric": {"type": "metric", "name": "stderr", "params": {"cluster": "x"}},
                "group_key": "a",
            }},
            "group_key": "b",
        },
    });
    let read = read(&logged);
    let text =
        r#"inspect_ai/grouped(metric=grouped(metric=stderr(cluster="x"), group_key="a"), group_key="b")"#;
    assert_eq!(read, spec(text));
    assert_eq!(read.to_string(), text);
    assert_eq!(read.to_log(), logged);
}

#[test]
fn every_kind_of_argument_returns() {
    let text = "inspect_ai/f(inner=g(correct='yes', options={'a': [1, 2.0, null], 'b': {}}), cluster=true)";
    let logged = spec(text).to_log();
    assert_eq!(logged["options"]["inner"]["params"]["options"]["a"], json!([1, 2.0, null]));
    assert_eq!(read(&logged), spec(text));
}

#[test]
fn what_logs_have_no_form_for_is_recorded_as_its_text() {
    let logged = spec("mean(to_float=value_to_float(correct='yes'))").to_log();
    assert_eq!(logged["options"]["to_float"], r#"value_to_float(correct="yes")"#);
    assert_eq!(spec("grouped(mean(), 'g')").to_log(), r#"grouped(mean(), "g")"#);
    assert_eq!(spec("f(inner=g(1))").to_log()["options"]["inner"], "g(1)");
}

#[test]
fn other_packages_keep_their_names() {
    let logged = spec("grouped(metric=mine/f1())").to_log();
    assert_eq!(logged["options"]["metric"], json!({"type": "metric", "name": "mine/f1", "params": {}}));
    assert_eq!(read(&logged).kwargs["metric"], Arg::from(Spec::new("mine/f1")));
}

#[test]
fn lists_and_maps_of_metrics_return() {
    let logged = json!([
        {"name": "inspect_ai/stderr", "options": {"cluster": "c"}},
        {"a*": [{"name": "inspect_ai/mean", "options": {}}], "b": []},
    ]);
    let metrics = MetricsSpec::from_log_json(&logged).unwrap();
    assert_eq!(
        metrics.to_string(),
        r#"[inspect_ai/stderr(cluster="c"), {"a*": [inspect_ai/mean()], "b": []}]"#
    );
    let map = MetricsSpec::from_log_json(&logged[1]).unwrap();
    assert_eq!(map.to_string(), r#"{"a*": [inspect_ai/mean()], "b": []}"#);
}

#[test]
fn a_map_is_a_spec_only_with_all_three_entries() {
    for logged in [
        json!({"type": "metric", "name": "x"}),
        json!({"name": "x", "params": {}}),
        json!({"type": 1, "name": "x", "params": {}}),
        json!({"type": "metric", "name": "x", "params": []}),
    ] {
        assert!(matches!(Arg::from_log_json(&logged).unwrap(), Arg::Map(_)), "{logged}");
    }
}

#[test]
fn odd_names_from_logs_can_be_printed() {
    let logged = json!({"name": "my pkg/F1 (macro)", "options": {"top k": 1}});
    let read = read(&logged);
    assert_eq!(read.to_string(), "`my pkg`/`F1 (macro)`(`top k`=1)");
    assert_eq!(spec(&read.to_string()), read);
}

#[test]
fn what_cannot_be_read() {
    let error = Arg::from_log_json(&json!({"a": [0, {"b": u64::MAX}]})).unwrap_err();
    assert_eq!(error.to_string(), "a.1.b: expected a 64-bit integer, found 18446744073709551615");
    let error = Arg::from_log_json(&json!({"type": "metric", "name": "", "params": {}})).unwrap_err();
    assert_eq!(error.to_string(), "name: expected a name, found an empty string");
}

#[test]
fn items_have_a_limit() {
    let list = |count: usize| Value::from(vec![0; count]);
    let map = |count: usize| (0..count).map(|n| (n.to_string(), json!(1))).collect::<Value>();
    for value in [list(MAX_ITEMS + 1), map(MAX_ITEMS + 1)] {
        let error = Arg::from_log_json(&json!({"weights": value})).unwrap_err();
        assert_eq!(error.to_string(), "weights: 250002 items, more than the limit of 250000");
    }
    assert!(Arg::from_log_json(&list(MAX_ITEMS)).is_ok());
    // The limit is that of all lists together: short lists of lists are no way around it.
    let nested = (0..17).fold(json!(1), |value, _| json!([value, value]));
    let error = Arg::from_log_json(&json!([nested])).unwrap_err();
    assert!(error.to_string().ends_with("items, more than the limit of 250000"), "{error:?}");
}

#[test]
fn depth_has_a_limit() {
    let nested = |depth: usize, inner: fn(Value) -> Value| (0..depth).fold(json!(1), |value, _| inner(value));
    let shapes: [fn(Value) -> Value; 3] = [
        |value| json!([value]),
        |value| json!({"k": value}),
        |value| json!({"type": "metric", "name": "f", "params": {"k": value}}),
    ];
    for shape in shapes {
        assert!(Arg::from_log_json(&nested(MAX_DEPTH, shape)).is_ok());
        let error = Arg::from_log_json(&nested(MAX_DEPTH + 1, shape)).unwrap_err();
        assert_eq!(error.to_string(), "nested more than 64 deep");
    }
}
