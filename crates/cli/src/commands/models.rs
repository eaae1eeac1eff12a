//! Options for models: which, how they generate, how they are called, their limits.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use errorbar_eval::{
    Cache, Calls, GenerateConfig, MAX_CONNECTIONS, ModelChoice, Prices, RetryPolicy, RunOptions,
    TemplateText, UsageLimits, allow_connections, built_in_registry, max_open_files,
};
use errorbar_files::read_small;
use serde_json::{Map, Value as Json};

use crate::diagnostic::{Diagnostic, Diagnostics, all};
use crate::format::{parse_duration, seconds};
use crate::progress::Watcher;
use errorbar_analysis::{log_dir, resolve_model};

/// Which model generates, and how. A resumed run takes all of it from its log.
#[derive(Debug, Args)]
#[command(next_help_heading = "Models")]
pub(crate) struct ModelArgs {
    /// The model, as provider/model: `openai/NAME` (any server with OpenAI's chat completions API), `replay/FILE` (recorded outputs, or those of a log: `replay/latest`), `mock/TEXT`; may be repeated, several run side by side [default: that of the task]
    #[arg(long = "model", value_name = "MODEL", conflicts_with = "resume")]
    pub(super) models: Vec<String>,
    /// The base URL of the server, such as http://localhost:8000/v1 [default: that of the provider; for openai $OPENAI_BASE_URL, else OpenAI]; required again with --resume, as a key is not sent to an address that only a log names
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    #[command(flatten)]
    pub(super) roles: RoleArgs,
    /// The sampling temperature
    #[arg(long, value_name = "T", conflicts_with = "resume", allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// Nucleus sampling: the share of the probability that tokens are sampled from
    #[arg(long, value_name = "P", conflicts_with = "resume", allow_negative_numbers = true)]
    top_p: Option<f64>,
    /// The maximum number of tokens of an answer
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    max_tokens: Option<u64>,
    /// A stop sequence, which ends an answer; may be repeated
    #[arg(long = "stop", value_name = "TEXT", conflicts_with = "resume")]
    stop_seqs: Vec<String>,
    /// The sampling seed of the server
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    sampling_seed: Option<i64>,
    /// The penalty for tokens by how often they occurred
    #[arg(long, value_name = "X", conflicts_with = "resume", allow_negative_numbers = true)]
    frequency_penalty: Option<f64>,
    /// The penalty for tokens that occurred at all
    #[arg(long, value_name = "X", conflicts_with = "resume", allow_negative_numbers = true)]
    presence_penalty: Option<f64>,
    /// A system message at the start of every conversation, or the name of a file that holds it
    #[arg(long, value_name = "TEXT", conflicts_with = "resume", value_parser = system_message)]
    system_message: Option<String>,
    /// Record the log probabilities of the tokens, if the server returns them
    #[arg(long, conflicts_with = "resume")]
    logprobs: bool,
    /// The number of most likely tokens to record at each position
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    top_logprobs: Option<u32>,
    /// Further fields for the body of requests, as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "resume", value_parser = object)]
    extra_body: Option<Map<String, Json>>,
    #[command(flatten)]
    pub(super) calling: CallArgs,
}

/// Models in roles.
#[derive(Debug, Args)]
pub(crate) struct RoleArgs {
    /// A model with a role, such as grader=openai/NAME; may be repeated, and several in one role are a panel
    #[arg(long = "model-role", value_name = "ROLE=MODEL", value_parser = role)]
    pub(super) roles: Vec<(String, String)>,
    /// The base URL of a role's server; --base-url does not apply to roles
    #[arg(long = "role-base-url", value_name = "ROLE=URL", value_parser = of_role)]
    pub(super) role_base_urls: Vec<(String, String)>,
}

/// The models that grade stored outputs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Graders (with --with)")]
pub(crate) struct GraderArgs {
    #[command(flatten)]
    pub(super) roles: RoleArgs,
    #[command(flatten)]
    pub(super) connections: ConnectionArgs,
    /// The maximum number of samples that are graded at once
    #[arg(long, value_name = "N", requires = "with")]
    max_samples: Option<NonZeroUsize>,
    /// The token limit of all graders of a log together; then it is not scored, and nothing is written
    #[arg(long, value_name = "N", requires = "with", value_parser = clap::value_parser!(u64).range(1..))]
    run_token_limit: Option<u64>,
    /// The cost limit of all graders of a log together, by the --prices; then it is not scored
    #[arg(long, value_name = "COST", requires = "with", value_parser = cost)]
    run_cost_limit: Option<f64>,
    /// A file (TOML, JSON) with the prices of models, for a million tokens
    #[arg(long, value_name = "FILE", requires = "with")]
    prices: Option<PathBuf>,
}

