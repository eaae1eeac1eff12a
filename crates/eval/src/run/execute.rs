//! The workers: a number of samples at once, none of them waiting for another.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use errorbar_log::eval::{Encoder, LogError};
use tokio::sync::oneshot;

use super::prepare::PreparedTask;
use super::sample::{SampleOutcome, run_sample};
use super::stop::CancelToken;
use crate::lock;

/// A sample that has been run, or why its record could not be made; the worker waits for the answer.
pub(super) struct Delivery {
    pub(super) done: Result<SampleOutcome, LogError>,
    /// Notified when the record is in the log and counted.
    pub(super) counted: oneshot::Sender<()>,
}

/// What workers share.
struct Queue {
    /// The next sample, as an index of those to do.
    next: AtomicUsize,
    todo: Vec<usize>,
    encoders: EncoderPool,
}

/// Encoders that no worker uses at the moment. There are as many as samples are encoded at the same time, which is the
/// number of threads and not that of workers: the tables of an encoder are fast while they are in a processor's cache.
#[derive(Debug, Default)]
pub(super) struct EncoderPool(Mutex<Vec<Encoder>>);

impl EncoderPool {
    /// Encodes with the encoder that was used last.
    pub(super) fn encode<T>(
        &self,
        with: impl FnOnce(&mut Encoder) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let free = lock(&self.0).pop();
        let mut encoder = free.map_or_else(Encoder::new, Ok)?;
        let encoded = with(&mut encoder);
        lock(&self.0).push(encoder);
        encoded
    }
}

/// Runs these samples and hands each to the collector, with its transcript if that is wanted; the collector's
/// end of the channel is returned.
pub(super) fn start_workers(
    prepared: &Arc<PreparedTask>,
    todo: Vec<usize>,
    cancel: &CancelToken,
    with_transcripts: bool,
) -> mpsc::Receiver<Delivery> {
    let workers = prepared.max_samples.min(todo.len());
    let (sender, receiver) = mpsc::channel();
    let queue = Arc::new(Queue { next: AtomicUsize::new(0), todo, encoders: EncoderPool::default() });
    for _ in 0..workers {
        let (prepared, queue) = (Arc::clone(prepared), Arc::clone(&queue));
        tokio::spawn(work(prepared, queue, cancel.clone(), sender.clone(), with_transcripts));
    }
    receiver
}

async fn work(
    prepared: Arc<PreparedTask>,
    queue: Arc<Queue>,
    cancel: CancelToken,
    sender: mpsc::Sender<Delivery>,
    with_transcripts: bool,
) {
    let Queue { next, todo, encoders } = &*queue;
    while !cancel.is_stopped()
        && let Some(index) = todo.get(next.fetch_add(1, Ordering::Relaxed))
    {
        let Some((id, sample, epoch)) = prepared.item(*index) else { continue };
        let ran = tokio::select! {
            biased;
            ran = run_sample(&prepared, *index, (id, sample, epoch), encoders, with_transcripts) => ran,
            () = cancel.stopped() => return,
        };
        if !hand_over(&sender, ran).await {
            return;
        }
    }
}

/// Hands a sample to the collector and waits until it is counted, so that a run which is to end at a failure does
/// not continue after it, and records do not pile up. Whether the run continues.
async fn hand_over(sender: &mpsc::Sender<Delivery>, done: Result<SampleOutcome, LogError>) -> bool {
    let (counted, answer) = oneshot::channel();
    sender.send(Delivery { done, counted }).is_ok() && answer.await.is_ok()
}
