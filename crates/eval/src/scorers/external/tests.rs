//! Processes that behave badly. The programs are shell scripts, which are everywhere that these tests run.

use std::path::Path;
use std::time::Duration;

use errorbar_core::Score;
use errorbar_test_support::wait_until;

use super::CommandError;
use super::*;
use crate::{Sample, TaskState, block_on};

/// A script as a pool of one process for one sample at a time.
fn pool(script: &str) -> Pool {
    pool_of(
        script,
        PoolOptions { processes: 1, concurrency: 1, timeout: Duration::from_secs(100), max_restarts: 2 },
    )
}

fn pool_of(script: &str, options: PoolOptions) -> Pool {
    Pool::new(shell(script), options)
}

fn shell(script: &str) -> Program {
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    Program { name: "sh".to_owned(), arguments, ..Program::default() }
}

async fn score(pool: &Pool, id: i64) -> Result<Score, CommandError> {
    let sample = Sample::new("q").target("t");
    let state = TaskState::new("a/b", &sample, id.into(), 1);
    pool.score(Question::new(&state, &sample.target, false)).await
}

/// The scores of samples one after the other.
#[allow(clippy::unwrap_used, reason = "a test's helper may fail as the test may")]
fn scores<const N: usize>(pool: &Pool) -> [Result<Score, CommandError>; N] {
    let scores = async {
        let mut all = Vec::new();
        for id in 0..N {
            all.push(score(pool, id as i64).await);
        }
        all
    };
    block_on(scores).unwrap().try_into().unwrap()
}

/// Why there is no score.
#[allow(clippy::unwrap_used, reason = "a test's helper may fail as the test may")]
fn message(score: Result<Score, CommandError>) -> String {
    score.unwrap_err().to_string()
}

/// The beginning of a script: answers lines with the number in them.
const SEQ: &str = r#"seq() { echo "$1" | sed 's/.*"seq":\([0-9]*\).*/\1/'; }; "#;

fn script(rest: &str) -> String {
    format!("{SEQ}{rest}")
}

#[test]
fn a_process_answers_line_after_line() {
    let echo = script(
        r#"n=0; while read -r line; do n=$((n+1)); echo; echo "{\"seq\": $(seq "$line"), \"value\": $n}"; done"#,
    );
    let [a, b, c] = scores(&pool(&echo));
    // One process: it counts.
    assert_eq!([a, b, c], [1, 2, 3].map(|n| Ok(Score::new(n))));
}

#[test]
fn a_process_that_ends_fails_its_sample_and_is_replaced() {
    let [a, b, c, d] = scores(&pool("read -r line; echo one >&2; echo two >&2; exit 3"));
    let ended = "ended with exit status: 3 before it answered\nlast lines of its stderr:\n  one\n  two";
    assert_eq!([a, b, c].map(message), [ended, ended, ended]);
    assert_eq!(message(d), format!("has ended 3 times and is not started again; the last time it {ended}"));
    let [quiet] = scores(&pool("read -r line"));
    let advice = "it must read lines until its stdin ends, and answer each";
    assert_eq!(message(quiet), format!("ended with exit status: 0 before it answered; {advice}"));
}

#[test]
fn a_signal_is_named() {
    let [killed] = scores(&pool("read -r line; kill -9 $$"));
    assert_eq!(message(killed), "ended with signal: 9 (SIGKILL) before it answered");
}

