//! A task: a dataset, how it is solved, how it is scored, and what is computed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use errorbar_core::registry::{Entry, EntryKind};
use errorbar_core::{Epochs, ErrorPlan, HeadlineRequest, Metadata, Metrics, Registry, Spec};
use errorbar_inference::StopRule;
use serde_json::Value as Json;

use crate::macros::setters;
use crate::model::{AnyModel, Model};
use crate::solvers::generate;
use crate::{AnyScorer, AnySolver, Dataset, GenerateConfig};

/// A dataset, how it is solved, how it is scored, and what is computed.
///
/// ```
/// use errorbar_eval::{Sample, Task, scorers::includes, solvers::generate};
/// let task = Task::new([Sample::new("Name a primary colour.").target(["red", "green", "blue"])])
///     .solver(generate())
///     .scorer(includes())
///     .epochs(3);
/// ```
#[derive(Clone, Debug)]
pub struct Task {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<Json>,
    pub(crate) dataset: Dataset,
    pub(crate) solver: AnySolver,
    pub(crate) scorers: Vec<AnyScorer>,
    pub(crate) metrics: Option<Metrics>,
    pub(crate) epochs: Option<Epochs>,
    pub(crate) errors: ErrorPlan,
    pub(crate) stop_when: Vec<StopRule>,
    pub(crate) model: Option<ModelChoice>,
    pub(crate) generate: GenerateConfig,
    pub(crate) metadata: Metadata,
    pub(crate) headline: Option<HeadlineRequest>,
    pub(crate) fail_on_error: Option<FailOnError>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) origin: Origin,
}

/// Where a task comes from, so that a log can be resumed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The task file.
    pub(crate) file: Option<PathBuf>,
    /// The digest of its bytes.
    pub(crate) file_digest: Option<String>,
    /// The name by which it is registered, or by which a file of several tasks has it.
    pub(crate) registered: Option<String>,
    /// All arguments, with their values.
    pub(crate) args: Metadata,
    /// Those that were passed.
    pub(crate) passed: Metadata,
}

/// An entry that builds a task.
pub type TaskEntry = Entry<Task>;

impl EntryKind for Task {
    const KIND: &'static str = "task";
}

/// When samples that fail end the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum FailOnError {
    /// Never: they are recorded and counted.
    #[default]
    Never,
    /// The first one does.
    First,
    /// When this share of all samples has failed.
    Share(f64),
    /// When this many have failed.
    Count(usize),
}

impl FailOnError {
    /// Whether this many failures end the run.
    pub(crate) fn is_reached(self, failed: usize, total: usize) -> bool {
        match self {
            FailOnError::Never => false,
            FailOnError::First => failed > 0,
            // In whole samples, so that 29 of 100 are 29 %, whatever 0.29 times 100 is.
            FailOnError::Share(share) => failed > 0 && failed as f64 >= share * total as f64 - 1e-9,
            FailOnError::Count(count) => failed >= count,
        }
    }

    /// As logs record it.
    pub(crate) fn to_log(self) -> Json {
        match self {
            FailOnError::Never => Json::Bool(false),
            FailOnError::First => Json::Bool(true),
            FailOnError::Share(share) => Json::from(share),
            FailOnError::Count(count) => Json::from(count as f64),
        }
    }

    /// What a log records; nothing for what is none of it.
    pub(crate) fn from_log(recorded: &Json) -> Option<Self> {
        match recorded {
            Json::Bool(true) => Some(FailOnError::First),
            Json::Bool(false) => Some(FailOnError::Never),
            number => number.to_string().parse().ok(),
        }
    }
}

impl std::str::FromStr for FailOnError {
    type Err = String;

    /// `true`, `false`, a share below 1 or a number from 1 on.
    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<f64>()) {
            ("true", _) => Ok(FailOnError::First),
            ("false", _) => Ok(FailOnError::Never),
            (_, Ok(share)) if share > 0.0 && share < 1.0 => Ok(FailOnError::Share(share)),
            (_, Ok(count)) if count >= 1.0 && count.fract() == 0.0 && count < 1e15 => {
                Ok(FailOnError::Count(count as usize))
            }
            _ => Err("true, false, a share of the samples such as 0.1, or a number of samples such as 5"
                .to_owned()),
        }
    }
}

/// A model, opened or still by name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ModelChoice {
    /// `provider/model`, and the folder that files in it are relative to.
    Named {
        /// The name.
        name: String,
        /// The folder.
        folder: PathBuf,
    },
    /// A model itself.
    Built(AnyModel),
}

impl ModelChoice {
    /// A model by name; files in it are relative to `folder`.
    pub fn relative_to(folder: &Path, name: impl Into<String>) -> Self {
        ModelChoice::Named { name: name.into(), folder: folder.to_owned() }
    }
}

