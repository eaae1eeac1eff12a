//! The workers: a number of samples at once, none of them waiting for another.

use std::ops::Range;
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

/// The samples to do, in order.
#[derive(Debug)]
pub(super) struct SampleQueue {
    todo: Vec<usize>,
    /// Where the next one is, and where to end.
    place: Mutex<Range<usize>>,
}

impl SampleQueue {
    pub(super) fn new(todo: Vec<usize>) -> Self {
        let place = Mutex::new(0..todo.len());
        SampleQueue { todo, place }
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
}

/// What workers share.
struct Shared {
    queue: Arc<SampleQueue>,
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
    queue: &Arc<SampleQueue>,
    cancel: &CancelToken,
    with_transcripts: bool,
) -> mpsc::Receiver<Delivery> {
    let workers = prepared.max_samples.min(queue.todo.len());
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::new(Shared { queue: Arc::clone(queue), encoders: EncoderPool::default() });
    for _ in 0..workers {
        let (prepared, shared) = (Arc::clone(prepared), Arc::clone(&shared));
        tokio::spawn(work(prepared, shared, cancel.clone(), sender.clone(), with_transcripts));
    }
    receiver
}

async fn work(
    prepared: Arc<PreparedTask>,
    shared: Arc<Shared>,
    cancel: CancelToken,
    sender: mpsc::Sender<Delivery>,
    with_transcripts: bool,
) {
    let Shared { queue, encoders } = &*shared;
    while !cancel.is_stopped()
        && let Some(index) = queue.take()
    {
        let Some((id, sample, epoch)) = prepared.item(index) else { continue };
        let ran = tokio::select! {
            biased;
            ran = run_sample(&prepared, index, (id, sample, epoch), encoders, with_transcripts) => ran,
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
