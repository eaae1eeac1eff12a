//! What a limit ends: solvers, whatever scorer follows them, and scorers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use errorbar_core::Value;
use errorbar_eval::scorers::{choice, pattern};
use errorbar_eval::solvers::{generate, multiple_choice};
use errorbar_eval::{
    CancelToken, FinishedRun, Model, ModelOutput, Quiet, RunOptions, Sample, Task, Usage, UsageLimits,
    block_on, built_in_registry, chain, model_fn,
};
use errorbar_log::eval::{EvalLog, StoredSample};

fn run(task: &Task, folder: &Path, limits: UsageLimits) -> (FinishedRun, StoredSample) {
    let options = RunOptions { limits, log_dir: folder.to_owned(), ..RunOptions::default() };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    let finished = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    let sample = EvalLog::open(&finished.log).unwrap().samples().unwrap().next().unwrap().unwrap();
    (finished, sample)
}

fn question() -> [Sample; 1] {
    [Sample::new("Which?").choices(["red", "green"]).target("A")]
}

/// Judged as no answer, and counted as limited.
fn assert_limited(task: &Task, limits: UsageLimits, kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (finished, sample) = run(task, folder.path(), limits);
    assert_eq!((sample.error.as_deref(), sample.limit.as_deref()), (None, Some(kind)));
    assert_eq!((finished.failed, finished.limits[kind]), (0, 1));
    let score = &sample.scores["choice"];
    assert_eq!((&score.value, score.reason.as_deref()), (&Value::from("N"), Some("no_response")));
    assert_eq!(finished.results.unwrap().estimate("accuracy").unwrap().number(), Some(0.0));
}

#[test]
fn a_choice_that_the_time_limit_cut_off_is_no_answer() {
    let silent = || model_fn("test/silent", |_| std::future::pending());
    let limits = UsageLimits { time: Some(Duration::from_millis(100)), ..UsageLimits::default() };
    let task = Task::new(question()).scorer(choice());
    assert_limited(&task.clone().solver(multiple_choice()).model(silent()), limits, "time");
    // Also where the solver that marks choices was not reached.
    let before = chain![generate(), multiple_choice()];
    assert_limited(&task.solver(before).model(silent()), limits, "time");
}

#[test]
fn a_choice_that_the_token_limit_cut_off_is_no_answer() {
    #[derive(Debug)]
    struct Talkative;
    impl Model for Talkative {
        fn name(&self) -> &str {
            "test/talkative"
        }

        fn generate<'a>(
            &'a self,
            _: errorbar_eval::Request<'a>,
        ) -> errorbar_eval::BoxFuture<'a, Result<ModelOutput, errorbar_eval::ModelError>> {
            let mut output = ModelOutput::from_text("test/talkative", "ANSWER: A");
            output.usage = Some(Usage::new(0, 100));
            Box::pin(std::future::ready(Ok(output)))
        }
    }
    let task = Task::new(question()).solver(multiple_choice()).scorer(choice()).model(Talkative);
    assert_limited(&task, UsageLimits { tokens: Some(10), ..UsageLimits::default() }, "token");
}

#[test]
fn a_choice_that_no_solver_looked_at_is_still_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let model = model_fn("test/quick", |_| async { Ok("ANSWER: A".to_owned()) });
    let task = Task::new(question()).scorer(choice()).model(model);
    let (_, sample) = run(&task, folder.path(), UsageLimits::default());
    assert_eq!(
        sample.error.unwrap(),
        "the scorer `choice` failed: no solver has looked at the choices; put multiple_choice() among the solvers"
    );
}

#[test]
fn the_time_limit_ends_a_pattern() {
    let folder = tempfile::tempdir().unwrap();
    // Searching all of it would take hours.
    let model = model_fn("test/hostile", |_| async { Ok("a".repeat(4 << 20)) });
    let task = Task::new([Sample::new("q").target("x")]).scorer(pattern("(?=.*foo)bar")).model(model);
    let limits = UsageLimits { time: Some(Duration::from_secs(1)), ..UsageLimits::default() };
    let (finished, sample) = run(&task, folder.path(), limits);
    assert_eq!((finished.failed, finished.done), (1, 1));
    assert_eq!(
        sample.error.unwrap(),
        "the scorer `pattern` did not end within what the time limit of 1 s leaves it; allow more time, or see what it waits for"
    );
}