impl From<&str> for ModelChoice {
    fn from(name: &str) -> Self {
        ModelChoice::relative_to(Path::new(""), name)
    }
}
impl From<String> for ModelChoice {
    fn from(name: String) -> Self {
        ModelChoice::relative_to(Path::new(""), name)
    }
}
impl<M: Model + 'static> From<M> for ModelChoice {
    fn from(model: M) -> Self {
        ModelChoice::Built(model.into())
    }
}

impl Task {
    /// A task over these samples, solved by calling the model and scored by nothing yet.
    pub fn new(dataset: impl Into<Dataset>) -> Self {
        Task {
            name: None,
            version: None,
            dataset: dataset.into(),
            solver: generate().into(),
            scorers: Vec::new(),
            metrics: None,
            epochs: None,
            errors: ErrorPlan::new(),
            stop_when: Vec::new(),
            model: None,
            generate: GenerateConfig::default(),
            metadata: Metadata::new(),
            headline: None,
            fail_on_error: None,
            time_limit: None,
            origin: Origin::default(),
        }
    }

    /// Adds a scorer.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Into<AnyScorer>) -> Self {
        self.scorers.push(scorer.into());
        self
    }

    /// How errors and intervals are computed, unless [`RunOptions::errors`](crate::RunOptions::errors) replaces it.
    pub fn error_plan(&self) -> &ErrorPlan {
        &self.errors
    }

    /// The name by which a file of several tasks has it.
    pub fn name_in_file(&self) -> Option<&str> {
        self.origin.registered.as_deref().filter(|_| self.origin.file.is_some())
    }

    /// Adds an entry of metadata, for the record.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Adds it to a registry under its name, by which its logs can be resumed.
    ///
    /// ```
    /// use errorbar_eval::{Sample, Task, built_in_registry, scorers::includes};
    /// let mut registry = built_in_registry();
    /// let task = Task::new([Sample::new("1 + 1?").target("2")]).name("sums").scorer(includes());
    /// task.register("One sum.", &mut registry)?;
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A task without a name, and a name that is taken.
    pub fn register(self, doc: &str, registry: &mut Registry) -> errorbar_core::Result<()> {
        let Some(name) = self.name.clone() else {
            return Err(errorbar_core::Error::custom(
                "a task that is registered needs a name; give it one: .name(…)",
            ));
        };
        registry.add_object(Spec::new(name.as_str()), doc, self.registered_as(&name, Metadata::new()))
    }

    /// Records how the task was built, so that its log can be resumed; the macro `#[task]` does it.
    #[doc(hidden)]
    #[must_use]
    pub fn registered_as(mut self, name: &str, args: Metadata) -> Self {
        self.origin.registered = Some(name.to_owned());
        self.origin.args = args.clone();
        self.origin.passed = args;
        self.name.get_or_insert_with(|| name.to_owned());
        self
    }

    setters! {
        /// How it is solved; several solvers are put together by [`chain!`](crate::chain).
        solver: impl Into<AnySolver> => solver.into();

        /// What is computed, in place of what each scorer brings.
        metrics: Metrics => Some(metrics);

        /// How often each sample is run, and how its scores are reduced.
        epochs: impl Into<Epochs> => Some(epochs.into());

        /// How errors and intervals are computed.
        ///
        /// ```
        /// use errorbar_core::ErrorPlan;
        /// use errorbar_eval::{Sample, Task, scorers::includes};
        /// let task = Task::new([Sample::new("1 + 1?").target("2").metadata("passage", "sums")])
        ///     .scorer(includes())
        ///     .errors(ErrorPlan::new().cluster("passage"));
        /// assert_eq!(task.error_plan().cluster, ["passage"]);
        /// ```
        errors: ErrorPlan => errors;

        /// The rules of which one stops a run early, over samples in a random order.
        ///
        /// ```
        /// use errorbar_eval::{Sample, Task, scorers::includes};
        /// let samples = (1..500).map(|n| Sample::new(format!("{n} + {n}?")).target((2 * n).to_string()));
        /// let task = Task::new(samples.collect::<Vec<_>>()).scorer(includes());
        /// let task = task.stop_when(vec!["width(accuracy) < 0.1".parse()?]);
        /// # Ok::<(), errorbar_core::spec::SpecError>(())
        /// ```
        stop_when: Vec<StopRule> => stop_when;

        /// The model, unless the run names another one.
        model: impl Into<ModelChoice> => Some(model.into());

        /// How the model generates, unless the run sets it otherwise.
        generate: GenerateConfig => generate;

        /// The name; a registered task has that of its function.
        name: impl Into<String> => Some(name.into());

        /// The version, a number or a string.
        version: impl Into<Json> => Some(version.into());

        /// Which figure to show first.
        headline: HeadlineRequest => Some(headline);

        /// When samples that fail end the run; by default never.
        fail_on_error: FailOnError => Some(fail_on_error);

        /// How long one sample may take, scorers included.
        time_limit: Duration => Some(time_limit);
    }
}
