//! The workers: a number of samples at once, none of them waiting for another.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use errorbar_log::eval::{Encoder, LogError};
use tokio::sync::oneshot;

use super::prepare::PreparedTask;
use super::sample::{SampleOutcome, run_sample};
use super::stop::CancelToken;

/// A sample that has been run, or why its record could not be made; the worker waits for the answer.
pub(super) struct Delivery {
    pub(super) done: Result<SampleOutcome, LogError>,
    /// Notified when the record is in the log and counted.
    pub(super) counted: oneshot::Sender<()>,
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
    let queue = Arc::new((AtomicUsize::new(0), todo));
    for _ in 0..workers {
        let (prepared, queue) = (Arc::clone(prepared), Arc::clone(&queue));
        tokio::spawn(work(prepared, queue, cancel.clone(), sender.clone(), with_transcripts));
    }
    receiver
}

async fn work(
    prepared: Arc<PreparedTask>,
    queue: Arc<(AtomicUsize, Vec<usize>)>,
    cancel: CancelToken,
    sender: mpsc::Sender<Delivery>,
    with_transcripts: bool,
) {
    let mut encoder = match Encoder::new() {
        Ok(encoder) => encoder,
        Err(error) => {
            hand_over(&sender, Err(error)).await;
            return;
        }
    };
    let (next, todo) = &*queue;
    while !cancel.is_stopped()
        && let Some(index) = todo.get(next.fetch_add(1, Ordering::Relaxed))
    {
        let Some((id, sample, epoch)) = prepared.item(*index) else { continue };
        let ran = tokio::select! {
            biased;
            ran = run_sample(&prepared, *index, (id, sample, epoch), &mut encoder, with_transcripts) => ran,
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
