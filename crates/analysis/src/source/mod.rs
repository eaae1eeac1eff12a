//! The files that arguments mean: a file is itself, a folder the eval logs in it, a pattern what it matches.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

use errorbar_log::eval::{EvalLog, FoundLogs, LogError, LogErrorKind, find_logs, is_manifest};
use errorbar_table::MemoryTables;
use glob::{MatchOptions, glob_with};
use jiff::Timestamp;
use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::text::counted;

/// The files, and what could not be read on the way to them.
#[derive(Debug, Default)]
pub struct InputFiles {
    /// In the order of the arguments; those of a folder or a pattern by their path.
    pub files: Vec<PathBuf>,
    /// Those that were given as files. The others are logs that a folder stands for.
    named: HashSet<PathBuf>,
    /// What there is to report of them.
    pub diagnostics: Diagnostics,
}

/// The number of skipped logs that are named.
const SKIPPED_NAMED: usize = 10;

/// Finds the files that paths mean.
///
/// A folder stands for the eval logs in it and in the folders below it, but for hidden ones and for those behind a
/// link; a `.json` file in there that is something else is skipped. Names of logs begin with the time of the run,
/// so the newest of a folder comes last. A handle (`@1`, `latest`) stands for the log that it means. A pattern (`*`,
/// `?`, `[…]`) that the shell has not expanded is expanded here. A file that does not exist stays, so that opening it
/// gives the error; a pattern without a match is an error. What sets of evaluations keep beside their logs is skipped in a
/// pattern as in a folder; it is an error if it is named.
pub fn expand(paths: &[PathBuf]) -> InputFiles {
    expand_with(paths, &MemoryTables::default())
}

/// The same, where paths may also be the names of tables in memory.
pub fn expand_with(paths: &[PathBuf], memory: &MemoryTables) -> InputFiles {
    let mut input = InputFiles::default();
    for path in paths {
        if memory.contains(path) {
            input.add_file(path);
            continue;
        }
        match pattern(path).filter(|_| !path.exists()) {
            None => match resolve(path) {
                Ok(path) if is_manifest(&path) => input.diagnostics.push(manifest(&path)),
                Ok(path) => input.add(&path),
                Err(diagnostics) => input.diagnostics.extend(diagnostics),
            },
            Some(pattern) => {
                let (skipped, matched): (Vec<PathBuf>, Vec<PathBuf>) =
                    matches(pattern).into_iter().partition(|path| is_manifest(path));
                if let (Some(only), true) = (skipped.first(), matched.is_empty()) {
                    input.diagnostics.push(manifest(only));
                } else if matched.is_empty() {
                    let hint = "check it; `*`, `?` and `[…]` are understood";
                    input.fail(path, "the pattern matches no file", hint);
                }
                matched.iter().for_each(|path| input.add(path));
            }
        }
    }
    input
}

/// The logs in a folder.
pub fn expand_folder(folder: &Path) -> InputFiles {
    let mut input = InputFiles::default();
    input.add(folder);
    input
}

impl InputFiles {
    /// Does the same with every file, several at a time. What fails is among the diagnostics, and so is what `act` adds to
    /// those that it gets. A log of a folder that cannot be used is skipped, unless nothing else is left.
    pub fn map<T: Send>(
        self,
        act: impl Fn(&Path, &mut Diagnostics) -> Result<T, Diagnostics> + Sync,
    ) -> (Vec<T>, Diagnostics) {
        let act = |path: &PathBuf| {
            let mut diagnostics = Diagnostics::default();
            (act(path, &mut diagnostics), diagnostics)
        };
        let results = self.files.par_iter().map(act).collect();
        self.combine(results)
    }

    /// The same with what came of each file, in their order, and what there is to report about it.
    pub fn combine<T>(self, results: Vec<(Result<T, Diagnostics>, Diagnostics)>) -> (Vec<T>, Diagnostics) {
        let InputFiles { files, named, mut diagnostics } = self;
        let (mut values, mut unusable) = (Vec::with_capacity(results.len()), Vec::new());
        for (path, (result, about)) in files.iter().zip(results) {
            match result {
                Err(problems) if !named.contains(path) && problems.are_of_a_log() => unusable.push(problems),
                result => {
                    diagnostics.extend(about);
                    values.extend(diagnostics.collect(result));
                }
            }
        }
        match values.is_empty() {
            true => diagnostics.extend(unusable.into_iter().flatten()),
            false => {
                let found = files.iter().filter(|path| !named.contains(*path)).count();
                diagnostics.extend(skipped(unusable, found));
            }
        }
        (values, diagnostics)
    }

