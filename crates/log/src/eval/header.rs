//! What a log records about the run as a whole: the parts of `_journal/start.json` and `header.json`.
//!
//! Fields that this version does not know are stored in `extra` and written again, so that a log
//! which errorbar rewrites loses nothing.

use errorbar_core::chat::Usage;
use errorbar_core::{Headline, HeadlineRequest, Metadata, SampleId};
use indexmap::IndexMap;
use jiter::{Jiter, Peek};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::error::{LogErrorKind, Result};
use super::wire::{JsonWriter, any, count, list, metadata, number, object, root_fields, text, typed};
use crate::inspect::{PICKS_OPTION, picks_option};
use crate::recorded::{RecordedBlock, RecordedMetric, RecordedResults, headline_json};

/// The version of the format.
pub const VERSION: u32 = 2;

/// The newest version that is read. Some releases of the reference (0.3.195 to 0.3.199) wrote it on request; what events
/// share is in other fields of samples there, and everything else as in version 2.
pub(super) const NEWEST: u32 = 3;

fn version() -> u32 {
    VERSION
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not yet, or it was killed.
    #[default]
    Started,
    /// To its end.
    Success,
    /// It was stopped.
    Cancelled,
    /// By an error.
    Error,
}

/// An error of a run or a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EvalError {
    /// What went wrong.
    pub message: String,
    /// Where, in lines; may be empty.
    #[serde(default)]
    pub traceback: String,
    /// The same with colours for a terminal; may be empty.
    #[serde(default)]
    pub traceback_ansi: String,
}

impl EvalError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        EvalError { message: message.into(), ..EvalError::default() }
    }
}

/// The dataset of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DatasetInfo {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// How many samples it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// The ids of the samples that are run, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_ids: Option<Vec<SampleId>>,
    /// Whether the samples were shuffled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffled: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Metadata,
}

/// The options of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EvalConfig {
    /// How many samples, or from where to where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Json>,
    /// Which samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_id: Option<Json>,
    /// How often each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u32>,
    /// How epochs are reduced: absent for the implied mean, empty for not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs_reducer: Option<Vec<String>>,
    /// Whether a sample that fails ends the run, or the share or number of them that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on_error: Option<Json>,
    /// How many samples run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_samples: Option<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Metadata,
}

/// A scorer of a run, with its metrics as logs write them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ScorerInfo {
    /// Its name.
    pub name: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Metadata>,
    /// Its metrics; see [`metrics_to_log`](super::metrics_to_log).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Json>,
    /// Anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Metadata,
}

impl ScorerInfo {
    /// A scorer of this name, with nothing else recorded.
    pub fn new(name: impl Into<String>) -> Self {
        ScorerInfo { name: name.into(), ..ScorerInfo::default() }
    }

    /// Whether it is recorded that the scorer compares the option that was picked among several with the right one.
    pub(super) fn picks_option(&self) -> bool {
        let recorded = self.metadata.as_ref().and_then(|metadata| metadata.get(PICKS_OPTION));
        recorded.and_then(Json::as_bool).unwrap_or(false)
    }

    /// Records that it does, unless its name says so.
    pub fn set_picks_option(&mut self) {
        if !picks_option(&self.name) {
            self.metadata.get_or_insert_default().insert(PICKS_OPTION.to_owned(), true.into());
        }
    }
}

/// What is run: `eval` in a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EvalInfo {
    /// Unique for the evaluation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub eval_id: String,
    /// Unique for the run, which may hold several evaluations.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// When it was made, by RFC 3339.
    pub created: String,
    /// The name of the task.
    pub task: String,
    /// Unique for the task with its arguments.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// The version of the task, a number or a string.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub task_version: Json,
    /// The file of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_file: Option<String>,
    /// The name of the task for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_display_name: Option<String>,
    /// The name of the task in its registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_registry_name: Option<String>,
    /// All arguments of the task.
    pub task_args: Metadata,
    /// Those that were passed.
    pub task_args_passed: Metadata,
    /// The dataset.
    pub dataset: DatasetInfo,
    /// The model.
    pub model: String,
    /// How the model generates.
    pub model_generate_config: Metadata,
    /// The arguments of the model. Never a key or a secret.
    pub model_args: Metadata,
    /// The options of the run.
    pub config: EvalConfig,
    /// Packages and their versions.
    pub packages: IndexMap<String, String>,
    /// Anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The scorers with their metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scorers: Option<Vec<ScorerInfo>>,
    /// The metrics of the task, which replace those of the scorers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Json>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Metadata,
}

