//! What a resumed log must not do: claim what its samples do not support, or mix questions of two datasets.

use std::path::Path;
use std::sync::Arc;

use errorbar_core::Error;
use errorbar_eval::scorers::{choice, includes};
use errorbar_eval::solvers::multiple_choice;
use errorbar_eval::{
    AnyScorer, CancelToken, FinishedRun, ModelChoice, Quiet, RunOptions, Sample, Task, block_on,
    built_in_registry, model_fn, open_resumable,
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

#[test]
fn other_metadata_is_another_sample() {
    let folder = tempfile::tempdir().unwrap();
    let task = |category: &str| {
        let sample = |id: &str| Sample::new(id).target("A").id(id).metadata("category", category);
        Task::new(["a", "b"].map(sample)).scorer(includes()).model(flaky())
    };
    let first = run(&task("easy"), folder.path());
    let error = resume(&task("hard"), &first.log, CancelToken::new()).unwrap_err();
    assert!(matches!(error, errorbar_eval::Error::ChangedTask { .. }), "{error}");
    let without = Task::new(["a", "b"].map(|id| Sample::new(id).target("A").id(id))).scorer(includes());
    let error = resume(&without.model(flaky()), &first.log, CancelToken::new()).unwrap_err();
    assert!(matches!(error, errorbar_eval::Error::ChangedTask { .. }), "{error}");
    assert_eq!(resume(&task("easy"), &first.log, CancelToken::new()).unwrap().resumed, 1);
}

#[cfg(unix)]
#[test]
fn another_script_that_scores_is_another_scorer() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("score.sh");
    let spec = "command(['sh', 'score.sh'])".parse().unwrap();
    let task = || {
        let scorer = built_in_registry().relative_to(folder.path()).build::<AnyScorer>(&spec).unwrap();
        Task::new(["a", "b"].map(|id| Sample::new(id).target("A").id(id))).scorer(scorer).model(flaky())
    };
    std::fs::write(&script, "read -r line; echo '{\"seq\": 1, \"value\": 1}'; read -r line").unwrap();
    let first = run(&task(), folder.path());
    assert_eq!(first.failed, 1);
    std::fs::write(&script, "read -r line; echo '{\"seq\": 1, \"value\": 0}'; read -r line").unwrap();
    let error = resume(&task(), &first.log, CancelToken::new()).unwrap_err();
    assert!(error.to_string().contains("files of scorers that run a command"), "{error}");
}

#[test]
fn recorded_outputs_may_be_added_but_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.jsonl");
    let record = |lines: &[(&str, &str)]| {
        let line = |(id, output): &(&str, &str)| format!("{{\"id\": \"{id}\", \"output\": {output}}}\n");
        std::fs::write(&path, lines.iter().map(line).collect::<String>()).unwrap();
    };
    let task = || {
        let model = ModelChoice::relative_to(folder.path(), "replay/o.jsonl");
        let samples = ["a", "b"].map(|id| Sample::new(id).target("A").id(id));
        Task::new(samples).scorer(includes()).model(model)
    };
    record(&[("a", "\"A\"")]);
    let first = run(&task(), folder.path());
    assert_eq!(first.failed, 1);
    record(&[("a", "\"B\""), ("b", "\"A\"")]);
    let error = resume(&task(), &first.log, CancelToken::new()).unwrap_err();
    assert!(matches!(error, errorbar_eval::Error::ChangedTask { .. }), "{error}");
    record(&[("b", "\"A\"")]);
    let error = resume(&task(), &first.log, CancelToken::new()).unwrap_err();
    assert!(matches!(error, errorbar_eval::Error::ChangedTask { .. }), "removed: {error}");
    record(&[("a", "[\"A\"]"), ("b", "\"A\"")]);
    let second = resume(&task(), &first.log, CancelToken::new()).unwrap();
    assert_eq!((second.resumed, second.failed), (1, 0));
}

#[test]
fn a_resumed_log_has_the_form_of_the_first_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.jsonl");
    std::fs::write(&path, "{\"id\": \"a\", \"output\": \"A\"}\n").unwrap();
    let model = ModelChoice::relative_to(folder.path(), "replay/o.jsonl");
    let samples = ["a", "b"].map(|id| Sample::new(id).target("A").id(id));
    let task = || Task::new(samples.clone()).scorer(includes()).model(model.clone());
    let options = RunOptions {
        log_dir: folder.path().to_owned(),
        log_format: errorbar_eval::LogFormat::Json,
        ..RunOptions::default()
    };
    let prepared = task().prepare(&options, &built_in_registry()).unwrap();
    let first = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    assert_eq!((first.failed, first.log.extension().unwrap().to_str()), (1, Some("json")));
    // The JSON itself cannot be resumed; its archive can.
    let error = open_resumable(&first.log).unwrap_err();
    let errorbar_eval::Error::JsonLog { archive, .. } = error else { panic!("{error}") };
    assert_eq!(archive.as_ref(), Some(&first.archive));
    let outputs = "{\"id\": \"a\", \"output\": \"A\"}\n{\"id\": \"b\", \"output\": \"A\"}\n";
    std::fs::write(&path, outputs).unwrap();
    let second = resume(&task(), &first.archive, CancelToken::new()).unwrap();
    assert_eq!((second.failed, &second.log), (0, &first.log));
    assert!(!first.archive.exists(), "it is complete");
    assert_eq!(EvalLog::open(&second.log).unwrap().sample_count(), 2);
}

#[test]
fn a_log_of_the_reference_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let log = serde_json::json!({
        "version": 2, "status": "cancelled", "plan": {}, "samples": [],
        "eval": {
            "created": "2026-01-01T00:00:00+00:00", "task": "t", "dataset": {}, "model": "m", "config": {},
            "packages": {"inspect_ai": "0.3.285"},
        },
    });
    std::fs::write(&path, log.to_string()).unwrap();
    let error = open_resumable(&path).unwrap_err();
    assert!(
        matches!(&error, errorbar_eval::Error::ForeignLog { program, .. } if program.ends_with("0.3.285"))
    );
    assert_eq!(error.to_string().lines().count(), 1);
}