    /// The same, where a log of a folder that cannot be used is an error too.
    #[must_use]
    pub fn all_named(mut self) -> Self {
        self.named.extend(self.files.iter().cloned());
        self
    }

    /// Adds the files of another argument.
    pub fn append(&mut self, other: InputFiles) {
        self.files.extend(other.files);
        self.named.extend(other.named);
        self.diagnostics.extend(other.diagnostics);
    }

    fn fail(&mut self, path: &Path, problem: impl Into<String>, hint: &str) {
        self.diagnostics.push(Diagnostic::error(problem.into()).about(path.display()).hint(hint));
    }

    fn add_file(&mut self, path: &Path) {
        self.files.push(path.to_owned());
        self.named.insert(path.to_owned());
    }

    fn add(&mut self, path: &Path) {
        if !path.is_dir() {
            return self.add_file(path);
        }
        let FoundLogs { mut logs, unreadable, covered_shards, .. } = find_logs(path);
        let is_readable = unreadable.is_empty();
        for (folder, error) in unreadable {
            self.fail(&folder, format!("cannot read the folder: {error}"), "check that you may read it");
        }
        if logs.is_empty() && is_readable {
            let hint = "give a folder with .eval or .json logs in it";
            self.fail(path, "no eval log is in this folder", hint);
        }
        if covered_shards > 0 {
            let shards = counted(covered_shards, "shard log");
            let text = format!("{shards} skipped: the merged log has their samples");
            self.diagnostics.push(Diagnostic::note(text).about(path.display()));
        }
        self.files.append(&mut logs);
    }
}

/// The warning that logs of folders were skipped.
fn skipped(unusable: Vec<Diagnostics>, found: usize) -> Option<Diagnostic> {
    let count = unusable.len();
    let first: Vec<Diagnostic> =
        unusable.into_iter().filter_map(|problems| problems.into_iter().next()).collect();
    let texts: Vec<String> = first.iter().map(|problem| problem.text.to_string()).collect();
    let mut lines: Vec<&str> = texts.iter().take(SKIPPED_NAMED).map(String::as_str).collect();
    let more = format!("… and {} more", count.saturating_sub(SKIPPED_NAMED));
    lines.extend((count > SKIPPED_NAMED).then_some(more.as_str()));
    let text = format!("skipped {count} of {}: {}", counted(found as u64, "log"), lines.join("\n"));
    let hint = first.first()?.hint.as_ref();
    let is_common = first.iter().all(|problem| problem.hint.as_ref() == hint);
    Some(Diagnostic::warning(text).hint_if(hint.filter(|_| is_common).cloned()))
}

/// The path as a pattern, if it is one.
fn pattern(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains(['*', '?', '[']))
}

/// What a pattern matches, by path: as in a shell, a name that begins with a dot only if the pattern has the dot.
fn matches(pattern: &str) -> Vec<PathBuf> {
    // With this option, the crate finds no hidden name even where the pattern has the dot.
    let has_dot = pattern.split('/').any(|part| part.starts_with('.') && part.contains(['*', '?', '[']));
    let options = MatchOptions { require_literal_leading_dot: !has_dot, ..MatchOptions::new() };
    glob_with(pattern, options).map(|found| found.filter_map(Result::ok).collect()).unwrap_or_default()
}

