//! The author of a change, if none is named: the same as in the viewer of Inspect.

use std::env;
use std::process::{Command, Stdio};

/// The part of git's `user.email` before the at sign, else its `user.name`, else the name of the login.
pub(super) fn default_author() -> Option<String> {
    let email = git_config("user.email");
    let handle = email.and_then(|email| Some(email.split_once('@')?.0.trim().to_owned()));
    let handle = handle.filter(|handle| !handle.is_empty());
    handle.or_else(|| git_config("user.name")).or_else(login)
}

fn git_config(key: &str) -> Option<String> {
    let git = Command::new("git").args(["config", "--get", key]).stdin(Stdio::null()).output().ok()?;
    let value = String::from_utf8(git.stdout).ok()?.trim().to_owned();
    (git.status.success() && !value.is_empty()).then_some(value)
}

fn login() -> Option<String> {
    let named = |name: &&str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    ["LOGNAME", "USER", "LNAME", "USERNAME"].iter().find_map(named)
}
