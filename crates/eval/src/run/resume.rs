//! Resuming a run that was interrupted.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_core::spec::MetricsSpec;
use errorbar_core::{Reducers, Registry, Spec};
use errorbar_inference::StopRule;
use errorbar_log::eval::{
    EvalInfo, EvalLog, Header, LogError, LogLimits, LogWriter, PlanRecord, STOP_WHEN, STOPPED_EARLY,
    SampleFields, Status, StoppedEarly, StoredSample, recorded_errors,
};
use serde_json::{Value as Json, json};

use super::conclude::FinishedRun;
use super::models::recorded_roles;
use super::options::{self, RunOptions};
use super::prepare::PreparedTask;
use super::record::{BASE_URL, LOG_EVENTS, SCORER_DIGESTS, TASK_FILE_DIGEST, recorded_args};
use super::stop::{CancelToken, Observer, StopReason};
use crate::model::{OpenOptions, QUERY, ROLES, open_model};
use crate::{AnyModel, Error, FailOnError, GenerateConfig, ModelChoice, Result, Sample, Task};

/// A log that a run can be resumed from: what was run, and how.
#[derive(Clone, Debug)]
pub struct ResumableLog {
    /// The file.
    pub path: PathBuf,
    pub(super) limits: LogLimits,
    /// What it records about its run.
    pub eval: EvalInfo,
}

/// Reads what a log records about its run, so that the task can be prepared again.
///
/// # Errors
/// A file that is no log, or holds no record of the start.
pub fn open_resumable(path: &Path) -> Result<ResumableLog> {
    open_resumable_with(path, LogLimits::default())
}

/// The same for a log that may be larger than others, or must be smaller.
///
/// # Errors
/// As [`open_resumable`], and a log beyond the limits.
pub fn open_resumable_with(path: &Path, limits: LogLimits) -> Result<ResumableLog> {
    let (log, opened) = open(path, limits)?;
    if log.is_json() {
        let archive = log.path().with_extension("eval");
        let archive = archive.is_file().then_some(archive);
        return Err(Error::JsonLog { path: path.to_owned(), archive });
    }
    Ok(opened)
}

/// Reads what a log of this program records about its run.
pub(super) fn open(path: &Path, limits: LogLimits) -> Result<(EvalLog, ResumableLog)> {
    let log = EvalLog::open_with(path, limits)?;
    let eval = log.header()?.eval;
    if let Some(version) = eval.packages.get("inspect_ai").filter(|_| !eval.packages.contains_key("errorbar"))
    {
        let program = format!("inspect_ai {version}");
        return Err(Error::ForeignLog { path: path.to_owned(), program });
    }
    let path = log.path().to_owned();
    Ok((log, ResumableLog { path, limits, eval }))
}

impl ResumableLog {
    /// The file of the task. A log may come from anywhere and name any file: a task can read files and run programs.
    pub fn task_file(&self) -> Option<&Path> {
        self.eval.task_file.as_deref().map(Path::new)
    }

    /// The digest that the file of the task had when the run was started.
    pub fn task_file_digest(&self) -> Option<&str> {
        self.eval.extra.get(TASK_FILE_DIGEST).and_then(Json::as_str)
    }

    /// Whether a model is the one that the log is of. A file of the same name in another folder is another model.
    pub(super) fn is_of(&self, model: &AnyModel) -> bool {
        let (args, url) = recorded_args(model);
        let base_url = self.eval.extra.get(BASE_URL).and_then(Json::as_str);
        model.name() == self.eval.model && args == self.eval.model_args && url.as_deref() == base_url
    }

