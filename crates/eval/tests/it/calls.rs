//! How models are called: with retries when they may help, a maximum at once, up to the limits.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errorbar_core::{Spec, Value};
use errorbar_eval::scorers::{includes, model_graded_qa};
use errorbar_eval::{
    BoxFuture, Calls, CancelToken, Error, FinishedRun, Generate, GenerateConfig, Model, ModelChoice,
    ModelError, ModelErrorKind, ModelOutput, Prices, Quiet, Request, RetryPolicy, RunOptions, Sample, Solver,
    StopReason, Task, TaskState, Usage, UsageLimits, built_in_registry, open_resumable,
};
use errorbar_log::eval::{EvalLog, Status, StoredSample};

use crate::{block_on_paused, changed_parts};

/// A model whose first calls about each sample fail in a given way.
#[derive(Clone, Debug)]
struct Failing {
    first: usize,
    error: ModelError,
    requests: Arc<Mutex<std::collections::HashMap<String, usize>>>,
    at_once: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
    usage: Option<Usage>,
}

impl Failing {
    fn new(first: usize, error: ModelError) -> Self {
        Failing {
            first,
            error,
            requests: Arc::default(),
            at_once: Arc::default(),
            most_at_once: Arc::default(),
            usage: None,
        }
    }

    fn using(total_tokens: u64) -> Self {
        let usage = Usage::new(0, total_tokens);
        Failing { usage: Some(usage), ..Failing::new(0, ModelError::permanent("")) }
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().values().sum()
    }
}

impl Model for Failing {
    fn name(&self) -> &str {
        "test/failing"
    }

    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(now, Ordering::SeqCst);
            // On a paused clock this ends when no other task has anything to do.
            tokio::time::sleep(Duration::from_millis(2)).await;
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            let times = {
                let mut requests = self.requests.lock().unwrap();
                let times = requests.entry(request.sample_id.to_string()).or_default();
                *times += 1;
                *times
            };
            if times <= self.first {
                return Err(self.error.clone());
            }
            let said: Vec<&str> = request.messages.iter().map(|message| message.content.as_str()).collect();
            let mut output = ModelOutput::from_text("test/failing", said.join("|"));
            output.usage.clone_from(&self.usage);
            Ok(output)
        })
    }
}

fn task(samples: usize, model: &Failing) -> Task {
    let samples = (0..samples).map(|n| Sample::new(format!("q{n}")).target(format!("q{n}")).id(n as i64));
    Task::new(samples.collect::<Vec<_>>()).scorer(includes()).model(model.clone())
}

fn hasty(max_retries: u32) -> RetryPolicy {
    RetryPolicy { max_retries, first_wait: Duration::from_millis(1), ..RetryPolicy::default() }
}

fn options(folder: &Path, calls: Calls) -> RunOptions {
    RunOptions { log_dir: folder.to_owned(), calls: Arc::new(calls), ..RunOptions::default() }
}

fn run(task: &Task, options: &RunOptions) -> FinishedRun {
    let prepared = task.prepare(options, &built_in_registry()).unwrap();
    block_on_paused(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap()
}

fn samples(finished: &FinishedRun) -> Vec<StoredSample> {
    let log = EvalLog::open(&finished.log).unwrap();
    log.samples().unwrap().map(|sample| sample.unwrap()).collect()
}

#[test]
fn transient_errors_are_retried_and_permanent_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let limited = ModelError::new(ModelErrorKind::RateLimited { retry_after: None }, "too many");
    for error in [ModelError::transient("busy"), limited] {
        let model = Failing::new(3, error);
        let options = options(folder.path(), Calls::new(4, hasty(3)));
        let finished = run(&task(5, &model), &options);
        assert_eq!((finished.failed, model.requests()), (0, 20));
        let counts = options.calls.counts();
        assert_eq!((counts.requests, counts.retried), (20, 15));
    }
    let model = Failing::new(3, ModelError::transient("busy"));
    let finished = run(&task(2, &model), &options(folder.path(), Calls::new(4, hasty(2))));
    assert_eq!((finished.failed, model.requests()), (2, 6));
    let error = samples(&finished)[0].error.clone().unwrap();
    assert_eq!(error, "the solver failed: busy (retried 2 times)");
    let model = Failing::new(1, ModelError::permanent("no such model"));
    let finished = run(&task(1, &model), &options(folder.path(), Calls::new(4, hasty(5))));
    assert_eq!((finished.failed, model.requests()), (1, 1));
    assert_eq!(samples(&finished)[0].error.as_deref(), Some("the solver failed: no such model"));
}

