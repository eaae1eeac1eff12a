//! The workers: a number of samples at once, none of them waiting for another.

use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use errorbar_core::chat::{EventKind, ScoreEvent, SpanKind};
use errorbar_core::{Metadata, Score, ScorerPlan};
use errorbar_log::eval::{
    EncodedSample, Encoder, EvalError, LogError, SampleLimit, SampleRecord, Transcript, encode_sample,
    timestamp,
};
use futures_util::FutureExt;
use tokio::sync::oneshot;
use tokio::time::Instant;
use uuid::Uuid;

use super::prepare::PreparedTask;
use super::record::{now, since_epoch};
use super::stop::CancelToken;
use crate::model::{FatalError, Recorder, SampleUsage, time_limit};
use crate::{Generate, Sample, SampleId, TaskState, lock};

/// A sample that has been run, or why its record could not be made; the worker waits for the answer.
pub(super) struct Delivery {
    pub(super) done: Result<SampleOutcome, LogError>,
    /// Notified when the record is in the log and counted.
    pub(super) counted: oneshot::Sender<()>,
}

/// The samples to do, in order.
#[derive(Debug)]
pub(super) struct SampleQueue {
    todo: Vec<usize>,
    /// Where the next one is, and where to end.
    place: Mutex<Range<usize>>,
    /// Encoders that no worker uses at the moment. There are as many as samples are encoded at the same time, which is the
    /// number of threads and not that of workers: the tables of an encoder are fast while they are in a processor's cache.
    encoders: Mutex<Vec<Encoder>>,
}

impl SampleQueue {
    pub(super) fn new(todo: Vec<usize>) -> Self {
        let place = Mutex::new(0..todo.len());
        SampleQueue { todo, place, encoders: Mutex::default() }
    }

    fn take(&self) -> Option<usize> {
        let at = lock(&self.place).next()?;
        self.todo.get(at).copied()
    }

    /// Lets no further sample start but those that are needed, which stand first. The condition gets the last one that has
    /// started.
    pub(super) fn close(&self, is_needed: impl Fn(usize, Option<usize>) -> bool) {
        let mut place = lock(&self.place);
        let started = place.start.checked_sub(1).and_then(|last| self.todo.get(last)).copied();
        let left = self.todo.get(place.clone()).unwrap_or_default();
        place.end = place.start + left.partition_point(|index| is_needed(*index, started));
    }

    /// Encodes a sample with the encoder that was used last.
    fn encode(&self, record: &SampleRecord<'_>) -> Result<EncodedSample, LogError> {
        let free = lock(&self.encoders).pop();
        let mut encoder = free.map_or_else(Encoder::new, Ok)?;
        let encoded = encode_sample(&mut encoder, record);
        lock(&self.encoders).push(encoder);
        encoded
    }
}

/// Runs these samples and hands each to the collector, with its transcript if that is wanted; the collector's
/// end of the channel is returned.
pub(super) fn start_workers(
    prepared: &Arc<PreparedTask>,
    queue: &Arc<SampleQueue>,
    cancel: &CancelToken,
    with_transcripts: bool,
) -> mpsc::Receiver<Delivery> {
    let workers = prepared.max_samples.min(queue.todo.len());
    let (sender, receiver) = mpsc::channel();
    for _ in 0..workers {
        let (prepared, queue) = (Arc::clone(prepared), Arc::clone(queue));
        tokio::spawn(work(prepared, queue, cancel.clone(), sender.clone(), with_transcripts));
    }
    receiver
}

async fn work(
    prepared: Arc<PreparedTask>,
    queue: Arc<SampleQueue>,
    cancel: CancelToken,
    sender: mpsc::Sender<Delivery>,
    with_transcripts: bool,
) {
    while !cancel.is_stopped()
        && let Some(index) = queue.take()
    {
        let Some((id, sample, epoch)) = prepared.item(index) else { continue };
        let ran = tokio::select! {
            biased;
            ran = run_sample(&prepared, index, (id, sample, epoch), &queue, with_transcripts) => ran,
            () = cancel.stopped() => return,
        };
        // Until it is counted, so that a run which is to end at a failure does not continue after it, and records do not
        // pile up.
        let (counted, answer) = oneshot::channel();
        if sender.send(Delivery { done: ran, counted }).is_err() || answer.await.is_err() {
            return;
        }
    }
}

