//! Programs that score, in runs and of logs: the environment, the folder, what fails and how, and that they end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_core::{Error as CoreError, Score, Spec, ToSpec, Value};
use errorbar_eval::scorers::{command, includes};
use errorbar_eval::{
    AnyScorer, CancelToken, FinishedRun, Quiet, Rescore, RunOptions, Sample, Task, block_on,
    built_in_registry, model_fn,
};
use errorbar_log::eval::EvalLog;
use errorbar_test_support::wait_until;

/// Answers every line with the value of a shell expression.
fn answering(value: &str) -> String {
    format!(
        r#"while read -r line; do s=$(echo "$line" | sed 's/.*"seq":\([0-9]*\).*/\1/'); echo "{{\"seq\": $s, \"value\": {value}}}"; done"#
    )
}

/// A folder with a script.
fn folder(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("score.sh"), script).unwrap();
    folder
}

fn built(spec: &str, folder: &Path) -> errorbar_core::Result<AnyScorer> {
    let registry = built_in_registry().relative_to(folder);
    registry.build(&spec.parse::<Spec>().unwrap())
}

fn run(scorer: AnyScorer, folder: &Path) -> FinishedRun {
    let samples = ["red", "green"].map(|colour| Sample::new(colour).target(colour).id(colour));
    let model = model_fn("test/echo", |request| {
        let text = request.messages[0].content.clone();
        async move { Ok(text) }
    });
    let task = Task::new(samples).scorer(scorer).model(model);
    let options = RunOptions { log_dir: folder.to_owned(), ..RunOptions::default() };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap()
}

fn score(log: &Path, sample: &str, scorer: &str) -> Option<Score> {
    let log = EvalLog::open(log).unwrap();
    let stored =
        log.samples().unwrap().map(Result::unwrap).find(|stored| stored.id == sample.into()).unwrap();
    stored.scores.into_iter().find(|(name, _)| name == scorer).map(|(_, score)| score)
}

fn value(log: &Path) -> Value {
    score(log, "red", "command").unwrap().value
}

#[test]
fn a_run_is_scored_by_a_program_of_its_folder() {
    let folder = folder(&answering("${#line}"));
    let finished = run(
        built("command(['sh', 'score.sh'], metrics=[mean(), std()])", folder.path()).unwrap(),
        folder.path(),
    );
    let results = finished.results.unwrap();
    let names: Vec<&str> = results.scores[0].metrics.iter().map(|metric| metric.metric.as_str()).collect();
    assert_eq!(names, ["mean", "std"]);
    assert!(matches!(value(&finished.log), Value::Int(length) if length > 50));
}

#[test]
fn a_failure_names_command_status_and_stderr() {
    let folder = folder("read -r line; echo gone wrong >&2; exit 7");
    let finished =
        run(built("command(['sh', 'score.sh'], max_restarts=0)", folder.path()).unwrap(), folder.path());
    let log = EvalLog::open(&finished.log).unwrap();
    let errors: Vec<String> = log.samples().unwrap().map(|stored| stored.unwrap().error.unwrap()).collect();
    let ended = "ended with exit status: 7 before it answered\nlast lines of its stderr:\n  gone wrong";
    let failed = "the scorer `command` failed: the command `sh score.sh`";
    // One sample was with the process, and the other comes too late.
    assert!(errors.contains(&format!("{failed} {ended}")), "{errors:?}");
    let again = format!("{failed} has ended 1 times and is not started again; the last time it {ended}");
    assert!(errors.contains(&again), "{errors:?}");
}

#[test]
fn stored_outputs_are_scored() {
    let folder = folder(&answering("0.25"));
    let finished = run(includes().into(), folder.path());
    let scorer = built("command(['sh', 'score.sh'], range=[0, 1])", folder.path()).unwrap();
    let rescore = Rescore::new().scorer(scorer);
    let log = EvalLog::open(&finished.log).unwrap();
    let prepared = rescore.prepare(log, &RunOptions::default(), &built_in_registry()).unwrap();
    let scored = block_on(prepared.run(Arc::new(|_| ()), CancelToken::new())).unwrap().unwrap();
    assert_eq!(scored.results().estimate("accuracy").unwrap().number(), Some(0.25));
}

