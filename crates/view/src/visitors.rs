//! Connections that have not shown the token yet.
//!
//! Anybody who can connect can hold connections, so those without the token are dear to them and cheap to us: they have
//! seconds for their first request, are closed with its refusal, and never take all places. If there are too many, the one
//! that has been silent for longest makes room for the next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// The time in which the first request of a connection must have come.
const FIRST_HEAD_TIME: Duration = Duration::from_secs(5);

/// The connections without the token, in the order in which they came. Who is removed without a word is dropped.
#[derive(Debug, Default)]
pub(crate) struct Visitors(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    admitted: BTreeMap<u64, oneshot::Sender<()>>,
}

/// A connection that may show the token.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    number: u64,
    all: Arc<Visitors>,
}

impl Visitors {
    /// Another connection. If there are `most` already, the oldest is dropped.
    pub(crate) fn enter(self: &Arc<Self>, most: usize) -> (Visitor, oneshot::Receiver<()>) {
        let mut waiting = self.lock();
        while waiting.admitted.len() >= most.max(1) && waiting.admitted.pop_first().is_some() {}
        let (sender, admitted) = oneshot::channel();
        let number = waiting.next;
        waiting.next += 1;
        waiting.admitted.insert(number, sender);
        (Visitor { number, all: Arc::clone(self) }, admitted)
    }

    /// Drops the oldest, if there is one.
    pub(crate) fn drop_oldest(&self) {
        self.lock().admitted.pop_first();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Every change is a single step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visitor {
    /// The connection has shown the token, and stays as long as it likes.
    pub(crate) fn admit(&self) {
        if let Some(sender) = self.leave() {
            // Nobody listens if the connection ends just now.
            let _ = sender.send(());
        }
    }

    /// The connection has ended.
    pub(crate) fn leave(&self) -> Option<oneshot::Sender<()>> {
        self.all.lock().admitted.remove(&self.number)
    }
}

/// Waits until a connection is to be dropped: it has not shown the token in time, or was dropped for another.
pub(crate) async fn turned_away(admitted: oneshot::Receiver<()>) {
    if let Ok(Ok(())) = timeout(FIRST_HEAD_TIME, admitted).await {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;

    #[test]
    fn the_oldest_without_the_token_makes_room() {
        let all = Arc::new(Visitors::default());
        let (first, mut first_admitted) = all.enter(2);
        let (_, mut second) = all.enter(2);
        first.admit();
        assert_eq!(first_admitted.try_recv(), Ok(()));
        let (_, mut third) = all.enter(2);
        assert_eq!(second.try_recv(), Err(TryRecvError::Empty), "there are two without the token");
        let (fourth, mut fourth_admitted) = all.enter(2);
        assert_eq!(second.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(third.try_recv(), Err(TryRecvError::Empty));
        first.admit();
        all.drop_oldest();
        assert_eq!(third.try_recv(), Err(TryRecvError::Closed));
        fourth.leave();
        assert_eq!(fourth_admitted.try_recv(), Err(TryRecvError::Closed));
        assert!(all.lock().admitted.is_empty());
    }
}
