//! The registry walks its own list: every entry documented, buildable, and equal to itself by its spec.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use errorbar_core::registry::{DocSections, EntryInfo, EntrySource, MetricEntry, Param};
use errorbar_core::spec::Arg;
use errorbar_core::{Conversion, Error, Metric, Registry, Scores, Spec, metric_fn, reducer_fn};

fn every_entry() -> Vec<EntryInfo> {
    let registry = Registry::built_in();
    let all = registry.list_metrics().chain(registry.list_reducers()).chain(registry.list_conversions());
    all.cloned().collect()
}

#[test]
fn every_entry_is_documented() {
    for listing in every_entry() {
        assert!(listing.doc.ends_with('.'), "{}: {:?}", listing.name, listing.doc);
        assert!(listing.built_in);
        for param in &listing.params {
            assert!(param.doc.ends_with('.'), "{}({}): {:?}", listing.name, param.name, param.doc);
        }
        let names: HashSet<_> = listing.params.iter().map(|p| &p.name).collect();
        assert_eq!(names.len(), listing.params.len(), "{}", listing.name);
        let first_optional = listing.params.iter().position(|p| p.default.is_some());
        let last_required = listing.params.iter().rposition(|p| p.default.is_none());
        if let (Some(optional), Some(required)) = (first_optional, last_required) {
            assert!(required < optional, "{}: required arguments come first", listing.name);
        }
    }
}

/// A spec with every argument given at its documented default, or at something that fits.
fn full_spec(listing: &EntryInfo) -> String {
    let arguments = listing.params.iter().map(|p| {
        let value = match (p.name, &p.default) {
            ("metric" | "agg", None) => "accuracy()",
            ("k" | "j", None) => "2",
            ("q", None) => "0.9",
            ("condition", None) => "\"key=value\"",
            (_, None) => "\"key\"",
            (_, Some(default)) => default,
        };
        format!("{}={value}", p.name)
    });
    format!("{}({})", listing.name, arguments.collect::<Vec<_>>().join(", "))
}

#[test]
fn documented_defaults_build_and_specs_come_back() {
    let registry = Registry::built_in();
    for listing in registry.list_metrics() {
        let text = full_spec(listing);
        let spec = registry.metric(&text.parse().unwrap()).unwrap_or_else(|e| panic!("{text}: {e}")).spec();
        let again = registry.metric(&spec.to_string().parse().unwrap()).unwrap().spec();
        assert_eq!(spec, again, "{text}");
        // Through a log and back: by name and named options.
        if !text.contains("to_float") {
            let back: Spec = serde_json::from_value(spec.to_log()).unwrap();
            assert_eq!(registry.metric(&back).unwrap().spec(), spec);
        }
    }
    for listing in registry.list_reducers() {
        let text = full_spec(listing);
        let spec = registry.reducer(&text.parse().unwrap()).unwrap_or_else(|e| panic!("{text}: {e}")).spec();
        let again = registry.reducer(&spec.to_string().parse().unwrap()).unwrap().spec();
        assert_eq!(spec, again, "{text}");
    }
}

