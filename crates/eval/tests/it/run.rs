//! Runs of small tasks, seen through their logs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errorbar_core::{Epochs, Error, MetadataKeys, metrics, metrics::accuracy};
use errorbar_eval::scorers::{includes, matches};
use errorbar_eval::{
    CancelToken, FailOnError, FinishedRun, LogFormat, Observer, Progress, Quiet, RunOptions, Sample,
    StopReason, Task, block_on, built_in_registry, model_fn, open_resumable,
};
use errorbar_log::eval::{EvalLog, Status};
use errorbar_log::inspect::ResultsJson;

use crate::{changed_parts, changed_question};

fn options(folder: &Path) -> RunOptions {
    RunOptions { log_dir: folder.to_owned(), ..RunOptions::default() }
}

fn run(task: &Task, options: &RunOptions) -> FinishedRun {
    let prepared = task.prepare(options, &built_in_registry()).unwrap();
    block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap()
}

fn resume(task: &Task, log: &Path) -> errorbar_eval::Result<FinishedRun> {
    let log = open_resumable(log)?;
    let registry = built_in_registry();
    let options = log.options(task, &registry)?;
    let prepared = task.prepare(&options, &registry).unwrap();
    block_on(prepared.resume(&log, Arc::new(Quiet), CancelToken::new())).unwrap()
}

/// Sums from `0 + 0`, targets right; the model below gets those with an odd id wrong.
fn sums(count: usize) -> Vec<Sample> {
    (0..count)
        .map(|n| {
            Sample::new(format!("{n} + {n}?"))
                .target((2 * n).to_string())
                .id(format!("s{n}"))
                .metadata("parity", if n % 2 == 0 { "even" } else { "odd" })
        })
        .collect()
}

/// Answers sums: right for even numbers, and in even epochs for all.
fn adder() -> impl errorbar_eval::Model + 'static {
    model_fn("test/adder", |request| {
        let n: u64 = request.messages[0].content.split(' ').next().unwrap().parse().unwrap();
        let right = n.is_multiple_of(2) || request.epoch.is_multiple_of(2);
        async move { Ok(if right { format!("It is {}", 2 * n) } else { "no idea".to_owned() }) }
    })
}

fn value(finished: &FinishedRun, block: usize, metric: &str) -> f64 {
    let metrics = &finished.results.as_ref().unwrap().scores[block].metrics;
    metrics.iter().find(|found| found.metric == metric).unwrap().value.number().unwrap()
}

#[test]
fn a_run_writes_what_it_reports() {
    let folder = tempfile::tempdir().unwrap();
    let task = Task::new(sums(10)).name("sums").scorer(matches()).scorer(includes()).model(adder()).epochs(2);
    let finished = run(&task, &options(folder.path()));
    assert_eq!((finished.done, finished.failed, finished.total), (20, 0, 20));
    // Even ids are right twice, odd ones once of two.
    assert_eq!(value(&finished, 0, "accuracy"), 0.75);
    let log = EvalLog::open(&finished.log).unwrap();
    assert!(!log.was_recovered());
    let header = log.header().unwrap();
    assert_eq!((header.status, header.eval.task.as_str()), (Status::Success, "sums"));
    assert_eq!(header.eval.model, "test/adder");
    let recorded = header.results.unwrap();
    let names: Vec<&str> = recorded.scores.iter().map(|block| block.name.as_str()).collect();
    assert_eq!(names, ["match", "includes"]);
    assert_eq!(recorded.scores[0].metrics["accuracy"].value, 0.75);
    assert_eq!(log.samples().unwrap().count(), 20);
    let columns = log.score_columns(&MetadataKeys::All).unwrap();
    assert_eq!(columns.len(), 20);
}

