//! What an eval log in JSON begins with: folders are searched for logs, and a table that is one is refused.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::LazyLock;

use jiter::{Jiter, Peek};

/// How many bytes [`begins_as_log`] looks at.
pub const LOG_HEAD_BYTES: usize = 2048;

/// The keys of `eval` in logs, of which other tools are not known to have two.
const KEYS_OF_EVAL: [&str; 6] = ["config", "created", "dataset", "eval_id", "run_id", "task_id"];

/// Whether a JSON text has an object `eval`, after a `status` or a `version` or with the keys that logs have in it. Other
/// tools have a key `eval`, too.
pub fn begins_as_log(head: &[u8]) -> bool {
    is_object_of_log(&mut Jiter::new(head.get(..LOG_HEAD_BYTES).unwrap_or(head)))
}

/// Whether a JSON text is the header of a log under its name, or begins with the id of a set.
pub fn begins_as_manifest(head: &[u8]) -> bool {
    let mut json = Jiter::new(head.get(..LOG_HEAD_BYTES).unwrap_or(head));
    let Ok(Some(first)) = json.next_object() else { return false };
    first == "eval_set_id" || has_log_name(Path::new(first)) && is_object_of_log(&mut json)
}

/// Whether a file has the name of an eval log.
pub fn has_log_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("eval") || extension.eq_ignore_ascii_case("json")
    })
}

fn is_object_of_log(json: &mut Jiter<'_>) -> bool {
    let mut is_marked = false;
    let mut key = json.next_object().ok().flatten().map(str::to_owned);
    while let Some(name) = key {
        if name == "eval" {
            let is_object = json.peek().is_ok_and(|first| first == Peek::Object);
            // Where keys are sorted, those that mark a log come last.
            return is_object && (is_marked || is_eval_of_log(json));
        }
        is_marked |= name == "status" || name == "version";
        if json.next_skip().is_err() {
            return false;
        }
        key = json.next_key().ok().flatten().map(str::to_owned);
    }
    false
}

/// Whether an object begins with keys that `eval` has in logs.
fn is_eval_of_log(json: &mut Jiter<'_>) -> bool {
    let mut found = 0;
    let mut key = json.next_object().ok().flatten().map(str::to_owned);
    while let Some(name) = key {
        found += usize::from(KEYS_OF_EVAL.contains(&name.as_str()));
        if found == 2 {
            return true;
        }
        if json.next_skip().is_err() {
            return false;
        }
        key = json.next_key().ok().flatten().map(str::to_owned);
    }
    false
}

/// Whether a short JSON text ends too early, as that of a run that was killed.
pub fn is_cut_off(head: &[u8]) -> bool {
    head.len() < LOG_HEAD_BYTES && Jiter::new(head).with_allow_inf_nan().next_skip().is_err()
}

/// Whether a file is called as runs call their logs: by the time, the task and an id.
pub fn has_run_name(path: &Path) -> bool {
    const TIME: &[u8] = b"0000-00-00T00-00-00";
    let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { return false };
    let is_time = name.len() > TIME.len()
        && name.bytes().zip(TIME).all(|(found, digit)| match digit {
            b'0' => found.is_ascii_digit(),
            _ => found == *digit,
        });
    has_log_name(path) && is_time && name.split('_').count() > 2
}

// How much memory the machine has: that of a container, where one is limited.

/// The memory of this machine in bytes, or what a control group (version 1 or 2) leaves of it; none if it is not known,
/// as on systems other than Linux.
pub fn machine_memory() -> Option<u64> {
    static MEMORY: LazyLock<Option<u64>> = LazyLock::new(|| memory_below(Path::new("/")));
    *MEMORY
}

/// The same of a system whose files are below this folder.
fn memory_below(root: &Path) -> Option<u64> {
    let text = |path: &str| fs::read_to_string(root.join(path)).ok();
    let meminfo = text("proc/meminfo")?;
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let groups = text("proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let (folder, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            _ => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        };
        let is_memory = controllers.is_empty() || controllers.split(',').any(|name| name == "memory");
        // Within a container the path is that of the host, and only the top is there.
        let groups = Path::new(group.trim_start_matches('/')).ancestors().filter(move |_| is_memory);
        groups.filter_map(move |group| {
            let path = root.join(folder).join(group).join(file);
            fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()
        })
    });
    Some(limits.fold(total, u64::min))
}

// Files that people write by hand, which are small.

/// More than anybody writes by hand. What is parsed takes fifty times as much memory.
const MOST_BYTES: u64 = 4 << 20;