#[test]
fn no_more_are_under_way_than_there_are_connections() {
    let folder = tempfile::tempdir().unwrap();
    let model = Failing::new(0, ModelError::permanent(""));
    let options = RunOptions { max_samples: Some(30), ..options(folder.path(), Calls::new(3, hasty(0))) };
    assert_eq!(run(&task(30, &model), &options).failed, 0);
    assert_eq!(model.most_at_once.load(Ordering::SeqCst), 3);
    // Two runs that share their calls share the connections too.
    let (first, second) = (task(20, &model), task(20, &model));
    let [first, second] = [first, second].map(|task| task.prepare(&options, &built_in_registry()).unwrap());
    let both = async {
        let quiet = || Arc::new(Quiet);
        tokio::join!(first.run(quiet(), CancelToken::new()), second.run(quiet(), CancelToken::new()))
    };
    let (first, second) = block_on_paused(both);
    assert_eq!((first.unwrap().failed, second.unwrap().failed), (0, 0));
    assert_eq!(model.most_at_once.load(Ordering::SeqCst), 3);
}

#[test]
fn an_answer_that_times_out_is_requested_again() {
    let folder = tempfile::tempdir().unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let slow = errorbar_eval::model_fn("test/slow", move |_| {
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok("q0".to_owned())
        }
    });
    let task = Task::new([Sample::new("q0").target("q0")]).scorer(includes()).model(slow);
    let calls = || Calls::new(1, hasty(1)).timeout(Duration::from_millis(50));
    assert_eq!(run(&task, &options(folder.path(), calls())).failed, 0);
    assert_eq!(requests.load(Ordering::SeqCst), 2);
    requests.store(0, Ordering::SeqCst);
    let calls = Calls::new(1, hasty(0)).timeout(Duration::from_millis(50));
    let finished = run(&task, &options(folder.path(), calls));
    let error = samples(&finished)[0].error.clone().unwrap();
    assert_eq!(
        error,
        "the solver failed: test/slow gave no answer within 0.05 s; allow more, or fewer connections at once"
    );
}

#[test]
fn a_sample_whose_time_goes_by_without_an_answer_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let model = Failing::new(100, ModelError::transient("nobody there"));
    let retry = RetryPolicy { first_wait: Duration::from_secs(60), ..RetryPolicy::default() };
    let limits = UsageLimits { time: Some(Duration::from_millis(300)), ..UsageLimits::default() };
    let finished =
        run(&task(1, &model), &RunOptions { limits, ..options(folder.path(), Calls::new(1, retry)) });
    assert_eq!((finished.failed, finished.limited()), (1, 0));
    let sample = &samples(&finished)[0];
    let error = sample.error.as_deref().unwrap();
    assert_eq!(error, "the solver did not end within the time limit of 0.3 s: nobody there");
    assert!(sample.limit.is_none() && sample.scores.is_empty());
}