#[test]
fn the_package_of_the_reference_is_ours_too() {
    let metric = Registry::built_in().metric(&"inspect_ai/stderr(cluster='c')".parse().unwrap()).unwrap();
    assert_eq!(metric.spec().to_string(), r#"stderr(cluster="c")"#);
}

#[test]
fn shorthand_unless_the_literal_name_is_taken() {
    let mut registry = Registry::built_in();
    assert_eq!(registry.reducer(&"at_least_2".parse().unwrap()).unwrap().log_name(), "at_least_2");
    assert!(registry.reducer(&"mean_2".parse().unwrap()).is_err(), "mean takes no k");
    let own = reducer_fn("at_least_2", |scores: &[errorbar_core::Score]| Ok(scores[0].clone()));
    registry.add_reducer_object(Arc::new(own), "The first score.").unwrap();
    let literal = registry.reducer(&"at_least_2".parse().unwrap()).unwrap();
    assert!(literal.needs_epochs().is_none(), "the literal name comes first");
}

#[test]
fn a_taken_name_is_refused_unless_it_replaces() {
    let one = |scores: &Scores<'_>| Ok(scores.len());
    let mut registry = Registry::built_in();
    let taken = registry.add_metric_object(Arc::new(metric_fn("mean", one)), "").unwrap_err();
    assert_eq!(taken, Error::NameTaken { kind: "metric", name: "mean".to_owned() });
    registry.add_metric_object(Arc::new(metric_fn("how_many", one)), "How many.").unwrap();
    assert!(registry.metric(&"how_many".parse().unwrap()).is_ok());

    let entry = MetricEntry {
        name: "mean",
        doc: "Another mean.",
        sections: DocSections::NONE,
        params: || {
            vec![Param { name: "seed", doc: "The seed.", default: Some("1".to_owned()), ..Param::default() }]
        },
        build: |_| Ok(Arc::new(metric_fn("mean", |_: &Scores<'_>| Ok(0.0)))),
        replaces: true,
        in_reference: false,
    };
    registry.add(&entry).unwrap();
    let listing = registry.list_metrics().find(|l| l.name == "mean").unwrap();
    assert_eq!((listing.signature().as_str(), listing.built_in), ("mean(seed=1)", false));
    assert!(registry.add(&MetricEntry { replaces: false, ..entry }).is_err());
}

#[test]
fn conversions_by_name() {
    let mut registry = Registry::built_in();
    registry.add_conversion(Conversion::from_fn("half", |_| Some(0.5)), "One half.").unwrap();
    let metric = registry.metric(&"mean(to_float=half)".parse().unwrap()).unwrap();
    assert_eq!(metric.params()["to_float"], "half");
    let listed: Vec<String> = registry.list_conversions().map(EntryInfo::signature).collect();
    assert_eq!(listed[0], r#"value_to_float(correct="C", incorrect="I", partial="P", noanswer="N")"#);
    assert_eq!(listed[1], "half()");
    assert!(registry.add_conversion(Conversion::from_fn("half", |_| None), "").is_err());
    assert!(registry.add_conversion(Conversion::from_fn("value_to_float", |_| None), "").is_err());
}

#[test]
fn built_in_entries_go_by_our_own_package_and_keep_its_name() {
    let registry = Registry::built_in();
    for listing in registry.list_metrics() {
        let required = match listing.name.as_str() {
            "grouped" => "(mean(), 'g')",
            "aggregate" => "('k', mean())",
            "bootstrap" => "(mean())",
            "where" => "(mean(), 'c=x')",
            "weighted_mean" => "('w')",
            "quantile" => "(0.9)",
            "precision" | "recall" | "f1_score" => "('label')",
            "cohen_kappa" | "ppi" | "rogan_gladen" => "('human')",
            _ => "",
        };
        let spec: Spec = format!("errorbar/{}{required}", listing.name).parse().unwrap();
        let metric = registry.metric(&spec).unwrap();
        assert_eq!(metric.spec().recorded_name(), format!("errorbar/{}", listing.name));
        let bare: Spec = format!("{}{required}", listing.name).parse().unwrap();
        let bare = registry.metric(&bare).unwrap();
        assert_eq!(metric.params(), bare.params());
        assert_eq!(metric.metadata_keys(), bare.metadata_keys());
        assert_eq!((metric.wants(), metric.raters()), (bare.wants(), bare.raters()));
        assert_eq!((metric.role(), metric.subject()), (bare.role(), bare.subject()));
        assert_eq!((metric.cluster(), metric.inner().is_some()), (bare.cluster(), bare.inner().is_some()));
    }
    for (written, logged) in [
        ("errorbar/mean", "errorbar/mean"),
        ("errorbar/pass_at_2", "errorbar/pass_at_2"),
        ("errorbar/pass_at(2)", "errorbar/pass_at_2"),
        ("errorbar/at_least_3", "errorbar/at_least_3"),
        ("errorbar/at_least(k=2, value=0.5)", "errorbar/at_least(k=2, value=0.5)"),
        ("inspect_ai/at_least_3", "at_least_3"),
        // Logs have our package in front of what only we have.
        ("errorbar/best_of_3", "best_of_3"),
        ("errorbar/g_pass(k=3, j=2)", "g_pass(k=3, j=2)"),
    ] {
        let reducer = registry.reducer(&written.parse().unwrap()).unwrap();
        assert_eq!(reducer.log_name(), logged);
        let again = registry.reducer(&reducer.log_name().parse().unwrap()).unwrap();
        assert_eq!((again.spec(), again.needs_epochs()), (reducer.spec(), reducer.needs_epochs()));
    }
    assert!(registry.conversion(&"errorbar/value_to_float".parse().unwrap()).is_ok());
}

#[test]
fn names_of_our_own_package_that_are_not_there_have_a_nearest() {
    let mut registry = Registry::built_in();
    let message = |registry: &Registry, text: &str| {
        let spec: Spec = text.parse().unwrap();
        let metric = registry.metric(&spec).unwrap_err().to_string();
        (metric, registry.reducer(&spec).unwrap_err().to_string())
    };
    assert_eq!(
        message(&registry, "errorbar/acuracy").0,
        "unknown metric `errorbar/acuracy`; did you mean `accuracy`?"
    );
    assert_eq!(
        message(&registry, "errorbar/pas_at_2").1,
        "unknown reducer `errorbar/pas_at_2`; did you mean `pass_at_2`?"
    );
    assert_eq!(
        message(&registry, "their/accuracy").0,
        "unknown metric `their/accuracy`; did you mean `accuracy`?"
    );
    // What a program adds is not ours, whatever it is called.
    registry.add_metric_object(Arc::new(metric_fn("mine", |_: &Scores<'_>| Ok(1.0))), "Mine.").unwrap();
    assert!(registry.metric(&"mine".parse().unwrap()).is_ok());
    assert!(registry.metric(&"errorbar/mine".parse().unwrap()).is_err());
}

#[test]
fn a_metric_reads_the_same_parts_of_scores_under_our_package() {
    let registry = Registry::built_in();
    for name in ["accuracy", "bootstrap_stderr", "perplexity_per_token"] {
        let parts = |name: &str| registry.metric(&name.parse().unwrap()).unwrap().score_parts();
        assert_ne!(parts(name), errorbar_core::ScoreParts::All, "{name}");
        assert_eq!(parts(&format!("errorbar/{name}")), parts(name), "{name}");
    }
}

#[test]
fn a_count_below_1_is_refused_with_what_it_may_be() {
    let registry = Registry::built_in();
    for spec in ["pass_at(-1)", "pass_k(k=-1)", "at_least(-1)"] {
        let error = registry.reducer(&spec.parse().unwrap()).unwrap_err();
        assert!(matches!(&error, Error::Argument { argument, .. } if argument == "k"), "{error}");
        assert!(error.to_string().ends_with("must be an integer, 1 or more, found -1"), "{error}");
    }
    for spec in ["bootstrap_stderr(-1)", "ci(method='bootstrap', num_samples=-1)"] {
        let error = registry.metric(&spec.parse().unwrap()).unwrap_err();
        assert!(matches!(&error, Error::Argument { argument, .. } if argument == "num_samples"), "{error}");
        assert!(error.to_string().ends_with("must be an integer, 1 or more, found -1"), "{error}");
    }
    for spec in ["pass_at(0)", "at_least_0"] {
        let error = registry.reducer(&spec.parse().unwrap()).unwrap_err();
        assert!(matches!(error, Error::Argument { argument, .. } if argument == "k"), "{spec}");
    }
}

/// The entries of the reference with their arguments, and the values of those that take fewer than ours: as its version
/// 0.3.285 declares them.
const REFERENCE_METRICS: &[(&str, &[&str])] = &[
    ("accuracy", &["to_float"]),
    ("mean", &["to_float"]),
    ("var", &["to_float"]),
    ("std", &["to_float"]),
    ("stderr", &["to_float", "cluster"]),
    ("bootstrap_stderr", &["num_samples", "to_float"]),
    ("ci", &["level", "method", "num_samples", "to_float", "cluster"]),
    ("ci_wilson", &["level", "to_float", "cluster"]),
    ("grouped", &["metric", "group_key", "all", "all_label", "value_to_float", "name_template"]),
    ("aggregate", &["key", "agg", "to_float", "on_missing"]),
    ("frequency", &["categories", "normalize"]),
    ("krippendorff_alpha", &["level", "to_float"]),
    ("perplexity_per_token", &[]),
    ("perplexity_per_seq", &[]),
];

const REFERENCE_REDUCERS: &[(&str, &[&str])] = &[
    ("mean", &["value_to_float"]),
    ("median", &["value_to_float"]),
    ("mode", &[]),
    ("max", &["value_to_float"]),
    ("pass_at", &["k", "value", "value_to_float"]),
    ("pass_k", &["k", "value", "value_to_float"]),
    ("at_least", &["k", "value", "value_to_float"]),
    ("majority", &[]),
    ("collect", &[]),
];

#[test]
fn entries_declare_what_the_reference_has() {
    /// The argument of ours that logs keep beside the options, so that the reference reads them all the same.
    const BESIDE_THE_OPTIONS: &str = "seed";
    let registry = Registry::built_in();
    let declared = |listings: Vec<&EntryInfo>| -> Vec<(String, Vec<&str>)> {
        let listings = listings.into_iter().filter(|listing| listing.in_reference);
        let arguments = |listing: &EntryInfo| {
            let params = listing.params.iter().filter(|param| !param.is_own);
            params.map(|param| param.name).filter(|name| *name != BESIDE_THE_OPTIONS).collect()
        };
        listings.map(|listing| (listing.name.clone(), arguments(listing))).collect()
    };
    let expected = |entries: &[(&str, &[&'static str])]| -> Vec<(String, Vec<&str>)> {
        entries.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.to_vec())).collect()
    };
    assert_eq!(declared(registry.list_metrics().collect()), expected(REFERENCE_METRICS));
    assert_eq!(declared(registry.list_reducers().collect()), expected(REFERENCE_REDUCERS));
    // What the entry does not declare as the reference's is ours, whatever is passed.
    for listing in registry.list_metrics().filter(|listing| !listing.in_reference) {
        let spec = Spec::new(listing.name.as_str());
        assert!(listing.is_own(&spec) && spec.is_own_metric(), "{}", listing.name);
        assert!(listing.params.iter().all(|param| !param.is_own && param.reference_values.is_none()));
    }
}

#[test]
fn own_arguments_and_values_make_an_entry_ours() {
    let registry = Registry::built_in();
    for listing in registry.list_metrics().filter(|listing| listing.in_reference) {
        assert!(!listing.is_own(&Spec::new(listing.name.as_str())), "{}", listing.name);
        for (at, param) in listing.params.iter().enumerate() {
            let by_name = |value: Arg| Spec::new(listing.name.as_str()).kwarg(param.name, value);
            let by_position = |value: Arg| {
                let mut spec = Spec::new(listing.name.as_str());
                spec.args = vec![Arg::Null; at];
                spec.args.push(value);
                spec
            };
            let is_own = |value: Arg| {
                let (named, placed) = (by_name(value.clone()), by_position(value));
                assert_eq!(listing.is_own(&named), listing.is_own(&placed), "{placed}");
                assert_eq!(listing.is_own(&named), named.is_own_metric(), "{named}");
                listing.is_own(&named)
            };
            assert_eq!(is_own(Arg::Str("any".to_owned())), param.is_own || param.reference_values.is_some());
            for value in param.reference_values.into_iter().flatten() {
                assert!(!is_own(Arg::Str((*value).to_owned())), "{}({value})", listing.name);
            }
        }
    }
    let values = |name: &str, argument: &str| {
        let listing = registry.list_metrics().find(|listing| listing.name == name).unwrap();
        listing.params.iter().find(|param| param.name == argument).unwrap().reference_values
    };
    assert_eq!(values("ci", "method"), Some(["t", "bootstrap"].as_slice()));
    assert_eq!(values("krippendorff_alpha", "level"), Some(["nominal", "ordinal", "interval"].as_slice()));
}

/// A module `m` with the metric `best`, which is known under its own name once it has been imported.
#[derive(Default)]
struct Module {
    is_imported: AtomicBool,
}

impl EntrySource for Module {
    fn add_entry(&self, name: &str, may_import: bool, registry: &mut Registry) -> errorbar_core::Result<()> {
        if name == "m:best" && may_import {
            self.is_imported.store(true, Ordering::Relaxed);
        }
        if !matches!(name, "m:best" | "best") || !self.is_imported.load(Ordering::Relaxed) {
            return Ok(());
        }
        let metric: Arc<dyn Metric> = Arc::new(metric_fn("best", |scores: &Scores<'_>| Ok(scores.len())));
        let under = Spec { name: name.to_owned(), ..Spec::new("best") };
        registry.add_object(under, "The best.", metric)
    }
}

#[test]
fn only_specs_of_the_user_import() {
    let module = Arc::new(Module::default());
    let registry = Registry::built_in().with_source(Arc::clone(&module) as Arc<dyn EntrySource>);
    let spec = |text: &str| text.parse::<Spec>().unwrap();
    let unknown = registry.metric(&spec("m:best")).unwrap_err();
    assert!(matches!(unknown, Error::UnknownName { .. }), "{unknown}");
    assert!(!module.is_imported.load(Ordering::Relaxed), "a log imports nothing");

    let grouped = registry.importing().metric(&spec("grouped(m:best, 'topic')")).unwrap();
    assert!(grouped.spec().to_string().contains("best()"), "{}", grouped.spec());
    assert!(registry.metric(&spec("best")).is_ok(), "a log may name what the user has imported");

    let without = Registry::built_in().importing().metric(&spec("m:best")).unwrap_err();
    let text =
        "`m:best` cannot be imported: functions of Python are known to the command of the Python package";
    assert_eq!(without.to_string(), text);
}
