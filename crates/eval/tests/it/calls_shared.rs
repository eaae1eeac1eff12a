//! What calls have in common, seen from a run: waits, connections that go down and up, cached answers.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use errorbar_core::{Error, Metadata};
use errorbar_eval::scorers::{includes, model_graded_qa};
use errorbar_eval::{
    AnyModel, BoxFuture, Cache, Calls, CancelToken, FinishedRun, Model, ModelChoice, ModelError,
    ModelErrorKind, ModelOutput, Quiet, Request, RetryPolicy, RunOptions, Sample, StopReason, Task, Usage,
    UsageLimits, block_on, built_in_registry, model_fn, open_resumable,
};
use errorbar_log::eval::EvalLog;
use tokio::time::Instant;

use crate::block_on_paused;

/// A model that refuses its first request, if configured, and answers yes to the others.
#[derive(Clone, Debug)]
struct Shy {
    refuses_first: Option<ModelError>,
    is_cacheable: bool,
    requests: Arc<AtomicUsize>,
    at_once: Arc<AtomicUsize>,
    /// Since the first request.
    most_at_once: Arc<AtomicUsize>,
}

impl Shy {
    fn new(refuses_first: Option<ModelErrorKind>) -> Self {
        Shy {
            refuses_first: refuses_first.map(|kind| ModelError::new(kind, "too many")),
            is_cacheable: true,
            requests: Arc::default(),
            at_once: Arc::default(),
            most_at_once: Arc::default(),
        }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Model for Shy {
    fn name(&self) -> &str {
        "test/shy"
    }

    fn args(&self) -> Metadata {
        Metadata::from_iter([("base_url".to_owned(), "http://h/v1".into())])
    }

    fn is_cacheable(&self) -> bool {
        self.is_cacheable
    }

    fn generate<'a>(&'a self, _: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            let is_first = self.requests.fetch_add(1, Ordering::SeqCst) == 0;
            let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(2)).await;
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            if let Some(error) = self.refuses_first.clone().filter(|_| is_first) {
                self.most_at_once.store(0, Ordering::SeqCst);
                return Err(error);
            }
            let mut output = ModelOutput::from_text("test/shy", "yes");
            output.usage = Some(Usage::new(0, 20));
            Ok(output)
        })
    }
}

fn run(samples: usize, model: &Shy, folder: &Path, options: RunOptions) -> FinishedRun {
    timed_run(samples, model, folder, options).0
}

/// A run, and how long it took by its own clock.
fn timed_run(samples: usize, model: &Shy, folder: &Path, options: RunOptions) -> (FinishedRun, Duration) {
    let samples = (0..samples).map(|n| Sample::new(format!("q{n}")).target("yes"));
    let task = Task::new(samples.collect::<Vec<_>>()).scorer(includes()).model(model.clone());
    let options = RunOptions { log_dir: folder.to_owned(), ..options };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    block_on_paused(async {
        let started = Instant::now();
        let finished = prepared.run(Arc::new(Quiet), CancelToken::new()).await.unwrap();
        (finished, started.elapsed())
    })
}

fn with(calls: Calls) -> RunOptions {
    RunOptions { calls: Arc::new(calls), ..RunOptions::default() }
}

#[test]
fn no_request_is_made_during_the_wait_for_a_retry() {
    let folder = tempfile::tempdir().unwrap();
    let wish = Some(Duration::from_millis(300));
    for (kind, wait, least, most) in [
        (ModelErrorKind::Transient { retry_after: None }, 400, 200, 400),
        (ModelErrorKind::Transient { retry_after: wish }, 1, 300, 301),
        (ModelErrorKind::RateLimited { retry_after: wish }, 1, 300, 301),
    ] {
        let retry =
            RetryPolicy { max_retries: 1, first_wait: Duration::from_millis(wait), ..RetryPolicy::default() };
        let model = Shy::new(Some(kind));
        let (finished, took) = timed_run(1, &model, folder.path(), with(Calls::new(1, retry)));
        assert_eq!((finished.failed, model.requests()), (0, 2));
        let took = took.as_millis();
        // Two answers of 2 ms each, and the clock counts in whole milliseconds.
        assert!((least + 4..=most + 6).contains(&took), "{kind:?}: {took} ms");
    }
}

#[test]
fn a_model_that_refuses_gets_fewer_connections_and_one_that_answers_gets_them_back() {
    let folder = tempfile::tempdir().unwrap();
    let model = Shy::new(Some(ModelErrorKind::RateLimited { retry_after: None }));
    let retry = RetryPolicy { first_wait: Duration::from_millis(1), ..RetryPolicy::default() };
    let options = with(Calls::new(2, retry));
    assert_eq!(run(30, &model, folder.path(), options.clone()).failed, 0);
    let counts = options.calls.counts();
    assert_eq!((counts.requests, counts.retried, counts.refused), (31, 1, 1));
    // The server distinguishes models of the same name.
    assert_eq!(counts.lowered, [("test/shy at http://h/v1".to_owned(), 1)]);
    assert_eq!(model.most_at_once.load(Ordering::SeqCst), 2, "after it was one for a while");
}

