//! A task checked as a whole, before anything runs.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use errorbar_core::engine::unique_names;
use errorbar_core::spec::nearest;
use errorbar_core::{
    Epochs, ErrorPlan, KeyUsage, MetadataKeys, Metrics, Plan, Reducers, Registry, RequiredKey, Score,
    ScoreColumns, ScorerPlan, Spec,
};
use errorbar_log::eval::{MAX_METRICS, MAX_SCORERS, StartRecord};
use errorbar_log::inspect::project;

use super::options::RunOptions;
use super::record::{options_of, start_record};
use super::stopping::StopPlan;
use crate::task_check::{self, Finding};
use crate::{
    AnyModel, AnyScorer, Calls, Error, FailOnError, Models, NamedSample, Result, Sample, SampleId, Task,
    UsageLimits, lock,
};

/// How many samples run at once by default.
const MAX_SAMPLES: usize = 32;

/// How many samples times epochs a run may have; each has its place in memory.
const MOST_RUNS: usize = 100_000_000;
/// How long an id may be; it becomes the name of a member of the log.
const LONGEST_ID: usize = 10_000;

/// A task that can run.
#[derive(Debug)]
#[non_exhaustive]
pub struct PreparedTask {
    /// The task as it is prepared, and how it is to be run.
    pub(super) task: Task,
    pub(super) options: RunOptions,
    /// The name of the task.
    pub name: String,
    pub(super) samples: Vec<NamedSample>,
    pub(super) epochs: u32,
    pub(super) models: Arc<Models>,
    /// By the names that results know them by, which differ.
    pub(super) scorers: Vec<(String, AnyScorer)>,
    /// What is computed from the scores.
    pub plan: Plan,
    pub(super) max_samples: usize,
    /// What the whole run may take.
    pub run_limits: UsageLimits,
    pub(super) fail_on_error: FailOnError,
    /// The rules that stop the run early, and the order of samples that they need.
    pub(super) stopping: Option<StopPlan>,
    /// The name of the solver in events, unless it is a chain, which names its own.
    pub(super) solver_name: Option<Arc<str>>,
    pub(super) log_path: PathBuf,
    pub(super) start: StartRecord,
    /// What is no mistake, but probably not meant.
    pub warnings: Vec<String>,
}

/// Everything that stands in the way of a task.
#[derive(Debug, thiserror::Error)]
#[error("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
#[non_exhaustive]
pub struct PrepareError {
    /// At least one.
    pub problems: Vec<Error>,
}

/// How many samples that a scorer or solver refuses are reported; the rest are counted.
const REFUSALS_REPORTED: usize = 5;

impl Task {
    /// Checks the task as a whole and opens its model.
    ///
    /// # Errors
    /// Every problem that can be found without running anything.
    pub fn prepare(&self, options: &RunOptions, registry: &Registry) -> Result<PreparedTask, PrepareError> {
        // No more samples are read than are run, unless all must be seen to find those that are named.
        match options.limit.filter(|limit| *limit > 0 && options.sample_ids.is_empty()) {
            None => self.prepare_all(options, registry),
            Some(limit) => {
                let dataset = self.dataset.clone().limit(limit);
                Task { dataset, ..self.clone() }.prepare_all(options, registry)
            }
        }
    }