#[test]
fn a_sample_that_passes_its_limit_is_judged_without_the_answer_that_did() {
    let folder = tempfile::tempdir().unwrap();
    let model = Failing::using(20);
    let base = options(folder.path(), Calls::default());
    for (tokens, kind, grade) in [(19, Some("token"), "I"), (20, None, "C")] {
        let limits = UsageLimits { tokens: Some(tokens), ..UsageLimits::default() };
        let finished = run(&task(1, &model), &RunOptions { limits, ..base.clone() });
        assert_eq!((finished.status, finished.failed), (Status::Success, 0));
        let sample = &samples(&finished)[0];
        assert_eq!(sample.limit.as_deref(), kind, "{tokens} tokens");
        assert_eq!(sample.scores["includes"].value, Value::from(grade));
        assert_eq!(sample.model_usage["test/failing"].total_tokens, 20);
        assert_eq!(
            EvalLog::open(&finished.log).unwrap().header().unwrap().eval.config.extra["token_limit"],
            tokens
        );
    }
    let prices = Prices::parse("[\"test/failing\"]\noutput = 1000000").unwrap();
    let limits =
        UsageLimits { cost: Some(19.5), time: Some(Duration::from_millis(60_500)), ..UsageLimits::default() };
    let options = RunOptions { limits, prices, ..base.clone() };
    let finished = run(&task(1, &model), &options);
    assert_eq!(samples(&finished)[0].limit.as_deref(), Some("cost"));
    assert_eq!(finished.usage["test/failing"].total_cost, Some(20.0));
    let recorded = open_resumable(&finished.log).unwrap().options(&task(1, &model), &built_in_registry());
    assert_eq!(recorded.unwrap().limits, limits);
    // A limit on the cost needs to know it.
    for (limits, run_limits) in [(limits, UsageLimits::default()), (UsageLimits::default(), limits)] {
        let unknown = RunOptions { prices: Prices::default(), limits, run_limits, ..options.clone() };
        let error = task(1, &model).prepare(&unknown, &built_in_registry()).unwrap_err();
        let [Error::UnknownPrice { models }] = error.problems.as_slice() else { panic!("{error}") };
        assert_eq!(models, &["test/failing"]);
    }
}

/// Asks three times.
#[derive(Debug)]
struct Thrice;

impl errorbar_core::ToSpec for Thrice {
    fn spec(&self) -> Spec {
        Spec::new("thrice")
    }
}

impl Solver for Thrice {
    fn solve<'a>(
        &'a self,
        state: &'a mut TaskState,
        generate: &'a Generate,
    ) -> BoxFuture<'a, errorbar_core::Result<()>> {
        Box::pin(async move {
            for _ in 0..3 {
                generate.run(state).await?;
            }
            Ok(())
        })
    }
}

#[test]
fn a_limit_is_one_for_all_calls_about_a_sample_and_one_that_is_reached_allows_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let prices = Prices::parse("[\"test/failing\"]\noutput = 1000000").unwrap();
    let tokens = |tokens| UsageLimits { tokens: Some(tokens), ..UsageLimits::default() };
    let cost = |cost| UsageLimits { cost: Some(cost), ..UsageLimits::default() };
    // Of three calls with twenty tokens each: how many are made, and how many messages they leave beside the question.
    for (limits, kind, requests, answers) in [
        (tokens(60), None, 3, 3),
        (tokens(59), Some("token"), 3, 2),
        (tokens(40), Some("token"), 2, 2),
        (tokens(20), Some("token"), 1, 1),
        (cost(60.0), None, 3, 3),
        (cost(59.0), Some("cost"), 3, 2),
        (cost(40.0), Some("cost"), 2, 2),
    ] {
        let model = Failing::using(20);
        let base = options(folder.path(), Calls::default());
        let options = RunOptions { limits, prices: prices.clone(), ..base };
        let finished = run(&task(1, &model).solver(Thrice), &options);
        let sample = &samples(&finished)[0];
        assert_eq!((sample.limit.as_deref(), model.requests()), (kind, requests), "{limits:?}");
        assert_eq!((sample.error.as_deref(), sample.message_count), (None, 1 + answers), "{limits:?}");
        assert_eq!(sample.model_usage["test/failing"].total_tokens, 20 * requests as u64);
    }
}

