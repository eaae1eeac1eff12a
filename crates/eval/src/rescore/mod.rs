//! Stored outputs, scored again: the samples of a log are judged by other scorers, and its model is not called.
//!
//! ```text
//!  prepare ──▶ workers ──(scores of a sample)──▶ columns ──▶ results ──▶ write_to, write_back
//!              read, score                       in memory
//! ```
//!
//! Nothing is written before every sample has its scores, so a grader that fails leaves no half of a log behind. Scores
//! are small; the samples are read again when the log is written.

mod execute;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_core::engine::unique_names;
use errorbar_core::{Evaluation, IndexMap, Metadata, Plan, Registry, Results, ScoreColumns, ScorerPlan};
use errorbar_files::WrittenFile;
use errorbar_log::eval::{
    EvalInfo, EvalLog, Header, LogError, LogLock, LogWarning, NewScorer, NewScores, Revision, ScoreAction,
    ScorerInfo, metrics_to_log, plan_from_header,
};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::model::ROLES;
use crate::run::{ModelOpener, check_prices, declared_range, now, scorer_plan};
use crate::{
    AnyScorer, CancelToken, GenerateConfig, ModelClient, Models, RunOptions, Usage, UsageLimits, model_fn,
};
use execute::NewColumns;

/// Scores the stored outputs of a log.
///
/// ```
/// use errorbar_core::Plan;
/// use errorbar_eval::{
///     CancelToken, Quiet, Rescore, RunOptions, Sample, Task, block_on, built_in_registry, model_fn, scorers::*,
/// };
/// use errorbar_log::eval::{EvalLog, ScoreAction};
/// # use std::sync::Arc;
///
/// # let folder = tempfile::tempdir()?;
/// # let registry = built_in_registry();
/// # let options = RunOptions { log_dir: folder.path().into(), ..RunOptions::default() };
/// # let model = model_fn("mine/model", |_| std::future::ready(Ok("It is 42.".to_owned())));
/// # let task = Task::new([Sample::new("6 × 7?").target("42")]).scorer(exact()).model(model);
/// # let run = task.prepare(&options, &registry)?;
/// # let run = block_on(run.run(Arc::new(Quiet), CancelToken::new()))??;
/// // A log of a run that was scored by exact(), which found the answer to be wrong.
/// let log = EvalLog::open(&run.log)?;
/// let rescore = Rescore::new().scorer(includes()).action(ScoreAction::Append);
/// let prepared = rescore.prepare(log, &RunOptions::default(), &registry)?;
/// let scored = block_on(prepared.run(Arc::new(|_| ()), CancelToken::new()))??;
/// assert_eq!(scored.results().estimate("accuracy")?.number(), Some(1.0));
///
/// let path = folder.path().join("scored.eval");
/// scored.write_to(&path, &registry)?;
/// let recorded = EvalLog::open(&path)?.header()?.results.unwrap_or_default();
/// assert_eq!(recorded.scores.iter().map(|block| block.name.as_str()).collect::<Vec<_>>(), ["exact", "includes"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rescore {
    scorers: Vec<AnyScorer>,
    action: Option<ScoreAction>,
}

impl Rescore {
    /// No scorer yet.
    pub fn new() -> Self {
        Rescore::default()
    }

