//! The README's commands are run here as it shows them; its Rust snippet runs as a doc test.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

use std::path::PathBuf;
use std::process::Command;

const TEST_COMMAND: &str = "cargo test --workspace";
const RUN: &str = "cargo run --release -- ";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of the README's console blocks.
fn commands() -> Vec<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = readme.split("```console\n").skip(1);
    let of_block = |block: &str| {
        let block = block.split("```").next().unwrap_or_default().to_owned();
        block.lines().filter_map(|line| line.strip_prefix("$ ").map(str::to_owned)).collect::<Vec<_>>()
    };
    blocks.flat_map(of_block).collect()
}

#[test]
fn every_command_of_the_readme_runs() {
    let commands = commands();
    assert!(commands.len() >= 6, "{commands:?}");
    assert!(commands.iter().any(|c| c == TEST_COMMAND), "the README has its test command");
    assert!(commands[0].starts_with(RUN), "the first command runs the main job");
    let logs = tempfile::tempdir().unwrap();
    for command in commands.iter().filter(|c| *c != TEST_COMMAND) {
        let Some(arguments) = command.strip_prefix(RUN) else {
            panic!("{command:?} is no command that this test knows how to run");
        };
        // Where logs go in a fresh clone; here they go elsewhere, and stay out of the repository.
        let at_home = |word| if word == "logs" { "\"$ERRORBAR_LOG_DIR\"" } else { word };
        let arguments: Vec<&str> = arguments.split(' ').map(at_home).collect();
        let line = format!("\"$ERRORBAR\" {}", arguments.join(" "));
        let output = Command::new("sh")
            .args(["-c", &line])
            .env("ERRORBAR", env!("CARGO_BIN_EXE_errorbar"))
            .env("ERRORBAR_LOG_DIR", logs.path())
            .current_dir(root())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{errors}");
        assert!(!output.stdout.is_empty(), "{command} prints nothing");
    }
}

#[test]
fn the_test_command_is_what_ci_runs() {
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(ci.contains(TEST_COMMAND));
}
