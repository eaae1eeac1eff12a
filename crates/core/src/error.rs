//! What can go wrong, in words that name the sample, the key and the way out.

use std::fmt;

use crate::spec::{Spec, SpecError};

/// The result of anything in this crate that may fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a plan could not be built, or a score could not be turned into a number.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A spec that cannot be read.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A name that nothing is registered under.
    #[error("unknown {kind} `{name}`{}", suggestion(nearest.as_deref()))]
    UnknownName {
        /// `metric`, `reducer` or `conversion`.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// The registered name closest to it.
        nearest: Option<String>,
    },
    /// A name that is registered already.
    #[error(
        "the {kind} `{name}` is registered already; give the new one another name, or declare that it replaces the old one"
    )]
    NameTaken {
        /// `metric`, `reducer` or `conversion`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A name of the form `module:function` that cannot be imported.
    #[error("`{name}` cannot be imported: {problem}")]
    Import {
        /// The name.
        name: String,
        /// Why.
        problem: String,
    },
    /// A file that an argument names outside of the folder that it must be in.
    #[error("{} is outside of the folder of the task file", .0.display())]
    OutsideFolder(std::path::PathBuf),
    /// An argument of the wrong type or outside its range.
    #[error("{target}: argument `{argument}` {problem}")]
    Argument {
        /// The metric or reducer.
        target: String,
        /// The argument's name.
        argument: String,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// A random figure that draws more than a plan allows.
    #[error("{}: needs {} random draws; {} are left", spec.name, thousands(*draws), thousands(*left))]
    TooManyDraws {
        /// The metric.
        spec: Box<Spec>,
        /// The values that it would draw, or as many as take as long.
        draws: u64,
        /// The values that may still be drawn.
        left: u64,
    },
    /// A sample occurs twice in one epoch.
    #[error(
        "sample {sample:?} occurs twice in epoch {epoch}; number the epochs, or give the samples different ids"
    )]
    DuplicateEpoch {
        /// The sample's id.
        sample: String,
        /// The epoch.
        epoch: u32,
    },
    /// Two samples of one epoch have ids that are the same as strings.
    #[error(
        "the integer {sample} and the string {sample:?} are both ids in epoch {epoch}, and samples are matched by the \
         string; give the samples different ids"
    )]
    MixedIds {
        /// The id, as a string.
        sample: String,
        /// The epoch.
        epoch: u32,
    },
    /// A sample lacks a metadata key that a metric needs.
    #[error(
        "sample {sample:?} has no metadata key `{key}`, which every sample needs for {metric}{}",
        known_keys(known)
    )]
    MissingKey {
        /// The metric.
        metric: String,
        /// The metadata key.
        key: String,
        /// The sample's id.
        sample: String,
        /// Keys that samples do have.
        known: Vec<String>,
    },
    /// A sample without a confidence.
    #[error(
        "{metric}: sample {sample:?} has no confidence: neither its score nor the sample has a value under the metadata key `{key}`{}",
        known_keys(known)
    )]
    MissingConfidence {
        /// The metric.
        metric: String,
        /// The metadata key.
        key: String,
        /// The sample's id.
        sample: String,
        /// Keys that score and samples do have.
        known: Vec<String>,
    },
    /// A cluster id that is null, not a number, a list or a map.
    #[error(
        "sample {sample:?}: the cluster id in metadata key `{key}` is {found}; for {metric} it must be a string, a number or a boolean"
    )]
    ClusterId {
        /// The metric.
        metric: String,
        /// The metadata key.
        key: String,
        /// The sample's id.
        sample: String,
        /// What is there instead.
        found: String,
    },
    /// A name that is no rater.
    #[error(
        "`{name}` is no scorer, no field of map-valued scores and no metadata key{}{}",
        suggestion(nearest.as_deref()), known_raters(scorers, fields, keys)
    )]
    UnknownRater {
        /// The name.
        name: String,
        /// The name closest to it.
        nearest: Option<String>,
        /// The scorers that there are.
        scorers: Vec<String>,
        /// The fields of the scores.
        fields: Vec<String>,
        /// The metadata keys that were read.
        keys: Vec<String>,
    },
    /// Two groups get one name, or one is called like the aggregate of all.
    #[error("{0}")]
    SharedGroupName(Box<str>),
    /// A reducer requires more epochs than there are.
    #[error(
        "{reducer}: k = {k} is more than the {epochs} epoch{} of the run; lower k or run more epochs",
        if *epochs == 1 { "" } else { "s" }
    )]
    TooFewEpochs {
        /// The reducer.
        reducer: String,
        /// The number of epochs that it requires.
        k: u64,
        /// How many there are.
        epochs: u32,
    },
    /// Results without an estimate of this metric.
    #[error(
        "no estimate of `{metric}`; there are estimates of: {}{}", known.join(", "), suggestion(nearest.as_deref())
    )]
    UnknownMetric {
        /// The requested metric.
        metric: String,
        /// The metric closest to it.
        nearest: Option<String>,
        /// The metrics that there are.
        known: Vec<String>,
    },
    /// Results with several estimates of this metric.
    #[error("there are {} estimates of `{metric}`; name one of: {}", candidates.len(), candidates.join(", "))]
    AmbiguousMetric {
        /// The requested metric.
        metric: String,
        /// The full names of those that it may be.
        candidates: Vec<String>,
    },
    /// A computation met a number that it cannot use.
    #[error("{metric}: {problem}")]
    Undefined {
        /// The metric.
        metric: String,
        /// What happened, and for which sample.
        problem: String,
    },
    /// An error of a metric within one of its groups.
    #[error("{error} (in the group {group:?})")]
    InGroup {
        /// The group.
        group: String,
        /// What went wrong there.
        error: Box<Error>,
    },
    /// An error of a custom metric, reducer or conversion.
    #[error("{0}")]
    Custom(String),
}

