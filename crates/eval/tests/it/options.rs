//! What the options of a run decide, what its log records, and that a resumed run has the same ones.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errorbar_core::metrics::{accuracy, bootstrap_stderr, grouped, mean};
use errorbar_core::{Epochs, Error, Metrics, Reducers, Result, Score, Spec, metrics};
use errorbar_eval::scorers::{includes, matches};
use errorbar_eval::{
    BoxFuture, CancelToken, Error as EvalError, FailOnError, FinishedRun, Generate, GenerateConfig,
    ModelChoice, Observer, Progress, Quiet, RunOptions, Sample, Solver, StopReason, Target, Task, TaskState,
    UsageLimits, block_on, built_in_registry, model_fn, open_resumable,
};
use errorbar_log::eval::{EvalLog, Header, Status};
use errorbar_log::inspect::{ResultsJson, project};

use crate::{change, changed_parts, changed_question};

/// Questions `a` to `f`.
fn task() -> Task {
    let ids = ["a", "b", "c", "d", "e", "f"];
    Task::new(ids.map(|id| Sample::new(id).target("abc").id(id)))
        .name("letters")
        .scorer(includes())
        .model("mock/abc")
}

fn options(folder: &Path) -> RunOptions {
    RunOptions { log_dir: folder.to_owned(), max_samples: Some(1), ..RunOptions::default() }
}

fn run(task: &Task, options: &RunOptions) -> FinishedRun {
    watched(task, options, Arc::new(Quiet), CancelToken::new())
}

fn watched(
    task: &Task,
    options: &RunOptions,
    observer: Arc<dyn Observer>,
    cancel: CancelToken,
) -> FinishedRun {
    let prepared = task.prepare(options, &built_in_registry()).unwrap();
    block_on(prepared.run(observer, cancel)).unwrap().unwrap()
}

fn resume(task: &Task, log: &Path) -> errorbar_eval::Result<FinishedRun> {
    let (log, registry) = (open_resumable(log)?, built_in_registry());
    let prepared = task.prepare(&log.options(task, &registry)?, &registry).unwrap();
    block_on(prepared.resume(&log, Arc::new(Quiet), CancelToken::new())).unwrap()
}

fn header(finished: &FinishedRun) -> Header {
    EvalLog::open(&finished.log).unwrap().header().unwrap()
}

fn ids(finished: &FinishedRun) -> Vec<String> {
    header(finished).eval.dataset.sample_ids.unwrap().iter().map(ToString::to_string).collect()
}

fn problems(task: &Task, options: &RunOptions) -> Vec<EvalError> {
    task.prepare(options, &built_in_registry()).unwrap_err().problems
}

fn metric_names(finished: &FinishedRun) -> Vec<String> {
    project(finished.results.as_ref().unwrap()).scores[0].metrics.keys().cloned().collect()
}

fn named(name: &str) -> Sample {
    Sample::new(name).target("abc").id(name)
}

#[test]
fn samples_are_chosen_by_id_and_then_limited() {
    let folder = tempfile::tempdir().unwrap();
    let chosen =
        RunOptions { sample_ids: ["e", "b", "d"].map(str::to_owned).to_vec(), ..options(folder.path()) };
    assert_eq!(ids(&run(&task(), &chosen)), ["b", "d", "e"], "in the order of the dataset");
    assert_eq!(ids(&run(&task(), &RunOptions { limit: Some(2), ..chosen.clone() })), ["b", "d"]);
    let unknown = RunOptions { sample_ids: vec!["bb".to_owned()], ..chosen };
    let message = r#"the dataset has no sample "bb"; did you mean "b"?"#;
    assert!(matches!(&problems(&task(), &unknown)[..], [problem] if problem.to_string() == message));
}

#[test]
fn options_of_the_run_override_those_of_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let generate =
        GenerateConfig { temperature: Some(0.5), max_tokens: Some(9), ..GenerateConfig::default() };
    let both = task().metrics(metrics![accuracy()]).time_limit(Duration::from_secs(60)).generate(generate);
    let given = RunOptions {
        metrics: Some(metrics![mean(), bootstrap_stderr()]),
        limits: UsageLimits { time: Some(Duration::from_secs(5)), ..UsageLimits::default() },
        fail_on_error: Some(FailOnError::Count(3)),
        seed: Some(7),
        generate: GenerateConfig { temperature: Some(0.0), ..GenerateConfig::default() },
        ..options(folder.path())
    };
    let finished = run(&both.fail_on_error(FailOnError::First), &given);
    assert_eq!(metric_names(&finished), ["mean", "bootstrap_stderr"]);
    let eval = header(&finished).eval;
    let generate = serde_json::Value::from(eval.model_generate_config);
    assert_eq!(generate, serde_json::json!({"temperature": 0.0, "max_tokens": 9}));
    let config = eval.config;
    assert_eq!(config.extra["time_limit"], 5);
    assert_eq!(config.extra["seed"], 7);
    assert_eq!(config.fail_on_error, Some(3.0.into()));
}

