//! A log that is removed or replaced during its run: an error, and the figures all the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_eval::scorers::includes;
use errorbar_eval::{
    CancelToken, FinishedRun, LogFormat, Quiet, RunOptions, Sample, StopReason, Task, block_on,
    built_in_registry, model_fn,
};
use errorbar_log::eval::{LogErrorKind, Status};

/// Something that is done to the folder of the log.
type Act = fn(&Path);

/// Runs four samples one after the other; the model does something to the folder of the log at the third, and if the
/// run is to be endless, gives no answer to the fourth.
fn run(is_endless: bool, format: LogFormat, act: Act) -> FinishedRun {
    let folder = tempfile::tempdir().unwrap();
    let logs: PathBuf = folder.path().join("logs");
    let of_model = logs.clone();
    let model = model_fn("test/vandal", move |request| {
        let number: usize = request.sample_id.to_string().parse().unwrap();
        if number == 2 {
            act(&of_model);
        }
        async move {
            if number > 2 && is_endless {
                std::future::pending::<()>().await;
            }
            Ok("yes".to_owned())
        }
    });
    let samples = (0..4).map(|n| Sample::new("q").target("yes").id(n.to_string()));
    let task = Task::new(samples.collect::<Vec<_>>()).scorer(includes()).model(model);
    let options =
        RunOptions { log_dir: logs, log_format: format, max_samples: Some(1), ..RunOptions::default() };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap()
}

fn log_in(folder: &Path) -> PathBuf {
    // Beside it is its lock file.
    let is_log = |path: &PathBuf| path.extension().is_some_and(|form| form == "eval" || form == "json");
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(is_log).unwrap()
}

fn kind(finished: &FinishedRun) -> &LogErrorKind {
    match finished.log_error.as_ref().unwrap() {
        errorbar_eval::Error::Log(error) => error.kind(),
        error => panic!("{error}"),
    }
}

#[test]
fn at_the_latest_it_is_noticed_at_the_end() {
    let acts: [(Act, bool); 4] = [
        (|logs| std::fs::remove_dir_all(logs).unwrap(), true),
        (|logs| std::fs::remove_file(log_in(logs)).unwrap(), true),
        (|logs| std::fs::rename(logs, logs.with_extension("moved")).unwrap(), true),
        (
            |logs| {
                let log = log_in(logs);
                std::fs::remove_file(&log).unwrap();
                std::fs::write(&log, "another").unwrap();
            },
            false,
        ),
    ];
    for (act, is_gone) in acts {
        for format in [LogFormat::Eval, LogFormat::Json] {
            let finished = run(false, format, act);
            assert_eq!((finished.done, finished.status), (4, Status::Error));
            assert_eq!(finished.results.as_ref().unwrap().estimate("accuracy").unwrap().number(), Some(1.0));
            match kind(&finished) {
                LogErrorKind::Gone => assert!(is_gone),
                LogErrorKind::Displaced => assert!(!is_gone),
                kind => panic!("{kind}"),
            }
        }
    }
}

#[test]
fn a_long_run_does_not_go_on_without_a_log() {
    // Nothing else would end it.
    let finished = run(true, LogFormat::Eval, |logs| std::fs::remove_dir_all(logs).unwrap());
    assert_eq!((&finished.stopped, finished.status), (&Some(StopReason::LogFailed), Status::Error));
    assert!(finished.done == 3 && finished.results.is_some(), "{}", finished.done);
    assert!(matches!(kind(&finished), LogErrorKind::Gone));
}
