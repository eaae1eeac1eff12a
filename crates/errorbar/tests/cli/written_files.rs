//! Files that commands write in the place of others: whole or not at all, and for whom.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::errorbar;

const LOG: &str = r#"{"version": 2, "status": "success",
 "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "MODEL", "dataset": {}, "config": {},
          "scorers": [{"name": "match", "metrics": [{"name": "accuracy"}]}]},
 "plan": {"name": "plan", "steps": [], "config": {}},
 "samples": [
  {"id": "a", "epoch": 1, "input": "?", "target": "!", "scores": {"match": {"value": "FIRST"}}},
  {"id": "z", "epoch": 1, "input": "??", "target": "!", "scores": {"match": {"value": "I"}}}]}"#;

/// A folder with the logs of two models.
fn two_logs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, first) in [("a", "C"), ("b", "I")] {
        let log = LOG.replace("MODEL", &format!("mock/{name}")).replace("FIRST", first);
        fs::write(folder.path().join(name).with_extension("json"), log).unwrap();
    }
    folder
}

/// Runs the program after a line of a shell, which sets limits and the umask.
fn run_after(setting: &str, folder: &Path, args: &[&str]) -> Output {
    let program = errorbar(folder, args);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{setting}; exec \"$0\" \"$@\"")).arg(program.get_program());
    shell.args(program.get_args()).current_dir(folder);
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.output().unwrap()
}

#[test]
fn a_file_that_cannot_be_written_stays_as_it_was() {
    let folder = two_logs();
    let names = || {
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    for (name, args) in [
        ("r.html", &["report", "a.json", "-o", "r.html", "--force"][..]),
        ("p.svg", &["plot", "estimates", "a.json", "-o", "p.svg", "--force"]),
        ("c.json", &["compare", "a.json", "b.json", "-o", "c.json", "--force"]),
        ("j.xml", &["compare", "a.json", "b.json", "--fail-if-worse", "--junit", "j.xml"]),
        ("e.csv", &["log", "export", "a.json", "-o", "e.csv", "--force"]),
        ("m.toml", &["score", "e.csv", "--mapping", "m.toml", "--save-mapping", "m.toml"]),
    ] {
        // XML for `--junit`, the rows of a table, a comment in TOML.
        let old = match name {
            "j.xml" => "<old/>",
            "m.toml" => "# old\n",
            _ => "id,score\na,1\nb,0\n",
        };
        let path = folder.path().join(name);
        fs::write(&path, old).unwrap();
        let before = names();
        // As on a full disk, every write of a byte to a file fails.
        let output = run_after("trap '' XFSZ; ulimit -f 0", folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?} {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(name), "{args:?} {output:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), old, "{args:?}");
        assert_eq!(names(), before, "{args:?}");
        let output = run_after(":", folder.path(), args);
        assert!(output.status.code() < Some(2), "{args:?} {output:?}");
        assert_ne!(fs::read_to_string(&path).unwrap(), old, "{args:?}");
    }
}

#[test]
fn files_with_samples_are_for_their_owner_alone() {
    let folder = two_logs();
    let compared = ["compare", "a.json", "b.json", "-o", "c.json", "--force"];
    let flips = [&compared[..], &["--flips"]].concat();
    let report = ["report", "a.json", "-o", "r.html", "--force"];
    let no_samples = [&report[..], &["--no-samples"]].concat();
    let export = ["log", "export", "a.json", "-o", "e.csv", "--force"];
    let plot = ["plot", "estimates", "a.json", "-o", "p.svg", "--force"];
    // The mode of the file that is replaced, and that of the new one.
    for (args, old, expected) in [
        (&compared[..], None, 0o644),
        (&flips, None, 0o600),
        (&flips, Some(0o644), 0o600),
        (&no_samples, None, 0o644),
        (&no_samples, Some(0o600), 0o600),
        (&report, None, 0o600),
        (&report, Some(0o644), 0o600),
        (&export, None, 0o600),
        (&plot, None, 0o644),
    ] {
        let at = args.iter().position(|arg| *arg == "-o").unwrap();
        let path = folder.path().join(args[at + 1]);
        let _ = fs::remove_file(&path);
        if let Some(old) = old {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(old)).unwrap();
        }
        let output = run_after("umask 022", folder.path(), args);
        assert_eq!(output.status.code(), Some(0), "{args:?} {output:?}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, expected, "{args:?} {old:?}");
    }
}

#[test]
fn a_mapping_is_a_small_file() {
    let folder = two_logs();
    fs::write(folder.path().join("s.csv"), "id,score\na,1\nb,0\n").unwrap();
    fs::File::create(folder.path().join("large.toml")).unwrap().set_len(5 << 20).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    for (mapping, problem) in [
        ("large.toml", "it has more than 4 MiB"),
        ("/dev/zero", "a mapping must be a regular file"),
        ("pipe", "a mapping must be a regular file"),
    ] {
        let output = errorbar(folder.path(), &["score", "s.csv", "--mapping", mapping]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{mapping} {text}");
        assert!(text.contains(mapping) && text.contains(problem) && text.contains("hint:"), "{text}");
    }
}