/// Reads a task file, a table of prices, a mapping of a table.
///
/// # Errors
/// A file that cannot be read, or has more than 4 MiB; a device may have no end.
pub fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let problem = format!("it has more than {} MiB; check that it is the right file", MOST_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

// Addresses in the place of paths.

/// What to do about an address where a path is wanted.
///
/// ```
/// let hint = errorbar_files::url_hint("https://example.org/log.eval".as_ref());
/// assert_eq!(hint, "addresses are not opened: download the file, and name the copy");
/// let hint = errorbar_files::url_hint("file:///data/log.eval".as_ref());
/// assert_eq!(hint, "addresses are not opened: name the file by its path, /data/log.eval");
/// ```
pub fn url_hint(address: &Path) -> String {
    let path =
        address.to_str().and_then(|text| text.strip_prefix("file://")).filter(|path| path.starts_with('/'));
    match path {
        Some(path) => format!("addresses are not opened: name the file by its path, {path}"),
        None => "addresses are not opened: download the file, and name the copy".to_owned(),
    }
}

/// Why a path could not be opened; that there is no file of an address says nothing.
pub fn open_error(path: &Path, error: io::Error) -> io::Error {
    match is_url(path) {
        true => io::Error::new(error.kind(), "this is an address, and not the path of a file"),
        false => error,
    }
}

/// Whether a path is an address, such as `https://…` or `s3://…`; one that begins with `www.` unless it is there: a copy of a
/// site has folders of such names.
///
/// ```
/// assert!(errorbar_files::is_url("s3://bucket/log.eval".as_ref()));
/// assert!(errorbar_files::is_url("www.example.org/log.eval".as_ref()));
/// assert!(!errorbar_files::is_url("www.example.org.csv".as_ref()));
/// assert!(!errorbar_files::is_url("data/a.csv".as_ref()));
/// ```
pub fn is_url(path: &Path) -> bool {
    let text = path.to_str();
    if text.is_some_and(|text| text.starts_with("www.") && text.contains('/')) {
        return !path.exists();
    }
    let scheme = text.and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_end_too_early() {
        for cut in ["", "\n", "{", r#"{"version": 2, "stat"#, r#"{"version": 2,"#] {
            assert!(is_cut_off(cut.as_bytes()), "{cut}");
        }
        for whole in ["{}", r#"{"accuracy": NaN}"#, "[1]\n"] {
            assert!(!is_cut_off(whole.as_bytes()), "{whole}");
        }
        assert!(!is_cut_off(&[b'['; LOG_HEAD_BYTES]), "what follows is not known");
    }

    #[test]
    fn names_of_runs() {
        let is = |name: &str| has_run_name(Path::new(name));
        assert!(is("logs/2026-11-19T03-57-33-00-00_tf-half_5x3sFdUTTR9gmYZ7PjYxWV.json"));
        assert!(is("2026-11-19T03-52-19+00-00_t_c7c48c7ab48c44859f79d635d4714390.eval"));
        for other in
            ["logs.json", "2026-11-19_t_1.json", "2026-11-19T03-57-33_t.json", "2026-11-19T03-57-33_t_1.csv"]
        {
            assert!(!is(other), "{other}");
        }
    }

    #[test]
    fn a_log_has_its_keys_at_the_top() {
        for log in [
            r#"{"version": 2, "status": "success", "eval": {"#,
            "\n { \"status\" : \"error\",\n\"eval\":\n{}}",
            r#"{"eval": {"config": {"epochs": 2}, "created": "2026-11-19", "dataset": {"name": "#,
        ] {
            assert!(begins_as_log(log.as_bytes()), "{log}");
        }
        for other in [
            "",
            "{}",
            "[1, 2]",
            r#"{"eval": {}}"#,
            r#"{"eval": {"config": {}, "model": "m", "task": "t"}}"#,
            r#"{"eval": ["config", "created"]}"#,
            r#"{"version": 2, "eval": 1}"#,
            r#"{"date": "2024", "eval": {"HumanEval/0": []}}"#,
            r#"{"2026_t_1.eval": {"version": 2, "status": "success", "eval": {"task": "t"}}}"#,
            r#"{"note": "\"status\":", "eval": {}}"#,
        ] {
            assert!(!begins_as_log(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_manifest_has_headers_by_log_or_the_id_of_a_set() {
        for manifest in [
            r#"{"2026_t_1.eval": {"version": 2, "status": "success", "eval": {"task": "t"}}}"#,
            "{\n\"sub/t.json\": {\"version\": 2, \"eval\": {",
            r#"{"eval_set_id": "abc", "tasks": []}"#,
        ] {
            assert!(begins_as_manifest(manifest.as_bytes()), "{manifest}");
        }
        for other in [
            "",
            "{}",
            "[]",
            r#"{"version": 2, "eval": {}}"#,
            r#"{"a.json": 1}"#,
            r#"{"q1": {"version": 1, "eval": {}}}"#,
        ] {
            assert!(!begins_as_manifest(other.as_bytes()), "{other}");
        }
    }
}

#[cfg(test)]
mod machine_tests {
    use super::*;

    /// The memory of a system with these files.
    fn memory(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        memory_below(root.path())
    }

    #[test]
    fn a_control_group_limits_the_memory() {
        let machine = ("proc/meminfo", "MemFree: 1 kB\nMemTotal:       8388608 kB\n");
        let (second, first) =
            (("proc/self/cgroup", "0::/a/b\n"), ("proc/self/cgroup", "4:cpu:/\n7:memory:/docker/x\n"));
        assert_eq!(memory(&[]), None);
        assert_eq!(memory(&[machine]), Some(8 << 30));
        assert_eq!(memory(&[machine, second, ("sys/fs/cgroup/a/b/memory.max", "max\n")]), Some(8 << 30));
        let above = ("sys/fs/cgroup/a/memory.max", "2147483648\n");
        assert_eq!(memory(&[machine, second, above]), Some(2 << 30));
        assert_eq!(memory(&[machine, second, ("sys/fs/cgroup/memory.max", "1073741824\n")]), Some(1 << 30));
        let old = "sys/fs/cgroup/memory/memory.limit_in_bytes";
        assert_eq!(memory(&[machine, first, (old, "3221225472\n")]), Some(3 << 30));
        assert_eq!(memory(&[machine, first, (old, "9223372036854771712\n")]), Some(8 << 30), "none");
    }
}

#[cfg(test)]
mod small_file_tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (bytes, error) in
            [(0, None), (MOST_BYTES, None), (MOST_BYTES + 1, Some(io::ErrorKind::FileTooLarge))]
        {
            file.as_file().set_len(bytes).unwrap();
            assert_eq!(read_small(file.path()).err().map(|error| error.kind()), error, "{bytes}");
        }
        let message = read_small(file.path()).unwrap_err().to_string();
        assert_eq!(message, "it has more than 4 MiB; check that it is the right file");
    }
}