    /// Adds a scorer.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Into<AnyScorer>) -> Self {
        self.scorers.push(scorer.into());
        self
    }

    /// What becomes of the scores that the log has; by default they stay.
    #[must_use]
    pub fn action(mut self, action: ScoreAction) -> Self {
        self.action = Some(action);
        self
    }

    /// Checks that the log can be scored, and opens the models of graders: those in roles, and those that scorers name.
    /// The model that was evaluated is neither opened nor called. Of the options, those of models, metrics, reducers,
    /// errors, the seed, `max_samples` and the limits of a run on tokens and costs are used.
    ///
    /// The plan is that of the log: its reducers, how it computes errors, its seed; and its metrics, if the new scores
    /// replace its own.
    ///
    /// # Errors
    /// No scorer, a log without samples, a scorer that asks a model in a role that no model has.
    pub fn prepare(
        &self,
        log: EvalLog,
        options: &RunOptions,
        registry: &Registry,
    ) -> Result<PreparedRescore, RescoreError> {
        if self.scorers.is_empty() {
            return Err(RescoreError::Other("there is no scorer to score the log with".to_owned()));
        }
        if log.sample_count() == 0 {
            return Err(RescoreError::NoSamples { log: log.path().to_owned() });
        }
        let header = log.header()?;
        let models = grader_models(&header.eval.model, &self.scorers, options, registry)?;
        for scorer in &self.scorers {
            if let Some(role) = scorer.roles().into_iter().find(|role| !models.roles.contains_key(role)) {
                let scorer = scorer.spec().log_name().into_owned();
                let recorded = recorded_role(&header.eval, &role);
                return Err(RescoreError::NoGrader { scorer, role, recorded });
            }
        }
        // The metrics of the task are for scores that replace its own, or that are its first.
        let has_results = header.results.as_ref().is_some_and(|results| !results.scores.is_empty());
        let keeps_metrics = match self.action {
            Some(action) => action == ScoreAction::Overwrite,
            None => !has_results,
        };
        let action = self.action.unwrap_or(ScoreAction::Append);
        let mut planned = header.clone();
        // Neither its scorers nor what they found: only what holds for any scorer.
        (planned.eval.scorers, planned.results) = (None, None);
        if !keeps_metrics {
            planned.eval.metrics = None;
        }
        let (mut plan, warnings) =
            plan_from_header(&planned, registry).map_err(|error| error.at(log.path()))?;
        plan.scorers = self.scorers.iter().map(scorer_plan).collect();
        if let Some(metrics) = &options.metrics {
            plan.task_metrics = Some(metrics.clone());
        }
        if let Some(reducers) = &options.reducers {
            plan.reducers = reducers.clone();
        }
        if let Some(errors) = &options.errors {
            plan.errors = errors.clone();
        }
        // The log records it for all scores: those that stay may have another one.
        if keeps_metrics {
            plan.errors.range = plan.errors.range.or_else(|| declared_range(&self.scorers));
        }
        plan.seed = options.seed.unwrap_or(plan.seed);
        Ok(PreparedRescore {
            plan,
            warnings,
            action,
            scorers: self.scorers.clone(),
            models: Arc::new(models),
            max_samples: options.max_samples,
            run_limits: options.run_limits,
            header,
            log: Arc::new(log),
        })
    }
}

/// A log that can be scored.
#[derive(Debug)]
#[non_exhaustive]
pub struct PreparedRescore {
    /// What is computed of the new scores; may be changed.
    pub plan: Plan,
    /// What of the recorded plan cannot be used.
    pub warnings: Vec<LogWarning>,
    action: ScoreAction,
    scorers: Vec<AnyScorer>,
    models: Arc<Models>,
    max_samples: Option<usize>,
    run_limits: UsageLimits,
    header: Header,
    log: Arc<EvalLog>,
}

impl PreparedRescore {
    /// What the log records about its run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Samples times epochs.
    pub fn total(&self) -> usize {
        self.log.sample_count()
    }

