//! A log that disappears, and a process that has no descriptors left: neither costs the figures.

use std::process::Command;

use errorbar_test_support::ProgramOutput;

use crate::desk::Desk;
use crate::server::Server;

#[test]
fn a_log_that_is_removed_ends_the_run_with_an_error_and_its_figures() {
    let desk = Desk::new();
    let server = Server::start(&["--delay-ms", "20"]);
    // Twenty minutes, if nothing ends it: 60000 samples.
    let run = desk.start_eval(&server, &["--epochs", "2000", "--max-connections", "1", "--max-samples", "1"]);
    server.wait_for_requests(5);
    std::fs::remove_dir_all(desk.folder.path().join("logs")).unwrap();
    let ran = ProgramOutput::from(run.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("accuracy"), "{}", ran.stdout);
    let error = ran.stderr.lines().find(|line| line.starts_with("error: ")).expect(&ran.stderr);
    let (_, problem) = error.split_once(" of 60000 samples: ").expect(error);
    let (_, problem) = problem.split_once(".eval: ").expect(error);
    assert_eq!(problem, "the log was removed while it was written, and what it contained is lost");
    assert_eq!(
        ran.stderr.lines().last(),
        Some(
            "hint: see what removes or replaces files there, and run the task again; --log-dir names another folder, and \
             with --cache no answer is paid for twice"
        ),
        "there is nothing to resume: {}",
        ran.stderr
    );
}

#[test]
fn few_descriptors_mean_fewer_connections_and_all_the_figures() {
    let desk = Desk::new();
    let server = Server::start(&["--delay-ms", "100"]);
    for format in ["eval", "json"] {
        let base_url = server.base_url();
        let eval =
            ["eval", "sums.toml", "--model", "openai/unsure", "--base-url", &base_url, "--epochs", "10"];
        let many =
            ["--max-connections", "1500", "--max-samples", "300", "--format", "json", "--log-format", format];
        let run = desk.command(&[&eval[..], &many].concat());
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(run.get_program()).args(run.get_args());
        limited.current_dir(desk.folder.path());
        for (name, value) in run.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        let ran = ProgramOutput::from(limited.output().unwrap());
        let accuracy = &ran.results()["scores"][0]["metrics"]["accuracy"]["value"];
        assert_eq!(accuracy, 20.0 / 30.0, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("16 connections at once in place of 1500, as this process may have 64"),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("error") && !ran.stderr.contains("made again"), "{}", ran.stderr);
    }
    assert_eq!(server.stats()["in_flight_max"], 16);
}
