//! The commands of the README and of the guides are run here as they show them; Rust snippets run as doc tests.

use std::path::PathBuf;
use std::process::Command;

const TEST_COMMAND: &str = "cargo test --workspace";
const INSTALL_COMMAND: &str = "cargo install --path crates/errorbar";
const RUN: &str = "cargo run --release -- ";
const INSTALLED: &str = "errorbar ";
/// Pages whose console blocks are run, in this order: the README's first command writes the logs that others read.
const PAGES: [&str; 11] = [
    "README.md",
    "docs/comparing.md",
    "docs/gates.md",
    "docs/tables.md",
    "docs/other-tools.md",
    "docs/logs.md",
    "docs/evaluations.md",
    "docs/uncertainty.md",
    "docs/planning.md",
    "docs/early-stopping.md",
    "docs/command-scorer.md",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a page's console blocks, each with the output below it.
fn shown(page: &str) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let mut shown: Vec<(String, Vec<String>)> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap_or_default().lines() {
            match (line.strip_prefix("$ "), shown.last_mut()) {
                (Some(command), _) => shown.push((command.to_owned(), Vec::new())),
                (None, Some((_, output))) => output.push(line.to_owned()),
                (None, None) => panic!("{page}: a block without a command"),
            }
        }
    }
    shown
}

/// The commands of a page's console blocks.
fn commands(page: &str) -> Vec<String> {
    shown(page).into_iter().map(|(command, _)| command).collect()
}

#[test]
fn every_command_of_the_guides_runs() {
    let pages: Vec<Vec<String>> = PAGES.into_iter().map(commands).collect();
    assert!(pages.iter().all(|commands| commands.len() >= 2), "{pages:?}");
    let readme = &pages[0];
    assert!(readme[0].starts_with(RUN), "the first command runs the main job");
    let is_cargo = |command: &str| [TEST_COMMAND, INSTALL_COMMAND].contains(&command);
    assert_eq!(readme.iter().filter(|command| is_cargo(command)).count(), 2, "to test and to install");
    let logs = tempfile::tempdir().unwrap();
    // Other pages show times and names of logs that no other run has.
    let outputs = shown("README.md");
    for command in pages.iter().flatten().filter(|command| !is_cargo(command)) {
        let Some(arguments) = command.strip_prefix(RUN).or_else(|| command.strip_prefix(INSTALLED)) else {
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
        let printed = String::from_utf8_lossy(&output.stdout);
        for line in outputs.iter().filter(|(shown, _)| shown == command).flat_map(|(_, lines)| lines) {
            let is_printed = line.trim() == "…" || printed.lines().any(|printed| printed == line);
            assert!(is_printed, "{command}: the page shows {line:?}; it prints\n{printed}");
        }
    }
}

#[test]
fn the_test_command_is_what_ci_runs() {
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(ci.contains(TEST_COMMAND));
}