    /// Scores every sample and computes the results. `progress` is called with the number of samples that are scored,
    /// now and then; `cancel` ends it early.
    ///
    /// Samples that ended with an error are scored as they are, as the reference does.
    ///
    /// # Errors
    /// The first sample that cannot be read or scored, and a limit that graders pass.
    pub async fn run(
        self,
        progress: Arc<dyn Fn(usize) + Send + Sync>,
        cancel: CancelToken,
    ) -> Result<RescoredLog, RescoreError> {
        let mut scored = execute::score_all(&self, progress, cancel).await?;
        // A log without scores has none that could stay, only the plan for them.
        let action = match scored.scorers.is_empty() {
            true => ScoreAction::Overwrite,
            false => self.action,
        };
        let taken = if action == ScoreAction::Append { scored.scorers.len() } else { 0 };
        let bases = self.plan.scorers.iter().map(|scorer| scorer.name.as_str());
        let mut names = unique_names(scored.scorers.iter().take(taken).map(String::as_str).chain(bases));
        let names = names.split_off(taken);
        let mut new = scored.columns(&names).map_err(RescoreError::Results)?;
        let picking = names.iter().zip(&self.scorers).filter(|(_, scorer)| scorer.picks_option());
        picking.for_each(|(name, _)| new.columns.set_picks_option(name));
        let mut plan = self.plan;
        let mut infos = Vec::new();
        for (name, scorer) in names.into_iter().zip(&mut plan.scorers) {
            infos.push((name.clone(), scorer.clone()));
            scorer.name = name;
        }
        let evaluation = plan.evaluate(&new.columns).map_err(RescoreError::Results)?;
        Ok(RescoredLog {
            log: self.log,
            header: self.header,
            evaluation,
            plan,
            action,
            scorers: infos,
            graders: graders(&self.models),
            new,
            usage: scored.usage.by_model,
        })
    }
}

/// The models in roles, as the record of a scorer names them.
fn graders(models: &Models) -> Metadata {
    let names = |clients: &Vec<crate::ModelClient>| {
        let names: Vec<&str> = clients.iter().map(|client| client.model.name()).collect();
        match names.as_slice() {
            [name] => json!(name),
            names => json!(names),
        }
    };
    models.roles.iter().map(|(role, clients)| (role.clone(), names(clients))).collect()
}

/// A log whose samples have new scores, which are not written yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct RescoredLog {
    /// The log.
    pub log: Arc<EvalLog>,
    /// What it records about its run.
    pub header: Header,
    /// What was computed.
    pub plan: Plan,
    /// What becomes of the scores that it has.
    pub action: ScoreAction,
    /// The tokens that graders used, by model.
    pub usage: IndexMap<String, Usage>,
    evaluation: Evaluation,
    /// The name of each scorer's scores, and its own plan.
    scorers: Vec<(String, ScorerPlan)>,
    graders: Metadata,
    new: NewColumns,
}

impl RescoredLog {
    /// The results of the new scores.
    pub fn results(&self) -> &Results {
        &self.evaluation.results
    }

    /// The new scores.
    pub fn columns(&self) -> &ScoreColumns {
        &self.new.columns
    }

    /// The names of the new scores.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scorers.iter().map(|(name, _)| name.as_str())
    }

    /// The model that was evaluated, if it graded its own answers.
    pub fn self_graded(&self) -> Option<String> {
        let model = Json::from(self.header.eval.model.as_str());
        let is_it = |names: &Json| names.as_array().map_or(*names == model, |names| names.contains(&model));
        self.graders.values().any(is_it).then(|| self.header.eval.model.clone())
    }

    /// Replaces the log with the scored one; see [`Revision::write_back`].
    pub fn write_back(&self, registry: &Registry) -> errorbar_log::eval::Result<WrittenFile> {
        self.write(registry, |revision| revision.write_back())
    }

    /// The same for a log that was locked before it was read, so that nothing can change it while it is scored; see
    /// [`Revision::write_back_locked`].
    pub fn write_back_locked(
        &self,
        lock: &LogLock,
        registry: &Registry,
    ) -> errorbar_log::eval::Result<WrittenFile> {
        self.write(registry, |revision| revision.write_back_locked(lock))
    }

    /// Writes the scored log as another file; see [`Revision::write_to`].
    pub fn write_to(&self, path: &Path, registry: &Registry) -> errorbar_log::eval::Result<WrittenFile> {
        self.write(registry, |revision| revision.write_to(path))
    }

    fn write(
        &self,
        registry: &Registry,
        write: impl FnOnce(&Revision<'_>) -> errorbar_log::eval::Result<WrittenFile>,
    ) -> errorbar_log::eval::Result<WrittenFile> {
        let scorers: Vec<NewScorer> =
            self.scorers.iter().map(|(name, scorer)| self.new_scorer(name, scorer, registry)).collect();
        let mut revision = self.log.revise()?;
        if self.plan.reducers.log_names() != self.header.eval.config.epochs_reducer {
            revision.set_reducers(&self.plan.reducers)?;
        }
        if !self.plan.errors.is_default() {
            revision.set_errors(&self.plan.errors)?;
        }
        let new = NewScores {
            action: self.action,
            scorers: &scorers,
            columns: &self.new.columns,
            rows: &self.new.rows,
            events: &self.new.events,
            timestamp: now(),
            id: Uuid::new_v4().simple().to_string(),
        };
        revision.set_scores(new, &self.evaluation)?;
        write(&revision)
    }

    fn new_scorer(&self, name: &str, scorer: &ScorerPlan, registry: &Registry) -> NewScorer {
        let metrics = self.plan.task_metrics.as_ref().unwrap_or(&scorer.metrics);
        let mut metadata = Metadata::new();
        if !self.graders.is_empty() {
            metadata.insert(crate::model::ROLES, self.graders.clone().into());
        }
        let mut info = ScorerInfo::new(scorer.name.clone());
        info.options = Some(scorer.params.clone());
        info.metrics = Some(metrics_to_log(metrics, registry));
        info.metadata = Some(metadata);
        if self.new.columns.scorer(name).is_some_and(|column| column.picks_option()) {
            info.set_picks_option();
        }
        NewScorer { name: name.to_owned(), info }
    }
}

