//! Stored outputs scored again: names, metrics, samples without an answer, graders, and logs as they are written.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use errorbar_core::metrics::mean;
use errorbar_core::reducers::max;
use errorbar_core::{Error, Metrics, Score, ScoreResult, Value, metrics, reducers};
use errorbar_eval::scorers::{choice, exact, f1, includes, matches, model_graded_qa};
use errorbar_eval::solvers::multiple_choice;
use errorbar_eval::{
    AnyModel, BoxFuture, CancelToken, Model, ModelChoice, ModelError, ModelOutput, Quiet, Request, Rescore,
    RescoreError, RescoredLog, RunOptions, Sample, Task, Usage, UsageLimits, block_on, built_in_registry,
    model_fn,
};
use errorbar_log::eval::{EvalLog, RecordedResults, ScoreAction, StoredSample, compare};
use serde_json::{Value as Json, json};

/// A model that answers with the question, and fails where the question says so.
fn echo(calls: &Arc<AtomicUsize>) -> AnyModel {
    let calls = Arc::clone(calls);
    let model = model_fn("mine/echo", move |request| {
        calls.fetch_add(1, Ordering::Relaxed);
        let text = request.messages.last().map(|message| message.content.clone()).unwrap_or_default();
        let epoch = request.epoch;
        async move {
            match text.as_str() {
                "fail" => Err(Error::custom("no answer")),
                _ => Ok(format!("It is {text}, I say ({epoch}).")),
            }
        }
    });
    model.into()
}

/// A folder with a log of four samples in two epochs, one of which fails.
struct Fixture {
    folder: tempfile::TempDir,
    log: PathBuf,
    calls: Arc<AtomicUsize>,
}

impl Fixture {
    fn new(change: impl FnOnce(Task) -> Task) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let calls = Arc::default();
        let questions = [("red", "red"), ("green", "blue"), ("fail", "x"), ("two", "two")];
        let samples = questions.map(|(question, target)| Sample::new(question).target(target).id(question));
        let task = Task::new(samples)
            .name("colours")
            .scorer(includes())
            .epochs(2)
            .model(ModelChoice::Built(echo(&calls)));
        let options = RunOptions { log_dir: folder.path().to_owned(), ..RunOptions::default() };
        let prepared = change(task).prepare(&options, &built_in_registry()).unwrap();
        let run = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
        Fixture { log: run.log, folder, calls }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn open(&self) -> EvalLog {
        EvalLog::open(&self.log).unwrap()
    }
}

fn scored_with(rescore: &Rescore, log: EvalLog, options: &RunOptions) -> Result<RescoredLog, RescoreError> {
    let prepared = rescore.prepare(log, options, &built_in_registry())?;
    block_on(prepared.run(Arc::new(|_| ()), CancelToken::new())).unwrap()
}

fn scored(rescore: &Rescore, log: EvalLog) -> RescoredLog {
    scored_with(rescore, log, &RunOptions::default()).unwrap()
}

/// Recorded results are those of the samples, and nothing in the file is damaged.
fn check(path: &Path) -> RecordedResults {
    let log = EvalLog::open(path).unwrap();
    log.check().unwrap();
    let header = log.header().unwrap();
    let (plan, warnings) = errorbar_log::eval::plan_from_header(&header, &built_in_registry()).unwrap();
    assert!(warnings.is_empty());
    let columns = log.score_columns(&plan.metadata_keys()).unwrap();
    let recorded = header.results.unwrap();
    assert_eq!(compare(&recorded, &plan.evaluate(&columns).unwrap().results), []);
    recorded
}

fn blocks(results: &RecordedResults) -> Vec<&str> {
    results.scores.iter().map(|block| block.name.as_str()).collect()
}

fn samples(path: &Path) -> Vec<StoredSample> {
    EvalLog::open(path).unwrap().samples().unwrap().map(Result::unwrap).collect()
}

