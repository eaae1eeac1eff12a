//! A folder with a task of thirty sums, and the command line run in it.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::server::Server;

/// Variables that lead requests elsewhere, or hold a key.
const ENVIRONMENT: [&str; 10] = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "ERRORBAR_LOG_DIR",
    "NO_COLOR",
];

pub(crate) struct Desk {
    pub(crate) folder: TempDir,
}

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let sample = |n: u32| {
            format!("{{\"id\": \"q{n}\", \"input\": \"What is {n} + 5?\", \"target\": \"{}\"}}\n", n + 5)
        };
        std::fs::write(folder.path().join("sums.jsonl"), (0..30).map(sample).collect::<String>()).unwrap();
        let task = "dataset = \"sums.jsonl\"\nscorer = \"includes\"\n";
        std::fs::write(folder.path().join("sums.toml"), task).unwrap();
        Desk { folder }
    }

    /// `errorbar` with these arguments, without anything that the environment may say.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_errorbar-under-test"));
        command.args(arguments).current_dir(self.folder.path());
        ENVIRONMENT.iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    /// Runs the task against a server, with short waits. The model is wrong about a third of the sums.
    pub(crate) fn eval(&self, server: &Server, arguments: &[&str]) -> Ran {
        Ran::from(self.eval_command(server, arguments).output().unwrap())
    }

    /// The same, not waited for.
    pub(crate) fn start_eval(&self, server: &Server, arguments: &[&str]) -> Child {
        let mut command = self.eval_command(server, arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn eval_command(&self, server: &Server, arguments: &[&str]) -> Command {
        let base_url = server.base_url();
        let always = [
            "eval",
            "sums.toml",
            "--model",
            "openai/unsure",
            "--base-url",
            &base_url,
            "--retry-wait",
            "0.01",
        ];
        self.command(&[&always, arguments].concat())
    }

    /// All that was written to logs, as JSON: archives hold texts compressed.
    pub(crate) fn logs(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.path().join("logs")) else { return Vec::new() };
        let text = |log: PathBuf| {
            let log = log.to_str().unwrap();
            let json = self.folder.path().join("log.json");
            let converted =
                self.command(&["log", "convert", log, "--force", "-o", json.to_str().unwrap()]).output();
            assert!(converted.unwrap().status.success(), "{log}");
            std::fs::read_to_string(json).unwrap()
        };
        entries.map(|entry| text(entry.unwrap().path())).collect()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The results of a run with `--format json`.
    pub(crate) fn results(&self) -> Json {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        let runs: Json = serde_json::from_str(&self.stdout).unwrap();
        runs[0]["results"].clone()
    }
}