    fn prepare_all(&self, options: &RunOptions, registry: &Registry) -> Result<PreparedTask, PrepareError> {
        let problems = RefCell::new(Vec::new());
        let note = |problem: Error| problems.borrow_mut().push(problem);

        let samples = self.selected(options).map_err(note).unwrap_or_default();
        if self.scorers.is_empty() {
            note(Error::other("the task has no scorer; add one, such as includes()"));
        }
        let epochs = self.epochs_of(options);
        if samples.len().saturating_mul(epochs.epochs() as usize) > MOST_RUNS {
            let (samples, epochs) = (samples.len(), epochs.epochs());
            note(Error::other(format!(
                "{samples} samples in {epochs} epochs are more than {MOST_RUNS} runs of samples; run fewer epochs"
            )));
        }
        if let Some((id, _)) = samples.iter().find(|(id, _)| id.to_string().len() > LONGEST_ID) {
            let start: String = id.to_string().chars().take(40).collect();
            note(Error::other(format!(
                "the id {start:?}… is longer than {LONGEST_ID} bytes; give the sample a shorter one"
            )));
        }
        if epochs.epochs() == 0 {
            note(Error::other("a task runs for at least 1 epoch, found 0"));
        }
        let reducers = match &options.reducers {
            Some(reducers) => reducers.check(epochs.epochs()).map(|()| reducers.clone()),
            None => epochs.reducers(registry),
        };
        let reducers = reducers.map_err(|problem| note(problem.into())).unwrap_or(Reducers::Implicit);
        let plan = self.plan(options, reducers);
        let _ = self.generate_config(options).check().map_err(|problem| note(problem.into()));
        if let Err(problem) = plan.errors.check() {
            note(Error::other(format!("errors: {problem}")));
        } else if let Some(method) = plan.method_without_clusters() {
            note(Error::other(format!(
                "errors: {method} is for clustered samples; name the metadata key to cluster by (`cluster` in `errors`)"
            )));
        }
        if let Some(problem) = too_much_for_a_log(&plan) {
            note(problem);
        }
        let models = self.opened_models(options, registry, &samples);
        self.refusals(&samples).into_iter().for_each(note);
        let mut warnings = Vec::new();
        for finding in self.findings(options, &samples, &plan) {
            match finding {
                Finding::Problem(problem) => note(problem.into()),
                Finding::Warning(warning) => warnings.push(warning),
            }
        }
        let mut stopping = None;
        if !samples.is_empty() && epochs.epochs() > 0 {
            let rules = options.stop_when.as_ref().unwrap_or(&self.stop_when);
            match StopPlan::new(rules, &plan, epochs.epochs(), &self.scorers, &samples) {
                Ok(plan) => stopping = plan,
                Err(problems) => problems.into_iter().for_each(note),
            }
        }
        let models = models.map_err(note).ok();
        let problems = problems.into_inner();
        let (Some(models), true) = (models, problems.is_empty()) else {
            return Err(PrepareError { problems });
        };

        let names = unique_names(plan.scorers.iter().map(|scorer| scorer.name.as_str()));
        warnings.extend(unknown_keys(&plan, &samples));
        warnings.extend(without_target(&samples));
        warnings.extend(self.scorers.iter().flat_map(|scorer| scorer.warnings()));
        warnings.extend(self.roles_without_use(&models));
        let mut prepared = PreparedTask {
            task: self.clone(),
            options: options.clone(),
            name: self.log_name().to_owned(),
            samples,
            epochs: epochs.epochs(),
            models: Arc::new(models),
            scorers: names.into_iter().zip(self.scorers.iter().cloned()).collect(),
            plan,
            max_samples: options
                .max_samples
                .unwrap_or(MAX_SAMPLES.max(options.calls.max_connections()))
                .max(1),
            run_limits: options.run_limits,
            fail_on_error: options.fail_on_error.or(self.fail_on_error).unwrap_or_default(),
            stopping,
            solver_name: Some(self.solver.spec().name).filter(|name| name != "chain").map(Arc::from),
            log_path: PathBuf::new(),
            start: StartRecord::new(Default::default(), Default::default()),
            warnings,
        };
        prepared.start = start_record(&prepared, registry);
        prepared.log_path = super::record::log_path(options, &prepared.start);
        Ok(prepared)
    }

    /// What the task is called in logs.
    pub fn log_name(&self) -> &str {
        self.name.as_deref().unwrap_or("task")
    }

    /// The samples that the options leave.
    fn selected(&self, options: &RunOptions) -> Result<Vec<NamedSample>> {
        let all = self.dataset.samples()?;
        let mut samples = all.to_vec();
        if !options.sample_ids.is_empty() {
            let ids: Vec<String> = all.iter().map(|(id, _)| id.to_string()).collect();
            if let Some(unknown) = options.sample_ids.iter().find(|wanted| !ids.contains(wanted)) {
                let ends = ids.first().zip(ids.last());
                let advice = match (nearest(unknown, ids.iter().map(String::as_str)), ends) {
                    (Some(near), _) => format!("did you mean {near:?}?"),
                    (None, Some((first, last))) if first != last => {
                        format!("ids go from {first:?} to {last:?}")
                    }
                    (None, ends) => format!("the only id is {:?}", ends.map_or("", |(first, _)| first)),
                };
                return Err(Error::other(format!("the dataset has no sample {unknown:?}; {advice}")));
            }
            samples.retain(|(id, _)| options.sample_ids.contains(&id.to_string()));
        }
        if let Some(limit) = options.limit {
            samples.truncate(limit);
        }
        if samples.is_empty() {
            return Err(Error::other("no sample is left to run; raise the limit"));
        }
        self.dataset.check_text(&samples)?;
        Ok(samples)
    }

