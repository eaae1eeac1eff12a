//! How many requests are in flight at once: a maximum over all models, and fewer to one that is rate limited.
//!
//! A model that answers "too many requests" gets three quarters of the connections it had, and one more for every
//! round of answers without such a complaint. Requests that were under way when the number was lowered carry no
//! new information, so one burst of refusals lowers it once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::lock;

/// How many requests are under way at once, over all models that share this.
#[derive(Debug)]
pub(super) struct Connections {
    /// How many at most.
    pub(super) most: usize,
    all: Semaphore,
    lines: Mutex<HashMap<String, Arc<ConnectionPool>>>,
}

/// The connections to one model.
#[derive(Debug)]
struct ConnectionPool {
    most: usize,
    free: Semaphore,
    state: Mutex<PoolState>,
}

#[derive(Debug)]
struct PoolState {
    /// How many there may be now.
    limit: usize,
    /// How many of those in use are not to be given back, because the limit was lowered meanwhile.
    surplus: usize,
    /// Answers since the limit was changed.
    answers: usize,
    /// When the limit was lowered last.
    lowered: Option<Instant>,
    /// Until when the model is paused.
    paused_until: Option<Instant>,
    /// The least that the limit ever was.
    least: usize,
}

/// A connection that is in use.
#[derive(Debug)]
pub(super) struct Connection<'a> {
    slot: PoolSlot,
    started: Instant,
    _of_all: tokio::sync::SemaphorePermit<'a>,
}

impl Connections {
    /// At most this many at once.
    pub(super) fn new(most: usize) -> Self {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        Connections { most, all: Semaphore::new(most), lines: Mutex::default() }
    }

    fn line(&self, model: &str) -> Arc<ConnectionPool> {
        let new = || Arc::new(ConnectionPool::new(self.most));
        Arc::clone(lock(&self.lines).entry(model.to_owned()).or_insert_with(new))
    }

    /// Waits for a connection to a model.
    pub(super) async fn take(&self, model: &str) -> Connection<'_> {
        let line = self.line(model);
        loop {
            // Neither semaphore is ever closed.
            if let Ok(permit) = line.free.acquire().await {
                permit.forget();
            }
            // From here on the slot is given back when it is dropped.
            let slot = PoolSlot(Arc::clone(&line));
            if line.pause().is_none()
                && let Ok(of_all) = self.all.acquire().await
                // The model may have been paused while this one waited.
                && line.pause().is_none()
            {
                return Connection { slot, started: Instant::now(), _of_all: of_all };
            }
            drop(slot);
            tokio::time::sleep(line.pause().unwrap_or_default()).await;
        }
    }

    /// The models that got fewer connections than they might have had, and the least they had.
    pub(super) fn lowered(&self) -> Vec<(String, usize)> {
        let lines = lock(&self.lines);
        let least = |line: &Arc<ConnectionPool>| lock(&line.state).least;
        let lowered = lines.iter().map(|(model, line)| (model.clone(), least(line)));
        let mut lowered: Vec<_> = lowered.filter(|(_, least)| *least < self.most).collect();
        lowered.sort();
        lowered
    }
}

/// A slot of a pool that goes back to it.
#[derive(Debug)]
struct PoolSlot(Arc<ConnectionPool>);

impl Drop for PoolSlot {
    fn drop(&mut self) {
        self.0.add_permit(&mut lock(&self.0.state));
    }
}

impl ConnectionPool {
    fn new(most: usize) -> Self {
        let state =
            PoolState { limit: most, surplus: 0, answers: 0, lowered: None, paused_until: None, least: most };
        ConnectionPool { most, free: Semaphore::new(most), state: Mutex::new(state) }
    }

    fn add_permit(&self, state: &mut PoolState) {
        if state.surplus > 0 {
            state.surplus -= 1;
        } else {
            self.free.add_permits(1);
        }
    }

    /// How long the model is still paused.
    fn pause(&self) -> Option<Duration> {
        let until = lock(&self.state).paused_until?;
        until.checked_duration_since(Instant::now()).filter(|pause| !pause.is_zero())
    }
}

