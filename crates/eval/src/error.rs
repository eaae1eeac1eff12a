//! Why a task cannot run, or a run cannot continue.

use std::path::PathBuf;

use errorbar_core::ErrorMethod;
use errorbar_inference::FigureProblem;
use errorbar_log::eval::LogError;

use crate::{DatasetError, TaskProblem};

/// The result of anything in this crate that is about a whole task or run.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a task cannot run, or a run cannot continue.
// Boxed within, so that the results which carry it stay small.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The dataset.
    #[error(transparent)]
    Dataset(Box<DatasetError>),
    /// A spec, an argument, a metric, a reducer.
    #[error(transparent)]
    Core(Box<errorbar_core::Error>),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Parts of the task that do not fit together.
    #[error(transparent)]
    Task(Box<TaskProblem>),
    /// Neither the task nor the run names a model.
    #[error("the task names no model")]
    NoModel,
    /// A provider that needs a key, and no key.
    #[error("`{model}` needs a key: set {variable}, or name a file that holds the key")]
    MissingKey {
        /// The model.
        model: String,
        /// The environment variable.
        variable: String,
    },
    /// A key for a provider that takes none.
    #[error(
        "`{model}` takes no key, and a file that holds one is given; leave it out, or call a server that wants a key \
         as openai/NAME"
    )]
    UnwantedKey {
        /// The model.
        model: String,
    },
    /// What is wrong with the model in a role.
    #[error("the role `{role}`: {error}")]
    Role {
        /// The role.
        role: String,
        /// What is wrong.
        error: Box<Error>,
    },
    /// A setting for a role that no model has.
    #[error("a {setting} is given for the role `{role}`, which no model has")]
    UnknownRole {
        /// The role.
        role: String,
        /// What is given for it: a base URL, a key file.
        setting: &'static str,
    },
    /// A limit on the cost, and models of unknown price.
    #[error(
        "a limit on the cost needs the price of every model, and that of {} is not known",
        models.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    UnknownPrice {
        /// The models without a price.
        models: Vec<String>,
    },
    /// A log that is not of the task as it is now.
    #[error("{} cannot be resumed: {change}", path.display())]
    ChangedTask {
        /// The log.
        path: PathBuf,
        /// How they differ.
        change: TaskChange,
    },
    /// A log of another task.
    #[error("{} is a log of the task `{logged}`, not of `{task}`; name that task, or none", path.display())]
    OtherTask {
        /// The log.
        path: PathBuf,
        /// The task of the log.
        logged: String,
        /// The task that was to be resumed.
        task: String,
    },
    /// A rule by which the run cannot be stopped early.
    #[error("the run cannot be stopped by `{rule}`: {problem}")]
    StopRule {
        /// The rule.
        rule: String,
        /// Why not.
        problem: Box<StopRuleProblem>,
    },
    /// A log whose samples were taken in the order of the dataset, so that no rule can stop the rest early.
    #[error("{} was run without a rule to stop by, so that its samples are not in a random order", path.display())]
    NotInRandomOrder {
        /// The log.
        path: PathBuf,
    },
    /// A record of the log that this version cannot read.
    #[error("{}: {what} is recorded in a way that this program does not know: {problem}", path.display())]
    UnknownRecord {
        /// The log.
        path: PathBuf,
        /// What is recorded.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A log of another program, whose runs cannot be resumed here.
    #[error("{} was written by {program}, whose runs cannot be resumed here", path.display())]
    ForeignLog {
        /// The log.
        path: PathBuf,
        /// The program and its version.
        program: String,
    },
    /// A JSON log, which is written as a whole and cannot be resumed.
    #[error("{} is a JSON log, which is written as a whole and cannot be resumed", path.display())]
    JsonLog {
        /// The log.
        path: PathBuf,
        /// The archive beside it that can be, if there is one.
        archive: Option<PathBuf>,
    },
    /// A cache folder that cannot be used.
    #[error("cannot use the cache folder{}: {problem}", path.as_ref().map(|path| format!(" {}", path.display())).unwrap_or_default())]
    CacheFolder {
        /// The folder, if there is one.
        path: Option<PathBuf>,
        /// Why.
        problem: String,
    },
    /// A file that cannot be removed.
    #[error("cannot remove {}: {error}", path.display())]
    Remove {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A name of a model without its provider.
    #[error("a model is written provider/model, found `{name}`; providers: {}", known.join(", "))]
    NoProvider {
        /// The name.
        name: String,
        /// The providers that there are.
        known: Vec<String>,
    },
    /// A name of a model whose provider is not registered.
    #[error("unknown model provider `{provider}` in `{name}`; {}", match nearest {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("providers: {}", known.join(", ")),
    })]
    UnknownProvider {
        /// The provider.
        provider: String,
        /// The name of the model.
        name: String,
        /// The provider closest to it.
        nearest: Option<String>,
        /// The providers that there are.
        known: Vec<String>,
    },
    /// A provider without a model.
    #[error("`{provider}/` names no model; it is written {provider}/NAME, as the server knows it")]
    EmptyModelName {
        /// The provider.
        provider: String,
    },
    /// A name of a model that would not be sent as it is.
    #[error("`{name}` has `::` in it, which would be cut off with all before it; write {provider}/NAME")]
    NamespacedModel {
        /// The name.
        name: String,
        /// The provider.
        provider: String,
    },
    /// A base URL that cannot be used.
    #[error(
        "the base URL{}{} {problem}; it is written as in http://127.0.0.1:8080/v1",
        url.as_ref().map(|url| format!(" `{url}`")).unwrap_or_default(),
        variable.as_ref().map(|variable| format!(" ({variable})")).unwrap_or_default()
    )]
    BaseUrl {
        /// The URL, without what may be secret; none if all of it may be.
        url: Option<String>,
        /// The environment variable that it is from.
        variable: Option<String>,
        /// What is wrong with it.
        problem: BaseUrlProblem,
    },
    /// A file that the key cannot be read from.
    #[error("cannot read the key from the file {}: {error}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// No key where one is named.
    #[error("{origin} holds no key: its first line is empty")]
    EmptyKey {
        /// The file or the environment variable.
        origin: String,
    },
    /// What cannot be a key; it is not repeated.
    #[error(
        "{origin} holds no key: a key is one word of letters, digits and punctuation, and this has spaces, control \
         characters or letters beyond ASCII in it"
    )]
    InvalidKey {
        /// The file or the environment variable.
        origin: String,
    },
    /// What is wrong with a model that a scorer names.
    #[error("the scorer `{scorer}`: {error}")]
    Scorer {
        /// The scorer.
        scorer: String,
        /// What is wrong.
        error: Box<Error>,
    },
    /// A task without a scorer.
    #[error("the task has no scorer; add one, such as includes()")]
    NoScorer,
    /// A task that runs for no epoch.
    #[error("a task runs for at least 1 epoch, found 0")]
    NoEpoch,
    /// A dataset of which the options of the run leave no sample.
    #[error("no sample is left to run; raise the limit")]
    NoSample,
    /// A sample that was chosen, and that the dataset does not have.
    #[error("the dataset has no sample {sample:?}; {}", match (nearest, ids) {
        (Some(near), _) => format!("did you mean {near:?}?"),
        (None, (first, last)) if first == last => format!("the only id is {first:?}"),
        (None, (first, last)) => format!("ids go from {first:?} to {last:?}"),
    })]
    UnknownSample {
        /// The id.
        sample: String,
        /// The id closest to it.
        nearest: Option<String>,
        /// The first and the last id of the dataset.
        ids: (String, String),
    },
    /// More samples times epochs than a run may have.
    #[error("{samples} samples in {epochs} epochs are more than {limit} runs of samples; run fewer epochs")]
    TooManyRuns {
        /// The samples.
        samples: usize,
        /// The epochs.
        epochs: u32,
        /// How many there may be.
        limit: usize,
    },
    /// An id that is too long for a log.
    #[error("the id {start:?}… is longer than {limit} bytes; give the sample a shorter one")]
    LongId {
        /// Its first characters.
        start: String,
        /// How long it may be.
        limit: usize,
    },
    /// More scorers or metrics than a log may have.
    #[error("the task has {count} {what}, and a log has at most {limit}; use fewer")]
    TooManyForLog {
        /// Scorers or metrics.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A way to compute errors that cannot be.
    #[error("errors: {problem}")]
    Errors {
        /// What is wrong with it.
        problem: String,
    },
    /// Errors for clusters, and no key to cluster by.
    #[error(
        "errors: {method} is for clustered samples; name the metadata key to cluster by (`cluster` in `errors`)"
    )]
    NoCluster {
        /// The method.
        method: ErrorMethod,
    },
    /// A sample that a scorer or the solver refuses.
    #[error("sample {sample:?}: {error}")]
    Sample {
        /// The sample's id.
        sample: String,
        /// Why.
        error: Box<errorbar_core::Error>,
    },
    /// More samples that are refused, which are only counted.
    #[error("… and {count} more such problem(s)")]
    MoreSamples {
        /// How many.
        count: usize,
    },
    /// The system gives no threads.
    #[error("cannot start the runtime: {0}")]
    Runtime(std::io::Error),
    /// A bug in the thread that writes the log.
    #[error("the thread that writes the log has panicked; this is a bug in errorbar")]
    WriterPanicked,
}