    /// The options of the run, as far as they decide what is run and computed. Where the servers are is not among them:
    /// who resumes a run sends a key there, and a log may come from anywhere. See [`unnamed_servers`](Self::unnamed_servers).
    ///
    /// # Errors
    /// Another task; metrics or reducers that are not registered here.
    pub fn options(&self, task: &Task, registry: &Registry) -> Result<RunOptions> {
        // Anything else that is wrong would only be a consequence of this.
        let name = task.log_name();
        if name != self.eval.task {
            return Err(Error::other(format!(
                "{} is a log of the task `{}`, not of `{name}`; name that task, or none",
                self.path.display(),
                self.eval.task
            )));
        }
        let config = &self.eval.config;
        let is_own_model = match &task.model {
            Some(ModelChoice::Named { name, folder }) => {
                // Opened only to be compared; it gets no requests.
                let base_url = self.eval.extra.get(BASE_URL).and_then(Json::as_str);
                let options = OpenOptions { base_url, ..OpenOptions::new(folder) };
                open_model(name, &options, registry).is_ok_and(|model| self.is_of(&model))
            }
            Some(ModelChoice::Built(model)) => self.is_of(model),
            None => false,
        };
        let metrics = match &self.eval.metrics {
            Some(logged) => {
                let spec = MetricsSpec::from_log_json(logged).map_err(errorbar_core::Error::from)?;
                Some(registry.metrics(&spec)?)
            }
            None => None,
        };
        let sample_ids = match &config.sample_id {
            Some(Json::Array(ids)) => ids.iter().map(text).collect(),
            Some(Json::Null) | None => Vec::new(),
            Some(id) => vec![text(id)],
        };
        let generate = Json::from(self.eval.model_generate_config.clone());
        let unknown = |what, problem: String| unknown_record(&self.path, what, &problem);
        let generate: GenerateConfig = serde_json::from_value(generate)
            .map_err(|error| unknown("how the model generates", error.to_string()))?;
        Ok(RunOptions {
            generate,
            roles: recorded_roles(&self.eval)
                .filter_map(|(role, model)| Some((role.clone(), model.get("model")?.as_str()?.into())))
                .collect(),
            model: (!is_own_model).then(|| ModelChoice::from(self.eval.model.as_str())),
            limit: config.limit.as_ref().and_then(Json::as_u64).and_then(|limit| usize::try_from(limit).ok()),
            sample_ids,
            epochs: config.epochs,
            reducers: Some(reducers(config.epochs_reducer.as_deref(), registry)?),
            metrics,
            errors: Some(
                recorded_errors(&self.eval).map_err(|problem| unknown("how errors are computed", problem))?,
            ),
            stop_when: Some(self.rules().map_err(|problem| unknown("when the run stops", problem))?),
            max_samples: config.max_samples.and_then(|count| usize::try_from(count).ok()),
            seed: config.extra.get("seed").and_then(Json::as_u64),
            skip_events: config.extra.get(LOG_EVENTS) == Some(&Json::Bool(false)),
            fail_on_error: config.fail_on_error.as_ref().and_then(FailOnError::from_log),
            ..options::recorded(&config.extra)
        })
    }
}

impl ResumableLog {
    /// The rules that the rest of the run is stopped by: those of the log, unless one of them has held.
    fn rules(&self) -> std::result::Result<Vec<StopRule>, String> {
        let config = &self.eval.config.extra;
        if config.contains_key(STOPPED_EARLY) {
            return Ok(Vec::new());
        }
        match config.get(STOP_WHEN) {
            None | Some(Json::Null) => Ok(Vec::new()),
            Some(Json::Array(rules)) => {
                let rule = |rule: &Json| match rule.as_str() {
                    Some(text) => text.parse::<StopRule>().map_err(|error| format!("`{text}`: {error}")),
                    None => Err(format!("expected a rule, found {rule}")),
                };
                rules.iter().map(rule).collect()
            }
            Some(other) => Err(format!("expected a list of rules, found {other}")),
        }
    }
}

/// Something that a log records in another way than this program does.
fn unknown_record(path: &Path, what: &str, problem: &str) -> Error {
    let path = path.display();
    Error::other(format!("{path}: {what} is recorded in a way that this program does not know: {problem}"))
}

fn text(id: &Json) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn reducers(recorded: Option<&[String]>, registry: &Registry) -> Result<Reducers> {
    let Some(names) = recorded else { return Ok(Reducers::Implicit) };
    let build = |name: &String| registry.reducer(&name.parse::<Spec>()?);
    Ok(Reducers::explicit(names.iter().map(build).collect::<errorbar_core::Result<_>>()?))
}

