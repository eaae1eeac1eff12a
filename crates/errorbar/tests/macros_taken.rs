//! A name that is taken: refused, unless the newcomer declares that it replaces. A separate program,
//! for one refusal refuses the whole registry.
#![expect(clippy::expect_used, reason = "a test's helper may fail as the test may")]

use errorbar::core::inventory;
use errorbar::core::registry::{Entry, MetricEntry, ReducerEntry};
use errorbar::eval::{
    AnyScorer, AnySolver, Generate, Sample, SubmittedEntry, Target, Task, TaskState, built_in_registry,
    collected_registry,
};
use errorbar::{Error, Registry, Score, Scores, metric, reducer, scorer, solver, task};

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

/// Takes the name of a built-in scorer without a word.
#[scorer(metrics = [])]
fn includes(_: &TaskState, _: &Target) -> Score {
    Score::new(1)
}

/// Replaces a built-in scorer.
#[scorer(name = "match", metrics = [], replaces)]
fn my_match(_: &TaskState, _: &Target) -> Score {
    Score::new(1)
}

/// Takes the name of a built-in solver without a word.
#[solver]
fn user_message(_: &mut TaskState, _: &Generate) {}

/// Replaces a built-in solver.
#[solver(name = "generate", replaces)]
fn my_generate(_: &mut TaskState, _: &Generate) {}

/// One task of the name.
#[task]
fn quiz() -> Task {
    Task::new([Sample::new("?")])
}

/// And another.
#[task(name = "quiz")]
fn other_quiz() -> Task {
    quiz()
}

fn metric_entry(name: &str) -> &'static MetricEntry {
    inventory::iter::<MetricEntry>().find(|entry| entry.name == name).expect("submitted")
}

fn reducer_entry(name: &str) -> &'static ReducerEntry {
    inventory::iter::<ReducerEntry>().find(|entry| entry.name == name).expect("submitted")
}

fn entry<T>(name: &str) -> &'static Entry<T>
where
    SubmittedEntry<T>: inventory::Collect,
{
    let SubmittedEntry(entry) = inventory::iter::<SubmittedEntry<T>>()
        .find(|SubmittedEntry(entry)| entry.name == name)
        .expect("submitted");
    entry
}

#[test]
fn a_taken_name_is_refused() {
    let taken = Registry::collected().expect_err("two of one name");
    assert_eq!(taken, Error::NameTaken { kind: "metric", name: "accuracy".into() });
    assert_eq!(collected_registry().expect_err("two of one name"), taken);
    let taken = Registry::built_in().add(reducer_entry("max")).expect_err("two of one name");
    assert_eq!(taken, Error::NameTaken { kind: "reducer", name: "max".into() });
}

#[test]
fn a_taken_name_of_a_scorer_a_solver_or_a_task_is_refused() {
    let mut registry = built_in_registry();
    let taken = |kind, name: &str| Err(Error::NameTaken { kind, name: name.into() });
    assert_eq!(registry.add(entry::<AnyScorer>("includes")), taken("scorer", "includes"));
    assert_eq!(registry.add(entry::<AnySolver>("user_message")), taken("solver", "user_message"));
    assert_eq!(registry.add(entry::<Task>("quiz")), Ok(()));
    assert_eq!(registry.add(entry::<Task>("quiz")), taken("task", "quiz"));
}

#[test]
fn a_replacement_of_a_scorer_or_a_solver_is_not() {
    let mut registry = built_in_registry();
    registry.add(entry::<AnyScorer>("match")).expect("replaces");
    registry.add(entry::<AnySolver>("generate")).expect("replaces");
    let listing = registry.list::<AnyScorer>().find(|l| l.name == "match").expect("registered");
    assert_eq!((listing.summary().as_str(), listing.built_in), ("Replaces a built-in scorer.", false));
    let solver: AnySolver = registry.build(&"generate".parse().expect("valid")).expect("known");
    assert_eq!(format!("{solver:?}"), "MyGenerate");
}

#[test]
fn a_replacement_is_not() {
    let mut registry = Registry::built_in();
    registry.add(metric_entry("mean")).expect("replaces");
    registry.add(reducer_entry("mode")).expect("replaces");
    let listing = registry.list_metrics().find(|l| l.name == "mean").expect("registered");
    assert_eq!((listing.summary().as_str(), listing.built_in), ("Replaces a built-in metric.", false));
    assert_eq!(registry.list_metrics().filter(|l| l.name == "mean").count(), 1);
    let mode = registry.reducer(&"mode".parse().expect("valid")).expect("known");
    assert_eq!(mode.reduce(&[Score::new(0), Score::new(0)]), Ok(Score::new(1)));
}
