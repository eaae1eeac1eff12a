//! Hints for errors of tasks and runs.

use errorbar_eval::Error;

use super::{core, log};

/// What to do about it, unless the error itself names it.
pub(crate) fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Core(error) => return core::hint(error),
        Error::Log(error) => return log::hint(error),
        Error::Role { error, .. } => match &**error {
            Error::MissingKey { .. } => {
                "--role-api-key-file names a file that holds the key; for another server, --role-base-url says where it is"
            }
            Error::UnwantedKey { .. } => "leave out --role-api-key-file",
            error => return hint(error),
        },
        Error::NoModel => {
            "name one: --model openai/NAME for a server, --model replay/FILE for recorded outputs, --model mock/TEXT to \
             try it"
        }
        Error::MissingKey { .. } => {
            "--api-key-file names a file that holds the key; for another server, --base-url sets its address"
        }
        Error::UnwantedKey { .. } => "leave out --api-key-file",
        Error::UnknownRole { role, .. } => {
            return Some(format!("give a model the role: --model-role {role}=openai/NAME"));
        }
        Error::UnknownPrice { .. } => "name a file that has the prices: --prices prices.toml",
        Error::ChangedTask { .. } => "restore the task, or run it again without --resume",
        Error::CacheFolder { .. } => "choose another folder with --cache-dir",
        _ => return None,
    };
    Some(hint.to_owned())
}
