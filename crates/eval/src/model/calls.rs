//! What calls of models have in common: how often they are tried, and how many there are at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use errorbar_core::chat::CacheAccess;
use serde_json::Value as Json;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::connections::{Connections, ServerStatuses};
use super::recorder::CallRecorder;
use super::{AnyModel, Cache, ModelClient, ModelError, ModelErrorKind, Request, UNREADABLE_USAGE};
use crate::macros::setters;
use crate::{ModelOutput, lock};

/// How long a model that watches the timeout itself may be late: it knows the address, and so has the better error.
const GRACE: Duration = Duration::from_millis(50);

/// The default maximum number of connections.
pub const MAX_CONNECTIONS: usize = 20;

/// What calls of models have in common. Runs that share one share its connections.
///
/// ```
/// use errorbar_eval::{Calls, RetryPolicy};
/// let calls = Calls::new(100, RetryPolicy { max_retries: 3, ..RetryPolicy::default() });
/// assert_eq!(calls.counts().retried, 0);
/// ```
#[derive(Debug)]
pub struct Calls {
    retry: RetryPolicy,
    /// How long one request may take, if that is set.
    pub(crate) timeout: Option<Duration>,
    connections: Connections,
    servers: ServerStatuses,
    cache: Option<Cache>,
    /// That of calls which want one where the run has none, once there is such a call.
    default_cache: OnceLock<Option<Cache>>,
    on_retry: RetryCallback,
    counts: Mutex<CallCounts>,
}

/// Called with every request that is to be retried: why, and after what time.
struct RetryCallback(Box<RetryFn>);

type RetryFn = dyn Fn(&ModelError, Duration) + Send + Sync;

impl std::fmt::Debug for RetryCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RetryCallback")
    }
}

/// What goes wrong with the questions about one sample.
#[derive(Debug, Default)]
pub(crate) struct CallFailures {
    /// Why the current call has no answer yet: the reason for the failure of a sample that reaches its time limit.
    no_answer: Mutex<Option<PendingFailure>>,
    /// Shared by the samples of a run.
    refusal: Arc<OnceLock<FatalError>>,
    /// Whether this sample has met it.
    is_refused: AtomicBool,
}

/// Why a model has given no answer yet.
#[derive(Debug)]
struct PendingFailure {
    problem: String,
    /// What the run ends for if the model is not tried for any longer: its server has never answered.
    fatal: Option<FatalError>,
}

/// What ends a run: a model that refuses the key, or whose server has never answered. No model of the run gets further
/// requests then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FatalError {
    pub(crate) model: String,
    pub(crate) error: ModelError,
}

impl CallFailures {
    pub(super) fn of_run(refusal: &Arc<OnceLock<FatalError>>) -> Self {
        CallFailures { refusal: Arc::clone(refusal), ..CallFailures::default() }
    }

    /// Why the current call has no answer yet.
    pub(crate) fn get(&self) -> Option<String> {
        lock(&self.no_answer).as_ref().map(|no_answer| no_answer.problem.clone())
    }

    fn refuse(&self, fatal: FatalError) {
        self.is_refused.store(true, Ordering::Relaxed);
        self.refusal.get_or_init(|| fatal);
    }

    /// The sample does not wait any longer: a server that has never answered ends the run.
    pub(crate) fn give_up(&self) {
        if let Some(fatal) = lock(&self.no_answer).as_ref().and_then(|no_answer| no_answer.fatal.clone()) {
            self.refuse(fatal);
        }
    }

    /// Why this run makes no more requests.
    fn refusal(&self) -> Option<ModelError> {
        let error = self.refusal.get().map(|refusal| refusal.error.clone());
        self.is_refused.fetch_or(error.is_some(), Ordering::Relaxed);
        error
    }

    /// The refusal that the sample has met.
    pub(crate) fn met_refusal(&self) -> Option<FatalError> {
        self.is_refused.load(Ordering::Relaxed).then(|| self.refusal.get().cloned()).flatten()
    }
}

/// What a model has answered, now or before.
pub(super) struct Answer {
    pub(super) output: ModelOutput,
    /// What the cache had to do with it, if there is one.
    pub(super) cache: Option<CacheAccess>,
}