#[test]
fn answers_that_are_cached_count_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let model = Shy::new(None);
    let options = || {
        let cache = Cache::open(folder.path().join("cache"), None).unwrap();
        with(Calls::new(2, RetryPolicy::default()).cache(cache))
    };
    assert_eq!(run(3, &model, folder.path(), options()).usage["test/shy"].total_tokens, 60);
    // Twenty tokens each would be too many for either limit.
    let limits = UsageLimits { tokens: Some(19), ..UsageLimits::default() };
    let again = RunOptions { limits, run_limits: limits, ..options() };
    let finished = run(3, &model, folder.path(), again.clone());
    let accuracy = finished.results.as_ref().unwrap().estimate("accuracy").unwrap().number().unwrap();
    assert_eq!((finished.done, finished.limited(), finished.usage.len(), accuracy), (3, 0, 0, 1.0));
    assert_eq!((again.calls.counts().cached, again.calls.counts().requests, model.requests()), (3, 0, 3));
    // A model that depends on more than the request is called, whatever is cached.
    let other = Shy { is_cacheable: false, ..model };
    run(3, &other, folder.path(), options());
    assert_eq!(other.requests(), 6);
}

#[test]
fn what_a_time_limit_has_ended_is_still_judged_by_models_that_take_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let slow = |name: &str, blocks: Duration, waits: Duration| {
        model_fn(name, move |_| async move {
            // As if the thread was blocked: nothing else runs meanwhile.
            tokio::time::advance(blocks).await;
            if !waits.is_zero() {
                tokio::time::sleep(waits).await;
            }
            Ok("GRADE: I".to_owned())
        })
    };
    let ms = Duration::from_millis;
    let limits = UsageLimits { time: Some(ms(400)), ..UsageLimits::default() };
    // One that is ended, and one that ends by itself when its time is over.
    for (blocks, waits) in [(ms(0), ms(60_000)), (ms(500), ms(0))] {
        let grader = AnyModel::from(slow("test/grader", ms(0), ms(50)));
        let task = Task::new([Sample::new("q").target("x")]).scorer(model_graded_qa()).model(slow(
            "test/evaluated",
            blocks,
            waits,
        ));
        let options = RunOptions {
            limits,
            roles: vec![("grader".to_owned(), ModelChoice::Built(grader))],
            log_dir: folder.path().to_owned(),
            ..RunOptions::default()
        };
        let prepared = task.prepare(&options, &built_in_registry()).unwrap();
        let finished = block_on_paused(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap();
        let scored = finished.results.as_ref().unwrap().scores[0].counts.scored;
        assert_eq!((finished.limited(), finished.failed, scored), (1, 0, 1), "{blocks:?} {waits:?}");
    }
}

#[test]
fn a_run_that_is_gone_on_with_has_its_server_and_what_graders_of_both_runs_used() {
    let folder = tempfile::tempdir().unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let fails_first = model_fn("test/evaluated", move |_| {
        let is_first = requests.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if is_first { Err(Error::custom("down")) } else { Ok("yes".to_owned()) } }
    });
    let task = Task::new([Sample::new("a").target("x"), Sample::new("b").target("x")])
        .scorer(model_graded_qa())
        .model(fails_first);
    let roles = vec![("grader".to_owned(), ModelChoice::Built(Shy::new(None).into()))];
    let options = RunOptions { roles, log_dir: folder.path().to_owned(), ..RunOptions::default() };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    let first = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    let used = |finished: &FinishedRun| {
        let stats = EvalLog::open(&finished.log).unwrap().header().unwrap().stats;
        (finished.failed, stats.role_usage["grader"].total_tokens)
    };
    assert_eq!(used(&first), (1, 20));
    let log = open_resumable(&first.log).unwrap();
    let recorded = log.options(&task, &built_in_registry()).unwrap();
    let prepared =
        task.prepare(&RunOptions { roles: options.roles, ..recorded }, &built_in_registry()).unwrap();
    let resumed = block_on(prepared.resume(&log, Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    assert_eq!(used(&resumed), (0, 40));

    let on_server = Task::new([Sample::new("a").target("yes")]).scorer(includes()).model(Shy::new(None));
    let options = RunOptions { log_dir: folder.path().to_owned(), ..RunOptions::default() };
    let prepared = on_server.prepare(&options, &built_in_registry()).unwrap();
    let ran = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    let log = open_resumable(&ran.log).unwrap();
    let recorded = log.options(&on_server, &built_in_registry()).unwrap();
    // A log does not decide where a key is sent.
    assert_eq!((log.servers()[0].base_url.as_str(), &recorded.base_url), ("http://h/v1", &None));
    // The task's own model is where the task has it; any other is to be named.
    assert_eq!(log.unnamed_servers(&on_server, &recorded, &built_in_registry()), []);
    let elsewhere = Task::new([Sample::new("a").target("yes")]).scorer(includes());
    assert_eq!(log.unnamed_servers(&elsewhere, &recorded, &built_in_registry()), log.servers());
    let named = RunOptions { base_url: Some("http://h/v1".to_owned()), ..recorded };
    assert_eq!(log.unnamed_servers(&elsewhere, &named, &built_in_registry()), []);
}

#[test]
fn a_run_ends_when_its_time_is_over_whatever_it_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let silent = model_fn("test/silent", |_| std::future::pending());
    let task = Task::new([Sample::new("a").target("x")]).scorer(includes()).model(silent);
    let run_limits = UsageLimits { time: Some(Duration::from_millis(100)), ..UsageLimits::default() };
    let options = RunOptions { run_limits, log_dir: folder.path().to_owned(), ..RunOptions::default() };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    let finished = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    let Some(StopReason::LimitReached { limit }) = finished.stopped else { panic!("{:?}", finished.stopped) };
    assert_eq!((limit.as_str(), finished.done), ("the run took longer than 0.1 s", 0));
}
