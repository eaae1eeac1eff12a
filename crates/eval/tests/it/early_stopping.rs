//! Runs that are stopped early: over a prefix of a random order, with an estimate that stays valid.

use std::path::Path;
use std::sync::Arc;

use errorbar_core::metrics::{accuracy, mean, stderr};
use errorbar_core::{
    Epochs, Error as CoreError, Interval, IntervalMethod, Metrics, Results, Score, Spec, ToSpec, metrics,
};
use errorbar_eval::scorers::{includes, matches};
use errorbar_eval::{
    BoxFuture, CancelToken, Error, FinishedRun, Model, PrepareError, Quiet, RunOptions, Sample, Scorer,
    StopReason, StopRuleProblem, Target, Task, TaskState, block_on, built_in_registry, model_fn,
    open_resumable,
};
use errorbar_inference::{FigureProblem, StopRule};
use errorbar_log::eval::{
    EvalLog, LogWarning, STOP_WHEN, STOPPED_EARLY, Status, StoppedEarly, compare, plan_from_header,
};
use errorbar_stats::sequential::{ConfidenceSequence, random_order};
use serde_json::{Value as Json, json};

const SAMPLES: usize = 300;

fn is_right(sample: usize) -> bool {
    sample * 37 % 100 < 70
}

fn samples() -> Vec<Sample> {
    let target = |at| if is_right(at) { "yes" } else { "no" };
    (0..SAMPLES).map(|at| Sample::new(format!("{at}?")).target(target(at)).id(at.to_string())).collect()
}

/// Always answers yes. Where that is wrong, others come first. Every answer takes longer than the look at a rule, as that of
/// [`paced`].
fn slow_if_wrong() -> impl Model + 'static {
    model_fn("test/slow", |request| {
        let is_slow = request.sample_id.to_string().parse().is_ok_and(|at| !is_right(at));
        async move {
            for _ in 0..if is_slow { 5300 } else { 5000 } {
                tokio::task::yield_now().await;
            }
            Ok("yes".to_owned())
        }
    })
}

/// A model that takes longer than the look at a rule, so that a run does not go far beyond the sample that the rule holds at.
fn paced() -> impl Model + 'static {
    model_fn("test/paced", |_| async {
        for _ in 0..5000 {
            tokio::task::yield_now().await;
        }
        Ok("yes".to_owned())
    })
}

fn rules(texts: &[&str]) -> Vec<StopRule> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn task(rule: &str) -> Task {
    Task::new(samples()).scorer(includes()).model(slow_if_wrong()).stop_when(rules(&[rule]))
}

fn options(folder: &Path) -> RunOptions {
    RunOptions { log_dir: folder.to_owned(), max_samples: Some(16), ..RunOptions::default() }
}

fn run_with(task: &Task, options: &RunOptions, cancel: CancelToken) -> FinishedRun {
    let prepared = task.prepare(options, &built_in_registry()).unwrap();
    block_on(prepared.run(Arc::new(Quiet), cancel)).unwrap().unwrap()
}

fn run(task: &Task, folder: &Path) -> FinishedRun {
    run_with(task, &options(folder), CancelToken::new())
}

fn resume(task: &Task, log: &Path, rules: Option<Vec<StopRule>>) -> errorbar_eval::Result<FinishedRun> {
    let (log, registry) = (open_resumable(log)?, built_in_registry());
    let recorded = log.options(task, &registry)?;
    let options = RunOptions { stop_when: rules.or(recorded.stop_when.clone()), ..recorded };
    let prepared = task.prepare(&options, &registry).unwrap();
    block_on(prepared.resume(&log, Arc::new(Quiet), CancelToken::new())).unwrap()
}

fn stopped_after(finished: &FinishedRun) -> usize {
    match finished.stopped {
        Some(StopReason::RuleHeld { samples, .. }) => samples,
        _ => panic!("{finished:?}"),
    }
}