#[test]
fn the_order_of_completion_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let slow_first = model_fn("test/slow", |request| {
        let n: u64 = request.messages[0].content.split(' ').next().unwrap().parse().unwrap();
        async move {
            tokio::time::sleep(Duration::from_millis(40 - 2 * n)).await;
            Ok(format!("{}", if n.is_multiple_of(3) { 2 * n } else { 1 }))
        }
    });
    let grouped = errorbar_core::metrics::grouped(accuracy(), "parity");
    let task = Task::new(sums(12)).scorer(matches()).metrics(metrics![grouped]).model(slow_first);
    let one_by_one = RunOptions { max_samples: Some(1), ..options(folder.path()) };
    let together = RunOptions { max_samples: Some(12), ..options(folder.path()) };
    let [first, second] = [one_by_one, together].map(|options| {
        let prepared = task.prepare(&options, &built_in_registry()).unwrap();
        crate::block_on_paused(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap()
    });
    let text = |finished: &FinishedRun| {
        serde_json::to_string(&ResultsJson::new(finished.results.as_ref().unwrap())).unwrap()
    };
    assert_eq!(text(&first), text(&second));
}

#[test]
fn a_failing_sample_is_recorded_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let failing = model_fn("test/failing", |request| {
        let bad = request.sample_id.to_string();
        async move {
            match bad.as_str() {
                "s1" => Err(Error::custom("the model is out")),
                "s2" => panic!("a bug in the model"),
                _ => Ok("0 2 4 6".to_owned()),
            }
        }
    });
    let task = Task::new(sums(4)).scorer(includes()).model(failing);
    let finished = run(&task, &options(folder.path()));
    assert_eq!((finished.status, finished.done, finished.failed), (Status::Success, 4, 2));
    let block = &finished.results.as_ref().unwrap().scores[0];
    assert_eq!((block.counts.scored, block.counts.errored), (2, 2));
    let log = EvalLog::open(&finished.log).unwrap();
    let errors: Vec<(String, String)> = log
        .samples()
        .unwrap()
        .map(Result::unwrap)
        .filter_map(|sample| Some((sample.id.to_string(), sample.error?)))
        .collect();
    assert_eq!(errors[0], ("s1".to_owned(), "the solver failed: the model is out".to_owned()));
    assert_eq!(errors[1], ("s2".to_owned(), "the solver panicked: a bug in the model".to_owned()));
}

#[test]
fn too_many_failures_end_the_run_if_set() {
    let folder = tempfile::tempdir().unwrap();
    let failing = model_fn("test/failing", |_| async { Err(Error::custom("no")) });
    let task = Task::new(sums(50)).scorer(includes()).model(failing).fail_on_error(FailOnError::Count(3));
    let finished = run(&task, &RunOptions { max_samples: Some(1), ..options(folder.path()) });
    assert_eq!(finished.status, Status::Error);
    assert!(
        matches!(finished.stopped, Some(StopReason::TooManyErrors { failed: 3, .. })),
        "{:?}",
        finished.stopped
    );
    assert!(finished.done < 50);
    let header = EvalLog::open(&finished.log).unwrap().header().unwrap();
    assert_eq!(header.status, Status::Error);
    let message = header.error.unwrap().message;
    let last = message.strip_prefix("3 sample(s) failed, the last ").and_then(|rest| rest.split_once(": "));
    assert_eq!(last.map(|(_, problem)| problem), Some("the solver failed: no"), "{message}");
}

#[test]
fn a_sample_has_its_time_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let stuck = model_fn("test/stuck", |request| {
        let stuck = request.sample_id.to_string() == "s1";
        async move {
            if stuck {
                std::future::pending::<()>().await;
            }
            Ok("0".to_owned())
        }
    });
    let task = Task::new(sums(2)).scorer(includes()).model(stuck).time_limit(Duration::from_secs(2));
    let finished = run(&task, &options(folder.path()));
    // What a limit has ended is no failure: it is judged as it is.
    assert_eq!((finished.done, finished.failed, finished.limited()), (2, 0, 1));
    let log = EvalLog::open(&finished.log).unwrap();
    let samples: Vec<_> = log.samples().unwrap().map(|sample| sample.unwrap()).collect();
    let limits: Vec<_> = samples.iter().map(|sample| sample.limit.as_deref()).collect();
    assert_eq!(limits, [None, Some("time")]);
    assert_eq!(samples[1].scores["includes"].value, errorbar_core::Value::from("I"));
}

/// Cancels after this number of samples, and checks that each was in the file when it was reported.
struct CancelAfter {
    count: usize,
    cancel: CancelToken,
    log: Mutex<PathBuf>,
    seen: AtomicUsize,
}

