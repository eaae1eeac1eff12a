//! Specs to logs and back.

use serde_json::{Value, json};

use super::spec;
use crate::spec::{Arg, MAX_DEPTH, MetricsSpec, Recorded, Spec, SpecError, SpecErrorKind};

/// A registry in miniature.
fn recorder(spec: &Spec) -> Result<Recorded, SpecError> {
    let (kind, parameters): (_, &[&str]) = match spec.name.as_str() {
        "grouped" => ("metric", &["metric", "group_key", "all"]),
        "stderr" => ("metric", &["to_float", "cluster"]),
        "value_to_float" => ("conversion", &["correct", "options"]),
        _ => ("metric", &[]),
    };
    let package = spec.package.as_deref().unwrap_or("inspect_ai");
    let qualified_name = format!("{package}/{}", spec.name);
    Ok(Recorded { kind: kind.to_owned(), qualified_name, params: spec.bind(parameters)? })
}

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
    assert_eq!(spec(r#"grouped(grouped(stderr(cluster="x"), "a"), "b")"#).to_log(&recorder).unwrap(), logged);

    let read = read(&logged);
    let text =
        r#"inspect_ai/grouped(metric=grouped(metric=stderr(cluster="x"), group_key="a"), group_key="b")"#;
    assert_eq!(read, spec(text));
    assert_eq!(read.to_string(), text);
    assert_eq!(read.to_log(&recorder).unwrap(), logged);
}

#[test]
fn every_kind_of_argument_returns() {
    let text = "stderr(to_float=value_to_float(correct='yes', options={'a': [1, 2.0, null], 'b': {}}), cluster=true)";
    let logged = spec(text).to_log(&recorder).unwrap();
    assert_eq!(logged["options"]["to_float"]["type"], "conversion");
    assert_eq!(logged["options"]["to_float"]["params"]["options"]["a"], json!([1, 2.0, null]));
    assert_eq!(read(&logged), spec(&format!("inspect_ai/{text}")));
}

#[test]
fn other_packages_keep_their_names() {
    let logged = spec("grouped(mine/f1())").to_log(&recorder).unwrap();
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
    assert_eq!(metrics.to_log_json(&recorder).unwrap(), logged);

    let map = &logged[1];
    assert_eq!(&MetricsSpec::from_log_json(map).unwrap().to_log_json(&recorder).unwrap(), map);
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
fn what_cannot_be_read_or_written() {
    let error = Arg::from_log_json(&json!({"a": [0, {"b": u64::MAX}]})).unwrap_err();
    assert_eq!(error.to_string(), "a.1.b: expected a 64-bit integer, found 18446744073709551615");
    let error = Arg::from_log_json(&json!({"type": "metric", "name": "", "params": {}})).unwrap_err();
    assert_eq!(error.to_string(), "name: expected a name, found an empty string");

    let error = Arg::from(f64::INFINITY).to_log_json(&recorder).unwrap_err();
    assert_eq!(error.to_string(), "inf cannot be recorded as an argument");
    let error = spec("grouped(mean(1))").to_log(&recorder).unwrap_err();
    assert_eq!(error.to_string(), "mean takes no arguments, but got 1");
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
        assert_eq!(error.kind(), &SpecErrorKind::TooDeep { limit: MAX_DEPTH });
    }
}
