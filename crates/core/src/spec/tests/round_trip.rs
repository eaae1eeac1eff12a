//! Properties: what is printed reads back as the same, and no text makes the parser panic.

use indexmap::IndexMap;
use proptest::prelude::*;

use crate::spec::{Arg, MetricItem, MetricMap, MetricsSpec, Spec};

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[A-Za-z_][A-Za-z0-9_.-]{0,8}",
        1 => any::<String>().prop_filter("names are not empty", |name| !name.is_empty()),
        1 => prop::sample::select(vec!["true", "None", "nan", "1e5", "a/b", "`", "\\", "a.b:c", "a:", ":a", "a:b:c"]).prop_map(str::to_owned),
    ]
}

fn spec_of(arg: impl Strategy<Value = Arg> + Clone) -> impl Strategy<Value = Spec> {
    let args = prop::collection::vec(arg.clone(), 0..4);
    let kwargs = prop::collection::vec((word(), arg), 0..4);
    (prop::option::of(word()), word(), args, kwargs).prop_map(|(package, name, args, kwargs)| Spec {
        package,
        name,
        args,
        kwargs: kwargs.into_iter().collect(),
    })
}

fn arg() -> impl Strategy<Value = Arg> + Clone {
    let leaf = prop_oneof![
        Just(Arg::Null),
        any::<bool>().prop_map(Arg::Bool),
        any::<i64>().prop_map(Arg::Int),
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("floats are finite", |value| value.is_finite())
            .prop_map(Arg::Float),
        (-1000_i32..1000).prop_map(|value| Arg::Float(value.into())),
        any::<String>().prop_map(Arg::Str),
        "[\"'`\\\\\\n\\t\\u{0}-\\u{ff}\\u{2000}-\\u{2070}]{0,8}".prop_map(Arg::Str),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Arg::List),
            prop::collection::vec((any::<String>(), inner.clone()), 0..4)
                .prop_map(|entries| Arg::Map(entries.into_iter().collect())),
            spec_of(inner).prop_map(Arg::Spec),
        ]
    })
    .boxed()
}

fn spec() -> impl Strategy<Value = Spec> + Clone {
    spec_of(arg()).boxed()
}

fn metric_map() -> impl Strategy<Value = MetricMap> + Clone {
    prop::collection::vec((any::<String>(), prop::collection::vec(spec(), 0..3)), 0..3)
        .prop_map(|entries| entries.into_iter().collect::<IndexMap<_, _>>())
        .boxed()
}

fn metrics() -> impl Strategy<Value = MetricsSpec> {
    let item = prop_oneof![spec().prop_map(MetricItem::Metric), metric_map().prop_map(MetricItem::Map)];
    prop_oneof![
        prop::collection::vec(item, 0..3).prop_map(MetricsSpec::List),
        metric_map().prop_map(MetricsSpec::Map),
    ]
}

/// Texts that get far into the parser before they fail.
fn almost_spec() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "f",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        "=",
        ":",
        "/",
        "'",
        "\"",
        "`",
        "\\",
        "\\u",
        "\\x4",
        "\\d",
        "r'",
        "R\"",
        "{'k':",
        "1",
        "-",
        ".",
        "e",
        "_",
        "true",
        "None",
        " ",
        "\n",
        "é",
        "🎉",
        "9999999999999999999",
        "d83c",
    ]);
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn a_printed_spec_reads_back(spec in spec()) {
        let text = spec.to_string();
        let read = text.parse::<Spec>();
        prop_assert_eq!(read.as_ref(), Ok(&spec), "{}", text);
        // Equality is blind to the sign of a zero and to order; the text is not.
        prop_assert_eq!(read.map(|read| read.to_string()), Ok(text));
    }

    #[test]
    fn printed_metrics_read_back(metrics in metrics()) {
        let text = metrics.to_string();
        prop_assert_eq!(text.parse::<MetricsSpec>(), Ok(metrics), "{}", text);
    }

    #[test]
    fn serialized_metrics_read_back(metrics in metrics()) {
        let json = serde_json::to_string(&metrics).unwrap();
        prop_assert_eq!(serde_json::from_str::<MetricsSpec>(&json).unwrap(), metrics);
    }

    #[test]
    fn a_logged_spec_returns_and_is_logged_the_same(spec in spec()) {
        let logged = spec.to_log();
        let read: Spec = serde_json::from_value(logged.clone()).unwrap();
        prop_assert_eq!(read.to_log(), logged);
    }

    #[test]
    fn printed_specs_hold_nothing_unprintable(spec in spec()) {
        prop_assert!(!spec.to_string().chars().any(char::is_control));
    }

    #[test]
    fn no_input_makes_it_panic(text in prop_oneof![any::<String>(), almost_spec()]) {
        let spec = text.parse::<Spec>().map(drop);
        let metrics = text.parse::<MetricsSpec>().map(drop);
        let arg = text.parse::<Arg>().map(drop);
        for error in [spec, metrics, arg].into_iter().filter_map(Result::err) {
            let offset = error.offset().unwrap();
            prop_assert!(text.is_char_boundary(offset), "{} in {:?}", offset, text);
        }
    }
}
