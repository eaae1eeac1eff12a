//! The task files that the fuzzer starts from and those that it found, without a fuzzer: see `fuzz/README.md`.

#[path = "../../../../fuzz/src/task.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod task;

#[test]
fn task_files() {
    errorbar_test_support::run_seeds("task_file", task::task);
}