impl Error {
    /// What a metric or a reducer cannot be computed for.
    pub(crate) fn undefined(metric: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Undefined { metric: metric.into(), problem: problem.into() }
    }

    /// A score of a shape that a metric or a reducer does not take; scores that are reduced by hand belong to no known sample.
    pub(crate) fn shape(
        metric: impl Into<String>,
        sample: &str,
        found: impl fmt::Display,
        wanted: impl fmt::Display,
    ) -> Self {
        Error::undefined(metric, format!("the score{} is {found}; {wanted}", of_sample(sample)))
    }

    /// The epochs of a sample differ in shape.
    pub(crate) fn epoch_shapes(reducer: &str, sample: &str, difference: &str) -> Self {
        let advice = "give each epoch the same keys or length, or leave it unscored (NaN)";
        let sample = of_sample(sample);
        Error::undefined(reducer, format!("the epochs{sample} differ in shape: {difference}; {advice}"))
    }

    /// An infinite score.
    pub(crate) fn infinite(metric: &str, sample: &str) -> Self {
        let advice = "correct it, or leave the sample unscored (NaN)";
        Error::undefined(metric, format!("the score of sample {sample:?} is infinite; {advice}"))
    }

    /// A rating that a metric cannot use: what it is, what is needed, and the way out.
    pub(crate) fn rating(rater: &str, sample: &str, found: impl fmt::Display, wanted: &str) -> Self {
        Error::Custom(format!("the rating of sample {sample:?} by `{rater}` is {found}; {wanted}"))
    }

    /// The same error, with the group it occurred in.
    pub(crate) fn in_group(self, group: &str) -> Self {
        Error::InGroup { group: group.to_owned(), error: Box::new(self) }
    }

    /// Whether it is about the cluster of a sample.
    pub fn is_about_clusters(&self) -> bool {
        matches!(self.root(), Error::MissingKey { .. } | Error::ClusterId { .. })
    }

    /// The error itself, whatever it occurred in.
    pub fn root(&self) -> &Error {
        match self {
            Error::InGroup { error, .. } => error.root(),
            error => error,
        }
    }

    /// A custom error, for custom metrics and reducers.
    pub fn custom(message: impl Into<String>) -> Self {
        Error::Custom(message.into())
    }
}

/// Scores that are reduced by hand belong to no known sample.
fn of_sample(sample: &str) -> String {
    if sample.is_empty() { String::new() } else { format!(" of sample {sample:?}") }
}

/// `2,000,000,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
}

fn known_raters(scorers: &[String], fields: &[String], keys: &[String]) -> String {
    let known = [("scorers", scorers), ("fields", fields), ("metadata keys", keys)];
    let known = known.iter().filter(|(_, names)| !names.is_empty());
    known.map(|(what, names)| format!("; {what}: {}", names.join(", "))).collect()
}

fn known_keys(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; keys found: {}", known.join(", ")) }
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Error::Custom(message)
    }
}

impl From<&str> for Error {
    fn from(message: &str) -> Self {
        Error::Custom(message.to_owned())
    }
}