impl EvalInfo {
    /// A run of this task with this model, with nothing else recorded.
    pub fn new(task: impl Into<String>, model: impl Into<String>) -> Self {
        EvalInfo { task: task.into(), model: model.into(), ..EvalInfo::default() }
    }

    /// The number of samples that shards had when they were merged into this log, if they were.
    pub(super) fn merged_samples(&self) -> Option<u64> {
        let ledger = self.shard_ledger()?;
        ledger.iter().map(|shard| shard.get("samples")?.as_u64()).sum()
    }

    /// The shards that were merged into this log, as it records them.
    pub(super) fn merged_shards(&self) -> impl Iterator<Item = &Json> {
        self.shard_ledger().into_iter().flatten()
    }

    fn shard_ledger(&self) -> Option<&Vec<Json>> {
        self.extra.get("shards")?.get("ledger")?.as_array()
    }

    /// The figure that the task names as its headline, if it names one.
    pub fn headline_request(&self) -> Option<HeadlineRequest> {
        serde_json::from_value(self.extra.get("headline_metric")?.clone()).ok()
    }
}

/// A solver and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PlanStep {
    /// Its name.
    pub solver: String,
    /// All its arguments.
    pub params: Metadata,
    /// Those that were passed.
    pub params_passed: Metadata,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Metadata,
}

impl PlanStep {
    /// A solver with these arguments, all of which were passed.
    pub fn new(solver: impl Into<String>, params: Metadata) -> Self {
        PlanStep { solver: solver.into(), params_passed: params.clone(), params, extra: Metadata::new() }
    }
}

/// The solvers of a run, in order: `plan` in a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PlanRecord {
    /// The name of the plan.
    pub name: String,
    /// The solvers.
    pub steps: Vec<PlanStep>,
    /// How the model generates.
    pub config: Metadata,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Metadata,
}

impl Default for PlanRecord {
    fn default() -> Self {
        PlanRecord::new(Vec::new())
    }
}

impl PlanRecord {
    /// The plan of these solvers.
    pub fn new(steps: Vec<PlanStep>) -> Self {
        PlanRecord { name: "plan".to_owned(), steps, config: Metadata::new(), extra: Metadata::new() }
    }
}

/// Times and tokens of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Stats {
    /// When it started, by RFC 3339; may be empty.
    pub started_at: String,
    /// When it ended, by RFC 3339; may be empty.
    pub completed_at: String,
    /// The tokens of each model.
    pub model_usage: IndexMap<String, Usage>,
    /// The tokens of each role that a model played.
    pub role_usage: IndexMap<String, Usage>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Metadata,
}

/// What is known when a run starts: `_journal/start.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StartRecord {
    /// The version of the format.
    #[serde(default = "version")]
    pub version: u32,
    /// What is run.
    pub eval: EvalInfo,
    /// How.
    #[serde(default)]
    pub plan: PlanRecord,
}

impl StartRecord {
    /// The record of a run that starts.
    pub fn new(eval: EvalInfo, plan: PlanRecord) -> Self {
        StartRecord { version: VERSION, eval, plan }
    }
}

/// What is known when a run has ended: `header.json`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// The version of the format.
    pub version: u32,
    /// How the run ended.
    pub status: Status,
    /// What was run.
    pub eval: EvalInfo,
    /// How.
    pub plan: PlanRecord,
    /// What came out.
    pub results: Option<RecordedResults>,
    /// Times and tokens.
    pub stats: Stats,
    /// Why the run ended early.
    pub error: Option<EvalError>,
    /// Fields that this version does not know.
    pub extra: Metadata,
}