impl Observer for CancelAfter {
    fn started(&self, _: &str, _: &str, log: &Path, _: usize, _: usize) {
        *self.log.lock().unwrap() = log.to_owned();
    }

    fn sample_done(&self, progress: Progress<'_>) {
        let log = EvalLog::open(&*self.log.lock().unwrap()).unwrap();
        assert_eq!(log.samples().unwrap().count(), progress.done, "reported, but not in the file");
        self.seen.fetch_add(1, Ordering::Relaxed);
        if progress.done == self.count {
            self.cancel.cancel();
        }
    }
}

#[test]
fn a_cancelled_run_keeps_what_is_done_and_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let task =
        || Task::new(sums(30)).name("sums").scorer(matches()).epochs(Epochs::new(2, ["mode", "pass_at_2"]));
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = {
        let (calls, adder) = (Arc::clone(&calls), Arc::new(adder()));
        model_fn("test/adder", move |request| {
            calls.fetch_add(1, Ordering::Relaxed);
            let adder = Arc::clone(&adder);
            let (id, messages) = (request.sample_id.clone(), request.messages.to_vec());
            let (epoch, call) = (request.epoch, request.call);
            async move {
                let config = &errorbar_eval::GenerateConfig::default();
                let request = errorbar_eval::Request {
                    sample_id: &id,
                    epoch,
                    call,
                    repeat: 0,
                    messages: &messages,
                    config,
                };
                Ok(errorbar_eval::Model::generate(adder.as_ref(), request).await?.completion)
            }
        })
    };
    let whole = run(&task().model(adder()), &options(folder.path()));
    let task = task().model(counted);
    let cancel = CancelToken::new();
    let observer =
        CancelAfter { count: 7, cancel: cancel.clone(), log: Mutex::default(), seen: AtomicUsize::new(0) };
    let options = RunOptions { max_samples: Some(2), ..options(folder.path()) };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    let cancelled = block_on(prepared.run(Arc::new(observer), cancel)).unwrap().unwrap();
    assert_eq!((cancelled.status, &cancelled.stopped), (Status::Cancelled, &Some(StopReason::Cancelled)));
    assert!((7..60).contains(&cancelled.done), "{}", cancelled.done);
    let header = EvalLog::open(&cancelled.log).unwrap().header().unwrap();
    assert_eq!(header.status, Status::Cancelled);
    assert_eq!(header.results.unwrap().total_samples, cancelled.done as u64);

    let before = calls.load(Ordering::Relaxed);
    let resumed = resume(&task, &cancelled.log).unwrap();
    assert_eq!((resumed.status, resumed.done, resumed.resumed), (Status::Success, 60, cancelled.done));
    assert_eq!(calls.load(Ordering::Relaxed) - before, 60 - cancelled.done, "only what was missing was run");
    let text = |finished: &FinishedRun| {
        serde_json::to_string(&ResultsJson::new(finished.results.as_ref().unwrap())).unwrap()
    };
    assert_eq!(text(&resumed), text(&whole));
    let log = EvalLog::open(&resumed.log).unwrap();
    assert_eq!(log.samples().unwrap().count(), 60);
}

#[test]
fn a_log_of_another_task_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let first = Task::new(sums(3)).name("first").scorer(matches()).model(adder());
    let finished = run(&first, &options(folder.path()));
    let before = std::fs::read(&finished.log).unwrap();
    let other = Task::new(sums(3)).name("second").scorer(matches()).model(adder());
    let error = resume(&other, &finished.log).unwrap_err();
    let message = "is a log of the task `first`, not of `second`; name that task, or none";
    assert_eq!(error.to_string(), format!("{} {message}", finished.log.display()));
    let changed = Task::new(sums(4)).name("first").scorer(matches()).model(adder());
    let error = resume(&changed, &finished.log).unwrap_err();
    let message = "cannot be resumed: the task `first` has changed since: its samples differ";
    assert_eq!(error.to_string(), format!("{} {message}", finished.log.display()));
    assert_eq!(changed_parts(error), ["samples"]);
    let mut other_words = sums(3);
    other_words[2] = Sample::new("3 + 1?").target("4").id("s2").metadata("parity", "even");
    let changed = Task::new(other_words).name("first").scorer(matches()).model(adder());
    let error = resume(&changed, &finished.log).unwrap_err();
    let message = "cannot be resumed: sample \"s2\" was another question when the log was written";
    assert_eq!(error.to_string(), format!("{} {message}", finished.log.display()));
    assert_eq!(changed_question(error), "s2");
    let solved = Task::new(sums(3)).name("first").scorer(matches()).model(adder());
    let solved = solved.solver(errorbar_eval::solvers::self_critique());
    assert_eq!(changed_parts(resume(&solved, &finished.log).unwrap_err()), ["solvers"]);
    assert_eq!(std::fs::read(&finished.log).unwrap(), before, "a refused log is left as it was");
}