#[test]
fn a_score_outside_the_range_is_refused() {
    let folder = folder(&answering("7"));
    let scorer = built("command(['sh', 'score.sh'], range=[0, 1])", folder.path()).unwrap();
    let finished = run(scorer, folder.path());
    assert_eq!(score(&finished.log, "red", "command"), None);
    let within = built("command(['sh', 'score.sh'], range=[0, 10])", folder.path()).unwrap();
    assert_eq!(value(&run(within, folder.path()).log), Value::Int(7));
    for value in [r#"{\"a\": 0, \"b\": 7}"#, "[1, 7]"] {
        fs::write(folder.path().join("score.sh"), answering(value)).unwrap();
        let scorer = built("command(['sh', 'score.sh'], range=[0, 1])", folder.path()).unwrap();
        assert_eq!(score(&run(scorer, folder.path()).log, "red", "command"), None, "{value}");
    }
}

#[test]
fn another_script_is_another_scorer() {
    let folder = folder(&answering("1"));
    let digest = |spec: &str| built(spec, folder.path()).unwrap().digest();
    let first = digest("command(['sh', 'score.sh'])");
    assert!(first.is_some());
    fs::write(folder.path().join("score.sh"), answering("0")).unwrap();
    let second = digest("command(['sh', 'score.sh'])");
    assert!(second.is_some() && second != first);
    assert_eq!(digest("multi_scorer([command(['sh', 'score.sh'])], 'mode')"), second);
    assert_eq!(digest("command(['sh', '-c', 'cat'])"), None);
}

#[test]
fn a_variable_that_is_not_set_is_reported() {
    let folder = folder("");
    let scorer = built("command(['sh', 'score.sh'], env=['PATH', 'NO_SUCH_KEY'])", folder.path()).unwrap();
    assert_eq!(scorer.warnings(), ["`command` passes on the variable NO_SUCH_KEY (env), which is not set"]);
}

#[test]
fn mistakes_of_the_spec_are_found_at_once() {
    let folder = folder("");
    for (spec, argument) in [
        ("command(['no-such-program-here'])", "command"),
        ("command([])", "command"),
        ("command(['sh', 'no-such-script.sh'])", "command"),
        ("command(['sh', 1])", "command"),
        ("command(['sh'], processes=0)", "processes"),
        ("command(['sh'], concurrency=0)", "concurrency"),
        ("command(['sh'], timeout=0)", "timeout"),
        ("command(['sh'], timeout=1e300)", "timeout"),
        ("command(['sh'], memory='lots')", "memory"),
        ("command(['sh'], range=[1, 0])", "range"),
        ("command(['sh'], range=[1])", "range"),
        ("command(['sh'], folder='nowhere')", "folder"),
        ("command(['sh'], metrics=3)", "metrics"),
    ] {
        let error = built(spec, folder.path()).unwrap_err();
        assert!(
            matches!(&error, CoreError::Argument { argument: found, .. } if found == argument),
            "{spec}: {error}"
        );
    }
}

#[test]
fn a_spec_comes_back() {
    let text = r#"command(command=["sh", "x"], metrics=[mean(), {"a*": [std()]}], range=[0.0, 5.0], memory="2GiB", env=["A_KEY"])"#;
    let folder = folder("");
    assert_eq!(built(text, folder.path()).unwrap().spec().to_string(), text);
    let in_rust = command(["sh", "x"]).within(0.0, 5.0).env(["A_KEY"]);
    assert_eq!(
        in_rust.spec().to_string(),
        r#"command(command=["sh", "x"], range=[0.0, 5.0], env=["A_KEY"])"#
    );
}

/// Whether a process is there and no zombie.
#[cfg(target_os = "linux")]
fn is_alive(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[cfg(target_os = "linux")]
#[test]
fn a_cancelled_run_leaves_no_process() {
    let folder = folder("echo $$ > pid.new; mv pid.new pid; sleep 1000");
    let scorer = built("command(['sh', 'score.sh'])", folder.path()).unwrap();
    let model = model_fn("test/echo", |_| async { Ok("x".to_owned()) });
    let task = Task::new([Sample::new("q").target("x")]).scorer(scorer).model(model);
    let options = RunOptions { log_dir: folder.path().to_owned(), ..RunOptions::default() };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    let (cancel, path): (_, PathBuf) = (CancelToken::new(), folder.path().join("pid"));
    let (other, watched) = (cancel.clone(), path.clone());
    let canceller = std::thread::spawn(move || {
        wait_until("the program has started", || watched.exists().then_some(()));
        other.cancel();
    });
    let _ = block_on(prepared.run(Arc::new(Quiet), cancel)).unwrap();
    canceller.join().unwrap();
    let pid: u32 = fs::read_to_string(path).unwrap().trim().parse().unwrap();
    wait_until("the program is gone", || (!is_alive(pid)).then_some(()));
}
