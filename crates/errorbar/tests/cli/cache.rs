//! `errorbar cache` as users see it: what is cached, and what is removed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{check, check_text, errorbar, transcript};

/// A folder with answers: two of one model, one of another, one that is torn, and an unrelated file.
struct CacheFolder(tempfile::TempDir);

impl CacheFolder {
    fn new() -> Self {
        let cache = CacheFolder(tempfile::tempdir().unwrap());
        cache.write('a', "server/large", "2026-01-05T10:20:30.5Z");
        cache.write('b', "server/large", "2026-03-01T00:00:00Z");
        cache.write('c', "other/\u{1b}[31msmall", "2099-01-01T00:00:00Z");
        fs::write(cache.place('d'), "{\"version\":").unwrap();
        let torn = fs::File::options().write(true).open(cache.place('d')).unwrap();
        let day: u64 = 24 * 60 * 60;
        torn.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(20_000 * day)).unwrap();
        fs::write(cache.path().join("answers/notes.txt"), "mine").unwrap();
        cache
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn place(&self, digit: char) -> PathBuf {
        let folder = self.path().join(format!("answers/{digit}{digit}"));
        fs::create_dir_all(&folder).unwrap();
        folder.join(format!("{}.json", digit.to_string().repeat(64)))
    }

    fn write(&self, digit: char, model: &str, created: &str) {
        let entry = serde_json::json!({
            "version": 1, "created": created, "model": model, "request": {}, "output": {"completion": "x".repeat(900)},
        });
        fs::write(self.place(digit), entry.to_string()).unwrap();
    }

    /// Runs the command on this folder, and compares with the snapshot.
    fn check(&self, name: &str, args: &[&str]) {
        let output = errorbar(self.path(), args).env("ERRORBAR_CACHE_DIR", self.path()).output().unwrap();
        let text = transcript(args, &output).replace(&self.path().display().to_string(), "CACHE");
        check_text(name, &text);
    }

    /// Which of the four answers are left.
    fn left(&self) -> String {
        assert!(self.path().join("answers/notes.txt").exists());
        "abcd".chars().filter(|digit| self.place(*digit).exists()).collect()
    }
}

#[test]
fn what_is_cached_is_listed() {
    let cache = CacheFolder::new();
    cache.check("cache_path", &["cache", "path"]);
    for (name, format) in [
        ("cache_list", "table"),
        ("cache_list_json", "json"),
        ("cache_list_csv", "csv"),
        ("cache_list_markdown", "markdown"),
    ] {
        cache.check(name, &["cache", "list", "--format", format]);
    }
}

#[test]
fn a_folder_that_is_not_there_is_empty_and_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["cache", "list", "--cache-dir", "none"];
    let output = errorbar(folder.path(), &args).output().unwrap();
    check_text("cache_list_empty", &transcript(&args, &output));
    check("cache_list_empty_json", &[], &["cache", "list", "--cache-dir", "none", "-f", "json"]);
    check("cache_clear_empty", &[], &["cache", "clear", "--all", "--cache-dir", "none"]);
    assert!(!folder.path().join("none").exists());
}

#[test]
fn answers_go_by_model_and_age() {
    for (name, args, left) in [
        ("cache_clear_model", &["--model", "server/large"][..], "cd"),
        ("cache_clear_pattern", &["--model", "*small*", "--model", "nobody"], "abd"),
        ("cache_clear_old", &["--older-than", "1w"], "c"),
        ("cache_clear_old_of_model", &["--older-than", "1w", "--model", "server/*"], "cd"),
        ("cache_clear_all", &["--all"], ""),
    ] {
        let cache = CacheFolder::new();
        cache.check(name, &[&["cache", "clear"], args].concat());
        assert_eq!(cache.left(), left, "{name}");
    }
}

#[test]
fn what_cannot_be_cleared() {
    let cache = CacheFolder::new();
    cache.check("cache_clear_what", &["cache", "clear"]);
    cache.check("cache_clear_contradiction", &["cache", "clear", "--all", "--model", "x"]);
    cache.check("cache_clear_no_age", &["cache", "clear", "--older-than", "7"]);
    assert_eq!(cache.left(), "abcd");
    check("cache_no_folder", &[("file", "")], &["cache", "list", "--cache-dir", "file"]);
}

#[test]
fn the_folder_is_the_one_that_is_named() {
    let stdout = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = errorbar(Path::new("/"), &[&["cache", "path"], args].concat());
        command.env_remove("XDG_CACHE_HOME").env("HOME", "/me").envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let own = ("ERRORBAR_CACHE_DIR", "/own");
    assert_eq!(stdout(&[own], &["--cache-dir", "/named"]), "/named/answers\n");
    assert_eq!(stdout(&[own], &[]), "/own/answers\n");
    assert_eq!(stdout(&[("XDG_CACHE_HOME", "/caches")], &[]), "/caches/errorbar/answers\n");
    assert_eq!(stdout(&[], &[]), "/me/.cache/errorbar/answers\n");
}
