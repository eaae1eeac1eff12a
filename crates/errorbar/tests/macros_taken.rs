//! A name that is taken: refused, unless the newcomer says that it replaces. A program of its own,
//! for one refusal refuses the whole registry.
#![expect(clippy::expect_used, reason = "a test's helper may fail as the test may")]

use errorbar::registry::{MetricEntry, ReducerEntry};
use errorbar::{Error, Registry, Score, Scores, inventory, metric, reducer};

/// Takes the name of a built-in metric without a word.
#[metric(name = "accuracy")]
fn my_accuracy(_: &Scores) -> f64 {
    0.5
}

/// Replaces a built-in metric.
#[metric(name = "mean", replaces)]
fn my_mean(_: &Scores) -> f64 {
    0.5
}

/// Takes the name of a built-in reducer without a word.
#[reducer]
fn max(_: &[Score]) -> Score {
    Score::new(1)
}

/// Replaces a built-in reducer.
#[reducer(name = "mode", replaces)]
fn my_mode(_: &[Score]) -> Score {
    Score::new(1)
}

fn metric_entry(name: &str) -> &'static MetricEntry {
    inventory::iter::<MetricEntry>().find(|entry| entry.name == name).expect("submitted")
}

fn reducer_entry(name: &str) -> &'static ReducerEntry {
    inventory::iter::<ReducerEntry>().find(|entry| entry.name == name).expect("submitted")
}

#[test]
fn a_taken_name_is_refused() {
    let taken = Registry::collected().expect_err("two of one name");
    assert_eq!(taken, Error::NameTaken { kind: "metric", name: "accuracy".into() });
    let taken = Registry::built_in().add_reducer(reducer_entry("max")).expect_err("two of one name");
    assert_eq!(taken, Error::NameTaken { kind: "reducer", name: "max".into() });
}

#[test]
fn a_replacement_is_not() {
    let mut registry = Registry::built_in();
    registry.add_metric(metric_entry("mean")).expect("replaces");
    registry.add_reducer(reducer_entry("mode")).expect("replaces");
    let listing = registry.list_metrics().find(|l| l.name == "mean").expect("registered");
    assert_eq!((listing.summary().as_str(), listing.built_in), ("Replaces a built-in metric.", false));
    assert_eq!(registry.list_metrics().filter(|l| l.name == "mean").count(), 1);
    let mode = registry.reducer(&"mode".parse().expect("valid")).expect("known");
    assert_eq!(mode.reduce(&[Score::new(0), Score::new(0)]), Ok(Score::new(1)));
}