/// How models are called, and their limits. A resumed run has the limits and prices of its log, unless others are given.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// A file with the API key on its first line [default: the key is in the provider's variable, such as $OPENAI_API_KEY]
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) connections: ConnectionArgs,
    /// The token limit of one sample; then it is scored without the answer that exceeded the limit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    token_limit: Option<u64>,
    /// The cost limit of one sample, by the --prices; then it is scored without the answer that exceeded the limit
    #[arg(long, value_name = "COST", value_parser = cost)]
    cost_limit: Option<f64>,
    /// The time limit of the run with each model; then it ends, and can be resumed (--resume counts from 0, up to the limit of the log if no other is given; `none` lifts it)
    #[arg(long, value_name = "SECONDS", value_parser = |text: &str| limit(text, seconds))]
    run_time_limit: Option<RunLimit<Duration>>,
    /// The token limit of the run with each model, or `none`; then it ends, and can be resumed
    #[arg(long, value_name = "N", value_parser = |text: &str| limit(text, tokens))]
    run_token_limit: Option<RunLimit<u64>>,
    /// The cost limit of the run with each model, by the --prices, or `none`; then it ends, and can be resumed
    #[arg(long, value_name = "COST", value_parser = |text: &str| limit(text, cost))]
    run_cost_limit: Option<RunLimit<f64>>,
    /// A file (TOML, JSON) with the prices of models, for a million tokens: ["openai/NAME"] input = 0.15, output = 0.6; --resume has those of the log
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// Connections, retries, the cache.
#[derive(Debug, Args)]
pub(crate) struct ConnectionArgs {
    /// A file with the API key of a role's model on its first line
    #[arg(long = "role-api-key-file", value_name = "ROLE=FILE", value_parser = of_role)]
    role_key_files: Vec<(String, String)>,
    /// A file (PEM) with certificates of servers to trust beside those of the system: that of an authority, or a self-signed one
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// The maximum number of concurrent requests, over all models; fewer for a model that reports a rate limit
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::new(MAX_CONNECTIONS).unwrap_or(NonZeroUsize::MIN))]
    max_connections: NonZeroUsize,
    /// How often to retry a request after a transient error
    #[arg(long, value_name = "N", default_value_t = RetryPolicy::default().max_retries)]
    max_retries: u32,
    /// The wait before the first retry; exponential backoff with jitter doubles it, up to a minute
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds)]
    retry_wait: Duration,
    /// How long to retry a server that has never answered, in case it is starting; then the run ends
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    startup_timeout: Duration,
    /// The timeout of one request; then it is retried
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    timeout: Duration,
    /// Cache answers, and reuse those that are at most this old (30m, 12h, 7d, 4w) [default: off; 1w if given without a time]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "1w", value_parser = parse_duration)]
    cache: Option<Duration>,
    /// The folder of the cache [default: the user's folder for caches]
    #[arg(long, value_name = "DIR", env = "ERRORBAR_CACHE_DIR")]
    cache_dir: Option<PathBuf>,
}

fn role(text: &str) -> Result<(String, String), String> {
    let role = of_role(text).ok().filter(|(_, model)| model.contains('/'));
    role.ok_or_else(|| "expected a role and its model, such as grader=openai/NAME".to_owned())
}

fn of_role(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role, value)) if !role.trim().is_empty() && !value.trim().is_empty() => {
            Ok((role.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected a role and a value, such as grader=…".to_owned()),
    }
}

/// A limit of a run; `None` lifts the one that a log records.
#[derive(Clone, Copy, Debug)]
struct RunLimit<T>(Option<T>);

fn limit<T, E: ToString>(text: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<RunLimit<T>, String> {
    match text {
        "none" => Ok(RunLimit(None)),
        text => parse(text).map(|limit| RunLimit(Some(limit))).map_err(|error| error.to_string()),
    }
}

fn tokens(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number".to_owned())
}

fn cost(text: &str) -> Result<f64, String> {
    let cost = text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
    cost.ok_or_else(|| "expected a number of at least 0".to_owned())
}

fn object(text: &str) -> Result<Map<String, Json>, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("expected a JSON object such as {{\"top_k\": 40}}: {error}"))
}

impl ModelArgs {
    /// Sets the run options that are given on the command line.
    pub(super) fn apply(&self, options: &mut RunOptions, watcher: &Arc<Watcher>) -> Result<(), Diagnostics> {
        options.base_url.clone_from(&self.base_url);
        let log_dir = options.log_dir.clone();
        self.roles.apply(options, &log_dir)?;
        options.generate = self.generate();
        Ok(self.calling.apply(options, watcher)?)
    }

    /// The models to run side by side.
    pub(super) fn choices(&self, log_dir: &Path) -> Result<Vec<ModelChoice>, Diagnostics> {
        all(self.models.iter().map(|model| Ok(ModelChoice::from(resolve_model(model, log_dir)?.as_str()))))
    }