#[test]
fn a_resumed_run_has_the_options_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let first = RunOptions {
        sample_ids: ["a", "c", "d"].map(str::to_owned).to_vec(),
        limit: Some(2),
        epochs: Some(2),
        reducers: Some(Epochs::new(2, ["mode", "at_least_2"]).reducers(&built_in_registry()).unwrap()),
        metrics: Some(metrics![bootstrap_stderr()]),
        seed: Some(9),
        fail_on_error: Some(FailOnError::Share(0.25)),
        limits: UsageLimits { time: Some(Duration::from_secs(8)), tokens: Some(70), cost: None },
        ..options(folder.path())
    };
    let finished = run(&task(), &first);
    let log = open_resumable(&finished.log).unwrap();
    let again = log.options(&task(), &built_in_registry()).unwrap();
    assert_eq!((again.limit, again.sample_ids, again.epochs), (first.limit, first.sample_ids, first.epochs));
    assert_eq!((again.seed, again.max_samples), (Some(9), Some(1)));
    assert_eq!((again.fail_on_error, again.limits), (first.fail_on_error, first.limits));
    let resumed = resume(&task(), &finished.log).unwrap();
    assert_eq!((resumed.resumed, resumed.done), (4, 4));
    let text = |finished: &FinishedRun| {
        serde_json::to_string(&ResultsJson::new(finished.results.as_ref().unwrap())).unwrap()
    };
    assert_eq!(text(&resumed), text(&finished));
}

#[test]
fn a_task_that_changed_cannot_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(&task(), &options(folder.path()));
    let refused = |task: Task| resume(&task, &finished.log).unwrap_err();
    assert_eq!(changed_parts(refused(task().scorer(matches()))), ["scorers or their metrics"]);
    let metrics = task().registered_as("letters", errorbar_core::Metadata::new().with("n", 5));
    assert_eq!(changed_parts(refused(metrics)), ["task arguments"]);
    let targets =
        ["a", "b", "c", "d", "e", "f"].map(|id| named(id).target(if id == "e" { "x" } else { "abc" }));
    let targets = Task::new(targets).name("letters").scorer(includes()).model("mock/abc");
    assert_eq!(changed_question(refused(targets)), "e");
    // A model of another name, though the log's own could be opened.
    let (log, registry) = (open_resumable(&finished.log).unwrap(), built_in_registry());
    let other =
        RunOptions { model: Some(ModelChoice::from("mock/x")), ..log.options(&task(), &registry).unwrap() };
    let prepared = task().prepare(&other, &registry).unwrap();
    let error = block_on(prepared.resume(&log, Arc::new(Quiet), CancelToken::new())).unwrap().unwrap_err();
    let message = "the task `letters` has changed since: its model is `mock/abc`, not `mock/x`";
    assert_eq!(change(error).to_string(), message);
}

#[test]
fn all_problems_are_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("o.jsonl"), "{\"id\": \"z\", \"output\": \"x\"}").unwrap();
    let reducers = Epochs::new(5, "at_least_5").reducers(&built_in_registry()).unwrap();
    let wrong = RunOptions {
        reducers: Some(reducers),
        model: Some(ModelChoice::relative_to(folder.path(), "replay/o.jsonl")),
        ..options(folder.path())
    };
    let problems_found: Vec<String> = problems(&task().scorer(errorbar_eval::scorers::choice()), &wrong)
        .iter()
        .map(|problem| problem.to_string().replace(&folder.path().display().to_string(), "FOLDER"))
        .collect();
    let no_choices = |id: &str| {
        format!("sample {id:?}: it has no choices, which choice() needs; map them from the dataset")
    };
    let expected = [
        "at_least_5: k = 5 is more than the 1 epoch of the run; lower k or run more epochs".to_owned(),
        no_choices("a"),
        no_choices("b"),
        no_choices("c"),
        no_choices("d"),
        no_choices("e"),
        "… and 1 more such problem(s)".to_owned(),
        "`choice` scores the choices that multiple_choice() marks, and the solver is `generate()`".to_owned(),
        "FOLDER/o.jsonl has no output for any sample of the dataset, such as \"a\"; its ids must be those of the dataset"
            .to_owned(),
    ];
    assert_eq!(problems_found, expected);
}

