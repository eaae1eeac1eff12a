//! `errorbar view` and `eval --view` as processes.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use errorbar_test_support::zip::{Zip, deflated};

use crate::errorbar;

/// Fetches an address.
fn get(url: &str) -> String {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Connects as a page that listens for changes.
fn listen(url: &str) -> TcpStream {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /{path}events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    stream
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

fn start(folder: &Path, args: &[&str]) -> Child {
    errorbar(folder, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn write_task(folder: &Path) {
    let line = |n: usize| {
        format!(
            "{{\"id\": {n}, \"input\": \"{n}?\", \"target\": \"{}\"}}\n",
            if n < 6 { "yes" } else { "no" }
        )
    };
    fs::write(folder.join("d.jsonl"), (0..8).map(line).collect::<String>()).unwrap();
    fs::write(
        folder.join("t.toml"),
        "name = \"quiz\"\ndataset = { path = \"d.jsonl\" }\nscorer = \"match()\"\n",
    )
    .unwrap();
}

fn evaluate(folder: &Path, model: &str) {
    let output =
        errorbar(folder, &["eval", "t.toml", "--model", model, "--log-dir", "logs"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_folder_is_served_until_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    write_task(folder.path());
    evaluate(folder.path(), "mock/yes");
    evaluate(folder.path(), "mock/no");
    let mut child = start(folder.path(), &["view", "logs"]);
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    let url = url.trim_end();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let list = get(url);
    assert!(list.contains("2 logs of 1 task.") && list.contains("<b class=\"v0\">0.75</b>"), "{list}");
    // 6 of 8 are `yes`: the page has the figure that `score` has. Logs of the same second are in any order.
    let pages = [1, 2].map(|log| get(&format!("{url}logs/{log}/")));
    assert!(pages.iter().all(|page| page.starts_with("HTTP/1.1 200")), "{pages:?}");
    for figure in ["data-value=\"0.75\"", "data-value=\"0.25\""] {
        assert_eq!(pages.iter().filter(|page| page.contains(figure)).count(), 1, "{figure}: {pages:?}");
    }
    let [page, _] = &pages;
    assert!(page.contains("connect-src 'self'") && page.contains("data-origin=\"server\""), "{page}");
    let compared = get(&format!("{url}logs/1-2/"));
    assert!(compared.starts_with("HTTP/1.1 200"), "{compared}");
    assert!(get(&format!("{url}logs/1/samples.json")).contains("\"outcomes\""));
    let listener = listen(url);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Ctrl-C ends the server"));
    drop(listener);
}

#[test]
fn a_run_is_served_beside_itself_and_after_it() {
    let folder = tempfile::tempdir().unwrap();
    write_task(folder.path());
    let mut child =
        start(folder.path(), &["eval", "t.toml", "--model", "mock/yes", "--view", "--format", "json"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.by_ref().find_map(|line| Some(line[line.find("http://")?..].to_owned())).unwrap();
    lines.by_ref().find(|line| line.contains("still serving")).unwrap();
    let list = get(url.split(' ').next().unwrap());
    assert!(list.contains("1 log of 1 task."), "{list}");
    interrupt(&child);
    let rest: Vec<String> = lines.collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{rest:?}");
    assert!(!rest.iter().any(|line| line.contains("cancelled")), "the run was over: {rest:?}");
    let reports: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reports[0]["results"]["completed_samples"], 8, "data stay by themselves on standard output");
}

/// The most memory that a process has held so far, in MiB.
#[cfg(target_os = "linux")]
fn peak(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

/// A decoder has 40 kB: one for each sample, freed between strings that stay, leaves holes of that size.
#[cfg(target_os = "linux")]
#[test]
fn deflated_samples_share_a_decoder() {
    const SAMPLES: usize = 6000;
    let header = r#"{"version": 2, "status": "success", "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz",
        "model": "mock/x", "dataset": {}, "config": {}, "scorers": [{"name": "match", "metrics": [{"name": "accuracy"}]}]}}"#;
    let log = (0..SAMPLES).fold(Zip::new().stored("header.json", header.as_bytes()), |zip, id| {
        let sample = format!(
            r#"{{"id": {id}, "epoch": 1, "input": "What is {id} plus 1?", "target": "x",
            "messages": [{{"role": "user", "content": "What is {id} plus 1?"}}],
            "scores": {{"match": {{"value": "C", "explanation": "because of {id}"}}}}}}"#
        );
        let name = format!("samples/{id}_epoch_1.json");
        zip.member(&name, 8, &deflated(sample.as_bytes()), sample.as_bytes())
    });
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.eval"), log.bytes()).unwrap();
    let mut child = start(folder.path(), &["view", "."]);
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    let url = url.trim_end();
    assert!(get(url).contains("1 log of 1 task."));
    let before = peak(&child);
    let samples = get(&format!("{url}logs/1/samples.json"));
    assert!(samples.contains("What is 5999 plus 1?"), "{samples}");
    let grown = peak(&child) - before;
    interrupt(&child);
    assert!(child.wait().unwrap().success());
    assert!(grown < SAMPLES as u64 * 10 / 1024, "{grown} MiB for {SAMPLES} samples");
}

#[test]
fn what_cannot_be_served_is_an_error_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (args, text) in [
        (vec!["view", "missing"], "there is no such folder"),
        (vec!["view", "file"], "this is no folder"),
        (vec!["view", ".", "--port", &port], "choose another port"),
        (vec!["view", ".", "--host", "203.0.113.7"], "name an address of this machine"),
    ] {
        let output = errorbar(folder.path(), &args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(text), "{args:?}: {stderr}");
    }
}