impl Header {
    /// The header of a run that has not ended.
    pub fn started(start: StartRecord) -> Self {
        Header {
            version: start.version,
            status: Status::Started,
            eval: start.eval,
            plan: start.plan,
            results: None,
            stats: Stats::default(),
            error: None,
            extra: Metadata::new(),
        }
    }
    setters! {
        /// How the run ended.
        status: Status => status;
        /// What came out.
        results: impl Into<Option<RecordedResults>> => results;
        /// Times and tokens.
        stats: Stats => stats;
        /// Why the run ended early.
        error: impl Into<Option<EvalError>> => error;
    }
}

// Headers to and from JSON. By hand where results are, which hold the bare `NaN` of Python.

impl Header {
    /// The header as JSON.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        JsonWriter::object_bytes(|json| self.write_fields(json))
    }

    fn write_fields(&self, json: &mut JsonWriter) {
        json.field("version", &self.version);
        json.field("status", &self.status);
        json.field("eval", &self.eval);
        json.field("plan", &self.plan);
        if let Some(results) = &self.results {
            write_results(json.key("results"), results);
        }
        json.field("stats", &self.stats);
        json.optional("error", self.error.as_ref());
        for (key, value) in &self.extra {
            json.field(key, value);
        }
    }

    /// Reads a header.
    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self> {
        let (mut eval, mut plan) = (None, None);
        let mut header = Header::started(StartRecord::new(Default::default(), Default::default()));
        root_fields(bytes, |key, json, peek| {
            match key {
                "version" => header.version = typed("version", json, peek)?,
                "status" => header.status = typed("status", json, peek)?,
                "eval" => eval = Some(typed("eval", json, peek)?),
                "plan" => plan = typed("plan", json, peek)?,
                "results" => header.results = read_results(json, peek)?,
                "stats" => header.stats = typed::<Option<_>>("stats", json, peek)?.unwrap_or_default(),
                "error" => header.error = typed("error", json, peek)?,
                // Part of a `.json` log, and read as samples from there.
                "samples" | "reductions" => json.known_skip(peek)?,
                _ => {
                    header.extra.insert(key.to_owned(), any(json, peek)?);
                }
            }
            Ok(())
        })?;
        if header.version > NEWEST {
            return Err(LogErrorKind::Version { found: header.version, known: NEWEST }.into());
        }
        header.eval = eval.ok_or(LogErrorKind::Missing("eval"))?;
        header.plan = plan.unwrap_or_default();
        Ok(header)
    }
}

impl StartRecord {
    /// Reads the record of the start.
    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self> {
        let Header { version, eval, plan, .. } = Header::from_json(bytes)?;
        Ok(StartRecord { version, eval, plan })
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        JsonWriter::bytes_of(|json| json.value(self))
    }
}

impl RecordedResults {
    /// The results as JSON.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        JsonWriter::bytes_of(|json| write_results(json, self))
    }

    /// The blocks as JSON.
    pub(crate) fn scores_to_json(&self) -> Vec<u8> {
        JsonWriter::bytes_of(|json| write_blocks(json, self))
    }
}

fn write_blocks(json: &mut JsonWriter, results: &RecordedResults) {
    json.array(|json| results.scores.iter().for_each(|block| write_block(json, block)));
}

fn write_results(json: &mut JsonWriter, results: &RecordedResults) {
    json.object(|json| {
        json.field("total_samples", &results.total_samples);
        json.field("completed_samples", &results.completed_samples);
        write_blocks(json.key("scores"), results);
        json.optional("headline", results.headline.as_ref().map(headline_json).as_ref());
        json.optional("metadata", results.metadata.as_ref());
        json.optional("early_stopping", results.early_stopping.as_ref());
        json.optional("logged_samples", results.logged_samples.as_ref());
    });
}

fn write_block(json: &mut JsonWriter, block: &RecordedBlock) {
    json.object(|json| {
        json.field("name", &block.name);
        json.field("scorer", &block.scorer);
        json.optional("reducer", block.reducer.as_ref());
        json.optional("scored_samples", block.scored_samples.as_ref());
        json.optional("unscored_samples", block.unscored_samples.as_ref());
        json.field("params", &block.params);
        json.key("metrics").object(|json| {
            for (key, metric) in &block.metrics {
                json.key(key).object(|json| {
                    json.field("name", &metric.name);
                    json.optional("group", metric.group.as_ref());
                    json.key("value").float(metric.value);
                    json.field("params", &metric.params);
                    json.optional("metadata", metric.metadata.as_ref());
                });
            }
        });
        json.optional("metadata", block.metadata.as_ref());
    });
}