/// What calls there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallCounts {
    /// Requests, retries included.
    pub requests: u64,
    /// Retries.
    pub retried: u64,
    /// Those that were refused as too many.
    pub refused: u64,
    /// Answers that were there already.
    pub cached: u64,
    /// Answers whose usage could not be read: their tokens are in no sum.
    pub unreadable_usage: u64,
    /// Why answers could not be cached, the first time it happened.
    pub cache_problem: Option<String>,
    /// The models that got fewer connections for it, and the least they had.
    pub lowered: Vec<(String, usize)>,
}

impl Default for Calls {
    fn default() -> Self {
        Calls::new(MAX_CONNECTIONS, RetryPolicy::default())
    }
}

impl Calls {
    /// At most this many at once.
    pub fn new(max_connections: usize, retry: RetryPolicy) -> Self {
        Calls {
            retry,
            timeout: None,
            connections: Connections::new(max_connections),
            servers: ServerStatuses::default(),
            cache: None,
            default_cache: OnceLock::new(),
            on_retry: RetryCallback(Box::new(|_, _| {})),
            counts: Mutex::default(),
        }
    }

    setters! {
        /// How long one request may take; by default the provider decides.
        timeout: Duration => Some(timeout);
        /// Answers are cached.
        cache: Cache => Some(cache);
        /// Calls a function with every request that is to be retried: why, and after what time.
        on_retry: impl Fn(&ModelError, Duration) + Send + Sync + 'static => RetryCallback(Box::new(on_retry));
    }

    /// How many there are at once at most.
    pub fn max_connections(&self) -> usize {
        self.connections.most
    }

    /// What calls there were so far.
    pub fn counts(&self) -> CallCounts {
        CallCounts { lowered: self.connections.lowered(), ..lock(&self.counts).clone() }
    }

    /// The answer of a model: a cached or a new one.
    pub(super) async fn answer(
        &self,
        client: &ModelClient,
        request: Request<'_>,
        trouble: &CallFailures,
        record: Option<&mut CallRecorder<'_>>,
    ) -> Result<Answer, ModelError> {
        let (model, started) = (&client.model, Instant::now());
        let cache = match client.cache.filter(|_| model.is_cacheable()) {
            None => self.cache.as_ref(),
            Some(true) => self.cache.as_ref().or_else(|| self.default_cache()),
            Some(false) => None,
        };
        let Some(cache) = cache.filter(|_| model.is_cacheable()) else {
            return Ok(Answer { output: self.call(model, request, trouble, record).await?, cache: None });
        };
        let key = Cache::key(&**model, &request);
        let (reader, wanted) = (cache.clone(), key.clone());
        // A read that panics is no answer.
        let cached = spawn_blocking(move || reader.get(&wanted)).await.ok().flatten();
        if let Some(mut output) = cached {
            output.time.get_or_insert_with(|| started.elapsed().as_secs_f64());
            lock(&self.counts).cached += 1;
            return Ok(Answer { output, cache: Some(CacheAccess::Read) });
        }
        let output = self.call(model, request, trouble, record).await?;
        let (writer, answer) = (cache.clone(), output.clone());
        let written = spawn_blocking(move || writer.put(&key, &answer)).await;
        if let Ok(Err(error)) = written {
            lock(&self.counts).cache_problem.get_or_insert_with(|| error.to_string());
        }
        Ok(Answer { output, cache: Some(CacheAccess::Write) })
    }

    /// The cache of a call that wants one in a run that has none: that of the user. Without a folder the call is made
    /// without a cache, which the run reports.
    fn default_cache(&self) -> Option<&Cache> {
        let open = || match Cache::open_default(None) {
            Ok(cache) => Some(cache),
            Err(error) => {
                lock(&self.counts).cache_problem.get_or_insert_with(|| error.to_string());
                None
            }
        };
        self.default_cache.get_or_init(open).as_ref()
    }