    fn epochs_of(&self, options: &RunOptions) -> Epochs {
        let own = self.epochs.clone().unwrap_or(Epochs::count(1));
        match options.epochs {
            Some(count) => own.with_count(count),
            None => own,
        }
    }

    /// Parts that do not fit together. What the options replace is not looked at.
    fn findings(&self, options: &RunOptions, samples: &[NamedSample], plan: &Plan) -> Vec<Finding> {
        let effects = self.solver.effects();
        let solvers: Vec<String> = self.solver.steps().iter().map(call_of).collect();
        let scorers: Vec<Option<&AnyScorer>> = self.scorers.iter().map(Some).collect();
        let fit = task_check::solver_and_scorers(&effects, &solvers, &scorers).into_iter();
        let mut findings: Vec<Finding> = fit.map(|(_, problem)| Finding::Problem(problem)).collect();
        findings.extend(task_check::targets(&scorers, &self.dataset).map(Finding::Problem));
        let names = effects.templates.iter().flat_map(|t| task_check::names_of_template(t, &self.dataset));
        findings.extend(names.map(|(_, finding)| finding));
        if !effects.unknown && !samples.is_empty() {
            let scores_all = task_check::scores_all(self.scorers.iter());
            let missing = |key| task_check::check_key(&key, &self.dataset, samples, scores_all);
            findings.extend(required_keys(plan).into_iter().filter_map(missing));
            if scores_all {
                let unknown = |name| task_check::unknown_rater(name, plan, &self.dataset, samples);
                let raters = task_check::unknown_raters(plan, samples);
                findings.extend(raters.into_iter().map(unknown).map(Finding::Problem));
            }
        }
        if let Some(wanted) = &self.headline {
            let metrics = match options.metrics {
                Some(_) => None,
                None => task_check::metric_names(self.metrics.as_ref(), self.scorers.iter())
                    .or_else(|| self.names_in_rehearsal(plan, samples)),
            };
            let reducers = options.reducers.is_none().then(|| task_check::reducer_names(&plan.reducers));
            let scorers = task_check::scorer_names(self.scorers.iter());
            let problems = task_check::headline(wanted, Some(scorers), metrics, reducers);
            findings.extend(problems.into_iter().map(|(_, problem)| Finding::Problem(problem)));
        }
        findings
    }

    /// The names that the figures of a run over these samples have, if scores have no part in them: groups are named by
    /// metadata. A custom solver may change that.
    fn names_in_rehearsal(&self, plan: &Plan, samples: &[NamedSample]) -> Option<Vec<String>> {
        let plan = Plan { errors: ErrorPlan::default(), reducers: Reducers::default(), ..plan.clone() };
        let has_names = |scorer: &ScorerPlan| {
            task_check::are_named_without_scores(plan.task_metrics.as_ref().unwrap_or(&scorer.metrics))
        };
        if self.solver.effects().unknown || !plan.scorers.iter().all(has_names) {
            return None;
        }
        let mut columns = ScoreColumns::new(plan.scorers.iter().map(|scorer| &scorer.name));
        for (id, sample) in samples {
            let mut row = columns.push(id.to_string(), 1);
            for (key, value) in sample.metadata.iter() {
                row = row.metadata(key, value.clone());
            }
            for scorer in &plan.scorers {
                row = row.score(&scorer.name, Score::new(1)).ok()?;
            }
        }
        let results = plan.evaluate(&columns).ok()?.results;
        let has_failed = results.scores.iter().any(|block| !block.failures.is_empty());
        let blocks = project(&results).scores.into_iter();
        (!has_failed).then(|| blocks.flat_map(|block| block.metrics.into_keys()).collect())
    }