#[test]
fn failed_samples_run_again_when_a_log_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let model = {
        let broken = Arc::clone(&broken);
        model_fn("test/flaky", move |request| {
            let fails = broken.load(Ordering::Relaxed) && request.sample_id.to_string() == "s2";
            async move { if fails { Err(Error::custom("down")) } else { Ok("0 2 4".to_owned()) } }
        })
    };
    let task = Task::new(sums(3)).scorer(includes()).model(model);
    let first = run(&task, &options(folder.path()));
    assert_eq!(first.failed, 1);
    broken.store(false, Ordering::Relaxed);
    let second = resume(&task, &first.log).unwrap();
    assert_eq!((second.done, second.resumed, second.failed), (3, 2, 0));
    let log = EvalLog::open(&second.log).unwrap();
    let samples: Vec<_> = log.samples().unwrap().map(Result::unwrap).collect();
    assert_eq!(samples.len(), 3);
    assert!(samples.iter().all(|sample| sample.error.is_none()));
}

#[test]
fn a_log_can_be_json() {
    let folder = tempfile::tempdir().unwrap();
    let task = Task::new(sums(3)).scorer(includes()).model(adder());
    let finished = run(&task, &RunOptions { log_format: LogFormat::Json, ..options(folder.path()) });
    assert_eq!(finished.log.extension().unwrap(), "json");
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(&finished.log).unwrap()).unwrap();
    assert_eq!(log["samples"].as_array().unwrap().len(), 3);
    assert_eq!(log["status"], "success");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the archive is gone");
}

#[test]
fn a_model_that_never_answers_does_not_keep_a_cancelled_run() {
    let folder = tempfile::tempdir().unwrap();
    let requested = Arc::new(tokio::sync::Notify::new());
    let of_model = Arc::clone(&requested);
    let stuck = model_fn("test/stuck", move |_| {
        of_model.notify_one();
        std::future::pending()
    });
    let task = Task::new(sums(5)).scorer(includes()).model(stuck);
    let prepared = task.prepare(&options(folder.path()), &built_in_registry()).unwrap();
    let cancel = CancelToken::new();
    let finished = block_on(async {
        let running = tokio::spawn(prepared.run(Arc::new(Quiet), cancel.clone()));
        requested.notified().await;
        cancel.cancel();
        running.await.unwrap()
    });
    let finished = finished.unwrap().unwrap();
    assert_eq!((finished.status, finished.done), (Status::Cancelled, 0));
    assert_eq!(EvalLog::open(&finished.log).unwrap().header().unwrap().status, Status::Cancelled);
}

#[test]
fn samples_that_block_their_thread_do_not_keep_a_cancelled_run() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, blocked) = std::sync::mpsc::channel();
    let blocking = model_fn("test/blocking", move |request| {
        let is_first = request.sample_id.to_string() == "s0";
        let sender = sender.clone();
        async move {
            if !is_first {
                // For later ones nothing waits for it any more.
                let _ = sender.send(());
                loop {
                    std::thread::park();
                }
            }
            Ok("0".to_owned())
        }
    });
    let task = Task::new(sums(50)).scorer(includes()).model(blocking);
    let prepared = task.prepare(&options(folder.path()), &built_in_registry()).unwrap();
    let cancel = CancelToken::new();
    let later = cancel.clone();
    std::thread::spawn(move || {
        blocked.recv().unwrap();
        later.cancel();
    });
    // The threads never wake up: waiting for them would never end.
    let finished = block_on(prepared.run(Arc::new(Quiet), cancel)).unwrap().unwrap();
    assert_eq!(finished.status, Status::Cancelled);
}
