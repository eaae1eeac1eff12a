//! Errors of the libraries as diagnostics, with what to do about them.
//!
//! Libraries report what is wrong, in typed errors that know nothing of options. What to do about it names options, as
//! data, so it is here, a file per library. Each function matches on the kind of the error.

#[cfg(feature = "eval")]
pub mod eval;
pub(crate) mod table;

use std::io;

use errorbar_core::Error;
use errorbar_core::spec::{Arg, Spec, nearest};
use errorbar_files::{is_url, url_hint};
use errorbar_inference::{ComparisonError, ComparisonErrorKind as Problem, NoCoverage, PowerError};
use errorbar_log::eval::{LogError, LogErrorKind as Kind, LogWarning};
use errorbar_table::{TableError, TableErrorKind};

use crate::diagnostic::{Diagnostic, DiagnosticKind, Place};
use crate::hints::table::more_memory;
use crate::text;
use crate::text::{Opt, Text};

impl From<errorbar_core::Error> for Diagnostic {
    fn from(error: errorbar_core::Error) -> Self {
        Diagnostic::error(error.to_string()).hint_if(core_hint(&error))
    }
}

impl From<ComparisonError> for Diagnostic {
    fn from(error: ComparisonError) -> Self {
        Diagnostic::error(error.to_string()).hint_if(comparison_hint(&error))
    }
}

impl From<errorbar_inference::Error> for Diagnostic {
    fn from(error: errorbar_inference::Error) -> Self {
        match error {
            errorbar_inference::Error::Core(error) => error.into(),
            errorbar_inference::Error::Comparison(error) => error.into(),
            error => Diagnostic::error(error.to_string()),
        }
    }
}

impl From<PowerError> for Diagnostic {
    fn from(error: PowerError) -> Self {
        Diagnostic::error(error.to_string()).hint_if(power_hint(&error))
    }
}

impl From<LogError> for Diagnostic {
    fn from(error: LogError) -> Self {
        let place = error.path().map(|path| Place {
            path: path.display().to_string(),
            location: None,
            sample: error.sample().map(str::to_owned),
        });
        let diagnostic = Diagnostic::error(error.to_string()).hint_if(log_hint(&error));
        let diagnostic = diagnostic.of_kind(DiagnosticKind::Log);
        match place {
            Some(place) => diagnostic.at(place),
            None => diagnostic,
        }
    }
}

impl From<TableError> for Diagnostic {
    fn from(error: TableError) -> Self {
        let (location, sample) = match error.kind() {
            TableErrorKind::NoScores { found, .. } => {
                found.first().map(|first| (first.location, first.sample.clone())).unwrap_or_default()
            }
            _ => (error.location(), error.sample().map(str::to_owned)),
        };
        let place = Place { path: error.path().display().to_string(), location, sample };
        Diagnostic::error(error.problem()).hint(table::hint(&error)).of_kind(DiagnosticKind::Table).at(place)
    }
}

/// What to do about it, unless the error itself names it.
pub(crate) fn core_hint(error: &Error) -> Option<Text> {
    match error {
        Error::MissingKey { key, known, .. } if !known.contains(key) => {
            let nearest = nearest(key, known.iter().map(String::as_str));
            nearest.map(|nearest| format!("did you mean `{nearest}`?").into())
        }
        Error::MissingKey { key, .. } => Some(format!("give every sample the key `{key}`").into()),
        Error::MissingConfidence { metric, key, known, .. } if !known.contains(key) => {
            Some(confidence_hint(metric, key, known).into())
        }
        Error::MissingConfidence { key, .. } => Some(format!("give every sample the key `{key}`").into()),
        Error::TooManyDraws { spec, .. } => Some(draws_hint(spec)),
        Error::ClusterId { key, .. } => Some(format!("fill in `{key}` for every sample").into()),
        _ => None,
    }
}

/// What a log records is limited, and what is named on the command line is not.
fn draws_hint(spec: &Spec) -> Text {
    let mut spec = spec.clone();
    spec.kwargs.insert("num_samples".to_owned(), Arg::Int(10_000));
    text!("name the figures you want: {}", Opt::Metric.set(spec.to_string()))
}

/// Which key the confidence is under: the one whose name is nearest, or that has the usual name. No other is any likelier
/// than the rest.
fn confidence_hint(metric: &str, key: &str, known: &[String]) -> String {
    const USUAL: &str = "confidence";
    let usual = || known.iter().map(String::as_str).find(|known| *known == USUAL);
    let call = |key: &str| format!("{metric}(confidence=\"{key}\")");
    match nearest(key, known.iter().map(String::as_str)).or_else(usual) {
        Some(meant) => format!("did you mean {}?", call(meant)),
        None if known.is_empty() => format!("name the key of the confidence: {}", call("KEY")),
        None => format!("name the key of the confidence ({}): {}", known.join(", "), call("KEY")),
    }
}