impl Connection<'_> {
    /// The model has answered.
    pub(super) fn answered(&self) {
        let mut state = lock(&self.slot.0.state);
        state.answers += 1;
        if state.answers >= state.limit && state.limit < self.slot.0.most {
            state.answers = 0;
            state.limit += 1;
            self.slot.0.add_permit(&mut state);
        }
    }

    /// The model is rate limited; `retry_after` is when it takes requests again, if the server sets it.
    pub(super) fn refused(&self, retry_after: Option<Duration>) {
        let mut state = lock(&self.slot.0.state);
        let now = Instant::now();
        if let Some(until) = retry_after.and_then(|pause| now.checked_add(pause)) {
            state.paused_until = state.paused_until.max(Some(until));
        }
        if state.lowered.is_some_and(|lowered| self.started < lowered) {
            return;
        }
        (state.lowered, state.answers) = (Some(now), 0);
        let limit = (state.limit * 3 / 4).max(1);
        let fewer = state.limit - limit;
        state.limit = limit;
        state.least = state.least.min(limit);
        state.surplus += fewer - self.slot.0.free.forget_permits(fewer);
    }
}

// Which servers have answered: one that never has ends the run, before samples fail for hours.

/// The longest attempt to reach a server that is expected; a slow answer is another matter.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(10);

/// The servers of all models that share their calls.
#[derive(Debug, Default)]
pub(super) struct ServerStatuses(Mutex<HashMap<String, Arc<ServerStatus>>>);

/// What is known of one server.
#[derive(Debug, Default)]
pub(super) struct ServerStatus {
    has_answered: AtomicBool,
    /// When it was first not reached.
    failed: OnceLock<Instant>,
}

impl ServerStatuses {
    pub(super) fn get(&self, name: &str) -> Arc<ServerStatus> {
        Arc::clone(lock(&self.0).entry(name.to_owned()).or_default())
    }
}

impl ServerStatus {
    /// It has answered, if only with an error.
    pub(super) fn answered(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    /// How long to wait before the next attempt to reach it, of the wait that was meant; nothing if it is to be given
    /// up, so that the last attempt ends within the time since the first failure that is allowed.
    pub(super) fn wait(&self, wait: Duration, last_attempt: Duration, allowed: Duration) -> Option<Duration> {
        let failed = *self.failed.get_or_init(Instant::now);
        let next_attempt = last_attempt.min(LONGEST_ATTEMPT);
        let left = allowed.checked_sub(failed.elapsed())?.checked_sub(next_attempt)?;
        Some(wait.min(left)).filter(|_| !left.is_zero())
    }
}

#[cfg(test)]
mod connections_tests {
    use futures_util::FutureExt;

    use super::*;

