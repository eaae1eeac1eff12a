//! What a list shows of a log, off its header.

use errorbar_core::spec::{Arg, Spec};
use errorbar_core::{EarlyStop, Estimate, Metadata, Results, SampleId, Undefined};
use serde_json::{Value as Json, json};

use super::error::Result;
use super::header::{EvalInfo, Header, ScorerInfo, Stats, Status};
use super::plan::is_unreduced;
use super::reader::EvalLog;
use crate::inspect::{has_estimates, recover, set_headline};
use crate::recorded::{RecordedBlock, RecordedResults};

/// What a list shows of a log. Only the header is read, never a sample.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogSummary {
    /// The name of the task.
    pub task: String,
    /// The model.
    pub model: String,
    /// When the run was made, as the log has it.
    pub created: String,
    /// How the run ended.
    pub status: Status,
    /// Why the run ended early.
    pub error: Option<String>,
    /// Samples times epochs without an error; of a run without results, those that it has saved.
    pub completed: u64,
    /// Samples times epochs; of a run that did not reach its end, those that were planned.
    pub total: Option<u64>,
    /// The number of epochs.
    pub epochs: u64,
    /// The samples times epochs that were planned, if a rule stopped the run: fewer are no shortcoming.
    pub stopped_early: Option<u64>,
    /// Times and tokens of the run.
    pub stats: Stats,
    /// The figures that the header records, with the headline that the task names.
    pub results: Option<Results>,
}

impl LogSummary {
    /// What the header of a log says.
    pub fn read(log: &EvalLog) -> Result<Self> {
        let header = log.short_header()?;
        let results = recovered(&header);
        let Header { eval, status, results: recorded, stats, error, .. } = header;
        let epochs = u64::from(eval.config.epochs.unwrap_or(1)).max(1);
        let stopped_early = StoppedEarly::recorded(&eval).ok().flatten();
        let samples = eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64).or(eval.dataset.samples);
        let planned = samples.map(|samples| samples.saturating_mul(epochs));
        let (completed, total) = match &recorded {
            Some(results) if status == Status::Success => {
                (results.completed_samples, Some(results.total_samples))
            }
            Some(results) => (results.completed_samples, planned.or(Some(results.total_samples))),
            None => (log.sample_count() as u64, planned),
        };
        Ok(LogSummary {
            task: eval.task,
            model: eval.model,
            created: eval.created,
            status,
            error: error.map(|error| error.message),
            completed,
            total,
            epochs,
            stopped_early: stopped_early.map(|stopped| stopped.planned.saturating_mul(epochs)),
            stats,
            results,
        })
    }
}

/// The figures of a header. The error that the reference records of unreduced epochs takes them as independent, so it is
/// not the one of the figure.
fn recovered(header: &Header) -> Option<Results> {
    let recorded = header.results.as_ref()?;
    let mut results = recover(recorded);
    set_headline(&mut results, recorded, header.eval.headline_request().as_ref());
    let without_error = |mut estimate: Estimate| {
        (estimate.error, estimate.interval) = (Err(Undefined::NotAvailable), Err(Undefined::NotAvailable));
        estimate
    };
    for (score, block) in results.scores.iter_mut().zip(&recorded.scores) {
        if !has_estimates(block) && is_unreduced(header, block) {
            for metric in &mut score.metrics {
                metric.value = metric.value.clone().map(without_error);
            }
        }
    }
    Some(results)
}

impl Header {
    /// Results of the figures that the log records, each with the error and the interval that are recorded with it; none if
    /// it records none. Nothing is computed. Older logs do not record how many scores a figure is of: it is taken for the
    /// number of samples that the header has, and 0 where that is not known, either.
    pub fn recorded_figures(&self) -> Option<Results> {
        let mut recorded = self.results.as_ref().filter(|recorded| !recorded.scores.is_empty())?.clone();
        let scores = self.score_count(&recorded);
        let is_unknown =
            |block: &&mut RecordedBlock| block.scored_samples.is_none() && block.unscored_samples.is_none();
        recorded.scores.iter_mut().filter(is_unknown).for_each(|block| block.scored_samples = scores);
        Some(recover(&recorded))
    }

    /// The number of scores of a block that records none: one for each sample, or for each epoch if these are not reduced.
    fn score_count(&self, recorded: &RecordedResults) -> Option<u64> {
        let eval = &self.eval;
        let epochs = u64::from(eval.config.epochs.unwrap_or(1)).max(1);
        let run = Some(recorded.total_samples / epochs).filter(|samples| *samples > 0);
        let dataset = eval.dataset.samples.filter(|samples| *samples > 0);
        // The dataset may have more samples than were run.
        let samples = match (eval.dataset.sample_ids.as_ref(), run, dataset) {
            (Some(ids), ..) => Some(ids.len() as u64),
            (None, Some(run), Some(dataset)) => Some(run.min(dataset)),
            (None, run, dataset) => run.or(dataset),
        };
        let is_unreduced = eval.config.epochs_reducer.as_ref().is_some_and(Vec::is_empty);
        samples.map(|samples| if is_unreduced { samples.saturating_mul(epochs) } else { samples })
    }
}

// What a log records of a run that was stopped early.
//
// It stands in the options of the run, `eval.config`, whose readers ignore names that they do not know.

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

// Whether a model grades its own answers, from what a log records.

/// The role of the model that grades, unless a scorer names another.
pub const GRADER_ROLE: &str = "grader";
/// Where the models in roles are recorded.
pub const MODEL_ROLES: &str = "model_roles";
/// The scorers of the reference that ask a model, and the one of ours; with the arguments of each by position.
pub const GRADED_SCORERS: [(&str, &[&str]); 3] = [
    ("model_graded_qa", BY_POSITION),
    ("model_graded_fact", BY_POSITION),
    ("model_graded_score", SCORE_BY_POSITION),
];