/// The ids of the samples in a log, and its header's configuration.
fn logged(path: &Path) -> (Vec<String>, errorbar_core::Metadata) {
    let log = EvalLog::open(path).unwrap();
    let mut ids: Vec<String> = log.samples().unwrap().map(|sample| sample.unwrap().id.to_string()).collect();
    ids.sort();
    (ids, log.header().unwrap().eval.config.extra)
}

fn interval(results: &Results) -> Interval {
    results.estimate("accuracy").unwrap().interval.unwrap()
}

/// The ends of the sequence over the first samples of the order.
fn expected(taken: usize, bounds: impl Fn(usize) -> (f64, f64)) -> (f64, f64) {
    let mut sequence = ConfidenceSequence::new(SAMPLES as u64, (0.0, 1.0), 0.95).unwrap();
    for sample in &random_order(SAMPLES as u32, 0)[..taken] {
        let (least, greatest) = bounds(*sample as usize);
        sequence.push_between(least, greatest).unwrap();
    }
    sequence.interval()
}

fn grade(sample: usize) -> (f64, f64) {
    let grade = f64::from(u8::from(is_right(sample)));
    (grade, grade)
}

#[test]
fn a_run_stops_over_a_prefix_of_the_random_order() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(&task("width(accuracy) < 0.2"), folder.path());
    let taken = stopped_after(&finished);
    assert_eq!((finished.status, finished.done), (Status::Success, taken));
    assert!((50..200).contains(&taken), "{taken}");

    // The log has the first samples of the order, whichever finished first.
    let (ids, config) = logged(&finished.log);
    let mut first: Vec<String> =
        random_order(SAMPLES as u32, 0)[..taken].iter().map(u32::to_string).collect();
    first.sort();
    assert_eq!(ids, first);
    assert_eq!(config.get(STOP_WHEN), Some(&json!(["width(accuracy) < 0.2"])));
    let recorded = config.get(STOPPED_EARLY).unwrap();
    assert_eq!(
        (&recorded["samples"], &recorded["planned"], &recorded["seed"]),
        (&json!(taken), &json!(300), &json!(0))
    );

    // The estimate is that of the sequence, in the results, in the log, and when the log is scored.
    let of_run = interval(&finished.results.unwrap());
    assert_eq!((of_run.lower, of_run.upper), expected(taken, grade));
    assert!(of_run.upper - of_run.lower < 0.2);
    let log = EvalLog::open(&finished.log).unwrap();
    let header = log.header().unwrap();
    let (plan, warnings) = plan_from_header(&header, &built_in_registry()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let scored = plan.evaluate(&log.score_columns(&plan.metadata_keys()).unwrap()).unwrap().results;
    assert_eq!(interval(&scored), of_run);
    let results = header.results.unwrap();
    assert_eq!(compare(&results, &scored), []);
    let estimate = &results.scores[0].metrics["accuracy"].metadata.as_ref().unwrap()["estimate"];
    assert_eq!((&estimate["method"], &estimate["lower"]), (&json!("betting"), &json!(of_run.lower)));
    // All samples stand in the log's dataset: they were planned.
    assert_eq!(header.eval.dataset.sample_ids.unwrap().len(), SAMPLES);
}

#[test]
fn a_resumed_run_continues_to_the_full_set_or_to_another_rule() {
    let folder = tempfile::tempdir().unwrap();
    let task = Task::new(samples()).scorer(includes()).model(paced());
    let task = task.stop_when(rules(&["width(accuracy) < 0.3"]));
    let two_at_once = RunOptions { max_samples: Some(2), ..options(folder.path()) };
    let first = run_with(&task, &two_at_once, CancelToken::new());
    let taken = stopped_after(&first);
    let second = resume(&task, &first.log, Some(rules(&["width(accuracy) < 0.12"]))).unwrap();
    let more = stopped_after(&second);
    assert!(taken < more && more < SAMPLES, "{taken}, then {more}");
    assert_eq!((second.resumed, second.done), (taken, more));
    let of_second = interval(&second.results.unwrap());
    assert_eq!((of_second.lower, of_second.upper), expected(more, grade));

    let third = resume(&task, &first.log, None).unwrap();
    assert_eq!((third.status, third.done, third.stopped), (Status::Success, SAMPLES, None));
    assert_eq!(interval(&third.results.unwrap()).method, IntervalMethod::Wilson);
    let (ids, config) = logged(&third.log);
    assert_eq!(ids.len(), SAMPLES);
    assert!(!config.contains_key(STOP_WHEN) && !config.contains_key(STOPPED_EARLY), "{config:?}");
}

