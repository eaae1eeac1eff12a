//! What can go wrong, in words that name the sample, the key and the way out.

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
    /// A strict accessor met another kind of value.
    #[error("expected {wanted}, found {found}{}", accessor_hint(wanted, found))]
    Accessor {
        /// The requested type.
        wanted: &'static str,
        /// What the score holds.
        found: String,
    },
    /// A score value nested deeper than a list or map of scalars.
    #[error("a score is a scalar, a list of scalars or a map of scalars; found {found} inside")]
    NestedValue {
        /// What was found.
        found: String,
    },
    /// A row was given a score of a scorer that the columns do not have.
    #[error(
        "sample {sample:?} (epoch {epoch}) has a score by `{scorer}`, which is not among the scorers declared"
    )]
    UnknownScorer {
        /// The scorer.
        scorer: String,
        /// The sample's id.
        sample: String,
        /// The epoch.
        epoch: u32,
    },
    /// A row was given two scores by one scorer.
    #[error("sample {sample:?} (epoch {epoch}) has two scores by `{scorer}`; keep one, or number the epochs")]
    ScoredTwice {
        /// The scorer.
        scorer: String,
        /// The sample's id.
        sample: String,
        /// The epoch.
        epoch: u32,
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
    /// A confidence that is no number from 0 to 1.
    #[error(
        "{metric}: the confidence of sample {sample:?} (metadata key `{key}`) is {found}; it must be a number from 0 to 1{}",
        if *is_percentage { ", so divide percentages by 100" } else { "" }
    )]
    Confidence {
        /// The metric.
        metric: String,
        /// The metadata key.
        key: String,
        /// The sample's id.
        sample: String,
        /// What is there instead.
        found: String,
        /// Whether it looks like one from 0 to 100.
        is_percentage: bool,
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
    /// A name that may be two raters.
    #[error("`{name}` is both {}; write \"{}\"", meanings.join(" and "), names.join("\" or \""))]
    AmbiguousRater {
        /// The name.
        name: String,
        /// What it may be.
        meanings: Vec<String>,
        /// What each is called in full.
        names: Vec<String>,
    },
    /// A rating that a metric cannot use.
    #[error("the rating of sample {sample:?} by `{rater}` is {found}; {wanted}")]
    Rating {
        /// The rater.
        rater: String,
        /// The sample's id.
        sample: String,
        /// What the rating is.
        found: String,
        /// What is needed, and the way out.
        wanted: String,
    },
    /// Two groups get one name.
    #[error(
        "{metric}: the groups {first:?} and {group:?} (of sample {sample:?}) both get the name {name:?}; put {{group_name}} into name_template"
    )]
    SharedGroupName {
        /// The metric.
        metric: Box<str>,
        /// The group that had the name first.
        first: Box<str>,
        /// The other group.
        group: Box<str>,
        /// A sample of the other group.
        sample: Box<str>,
        /// The name.
        name: Box<str>,
    },
    /// A group is called like the aggregate of all.
    #[error(
        "{metric}: the group {group:?} (of sample {sample:?}) gets the name {name:?}, which is taken by the aggregate; choose another all_label or name_template"
    )]
    GroupNameTaken {
        /// The metric.
        metric: String,
        /// The group.
        group: String,
        /// A sample of that group.
        sample: String,
        /// The name that collides.
        name: String,
    },
    /// An infinite score.
    #[error(
        "{metric}: the score of sample {sample:?} is infinite; correct it, or leave the sample unscored (NaN)"
    )]
    InfiniteScore {
        /// The metric.
        metric: String,
        /// The sample's id.
        sample: String,
    },
    /// A score outside the range that a metric is defined for.
    #[error(
        "{metric}: the score of sample {sample:?} is {value}, outside [0, 1]; use ci() for scores that are no proportions"
    )]
    OutsideUnitInterval {
        /// The metric.
        metric: String,
        /// The sample's id.
        sample: String,
        /// The value.
        value: f64,
    },
    /// Too few clusters for an interval.
    #[error("{metric}: {clusters} cluster(s) in metadata key `{key}`; an interval needs at least two")]
    TooFewClusters {
        /// The metric.
        metric: String,
        /// The metadata key.
        key: String,
        /// How many there are.
        clusters: usize,
    },
    /// A score of a shape that a metric cannot use.
    #[error("{metric}: the score{} is {found}; {wanted}", of_sample(sample))]
    Shape {
        /// The metric or reducer.
        metric: String,
        /// The sample's id.
        sample: String,
        /// What the score is.
        found: String,
        /// What is needed, and the way out.
        wanted: String,
    },
    /// The epochs of a sample differ in shape.
    #[error(
        "{reducer}: the epochs{} differ in shape: {difference}; give each epoch the same keys or length, or leave it unscored (NaN)",
        of_sample(sample)
    )]
    EpochShapes {
        /// The reducer.
        reducer: String,
        /// The sample's id.
        sample: String,
        /// What differs.
        difference: String,
    },
    /// A map-valued score lacks a key that others have.
    #[error(
        "the score of sample {sample:?} by `{scorer}` has no key {key:?}, which the pattern {pattern:?} matched in the first map-valued score; give it a value or NaN, or narrow the pattern"
    )]
    MissingField {
        /// The scorer.
        scorer: String,
        /// The sample's id.
        sample: String,
        /// The key.
        key: String,
        /// The pattern.
        pattern: String,
    },
    /// A metric wants reduced scores, but reduction is off and samples repeat.
    #[error(
        "{metric} needs one score per sample, but reduction is disabled and sample {sample:?} has several epochs; name a reducer"
    )]
    NeedsReduction {
        /// The metric.
        metric: String,
        /// A sample with several epochs.
        sample: String,
    },
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

    /// A score of a shape that a metric or a reducer does not take.
    pub(crate) fn shape(
        metric: impl Into<String>,
        sample: impl Into<String>,
        found: impl Into<String>,
        wanted: impl Into<String>,
    ) -> Self {
        let (metric, sample) = (metric.into(), sample.into());
        Error::Shape { metric, sample, found: found.into(), wanted: wanted.into() }
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

fn accessor_hint(wanted: &str, found: &str) -> &'static str {
    if wanted == "a number" && found.starts_with("the string") {
        "; to_f64() reads grades as numbers"
    } else {
        ""
    }
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