#[test]
fn samples_that_met_a_limit_are_counted_if_they_were_judged_whichever_run_they_were_in() {
    let folder = tempfile::tempdir().unwrap();
    let model = Failing::using(20);
    let counts = |finished: &FinishedRun| {
        let tokens = finished.usage["test/failing"].total_tokens;
        (finished.limited(), finished.failed, finished.resumed, tokens)
    };
    // A grader without an answer to the last sample fails it.
    for (grades, failed) in [(r#"{"0": "GRADE: C", "1": "GRADE: C"}"#, 1), ("GRADE: C", 0)] {
        let options = RunOptions {
            limits: UsageLimits { tokens: Some(19), ..UsageLimits::default() },
            roles: vec![("grader".to_owned(), ModelChoice::from(format!("mock/{grades}").as_str()))],
            ..options(folder.path(), Calls::default())
        };
        let task = task(3, &model).scorer(model_graded_qa());
        let first = run(&task, &options);
        assert_eq!(counts(&first), (3 - failed, failed, 0, 60));
        let log = open_resumable(&first.log).unwrap();
        let options = log.options(&task, &built_in_registry()).unwrap();
        let prepared = task.prepare(&options, &built_in_registry()).unwrap();
        let resumed = block_on_paused(prepared.resume(&log, Arc::new(Quiet), CancelToken::new())).unwrap();
        assert_eq!(counts(&resumed), (3 - failed, failed, 3 - failed, 60));
    }
}

#[test]
fn a_run_that_passes_its_limit_ends_and_can_be_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let model = Failing::using(10);
    let run_limits = UsageLimits { tokens: Some(45), ..UsageLimits::default() };
    let base = options(folder.path(), Calls::new(1, hasty(0)));
    let options = RunOptions { run_limits, max_samples: Some(1), ..base.clone() };
    let task = task(200, &model);
    let finished = run(&task, &options);
    assert_eq!(finished.status, Status::Cancelled);
    let Some(StopReason::LimitReached { limit }) = &finished.stopped else {
        panic!("{:?}", finished.stopped)
    };
    let used = limit.strip_suffix(" tokens were used, and 45 are allowed").map(str::parse::<u64>);
    assert!(matches!(used, Some(Ok(46..))), "{limit}");
    assert!(finished.done >= 4 && finished.done < 200, "{}", finished.done);
    let log = open_resumable(&finished.log).unwrap();
    let resume = |options: &RunOptions| {
        let prepared = task.prepare(options, &built_in_registry()).unwrap();
        block_on_paused(prepared.resume(&log, Arc::new(Quiet), CancelToken::new())).unwrap()
    };
    // The log has the limit, and the rest of the run may take as much again.
    let recorded = log.options(&task, &built_in_registry()).unwrap();
    assert_eq!(recorded.run_limits, run_limits);
    let resumed = resume(&recorded);
    assert!(matches!(resumed.stopped, Some(StopReason::LimitReached { .. })), "{:?}", resumed.stopped);
    assert_eq!(resumed.resumed, finished.done);
    assert!(resumed.done >= finished.done + 4 && resumed.done < 200, "{}", resumed.done);
    let last = resume(&RunOptions { run_limits: UsageLimits::default(), ..recorded });
    assert_eq!((last.status, last.done, last.resumed), (Status::Success, 200, resumed.done));
}

#[test]
fn a_resumed_run_has_the_limits_of_its_log_or_others_and_the_log_records_which() {
    let folder = tempfile::tempdir().unwrap();
    let model = Failing::using(10);
    let task = task(200, &model);
    let prices =
        Prices::parse("[\"test/failing\"]\ninput = 1\noutput = 1000000\n[other]\ninput = 2").unwrap();
    let (half, minute) = (Duration::from_millis(30_500), Duration::from_secs(60));
    let first = RunOptions {
        limits: UsageLimits { time: Some(minute), tokens: Some(70), cost: Some(80.25) },
        run_limits: UsageLimits { time: Some(half), tokens: Some(45), cost: Some(1e6) },
        prices,
        max_samples: Some(1),
        ..options(folder.path(), Calls::new(1, hasty(0)))
    };
    let log = run(&task, &first).log;
    let recorded = || open_resumable(&log).unwrap().options(&task, &built_in_registry()).unwrap();
    assert_eq!((recorded().limits, recorded().run_limits), (first.limits, first.run_limits));
    assert_eq!(recorded().prices.of("test/failing"), first.prices.of("test/failing"));
    assert_eq!(recorded().prices.of("other"), None, "the log is about this run");

    let limits = UsageLimits { time: Some(half), tokens: None, cost: Some(90.0) };
    let run_limits = UsageLimits { tokens: Some(50), ..UsageLimits::default() };
    let others = RunOptions { limits, run_limits, ..recorded() };
    let prepared = task.prepare(&others, &built_in_registry()).unwrap();
    let resumable = open_resumable(&log).unwrap();
    block_on_paused(prepared.resume(&resumable, Arc::new(Quiet), CancelToken::new())).unwrap();
    assert_eq!((recorded().limits, recorded().run_limits), (limits, run_limits));
    let config = EvalLog::open(&log).unwrap().header().unwrap().eval.config.extra;
    assert_eq!((&config["time_limit"], config.get("token_limit")), (&31.into(), None));
}

