//! What the log records about a run: the spec of everything, so that it can be scored again and resumed.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use errorbar_core::{ErrorPlan, IndexMap, Metadata, Registry, ScorerPlan, Spec};
use errorbar_log::eval::{
    DatasetInfo, ERRORS, EvalConfig, EvalInfo, PlanRecord, PlanStep, STOP_WHEN, ScorerInfo, StartRecord,
    metrics_to_log, timestamp,
};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::options::{self, RunOptions};
use super::prepare::PreparedTask;
use crate::model::ROLES;
use crate::{AnyModel, AnyScorer, ModelClient, Models};

/// Where the server of the model is recorded.
pub(super) const BASE_URL: &str = "model_base_url";
/// Where the digest of the task file is recorded.
pub(super) const TASK_FILE_DIGEST: &str = "task_file_digest";

/// Where it is recorded that samples have no events, so that a resumed run has none either.
pub(super) const LOG_EVENTS: &str = "log_events";

/// Where the digests of scripts that score are recorded, by scorer.
pub(super) const SCORER_DIGESTS: &str = "scorer_digests";

/// The arguments of a model as logs record them, and its server, which they record apart.
pub(super) fn recorded_args(model: &AnyModel) -> (Metadata, Option<String>) {
    let mut args = model.args();
    let base_url = args.remove("base_url").and_then(|url| url.as_str().map(str::to_owned));
    (args, base_url)
}

/// The models in roles: one as an object, several as a list.
fn roles(models: &Models) -> Json {
    let record = |client: &ModelClient| {
        let (args, base_url) = recorded_args(&client.model);
        let mut record =
            json!({"model": client.model.name(), "config": client.config.to_log(), "args": args});
        if let (Some(url), Some(fields)) = (base_url, record.as_object_mut()) {
            fields.insert("base_url".to_owned(), url.into());
        }
        record
    };
    let recorded = |(role, clients): (&String, &Vec<ModelClient>)| {
        let models = match clients.as_slice() {
            [client] => record(client),
            clients => clients.iter().map(record).collect(),
        };
        (role.clone(), models)
    };
    Json::Object(models.roles.iter().map(recorded).collect())
}

/// The time now, as logs write it.
pub(crate) fn now() -> String {
    timestamp(since_epoch())
}

/// The time since the Unix epoch; none on a machine whose clock is before it.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// An id that nothing else has.
fn unique_id() -> String {
    Uuid::new_v4().simple().to_string()
}

/// The path of a new log: time, task and id, so that names sort by time and never meet.
pub(super) fn log_path(options: &RunOptions, start: &StartRecord) -> PathBuf {
    let time = start.eval.created.replace(':', "-");
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '.') { c } else { '-' };
    let task: String = start.eval.task.chars().map(plain).take(80).collect();
    let folder = Some(options.log_dir.as_path()).filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("logs")).join(format!("{time}_{task}_{}.eval", start.eval.task_id))
}