#[test]
fn keys_that_no_sample_has_are_a_warning_if_a_solver_may_add_them() {
    let folder = tempfile::tempdir().unwrap();
    let task =
        Task::new([named("a").metadata("kind", "x")]).scorer(includes()).model("mock/abc").solver(Sorter);
    let warnings = |key: &str| {
        let task = task.clone().metrics(metrics![grouped(accuracy(), key)]);
        task.prepare(&options(folder.path()), &built_in_registry()).unwrap().warnings
    };
    assert_eq!(warnings("kind"), Vec::<String>::new());
    assert_eq!(
        warnings("kinds"),
        ["no sample has the metadata key `kinds` that a metric reads; did you mean `kind`?"]
    );
}

/// Says which group a sample is in.
#[derive(Debug)]
struct Sorter;

impl errorbar_core::ToSpec for Sorter {
    fn spec(&self) -> Spec {
        Spec::new("sorter")
    }
}

impl Solver for Sorter {
    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>> {
        let group = if state.input_text() < "c" { "early" } else { "late" };
        state.metadata.insert("group".to_owned(), group.into());
        Box::pin(generate.run(state))
    }
}

#[test]
fn metrics_group_by_what_a_solver_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let task = task().solver(Sorter).metrics(metrics![grouped(accuracy(), "group")]);
    let finished = run(&task, &options(folder.path()));
    assert_eq!(metric_names(&finished), ["early", "late", "all"]);
    assert_eq!(metric_names(&resume(&task, &finished.log).unwrap()), ["early", "late", "all"]);
}

#[test]
fn usage_of_old_and_new_samples_is_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let line = |id: &str| {
        format!(
            "{{\"id\": \"{id}\", \"output\": \"abc\", \"usage\": {{\"input_tokens\": 1, \"output_tokens\": 2, \"total_tokens\": 3}}}}\n"
        )
    };
    let path = folder.path().join("o.jsonl");
    std::fs::write(&path, line("a") + &line("b")).unwrap();
    let task = task().model(ModelChoice::relative_to(folder.path(), "replay/o.jsonl"));
    let total = |finished: &FinishedRun| header(finished).stats.model_usage["replay/o.jsonl"].total_tokens;
    let first = run(&task, &options(folder.path()));
    assert_eq!((first.failed, total(&first)), (4, 6));
    std::fs::write(&path, ["a", "b", "c", "d", "e", "f"].map(line).concat()).unwrap();
    assert_eq!(total(&resume(&task, &first.log).unwrap()), 18);
}

/// Stores what is reported to it.
#[derive(Default)]
struct Diary {
    failures: Mutex<Vec<(String, u32, String)>>,
    figures: Mutex<Vec<f64>>,
    cancel_at: Option<(usize, CancelToken)>,
}

impl Observer for Diary {
    fn wants_figures(&self) -> bool {
        true
    }

    fn sample_failed(&self, sample: &str, epoch: u32, problem: &str) {
        self.failures.lock().unwrap().push((sample.to_owned(), epoch, problem.to_owned()));
    }

    fn sample_done(&self, progress: Progress<'_>) {
        self.figures.lock().unwrap().extend(progress.running.figures().first().map(|figure| figure.value));
        if let Some((count, cancel)) = &self.cancel_at
            && progress.done == *count
        {
            cancel.cancel();
        }
    }
}

/// Right for `a` and `b`; fails for `d`.
fn flaky() -> impl errorbar_eval::Model + 'static {
    model_fn("test/flaky", |request| {
        let id = request.sample_id.to_string();
        async move {
            match id.as_str() {
                "d" => Err(Error::custom("out of order")),
                "a" | "b" => Ok("abc".to_owned()),
                _ => Ok("no".to_owned()),
            }
        }
    })
}

#[test]
fn an_observer_hears_of_failures_and_running_figures() {
    let folder = tempfile::tempdir().unwrap();
    let diary = Arc::new(Diary::default());
    let observer: Arc<dyn Observer> = diary.clone();
    watched(&task().model(flaky()), &options(folder.path()), observer, CancelToken::new());
    let failure = ("d".to_owned(), 1, "the solver failed: out of order".to_owned());
    assert_eq!(*diary.failures.lock().unwrap(), [failure]);
    // a and b right, c wrong, d not there, e and f wrong.
    let thirds = 2.0 / 3.0;
    assert_eq!(*diary.figures.lock().unwrap(), [1.0, 1.0, thirds, thirds, 0.5, 0.4]);
}

#[test]
fn the_share_of_failures_that_ends_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let failing = model_fn("test/failing", |_| async { Err(Error::custom("no")) });
    let task = task().model(failing);
    let ended = |when: FailOnError| {
        run(&task, &RunOptions { fail_on_error: Some(when), ..options(folder.path()) }).done
    };
    assert_eq!(ended(FailOnError::First), 1);
    assert_eq!(ended(FailOnError::Share(0.5)), 3, "half of six");
    assert_eq!(ended(FailOnError::Count(2)), 2);
    assert_eq!(ended(FailOnError::Never), 6);
}

