//! One sample in one epoch: solved, scored, and made into a record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use errorbar_core::Score;
use errorbar_log::eval::{EncodedSample, Encoder, EvalError, LogError, SampleRecord, encode_sample};
use futures_util::FutureExt;
use uuid::Uuid;

use super::prepare::Prepared;
use super::record::now;
use crate::model::Used;
use crate::{Generate, Sample, SampleId, TaskState};

/// A sample that has been run, ready to be written.
#[derive(Debug)]
pub(super) struct Done {
    /// Its place among all samples times epochs.
    pub(super) index: usize,
    pub(super) encoded: EncodedSample,
    pub(super) scores: Vec<(String, Score)>,
    /// The metadata as the solver left it.
    pub(super) metadata: errorbar_core::Metadata,
    pub(super) problem: Option<String>,
    pub(super) used: Used,
}

/// What a sample is at, so that an error can say where it struck.
enum Phase {
    Solving,
    Scoring(usize),
}

/// Runs one sample in one epoch. What goes wrong with it is recorded, not returned.
pub(super) async fn run_sample(
    prepared: &Prepared,
    index: usize,
    (id, sample, epoch): (&SampleId, &Sample, u32),
    encoder: &mut Encoder,
) -> Result<Done, LogError> {
    let (started, started_at) = (Instant::now(), now());
    let generate = Arc::new(Generate::of(Arc::clone(&prepared.models)));
    let mut state =
        TaskState::new(prepared.model_name(), sample, id.clone(), epoch).with_generate(Arc::clone(&generate));
    let mut scores = Vec::with_capacity(prepared.scorers.len());
    let mut phase = Phase::Solving;
    let work = async {
        prepared.solver.solve(&mut state, &generate).await?;
        for (at, (name, scorer)) in prepared.scorers.iter().enumerate() {
            phase = Phase::Scoring(at);
            if let Some(score) = scorer.score(&state, &sample.target).await? {
                scores.push((name.clone(), score));
            }
        }
        Ok::<(), errorbar_core::Error>(())
    };
    let work = AssertUnwindSafe(work).catch_unwind();
    let ended = match prepared.time_limit {
        None => Some(work.await),
        Some(limit) => tokio::time::timeout(limit, work).await.ok(),
    };
    // What blocks its thread cannot be ended, but it does not count either.
    let in_time = prepared.time_limit.is_none_or(|limit| started.elapsed() <= limit);
    let failure = match ended.filter(|_| in_time) {
        Some(Ok(Ok(()))) => None,
        Some(Ok(Err(error))) => Some(format!("failed: {error}")),
        Some(Err(panic)) => Some(format!("panicked: {}", panic_text(panic.as_ref()))),
        None => Some(format!(
            "did not end within the time limit of {} s; allow more (--time-limit), or see what it waits for",
            prepared.time_limit.unwrap_or_default().as_secs_f64()
        )),
    };
    let problem = failure.map(|failure| match phase {
        Phase::Solving => format!("the solver {failure}"),
        Phase::Scoring(at) => {
            let name = prepared.scorers.get(at).map_or("", |(name, _)| name);
            format!("the scorer `{name}` {failure}")
        }
    });
    if problem.is_some() {
        // Half of the scores would count in some metrics and not in others.
        scores.clear();
    }
    let error = problem.as_deref().map(EvalError::new);
    let used = generate.used();
    let (uuid, completed_at) = (Uuid::new_v4().simple().to_string(), now());
    let seconds = started.elapsed().as_secs_f64();
    let record = SampleRecord {
        id,
        epoch,
        input: &sample.input,
        choices: (!sample.choices.is_empty()).then_some(sample.choices.as_slice()),
        target: sample.target.targets(),
        messages: &state.messages,
        output: &state.output,
        scores: &scores,
        metadata: &state.metadata,
        store: &state.store,
        model_usage: &used.by_model,
        role_usage: &used.by_role,
        started_at: Some(&started_at),
        completed_at: Some(&completed_at),
        total_time: Some(seconds),
        working_time: Some(seconds),
        uuid: Some(&uuid),
        error: error.as_ref(),
        limit: None,
    };
    let encoded = encode_sample(encoder, &record)?;
    Ok(Done { index, encoded, scores, metadata: state.metadata, problem, used })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