/// What is wrong with a base URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaseUrlProblem {
    /// No URL.
    #[error("cannot be read: {0}")]
    Syntax(String),
    /// Neither http nor https, or no host.
    #[error("is not one of http:// or https://")]
    Scheme,
    /// A user or a password.
    #[error(
        "has a user or a password in it, which would get into logs; give the key in its own place, a file or the \
         environment"
    )]
    Credentials,
    /// The URL of a request.
    #[error("is already that of a request; leave out /chat/completions")]
    RequestPath,
    /// A query, for a provider that takes none.
    #[error("has a `?` in it, behind which `{provider}` takes nothing; leave it out")]
    Query {
        /// The provider.
        provider: String,
    },
}

/// How a task differs from the one that a log is of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskChange {
    /// A sample of the log that the task does not have.
    #[error("sample {sample:?} in epoch {epoch} is not among those of the task `{task}`")]
    UnknownSample {
        /// The sample's id.
        sample: String,
        /// The epoch.
        epoch: u32,
        /// The task.
        task: String,
    },
    /// A sample whose input, target or choices were others.
    #[error("sample {sample:?} was another question when the log was written")]
    Question {
        /// The sample's id.
        sample: String,
    },
    /// A sample whose metadata was another.
    #[error("the metadata `{key}` of sample {sample:?} was another when the log was written")]
    Metadata {
        /// The sample's id.
        sample: String,
        /// The key.
        key: String,
    },
    /// A sample for which another output was recorded.
    #[error("the recorded output for sample {sample:?} was another when the log was written")]
    Output {
        /// The sample's id.
        sample: String,
    },
    /// Parts of the task or of the options that were others.
    #[error(
        "the task `{task}` has changed since: {}",
        parts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Parts {
        /// The task.
        task: String,
        /// At least one.
        parts: Vec<ChangedPart>,
    },
}