// One sample in one epoch: solved, scored, and made into a record.

/// A sample that has been run, ready to be written.
#[derive(Debug)]
pub(super) struct SampleOutcome {
    /// Its place among all samples times epochs.
    pub(super) index: usize,
    pub(super) encoded: EncodedSample,
    pub(super) scores: Vec<(String, Score)>,
    /// The metadata as the solver left it.
    pub(super) metadata: Metadata,
    pub(super) problem: Option<String>,
    /// The limit that ended it.
    pub(super) limit: Option<SampleLimit>,
    pub(super) used: SampleUsage,
    /// What ends the run, which is not the fault of the sample.
    pub(super) refusal: Option<FatalError>,
    /// The sample as people read it, if somebody wants to.
    pub(super) transcript: Option<Box<Transcript>>,
}

/// Runs one sample in one epoch. What goes wrong with it is recorded, not returned.
pub(super) async fn run_sample(
    prepared: &PreparedTask,
    index: usize,
    (id, sample, epoch): (&SampleId, &Sample, u32),
    queue: &SampleQueue,
    with_transcript: bool,
) -> Result<SampleOutcome, LogError> {
    let (started, since_epoch) = (Instant::now(), since_epoch());
    let started_at = timestamp(since_epoch);
    let recorder = (!prepared.options.skip_events).then(|| Recorder::new(started, since_epoch));
    let mut generate = Generate::of(Arc::clone(&prepared.models));
    generate.recorder = recorder;
    let generate = Arc::new(generate);
    let mut state =
        TaskState::new(prepared.model_name(), sample, id.clone(), epoch).with_generate(Arc::clone(&generate));
    let allowed = prepared.models.limits.time;
    let begin = |kind: SpanKind| generate.begin_span(kind, kind.name());
    let init = begin(SpanKind::Init);
    generate.record(|| EventKind::SampleInit);
    generate.end_span(init);

    // Ending it ends that of the solver; a chain names its own.
    let solving = begin(SpanKind::Solvers);
    if let Some(solver) = &prepared.solver_name {
        generate.begin_span(SpanKind::Solver, Arc::clone(solver));
    }
    let solved = within(allowed, prepared.task.solver.solve(&mut state, &generate)).await;
    // What blocks its thread cannot be ended, but it has reached its time limit all the same.
    let time_passed = allowed.filter(|allowed| solved.is_none() || started.elapsed() > *allowed);
    if solved.is_none() {
        generate.trouble.give_up();
    }
    // A timeout because the model gave no answer is no limit of the sample, but a failure.
    let trouble = generate.trouble.get().filter(|_| solved.is_none());
    let limit = generate.used().limit.or(time_passed.map(time_limit)).filter(|_| trouble.is_none());
    let mut problem = match solved {
        None if trouble.is_some() => Some(format!(
            "the solver did not end within the time limit of {} s: {}",
            allowed.unwrap_or_default().as_secs_f64(),
            trouble.unwrap_or_default()
        )),
        // The error only reports that there is a limit.
        _ if limit.is_some() => None,
        Some(Err(failure)) => Some(format!("the solver {failure}")),
        _ => None,
    };

    if let Some(limit) = &limit {
        generate.record(|| limit_event(limit));
    }
    generate.end_span(solving);

    let mut scores = Vec::with_capacity(prepared.scorers.len());
    if problem.is_none() {
        let judging = begin(SpanKind::Scorers);
        // What a limit has ended is judged as it is, and has half of the time for it.
        generate.start_scoring();
        state.limit.clone_from(&limit);
        let left = allowed.map(|allowed| allowed.saturating_sub(started.elapsed()).max(allowed / 2));
        let scoring = Instant::now();
        for ((name, scorer), plan) in prepared.scorers.iter().zip(&prepared.plan.scorers) {
            let left = left.map(|left| left.saturating_sub(scoring.elapsed()));
            let span = generate.begin_span(SpanKind::Scorer, name.as_str());
            let score = within(left, scorer.score(&state, &sample.target)).await;
            if let Some(Ok(Some(score))) = &score {
                generate.record(|| score_event(name, plan, score, generate.used()));
            }
            generate.end_span(span);
            let failure = match score {
                Some(Ok(score)) => {
                    scores.extend(score.map(|score| (name.clone(), score)));
                    continue;
                }
                Some(Err(failure)) => failure,
                None => {
                    generate.trouble.give_up();
                    format!(
                        "did not end within what the time limit of {} s leaves it; allow more time, or see what it waits for",
                        allowed.unwrap_or_default().as_secs_f64()
                    )
                }
            };
            problem = Some(format!("the scorer `{name}` {failure}"));
            break;
        }
        generate.end_span(judging);
    }
    if let Some(problem) = &problem {
        generate.record(|| EventKind::Error { message: problem.clone() });
        // Half of the scores would count in some metrics and not in others.
        scores.clear();
    }
    let error = problem.as_deref().map(EvalError::new);
    let used = generate.used();
    let (uuid, completed_at) = (Uuid::new_v4().simple().to_string(), now());
    let elapsed = started.elapsed();
    let (events, waited) = generate.take_events().unzip();
    let working = elapsed.saturating_sub(waited.unwrap_or_default());
    let record = SampleRecord {
        id: id.clone(),
        epoch,
        input: Some(&sample.input),
        choices: (!sample.choices.is_empty()).then_some(sample.choices.as_slice()),
        target: Some(sample.target.targets()),
        messages: &state.messages,
        output: Some(&state.output),
        scores: &scores,
        metadata: Some(&state.metadata),
        store: Some(&state.store),
        model_usage: Some(&used.by_model),
        role_usage: Some(&used.by_role),
        started_at: Some(&started_at),
        completed_at: Some(&completed_at),
        total_time: Some(elapsed.as_secs_f64()),
        working_time: Some(working.as_secs_f64()),
        uuid: Some(&uuid),
        error: error.as_ref(),
        limit: limit.as_ref(),
        events: events.as_ref(),
        initial_metadata: Some(&sample.metadata),
    };
    let encoded = queue.encode(&record)?;
    // What cannot be shown is in the log all the same.
    let transcript = with_transcript.then(|| record.transcript().ok().map(Box::new)).flatten();
    let refusal = generate.trouble.met_refusal();
    let metadata = state.metadata;
    Ok(SampleOutcome { index, encoded, scores, metadata, problem, limit, used, refusal, transcript })
}

fn score_event(name: &str, plan: &ScorerPlan, score: &Score, used: SampleUsage) -> EventKind {
    EventKind::Score(Box::new(ScoreEvent {
        scorer: name.to_owned(),
        args: Arc::new(plan.params.clone()),
        score: score.clone(),
        model_usage: used.by_model,
        role_usage: used.by_role,
    }))
}

fn limit_event(limit: &SampleLimit) -> EventKind {
    let SampleLimit { kind, limit, reason, .. } = limit;
    EventKind::Limit { kind: kind.clone(), limit: *limit, reason: reason.clone().unwrap_or_default() }
}

/// What comes of some work, if it ends in time; what goes wrong in it is put into words.
pub(crate) async fn within<T>(
    allowed: Option<Duration>,
    work: impl Future<Output = errorbar_core::Result<T>>,
) -> Option<Result<T, String>> {
    let work = AssertUnwindSafe(work).catch_unwind();
    let ended = match allowed {
        None => work.await,
        Some(allowed) => tokio::time::timeout(allowed, work).await.ok()?,
    };
    Some(match ended {
        Ok(result) => result.map_err(|error| format!("failed: {error}")),
        Err(panic) => Err(format!("panicked: {}", panic_text(panic.as_ref()))),
    })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
