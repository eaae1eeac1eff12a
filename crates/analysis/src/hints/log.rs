//! Hints for errors and warnings of eval logs.

use std::io;

use errorbar_files::{is_url, url_hint};
use errorbar_log::eval::{LogError, LogErrorKind as Kind, LogWarning};

use super::table::more_memory;
use crate::opt::Opt;
use crate::text;
use crate::text::Text;

/// What to do about it.
pub fn hint(error: &LogError) -> Option<Text> {
    let trusted = |option: Text| text!("check where the log comes from; if you trust it, give {}", option);
    Some(match error.kind() {
        Kind::TooLarge { .. } => trusted(Opt::MaxDecompressed.into()),
        Kind::TooDense { .. } => trusted(Opt::MaxRatio.into()),
        Kind::TooLargeRecord { .. } => trusted(Opt::MaxRecord.into()),
        Kind::TooMuchMemory { limit } => trusted(more_memory(*limit)),
        Kind::Damaged(_) | Kind::Json { .. } if !is_of_sample(error) => {
            "get an undamaged copy of the log".into()
        }
        Kind::Open(_) if error.path().is_some_and(is_url) => url_hint(error.path()?).into(),
        Kind::LockedElsewhere { lock, .. } => {
            format!("wait for it; if that process is gone, delete {}", lock.display()).into()
        }
        kind => fixed_hint(kind)?,
    })
}

/// Whether it is one sample that cannot be read.
fn is_of_sample(error: &LogError) -> bool {
    error.sample().is_some() || error.member().is_some_and(|member| member.starts_with("samples"))
}

fn fixed_hint(kind: &Kind) -> Option<Text> {
    let words = match kind {
        Kind::Open(error) if error.kind() == io::ErrorKind::NotFound => "check the path",
        Kind::Create(error) if error.kind() == io::ErrorKind::NotFound => "make the folder first",
        Kind::Create(_) => "choose a location that you may write to",
        Kind::Unfinished => {
            "resume it with `eval TASK --resume LOG`, or make a whole copy with `log convert`"
        }
        Kind::Itself => "give another name, or put results in place with `score --write`",
        Kind::Replaced => "try again",
        Kind::Gone | Kind::Displaced => {
            "see what removes or replaces files there, and run the task again; --log-dir names another folder, and with \
             --cache no answer is paid for twice"
        }
        Kind::Folder(_) => "choose a folder that you may write to",
        Kind::Open(_) | Kind::Read(_) => "check that the path is a file that you may read",
        Kind::Exists => "choose another name, or resume the run that wrote it",
        Kind::Locked | Kind::LockTimeout { .. } => "wait for it, or stop it first",
        Kind::Write(error) if error.kind() == io::ErrorKind::StorageFull => {
            "free some space: what was recorded before is safe"
        }
        Kind::Write(_) => "check the disk: what was recorded before is safe",
        Kind::Compress(_) => "free some memory",
        Kind::TooLong { .. } => "shorten it",
        Kind::NotALog => "give a file that ends in .eval and was written as an eval log",
        Kind::Manifest => "give the logs, or the folder with them: what else is in it is skipped",
        Kind::Empty => "get a whole copy of the log, or delete the file",
        Kind::NoStart => "check that it is an eval log; if it is, its run was stopped before it began",
        Kind::Damaged(_) | Kind::Json { .. } => {
            "get an undamaged copy; `score --skip-bad-samples` skips samples that cannot be read, and `eval TASK --resume \
             LOG --skip-bad-samples` runs them again"
        }
        Kind::Method(_) => "rewrite the log with stored, deflate or zstd entries",
        Kind::TooMany { .. } => "check which program wrote the log; no evaluation has that number of them",
        Kind::OutsideName | Kind::Overlap => "do not trust this file; get the log from where it was written",
        Kind::Version { .. } => "get a newer errorbar",
        Kind::Field { .. } | Kind::Missing(_) | Kind::Part { .. } => {
            "check which program wrote the log, and whether it was edited"
        }
        Kind::NoSample { .. } => "`errorbar log dump LOG --samples` shows them",
        Kind::NoEpoch { .. } | Kind::WhichEpoch { .. } => {
            return Some(text!("name the epoch with {}", Opt::Epoch.set("N")));
        }
        Kind::NoScore { .. } => {
            return Some(text!(
                "name one of the scorers that it has with {}, or add a score with --add",
                Opt::Scorer
            ));
        }
        Kind::HasScore { .. } => "leave out --add to change it",
        Kind::NoChange => "give --value, --answer, --explanation or --metadata",
        Kind::NoValue => "give --value",
        Kind::ReservedText { .. } => "give another string",
        Kind::UnknownPart => "use the log as it is, or get a newer errorbar",
        Kind::NoDirectory => {
            return Some(text!(
                "get a whole copy, or make one of what is left with `log convert`, and check without {}",
                Opt::Strict
            ));
        }
        Kind::Core(_) => {
            return Some(text!("name what to compute with {} and {}", Opt::Metric, Opt::Reducer));
        }
        _ => return None,
    };
    Some(words.into())
}

/// What to do about what a log records and cannot be computed again.
pub fn warning_hint(warning: &LogWarning) -> Option<Text> {
    match warning {
        LogWarning::Unregistered { nearest: Some(nearest), .. } => {
            Some(text!("the nearest is `{}`: name metrics with {}", nearest, Opt::Metric))
        }
        LogWarning::Unregistered { nearest: None, .. } => {
            Some(text!("register it, or name metrics with {}", Opt::Metric))
        }
        LogWarning::ConversionByName { .. } => {
            Some(text!("name the metric with {} to choose another conversion", Opt::Metric))
        }
        LogWarning::ReducerConversion { reducer, .. } => {
            let spec = format!("{reducer}(value_to_float=value_to_float(correct=…, incorrect=…))");
            Some(text!("name the conversion: {}", Opt::Reducer.set(spec)))
        }
        _ => None,
    }
}