    /// What scorers and the solver refuse; a task of thousands of samples does not report it for each.
    fn refusals(&self, samples: &[NamedSample]) -> Vec<Error> {
        let effects = self.solver.effects();
        let of_dataset = self.scorers.iter().map(|scorer| scorer.check_dataset(samples));
        let mut problems: Vec<Error> = of_dataset.filter_map(Result::err).map(Error::from).collect();
        let mut count = 0;
        for (id, sample) in samples {
            let checks = self.scorers.iter().map(|scorer| scorer.check_behind(sample, &effects));
            for problem in checks.chain([self.solver.check(sample)]).filter_map(Result::err) {
                if problems.len() < REFUSALS_REPORTED {
                    problems.push(Error::other(format!("sample {:?}: {problem}", id.to_string())));
                } else {
                    count += 1;
                }
            }
        }
        if count > 0 {
            problems.push(Error::other(format!("… and {count} more such problem(s)")));
        }
        problems
    }

    /// Models in roles that no scorer uses: with a role that is misspelled, the model that is evaluated grades itself.
    fn roles_without_use(&self, models: &Models) -> Vec<String> {
        let used: Vec<String> = self.scorers.iter().flat_map(|scorer| scorer.roles()).collect();
        let warn = |role: &String| {
            let advice = match (nearest(role, used.iter().map(String::as_str)), used.as_slice()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, []) => "scorers use none".to_owned(),
                (None, used) => format!("scorers use {}", used.join(", ")),
            };
            format!("no scorer uses a model in the role `{role}`; {advice}")
        };
        models.roles.keys().filter(|role| !used.contains(role)).map(warn).collect()
    }

    fn plan(&self, options: &RunOptions, reducers: Reducers) -> Plan {
        let mut errors = options.errors.as_ref().unwrap_or(&self.errors).clone();
        errors.range = errors.range.or_else(|| declared_range(&self.scorers));
        Plan {
            scorers: self.scorers.iter().map(scorer_plan).collect(),
            task_metrics: options.metrics.clone().or_else(|| self.metrics.clone()),
            reducers,
            seed: options.seed.unwrap_or(0),
            headline: self.headline.clone(),
            errors,
            ..Plan::new()
        }
    }
}

/// What is computed from the scores of a scorer.
pub(crate) fn scorer_plan(scorer: &AnyScorer) -> ScorerPlan {
    let spec = scorer.spec();
    ScorerPlan { name: spec.log_name().into_owned(), metrics: scorer.metrics(), params: options_of(&spec) }
}

/// More scorers or metrics than readers of logs take: what a run writes must be readable.
fn too_much_for_a_log(plan: &Plan) -> Option<Error> {
    let reducers = match &plan.reducers {
        Reducers::Explicit(reducers) => reducers.len().max(1),
        _ => 1,
    };
    let of_scorer =
        |scorer: &ScorerPlan| plan.task_metrics.as_ref().unwrap_or(&scorer.metrics).iter().count() + 1;
    let metrics = plan.scorers.iter().map(of_scorer).sum::<usize>().saturating_mul(reducers);
    let scorers = plan.scorers.len();
    let (what, count, limit) = match () {
        () if scorers > MAX_SCORERS => ("scorers", scorers, MAX_SCORERS),
        () if metrics > MAX_METRICS => ("metrics over all scorers and reducers", metrics, MAX_METRICS),
        () => return None,
    };
    Some(Error::other(format!("the task has {count} {what}, and a log has at most {limit}; use fewer")))
}

/// The range that all scorers declare, unless it is 0 to 1, which is known anyway.
pub(crate) fn declared_range(scorers: &[AnyScorer]) -> Option<(f64, f64)> {
    let mut ranges = scorers.iter().map(|scorer| scorer.range());
    let first = ranges.next()??;
    (first != (0.0, 1.0) && ranges.all(|range| range == Some(first))).then_some(first)
}

/// The keys without which figures of the plan fail.
fn required_keys(plan: &Plan) -> Vec<RequiredKey> {
    let of_plan = plan.errors.cluster.iter().map(|key| RequiredKey::new(key, KeyUsage::Cluster));
    let of_scorers = plan.scorers.iter().map(|scorer| &scorer.metrics);
    let metrics: Vec<&Metrics> = match &plan.task_metrics {
        Some(metrics) => vec![metrics],
        None => of_scorers.collect(),
    };
    let mut keys: Vec<RequiredKey> = Vec::new();
    for key in of_plan.chain(metrics.into_iter().flat_map(task_check::required_keys)) {
        if !keys.iter().any(|known| known.key == key.key) {
            keys.push(key);
        }
    }
    keys
}