impl PreparedTask {
    /// Resumes the run that a log was interrupted in: what it holds is retained, what is missing or failed is
    /// run, and the log is finished in its place.
    ///
    /// # Errors
    /// A log of another task, or of this one as it was before it changed; one that cannot be written.
    pub async fn resume(
        mut self,
        log: &ResumableLog,
        observer: Arc<dyn Observer>,
        cancel: CancelToken,
    ) -> Result<FinishedRun> {
        // All of it is looked at before the log is touched.
        let (opened, header) = self.open_unchanged(log)?;
        if self.stopping.is_some() && !header.eval.config.extra.contains_key(STOP_WHEN) {
            return Err(Error::NotInRandomOrder { path: log.path.clone() });
        }
        let succeeded = self.check_questions(&opened)?;
        self.log_path = log.path.clone();
        if header.status == Status::Success && succeeded == self.total() {
            let finished = self.stored(&opened, &*observer)?;
            return Ok(FinishedRun { log: self.log_in_its_form(true)?, ..finished });
        }
        drop(opened);
        let (writer, recovered) = LogWriter::resume_with(&log.path, log.limits)?;
        let resumed = self.resumed(recovered.samples);
        let own = std::mem::replace(&mut self.start, recovered.start);
        // Other limits than before may have been given, and those are what the rest runs with.
        options::replace(&mut self.start.eval.config.extra, &own.eval.config.extra);
        self.run_into(writer, resumed, observer, cancel).await
    }

    /// Opens a log whose run was of this task.
    fn open_unchanged(&self, log: &ResumableLog) -> Result<(EvalLog, Header)> {
        let opened = EvalLog::open_with(&log.path, log.limits)?;
        let header = opened.header()?;
        match self.changed_parts(&header.eval, &header.plan) {
            Some(change) => Err(Error::ChangedTask { path: log.path.clone(), change }),
            None => Ok((opened, header)),
        }
    }

    /// Where the log differs from this task.
    pub(super) fn changed_parts(&self, logged: &EvalInfo, plan: &PlanRecord) -> Option<String> {
        let own = &self.start.eval;
        let extra = |key: &str| own.extra.get(key) == logged.extra.get(key);
        let has_same_query = own.model_args.get(QUERY) == logged.model_args.get(QUERY);
        let server = |eval: &EvalInfo| {
            eval.extra.get(BASE_URL).and_then(Json::as_str).unwrap_or("that of the provider").to_owned()
        };
        // Older logs record no digests.
        let digests = |eval: &EvalInfo| eval.config.extra.get(SCORER_DIGESTS).cloned();
        let has_same_digests = digests(logged).is_none() || digests(logged) == digests(own);
        let other = |name: &str, logged: &str, own: &str| format!("its {name} is `{logged}`, not `{own}`");
        let differ = |name: &str| format!("its {name} differ");
        let parts = [
            (own.model == logged.model, other("model", &logged.model, &own.model)),
            (!has_same_query || own.model_args == logged.model_args, differ("recorded outputs")),
            (has_same_query, differ("base URLs (what stands behind a `?` is in no log: give it again)")),
            (extra(BASE_URL), other("server", &server(logged), &server(own))),
            (extra(ROLES), differ("models in roles")),
            (own.model_generate_config == logged.model_generate_config, differ("options of generation")),
            (own.dataset.sample_ids == logged.dataset.sample_ids, differ("samples")),
            (own.scorers == logged.scorers, differ("scorers or their metrics")),
            (has_same_digests, differ("files of scorers that run a command")),
            (own.config.epochs == logged.config.epochs, differ("epochs")),
            (own.task_args == logged.task_args, differ("task arguments")),
            (self.start.plan.steps == plan.steps, differ("solvers")),
        ];
        let found: Vec<String> =
            parts.into_iter().filter(|(is_same, _)| !is_same).map(|(_, text)| text).collect();
        let changed = || format!("the task `{}` has changed since: {}", self.name, found.join("; "));
        (!found.is_empty()).then(changed)
    }

