//! The workers: so many samples at once, none of them waiting for another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use errorbar_log::eval::{Encoder, LogError};
use tokio::sync::mpsc;

use super::prepare::Prepared;
use super::sample::{Done, run_sample};
use super::stop::Cancel;

/// A sample that has been run, or why its record could not be made.
pub(super) type Ran = Result<Done, LogError>;

/// How many records may wait for the collector; workers wait beyond that, so memory stays bounded.
const WAITING: usize = 256;

/// Runs these samples and hands each to the collector, whose end of the channel is returned.
pub(super) fn start_workers(
    prepared: &Arc<Prepared>,
    todo: Vec<usize>,
    cancel: &Cancel,
) -> mpsc::Receiver<Ran> {
    let (sender, receiver) = mpsc::channel(WAITING);
    let workers = prepared.max_samples.min(todo.len());
    let queue = Arc::new((AtomicUsize::new(0), todo));
    for _ in 0..workers {
        tokio::spawn(work(Arc::clone(prepared), Arc::clone(&queue), cancel.clone(), sender.clone()));
    }
    receiver
}

async fn work(
    prepared: Arc<Prepared>,
    queue: Arc<(AtomicUsize, Vec<usize>)>,
    cancel: Cancel,
    sender: mpsc::Sender<Ran>,
) {
    let mut encoder = match Encoder::new() {
        Ok(encoder) => encoder,
        Err(error) => {
            // If nobody listens any more, the run has ended anyway.
            let _ = sender.send(Err(error)).await;
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
            ran = run_sample(&prepared, *index, (id, sample, epoch), &mut encoder) => ran,
            () = cancel.stopped() => return,
        };
        if sender.send(ran).await.is_err() {
            return;
        }
    }
}