    /// Sends a request to a model, with retries.
    async fn call(
        &self,
        model: &AnyModel,
        request: Request<'_>,
        trouble: &CallFailures,
        mut record: Option<&mut CallRecorder<'_>>,
    ) -> Result<ModelOutput, ModelError> {
        let line = line_name(model);
        let server = self.servers.get(&model.server().unwrap_or_else(|| line.clone()));
        let mut retries = 0;
        loop {
            let requested = Instant::now();
            let (answer, took) = self.attempt(model, &line, request, trouble).await;
            if let Some(record) = record.as_deref_mut() {
                let ended = Instant::now();
                record.waited(requested, ended.checked_sub(took).unwrap_or(requested));
                if let Err(error) = &answer {
                    record.failed(took, error);
                }
            }
            if answer.as_ref().map_or_else(|error| error.has_response, |_| true) {
                server.answered();
            }
            let error = match answer {
                Ok(mut output) => {
                    let metadata = output.metadata.as_ref();
                    if metadata.is_some_and(|metadata| metadata.contains_key(UNREADABLE_USAGE)) {
                        lock(&self.counts).unreadable_usage += 1;
                    }
                    *lock(&trouble.no_answer) = None;
                    output.time.get_or_insert(took.as_secs_f64());
                    return Ok(output);
                }
                Err(error) => error,
            };
            let wait = self.retry.wait(&error, retries, random());
            let is_dead = error.kind() == ModelErrorKind::Unreachable && !server.has_answered();
            let (wait, fatal) = match is_dead {
                true => {
                    let wait = wait.and_then(|wait| server.wait(wait, took, self.retry.startup_timeout));
                    let error = after_retries(error.clone(), retries);
                    (wait, Some(FatalError { model: model.name().to_owned(), error }))
                }
                false => (wait, None),
            };
            *lock(&trouble.no_answer) = Some(PendingFailure { problem: error.to_string(), fatal });
            let Some(wait) = wait else {
                trouble.give_up();
                return Err(after_retries(error, retries));
            };
            (self.on_retry.0)(&error, wait);
            let paused = Instant::now();
            tokio::time::sleep(wait).await;
            if let Some(record) = record.as_deref() {
                record.waited(paused, Instant::now());
            }
            retries += 1;
            lock(&self.counts).retried += 1;
        }
    }

    /// Sends a request once, when there is a connection; and how long it took from then on.
    async fn attempt(
        &self,
        model: &AnyModel,
        line: &str,
        request: Request<'_>,
        trouble: &CallFailures,
    ) -> (Result<ModelOutput, ModelError>, Duration) {
        let connection = self.connections.take(line).await;
        let started = Instant::now();
        // Looked at with the connection in hand: who refuses has it until that is known.
        if let Some(refusal) = trouble.refusal() {
            return (Err(refusal.without_response()), Duration::ZERO);
        }
        lock(&self.counts).requests += 1;
        let answer = model.generate(request);
        let answer = match self.timeout {
            None => answer.await,
            Some(timeout) => tokio::time::timeout(timeout + GRACE, answer).await.unwrap_or_else(|_| {
                Err(ModelError::transient(format!(
                    "{} gave no answer within {} s; allow more, or fewer connections at once",
                    model.name(),
                    timeout.as_secs_f64()
                ))
                .without_response())
            }),
        };
        match answer.as_ref().map_err(ModelError::kind) {
            Ok(_) => connection.answered(),
            Err(ModelErrorKind::RateLimited { retry_after }) => {
                lock(&self.counts).refused += 1;
                connection.refused(retry_after);
            }
            Err(_) => {}
        }
        if let Err(error) = answer.as_ref()
            && error.ends_run()
        {
            trouble.refuse(FatalError { model: model.name().to_owned(), error: error.clone() });
        }
        (answer, started.elapsed())
    }
}

/// A model on one server is another than that of the same name on another.
fn line_name(model: &AnyModel) -> String {
    let args = model.args();
    match (args.get("base_url").and_then(Json::as_str), args.len()) {
        (_, 0) => model.name().to_owned(),
        (Some(url), 1) => format!("{} at {url}", model.name()),
        _ => format!("{} {}", model.name(), Json::from(args)),
    }
}

