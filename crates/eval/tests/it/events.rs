//! The events that a run records of each sample: its steps, the calls of models with their times, scores, limits, errors.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use errorbar_core::Spec;
use errorbar_eval::scorers::{includes, model_graded_qa};
use errorbar_eval::solvers::{generate, self_critique, system_message};
use errorbar_eval::{
    BoxFuture, Cache, Calls, CancelToken, FinishedRun, GenerateConfig, Model, ModelChoice, ModelError,
    ModelOutput, Quiet, Request, RetryPolicy, RunOptions, Sample, Task, UsageLimits, built_in_registry,
    chain, open_resumable,
};
use errorbar_log::eval::EvalLog;
use serde_json::{Value as Json, json};

use crate::block_on_paused;

/// Answers after a second; its first requests fail after half of one.
#[derive(Clone, Debug)]
struct Slow {
    failures: Arc<AtomicUsize>,
}

impl Slow {
    fn failing(times: usize) -> Self {
        Slow { failures: Arc::new(AtomicUsize::new(times)) }
    }
}

impl Model for Slow {
    fn name(&self) -> &str {
        "test/slow"
    }

    fn generate<'a>(&'a self, _request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let fails = |left: usize| left.checked_sub(1);
            if self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails).is_ok() {
                return Err(ModelError::transient("503 busy"));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok(ModelOutput::from_text("test/slow", "the answer, GRADE: C"))
        })
    }

    fn is_cacheable(&self) -> bool {
        true
    }
}

fn task(model: &Slow) -> Task {
    Task::new([Sample::new("hi").target("answer").id("q")]).scorer(includes()).model(model.clone())
}

fn options(folder: &Path) -> RunOptions {
    // With jitter, two waits take six to twelve seconds.
    let retry = RetryPolicy { max_retries: 3, first_wait: Duration::from_secs(4), ..RetryPolicy::default() };
    let calls = Arc::new(Calls::new(4, retry));
    RunOptions { log_dir: folder.to_owned(), calls, ..RunOptions::default() }
}

fn run(task: &Task, options: &RunOptions) -> FinishedRun {
    let prepared = task.prepare(options, &built_in_registry()).unwrap();
    block_on_paused(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap()
}

/// The one sample of a run as it stands in the log.
fn sample(finished: &FinishedRun) -> Json {
    let mut json = Vec::new();
    assert!(EvalLog::open(&finished.log).unwrap().copy_sample("q", 1, &mut json).unwrap());
    serde_json::from_slice(&json).unwrap()
}

fn events<'a>(sample: &'a Json, kind: &str) -> Vec<&'a Json> {
    sample["events"].as_array().unwrap().iter().filter(|event| event["event"] == kind).collect()
}

/// Kinds of events, with the names of spans.
fn outline(sample: &Json) -> Vec<String> {
    let shown = |event: &Json| {
        let kind = event["event"].as_str().unwrap();
        match event["name"].as_str() {
            Some(name) => format!("{kind} {name}"),
            None => kind.to_owned(),
        }
    };
    sample["events"].as_array().unwrap().iter().map(shown).collect()
}

#[test]
fn a_sample_has_its_steps_its_call_and_its_score() {
    let folder = tempfile::tempdir().unwrap();
    let sample = sample(&run(&task(&Slow::failing(0)), &options(folder.path())));
    let steps = [
        "span_begin init",
        "sample_init",
        "span_end",
        "span_begin solvers",
        "span_begin generate",
        "model",
        "span_end",
        "span_end",
        "span_begin scorers",
        "span_begin includes",
        "score",
        "span_end",
        "span_end",
    ];
    assert_eq!(outline(&sample), steps);
    let spans = events(&sample, "span_begin");
    assert_eq!(spans[2]["parent_id"], spans[1]["id"]);
    assert_eq!(spans[1].get("parent_id"), None);
    let (call, score) = (events(&sample, "model")[0], events(&sample, "score")[0]);
    assert_eq!((&call["span_id"], &score["span_id"]), (&spans[2]["id"], &spans[4]["id"]));
    assert_eq!((&call["model"], &call["working_time"]), (&json!("test/slow"), &json!(1.0)));
    assert_eq!(call["output"]["time"], 1.0);
    assert_eq!((&score["scorer"], &score["score"]["value"]), (&json!("includes"), &json!("C")));
    // Ids are of this sample alone, and none occurs twice.
    let uuid = sample["uuid"].as_str().unwrap();
    let ids: Vec<&str> =
        sample["events"].as_array().unwrap().iter().map(|e| e["uuid"].as_str().unwrap()).collect();
    assert!(ids.iter().all(|id| id.starts_with(&uuid[..16])), "{ids:?}");
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
}

