//! What calls of models have in common: how often they are tried, and how many there are at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use errorbar_core::Metadata;

use super::connections::Connections;
use super::{AnyModel, ModelError, ModelErrorKind, Request, Retry};
use crate::ModelOutput;

/// How many connections there are at most if nothing is said.
pub const MAX_CONNECTIONS: usize = 20;

/// What calls of models have in common. Runs that share one share its connections.
///
/// ```
/// use errorbar_eval::{Calls, Retry};
/// let calls = Calls::new(100, Retry { max_retries: 3, ..Retry::default() });
/// assert_eq!(calls.counts().retried, 0);
/// ```
#[derive(Debug)]
pub struct Calls {
    retry: Retry,
    timeout: Option<Duration>,
    connections: Connections,
    asked: AtomicU64,
    retried: AtomicU64,
    refused: AtomicU64,
}

/// What calls there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallCounts {
    /// Requests, also those that were asked again.
    pub asked: u64,
    /// Those of them that were asked again.
    pub retried: u64,
    /// Those that were refused as too many.
    pub refused: u64,
    /// The models that got fewer connections for it, and the least they had.
    pub lowered: Vec<(String, usize)>,
}

impl Default for Calls {
    fn default() -> Self {
        Calls::new(MAX_CONNECTIONS, Retry::default())
    }
}

impl Calls {
    /// At most so many at once.
    pub fn new(max_connections: usize, retry: Retry) -> Self {
        Calls {
            retry,
            timeout: None,
            connections: Connections::new(max_connections),
            asked: AtomicU64::new(0),
            retried: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// What takes longer counts as not answered, and is asked again.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How many there are at once at most.
    pub fn max_connections(&self) -> usize {
        self.connections.most()
    }

    /// What calls there were so far.
    pub fn counts(&self) -> CallCounts {
        CallCounts {
            asked: self.asked.load(Ordering::Relaxed),
            retried: self.retried.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            lowered: self.connections.lowered(),
        }
    }

    /// Asks a model, as often as it takes.
    pub(super) async fn call(
        &self,
        model: &AnyModel,
        request: Request<'_>,
    ) -> Result<ModelOutput, ModelError> {
        let line = line_name(model);
        let mut retries = 0;
        loop {
            let error = match self.attempt(model, &line, request).await {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            let Some(wait) = self.retry.wait(&error, retries, random()) else {
                return Err(after_retries(error, retries));
            };
            tokio::time::sleep(wait).await;
            retries += 1;
            self.retried.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Asks once, when there is a connection.
    async fn attempt(
        &self,
        model: &AnyModel,
        line: &str,
        request: Request<'_>,
    ) -> Result<ModelOutput, ModelError> {
        let connection = self.connections.take(line).await;
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = model.generate(request);
        let answer = match self.timeout {
            None => answer.await,
            Some(timeout) => tokio::time::timeout(timeout, answer).await.unwrap_or_else(|_| {
                Err(ModelError::transient(format!(
                    "{} gave no answer within {} s; allow more (--timeout), or ask fewer at once (--max-connections)",
                    model.name(),
                    timeout.as_secs_f64()
                )))
            }),
        };
        match answer.as_ref().map_err(ModelError::kind) {
            Ok(_) => connection.answered(),
            Err(ModelErrorKind::RateLimited { retry_after }) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                connection.refused(retry_after);
            }
            Err(_) => {}
        }
        answer
    }
}

/// A model on one server is another than that of the same name on another.
fn line_name(model: &AnyModel) -> String {
    let args = model.args();
    if args.is_empty() { model.name().to_owned() } else { format!("{} {}", model.name(), json(args)) }
}

fn json(args: Metadata) -> String {
    serde_json::Value::Object(args).to_string()
}

/// The error, with a word about the retries that were in vain.
fn after_retries(error: ModelError, retries: u32) -> ModelError {
    match retries {
        0 => error,
        1 => ModelError::new(error.kind(), format!("{error} (asked again once, in vain)")),
        _ => ModelError::new(error.kind(), format!("{error} (asked again {retries} times, in vain)")),
    }
}

/// A number from 0 to 1 that differs from call to call and from process to process.
fn random() -> f64 {
    let (bits, _) = uuid::Uuid::new_v4().as_u64_pair();
    // The version is in the lower half.
    (bits >> 32) as f64 / f64::from(u32::MAX)
}