#[test]
fn an_interrupted_run_keeps_its_rule() {
    let folder = tempfile::tempdir().unwrap();
    let task = task("width(accuracy) < 0.2");
    let cancel = CancelToken::new();
    cancel.cancel();
    let first = run_with(&task, &options(folder.path()), cancel);
    assert_eq!((first.status, first.done), (Status::Cancelled, 0));
    let second = resume(&task, &first.log, None).unwrap();
    assert!(stopped_after(&second) < SAMPLES);
}

#[test]
fn a_log_without_a_random_order_cannot_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let plain = Task::new(samples()).scorer(includes()).model(slow_if_wrong());
    let cancel = CancelToken::new();
    cancel.cancel();
    let first = run_with(&plain, &options(folder.path()), cancel);
    let refused = resume(&plain, &first.log, Some(rules(&["width(accuracy) < 0.2"]))).unwrap_err();
    assert!(matches!(refused, Error::NotInRandomOrder { .. }), "{refused}");
}

#[test]
fn a_sample_counts_when_all_its_epochs_are_reduced() {
    let folder = tempfile::tempdir().unwrap();
    let task = task("decided(accuracy, 0.5)").epochs(Epochs::count(3));
    let finished = run(&task, folder.path());
    let taken = stopped_after(&finished);
    assert_eq!(finished.done, 3 * taken, "whole samples");
    let interval = interval(&finished.results.unwrap());
    assert_eq!((interval.lower, interval.upper), expected(taken, grade));
    assert!(interval.lower >= 0.5 - 1e-9);
}

#[test]
fn failed_samples_are_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |sample: usize| sample.is_multiple_of(20);
    let model = model_fn("test/flaky", move |request| {
        let fails = request.sample_id.to_string().parse().is_ok_and(fails);
        async move { if fails { Err(CoreError::custom("down")) } else { Ok("yes".to_owned()) } }
    });
    let task =
        Task::new(samples()).scorer(includes()).model(model).stop_when(rules(&["width(accuracy) < 0.3"]));
    let finished = run(&task, folder.path());
    let taken = stopped_after(&finished);
    assert!(finished.failed > 0);
    let interval = interval(&finished.results.unwrap());
    let bounds = |sample| if fails(sample) { (0.0, 1.0) } else { grade(sample) };
    assert_eq!((interval.lower, interval.upper), expected(taken, bounds));
    // They are run again when the run is resumed.
    let mended = Task::new(samples())
        .scorer(includes())
        .model(model_fn("test/flaky", |_| async { Ok("yes".to_owned()) }));
    let resumed = resume(&mended, &finished.log, None).unwrap();
    assert_eq!((resumed.failed, resumed.done), (0, SAMPLES));
}

#[test]
fn a_rule_that_never_holds_leaves_the_run_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(&task("width(accuracy) < 0.000001"), folder.path());
    assert_eq!((finished.status, finished.done, finished.stopped), (Status::Success, SAMPLES, None));
    assert_eq!(interval(&finished.results.unwrap()).method, IntervalMethod::Wilson);
    assert!(!logged(&finished.log).1.contains_key(STOPPED_EARLY));
}