#[test]
fn a_cancel_after_the_last_sample_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run_until = |count: usize| {
        let cancel = CancelToken::new();
        let diary = Diary { cancel_at: Some((count, cancel.clone())), ..Diary::default() };
        let finished = watched(&task(), &options(folder.path()), Arc::new(diary), cancel);
        (finished.status, finished.stopped, finished.done)
    };
    assert_eq!(run_until(6), (Status::Success, None, 6));
    assert_eq!(run_until(2), (Status::Cancelled, Some(StopReason::Cancelled), 2));
}

type Judgement = BoxFuture<'static, Result<Option<Score>>>;

/// A scorer of this name that is a function.
#[derive(Debug)]
struct Judge(&'static str, fn(&TaskState) -> Judgement);

impl errorbar_core::ToSpec for Judge {
    fn spec(&self) -> Spec {
        Spec::new(self.0)
    }
}

impl errorbar_eval::Scorer for Judge {
    fn metrics(&self) -> Metrics {
        metrics![accuracy()]
    }

    fn score<'a>(&'a self, state: &'a TaskState, _: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        (self.1)(state)
    }
}

/// Fails for `b`.
fn picky(state: &TaskState) -> Judgement {
    let fails = state.sample_id.to_string() == "b";
    let score = if fails { Err(Error::custom("not my kind")) } else { Ok(Some(Score::new(1.0))) };
    Box::pin(std::future::ready(score))
}

/// Fails for `b`, and never answers for `c`.
fn picky_and_slow(state: &TaskState) -> Judgement {
    if state.sample_id.to_string() == "c" { Box::pin(std::future::pending()) } else { picky(state) }
}

/// A list in the first epoch, a number in the second, which no reducer can make one.
fn moody(state: &TaskState) -> Judgement {
    let score = if state.epoch == 1 { Score::new(vec![1.0, 2.0]) } else { Score::new(1.0) };
    Box::pin(std::future::ready(Ok(Some(score))))
}

#[test]
fn a_scorer_that_never_answers_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let limited = task().scorer(Judge("picky", picky_and_slow)).time_limit(std::time::Duration::from_secs(2));
    let finished = run(&limited, &options(folder.path()));
    assert_eq!((finished.done, finished.failed), (6, 2));
    let stored = EvalLog::open(&finished.log).unwrap();
    let errors: Vec<String> = stored.samples().unwrap().filter_map(|sample| sample.unwrap().error).collect();
    assert_eq!(
        errors[1],
        "the scorer `picky` did not end within what the time limit of 2 s leaves it; allow more time, or see what it waits for"
    );
}

#[test]
fn a_sample_that_one_scorer_fails_on_counts_for_none() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(&task().scorer(Judge("picky", picky)), &options(folder.path()));
    let scored: Vec<usize> =
        finished.results.as_ref().unwrap().scores.iter().map(|block| block.counts.scored).collect();
    assert_eq!((finished.failed, scored), (1, vec![5, 5]));
    let stored = EvalLog::open(&finished.log).unwrap();
    let failed =
        stored.samples().unwrap().map(|sample| sample.unwrap()).find(|sample| sample.error.is_some());
    let failed = failed.unwrap();
    assert_eq!(failed.error.as_deref(), Some("the scorer `picky` failed: not my kind"));
    assert!(failed.scores.is_empty());
}

#[test]
fn a_run_without_results_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(&task().scorer(Judge("moody", moody)).epochs(2), &options(folder.path()));
    assert_eq!((finished.status, finished.done, finished.results.is_some()), (Status::Error, 12, false));
    let header = header(&finished);
    assert_eq!(header.status, Status::Error);
    assert_eq!(header.error.unwrap().message, finished.results_error.unwrap().to_string());
}

#[test]
fn the_name_of_a_log_is_a_name_and_no_path() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(&task().name("../a/b c"), &options(folder.path()));
    assert_eq!(finished.log.parent().unwrap(), folder.path());
    assert!(finished.log.file_name().unwrap().to_str().unwrap().contains("_..-a-b-c_"));
}

#[test]
fn reduction_can_be_switched_off() {
    let folder = tempfile::tempdir().unwrap();
    let all = RunOptions { epochs: Some(2), reducers: Some(Reducers::Disabled), ..options(folder.path()) };
    let finished = run(&task(), &all);
    assert_eq!(finished.results.as_ref().unwrap().scores[0].counts.scored, 12);
    assert_eq!(resume(&task(), &finished.log).unwrap().results.unwrap().scores[0].counts.scored, 12);
}