    fn generate(&self) -> GenerateConfig {
        GenerateConfig {
            system_message: self.system_message.clone(),
            max_tokens: self.max_tokens,
            top_p: self.top_p,
            temperature: self.temperature,
            stop_seqs: self.stop_seqs.clone(),
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            seed: self.sampling_seed,
            logprobs: (self.logprobs || self.top_logprobs.is_some()).then_some(true),
            top_logprobs: self.top_logprobs,
            extra_body: self.extra_body.clone().unwrap_or_default().into(),
        }
    }
}

fn system_message(given: &str) -> Result<String, String> {
    let message = TemplateText::read(given, &built_in_registry());
    message.map(|message| message.text().to_owned()).map_err(|error| error.to_string())
}

impl RoleArgs {
    /// Sets them; bare handles of logs are of this folder.
    fn apply(&self, options: &mut RunOptions, log_dir: &Path) -> Result<(), Diagnostics> {
        let role = |(role, model): &(String, String)| {
            Ok((role.clone(), ModelChoice::from(resolve_model(model, log_dir)?.as_str())))
        };
        options.roles = all(self.roles.iter().map(role))?;
        options.role_base_urls.clone_from(&self.role_base_urls);
        Ok(())
    }
}

impl GraderArgs {
    /// Sets the options that are given on the command line.
    pub(super) fn apply(&self, options: &mut RunOptions, watcher: &Arc<Watcher>) -> Result<(), Diagnostics> {
        self.roles.apply(options, &log_dir())?;
        options.max_samples = self.max_samples.map(NonZeroUsize::get);
        let (tokens, cost) = (self.run_token_limit, self.run_cost_limit);
        options.run_limits = UsageLimits { tokens, cost, ..UsageLimits::default() };
        if let Some(path) = &self.prices {
            options.prices = prices(path)?;
        }
        Ok(self.connections.apply(options, watcher)?)
    }
}

impl ConnectionArgs {
    /// A note that there are fewer connections than were wanted.
    pub(super) fn note_fewer(&self, calls: &Calls) -> Option<Diagnostic> {
        let (connections, wanted) = (calls.max_connections(), self.max_connections.get());
        (connections < wanted).then(|| {
            let files = max_open_files().unwrap_or_default();
            Diagnostic::note(format!(
                "{connections} connections at once in place of {wanted}, as this process may have {files} files open; \
                 `ulimit -n` allows more"
            ))
        })
    }

    fn apply(&self, options: &mut RunOptions, watcher: &Arc<Watcher>) -> Result<(), Diagnostic> {
        options.ca_file.clone_from(&self.ca_file);
        let file = |(role, file): &(String, String)| (role.clone(), PathBuf::from(file));
        options.role_key_files = self.role_key_files.iter().map(file).collect();
        let retry = RetryPolicy {
            max_retries: self.max_retries,
            first_wait: self.retry_wait,
            startup_timeout: self.startup_timeout,
            ..RetryPolicy::default()
        };
        let connections = allow_connections(self.max_connections.get());
        let mut calls = Calls::new(connections, retry).timeout(self.timeout);
        if let Some(expiry) = self.cache {
            let cache = match &self.cache_dir {
                Some(folder) => Cache::open(Cache::folder_in(folder), Some(expiry))?,
                None => Cache::open_default(Some(expiry))?,
            };
            calls = calls.cache(cache);
        }
        let watcher = Arc::clone(watcher);
        options.calls = Arc::new(calls.on_retry(move |error, wait| watcher.retried(error, wait)));
        Ok(())
    }
}

impl CallArgs {
    /// Sets the run options that are given on the command line.
    pub(super) fn apply(&self, options: &mut RunOptions, watcher: &Arc<Watcher>) -> Result<(), Diagnostic> {
        options.api_key_file.clone_from(&self.api_key_file);
        self.connections.apply(options, watcher)?;
        options.limits.tokens = self.token_limit.or(options.limits.tokens);
        options.limits.cost = self.cost_limit.or(options.limits.cost);
        let recorded = options.run_limits;
        options.run_limits = UsageLimits {
            time: self.run_time_limit.map_or(recorded.time, |limit| limit.0),
            tokens: self.run_token_limit.map_or(recorded.tokens, |limit| limit.0),
            cost: self.run_cost_limit.map_or(recorded.cost, |limit| limit.0),
        };
        if let Some(path) = &self.prices {
            options.prices = prices(path)?;
        }
        Ok(())
    }
}

fn prices(path: &Path) -> Result<Prices, Diagnostic> {
    let read = read_small(path).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    let read = read.map_err(|error| error.to_string());
    let prices = read.and_then(|text| Prices::parse(&text).map_err(|error| error.to_string()));
    prices.map_err(|problem| Diagnostic::error(problem).about(path.display()))
}