#[test]
fn a_run_is_compared_with_a_finished_log() {
    let folder = tempfile::tempdir().unwrap();
    let answering = |text: &'static str| model_fn("test/model", move |_| async move { Ok(text.to_owned()) });
    let plain = Task::new(samples()).scorer(includes());
    let base = run(&plain.clone().model(answering("no")), folder.path());
    let base = base.log.display().to_string();
    let better = plain.clone().model(answering("yes")).stop_when(rules(&[&format!("better_than({base})")]));
    let finished = run(&better, folder.path());
    assert!(stopped_after(&finished) < SAMPLES / 2);
    assert_eq!(interval(&finished.results.unwrap()).method, IntervalMethod::Betting);
    // It is not worse, and against itself nothing is decided.
    let worse = plain.clone().model(answering("yes")).stop_when(rules(&[&format!("worse_than({base})")]));
    assert_eq!(run(&worse, folder.path()).stopped, None);
    let same = plain.model(answering("no")).stop_when(rules(&[&format!("better_than({base})")]));
    assert_eq!(run(&same, folder.path()).stopped, None);
}

fn problems(task: &Task, folder: &Path) -> Vec<StopRuleProblem> {
    let PrepareError { problems, .. } = task.prepare(&options(folder), &built_in_registry()).unwrap_err();
    let problem = |problem| match problem {
        Error::StopRule { problem, .. } => *problem,
        other => panic!("{other}"),
    };
    problems.into_iter().map(problem).collect()
}

/// A scorer that declares a range, or none, and gives this score.
#[derive(Debug)]
struct Fixed(f64, Option<(f64, f64)>);

impl ToSpec for Fixed {
    fn spec(&self) -> Spec {
        Spec::new("fixed")
    }
}

impl Scorer for Fixed {
    fn metrics(&self) -> Metrics {
        metrics![mean()]
    }

    fn range(&self) -> Option<(f64, f64)> {
        self.1
    }

    fn score<'a>(
        &'a self,
        _: &'a TaskState,
        _: &'a Target,
    ) -> BoxFuture<'a, errorbar_core::Result<Option<Score>>> {
        Box::pin(std::future::ready(Ok(Some(Score::new(self.0)))))
    }
}

#[test]
fn rules_that_cannot_be_are_refused_before_the_run() {
    use StopRuleProblem as P;
    let folder = tempfile::tempdir().unwrap();
    let refused = |rule: &str| problems(&task(rule), folder.path()).remove(0);
    assert!(matches!(refused("width(acuracy) < 0.1"), P::Figure(FigureProblem::NoMean(_))));
    assert!(matches!(refused("width(stderr) < 0.1"), P::Figure(FigureProblem::NoMean(_))));
    assert!(matches!(refused("decided(accuracy, 1.5)"), P::Other(_)));
    assert!(matches!(refused("better_than(none.eval)"), P::Log(_)));
    let several = task("width(accuracy) < 0.1").scorer(matches());
    assert!(matches!(problems(&several, folder.path())[..], [P::Figure(FigureProblem::NoMean(_))]));
    let one = task("width(match/accuracy) < 0.1").scorer(matches());
    assert!(one.prepare(&options(folder.path()), &built_in_registry()).is_ok());
    // All of them at once.
    let both = task("width(acuracy) < 0.1").stop_when(rules(&["width(stderr) < 1", "decided(accuracy, 9)"]));
    assert_eq!(problems(&both, folder.path()).len(), 2);

    let fixed = |range| {
        let task = Task::new(samples()).scorer(Fixed(0.5, range)).model(slow_if_wrong());
        task.stop_when(rules(&["width(mean) < 0.2"]))
    };
    assert!(matches!(problems(&fixed(None), folder.path())[..], [P::UnknownRange { .. }]));
    let mut ranged = errorbar_core::ErrorPlan::new();
    ranged.range = Some((0.0, 10.0));
    assert!(fixed(None).errors(ranged).prepare(&options(folder.path()), &built_in_registry()).is_ok());
}

