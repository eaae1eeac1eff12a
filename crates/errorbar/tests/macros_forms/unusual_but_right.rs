//! Forms that are allowed: conditions, attributes, patterns with `mut`, recursion by the body.
use errorbar::core::Spec;
use errorbar::prelude::*;

#[metric]
#[cfg(any())]
fn left_out(scores: &Missing) -> Missing {}

/// Attributes stay on the body.
#[metric]
#[inline]
#[allow(unused_mut)]
fn countdown(
    scores: &Scores,
    #[default(3)] mut from: u64,
    #[allow(unused_variables)] unused: Option<f64>,
) -> f64 {
    if from == 0 { scores.len() as f64 } else { Self::body(scores, from - 1, None) }
}

#[metric]
fn with_notes(_scores: &Scores) -> Estimate {
    Estimate::new(1.0).note("source", "hand")
}

#[metric]
fn anything(_scores: &Scores) -> impl Into<MetricValue> + use<> {
    vec![1.0, 2.0]
}

#[metric]
fn other_errors(_scores: &Scores) -> std::result::Result<f64, errorbar::core::spec::SpecError> {
    "pass_rate(".parse::<errorbar::core::Spec>().map(|_| 1.0)
}

/// Solvers may be plain, take anything that has a name, and recur by a boxed body.
#[solver]
async fn again(state: &mut TaskState, generate: &Generate, #[default(2)] mut times: u32) -> Result<()> {
    times -= 1;
    generate.run(state).await?;
    if times > 0 { Box::pin(Self::body(state, generate, times)).await } else { Ok(()) }
}

type State = TaskState;

/// Other errors, by way of `?`.
#[scorer(metrics = [])]
async fn of_alias(
    _: &State,
    _: &Target,
) -> std::result::Result<Option<Score>, errorbar::core::spec::SpecError> {
    "mean(".parse::<Spec>().map(|_| None)
}

/// Conditions, attributes and statements stay on a task.
#[task]
#[cfg(any())]
fn left_out() -> Missing {}

#[task]
#[inline]
#[allow(unused_mut)]
fn quiz(#[default(3)] mut epochs: u32, #[allow(unused_variables)] unused: Option<f64>) -> Task {
    Task::new(["?"]).solver(again()).scorer(of_alias()).epochs(epochs)
}

#[test]
fn it_compiles() {
    let _ = quiz(1, None);
    let columns = errorbar::ScoreColumns::new(["a"]);
    let set = errorbar::core::ScoreSet::unreduced(&columns, "a").unwrap();
    assert_eq!(countdown().from(2).compute(&set.scores()).unwrap().number(), Some(0.0));
    assert!(matches!(other_errors().compute(&set.scores()), Err(Error::Spec(_))));
    assert!(anything().compute(&set.scores()).is_ok() && with_notes().compute(&set.scores()).is_ok());
}
