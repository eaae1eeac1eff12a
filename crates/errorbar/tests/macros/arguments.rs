//! Arguments of `#[metric]`: every type, how Rust passes it, how a spec does, and its default.
#![expect(clippy::expect_used, reason = "a test's helper may fail as the test may")]

use std::sync::Arc;

use errorbar::core::{Leaf, MetricItem};
use errorbar::core::{ScoreSet, Spec, value_to_float};
use errorbar::prelude::*;

/// Writes down what it gets.
#[metric]
fn every_type(
    _: &Scores,
    of: Arc<dyn Metric>,
    k: u64,
    #[default(true)] strict: bool,
    #[default(-1)] offset: i64,
    #[default(1_000_usize)] size: usize,
    #[default(0x10)] small: u32,
    #[default(1e-3)] step: f64,
    #[default("C")] grade: Leaf,
    #[default(["a", "b"])] tags: Vec<String>,
    #[default(vec![1])] counts: Vec<u64>,
    #[default(Conversion::default())] to_float: Conversion,
    level: Option<f64>,
    #[default(Arc::new(mean()))] r#else: Arc<dyn Metric>,
    #[default("tab\there".to_owned())] text: String,
    #[default(i64::MAX)] most: i64,
) -> Result<f64> {
    Err(Error::custom(format!(
        "{} {k} {strict} {offset} {size} {small} {step} {grade:?} {tags:?} {counts:?} {} {level:?} {} {text:?} {most}",
        of.spec(),
        to_float.spec(),
        r#else.spec(),
    )))
}

/// What the body got.
fn seen(metric: &dyn Metric) -> String {
    let columns = ScoreColumns::new(["overlap"]);
    let set = ScoreSet::unreduced(&columns, "overlap").expect("declared");
    metric.compute(&set.scores()).expect_err("always").to_string()
}

fn by_spec(spec: &str) -> Arc<dyn Metric> {
    let spec: Spec = spec.parse().expect("valid");
    Registry::collected().expect("no name taken").metric(&spec).expect("known")
}

const DEFAULTS: &str = r#"accuracy 3 true -1 1000 16 0.001 Str("C") ["a", "b"] [1] value_to_float None mean "tab\there" 9223372036854775807"#;

#[test]
fn defaults_reach_the_body() {
    assert_eq!(seen(&every_type(accuracy(), 3)), DEFAULTS);
    assert_eq!(seen(by_spec("every_type(accuracy(), 3)").as_ref()), DEFAULTS);
}

#[test]
fn what_is_passed_in_rust_reaches_the_body_and_survives_as_a_spec() {
    let built = every_type(stderr().cluster("category"), 3)
        .strict(false)
        .offset(4)
        .size(5)
        .small(6)
        .step(7)
        .grade("P")
        .tags(["x"])
        .counts([8, 9])
        .to_float(value_to_float().correct("yes"))
        .level(0.9)
        .r#else(accuracy())
        .text("t")
        .most(10);
    let text = built.spec().to_string();
    assert_eq!(
        text,
        r#"every_type(of=stderr(cluster="category"), k=3, strict=false, offset=4, size=5, small=6, step=7.0, grade="P", tags=["x"], counts=[8, 9], to_float=value_to_float(correct="yes"), level=0.9, else=accuracy(), text="t", most=10)"#
    );
    let again = by_spec(&text);
    assert_eq!(again.spec(), built.spec());
    assert_eq!(seen(again.as_ref()), seen(&built));
    assert_ne!(seen(&built), DEFAULTS);
}

#[test]
fn defaults_are_listed_as_specs_write_them() {
    let registry = Registry::collected().expect("no name taken");
    let listing = registry.list_metrics().find(|l| l.name == "every_type").expect("registered");
    assert_eq!(
        listing.signature(),
        r#"every_type(of, k, strict=true, offset=-1, size=1000, small=16, step=0.001, grade="C", tags=["a", "b"], counts=[1], to_float=value_to_float(), level=None, else=mean(), text="tab\there", most=9223372036854775807)"#
    );
    // Passing the defaults as listed changes nothing.
    let passed: Vec<String> =
        listing.params.iter().filter_map(|p| Some(format!("{}={}", p.name, p.default.as_ref()?))).collect();
    let spec = format!("every_type(accuracy(), 3, {})", passed.join(", "));
    assert_eq!(seen(by_spec(&spec).as_ref()), DEFAULTS);
}

/// A metric in a macro: its name and its type come through as fragments.
macro_rules! constant {
    ($name:ident, $type:ty, $default:expr) => {
        #[metric]
        fn $name(_: &Scores, #[default($default)] value: $type) -> f64 {
            f64::from(value)
        }
    };
}
constant!(constant, u32, 5_u32);

#[test]
fn macros_may_write_metrics() {
    let columns = ScoreColumns::new(["overlap"]);
    let set = ScoreSet::unreduced(&columns, "overlap").expect("declared");
    assert_eq!(constant().compute(&set.scores()).expect("a number").number(), Some(5.0));
    assert_eq!(constant().value(6).compute(&set.scores()).expect("a number").number(), Some(6.0));
    let listed = Registry::collected().expect("no name taken");
    let listing = listed.list_metrics().find(|l| l.name == "constant").expect("registered");
    assert_eq!(
        (listing.signature().as_str(), listing.summary().as_str()),
        ("constant(value=5)", "The metric `constant`.")
    );
}

#[test]
fn builders_are_values() {
    let one = every_type(accuracy(), 3);
    let copy = one.clone().strict(false);
    assert_ne!(one.spec(), copy.spec());
    assert!(format!("{one:?}").starts_with("EveryType { of: "), "{one:?}");
    assert!(matches!(MetricItem::from(copy), MetricItem::Metric(_)));
}