/// A solver as a task names it: with its arguments, if it has any.
fn call_of(spec: &Spec) -> String {
    match spec.to_string() {
        bare if bare.contains('(') => bare,
        bare => bare + "()",
    }
}

/// Keys that metrics read and no sample has. A solver may still add them, so this is no error.
fn unknown_keys(plan: &Plan, samples: &[NamedSample]) -> Vec<String> {
    let MetadataKeys::Only(wanted) = plan.metadata_keys() else { return Vec::new() };
    let has = |key: &String| samples.iter().any(|(_, sample)| sample.metadata.contains_key(key));
    let known = || samples.iter().flat_map(|(_, sample)| sample.metadata.keys()).map(String::as_str);
    let of_raters = plan.raters().metadata_keys();
    let raters = task_check::unknown_raters(plan, samples).into_iter().map(|name| {
        format!(
            "`{name}`, which a metric compares scores with, is no scorer of the task, and no sample has such a metadata \
             key; unless it is a field of map-valued scores, the figure will fail"
        )
    });
    // A condition on `a.b` is about that key, or about `b` in the map `a`.
    let is_map_of = |map: &String, key: &str| key.split_once('.').is_some_and(|(first, _)| first == map);
    let is_met = |key: &String| {
        has(key)
            || wanted.iter().any(|map| is_map_of(map, key) && has(map))
            || wanted.iter().any(|path| is_map_of(key, path))
    };
    let warn = |key: &String| {
        let advice = nearest(key, known()).map(|near| format!("; did you mean `{near}`?"));
        let use_of_it = match plan.errors.cluster.contains(key) {
            true => "to cluster by",
            false => "that a metric reads",
        };
        format!(
            "no sample has the metadata key `{key}` {use_of_it}{}",
            advice.unwrap_or_else(|| "; its figures will fail unless a solver adds it".to_owned())
        )
    };
    let unknown = wanted.iter().filter(|key| !of_raters.contains(key) && !is_met(key));
    unknown.map(warn).chain(raters).collect()
}

/// Samples without a target among others that have one (none at all is a problem of the task): most scorers find an empty string in every answer.
fn without_target(samples: &[NamedSample]) -> Option<String> {
    let lacks = |(_, sample): &&NamedSample| sample.target.iter().all(String::is_empty);
    let (first, _) = samples.iter().find(lacks)?;
    let count = samples.iter().filter(lacks).count();
    (count < samples.len()).then(|| {
        format!(
            "{count} sample(s) have no target, such as {:?}; most scorers then take any answer for right",
            first.to_string()
        )
    })
}

impl PreparedTask {
    /// The model's name.
    pub fn model_name(&self) -> &str {
        self.model().name()
    }

    /// The model that is evaluated.
    pub(super) fn model(&self) -> &AnyModel {
        &self.models.evaluated.model
    }

    /// Samples times epochs.
    pub fn total(&self) -> usize {
        self.samples.len() * self.epochs as usize
    }

    /// How its models are called, to see what calls there were.
    pub fn calls(&self) -> &Arc<Calls> {
        &self.models.evaluated.calls
    }

    /// The limit that the run has passed after some time, in words.
    pub(super) fn passed_limit(&self, elapsed: Duration) -> Option<String> {
        if let Some(allowed) = self.run_limits.time.filter(|allowed| elapsed > *allowed) {
            return Some(format!("the run took longer than {} s", allowed.as_secs_f64()));
        }
        self.run_limits.passed(&lock(&self.models.till))?.reason
    }

    /// The metadata keys of the samples.
    pub(super) fn metadata_keys(&self) -> Vec<String> {
        task_check::keys_of(&self.samples)
    }

    /// The sample and epoch of this number: all samples in the first epoch, then all in the second.
    pub(super) fn item(&self, index: usize) -> Option<(&SampleId, &Arc<Sample>, u32)> {
        let count = self.samples.len().max(1);
        let (id, sample) = self.samples.get(index % count)?;
        Some((id, sample, u32::try_from(index / count).ok()? + 1))
    }
}