/// The record of the start.
pub(super) fn start_record(prepared: &PreparedTask, registry: &Registry) -> StartRecord {
    let PreparedTask { task, plan, .. } = prepared;
    let created = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string();
    let (model_args, base_url) = recorded_args(prepared.model());
    let in_roles = Some(&prepared.models).filter(|models| !models.roles.is_empty());
    let extra = [
        ("headline_metric", plan.headline.as_ref().map(|headline| json!(headline))),
        (BASE_URL, base_url.map(Json::from)),
        (ROLES, in_roles.map(|models| roles(models))),
        (TASK_FILE_DIGEST, task.origin.file_digest.as_deref().map(Json::from)),
    ];
    let mut eval = EvalInfo::new(prepared.name.as_str(), prepared.model_name());
    eval.eval_id = unique_id();
    eval.run_id = unique_id();
    eval.created = created;
    eval.task_id = unique_id();
    eval.task_version = task.version.clone().unwrap_or(json!(0));
    eval.task_file = task.origin.file.as_ref().map(|path| path.display().to_string());
    eval.task_display_name = Some(prepared.name.clone());
    eval.task_registry_name = task.origin.registered.clone();
    eval.task_args = task.origin.args.clone();
    eval.task_args_passed = task.origin.passed.clone();
    eval.dataset = dataset(prepared);
    eval.model_args = model_args;
    eval.model_generate_config = prepared.models.evaluated.config.to_log();
    eval.config = config(prepared);
    eval.packages = IndexMap::from([("errorbar".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
    eval.metadata = (!task.metadata.is_empty()).then(|| task.metadata.clone());
    eval.scorers = Some(scorers(prepared, registry));
    eval.metrics = plan.task_metrics.as_ref().map(|metrics| metrics_to_log(metrics, registry));
    eval.extra = extra.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    let step = |spec: &Spec| PlanStep::new(spec.log_name(), options_of(spec));
    StartRecord::new(eval, PlanRecord::new(task.solver.steps().iter().map(step).collect()))
}

fn dataset(prepared: &PreparedTask) -> DatasetInfo {
    let source = &prepared.task.dataset;
    let mut dataset = DatasetInfo::default();
    dataset.name = source.name().map(str::to_owned);
    dataset.location = source.location().map(str::to_owned);
    dataset.samples = Some(source.samples().map_or(prepared.samples.len(), <[_]>::len) as u64);
    dataset.sample_ids = Some(prepared.samples.iter().map(|(id, _)| id.clone()).collect());
    dataset.shuffled = Some(source.is_shuffled());
    dataset.extra = source.provenance().clone();
    dataset
}

fn config(prepared: &PreparedTask) -> EvalConfig {
    let options = &prepared.options;
    let mut config = EvalConfig::default();
    let mut note = |key: &str, value: Option<Json>| {
        if let Some(value) = value {
            config.extra.insert(key.to_owned(), value);
        }
    };
    let digests = prepared.scorers.iter().filter_map(|(name, scorer)| Some((name.clone(), scorer.digest()?)));
    let digests: IndexMap<String, String> = digests.collect();
    note("log_samples", Some(json!(true)));
    note(LOG_EVENTS, options.skip_events.then(|| json!(false)));
    note("seed", Some(prepared.plan.seed).filter(|seed| *seed != 0).map(Json::from));
    note(ERRORS, Some(&prepared.plan.errors).filter(|errors| !errors.is_default()).map(ErrorPlan::to_json));
    note(SCORER_DIGESTS, (!digests.is_empty()).then(|| json!(digests)));
    note(STOP_WHEN, prepared.stopping.as_ref().map(|stopping| json!(stopping.texts())));
    options::record(prepared, note);
    config.limit = options.limit.map(Json::from);
    config.sample_id = (!options.sample_ids.is_empty()).then(|| json!(options.sample_ids));
    config.epochs = Some(prepared.epochs);
    config.epochs_reducer = prepared.plan.reducers.log_names();
    config.fail_on_error = Some(prepared.fail_on_error.to_log());
    config.max_samples = Some(prepared.max_samples as u64);
    config
}

fn scorers(prepared: &PreparedTask, registry: &Registry) -> Vec<ScorerInfo> {
    let plan = &prepared.plan;
    let info = |(scorer, (_, judge)): (&ScorerPlan, &(String, AnyScorer))| {
        let metrics = plan.task_metrics.as_ref().unwrap_or(&scorer.metrics);
        // Two of one name are distinguished in scores and results, but not here, as in the reference.
        let mut info = ScorerInfo::new(scorer.name.as_str());
        info.options = Some(scorer.params.clone());
        info.metrics = Some(metrics_to_log(metrics, registry));
        info.metadata = Some(Metadata::new());
        if judge.picks_option() {
            info.set_picks_option();
        }
        info
    };
    plan.scorers.iter().zip(&prepared.scorers).map(info).collect()
}

/// The arguments of a spec as logs write them.
pub(crate) fn options_of(spec: &Spec) -> Metadata {
    match spec.to_log() {
        Json::Object(mut logged) => match logged.remove("options") {
            Some(Json::Object(options)) => options.into(),
            _ => Metadata::new(),
        },
        // Arguments by position have no other form than the string of the spec.
        text => Metadata::from_iter([("spec".to_owned(), text)]),
    }
}
