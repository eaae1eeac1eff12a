//! When to retry.

use std::time::Duration;

use super::ModelError;

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
