//! Short names of logs: `@1` is the newest of a folder that can be read, `@2` the one before, and `latest` is `@1`.
//!
//! A bare handle is of the folder that runs write to; `DIR/@1` is of another. A file that has such a name is meant where a
//! path leads to it (`./latest`).

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

use errorbar_log::eval::EvalLog;
use jiff::Timestamp;
use rayon::prelude::*;

use super::{InputFiles, expand_folder};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::text::counted;

/// The variable that names the folder of logs.
pub const LOG_DIR: &str = "ERRORBAR_LOG_DIR";
/// The folder if it is unset.
pub const DEFAULT_LOG_DIR: &str = "logs";

/// What the names of models begin with that give recorded outputs.
const REPLAY: &str = "replay/";

/// The folder that runs write their logs to, unless an option names another.
pub fn log_dir() -> PathBuf {
    env::var_os(LOG_DIR)
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| DEFAULT_LOG_DIR.into(), PathBuf::from)
}

/// The file that the name of a log means: the path itself, or the log of a handle.
pub fn resolve(named: &Path) -> Result<PathBuf, Diagnostics> {
    resolve_in(named, &log_dir())
}

/// The same with bare handles of this folder.
pub fn resolve_in(named: &Path, folder: &Path) -> Result<PathBuf, Diagnostics> {
    let Some(number) = named.file_name().and_then(|name| handle(name.to_str()?)) else {
        return Ok(named.to_owned());
    };
    // A bare name has an empty parent.
    let folder = match named.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        None => folder,
        Some(parent) if parent.is_dir() && !named.exists() => parent,
        Some(_) => return Ok(named.to_owned()),
    };
    log_of(named, number, folder)
}

/// The model that a name means: `replay/@1` gives the outputs of a log, which is named as anywhere else.
pub fn resolve_model(model: &str, folder: &Path) -> Result<String, Diagnostics> {
    match model.strip_prefix(REPLAY) {
        Some(named) => {
            let log = resolve_in(Path::new(named), folder)?;
            Ok(format!("{REPLAY}{}", log.display()))
        }
        None => Ok(model.to_owned()),
    }
}