const BY_POSITION: &[&str] = &[
    "template",
    "instructions",
    "grade_pattern",
    "include_history",
    "partial_credit",
    "model",
    "model_role",
    "reducer",
];
const SCORE_BY_POSITION: &[&str] = &[
    "min",
    "max",
    "template",
    "instructions",
    "score_pattern",
    "include_history",
    "model",
    "model_role",
    "reducer",
];

/// The evaluated model, if it also grades: it is the grader by name, or nothing names another one.
///
/// ```
/// use errorbar_log::eval::{EvalInfo, ScorerInfo, self_graded};
///
/// let mut eval = EvalInfo::new("quiz", "a/b");
/// eval.scorers = Some(vec![ScorerInfo::new("model_graded_qa")]);
/// assert_eq!(self_graded(&eval).as_deref(), Some("a/b"));
/// eval.extra.insert("model_roles", serde_json::json!({"grader": {"model": "c/d"}}));
/// assert_eq!(self_graded(&eval), None);
/// ```
pub fn self_graded(eval: &EvalInfo) -> Option<String> {
    let grades_itself = |scorer: &ScorerInfo| {
        let graders = by_position(&scorer.name).and_then(|names| graders(scorer, names, eval));
        graders.is_some_and(|graders| graders.contains(&eval.model))
    };
    eval.scorers.iter().flatten().any(grades_itself).then(|| eval.model.clone())
}

/// Who grades: the models that are named, else those of the role, else the evaluated one. Nothing if that is not known.
fn graders(scorer: &ScorerInfo, names_of_args: &[&str], eval: &EvalInfo) -> Option<Vec<String>> {
    let options = options(scorer, names_of_args)?;
    let named = options.get("model").filter(|model| !model.is_null());
    if let Some(named) = named {
        return names(named);
    }
    let role = match options.get("model_role") {
        None => Some(GRADER_ROLE),
        Some(role) => role.as_str(),
    };
    let of_role = role.and_then(|role| eval.extra.get(MODEL_ROLES)?.get(role));
    match of_role {
        Some(models) => names(models),
        None => Some(vec![eval.model.clone()]),
    }
}

/// The arguments of a scorer that asks a model, by position.
fn by_position(scorer: &str) -> Option<&'static [&'static str]> {
    let name = scorer.rsplit('/').next().unwrap_or_default();
    GRADED_SCORERS.iter().find(|(known, _)| *known == name).map(|(_, names)| *names)
}

/// The arguments by name. What was passed by position is recorded as a spec.
fn options(scorer: &ScorerInfo, names: &[&str]) -> Option<Metadata> {
    let mut options = scorer.options.clone().unwrap_or_default();
    let Some(text) = options.get("spec").and_then(Json::as_str) else { return Some(options) };
    let spec: Spec = text.parse().ok()?;
    let by_position = names.iter().copied().zip(&spec.args);
    let by_name = spec.kwargs.iter().map(|(name, arg)| (name.as_str(), arg));
    let passed =
        by_position.chain(by_name).map(|(name, arg): (&str, &Arg)| (name.to_owned(), arg.to_log_json(name)));
    options.extend(passed.collect::<Vec<_>>());
    Some(options)
}

/// The names of models: one or several, as strings or as the records of roles.
fn names(models: &Json) -> Option<Vec<String>> {
    let name = |model: &Json| model.as_str().or_else(|| model.get("model")?.as_str()).map(str::to_owned);
    match models {
        Json::Array(models) => models.iter().map(name).collect(),
        model => Some(vec![name(model)?]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn graded(scorer: &str, options: Json, roles: Json) -> bool {
        let mut scorer = ScorerInfo::new(scorer);
        scorer.options = options.as_object().cloned().map(Metadata::from);
        let mut eval = EvalInfo::new("quiz", "a/b");
        eval.scorers = Some(vec![scorer]);
        eval.extra.insert(MODEL_ROLES.to_owned(), roles);
        self_graded(&eval).is_some()
    }

    #[test]
    fn who_grades() {
        let none = || json!({});
        assert!(graded("model_graded_qa", none(), none()));
        assert!(graded(
            "inspect_ai/model_graded_fact",
            json!({"model": null, "model_role": "grader"}),
            none()
        ));
        assert!(!graded("match", none(), none()));
        assert!(!graded("model_graded_qa", json!({"model": "c/d"}), none()));
        assert!(graded("model_graded_qa", json!({"model": "a/b"}), json!({"grader": {"model": "c/d"}})));
        assert!(graded("model_graded_qa", json!({"model": ["c/d", "a/b"]}), none()));
        let grader = || json!({"grader": {"model": "c/d"}, "judge": [{"model": "a/b"}, {"model": "e/f"}]});
        assert!(!graded("model_graded_qa", none(), grader()));
        assert!(graded("model_graded_qa", json!({"model_role": "judge"}), grader()));
        assert!(graded("model_graded_qa", json!({"model_role": null}), grader()));
        assert!(graded("model_graded_qa", json!({"model_role": "nobody"}), grader()));
        assert!(!graded(
            "model_graded_qa",
            json!({"spec": "model_graded_qa('T {answer}', model='c/d')"}),
            none()
        ));
        assert!(graded("model_graded_qa", json!({"spec": "model_graded_qa('T {answer}')"}), none()));
        // What is not understood is not known.
        assert!(!graded("model_graded_qa", json!({"model": 5}), none()));
    }
}