#[test]
fn a_log_of_other_samples_is_refused() {
    use StopRuleProblem as P;
    let folder = tempfile::tempdir().unwrap();
    let plain = || Task::new(samples()).scorer(includes()).model(slow_if_wrong());
    let few = RunOptions { limit: Some(10), ..options(folder.path()) };
    let few = run_with(&plain(), &few, CancelToken::new()).log.display().to_string();
    let against = |task: Task, log: &str| {
        problems(&task.stop_when(rules(&[&format!("better_than({log})")])), folder.path()).remove(0)
    };
    let P::MissingSamples(message) = against(plain(), &few) else { panic!() };
    let missing = format!("lacks {} of the {SAMPLES} samples of the run, such as \"10\"", SAMPLES - 10);
    assert!(message.ends_with(&missing), "{message}");
    let other =
        Task::new(samples()).scorer(matches()).metrics(metrics![accuracy(), stderr()]).model(slow_if_wrong());
    let P::Other(message) = against(other, &few) else { panic!() };
    assert!(message.ends_with("it has scores by: includes"), "{message}");
    for (sample, other) in [
        ("3", Sample::new("another?").target("yes")),
        ("4", samples()[4].clone().target("perhaps")),
        ("5", samples()[5].clone().choices(["yes", "no"])),
    ] {
        let mut changed = samples();
        changed[sample.parse::<usize>().unwrap()] = other.id(sample);
        let changed = Task::new(changed).scorer(includes()).model(slow_if_wrong());
        let P::OtherQuestion(message) = against(changed, &few) else { panic!("{sample}") };
        assert!(message.starts_with(&format!("the sample \"{sample}\" has another input")), "{message}");
    }
}

/// The range was promised. A score outside of it leaves no valid sequence, and no sample is lost.
#[test]
fn a_score_outside_of_the_range_ends_the_rule_and_not_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let task = Task::new(samples()).scorer(Fixed(7.0, Some((0.0, 1.0)))).model(slow_if_wrong());
    let finished = run(&task.stop_when(rules(&["width(mean) < 0.5"])), folder.path());
    assert_eq!((finished.status, finished.done, finished.stopped), (Status::Success, SAMPLES, None));
    assert!(finished.stop_problem.unwrap().contains("outside the range 0 to 1"));
}

#[test]
fn absurd_records_are_reported_and_change_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(&task("width(accuracy) < 0.2"), folder.path());
    let log = EvalLog::open(&finished.log).unwrap();
    let header = log.header().unwrap();
    let columns = log.score_columns(&errorbar_core::MetadataKeys::NONE).unwrap();
    let with = |record: Json| {
        let mut header = header.clone();
        header.eval.config.extra.insert(STOPPED_EARLY.to_owned(), record);
        let (plan, warnings) = plan_from_header(&header, &built_in_registry()).unwrap();
        (interval(&plan.evaluate(&columns).unwrap().results), warnings)
    };
    let absurd = [
        json!("yes"),
        json!({"samples": -3, "seed": 0}),
        json!({"samples": 1e300, "seed": 0}),
        json!({"samples": u64::MAX, "seed": 0}),
        json!({"samples": 0, "seed": 0}),
        json!({"samples": 10}),
    ];
    for record in absurd {
        let (interval, warnings) = with(record.clone());
        assert_eq!(interval.method, IntervalMethod::Wilson, "{record}");
        assert!(matches!(warnings[..], [LogWarning::EarlyStop { .. }]), "{record}: {warnings:?}");
    }
    // Another number or order than that of the samples: no sequence, and the row says so.
    for record in [json!({"samples": 10, "seed": 0}), json!({"samples": finished.done, "seed": 99})] {
        let (interval, warnings) = with(record);
        assert_eq!((interval.method, warnings.len()), (IntervalMethod::Wilson, 0));
    }
    let record = StoppedEarly::recorded(&header.eval).unwrap().unwrap();
    assert_eq!(StoppedEarly::recorded(&header.eval).unwrap().unwrap().to_json(), record.to_json());
    assert_eq!(with(record.to_json()).0.method, IntervalMethod::Betting);
}