/// A part of a task, or of the options of its run, that differs from the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its {name} {}", match values {
    Some((logged, own)) => format!("is `{logged}`, not `{own}`"),
    None => "differ".to_owned(),
})]
#[non_exhaustive]
pub struct ChangedPart {
    /// What it is called: `model`, `solvers`.
    pub name: &'static str,
    /// What the log has and what the task has, where both are short.
    pub values: Option<(String, String)>,
}

impl From<DatasetError> for Error {
    fn from(error: DatasetError) -> Self {
        Error::Dataset(Box::new(error))
    }
}

impl From<TaskProblem> for Error {
    fn from(problem: TaskProblem) -> Self {
        Error::Task(Box::new(problem))
    }
}

impl From<errorbar_core::Error> for Error {
    fn from(error: errorbar_core::Error) -> Self {
        Error::Core(Box::new(error))
    }
}

// Why a rule that stops a run early cannot be used.

/// Why a run cannot be stopped by a rule.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StopRuleProblem {
    /// What it names is no mean that a confidence sequence can be about.
    #[error(transparent)]
    Figure(#[from] FigureProblem),
    /// The range of the scores is not known, without which there is no bound on what the other samples could change.
    #[error(
        "the range of the scores by `{scorer}` is not known, and a run can be stopped early only by the mean of scores \
         whose lowest and highest value are"
    )]
    UnknownRange {
        /// The scorer.
        scorer: String,
    },
    /// A value that no mean of such scores can have.
    #[error("{value} lies outside the range of the scores, {low} to {high}, so it is decided before the run")]
    Outside {
        /// The value.
        value: f64,
        /// The lowest score.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// The log cannot be read.
    #[error("{0}")]
    Log(#[source] LogError),
    /// The range of scores is not 0 to 1, and the plan does not have it.
    #[error(
        "scores by `{scorer}` lie between {low} and {high}, and the plan of errors does not have that range"
    )]
    RangeNotPlanned {
        /// The scorer.
        scorer: String,
        /// The lowest score.
        low: f64,
        /// The highest score.
        high: f64,
    },
    /// The log has no scores by the scorer.
    #[error("{} has no scores by `{scorer}`; it has scores by: {}", log.display(), found.join(", "))]
    NoScorer {
        /// The log.
        log: PathBuf,
        /// The scorer.
        scorer: String,
        /// Those that it has.
        found: Vec<String>,
    },
    /// Samples that the log does not have.
    #[error("{} lacks {count} of the {planned} samples of the run, such as {sample:?}", log.display())]
    MissingSamples {
        /// The log.
        log: PathBuf,
        /// How many.
        count: usize,
        /// Of how many.
        planned: usize,
        /// One of them.
        sample: String,
    },
    /// A sample that is another question in the log.
    #[error("the sample {sample:?} has another input, other choices or another target in {}", log.display())]
    OtherQuestion {
        /// The log.
        log: PathBuf,
        /// The sample.
        sample: String,
    },
    /// The scores of the log cannot be reduced.
    #[error("{}: {error}", log.display())]
    Scores {
        /// The log.
        log: PathBuf,
        /// Why.
        error: Box<errorbar_core::Error>,
    },
    /// More samples than an order can have.
    #[error("there are more samples than a random order can have: {samples}")]
    TooManySamples {
        /// How many.
        samples: usize,
    },
}