#[test]
fn how_models_generate_is_recorded_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let model = Failing::using(1);
    let generate = GenerateConfig {
        system_message: Some("Be brief.".to_owned()),
        temperature: Some(0.5),
        stop_seqs: vec!["END".to_owned()],
        extra_body: serde_json::from_str("{\"top_k\": 40}").unwrap(),
        ..GenerateConfig::default()
    };
    let roles = vec![
        ("grader".to_owned(), ModelChoice::from("mock/GRADE: C")),
        ("panel".to_owned(), ModelChoice::from("mock/a")),
        ("panel".to_owned(), ModelChoice::from("mock/b")),
    ];
    let options = RunOptions { generate, roles, ..options(folder.path(), Calls::default()) };
    let task = task(1, &model);
    let finished = run(&task, &options);
    let log = EvalLog::open(&finished.log).unwrap();
    let eval = log.header().unwrap().eval;
    assert_eq!(
        serde_json::Value::from(eval.model_generate_config),
        serde_json::json!({"system_message": "Be brief.", "temperature": 0.5, "stop_seqs": ["END"], "extra_body": {"top_k": 40}})
    );
    assert_eq!(eval.extra["model_roles"]["grader"]["model"], "mock/GRADE: C");
    assert_eq!(eval.extra["model_roles"]["panel"][1]["model"], "mock/b");
    // The system message goes to the model and not into the conversation.
    let sample = &samples(&finished)[0];
    let explanation = sample.scores["includes"].explanation.as_deref();
    assert_eq!((explanation, sample.message_count), (Some("Be brief.|q0"), 2));
    let again = open_resumable(&finished.log).unwrap().options(&task, &built_in_registry()).unwrap();
    assert_eq!(again.generate, options.generate);
    let names =
        |options: &RunOptions| options.roles.iter().map(|role| format!("{role:?}")).collect::<Vec<_>>();
    assert_eq!(names(&again), names(&options));
    for (changed, what) in [
        (RunOptions { generate: GenerateConfig::default(), ..again.clone() }, "options of generation"),
        (RunOptions { roles: again.roles[..2].to_vec(), ..again }, "models in roles"),
    ] {
        let log = open_resumable(&finished.log).unwrap();
        let prepared = task.prepare(&changed, &built_in_registry()).unwrap();
        let refused =
            block_on_paused(prepared.resume(&log, Arc::new(Quiet), CancelToken::new())).unwrap_err();
        assert_eq!(changed_parts(refused), [what]);
    }
}

#[test]
fn a_role_has_a_server_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let roles = vec![("grader".to_owned(), ModelChoice::from("openai/judge"))];
    let options = RunOptions {
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
        roles,
        role_base_urls: vec![("grader".to_owned(), "http://127.0.0.1:2/v1".to_owned())],
        ..options(folder.path(), Calls::new(1, hasty(0)))
    };
    let model = Failing::using(1);
    let finished = run(&task(1, &model), &options);
    let eval = EvalLog::open(&finished.log).unwrap().header().unwrap().eval;
    assert_eq!(eval.extra["model_roles"]["grader"]["base_url"], "http://127.0.0.1:2/v1");
    // It is in the log, and must be named again to resume the run.
    let log = open_resumable(&finished.log).unwrap();
    let again = log.options(&task(1, &model), &built_in_registry()).unwrap();
    assert_eq!(again.role_base_urls, []);
    let unnamed = log.unnamed_servers(&task(1, &model), &again, &built_in_registry());
    assert_eq!((unnamed.len(), unnamed[0].base_url.as_str()), (1, "http://127.0.0.1:2/v1"));
    assert_eq!(unnamed[0].role.as_deref(), Some("grader"));
    let named = RunOptions { role_base_urls: options.role_base_urls.clone(), ..again };
    assert_eq!(log.unnamed_servers(&task(1, &model), &named, &built_in_registry()), []);
    let mut unknown = options;
    unknown.role_base_urls.push(("judge".to_owned(), "http://h/v1".to_owned()));
    let error = task(1, &model).prepare(&unknown, &built_in_registry()).unwrap_err();
    assert!(
        matches!(error.problems.as_slice(), [Error::UnknownRole { role, .. }] if role == "judge"),
        "{error}"
    );
}
