//! The environment of a program: a short list of our variables, and those that the task names.

use std::env;
use std::ffi::OsString;

/// What a program needs to be found, to start, and to read and write text. Secrets are in none of these.
const LISTED: [&str; 11] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    // A Python that was started by another name than that of its environment finds its packages by these.
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// Without these no program starts on Windows.
#[cfg(windows)]
const OF_SYSTEM: [&str; 7] =
    ["SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE"];
#[cfg(not(windows))]
const OF_SYSTEM: [&str; 0] = [];

/// Python would hold its answers back, and read and write other encodings than UTF-8 on some systems.
const FOR_PYTHON: [&str; 2] = ["PYTHONUNBUFFERED", "PYTHONUTF8"];

/// The variables of a program, of which these are named by its task.
pub(super) fn variables(named: &[String]) -> impl Iterator<Item = (OsString, OsString)> {
    let for_python = FOR_PYTHON.iter().map(|name| (OsString::from(name), OsString::from("1")));
    for_python.chain(env::vars_os().filter(|(name, _)| is_passed(&name.to_string_lossy(), named)))
}

fn is_passed(name: &str, named: &[String]) -> bool {
    let listed = || LISTED.iter().chain(&OF_SYSTEM).chain(&FOR_PYTHON);
    let is_same = |other: &str| match cfg!(windows) {
        true => other.eq_ignore_ascii_case(name),
        false => other == name,
    };
    name.starts_with("LC_")
        || listed().any(|listed| is_same(listed))
        || named.iter().any(|named| is_same(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_passed_by_name_alone() {
        for name in ["PATH", "HOME", "LC_ALL", "LC_TIME", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONUTF8"] {
            assert!(is_passed(name, &[]), "{name}");
        }
        for name in ["OPENAI_API_KEY", "DB_PASS", "SSHPASS", "MY_CREDS", "JWT", "LD_PRELOAD", "path", "LC"] {
            assert!(!is_passed(name, &[]), "{name}");
            assert!(is_passed(name, &[name.to_owned()]), "{name}");
        }
    }
}
