//! The workers: samples are read and scored, a number of them at once.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use errorbar_core::chat::{Event, EventKind, SampleEvents, SpanKind};
use errorbar_core::{IndexMap, Metadata, MetadataKeys, SampleId, Score, ScoreColumns};
use errorbar_log::eval::{AnsweredSample, EvalLog, PlanRecord, SampleLimit};
use tokio::time::Instant;

use super::{PreparedRescore, RescoreError};
use crate::model::Recorder;
use crate::model::SampleUsage;
use crate::run::{since_epoch, within};
use crate::text::marked_choices;
use crate::{AnyScorer, CancelToken, Generate, Models, Sample, Target, TaskState, Usage, UsageLimits, lock};

/// How many samples are scored at once, if scorers call models, by default.
const MAX_SAMPLES: usize = 32;
/// How often progress is reported: each time this many samples are scored.
const REPORT_EVERY: usize = 16;

/// The scores of all samples.
#[derive(Debug, Default)]
pub(super) struct ScoredSamples {
    /// By index of the sample in the log.
    samples: Vec<Option<ScoredSample>>,
    /// The scorers whose scores the log has, in the order in which they were found.
    pub(super) scorers: Vec<String>,
    pub(super) usage: IndexMap<String, Usage>,
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
        let mut order: Vec<usize> = (0..self.samples.len()).collect();
        order.sort_by_cached_key(|at| {
            let sample = self.samples.get(*at).and_then(Option::as_ref);
            sample.map(|sample| (sample.epoch, sample.id.sort_key()))
        });
        let mut columns = ScoreColumns::new(names);
        let mut rows = vec![0; order.len()];
        let mut events = vec![None; order.len()];
        for (row, at) in order.into_iter().enumerate() {
            let Some(sample) = self.samples.get_mut(at).and_then(Option::take) else { continue };
            if let Some(of_sample) = rows.get_mut(at) {
                *of_sample = row;
            }
            if let Some(of_sample) = events.get_mut(at) {
                *of_sample = sample.events;
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
    mode: ChoiceMode,
    next: AtomicUsize,
    /// The lowest index that failed: samples after it are not scored any more.
    first_failed: AtomicUsize,
    done: AtomicUsize,
    outcome: Mutex<Outcome>,
    progress: Arc<dyn Fn(usize) + Send + Sync>,
}

#[derive(Default)]
struct Outcome {
    samples: Vec<Option<ScoredSample>>,
    scorers: Vec<String>,
    known: BTreeSet<String>,
    usage: SampleUsage,
    failure: Option<(usize, RescoreError)>,
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
        mode: ChoiceMode::of(&prepared.header.plan),
        next: AtomicUsize::new(0),
        first_failed: AtomicUsize::new(usize::MAX),
        done: AtomicUsize::new(0),
        outcome: Mutex::default(),
        progress,
    });
    lock(&scoring.outcome).samples.resize_with(total, || None);
    if calls_models {
        // What a scorer refuses is reported before a request is paid for.
        scoring.run_workers(cores(), total, &cancel, Step::Check).await;
        scoring.next.store(0, Ordering::Relaxed);
        if lock(&scoring.outcome).failure.is_none() {
            let connections = prepared.models.evaluated.calls.max_connections();
            let workers = prepared.max_samples.unwrap_or(MAX_SAMPLES.max(connections));
            scoring.run_workers(workers.max(1), total, &cancel, Step::Score).await;
        }
    } else {
        scoring.run_workers(cores(), total, &cancel, Step::CheckAndScore).await;
    }
    let outcome = std::mem::take(&mut *lock(&scoring.outcome));
    if let Some((_, error)) = outcome.failure {
        return Err(error);
    }
    let done = scoring.done.load(Ordering::Relaxed);
    if done < total {
        let log = prepared.log.path().display();
        return Err(RescoreError::Cancelled(format!(
            "{log}: cancelled when {done} of {total} samples were scored; nothing was written"
        )));
    }
    let Outcome { samples, scorers, usage, .. } = outcome;
    Ok(ScoredSamples { samples, scorers, usage: usage.by_model })
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// What a worker does with a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Check,
    Score,
    CheckAndScore,
}

