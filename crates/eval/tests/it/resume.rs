//! What a resumed log must not do: claim what its samples do not support, or mix questions of two datasets.

use std::path::Path;
use std::sync::Arc;

use errorbar_core::Error;
use errorbar_eval::scorers::{choice, includes};
use errorbar_eval::solvers::multiple_choice;
use errorbar_eval::{
    CancelToken, FinishedRun, ModelChoice, Quiet, RunOptions, Sample, Task, block_on, built_in_registry,
    model_fn, open_resumable,
};
use errorbar_log::eval::{EvalLog, compare, plan_from_header};
use errorbar_log::inspect::ResultsJson;

use crate::changed_question;

fn run(task: &Task, folder: &Path) -> FinishedRun {
    let options = RunOptions { log_dir: folder.to_owned(), ..RunOptions::default() };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap()
}

fn resume(task: &Task, log: &Path, cancel: CancelToken) -> errorbar_eval::Result<FinishedRun> {
    let (log, registry) = (open_resumable(log)?, built_in_registry());
    let prepared = task.prepare(&log.options(task, &registry)?, &registry).unwrap();
    block_on(prepared.resume(&log, Arc::new(Quiet), cancel)).unwrap()
}

/// Fails for `b`, and answers A otherwise.
fn flaky() -> impl errorbar_eval::Model + 'static {
    model_fn("test/flaky", |request| {
        let fails = request.sample_id.to_string() == "b";
        async move { if fails { Err(Error::custom("down")) } else { Ok("ANSWER: A".to_owned()) } }
    })
}

#[test]
fn a_resumed_run_that_is_cancelled_has_the_results_of_its_samples() {
    let folder = tempfile::tempdir().unwrap();
    let samples = ["a", "b", "c"].map(|id| Sample::new(id).target("A").id(id));
    let task = Task::new(samples).scorer(includes()).model(flaky());
    let first = run(&task, folder.path());
    assert_eq!((first.done, first.failed), (3, 1));
    let cancel = CancelToken::new();
    cancel.cancel();
    let second = resume(&task, &first.log, cancel).unwrap();

    let log = EvalLog::open(&second.log).unwrap();
    let header = log.header().unwrap();
    let (plan, _) = plan_from_header(&header, &built_in_registry()).unwrap();
    let recomputed = plan.evaluate(&log.score_columns(&plan.metadata_keys()).unwrap()).unwrap().results;
    assert_eq!(compare(&header.results.unwrap(), &recomputed), []);
}

#[test]
fn other_choices_are_another_question() {
    let folder = tempfile::tempdir().unwrap();
    let task = |choices: [&str; 2]| {
        let sample = |id: &str| Sample::new(id).target("A").id(id).choices(choices);
        Task::new(["a", "b"].map(sample)).solver(multiple_choice()).scorer(choice()).model(flaky())
    };
    let finished = run(&task(["x", "y"]), folder.path());
    let error = resume(&task(["y", "x"]), &finished.log, CancelToken::new()).unwrap_err();
    assert_eq!(changed_question(error), "a");
}

#[test]
fn a_file_of_the_same_name_elsewhere_is_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let outputs = |text: &str| format!("{{\"id\": \"a\", \"output\": \"{text}\"}}\n");
    for (place, answer) in [("one", "A"), ("two", "B")] {
        std::fs::create_dir(folder.path().join(place)).unwrap();
        std::fs::write(folder.path().join(place).join("o.jsonl"), outputs(answer)).unwrap();
    }
    let task = |place: &str| {
        let model = ModelChoice::relative_to(&folder.path().join(place), "replay/o.jsonl");
        Task::new(["a", "b"].map(|id| Sample::new(id).target("A").id(id))).scorer(includes()).model(model)
    };
    let first = run(&task("one"), folder.path());
    assert_eq!(first.failed, 1);
    // The log's model is found again where it was; that of the other task is refused, or not there at all.
    assert_eq!(resume(&task("one"), &first.log, CancelToken::new()).unwrap().resumed, 1);
    let (log, registry) = (open_resumable(&first.log).unwrap(), built_in_registry());
    let options = log.options(&task("two"), &registry).unwrap();
    assert!(task("two").prepare(&options, &registry).is_err(), "the file is not in the current folder");
}

#[test]
fn a_log_that_is_complete_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let task =
        Task::new(["c", "a"].map(|id| Sample::new(id).target("A").id(id))).scorer(includes()).model(flaky());
    let first = run(&task, folder.path());
    let before = std::fs::read(&first.log).unwrap();
    let again = resume(&task, &first.log, CancelToken::new()).unwrap();
    assert_eq!((again.done, again.resumed, again.failed), (2, 2, 0));
    let text = |finished: &FinishedRun| {
        serde_json::to_string(&ResultsJson::new(finished.results.as_ref().unwrap())).unwrap()
    };
    assert_eq!(text(&again), text(&first));
    assert_eq!(std::fs::read(&first.log).unwrap(), before);
}
