//! A folder with a task of thirty sums, and the command line run in it.

use std::process::{Child, Command, Stdio};

use errorbar_test_support::{ProgramOutput, TestFolder, command, file_names};

use crate::server::Server;

pub(crate) struct Desk {
    pub(crate) folder: TestFolder,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let sample = |n: u32| {
            format!("{{\"id\": \"q{n}\", \"input\": \"What is {n} + 5?\", \"target\": \"{}\"}}\n", n + 5)
        };
        let task = "dataset = \"sums.jsonl\"\nscorer = \"includes\"\n".to_owned();
        Desk {
            folder: TestFolder::with([("sums.jsonl", (0..30).map(sample).collect()), ("sums.toml", task)]),
        }
    }

    /// `errorbar` with these arguments, without settings from the environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        command(env!("CARGO_BIN_EXE_errorbar-under-test"), self.folder.path(), arguments)
    }

    /// Runs the task against a server, with short waits. The model is wrong about a third of the sums.
    pub(crate) fn eval(&self, server: &Server, arguments: &[&str]) -> ProgramOutput {
        ProgramOutput::of(self.eval_command(server, arguments))
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
        let folder = self.folder.join("logs");
        let text = |name: String| {
            let (log, json) = (folder.join(name), self.folder.join("log.json"));
            let (log, json) = (log.to_str().unwrap(), json.to_str().unwrap());
            let _ =
                ProgramOutput::of(self.command(&["log", "convert", log, "--force", "-o", json])).successful();
            std::fs::read_to_string(json).unwrap()
        };
        file_names(&folder).into_iter().map(text).collect()
    }
}