/// What to do about scores that cannot show how well their intervals cover.
pub(crate) fn coverage_hint(reason: &NoCoverage) -> Option<Text> {
    match reason {
        NoCoverage::TwoWays => Some(text!("give {Cluster} once")),
        NoCoverage::TooFewClusters(_) => Some(text!("name a key with more values, or omit {Cluster}")),
        _ => None,
    }
}

/// Whether two ids are numbers, of which one is written as an integer and one is not.
fn is_same_number(a: &str, b: &str) -> bool {
    let is_integer = |id: &str| id.trim().parse::<i64>().is_ok();
    let is_whole = |id: &str| id.trim().parse::<f64>().is_ok_and(|number| number.fract() == 0.0);
    is_whole(a) && is_whole(b) && is_integer(a) != is_integer(b)
}

/// What to do about sides that cannot be compared.
fn comparison_hint(error: &ComparisonError) -> Option<Text> {
    Some(match &error.kind {
        Problem::OneSide => text!(
            "give a second log or table; two scorers of one log are compared with {ComparedScorers=A B}"
        ),
        Problem::NoCommonSample([base, other]) if is_same_number(base, other) => {
            "the ids differ only in how numbers are written, such as 1 and 1.0: write them alike in both files".into()
        }
        Problem::NoCommonSample(_) => text!(
            "give runs of the same samples; {IdColumn} names the column of a table that identifies them; if they are \
             different samples on purpose, give {Unpaired}"
        ),
        Problem::TooFewPairs => text!(
            "score more samples on both sides; {Unpaired} compares all that they have, without matching them"
        ),
        Problem::NoCommonScorer => text!(
            "score one log as the other is: `errorbar score LOG --with SCORER -o NEW`; of tables, name the column with \
             {ScoreColumn}"
        ),
        Problem::NoCommonMetric { is_recorded: true, .. } => {
            "the figures of a log without samples stay as they are recorded: score the other log by the same metrics and \
             reducers"
                .into()
        }
        Problem::NoCommonMetric { is_of_reducers: true, .. } => {
            text!("reduce the epochs of both alike: {Reducer=mean}")
        }
        Problem::NoCommonMetric { .. } => text!("name the metrics to compare with {Metric}"),
        Problem::TooManySides => text!("give fewer sides, or compare each with the first: omit {AllPairs}"),
        Problem::OtherKey(key) => text!(
            "give samples the same `{}` on both sides, or leave the key to one of them; {Unpaired} does not match \
             samples",
            key
        ),
        Problem::UnequalEpochs => {
            text!("name a reducer whose value does not depend on the number of epochs: {Reducer=mean}")
        }
        _ => return None,
    })
}

/// The same for a figure of scores that are clustered by these keys.
pub(crate) fn figure_hint(error: &Error, cluster: &[String]) -> Option<Text> {
    cluster_hint(error, cluster).or_else(|| core_hint(error))
}

/// The same for an error of the plan's own clusters.
pub(crate) fn cluster_hint(error: &Error, cluster: &[String]) -> Option<Text> {
    let Error::MissingKey { key, known, .. } = error else { return None };
    if !cluster.contains(key) || known.contains(key) {
        return None;
    }
    Some(match nearest(key, known.iter().map(String::as_str)) {
        Some(nearest) => text!("did you mean {}?", Opt::Cluster.set(nearest)),
        // Of a run, only the keys that are computed with are known.
        None if known.is_empty() => {
            text!("give every sample the key `{}`, or name another one with {Cluster}", key)
        }
        None => text!("name another key with {Cluster}: {}", known.join(", ")),
    })
}

/// What to do about it, unless the error itself names it.
fn power_hint(error: &PowerError) -> Option<Text> {
    let hint = match error {
        PowerError::Alpha(_) => text!("{Alpha} is the chance of a false alarm, such as 0.05"),
        PowerError::Power(_) => text!("{Power} is the chance to detect the difference, such as 0.8"),
        PowerError::PowerWithinAlpha { .. } => {
            text!("give a higher {Power}, such as 0.8, or a lower {Alpha}")
        }
        PowerError::Difference(_) => text!("give the smallest {Difference} that matters to you"),
        PowerError::DifferenceOutside { .. } => text!("give a smaller {Difference}, or other shares"),
        PowerError::Width(_) => {
            text!("give the {Width} from the lower to the upper end of the interval, such as 0.04")
        }
        PowerError::NoSpread => text!("give the {Sd} of the differences, such as 0.4"),
        PowerError::DesignEffect(_) => "1 is for independent samples; clusters mostly have more".into(),
        PowerError::NoEpochs => text!("give {Epochs=1} or more"),
        PowerError::TooManySamples { .. } => text!("give a larger {Difference} or {Width}"),
        PowerError::NotDetected { .. } => text!("give more {Samples} or a lower {Power}"),
        PowerError::NoComparison => {
            text!("give {Width=W}, or {Correlation=R} or {Unpaired} for a difference")
        }
        PowerError::EpochsOfShares(_) => {
            text!("omit {Epochs}, or give {Sd} and {SdWithin} in place of shares")
        }
        PowerError::Method { .. } => text!("omit {Method} for the one that fits"),
        PowerError::NoCommonSample => text!("give runs of the same samples, or {Unpaired}"),
        PowerError::NestedScore { .. } => {
            text!("name scores of one number with {Scorer} or {ScoreColumn}")
        }
        PowerError::FlipShares { .. } | PowerError::Share { .. } => {
            Text::from("give shares of all samples, such as 0.06")
        }
        PowerError::Scores(error) => return core_hint(error),
        _ => return None,
    };
    Some(hint)
}