    /// Takes all connections that are to be had at once.
    async fn take_all<'a>(connections: &'a Connections, model: &str) -> Vec<Connection<'a>> {
        // The runtime lets a task that never yields wait.
        tokio::task::yield_now().await;
        std::iter::from_fn(|| connections.take(model).now_or_never()).collect()
    }

    #[tokio::test]
    async fn refusals_lower_the_number_once_for_a_burst_and_answers_raise_it_again() {
        let connections = Connections::new(16);
        let taken = take_all(&connections, "a").await;
        assert_eq!(taken.len(), 16);
        taken.iter().for_each(|connection| connection.refused(None));
        drop(taken);
        let taken = take_all(&connections, "a").await;
        assert_eq!((taken.len(), connections.lowered()), (12, vec![("a".to_owned(), 12)]));
        taken.last().unwrap().refused(None);
        drop(taken);
        assert_eq!(take_all(&connections, "a").await.len(), 9);
        // A round of answers is worth one more, up to what there was.
        for (round, wanted) in (10..=16).chain([16, 16]).enumerate() {
            let taken = take_all(&connections, "a").await;
            taken.iter().for_each(Connection::answered);
            drop(taken);
            assert_eq!(take_all(&connections, "a").await.len(), wanted, "round {round}");
        }
        assert_eq!(connections.lowered(), [("a".to_owned(), 9)]);
    }

    #[tokio::test]
    async fn models_share_what_there_is_but_not_refusals() {
        let connections = Connections::new(4);
        let of_a = take_all(&connections, "a").await;
        assert_eq!((of_a.len(), take_all(&connections, "b").await.len()), (4, 0));
        of_a.iter().for_each(|connection| connection.refused(None));
        drop(of_a);
        let (of_a, of_b) = (take_all(&connections, "a").await, take_all(&connections, "b").await);
        assert_eq!((of_a.len(), of_b.len()), (3, 1));
    }

    #[tokio::test]
    async fn it_never_goes_below_one() {
        let connections = Connections::new(2);
        for _ in 0..5 {
            let taken = take_all(&connections, "a").await;
            taken.first().unwrap().refused(None);
        }
        assert_eq!(take_all(&connections, "a").await.len(), 1);
    }

    #[tokio::test]
    async fn answers_from_before_a_refusal_do_not_make_up_for_it() {
        let connections = Connections::new(4);
        let taken = take_all(&connections, "a").await;
        (0..10).for_each(|_| taken[0].answered());
        taken[1].refused(None);
        taken[2].answered();
        drop(taken);
        assert_eq!(take_all(&connections, "a").await.len(), 3);
    }

    #[tokio::test]
    async fn while_more_are_in_use_than_there_may_be_one_more_is_one_less_to_give_up() {
        let connections = Connections::new(8);
        let mut taken = take_all(&connections, "a").await;
        taken[0].refused(None);
        taken[..6].iter().for_each(Connection::answered);
        // Eight are in use, and seven may be.
        taken.pop();
        assert!(connections.take("a").now_or_never().is_none());
        taken.pop();
        assert_eq!(take_all(&connections, "a").await.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_pause_does_not_end_a_long_one() {
        let connections = Connections::new(2);
        let taken = take_all(&connections, "a").await;
        taken[0].refused(Some(Duration::from_secs(60)));
        taken[1].refused(Some(Duration::from_nanos(1)));
        drop(taken);
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(connections.take("a").now_or_never().is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(connections.take("a").now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_wants_to_be_left_alone_is() {
        let connections = Connections::new(2);
        let pause = Duration::from_millis(80);
        connections.take("a").await.refused(Some(pause));
        assert!(connections.take("a").now_or_never().is_none());
        assert!(connections.take("b").now_or_never().is_some());
        let asked = Instant::now();
        let connection = connections.take("a").await;
        assert!(asked.elapsed() >= pause);
        // A waiter that gave up has left nothing behind.
        drop(connection);
        assert_eq!(take_all(&connections, "a").await.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_that_begins_while_one_waits_for_a_connection_holds_for_it_too() {
        let connections = Connections::new(2);
        let (of_a, of_b) = (connections.take("a").await, connections.take("b").await);
        let mut waiting = Box::pin(connections.take("a"));
        assert!((&mut waiting).now_or_never().is_none(), "all are in use");
        let pause = Duration::from_millis(80);
        let refused = Instant::now();
        of_a.refused(Some(pause));
        drop((of_a, of_b));
        assert!((&mut waiting).now_or_never().is_none());
        assert_eq!(take_all(&connections, "b").await.len(), 2, "others do not wait for it");
        let connection = waiting.await;
        assert!(refused.elapsed() >= pause);
        drop(connection);
        assert_eq!(take_all(&connections, "a").await.len(), 1, "nothing is left behind");
    }

    #[tokio::test]
    async fn waiting_that_is_given_up_leaves_no_place_taken() {
        let connections = Connections::new(1);
        let taken = connections.take("a").await;
        assert!(connections.take("b").now_or_never().is_none());
        drop(taken);
        assert!(connections.take("b").now_or_never().is_some());
        assert!(connections.take("a").now_or_never().is_some());
    }
}

#[cfg(test)]
mod servers_tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn the_last_attempt_ends_in_time() {
        let server = ServerStatus::default();
        assert_eq!(server.wait(SECOND, Duration::ZERO, 1000 * SECOND), Some(SECOND));
        // Waits are cut short, and an attempt that took long leaves less time.
        assert_eq!(server.wait(2000 * SECOND, 5 * SECOND, 1000 * SECOND), Some(995 * SECOND));
        // What took longer than any attempt to connect was a slow answer.
        assert_eq!(server.wait(SECOND, 5000 * SECOND, 1000 * SECOND), Some(SECOND));
        tokio::time::advance(900 * SECOND).await;
        assert_eq!(server.wait(2000 * SECOND, 5 * SECOND, 1000 * SECOND), Some(95 * SECOND));
        assert_eq!(server.wait(SECOND, 5 * SECOND, 5 * SECOND), None);
        assert_eq!(server.wait(SECOND, Duration::ZERO, Duration::ZERO), None);
    }
}