#[test]
fn appended_scores_have_their_own_names_and_the_old_ones_stay() {
    let fixture = Fixture::new(|task| task);
    let before = samples(&fixture.log);
    let calls = fixture.calls.load(Ordering::Relaxed);
    let rescore = Rescore::new().scorer(includes()).scorer(f1()).scorer(includes());
    let scored = scored(&rescore.action(ScoreAction::Append), fixture.open());
    assert_eq!(scored.names().collect::<Vec<_>>(), ["includes1", "f1", "includes2"]);
    let path = fixture.path("appended.eval");
    scored.write_to(&path, &built_in_registry()).unwrap();

    let results = check(&path);
    assert_eq!(blocks(&results), ["includes", "includes1", "f1", "includes2"]);
    // Of the old score the failed sample has none; the new ones are about what there is.
    let counts: Vec<Option<u64>> = results.scores.iter().map(|block| block.scored_samples).collect();
    assert_eq!(counts, [Some(3), Some(4), Some(4), Some(4)]);
    let after = samples(&path);
    for (old, new) in before.iter().zip(&after) {
        assert_eq!(
            (&old.id, old.epoch, &old.input, &old.error),
            (&new.id, new.epoch, &new.input, &new.error)
        );
        assert_eq!(old.scores.get("includes"), new.scores.get("includes"));
        assert_eq!(new.scores["includes1"], new.scores["includes2"]);
        if let Some(score) = old.scores.get("includes") {
            assert_eq!(*score, new.scores["includes1"]);
        }
    }
    let failed = after.iter().find(|sample| sample.error.is_some()).unwrap();
    assert_eq!(failed.scores["includes1"].reason.as_deref(), Some("no_response"));
    assert_eq!(fixture.calls.load(Ordering::Relaxed), calls, "the evaluated model is not called");

    // Once more on top of it: numbers go on.
    let again = self::scored(&Rescore::new().scorer(includes()), EvalLog::open(&path).unwrap());
    assert_eq!(again.names().collect::<Vec<_>>(), ["includes3"]);
    again.write_back(&built_in_registry()).unwrap();
    assert_eq!(blocks(&check(&path)).len(), 5);
}