/// The error of a file that is beside logs and is none.
fn manifest(path: &Path) -> Diagnostic {
    LogError::from(LogErrorKind::Manifest).at(path).into()
}

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
    use super::*;
    use std::fs;
    use std::time::Duration;

    const LOG: &str = "{\"version\": 2, \"status\": \"success\",\n  \"eval\": { }}";

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("b.eval", ""),
            ("a.json", LOG),
            ("sub/deep/c.EVAL", ""),
            ("sub/data.json", "[1, 2]"),
            ("sub/config.json", "{\"eval\": 1}"),
            ("sub/evalplus.json", "{\"date\": \"2024\", \"eval\": {\"HumanEval/0\": []}}"),
            ("sub/notes.txt", LOG),
            (".hidden/d.eval", ""),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn names(folder: &Path, expanded: &InputFiles) -> Vec<String> {
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
        expanded.files.iter().map(name).collect()
    }

    #[test]
    fn a_folder_stands_for_the_logs_in_it() {
        let folder = folder();
        let expanded = expand(&[folder.path().to_owned()]);
        assert_eq!(names(folder.path(), &expanded), ["a.json", "b.eval", "sub/deep/c.EVAL"]);
        assert!(expanded.diagnostics.is_empty());
    }

    #[test]
    fn what_is_named_stays_as_it_is() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let expanded =
            expand(&[path("sub/data.json"), path("missing.eval"), path("no*such"), path("b.eval")]);
        assert_eq!(names(folder.path(), &expanded), ["sub/data.json", "missing.eval", "b.eval"]);
        let problems: Vec<String> =
            expanded.diagnostics.into_iter().map(|problem| problem.text.to_string()).collect();
        assert_eq!(problems, [format!("{}: the pattern matches no file", path("no*such").display())]);
    }

    #[test]
    fn patterns_are_filled_in_unless_a_file_has_that_name() {
        let folder = folder();
        let expanded = expand(&[folder.path().join("*.[ej]*")]);
        assert_eq!(names(folder.path(), &expanded), ["a.json", "b.eval"]);
        fs::write(folder.path().join("x[1].eval"), "").unwrap();
        fs::write(folder.path().join("x1.eval"), "").unwrap();
        let expanded = expand(&[folder.path().join("x[1].eval")]);
        assert_eq!(names(folder.path(), &expanded), ["x[1].eval"]);
        let expanded = expand(&[folder.path().join("s?b")]);
        assert_eq!(names(folder.path(), &expanded), ["sub/deep/c.EVAL"], "a folder that matches");
    }

    #[test]
    fn manifests_are_skipped_in_patterns_and_refused_by_name() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("logs.json"), format!("{{\"b.eval\": {LOG}}}")).unwrap();
        fs::write(path("eval-set.json"), "{\"eval_set_id\": \"abc\", \"tasks\": []}").unwrap();
        fs::write(path(".eval-set-id"), "abc").unwrap();
        let expanded = expand(&[path("*")]);
        assert_eq!(names(folder.path(), &expanded), ["a.json", "b.eval", "sub/deep/c.EVAL"]);
        assert!(expanded.diagnostics.is_empty());
        for named in ["logs.json", "eval-set.json", ".eval-set-id", "*s.json", ".eval*"] {
            let expanded = expand(&[path(named), path("b.eval")]);
            assert_eq!(names(folder.path(), &expanded), ["b.eval"], "{named}");
            let problems: Vec<Diagnostic> = expanded.diagnostics.into_iter().collect();
            let problem = problems.first().unwrap();
            assert!(
                problem.text.to_string().ends_with("this is a manifest of Inspect's eval_set, not a log"),
                "{named}"
            );
            assert!(problem.hint.is_some());
        }
    }

    #[test]
    fn a_folder_without_logs_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let expanded = expand(&[folder.path().to_owned()]);
        assert!(expanded.files.is_empty());
        assert_eq!(expanded.diagnostics.into_iter().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_do_not_go_round_in_circles() {
        let folder = folder();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("sub/again")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("b.eval"), folder.path().join("sub/b.eval")).unwrap();
        let expanded = expand(&[folder.path().to_owned()]);
        assert_eq!(names(folder.path(), &expanded), ["a.json", "b.eval", "sub/b.eval", "sub/deep/c.EVAL"]);
    }

    fn folder_of(names: &[&str]) -> tempfile::TempDir {
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
        let folder = folder_of(&LOGS);
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
        let folder = folder_of(&names);
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
        let folder = folder_of(&LOGS[..1]);
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
        let folder = folder_of(&["latest", "@1", LOGS[0]]);
        for name in ["latest", "@1"] {
            let path = folder.path().join(name);
            assert_eq!(resolve_in(&path, Path::new("elsewhere")).unwrap(), path);
            assert_eq!(resolve_in(Path::new(name), folder.path()).unwrap(), folder.path().join(LOGS[0]));
        }
    }

    #[test]
    fn what_there_is_not_is_an_error() {
        let (logs, empty) = (folder_of(&LOGS[..1]), folder_of(&[]));
        let missing = empty.path().join("missing");
        for (name, folder) in
            [("@2", logs.path()), ("@0", logs.path()), ("@1", empty.path()), ("latest", &missing)]
        {
            let problems: Vec<Diagnostic> =
                resolve_in(Path::new(name), folder).unwrap_err().into_iter().collect();
            assert_eq!(problems.len(), 1, "{name}");
            assert!(problems.iter().all(|problem| problem.hint.is_some()), "{name}");
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
