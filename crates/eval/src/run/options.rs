//! How a task is run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use errorbar_core::{ErrorPlan, Metadata, Metrics, Reducers};
use errorbar_inference::StopRule;
use errorbar_log::eval::{ERRORS, STOP_WHEN, STOPPED_EARLY};
use serde_json::{Value as Json, json};

use super::prepare::PreparedTask;
use crate::{Calls, FailOnError, GenerateConfig, ModelChoice, Prices, UsageLimits};

/// How a task is run; what is unset is as in the task.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The model.
    pub model: Option<ModelChoice>,
    /// Only this many samples, from the first.
    pub limit: Option<usize>,
    /// Only samples of these ids.
    pub sample_ids: Vec<String>,
    /// How often each sample is run.
    pub epochs: Option<u32>,
    /// How epochs are reduced.
    pub reducers: Option<Reducers>,
    /// What is computed.
    pub metrics: Option<Metrics>,
    /// How errors and intervals are computed.
    pub errors: Option<ErrorPlan>,
    /// The rules of which one stops the run early; none if empty.
    pub stop_when: Option<Vec<StopRule>>,
    /// How many samples run at once.
    pub max_samples: Option<usize>,
    /// The seed of resampling.
    pub seed: Option<u64>,
    /// The folder of logs; `logs` if empty.
    pub log_dir: PathBuf,
    /// The form of the log.
    pub log_format: LogFormat,
    /// Whether the events of samples are left out of the log.
    pub skip_events: bool,
    /// When samples that fail end the run.
    pub fail_on_error: Option<FailOnError>,
    /// How much one sample may take.
    pub limits: UsageLimits,
    /// How much the run may take.
    pub run_limits: UsageLimits,
    /// What models cost.
    pub prices: Prices,
    /// How models generate.
    pub generate: GenerateConfig,
    /// Where the server of the model is, if it is not where the provider has it.
    pub base_url: Option<String>,
    /// A file that holds the key of the model.
    pub api_key_file: Option<PathBuf>,
    /// A file with certificates of servers to trust beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// Models in a role, such as `grader`; several in one role are a panel.
    pub roles: Vec<(String, ModelChoice)>,
    /// Where the servers of roles are, if they are not where the provider has them. That of the model is not theirs:
    /// what is evaluated on the user's machine is often graded elsewhere.
    pub role_base_urls: Vec<(String, String)>,
    /// Files that hold the keys of roles.
    pub role_key_files: Vec<(String, PathBuf)>,
    /// How models are called; runs that share it share its connections.
    pub calls: Arc<Calls>,
}

/// The form of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogFormat {
    /// A zip archive that grows while the task runs.
    #[default]
    Eval,
    /// One JSON object, written when the run has ended; until then the archive is there.
    Json,
}

// Limits and prices as the log records them, so that a resumed run has them again.
//
// Those of a sample have the names of the format. It has none for a run, nor for prices; its readers ignore
// unknown names in the configuration.

const TIME: &str = "time_limit";
/// The same where it is no whole number of seconds, which the format wants.
const EXACT_TIME: &str = "time_limit_seconds";
const TOKENS: &str = "token_limit";
const COST: &str = "cost_limit";
const RUN_TIME: &str = "run_time_limit";
const RUN_TOKENS: &str = "run_token_limit";
const RUN_COST: &str = "run_cost_limit";
const PRICES: &str = "model_prices";
/// Where a log records that its form is JSON.
const LOG_FORMAT: &str = "log_format";

/// What a resumed run may have otherwise than the run before.
const CHANGEABLE: [&str; 11] =
    [TIME, EXACT_TIME, TOKENS, COST, RUN_TIME, RUN_TOKENS, RUN_COST, PRICES, STOP_WHEN, LOG_FORMAT, ERRORS];

/// Puts the limits of a run, the prices of its models and the form of its log into the configuration.
pub(super) fn record(prepared: &PreparedTask, mut note: impl FnMut(&str, Option<Json>)) {
    let (sample, run) = (&prepared.models.limits, &prepared.run_limits);
    let exact = sample.time.filter(|limit| limit.subsec_nanos() != 0);
    note(TIME, sample.time.map(|limit| json!(limit.as_secs_f64().ceil() as u64)));
    note(EXACT_TIME, exact.map(|limit| json!(limit.as_secs_f64())));
    note(TOKENS, sample.tokens.map(Json::from));
    note(COST, sample.cost.map(Json::from));
    note(RUN_TIME, run.time.map(|limit| json!(limit.as_secs_f64())));
    note(RUN_TOKENS, run.tokens.map(Json::from));
    note(RUN_COST, run.cost.map(Json::from));
    let prices = prepared.models.prices.only(prepared.models.iter().map(|client| client.model.name()));
    note(PRICES, (!prices.is_empty()).then(|| prices.to_json()));
    note(LOG_FORMAT, (prepared.options.log_format == LogFormat::Json).then(|| "json".into()));
}

/// The options that are recorded so.
pub(super) fn recorded(config: &Metadata) -> RunOptions {
    let number = |key: &str| config.get(key).and_then(Json::as_f64);
    let tokens = |key: &str| config.get(key).and_then(Json::as_u64);
    let time = |seconds: Option<f64>| seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // Invalid prices are treated as absent: a limit on the cost then requires them.
    let prices = config.get(PRICES).and_then(|prices| Prices::parse(&prices.to_string()).ok());
    let is_json = config.get(LOG_FORMAT).and_then(Json::as_str) == Some("json");
    RunOptions {
        limits: UsageLimits {
            time: time(number(EXACT_TIME).or_else(|| number(TIME))),
            tokens: tokens(TOKENS),
            cost: number(COST),
        },
        run_limits: UsageLimits {
            time: time(number(RUN_TIME)),
            tokens: tokens(RUN_TOKENS),
            cost: number(RUN_COST),
        },
        prices: prices.unwrap_or_default(),
        log_format: if is_json { LogFormat::Json } else { LogFormat::Eval },
        ..RunOptions::default()
    }
}

/// Replaces what may have changed in the configuration of a run with what it is now. It has not stopped early yet.
pub(super) fn replace(config: &mut Metadata, new: &Metadata) {
    config.remove(STOPPED_EARLY);
    for key in CHANGEABLE {
        match new.get(key) {
            Some(value) => config.insert(key.to_owned(), value.clone()),
            None => config.remove(key),
        };
    }
}
