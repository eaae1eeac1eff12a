//! Lists and maps of metrics, as text and through serde.

use indexmap::IndexMap;
use serde_json::json;

use super::spec;
use crate::spec::{MetricItem, MetricMap, MetricsSpec, Spec};

fn metrics(text: &str) -> MetricsSpec {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn map(entries: &[(&str, &[&str])]) -> MetricMap {
    let specs = |texts: &[&str]| texts.iter().map(|text| spec(text)).collect();
    entries.iter().map(|(glob, texts)| ((*glob).to_owned(), specs(texts))).collect()
}

#[test]
fn text() {
    let accuracy = || MetricItem::Metric(Spec::new("accuracy"));
    for (text, value, printed) in [
        ("accuracy", MetricsSpec::List(vec![accuracy()]), "[accuracy()]"),
        ("[ ]", MetricsSpec::List(vec![]), "[]"),
        ("{ }", MetricsSpec::Map(IndexMap::new()), "{}"),
        ("[accuracy,]", MetricsSpec::List(vec![accuracy()]), "[accuracy()]"),
        (
            r#"[accuracy(), {"a*": [mean()]}]"#,
            MetricsSpec::List(vec![accuracy(), MetricItem::Map(map(&[("a*", &["mean"])]))]),
            r#"[accuracy(), {"a*": [mean()]}]"#,
        ),
        (
            r#"{"al*": [mean(), stderr()], "beta": std, "none": []}"#,
            MetricsSpec::Map(map(&[("al*", &["mean", "stderr"]), ("beta", &["std"]), ("none", &[])])),
            r#"{"al*": [mean(), stderr()], "beta": [std()], "none": []}"#,
        ),
    ] {
        assert_eq!(metrics(text), value, "{text}");
        assert_eq!(value.to_string(), printed);
        assert_eq!(metrics(printed), value);
    }
}

#[test]
fn wrong_text() {
    for (text, message) in [
        ("", "expected a name, found the end of the input at column 1"),
        ("[accuracy", "expected ',' or ']' after a metric, found the end of the input at column 10"),
        ("['accuracy']", "expected a name, found \"'\" at column 2"),
        ("[[accuracy]]", "expected a name, found '[' at column 2"),
        ("{'a': {'b': mean}}", "expected a name, found '{' at column 7"),
        ("{'a': 1}", "expected a name, found '1' at column 7"),
        ("{'a': mean, 'a': std}", "the key 'a' is given twice at column 13"),
        ("{'a': mean} std", "expected the end of the input, found 's' at column 13"),
    ] {
        assert_eq!(text.parse::<MetricsSpec>().unwrap_err().to_string(), message, "in {text}");
    }
}

#[test]
fn serde_writes_structure_and_reads_text_structure_and_logs() {
    let value = metrics(r#"[accuracy(), {"a*": [stderr(cluster="c"), mean()]}]"#);
    let written = json!(["accuracy", {"a*": ["stderr(cluster=\"c\")", "mean"]}]);
    assert_eq!(serde_json::to_value(&value).unwrap(), written);

    let logged = json!([
        {"name": "accuracy"},
        {"a*": [{"name": "stderr", "options": {"cluster": "c"}}, {"name": "mean", "options": null}]},
    ]);
    for source in [written, json!(value.to_string()), logged] {
        assert_eq!(serde_json::from_value::<MetricsSpec>(source).unwrap(), value);
    }

    let value = metrics("{'a': [mean], 'name': [std]}");
    let written = json!({"a": ["mean"], "name": ["std"]});
    assert_eq!(serde_json::to_value(&value).unwrap(), written);
    assert_eq!(serde_json::from_value::<MetricsSpec>(written).unwrap(), value);
    assert_eq!(serde_json::from_value::<MetricsSpec>(json!({"a": "mean", "name": ["std"]})).unwrap(), value);
}

#[test]
fn serde_of_a_spec() {
    let value = spec("f(1, k='x')");
    let written = json!(r#"f(1, k="x")"#);
    assert_eq!(serde_json::to_value(&value).unwrap(), written);
    assert_eq!(serde_json::from_value::<Spec>(written).unwrap(), value);
    for logged in [
        json!({"name": "p/f", "options": {"k": 1}}),
        json!({"type": "metric", "name": "p/f", "params": {"k": 1}}),
    ] {
        assert_eq!(serde_json::from_value::<Spec>(logged).unwrap(), spec("p/f(k=1)"));
    }
}

#[test]
fn serde_errors_name_what_is_wrong() {
    for (source, message) in [
        (
            json!("f(a: 1)"),
            "expected ',' or ')' after an argument, found ':' at column 4 (hint: keyword arguments are written name=value)",
        ),
        (json!(1), "expected a spec, or an object with a name and options, found 1"),
        (json!([["mean"]]), "0: expected a spec, or an object with a name and options, found a list"),
        (json!({"a": {"b": 1}}), "a: expected a spec, or an object with a name and options, found an object"),
        (json!([{"name": "f", "options": 1}]), "0.options: expected the options as an object, found 1"),
        (json!([{"name": ""}]), "0.name: expected a name, found an empty string"),
    ] {
        let error = serde_json::from_value::<MetricsSpec>(source).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
