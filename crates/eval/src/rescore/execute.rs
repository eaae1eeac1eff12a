//! The workers: samples are read and scored, a number of them at once.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use errorbar_core::chat::{Event, EventKind, SampleEvents, SpanKind};
use errorbar_core::{Metadata, MetadataKeys, SampleId, Score, ScoreColumns};
use errorbar_log::eval::{EvalLog, PlanRecord, SampleFields, SampleLimit, StoredSample};
use indexmap::IndexSet;
use tokio::time::Instant;

use super::{PreparedRescore, RescoreError};
use crate::model::{Recorder, SampleUsage};
use crate::run::{since_epoch, within};
use crate::{AnyScorer, CancelToken, Generate, Models, Sample, Target, TaskState, UsageLimits, lock};

/// How many samples are scored at once, if scorers call models, by default.
const MAX_SAMPLES: usize = 32;
/// How often progress is reported: each time this many samples are scored.
const REPORT_EVERY: usize = 16;

/// What the workers have found so far; at the end the scores of all samples.
#[derive(Debug, Default)]
pub(super) struct ScoredSamples {
    /// By index of the sample in the log.
    samples: BTreeMap<usize, ScoredSample>,
    /// The scorers whose scores the log has.
    pub(super) scorers: IndexSet<String>,
    pub(super) usage: SampleUsage,
    /// Of several failures that of the first sample, with its index. Samples after it are not scored any more.
    failure: Option<(usize, RescoreError)>,
}

/// What is held of a sample.
#[derive(Debug)]
struct ScoredSample {
    id: SampleId,
    epoch: u32,
    is_errored: bool,
    metadata: Metadata,
    /// By scorer; nothing where it gives no score.
    scores: Vec<Option<Score>>,
    /// The calls of models, if there were any.
    events: Option<SampleEvents>,
}

/// The new scores, ready to be evaluated and written.
#[derive(Debug)]
pub(super) struct NewColumns {
    /// By epoch and key of the sample.
    pub(super) columns: ScoreColumns,
    /// The row of each sample, by its index in the log.
    pub(super) rows: Vec<usize>,
    /// The calls of models, by index in the log.
    pub(super) events: Vec<Option<SampleEvents>>,
}

impl ScoredSamples {
    /// The scores as columns.
    pub(super) fn columns(&mut self, names: &[String]) -> errorbar_core::Result<NewColumns> {
        let mut samples: Vec<(usize, ScoredSample)> = std::mem::take(&mut self.samples).into_iter().collect();
        let mut columns = ScoreColumns::new(names);
        let (mut rows, mut events) = (vec![0; samples.len()], vec![None; samples.len()]);
        samples.sort_by_cached_key(|(_, sample)| (sample.epoch, sample.id.sort_key()));
        for (row, (at, sample)) in samples.into_iter().enumerate() {
            if let (Some(own_row), Some(own_events)) = (rows.get_mut(at), events.get_mut(at)) {
                (*own_row, *own_events) = (row, sample.events);
            }
            let metadata = sample.metadata.iter().map(|(key, value)| (key.as_str(), value));
            let mut cells = columns.push_sample(&sample.id, sample.epoch).metadata_all(metadata);
            if sample.is_errored {
                cells = cells.errored();
            }
            for (name, score) in names.iter().zip(sample.scores) {
                if let Some(score) = score {
                    cells = cells.score(name, score)?;
                }
            }
        }
        Ok(NewColumns { columns, rows, events })
    }
}

/// What the workers share.
struct Scoring {
    log: Arc<EvalLog>,
    model: String,
    scorers: Vec<(Arc<str>, AnyScorer)>,
    /// Whether a scorer may call a model.
    calls_models: bool,
    models: Arc<Models>,
    limits: UsageLimits,
    metadata: MetadataKeys,
    several_correct: bool,
    next: AtomicUsize,
    outcome: Mutex<ScoredSamples>,
    progress: Arc<dyn Fn(usize) + Send + Sync>,
}