/// Why a log could not be scored again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RescoreError {
    /// There is nothing to score.
    #[error("{}: the log has no samples to score", log.display())]
    NoSamples {
        /// The log.
        log: PathBuf,
    },
    /// A scorer that calls a model in a role, and no model has it: the evaluated model is not called.
    #[error(
        "the scorer `{scorer}` asks a model in the role `{role}`, and none has it; the model that was evaluated is not \
         called{}",
        recorded.as_ref().map(|model| format!(" (in the log, the role had {model})")).unwrap_or_default()
    )]
    NoGrader {
        /// The scorer.
        scorer: String,
        /// The role.
        role: String,
        /// The model that had the role when the log was made.
        recorded: Option<String>,
    },
    /// It was cancelled.
    #[error("{0}")]
    Cancelled(String),
    /// A limit on what graders may use was passed.
    #[error("{0}")]
    LimitReached(String),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The models of graders.
    #[error(transparent)]
    Models(#[from] crate::Error),
    /// The results of the new scores.
    #[error(transparent)]
    Results(errorbar_core::Error),
    /// Any other, which nothing has to tell from the others.
    #[error("{0}")]
    Other(String),
}

/// The models that scorers may call. The one that was evaluated has a name, and no answers.
fn grader_models(
    evaluated: &str,
    scorers: &[AnyScorer],
    options: &RunOptions,
    registry: &Registry,
) -> crate::Result<Models> {
    let not_called = errorbar_core::Error::custom(format!(
        "the model that was evaluated, {evaluated}, is not called when its outputs are scored; give the scorer another \
         model, or a role that a model has"
    ));
    let model = model_fn(evaluated, move |_| std::future::ready(Err(not_called.clone())));
    let client = ModelClient::new(model.into(), GenerateConfig::default(), options.calls.clone());
    let mut models = Models::only(client);
    ModelOpener { options, registry, samples: &[], folder: Path::new("") }.graders(&mut models, scorers)?;
    models.prices = options.prices.clone();
    // The evaluated model costs nothing: it is not called.
    check_prices(models.roles.values().flatten().chain(models.named.values()), options)?;
    Ok(models)
}

/// The model that a log records in a role.
pub(super) fn recorded_role(eval: &EvalInfo, role: &str) -> Option<String> {
    let recorded = eval.extra.get(ROLES)?.get(role)?;
    let name = |model: &Json| model.get("model").and_then(Json::as_str).map(str::to_owned);
    match recorded {
        Json::Array(models) => {
            let names: Option<Vec<String>> = models.iter().map(name).collect();
            names.map(|names| names.join(", "))
        }
        model => name(model),
    }
}
