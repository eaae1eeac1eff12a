//! A reader that has seen enough closes the pipe; that is no error.

use std::io::Read;
use std::process::Stdio;

use crate::{errorbar, workspace};

/// A disk that is full is an error that names what could not be written.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_cannot_be_written_is_named() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let commands: [&[&str]; 3] = [
        &["score", "examples/quiz.csv"],
        &["list"],
        &["log", "export", "conformance/old_logs/logs", "--columns", "id,value"],
    ];
    for args in commands {
        let output = errorbar(&workspace(), args).stdout(full()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        let is_named = message.lines().any(|line| line.starts_with("error: standard output: "));
        assert!(is_named && output.status.code() == Some(2), "{args:?}: {message}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let commands: [&[&str]; 5] = [
        &["score", "examples/quiz.csv", "--quiet"],
        &["score", "examples/quiz.csv", "--format", "json", "--quiet"],
        &["list"],
        &["completions", "bash"],
        &["score", "--help"],
    ];
    for args in commands {
        let mut child =
            errorbar(&workspace(), args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let status = child.wait().unwrap();
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}
