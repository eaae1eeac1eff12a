//! `#[scorer]`: what it defines, in Rust and by spec.
#![expect(clippy::unwrap_used, reason = "a test's helper may fail as the test may")]

use errorbar::eval::block_on;
use errorbar::eval::{AnyScorer, Scorer};
use errorbar::prelude::*;

use crate::metrics::pass_rate;

/// The share of the target's words
/// that the answer has.
#[scorer(metrics = [mean(), stderr(), pass_rate().threshold(0.8)])]
async fn word_overlap(state: &TaskState, target: &Target) -> Result<Score> {
    let output = state.output.completion.to_lowercase();
    let words: Vec<String> = target.text().split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Err(Error::custom("the target has no words"));
    }
    let hits = words.iter().filter(|word| output.contains(*word)).count();
    Ok(Score::new(hits as f64 / words.len() as f64))
}

/// A plain function with arguments, named otherwise.
#[scorer(name = "is-long", metrics = [accuracy()])]
fn long(
    state: &TaskState,
    _: &Target,
    least: usize,
    /// What to cut off before counting.
    #[default(["."])]
    cut: Vec<String>,
    reason: Option<String>,
) -> Score {
    let text = cut.iter().fold(state.output.completion.clone(), |text, cut| text.replace(cut, ""));
    let score = Score::new(text.len() >= least);
    match reason {
        Some(reason) => score.explanation(reason),
        None => score,
    }
}

/// No score for an empty answer.
#[scorer(metrics = {"*": [mean(), stderr()], "len": [std()]})]
fn measures(state: &TaskState, _target: &Target) -> Option<Score> {
    let text = &state.output.completion;
    let words = text.split_whitespace().count() as f64;
    (!text.is_empty()).then(|| Score::new(Value::map([("len", text.len() as f64), ("words", words)])))
}

/// Waits, and may have no score or fail.
#[scorer(metrics = [mean(), {"a*": [mean()]}])]
pub async fn everything(
    state: &TaskState,
    target: &Target,
    #[default(false)] fail: bool,
) -> Result<Option<Score>> {
    std::future::ready(()).await;
    if fail {
        return Err("failed on request".into());
    }
    Ok(state.output.completion.contains(&*target.text()).then(|| Score::new(1)))
}

/// A state in which the model has answered this.
fn answered(text: &str, target: &str) -> (TaskState, Target) {
    let sample = Sample::new("Name three primary colors.").target(target);
    let mut state = TaskState::new("mock/model", &sample, 1.into(), 1);
    state.output = ModelOutput::from_text("mock/model", text);
    (state, sample.target)
}

fn score(scorer: impl Into<AnyScorer>, text: &str, target: &str) -> Result<Option<Score>> {
    let (scorer, (state, target)) = (scorer.into(), answered(text, target));
    block_on(scorer.score(&state, &target)).unwrap()
}

fn by_spec(spec: &str) -> Result<AnyScorer> {
    collected_registry()?.build(&spec.parse()?)
}

fn metrics_of(scorer: &dyn Scorer) -> Vec<String> {
    scorer.metrics().iter().map(|metric| metric.spec().to_string()).collect()
}

#[test]
fn every_form_of_result_is_a_score_or_none() {
    let two_thirds = Some(Score::new(2.0 / 3.0));
    assert_eq!(score(word_overlap(), "RED or blue", "red green blue"), Ok(two_thirds));
    assert_eq!(score(word_overlap(), "red", ""), Err(Error::custom("the target has no words")));
    assert_eq!(score(long(3), "a.b.", ""), Ok(Some(Score::new(false))), "two without the points");
    assert_eq!(score(long(3).cut([""; 0]), "a.b.", ""), Ok(Some(Score::new(true))));
    assert_eq!(score(long(9).reason("short"), "a", ""), Ok(Some(Score::new(false).explanation("short"))));
    assert_eq!(score(measures(), "", ""), Ok(None));
    assert!(score(measures(), "two words", "").unwrap().is_some());
    assert_eq!(score(everything(), "yes", "no"), Ok(None));
    assert_eq!(score(everything(), "yes", "yes"), Ok(Some(Score::new(1))));
    assert_eq!(score(everything().fail(true), "yes", "yes"), Err("failed on request".into()));
}

#[test]
fn specs_build_the_same_scorer() {
    assert_eq!(by_spec("word_overlap()").unwrap().spec(), word_overlap().spec());
    assert_eq!(by_spec("word_overlap").unwrap().spec().to_string(), "word_overlap");
    let built = long(3).cut(["x", "y"]).reason("because");
    assert_eq!(built.spec().to_string(), r#"is-long(least=3, cut=["x", "y"], reason="because")"#);
    for spec in [built.spec().to_string().as_str(), "is-long(3, ['x', 'y'], 'because')"] {
        let again = by_spec(spec).unwrap();
        assert_eq!(again.spec(), built.spec());
        assert_eq!(score(again, "axb", ""), score(built.clone(), "axb", ""));
    }
    assert!(by_spec("long(3)").is_err(), "not by the name of the function");
    let error = by_spec("is-long").unwrap_err();
    assert_eq!(error.to_string(), "is-long: argument `least` is missing; it is an integer, 0 or more");
    let error = by_spec("word_overlp").unwrap_err();
    assert_eq!(error.to_string(), "unknown scorer `word_overlp`; did you mean `word_overlap`?");
}

#[test]
fn metrics_are_those_declared() {
    assert_eq!(metrics_of(&word_overlap()), ["mean", "stderr", "pass_rate(threshold=0.8)"]);
    assert_eq!(metrics_of(&*by_spec("is-long(1)").unwrap()), ["accuracy"]);
    assert!(matches!(measures().metrics(), Metrics::Map(map) if map.keys().eq(["*", "len"])), "a map alone");
    assert_eq!(metrics_of(&measures()), ["mean", "stderr", "std"]);
    assert!(matches!(everything().metrics(), Metrics::List(items) if items.len() == 2), "a map in a list");
}

#[test]
fn the_body_is_callable() {
    let (state, target) = answered("red and green", "red green");
    let overlap: Result<Score> = block_on(WordOverlap::body(&state, &target)).unwrap();
    assert_eq!(overlap, Ok(Score::new(1.0)));
    let long: Score = Long::body(&state, &target, 100, Vec::new(), None);
    assert_eq!(long, Score::new(false));
}

#[test]
fn listings_show_arguments_defaults_and_a_sentence() {
    let registry = collected_registry().unwrap();
    let listing = |name: &str| registry.list::<AnyScorer>().find(|l| l.name == name).unwrap().clone();
    assert_eq!(listing("word_overlap").signature(), "word_overlap()");
    assert_eq!(listing("word_overlap").summary(), "The share of the target's words that the answer has.");
    assert_eq!(listing("is-long").signature(), r#"is-long(least, cut=["."], reason=None)"#);
    assert!(!listing("is-long").built_in && listing("choice").built_in);
}
