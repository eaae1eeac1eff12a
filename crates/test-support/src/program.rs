//! Programs, run in an environment that does not depend on who runs the tests.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value as Json;

/// Variables that change what a program prints, where its files are, or which servers it talks to.
const VARIABLES: [&str; 17] = [
    "ALL_PROXY",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "ERRORBAR_CACHE_DIR",
    "ERRORBAR_LOG_DIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LC_ALL",
    "LC_CTYPE",
    "NO_COLOR",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// A program in a folder, with arguments and an environment that says nothing about terminals, servers and keys.
pub fn command(program: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments).env("LANG", "C.UTF-8").env("TERM", "dumb");
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
}

/// The exit code of a program, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    /// The exit code; none if a signal ended the program.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl ProgramOutput {
    /// Runs a command to its end.
    pub fn of(mut command: Command) -> Self {
        command.output().unwrap().into()
    }

    /// The output of a command that must succeed.
    #[must_use]
    pub fn successful(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    /// What it printed as JSON; it must have succeeded.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.clone().successful().stdout).unwrap()
    }

    /// The results of the first log, of a command with `--format json`.
    pub fn results(&self) -> Json {
        self.json()[0]["results"].clone()
    }
}

impl From<Output> for ProgramOutput {
    fn from(output: Output) -> Self {
        ProgramOutput {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