#[test]
fn samples_are_in_the_order_of_the_dataset() {
    let fixture = Fixture::new(|task| task);
    let ids = |log: &EvalLog| -> Vec<String> {
        let samples = log.samples().unwrap().map(Result::unwrap);
        samples.filter(|sample| sample.epoch == 1).map(|sample| sample.id.to_string()).collect()
    };
    let log = fixture.open();
    assert_eq!(ids(&log), ["red", "green", "fail", "two"]);
    let columns = log.score_columns(&errorbar_core::MetadataKeys::NONE).unwrap();
    assert_eq!((0..4).map(|row| columns.id(row)).collect::<Vec<_>>(), ids(&log));
    // Those that the header does not list come last, by key.
    let json = fixture.path("log.json");
    errorbar_log::eval::convert(&log, &json).unwrap();
    let text = fs::read_to_string(&json).unwrap();
    fs::write(&json, text.replacen(r#"["red","green","fail","two"]"#, r#"["two"]"#, 1)).unwrap();
    assert_eq!(ids(&EvalLog::open(&json).unwrap()), ["two", "fail", "green", "red"]);
}

#[test]
fn scores_of_each_scorer_keep_the_reducer_that_they_were_recorded_with() {
    let fixture = Fixture::new(|task| task);
    let reducers = Some(reducers![max()]);
    let rescore = Rescore::new().scorer(matches()).action(ScoreAction::Append);
    let options = RunOptions { reducers, ..RunOptions::default() };
    let scored = scored_with(&rescore, fixture.open(), &options).unwrap();
    let path = fixture.path("reduced.eval");
    scored.write_to(&path, &built_in_registry()).unwrap();

    let log = EvalLog::open(&path).unwrap();
    let header = log.header().unwrap();
    let (plan, _) = errorbar_log::eval::plan_from_header(&header, &built_in_registry()).unwrap();
    assert_eq!(plan.reducers_of("match").log_names().unwrap(), ["max"]);
    assert_eq!(plan.reducers_of("includes").log_names(), None);
    let columns = log.score_columns(&plan.metadata_keys()).unwrap();
    let computed = plan.evaluate(&columns).unwrap().results;
    assert_eq!(compare(&header.results.unwrap(), &computed), []);
    let reducer = |block: &ScoreResult| (block.scorer.clone(), block.reducer.clone());
    let reducers: Vec<_> = computed.scores.iter().map(reducer).collect();
    assert_eq!(reducers, [("includes".to_owned(), None), ("match".to_owned(), Some("max".to_owned()))]);
}

#[test]
fn scores_can_be_replaced_in_both_forms_of_a_log() {
    let fixture = Fixture::new(|task| task);
    let json = fixture.path("log.json");
    errorbar_log::eval::convert(&fixture.open(), &json).unwrap();
    for log in [&fixture.log, &json] {
        let rescore = Rescore::new().scorer(matches()).action(ScoreAction::Overwrite);
        scored(&rescore, EvalLog::open(log).unwrap()).write_back(&built_in_registry()).unwrap();
        let results = check(log);
        assert_eq!(blocks(&results), ["match"]);
        assert_eq!((results.total_samples, results.completed_samples), (8, 6));
        for sample in samples(log) {
            assert_eq!(sample.scores.keys().collect::<Vec<_>>(), ["match"]);
        }
        assert_eq!(EvalLog::open(log).unwrap().header().unwrap().eval.scorers.unwrap().len(), 1);
    }
}

#[test]
fn metrics_are_those_of_the_scorer_or_for_replaced_scores_of_the_task() {
    let fixture = Fixture::new(|task| task.metrics(metrics![mean()]));
    let metrics = |action| {
        let scored = scored(&Rescore::new().scorer(includes()).action(action), fixture.open());
        let names = scored.results().scores[0].metrics.iter().map(|metric| metric.spec.name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(metrics(ScoreAction::Append), ["accuracy", "stderr"]);
    assert_eq!(metrics(ScoreAction::Overwrite), ["mean"]);
}

#[test]
fn choices_are_marked_as_the_output_names_them() {
    let fixture = Fixture::new(|task| {
        let sample =
            |id: &str, target: &str| Sample::new("Which?").choices(["ANSWER: A", "x"]).target(target).id(id);
        let model = model_fn("mine/a", |_| std::future::ready(Ok("Well.\nANSWER: B".to_owned())));
        drop(task);
        Task::new([sample("right", "B"), sample("wrong", "A")])
            .solver(multiple_choice())
            .scorer(choice())
            .model(model)
    });
    let path = fixture.path("c.eval");
    scored(&Rescore::new().scorer(choice()), fixture.open()).write_to(&path, &built_in_registry()).unwrap();
    for sample in samples(&path) {
        assert_eq!(sample.scores["choice"], sample.scores["choice1"]);
        let expected = if sample.id.to_string() == "right" { "C" } else { "I" };
        assert_eq!(sample.scores["choice1"].value, Value::from(expected));
        assert_eq!(sample.scores["choice1"].answer.as_deref(), Some("B"));
    }
}

fn with_grader(grader: AnyModel) -> RunOptions {
    RunOptions { roles: vec![("grader".to_owned(), ModelChoice::Built(grader))], ..RunOptions::default() }
}

#[test]
fn graders_see_the_stored_answers() {
    let fixture = Fixture::new(|task| task);
    let grader = model_fn("mine/grader", |request| {
        let prompt = request.messages[0].content.clone();
        let grade = if prompt.contains("It is red") { "GRADE: C" } else { "GRADE: I" };
        std::future::ready(Ok(grade.to_owned()))
    });
    let rescore = Rescore::new().scorer(model_graded_qa());
    let scored = scored_with(&rescore, fixture.open(), &with_grader(grader.into())).unwrap();
    assert_eq!(scored.results().estimate("accuracy").unwrap().number(), Some(0.25));
    let path = fixture.path("graded.eval");
    scored.write_to(&path, &built_in_registry()).unwrap();
    assert_eq!(blocks(&check(&path)), ["includes", "model_graded_qa"]);
    let scorers = EvalLog::open(&path).unwrap().header().unwrap().eval.scorers.unwrap();
    assert_eq!(scorers[1].metadata.as_ref().unwrap()["model_roles"]["grader"], "mine/grader");
    let sample = whole_sample(&path, "red");
    let call = events(&sample, "model").into_iter().find(|call| call["model"] == "mine/grader").unwrap();
    assert_eq!((&call["role"], &call["output"]["completion"]), (&json!("grader"), &json!("GRADE: C")));
    assert!(call["input"][0]["content"].as_str().unwrap().contains("It is red"));
    let judged = events(&sample, "score").pop().unwrap();
    assert_eq!((&judged["scorer"], &judged["span_id"]), (&json!("model_graded_qa"), &call["span_id"]));
    // Viewers find events by their ids.
    let events = sample["events"].as_array().unwrap();
    let ids: HashSet<&str> = events.iter().map(|event| event["uuid"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), events.len());
}

/// The sample of this id in the first epoch, with its events.
fn whole_sample(path: &Path, id: &str) -> Json {
    let mut json = Vec::new();
    assert!(EvalLog::open(path).unwrap().copy_sample(id, 1, &mut json).unwrap());
    serde_json::from_slice(&json).unwrap()
}

fn events<'a>(sample: &'a Json, kind: &str) -> Vec<&'a Json> {
    sample["events"].as_array().unwrap().iter().filter(|event| event["event"] == kind).collect()
}

/// A grader that uses a token for each answer.
#[derive(Debug)]
struct Paid;

impl Model for Paid {
    fn name(&self) -> &str {
        "mine/paid"
    }

    fn generate<'a>(&'a self, _: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        let mut output = ModelOutput::from_text("mine/paid", "GRADE: C");
        output.usage = Some(Usage::new(0, 1));
        Box::pin(std::future::ready(Ok(output)))
    }
}

#[test]
fn graders_have_limits() {
    let fixture = Fixture::new(|task| task);
    let rescore = Rescore::new().scorer(model_graded_qa());
    let limited = |tokens, cost| RunOptions {
        run_limits: UsageLimits { tokens: Some(tokens), cost, ..UsageLimits::default() },
        max_samples: Some(1),
        ..with_grader(Paid.into())
    };
    let error = scored_with(&rescore, fixture.open(), &limited(3, None)).unwrap_err();
    assert!(matches!(&error, RescoreError::LimitReached(text) if text.contains("when 4 of 8")), "{error}");
    // What was paid for is used: the last answer passes the limit.
    scored_with(&rescore, fixture.open(), &limited(7, None)).unwrap();
    let error = scored_with(&rescore, fixture.open(), &limited(8, Some(1.0))).unwrap_err();
    assert!(matches!(error, RescoreError::Models(errorbar_eval::Error::UnknownPrice { .. })), "{error}");
}

#[test]
fn a_grader_that_fails_leaves_nothing_behind() {
    let fixture = Fixture::new(|task| task);
    let before = fs::read(&fixture.log).unwrap();
    let grader = model_fn("mine/grader", |request| {
        let fails = request.sample_id.to_string() == "two" && request.epoch == 2;
        std::future::ready(if fails { Err(Error::custom("gone")) } else { Ok("GRADE: C".to_owned()) })
    });
    let rescore = Rescore::new().scorer(model_graded_qa());
    let error = scored_with(&rescore, fixture.open(), &with_grader(grader.into())).unwrap_err();
    let place = "sample \"two\", epoch 2: the scorer `model_graded_qa` failed: ";
    assert!(error.to_string().contains(place), "{error}");
    assert_eq!(fs::read(&fixture.log).unwrap(), before);
    assert_eq!(fs::read_dir(fixture.folder.path()).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_scored_is_refused_first() {
    let fixture = Fixture::new(|task| task);
    let refused = |rescore: Rescore, log| scored_with(&rescore, log, &RunOptions::default()).unwrap_err();
    let none = refused(Rescore::new(), fixture.open()).to_string();
    assert_eq!(none, "there is no scorer to score the log with");
    let grader = Rescore::new().scorer(model_graded_qa());
    assert!(matches!(
        refused(grader, fixture.open()),
        RescoreError::NoGrader { role, recorded: None, .. } if role == "grader"
    ));
    // There is a grader, but it is the model that is not called.
    let own = Rescore::new().scorer(model_graded_qa().model_role(None));
    let refusal = refused(own, fixture.open()).to_string();
    assert!(refusal.contains("the scorer `model_graded_qa` failed: "), "{refusal}");
    let choices = Rescore::new().scorer(choice());
    let refusal = refused(choices, fixture.open()).to_string();
    assert!(refusal.contains("the scorer `choice` refuses it: "), "{refusal}");
    let empty = fixture.path("empty.json");
    fs::write(&empty, r#"{"version": 2, "status": "success", "eval": {"task": "t"}, "samples": []}"#)
        .unwrap();
    let empty = EvalLog::open(empty).unwrap();
    assert!(matches!(refused(Rescore::new().scorer(exact()), empty), RescoreError::NoSamples { .. }));
}

#[test]
fn a_cancelled_scoring_is_no_result() {
    let fixture = Fixture::new(|task| task);
    let cancel = CancelToken::new();
    cancel.cancel();
    let rescore = Rescore::new().scorer(model_graded_qa());
    let grader = model_fn("mine/never", |_| std::future::pending::<errorbar_core::Result<String>>());
    let prepared =
        rescore.prepare(fixture.open(), &with_grader(grader.into()), &built_in_registry()).unwrap();
    let error = block_on(prepared.run(Arc::new(|_| ()), cancel)).unwrap().unwrap_err();
    assert!(matches!(&error, RescoreError::Cancelled(text) if text.contains("when 0 of 8")), "{error}");
}

#[test]
fn logs_of_unknown_models_are_scored_and_one_without_scores_gets_its_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign.json");
    let log = r#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "no_such_provider/m", "created": "",
        "scorers": [{"name": "planned", "metrics": [{"name": "other/own"}]}]},
        "results": {"total_samples": 1, "completed_samples": 1, "scores": [], "early_stopping": null},
        "samples": [{"id": 1, "epoch": 1, "input": "?", "target": "4", "messages": [],
          "output": {"model": "m", "choices": [{"message": {"role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "5"}, {"type": "text", "text": "4"}]}}]},
          "events": [], "own": [NaN]}], "reductions": []}"#;
    fs::write(&path, log).unwrap();
    for action in [None, Some(ScoreAction::Append), Some(ScoreAction::Overwrite)] {
        let mut rescore = Rescore::new().scorer(exact());
        if let Some(action) = action {
            rescore = rescore.action(action);
        }
        let to = folder.path().join("scored.json");
        scored(&rescore, EvalLog::open(&path).unwrap()).write_to(&to, &built_in_registry()).unwrap();
        assert_eq!(blocks(&check(&to)), ["exact"]);
        assert!(fs::read_to_string(&to).unwrap().contains(r#""own": [NaN]"#));
        let header = EvalLog::open(&to).unwrap().header().unwrap();
        assert_eq!(
            header.eval.scorers.unwrap().iter().map(|s| s.name.as_str()).collect::<Vec<_>>(),
            ["exact"]
        );
    }
}

#[test]
fn a_score_that_a_scorer_does_not_give_is_not_written() {
    #[derive(Clone, Debug)]
    struct Sometimes;
    impl errorbar_core::ToSpec for Sometimes {
        fn spec(&self) -> errorbar_core::Spec {
            errorbar_core::Spec::new("sometimes")
        }
    }
    impl errorbar_eval::Scorer for Sometimes {
        fn metrics(&self) -> Metrics {
            metrics![mean()]
        }
        fn score<'a>(
            &'a self,
            state: &'a errorbar_eval::TaskState,
            _: &'a errorbar_eval::Target,
        ) -> errorbar_eval::BoxFuture<'a, errorbar_core::Result<Option<Score>>> {
            let score = (state.epoch == 1).then(|| Score::new(Value::Unscored).reason("why"));
            Box::pin(std::future::ready(Ok(score)))
        }
    }
    let fixture = Fixture::new(|task| task);
    let path = fixture.path("s.eval");
    let rescore = Rescore::new().scorer(Sometimes).action(ScoreAction::Overwrite);
    scored(&rescore, fixture.open()).write_to(&path, &built_in_registry()).unwrap();
    for sample in samples(&path) {
        assert_eq!(sample.scores.len(), usize::from(sample.epoch == 1));
    }
}
