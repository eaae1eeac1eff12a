//! A reader that has seen enough closes the pipe; that is no error.

use std::io::Read;
use std::process::Stdio;

use crate::{errorbar, workspace};

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