impl Scoring {
    async fn run_workers(self: &Arc<Self>, workers: usize, total: usize, cancel: &CancelToken, step: Step) {
        let worker = |_| {
            let (scoring, cancel) = (Arc::clone(self), cancel.clone());
            tokio::spawn(async move {
                tokio::select! {
                    biased;
                    () = scoring.work(step) => {}
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

    async fn work(&self, step: Step) {
        let mut reader = self.log.answers();
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            if at >= self.log.sample_count() || at > self.first_failed.load(Ordering::Relaxed) {
                return;
            }
            let answered = match reader.read(at) {
                Ok(answered) => answered,
                Err(error) => return self.fail(at, error.into()),
            };
            if step != Step::Score
                && let Err(error) = self.check(&answered)
            {
                return self.fail(at, error);
            }
            if step == Step::Check {
                match self.check_answer(answered) {
                    Ok(()) => continue,
                    Err(error) => return self.fail(at, error),
                }
            }
            match self.score(answered).await {
                Ok((sample, scorers, usage)) => self.keep(at, sample, scorers, &usage),
                Err(error) => return self.fail(at, error),
            }
            // What every sample has its scores for is paid for.
            let is_last = self.done.load(Ordering::Relaxed) == self.log.sample_count();
            if let Some(limit) = self.limits.passed(&self.models.till.spent()).filter(|_| !is_last) {
                return self.fail(at, self.limit_reached(limit));
            }
            // Text scorers never wait: without this, a worker would not let the run be cancelled.
            tokio::task::yield_now().await;
        }
    }

    fn check(&self, answered: &AnsweredSample) -> Result<(), RescoreError> {
        let sample = question(answered);
        for (name, scorer) in &self.scorers {
            if let Err(problem) = scorer.check(&sample) {
                let problem = format!("refuses it: {problem}");
                return Err(self.problem(&answered.id, answered.epoch, name, &problem));
            }
        }
        Ok(())
    }

    fn check_answer(&self, answered: AnsweredSample) -> Result<(), RescoreError> {
        let state = state(&self.model, answered, self.mode);
        self.scorers.iter().try_for_each(|(name, scorer)| {
            scorer.check_answer(&state).map_err(|problem| {
                self.problem(&state.sample_id, state.epoch, name, &format!("refuses it: {problem}"))
            })
        })
    }

    async fn score(
        &self,
        answered: AnsweredSample,
    ) -> Result<(ScoredSample, Vec<String>, SampleUsage), RescoreError> {
        let recorder = self.calls_models.then(|| Recorder::new(Instant::now(), since_epoch()));
        let generate = Arc::new(Generate::of(Arc::clone(&self.models)).recorded(recorder));
        generate.start_scoring();
        let (is_errored, old) = (answered.error.is_some(), answered.scorers.clone());
        let state = state(&self.model, answered, self.mode).with_generate(Arc::clone(&generate));
        let mut scores = Vec::with_capacity(self.scorers.len());
        for (name, scorer) in &self.scorers {
            let span = generate.begin_span(SpanKind::Scorer, name);
            let score = within(None, scorer.score(&state, &state.target)).await;
            generate.end_span(span);
            match score {
                Some(Ok(score)) => scores.push(score),
                Some(Err(problem)) => {
                    return Err(self.problem(&state.sample_id, state.epoch, name, &problem));
                }
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
        Ok((sample, old, generate.used()))
    }

    fn problem(&self, sample: &SampleId, epoch: u32, scorer: &str, problem: &str) -> RescoreError {
        let (log, sample) = (self.log.path().display(), sample.to_string());
        RescoreError::Other(format!(
            "{log}: sample {sample:?}, epoch {epoch}: the scorer `{scorer}` {problem}"
        ))
    }

    fn limit_reached(&self, limit: SampleLimit) -> RescoreError {
        let (log, limit) = (self.log.path().display(), limit.reason.unwrap_or_default());
        let (done, total) = (self.done.load(Ordering::Relaxed), self.log.sample_count());
        RescoreError::LimitReached(format!(
            "{log}: {limit} to score it, when {done} of {total} samples were scored; nothing was written"
        ))
    }

    fn keep(&self, at: usize, sample: ScoredSample, scorers: Vec<String>, usage: &SampleUsage) {
        let mut outcome = lock(&self.outcome);
        if let Some(place) = outcome.samples.get_mut(at) {
            *place = Some(sample);
        }
        for scorer in scorers {
            if outcome.known.insert(scorer.clone()) {
                outcome.scorers.push(scorer);
            }
        }
        outcome.usage.add(usage);
        drop(outcome);
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(REPORT_EVERY) || done == self.log.sample_count() {
            (self.progress)(done);
        }
    }

    /// Of several failures that of the first sample counts.
    fn fail(&self, at: usize, error: RescoreError) {
        self.first_failed.fetch_min(at, Ordering::Relaxed);
        let mut outcome = lock(&self.outcome);
        if outcome.failure.as_ref().is_none_or(|(first, _)| at < *first) {
            outcome.failure = Some((at, error));
        }
    }
}

// A stored sample as the conversation that scorers judge.

/// How multiple-choice questions were answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChoiceMode {
    /// Whether more than one choice may be marked.
    multiple: bool,
}

impl ChoiceMode {
    /// As the solvers of the log say.
    pub(super) fn of(plan: &PlanRecord) -> Self {
        let multiple = plan.steps.iter().any(|step| {
            step.solver.rsplit('/').next() == Some("multiple_choice")
                && step.params.get("multiple_correct").and_then(serde_json::Value::as_bool) == Some(true)
        });
        ChoiceMode { multiple }
    }
}

/// The question as a dataset has it, for what scorers check.
pub(super) fn question(answered: &AnsweredSample) -> Sample {
    Sample {
        input: answered.input.clone(),
        target: Target::from(answered.target.clone()),
        choices: answered.choices.clone(),
        id: Some(answered.id.clone()),
        metadata: answered.metadata.clone(),
    }
}

/// The conversation when it had ended.
pub(super) fn state(model: &str, answered: AnsweredSample, mode: ChoiceMode) -> TaskState {
    let sample = question(&answered);
    let mut state = TaskState::new(model, &sample, answered.id, answered.epoch);
    state.messages = answered.messages;
    state.output = answered.output;
    state.store = answered.store;
    state.completed = true;
    state.limit = answered.limit.map(|kind| SampleLimit::new(kind, 0.0, None));
    // Logs do not record which choices were marked, and a scorer that finds none would find every answer wrong; the
    // output names them.
    let marked = marked_choices(&state.output.completion, state.choices.len(), mode.multiple);
    let marked = marked.unwrap_or_default();
    for (place, choice) in state.choices.iter_mut().enumerate() {
        choice.marked = Some(marked.contains(&place));
    }
    state
}