    /// The results of what a log holds, of a run that has reached its end.
    pub(super) fn stored(&self, log: &EvalLog, observer: &dyn Observer) -> Result<FinishedRun> {
        let total = self.total();
        let fields = SampleFields::scores(self.plan.metadata_keys());
        let samples: Vec<StoredSample> = log.samples_with(fields)?.collect::<Result<_, LogError>>()?;
        let mut resumed = self.resumed(samples);
        resumed.sort_by_key(|(index, _)| *index);
        let done = resumed.len();
        observer.started(&self.name, self.model().name(), &self.log_path, total, done);
        let mut limits = BTreeMap::new();
        for kind in resumed.iter().filter_map(|(_, sample)| sample.limit.clone()) {
            *limits.entry(kind).or_default() += 1;
        }
        let mut columns = self.empty_columns();
        for (index, sample) in resumed {
            self.push_row(&mut columns, index, Some(&sample.metadata), sample.scores, false)?;
        }
        Ok(FinishedRun {
            results: Some(self.plan.evaluate(&columns)?.results),
            done,
            resumed: done,
            limits,
            usage: log.header()?.stats.model_usage,
            ..FinishedRun::complete(self)
        })
    }

    /// Refuses a log whose samples are not those of the task, or were other questions. How many succeeded.
    pub(super) fn check_questions(&self, log: &EvalLog) -> Result<usize> {
        let mut succeeded = 0;
        let is_open = self.task.solver.effects().unknown;
        let places = self.places();
        let changed = |change| Error::ChangedTask { path: log.path().to_owned(), change };
        let fields = SampleFields { completion: true, ..SampleFields::all() };
        for stored in log.samples_with(fields)? {
            let stored = stored?;
            let (id, epoch) = (stored.id.to_string(), stored.epoch);
            let place = places.get(&id).filter(|_| (1..=self.epochs).contains(&epoch));
            let Some((_, sample)) = place.and_then(|at| self.samples.get(*at)) else {
                return Err(changed(format!(
                    "sample {id:?} in epoch {epoch} is not among those of the task `{}`",
                    self.name
                )));
            };
            if !sample.is_question_of(&stored) {
                return Err(changed(format!("sample {id:?} was another question when the log was written")));
            }
            // A custom solver may have changed both.
            if let Some(change) = (!is_open).then(|| self.change_of(&stored, sample)).flatten() {
                return Err(changed(change));
            }
            succeeded += usize::from(stored.error.is_none());
        }
        Ok(succeeded)
    }

    /// How the metadata or the recorded output of a sample differs from what the log holds, if it does.
    fn change_of(&self, stored: &StoredSample, sample: &Sample) -> Option<String> {
        let id = stored.id.to_string();
        let mut keys = sample.metadata.keys().chain(stored.metadata.keys());
        let differs = |key: &&String| {
            let (then, now) = (stored.metadata.get(key), sample.metadata.get(key));
            // Logs may write a number in another way.
            then != now
                && then.and_then(Json::as_f64).is_none_or(|then| now.and_then(Json::as_f64) != Some(then))
        };
        if let Some(key) = keys.find(differs) {
            return Some(format!(
                "the metadata `{key}` of sample {id:?} was another when the log was written"
            ));
        }
        let answer =
            stored.completion.as_ref().filter(|_| stored.error.is_none() && stored.limit.is_none())?;
        let could = self.model().could_have_answered(&stored.id, stored.epoch, answer);
        (!could)
            .then(|| format!("the recorded output for sample {id:?} was another when the log was written"))
    }

    /// The samples that the log holds, with their numbers.
    fn resumed(&self, samples: Vec<StoredSample>) -> Vec<(usize, StoredSample)> {
        let places = self.places();
        let number = |stored: &StoredSample| {
            let at = places.get(&stored.id.to_string())?;
            Some((stored.epoch.checked_sub(1)? as usize) * self.samples.len() + at)
        };
        samples.into_iter().filter_map(|stored| Some((number(&stored)?, stored))).collect()
    }

