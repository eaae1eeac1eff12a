//! Limits and prices as the log records them, so that a resumed run has them again.
//!
//! Those of a sample have the names of the format. It has none for a run, nor for prices; its readers ignore
//! unknown names in the configuration.

use std::time::Duration;

use errorbar_core::Metadata;
use serde_json::{Value as Json, json};

use super::prepare::PreparedTask;
use crate::{Prices, UsageLimits};

const TIME: &str = "time_limit";
/// The same where it is no whole number of seconds, which the format wants.
const EXACT_TIME: &str = "time_limit_seconds";
const TOKENS: &str = "token_limit";
const COST: &str = "cost_limit";
const RUN_TIME: &str = "run_time_limit";
const RUN_TOKENS: &str = "run_token_limit";
const RUN_COST: &str = "run_cost_limit";
const PRICES: &str = "model_prices";
const ALL: [&str; 8] = [TIME, EXACT_TIME, TOKENS, COST, RUN_TIME, RUN_TOKENS, RUN_COST, PRICES];

/// What a log records of limits.
pub(super) struct RecordedLimits {
    pub(super) sample: UsageLimits,
    pub(super) run: UsageLimits,
    pub(super) prices: Prices,
}

/// Puts the limits of a run, and the prices of its models, into the configuration.
pub(super) fn record(prepared: &PreparedTask, config: &mut Metadata) {
    let (sample, run) = (&prepared.models.limits, &prepared.run_limits);
    let mut note = |key: &str, value: Option<Json>| {
        if let Some(value) = value {
            config.insert(key.to_owned(), value);
        }
    };
    let exact = sample.time.filter(|limit| limit.subsec_nanos() != 0);
    note(TIME, sample.time.map(|limit| json!(limit.as_secs_f64().ceil() as u64)));
    note(EXACT_TIME, exact.map(|limit| json!(limit.as_secs_f64())));
    note(TOKENS, sample.tokens.map(Json::from));
    note(COST, sample.cost.map(Json::from));
    note(RUN_TIME, run.time.map(|limit| json!(limit.as_secs_f64())));
    note(RUN_TOKENS, run.tokens.map(Json::from));
    note(RUN_COST, run.cost.map(Json::from));
    let prices = prepared.models.prices.only(prepared.models.iter().map(|client| client.model().name()));
    note(PRICES, (!prices.is_empty()).then(|| prices.to_json()));
}

/// Their values in a configuration.
pub(super) fn read(config: &Metadata) -> RecordedLimits {
    let number = |key: &str| config.get(key).and_then(Json::as_f64);
    let tokens = |key: &str| config.get(key).and_then(Json::as_u64);
    let time = |seconds: Option<f64>| seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // Invalid prices are treated as absent: a limit on the cost then requires them.
    let prices = config.get(PRICES).and_then(|prices| Prices::parse(&prices.to_string()).ok());
    RecordedLimits {
        sample: UsageLimits {
            time: time(number(EXACT_TIME).or_else(|| number(TIME))),
            tokens: tokens(TOKENS),
            cost: number(COST),
        },
        run: UsageLimits { time: time(number(RUN_TIME)), tokens: tokens(RUN_TOKENS), cost: number(RUN_COST) },
        prices: prices.unwrap_or_default(),
    }
}

/// Replaces their values in `config` with those in `new`.
pub(super) fn replace(config: &mut Metadata, new: &Metadata) {
    for key in ALL {
        match new.get(key) {
            Some(value) => config.insert(key.to_owned(), value.clone()),
            None => config.remove(key),
        };
    }
}