/// The number of a handle, from 1.
fn handle(name: &str) -> Option<usize> {
    if name == "latest" {
        return Some(1);
    }
    let digits = name.strip_prefix('@')?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn log_of(named: &Path, number: usize, folder: &Path) -> Result<PathBuf, Diagnostics> {
    let error = |problem: String, hint: &str| {
        Diagnostics::from(Diagnostic::error(problem).about(named.display()).hint(hint))
    };
    if number == 0 {
        return Err(error("handles count from @1, the newest log".to_owned(), "`latest` is the same as @1"));
    }
    let none = || {
        let problem = format!("no logs are in the folder {}", folder.display());
        let way_out =
            "run a task first, give the path of a log, or name the folder with ERRORBAR_LOG_DIR or as DIR/@1";
        error(problem, way_out)
    };
    if !folder.is_dir() {
        return Err(none());
    }
    let InputFiles { files, diagnostics, .. } = expand_folder(folder);
    // A folder that cannot be read would give other logs the same handle.
    if !files.is_empty() && !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let files = newest_first(files);
    let Some(newest) = files.first() else { return Err(none()) };
    let mut count = 0;
    for log in files.iter().filter(|path| is_listed(path)) {
        count += 1;
        if count == number {
            return Ok(log.clone());
        }
    }
    match count {
        // Reading it gives the error.
        0 => Ok(newest.clone()),
        count => {
            let (logs, folder) = (counted(count as u64, "log"), folder.display());
            let is = if count == 1 { "is" } else { "are" };
            let others = if count < files.len() { " that can be read" } else { "" };
            Err(error(format!("only {logs}{others} {is} in the folder {folder}"), "`log list` shows them"))
        }
    }
}

/// Whether `log list` shows a file: one that cannot be read has no number.
fn is_listed(path: &Path) -> bool {
    EvalLog::open(path).and_then(|log| log.short_header()).is_ok()
}

/// Logs by the time of their run, the newest first. Names have seconds: of runs that began in the same one, the log that
/// was changed last is the newer.
pub fn newest_first(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut keyed: Vec<_> =
        files.into_par_iter().map(|path| Reverse((run_time(&path), changed(&path), path))).collect();
    keyed.sort();
    keyed.into_iter().map(|Reverse((.., path))| path).collect()
}

/// When a file was last changed.
fn changed(path: &Path) -> Option<Timestamp> {
    let changed: SystemTime = fs::metadata(path).ok()?.modified().ok()?;
    changed.try_into().ok()
}

/// When the run of a log began: by its name, which needs no reading, else by its header, else when the file was last
/// changed.
fn run_time(path: &Path) -> Option<Timestamp> {
    let by_header = || {
        let header = EvalLog::open(path).and_then(|log| log.short_header()).ok()?;
        header.eval.created.parse().ok()
    };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    time_in_name(name).or_else(by_header).or_else(|| changed(path))
}

/// The time that names of logs begin with: `2026-11-15T06-09-13+00-00_task_id.eval`. The reference writes `-` for the
/// sign of an offset, so other offsets than 0 need a plus sign to be one.
pub(crate) fn time_in_name(name: &str) -> Option<Timestamp> {
    const TIME: usize = "2026-11-15T06-09-13".len();
    const OFFSET: usize = "+00-00".len();
    let (date, clock) = name.get(..TIME)?.split_once('T')?;
    let clock = clock.replace('-', ":");
    let offset = match name.get(TIME..TIME + OFFSET)? {
        "-00-00" => "Z".to_owned(),
        offset if offset.starts_with('+') => offset.replace('-', ":"),
        _ => return None,
    };
    format!("{date}T{clock}{offset}").parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, r#"{"version": 2, "eval": {"created": "2026-11-15T07:00:00+01:00", "task": "t", "model": "m"}}"#)
                .unwrap();
        }
        folder
    }

    const LOGS: [&str; 4] = [
        "2026-11-15T05-30-00+00-00_a_1.json",
        "2026-11-15T09-00-00+03-00_b_2.json",
        "sub/2026-11-15T06-30-00+00-00_c_3.eval",
        "by_header.json",
    ];

    #[test]
    fn handles_count_from_the_newest_run() {
        let folder = folder(&LOGS);
        let resolved = |name: &str| resolve_in(Path::new(name), folder.path()).unwrap();
        for (name, log) in [("latest", 2), ("@1", 2), ("@4", 0)] {
            assert_eq!(resolved(name), folder.path().join(LOGS[log]), "{name}");
        }
        // Both at six o'clock, and the second was written last.
        let same = [resolved("@2"), resolved("@3")];
        assert_eq!(same, [folder.path().join(LOGS[3]), folder.path().join(LOGS[1])]);
        for path in ["a.eval", "latest.eval", "@x", "@", "@1.eval", "dir/latest"] {
            assert_eq!(resolved(path), Path::new(path), "{path}");
        }
        let in_folder = folder.path().join("sub/@1");
        assert_eq!(resolve_in(&in_folder, Path::new("elsewhere")).unwrap(), folder.path().join(LOGS[2]));
    }

    #[test]
    fn of_runs_in_one_second_the_log_that_was_written_last_is_the_newest() {
        let names = ["2026-11-15T05-30-00+00-00_t_1.json", "2026-11-15T05-30-00+00-00_t_2.json"];
        let folder = folder(&names);
        for newest in [0, 1] {
            let time =
                |at: usize| SystemTime::UNIX_EPOCH + Duration::from_secs(if at == newest { 20 } else { 10 });
            for (at, name) in names.iter().enumerate() {
                let file = fs::File::options().append(true).open(folder.path().join(name)).unwrap();
                file.set_modified(time(at)).unwrap();
            }
            let latest = resolve_in(Path::new("latest"), folder.path()).unwrap();
            assert_eq!(latest, folder.path().join(names[newest]));
        }
    }

    #[test]
    fn recorded_outputs_are_named_by_handles_too() {
        let folder = folder(&LOGS[..1]);
        let resolved = |model: &str| resolve_model(model, folder.path());
        let log = format!("replay/{}", folder.path().join(LOGS[0]).display());
        let in_folder = format!("replay/{}/@1", folder.path().display());
        for model in ["replay/latest", "replay/@1", &in_folder] {
            assert_eq!(resolved(model).unwrap(), log);
        }
        for model in ["replay/outputs/wren.jsonl", "mock/latest", "openai/@1", "latest"] {
            assert_eq!(resolved(model).unwrap(), model);
        }
        assert!(resolved("replay/@2").is_err());
    }

    #[test]
    fn a_file_of_such_a_name_is_meant_by_its_path() {
        let folder = folder(&["latest", "@1", LOGS[0]]);
        for name in ["latest", "@1"] {
            let path = folder.path().join(name);
            assert_eq!(resolve_in(&path, Path::new("elsewhere")).unwrap(), path);
            assert_eq!(resolve_in(Path::new(name), folder.path()).unwrap(), folder.path().join(LOGS[0]));
        }
    }

    #[test]
    fn what_there_is_not_is_an_error() {
        let (logs, empty) = (folder(&LOGS[..1]), folder(&[]));
        let missing = empty.path().join("missing");
        for (name, folder) in
            [("@2", logs.path()), ("@0", logs.path()), ("@1", empty.path()), ("latest", &missing)]
        {
            let problems: Vec<Diagnostic> =
                resolve_in(Path::new(name), folder).unwrap_err().into_iter().collect();
            assert_eq!(problems.len(), 1, "{name}");
            assert!(problems.iter().all(|problem| problem.hint_text().is_some()), "{name}");
        }
    }

    #[test]
    fn the_time_is_in_the_name() {
        let time = |name: &str| time_in_name(name).map(|time| time.to_string());
        assert_eq!(time("2026-11-15T06-09-13+02-00_x.eval").as_deref(), Some("2026-11-15T04:09:13Z"));
        assert_eq!(time("2026-11-15T06-09-13-00-00_x.eval").as_deref(), Some("2026-11-15T06:09:13Z"));
        for name in [
            "",
            "run.eval",
            "2026-13-15T06-09-13+02-00_x.eval",
            "2026-11-15 06-09-13.eval",
            "ééééééééééééééé.eval",
        ] {
            assert_eq!(time(name), None, "{name}");
        }
    }
}