#[test]
fn failed_attempts_are_events_and_waiting_is_not_work() {
    let folder = tempfile::tempdir().unwrap();
    let sample = sample(&run(&task(&Slow::failing(2)), &options(folder.path())));
    let calls = events(&sample, "model");
    assert_eq!(calls.len(), 3);
    for (number, failed) in calls[..2].iter().enumerate() {
        assert_eq!((&failed["error"], &failed["working_time"]), (&json!("503 busy"), &json!(0.5)));
        assert_eq!(failed.get("retries").and_then(Json::as_u64).unwrap_or(0), number as u64);
        assert_eq!(failed["output"]["completion"], "");
    }
    let answered = calls[2];
    assert_eq!((&answered["retries"], answered.get("error")), (&json!(2), None));
    assert_eq!((&answered["working_time"], &answered["input_refs"]), (&json!(1.0), &json!([[0, 1]])));
    let seconds = |key: &str| sample[key].as_f64().unwrap();
    assert!((1.99..2.1).contains(&seconds("working_time")), "{}", seconds("working_time"));
    assert!(seconds("total_time") > 4.0, "{}", seconds("total_time"));
    let second = calls[1]["working_start"].as_f64().unwrap();
    assert!((0.5..0.6).contains(&second), "{second}");
    // Viewers sort by time: the attempt that was answered began last.
    let starts: Vec<&str> = calls.iter().map(|call| call["timestamp"].as_str().unwrap()).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    let last = answered["working_start"].as_f64().unwrap();
    assert!((1.0..1.1).contains(&last), "{last}");
}

#[test]
fn a_call_that_fails_for_good_and_one_that_a_limit_ends_are_there_too() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let failed = sample(&run(&task(&Slow::failing(99)), &options));
    assert_eq!(events(&failed, "model").len(), 4);
    let error = events(&failed, "error")[0];
    assert_eq!(error["error"]["message"], failed["error"]["message"]);
    assert_eq!(events(&failed, "score").len(), 0);

    let limits = UsageLimits { time: Some(Duration::from_millis(700)), ..UsageLimits::default() };
    let ended = sample(&run(&task(&Slow::failing(0)), &RunOptions { limits, ..options }));
    let outline = outline(&ended);
    let at = outline.iter().position(|event| event == "model").unwrap();
    // What was cancelled has not ended its spans.
    assert_eq!(outline[at..at + 4], ["model", "sample_limit", "span_end", "span_end"]);
    let call = events(&ended, "model")[0];
    assert!(call["error"].is_string() && call["completed"].is_string(), "{call}");
    assert_eq!(events(&ended, "sample_limit")[0]["type"], "time");
    assert_eq!(
        outline.iter().filter(|event| event.starts_with("span_begin")).count(),
        outline.iter().filter(|event| *event == "span_end").count()
    );
}

#[test]
fn the_cache_and_roles_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let cached = || {
        let cache = Cache::open(folder.path().join("cache"), None).unwrap();
        let grader = ("grader".to_owned(), ModelChoice::Built(Slow::failing(0).into()));
        let calls = Arc::new(Calls::new(4, RetryPolicy::default()).cache(cache));
        RunOptions { calls, roles: vec![grader], ..options(folder.path()) }
    };
    let task = task(&Slow::failing(0)).scorer(model_graded_qa());
    for (cache, took) in [("write", 1.0), ("read", 0.0)] {
        let sample = sample(&run(&task, &cached()));
        let calls = events(&sample, "model");
        assert_eq!(calls.len(), 2);
        assert_eq!((calls[0].get("role"), &calls[1]["role"]), (None, &json!("grader")));
        for call in calls {
            assert_eq!(call["cache"], cache);
            let working = call["working_time"].as_f64().unwrap();
            assert!((took..took + 0.1).contains(&working), "{cache}: {working}");
        }
    }
}

#[test]
fn a_conversation_is_recorded_once() {
    let folder = tempfile::tempdir().unwrap();
    let generate_config =
        GenerateConfig { system_message: Some("be kind".to_owned()), ..GenerateConfig::default() };
    let solver = chain![system_message("be brief"), generate(), self_critique()];
    let options = RunOptions { generate: generate_config, ..options(folder.path()) };
    let sample = sample(&run(&task(&Slow::failing(0)).solver(solver), &options));
    let sent: Vec<&Json> = events(&sample, "model").iter().map(|call| &call["input_refs"]).collect();
    let pool: Vec<&str> = sample["events_data"]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(pool[..3], ["be kind", "be brief", "hi"]);
    // The critique is about a message of its own, and the last call continues the conversation.
    assert_eq!(sent, [&json!([[0, 3]]), &json!([[0, 1], [3, 4]]), &json!([[0, 3], [4, 6]])]);
    assert_eq!(pool.len(), 6);
    assert_eq!(events(&sample, "model")[0]["config"]["system_message"], "be kind");
}

#[test]
fn events_can_be_left_out_and_a_resumed_run_leaves_them_out_too() {
    let folder = tempfile::tempdir().unwrap();
    let without = RunOptions { skip_events: true, ..options(folder.path()) };
    let task = task(&Slow::failing(99));
    let finished = run(&task, &without);
    assert_eq!(finished.failed, 1);
    assert_eq!(sample(&finished)["events"], json!([]));
    assert_eq!(sample(&finished).get("events_data"), None);
    let log = open_resumable(&finished.log).unwrap();
    let registry = built_in_registry();
    assert!(log.options(&task, &registry).unwrap().skip_events);
    let with = run(&task, &options(folder.path()));
    assert!(!open_resumable(&with.log).unwrap().options(&task, &registry).unwrap().skip_events);
}

#[test]
fn a_solver_that_is_no_chain_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let solver = self_critique();
    assert_eq!(errorbar_core::ToSpec::spec(&solver), Spec::new("self_critique"));
    let sample = sample(&run(&task(&Slow::failing(0)).solver(solver), &options(folder.path())));
    assert!(outline(&sample).contains(&"span_begin self_critique".to_owned()));
}
