//! What a log records of a run that was stopped early.
//!
//! It stands in the options of the run, `eval.config`, whose readers ignore names that they do not know.

use errorbar_core::{EarlyStop, SampleId};
use serde_json::{Value as Json, json};

use super::header::EvalInfo;

/// Where the options of a run record when it is to be stopped: a list of rules. Its samples are then taken in the random
/// order of the run's seed.
pub const STOP_WHEN: &str = "stop_when";
/// Where they record that it was stopped.
pub const STOPPED_EARLY: &str = "stopped_early";

/// That a run was stopped early, when and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoppedEarly {
    /// The rule that held.
    pub rule: String,
    /// Why it held, in words.
    pub reason: String,
    /// The number of samples that the run took: the first ones of the random order.
    pub samples: u64,
    /// The number of samples that were planned.
    pub planned: u64,
    /// The seed of the random order.
    pub seed: u64,
    /// When, by RFC 3339.
    pub at: String,
}

impl StoppedEarly {
    /// A rule that held, and why, after the first samples of those that were planned, in the random order of a seed; when, by
    /// RFC 3339.
    pub fn new(
        rule: impl Into<String>,
        reason: impl Into<String>,
        (samples, planned): (u64, u64),
        seed: u64,
        at: impl Into<String>,
    ) -> Self {
        let (rule, reason, at) = (rule.into(), reason.into(), at.into());
        StoppedEarly { rule, reason, samples, planned, seed, at }
    }

    /// As the log records it.
    pub fn to_json(&self) -> Json {
        let StoppedEarly { rule, reason, samples, planned, seed, at } = self;
        json!({"rule": rule, "reason": reason, "samples": samples, "planned": planned, "seed": seed, "at": at})
    }

    /// What a log records; none if it was not stopped early.
    ///
    /// # Errors
    /// A sentence on what is invalid about it.
    pub fn recorded(eval: &EvalInfo) -> Result<Option<Self>, String> {
        let recorded = match eval.config.extra.get(STOPPED_EARLY) {
            None | Some(Json::Null) => return Ok(None),
            Some(recorded) => recorded,
        };
        let number = |key: &str| {
            let number = recorded.get(key).and_then(Json::as_u64);
            number
                .ok_or_else(|| format!("`{key}`: expected a number, as in {{\"samples\": 312, \"seed\": 0}}"))
        };
        let text = |key: &str| recorded.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let samples = number("samples")?;
        let seed = number("seed")?;
        let planned = recorded.get("planned").and_then(Json::as_u64).unwrap_or(samples);
        Ok(Some(StoppedEarly {
            rule: text("rule"),
            reason: text("reason"),
            samples,
            planned,
            seed,
            at: text("at"),
        }))
    }
}

/// The samples that the run of a log took before it was stopped early; none if it was not.
///
/// # Errors
/// A sentence on what is invalid about the record.
pub fn recorded_early_stop(eval: &EvalInfo) -> Result<Option<EarlyStop>, String> {
    let Some(stopped) = StoppedEarly::recorded(eval)? else { return Ok(None) };
    let Some(ids) = &eval.dataset.sample_ids else {
        return Err("the log does not record the samples that were planned".to_owned());
    };
    EarlyStop::new(ids.iter().map(SampleId::to_string), stopped.seed, stopped.samples).map(Some)
}