/// Scores every sample of the log.
pub(super) async fn score_all(
    prepared: &PreparedRescore,
    progress: Arc<dyn Fn(usize) + Send + Sync>,
    cancel: CancelToken,
) -> Result<ScoredSamples, RescoreError> {
    let total = prepared.total();
    let calls_models =
        prepared.scorers.iter().any(|scorer| !scorer.roles().is_empty() || !scorer.models().is_empty());
    let names = prepared.plan.scorers.iter().map(|scorer| Arc::from(scorer.name.as_str()));
    let scoring = Arc::new(Scoring {
        log: Arc::clone(&prepared.log),
        model: prepared.header.eval.model.clone(),
        scorers: names.zip(prepared.scorers.iter().cloned()).collect(),
        calls_models,
        models: Arc::clone(&prepared.models),
        limits: prepared.run_limits,
        metadata: prepared.plan.metadata_keys(),
        several_correct: are_several_correct(&prepared.header.plan),
        next: AtomicUsize::new(0),
        outcome: Mutex::default(),
        progress,
    });
    if calls_models {
        // What a scorer refuses is reported before a request is paid for.
        scoring.run_workers(cores(), total, &cancel, Steps { check: true, score: false }).await;
        scoring.next.store(0, Ordering::Relaxed);
        if lock(&scoring.outcome).failure.is_none() {
            let connections = prepared.models.evaluated.calls.max_connections();
            let workers = prepared.max_samples.unwrap_or(MAX_SAMPLES.max(connections));
            scoring.run_workers(workers.max(1), total, &cancel, Steps { check: false, score: true }).await;
        }
    } else {
        scoring.run_workers(cores(), total, &cancel, Steps { check: true, score: true }).await;
    }
    let mut outcome = std::mem::take(&mut *lock(&scoring.outcome));
    if let Some((_, error)) = outcome.failure.take() {
        return Err(error);
    }
    let done = outcome.samples.len();
    if done < total {
        let log = prepared.log.path().display();
        return Err(RescoreError::Cancelled(format!(
            "{log}: cancelled when {done} of {total} samples were scored; nothing was written"
        )));
    }
    Ok(outcome)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// What workers do with a sample.
#[derive(Clone, Copy, Debug)]
struct Steps {
    check: bool,
    score: bool,
}

impl Scoring {
    async fn run_workers(self: &Arc<Self>, workers: usize, total: usize, cancel: &CancelToken, steps: Steps) {
        let worker = |_| {
            let (scoring, cancel) = (Arc::clone(self), cancel.clone());
            tokio::spawn(async move {
                tokio::select! {
                    biased;
                    () = scoring.work(steps) => {}
                    () = cancel.stopped() => {}
                }
            })
        };
        let workers: Vec<_> = (0..workers.min(total)).map(worker).collect();
        for worker in workers {
            // Panics of scorers are errors of their samples; there are no others.
            let _ = worker.await;
        }
    }

    async fn work(&self, steps: Steps) {
        let mut reader = self.log.reader(SampleFields::answers());
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let is_behind = |first: &(usize, RescoreError)| at > first.0;
            if at >= self.log.sample_count() || lock(&self.outcome).failure.as_ref().is_some_and(is_behind) {
                return;
            }
            let worked = match reader.read(at) {
                Ok(answered) => self.work_on(at, answered, steps).await,
                Err(error) => Err(error.into()),
            };
            if let Err(error) = worked {
                let mut outcome = lock(&self.outcome);
                if outcome.failure.as_ref().is_none_or(|(first, _)| at < *first) {
                    outcome.failure = Some((at, error));
                }
                return;
            }
            // Text scorers never wait: without this, a worker would not let the run be cancelled.
            tokio::task::yield_now().await;
        }
    }

    async fn work_on(&self, at: usize, answered: StoredSample, steps: Steps) -> Result<(), RescoreError> {
        let (id, epoch) = (answered.id.to_string(), answered.epoch);
        let problem = |scorer: &str, problem: String| {
            let log = self.log.path().display();
            RescoreError::Other(format!(
                "{log}: sample {id:?}, epoch {epoch}: the scorer `{scorer}` {problem}"
            ))
        };
        let refused = |name: &str, error| problem(name, format!("refuses it: {error}"));
        if steps.check {
            let sample = question(&answered);
            for (name, scorer) in &self.scorers {
                scorer.check(&sample).map_err(|error| refused(name, error))?;
            }
        }
        if !steps.score {
            let state = state(&self.model, answered, self.several_correct);
            let mut scorers = self.scorers.iter();
            return scorers.try_for_each(|(name, scorer)| {
                scorer.check_answer(&state).map_err(|error| refused(name, error))
            });
        }
        self.score(at, answered, problem).await?;
        // What every sample has its scores for is paid for.
        let (done, total) = (lock(&self.outcome).samples.len(), self.log.sample_count());
        match self.limits.passed(&lock(&self.models.till)).filter(|_| done < total) {
            Some(limit) => Err(RescoreError::LimitReached(format!(
                "{}: {} to score it, when {done} of {total} samples were scored; nothing was written",
                self.log.path().display(),
                limit.reason.unwrap_or_default()
            ))),
            None => Ok(()),
        }
    }

    async fn score(
        &self,
        at: usize,
        answered: StoredSample,
        problem: impl Fn(&str, String) -> RescoreError,
    ) -> Result<(), RescoreError> {
        let recorder = self.calls_models.then(|| Recorder::new(Instant::now(), since_epoch()));
        let mut generate = Generate::of(Arc::clone(&self.models));
        generate.recorder = recorder;
        let generate = Arc::new(generate);
        generate.start_scoring();
        let is_errored = answered.error.is_some();
        let old: Vec<String> = answered.scores.keys().cloned().collect();
        let state = state(&self.model, answered, self.several_correct).with_generate(Arc::clone(&generate));
        let mut scores = Vec::with_capacity(self.scorers.len());
        for (name, scorer) in &self.scorers {
            let span = generate.begin_span(SpanKind::Scorer, Arc::clone(name));
            let score = within(None, scorer.score(&state, &state.target)).await;
            generate.end_span(span);
            match score {
                Some(Ok(score)) => scores.push(score),
                Some(Err(failure)) => return Err(problem(name, failure)),
                // There is no time limit.
                None => scores.push(None),
            }
        }
        self.log.hold_scores(scores.iter().flatten())?;
        let is_call = |event: &Event| matches!(event.kind, EventKind::ModelCall(_));
        let events = generate.take_events().map(|(events, _)| events);
        let events = events.filter(|events| events.events.iter().any(is_call));
        if let Some(events) = &events {
            self.log.hold_events(events)?;
        }
        let mut metadata = state.metadata;
        metadata.retain(|key, _| self.metadata.contains(key));
        let (id, epoch) = (state.sample_id, state.epoch);
        let sample = ScoredSample { id, epoch, is_errored, metadata, scores, events };
        let mut outcome = lock(&self.outcome);
        outcome.samples.insert(at, sample);
        outcome.scorers.extend(old);
        outcome.usage.add(&generate.used());
        let done = outcome.samples.len();
        drop(outcome);
        if done.is_multiple_of(REPORT_EVERY) || done == self.log.sample_count() {
            (self.progress)(done);
        }
        Ok(())
    }
}