/// The error, with the number of retries.
fn after_retries(error: ModelError, retries: u32) -> ModelError {
    match retries {
        0 => error,
        1 => error.with_message(|message| format!("{message} (retried once)")),
        _ => error.with_message(|message| format!("{message} (retried {retries} times)")),
    }
}

/// A number from 0 to 1 that differs from call to call and from process to process.
fn random() -> f64 {
    let (bits, _) = uuid::Uuid::new_v4().as_u64_pair();
    // The version is in the lower half.
    (bits >> 32) as f64 / f64::from(u32::MAX)
}

// When to retry.

/// How often a request is retried, with exponential backoff and jitter.
///
/// ```
/// use std::time::Duration;
/// use errorbar_eval::RetryPolicy;
/// let patient = RetryPolicy { max_retries: 20, ..RetryPolicy::default() };
/// let hasty = RetryPolicy { first_wait: Duration::from_millis(10), ..RetryPolicy::default() };
/// # let _ = (patient, hasty);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// The maximum number of retries.
    pub max_retries: u32,
    /// The first wait; each one after it is twice as long.
    pub first_wait: Duration,
    /// The longest wait that the server did not request.
    pub longest_wait: Duration,
    /// How long a server that has never answered is tried, in case it is starting, counted from the first failure. Then
    /// the run ends.
    pub startup_timeout: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            max_retries: 10,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            startup_timeout: Duration::from_secs(20),
        }
    }
}

impl RetryPolicy {
    /// How long to wait before the next retry, after this many; `None` if there is to be none.
    ///
    /// `random` is a number from 0 to 1. It is the jitter, over half of the wait, so that callers who were
    /// refused together do not come back together.
    pub(super) fn wait(&self, error: &ModelError, retries: u32, random: f64) -> Option<Duration> {
        if !error.is_retryable() || retries >= self.max_retries {
            return None;
        }
        let doubled = 2f64.powi(i32::try_from(retries.min(60)).unwrap_or(60));
        let longest = self.longest_wait.as_secs_f64();
        let backoff = (self.first_wait.as_secs_f64() * doubled).min(longest);
        let spread = Duration::from_secs_f64(backoff * (0.5 + random / 2.0));
        Some(match error.retry_after() {
            // What the server wishes, and not all at the same moment.
            Some(wish) => wish.saturating_add(self.first_wait.min(self.longest_wait).mul_f64(random)),
            None => spread,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::ModelErrorKind;
    use super::*;

    fn seconds(wait: Option<Duration>) -> Option<f64> {
        wait.map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn waits_double_up_to_the_longest_and_are_spread() {
        let retry = RetryPolicy::default();
        let busy = ModelError::transient("busy");
        assert_eq!(seconds(retry.wait(&busy, 0, 1.0)), Some(0.5));
        assert_eq!(seconds(retry.wait(&busy, 0, 0.0)), Some(0.25));
        assert_eq!(seconds(retry.wait(&busy, 3, 1.0)), Some(4.0));
        assert_eq!(seconds(retry.wait(&busy, 9, 1.0)), Some(60.0));
        assert_eq!(retry.wait(&busy, 10, 1.0), None);
        assert_eq!(retry.wait(&ModelError::permanent("no such model"), 0, 1.0), None);
    }

    #[test]
    fn a_wish_of_the_server_is_honoured_and_never_cut_short() {
        let retry = RetryPolicy::default();
        let wish = |seconds: f64| {
            let retry_after = Some(Duration::from_secs_f64(seconds));
            ModelError::new(ModelErrorKind::RateLimited { retry_after }, "too many")
        };
        // A little longer, to spread the retries of many requests, whatever the number of retries before.
        for retries in [0, 8] {
            for (random, wanted) in [(0.0, 300.0), (0.5, 300.25), (1.0, 300.5)] {
                assert_eq!(seconds(retry.wait(&wish(300.0), retries, random)), Some(wanted));
            }
        }
        assert_eq!(seconds(retry.wait(&wish(0.3), 8, 0.0)), Some(0.3));
        let endless = RetryPolicy { first_wait: Duration::MAX, ..retry };
        assert_eq!(seconds(endless.wait(&wish(1.0), 0, 1.0)), Some(61.0));
    }
}