/// What to do about it.
pub fn log_hint(error: &LogError) -> Option<Text> {
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
        Kind::Itself => return Some(text!("give another name; `score` with {Write} puts results in place")),
        Kind::Replaced => "try again",
        Kind::Gone | Kind::Displaced => {
            return Some(text!(
                "see what removes or replaces files there, and run the task again; {LogDir} names another folder, \
                 and with {Cache} no answer is paid for twice"
            ));
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
            return Some(text!(
                "get an undamaged copy; `score` with {SkipBadSamples} skips samples that cannot be read, and `errorbar eval TASK \
                 --resume LOG --skip-bad-samples` runs them again"
            ));
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
            return Some(text!("name the epoch with {Epoch=N}"));
        }
        Kind::NoScore { .. } => {
            return Some(text!(
                "name one of the scorers that it has with {Scorer}, or add a score with {Add}"
            ));
        }
        Kind::HasScore { .. } => return Some(text!("leave out {Add} to change it")),
        Kind::NoChange => return Some(text!("give {Value}, {Answer}, {Explanation} or {Metadata}")),
        Kind::NoValue => return Some(text!("give {Value}")),
        Kind::ReservedText { .. } => "give another string",
        Kind::UnknownPart => "use the log as it is, or get a newer errorbar",
        Kind::NoDirectory => {
            return Some(text!(
                "get a whole copy, or make one of what is left with `log convert`, and check without \
                 {Strict}"
            ));
        }
        Kind::Core(_) => {
            return Some(text!("name what to compute with {Metric} and {Reducer}"));
        }
        _ => return None,
    };
    Some(words.into())
}

/// What to do about what a log records and cannot be computed again.
pub fn warning_hint(warning: &LogWarning) -> Option<Text> {
    match warning {
        LogWarning::Unregistered { nearest: Some(nearest), .. } => {
            Some(text!("the nearest is `{}`: name metrics with {Metric}", nearest))
        }
        LogWarning::Unregistered { nearest: None, .. } => {
            Some(text!("register it, or name metrics with {Metric}"))
        }
        LogWarning::ConversionByName { .. } => {
            Some(text!("name the metric with {Metric} to choose another conversion"))
        }
        LogWarning::ReducerConversion { reducer, .. } => {
            let spec = format!("{reducer}(value_to_float=value_to_float(correct=…, incorrect=…))");
            Some(text!("name the conversion: {}", Opt::Reducer.set(spec)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use errorbar_core::Error;

    use super::{confidence_hint, core_hint};

    /// "Lower it" cannot be followed in a log of someone else.
    #[test]
    fn too_many_draws_are_named_on_the_command_line() {
        let draws_hint = |spec: &str| {
            let spec = Box::new(spec.parse().unwrap());
            core_hint(&Error::TooManyDraws { spec, draws: 10_000_000_000, left: 2_000_000_000 })
                .unwrap()
                .to_string()
        };
        assert_eq!(
            draws_hint("bootstrap_stderr(num_samples=100000000)"),
            "name the figures you want: --metric 'bootstrap_stderr(num_samples=10000)'"
        );
        assert_eq!(
            draws_hint("bootstrap(metric=median())"),
            "name the figures you want: --metric 'bootstrap(metric=median(), num_samples=10000)'"
        );
    }

    /// It named whichever key came first.
    #[test]
    fn the_key_of_a_confidence() {
        let hint = |key: &str, known: &[&str]| {
            let known: Vec<String> = known.iter().map(|key| (*key).to_owned()).collect();
            confidence_hint("brier", key, &known)
        };
        let meant = "did you mean brier(confidence=\"confidence\")?";
        assert_eq!(hint("conf", &["category", "confidence"]), meant);
        assert_eq!(hint("p", &["category", "confidence"]), meant);
        assert_eq!(hint("sur", &["confidence", "sure"]), "did you mean brier(confidence=\"sure\")?");
        let list = "name the key of the confidence (sure, topic): brier(confidence=\"KEY\")";
        assert_eq!(hint("confidence", &["sure", "topic"]), list);
        assert_eq!(hint("confidence", &[]), "name the key of the confidence: brier(confidence=\"KEY\")");
    }
}