#[test]
fn stdout_is_for_answers() {
    let [early] = scores(&pool("echo Loading; cat >/dev/null"));
    let early = message(early);
    let shown = r#"wrote a line to stdout that is no answer (not JSON: "#;
    assert!(early.starts_with(shown) && early.contains(r#"): "Loading"; "#), "{early}");
    let [other] = scores(&pool(r#"read -r line; echo '{"seq": 99, "value": 1}'; cat >/dev/null"#));
    assert!(message(other).starts_with("answered with seq 99, which is none"));
    let [endless] = scores(&pool("read -r line; yes | tr -d '\\n'"));
    assert_eq!(message(endless), "wrote a line of more than 8 MiB to stdout");
    let twice = script(
        r#"while read -r line; do s=$(seq "$line"); echo "{\"seq\": $s, \"value\": 1}"; echo "{\"seq\": $s, \"value\": 1}"; done"#,
    );
    let pool = pool(&twice);
    let [first, second] = scores(&pool);
    assert_eq!(first, Ok(Score::new(1)));
    assert!(message(second).starts_with("answered with seq 1, which is none"));
}

#[test]
fn an_error_of_a_sample_is_its_own() {
    let script =
        script(r#"while read -r line; do echo "{\"seq\": $(seq "$line"), \"error\": \"no\"}"; done"#);
    let [a, b] = scores(&pool(&script));
    assert_eq!([a, b].map(message), ["reports: no", "reports: no"]);
}

#[test]
fn a_process_that_ends_between_samples_is_started_again() {
    let once = script(r#"read -r line; echo "{\"seq\": $(seq "$line"), \"value\": 1}""#);
    let pool = pool(&once);
    for _ in 0..3 {
        let [score] = scores(&pool);
        assert_eq!(score, Ok(Score::new(1)));
        wait_until("the process has ended", || pool.are_all_ended().then_some(()));
    }
    let [fourth] = scores(&pool);
    let last = "the last time it ended with exit status: 0 after 1 answer(s), while it had no sample; ";
    let fourth = message(fourth);
    assert!(fourth.starts_with("has ended 3 times") && fourth.contains(last), "{fourth}");
}

#[test]
fn a_process_that_never_answers_is_killed() {
    let options =
        PoolOptions { processes: 1, concurrency: 1, timeout: Duration::from_millis(50), max_restarts: 5 };
    // Its child would outlive it.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; echo waiting >&2; wait", path.display());
    let pool = pool_of(&script, options);
    let child = || std::fs::read_to_string(&path).ok()?.trim().parse::<u32>().ok();
    let mut found = None;
    // The time is up before the shell has started, if the machine is busy.
    wait_until("the process has started its child", || {
        let [score] = scores(&pool);
        let message = message(score);
        let timed_out =
            message.starts_with("gave no answer within 0.05 s; ") && message.contains("flush=True");
        assert!(timed_out || message.starts_with("has ended"), "{message}");
        found = child();
        found
    });
    wait_until("the child is gone", || {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", found?)).unwrap_or_default();
        (status.is_empty() || status.contains(") Z ")).then_some(())
    });
}

#[test]
fn answers_come_in_any_order() {
    let options =
        PoolOptions { processes: 1, concurrency: 3, timeout: Duration::from_secs(100), max_restarts: 0 };
    let backwards = script(
        r#"read -r a; read -r b; read -r c; for l in "$c" "$b" "$a"; do s=$(seq "$l"); echo "{\"seq\": $s, \"value\": $s}"; done; cat >/dev/null"#,
    );
    let pool = pool_of(&backwards, options);
    let all = async { futures_util::future::join_all((0..3).map(|id| score(&pool, id))).await };
    let all: Vec<Score> = block_on(all).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(all, [Score::new(1), Score::new(2), Score::new(3)]);
}

#[test]
fn several_processes_score_at_once() {
    let options =
        PoolOptions { processes: 2, concurrency: 1, timeout: Duration::from_secs(100), max_restarts: 0 };
    let folder = tempfile::tempdir().unwrap();
    // Each waits until the other has a sample too.
    let meet = script(&format!(
        r#"read -r line; touch {0}/$$; until [ $(ls {0} | wc -l) = 2 ]; do sleep 0.01; done; echo "{{\"seq\": $(seq "$line"), \"value\": 1}}"; cat >/dev/null"#,
        folder.path().display()
    ));
    let pool = pool_of(&meet, options);
    let both = async { futures_util::future::join_all((0..2).map(|id| score(&pool, id))).await };
    assert!(block_on(both).unwrap().into_iter().all(|score| score == Ok(Score::new(1))));
}

#[test]
fn what_is_sent_may_be_larger_than_a_pipe() {
    let echo = script(
        r#"while read -r line; do echo "{\"seq\": $(echo "$line" | head -c 12 | sed 's/.*"seq":\([0-9]*\).*/\1/'), \"value\": ${#line}}"; done"#,
    );
    let pool = pool(&echo);
    let sample = Sample::new("x".repeat(1 << 20));
    let state = TaskState::new("a/b", &sample, 1.into(), 1);
    let score = block_on(pool.score(Question::new(&state, &sample.target, false))).unwrap().unwrap();
    assert!(score.to_f64() > f64::from(1 << 20), "{score:?}");
}

#[test]
fn processes_end_with_the_pool() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ended");
    let script = script(&format!(
        r#"while read -r line; do echo "{{\"seq\": $(seq "$line"), \"value\": 1}}"; done; touch {}"#,
        path.display()
    ));
    let pool = pool(&script);
    let [score] = scores(&pool);
    assert_eq!(score, Ok(Score::new(1)));
    drop(pool);
    // It was not killed, but has read its stdin to the end.
    assert!(path.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_has_a_limit() {
    let limits = script(
        r#"read -r line; echo "{\"seq\": $(seq "$line"), \"value\": $(sed -n 's/Max data size *\([0-9]*\).*/\1/p' /proc/$$/limits)}"; cat >/dev/null"#,
    );
    let options =
        PoolOptions { processes: 1, concurrency: 1, timeout: Duration::from_secs(100), max_restarts: 0 };
    let pool = Pool::new(Program { memory: Some(64 << 20), ..shell(&limits) }, options);
    let [score] = scores(&pool);
    assert_eq!(score, Ok(Score::new(i64::from(64 << 20))));
}

/// `setsid` starts a session, and so a group, of its own; `env -i` takes the mark away.
#[test]
#[cfg(target_os = "linux")]
fn what_left_the_group_ends_with_the_pool() {
    for command in ["setsid sh", "env -i setsid sh"] {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let daemon = format!("{command} -c 'echo $$ > {}; exec sleep 600' &", pid.display());
        let pool = pool(&script(&format!(
            r#"{daemon} while read -r line; do echo "{{\"seq\": $(seq "$line"), \"value\": 1}}"; done"#
        )));
        let [scored] = scores(&pool);
        assert_eq!(scored, Ok(Score::new(1)));
        let written = || std::fs::read_to_string(&pid).unwrap_or_default();
        wait_until("the daemon has started", || written().ends_with('\n').then_some(()));
        let stat = Path::new("/proc").join(written().trim()).join("stat");
        let is_alive = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
        assert!(is_alive());
        drop(pool);
        wait_until("the daemon is gone", || (!is_alive()).then_some(()));
    }
}