    fn places(&self) -> HashMap<String, usize> {
        self.samples.iter().enumerate().map(|(at, (id, _))| (id.to_string(), at)).collect()
    }
}

// Runs that were made before, so that a set of evaluations is continued where it was interrupted.

/// What a log is to a run that is about to start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EarlierRun {
    /// The log of another run: another task, model, number of samples or epochs.
    Other,
    /// A run of this task as it was before it changed.
    Changed(String),
    /// This run, interrupted or with samples that failed. It can be resumed.
    Incomplete,
    /// This run, with all its samples.
    Complete,
}

/// Reads what a log records about its run, to see whether it is that of another one. A JSON log can be too.
///
/// # Errors
/// A file that is no log, or one of another program.
pub fn open_earlier(path: &Path, limits: LogLimits) -> Result<ResumableLog> {
    open(path, limits).map(|(_, log)| log)
}

impl PreparedTask {
    /// What a log is to this run: the same if task, version, arguments, model, samples, solvers, scorers and epochs are.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn earlier_run(&self, log: &ResumableLog) -> Result<EarlierRun> {
        let (own, logged) = (&self.start.eval, &log.eval);
        let is_same = own.task == logged.task
            && own.task_version == logged.task_version
            && own.model == logged.model
            && own.task_args == logged.task_args
            && own.config.epochs == logged.config.epochs
            && own.config.epochs_reducer == logged.config.epochs_reducer
            && own.config.extra.get("seed") == logged.config.extra.get("seed")
            && own.dataset.sample_ids == logged.dataset.sample_ids;
        if !is_same {
            return Ok(EarlierRun::Other);
        }
        let checked = self.open_unchanged(log).and_then(|(opened, header)| {
            let succeeded = self.check_questions(&opened)?;
            Ok((opened, header, succeeded))
        });
        let (opened, header, succeeded) = match checked {
            Err(Error::ChangedTask { change, .. }) => return Ok(EarlierRun::Changed(change)),
            checked => checked?,
        };
        let config = &logged.config.extra;
        let has_reached_end = match config.contains_key(STOPPED_EARLY) {
            // Only the same rules would have stopped this one.
            true => {
                let rules = self.stopping.as_ref().map(|stopping| json!(stopping.texts()));
                rules.as_ref() == config.get(STOP_WHEN)
            }
            false => succeeded == self.total(),
        };
        if header.status == Status::Success && has_reached_end {
            return Ok(EarlierRun::Complete);
        }
        // What cannot be resumed: samples in the order of the dataset, for a rule that wants a random one.
        let is_in_order = self.stopping.is_none() || config.contains_key(STOP_WHEN);
        Ok(if is_in_order && !opened.is_json() { EarlierRun::Incomplete } else { EarlierRun::Other })
    }

    /// The results of this run from the log of an earlier one that is [complete](EarlierRun::Complete). Nothing is run or
    /// written.
    ///
    /// # Errors
    /// A log that cannot be read, or whose results cannot be computed.
    pub fn skip(mut self, log: &ResumableLog, observer: &dyn Observer) -> Result<FinishedRun> {
        let opened = EvalLog::open_with(&log.path, log.limits)?;
        self.log_path.clone_from(&log.path);
        let unknown = |problem: String| unknown_record(&log.path, "why the run stopped", &problem);
        let recorded = StoppedEarly::recorded(&log.eval).map_err(unknown)?;
        let mut stopped = None;
        if let (Some(recorded), Some(stopping)) = (recorded, &self.stopping) {
            let samples = usize::try_from(recorded.samples).unwrap_or(usize::MAX);
            let early_stop = stopping.early_stop(&self.samples, samples);
            self.plan.errors.early_stop = Some(early_stop.map_err(unknown)?);
            let StoppedEarly { rule, reason, .. } = recorded;
            let planned = self.samples.len();
            stopped = Some(StopReason::RuleHeld { rule, reason, samples, planned });
        }
        let finished = self.stored(&opened, observer)?;
        observer.ended();
        Ok(FinishedRun { stopped, ..finished })
    }
}