// A stored sample as the conversation that scorers judge.

/// Whether answers name several choices, as the solver of the log had it.
fn are_several_correct(plan: &PlanRecord) -> bool {
    plan.steps.iter().any(|step| {
        step.solver.rsplit('/').next() == Some("multiple_choice")
            && step.params.get("multiple_correct").and_then(serde_json::Value::as_bool) == Some(true)
    })
}

/// The question as a dataset has it, for what scorers check.
fn question(answered: &StoredSample) -> Sample {
    Sample {
        input: answered.input.clone(),
        target: Target::from(answered.target.clone()),
        choices: answered.choices.clone().unwrap_or_default(),
        id: Some(answered.id.clone()),
        metadata: answered.metadata.clone(),
    }
}

/// The conversation when it had ended.
fn state(model: &str, answered: StoredSample, several_correct: bool) -> TaskState {
    let sample = question(&answered);
    let mut state = TaskState::new(model, &sample, answered.id, answered.epoch);
    state.messages = answered.messages;
    state.output = answered.output;
    state.store = answered.store;
    state.completed = true;
    state.limit = answered.limit.map(|kind| SampleLimit::new(kind, 0.0, None));
    // Logs do not record which choices were marked, and a scorer that finds none would find every answer wrong; the
    // output names them.
    state.mark_choices(several_correct);
    state
}