fn read_results(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<RecordedResults>> {
    if peek == Peek::Null {
        return Ok(json.known_null().map(|()| None)?);
    }
    let mut results = RecordedResults::default();
    // Very old logs hold a single block as `scorer` and `metrics`.
    let mut old = RecordedBlock::default();
    object("results", json, peek, |key, json, peek| {
        match key {
            "total_samples" => results.total_samples = count(key, json, peek)?.unwrap_or(0),
            "completed_samples" => results.completed_samples = count(key, json, peek)?.unwrap_or(0),
            "scores" => results.scores = list("results.scores", json, peek, read_block)?,
            "headline" => results.headline = read_headline(json, peek)?,
            "metadata" => results.metadata = metadata("results.metadata", json, peek)?,
            "early_stopping" => results.early_stopping = metadata("results.early_stopping", json, peek)?,
            "logged_samples" => results.logged_samples = count(key, json, peek)?,
            "scorer" => old = old_scorer(std::mem::take(&mut old), json, peek)?,
            "metrics" => old.metrics = read_metrics(json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    if results.scores.is_empty() && !old.scorer.is_empty() {
        results.scores.push(old);
    }
    Ok(Some(results))
}

/// The scorer of a very old log: a name, or an object with one.
fn old_scorer(mut block: RecordedBlock, json: &mut Jiter<'_>, peek: Peek) -> Result<RecordedBlock> {
    let name = match any(json, peek)? {
        serde_json::Value::String(name) => name,
        other => other.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned(),
    };
    block.name.clone_from(&name);
    block.scorer = name;
    Ok(block)
}

fn read_headline(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<Headline>> {
    let Some(map) = metadata("results.headline", json, peek)? else { return Ok(None) };
    let get = |key: &str| map.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    Ok(Some(Headline {
        scorer: get("scorer").unwrap_or_default(),
        score: get("score").unwrap_or_default(),
        metric: get("metric").unwrap_or_default(),
        reducer: get("reducer"),
    }))
}

fn read_block(json: &mut Jiter<'_>, peek: Peek) -> Result<RecordedBlock> {
    let (mut block, mut scorer) = (RecordedBlock::default(), None);
    object("results.scores[]", json, peek, |key, json, peek| {
        match key {
            "name" => block.name = text(key, json, peek)?.unwrap_or_default(),
            "scorer" => scorer = text(key, json, peek)?,
            "reducer" => block.reducer = text(key, json, peek)?,
            "scored_samples" => block.scored_samples = count(key, json, peek)?,
            "unscored_samples" => block.unscored_samples = count(key, json, peek)?,
            "params" => block.params = metadata(key, json, peek)?.unwrap_or_default(),
            "metrics" => block.metrics = read_metrics(json, peek)?,
            "metadata" => block.metadata = metadata(key, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    block.scorer = scorer.unwrap_or_else(|| block.name.clone());
    Ok(block)
}

fn read_metrics(json: &mut Jiter<'_>, peek: Peek) -> Result<IndexMap<String, RecordedMetric>> {
    let mut metrics = IndexMap::new();
    object("metrics", json, peek, |key, json, peek| {
        let metric = read_metric(key, json, peek)?;
        metrics.insert(key.to_owned(), metric);
        Ok(())
    })?;
    Ok(metrics)
}

fn read_metric(key: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<RecordedMetric> {
    // Older logs hold null where the value was not-a-number.
    let mut metric = RecordedMetric::new(key, f64::NAN);
    object(key, json, peek, |field, json, peek| {
        match field {
            "name" => metric.name = text(field, json, peek)?.unwrap_or_default(),
            "group" => metric.group = text(field, json, peek)?,
            "value" => metric.value = number(key, json, peek)?.unwrap_or(f64::NAN),
            "params" | "options" => metric.params = metadata(field, json, peek)?.unwrap_or_default(),
            "metadata" => metric.metadata = metadata(field, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    Ok(metric)
}
