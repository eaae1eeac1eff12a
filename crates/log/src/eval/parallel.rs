//! Work on all samples of a log at once, which ends with the first one that fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::error::Result;

/// Calls `each` for every index, on all threads of the current pool, with a tool for each thread.
///
/// # Errors
/// That of the first index that fails, whichever thread gets there first. Later ones are skipped: a log may
/// have millions of samples that cannot be read, and each error takes more memory than the sample.
pub(super) fn for_all<T: Send, I>(
    count: usize,
    tool: impl Fn() -> I + Sync + Send,
    each: impl Fn(&mut I, usize) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    let first_failed = AtomicUsize::new(usize::MAX);
    let done: Vec<Option<Result<T>>> = (0..count)
        .into_par_iter()
        .map_init(tool, |tool, at| {
            if at > first_failed.load(Ordering::Relaxed) {
                return None;
            }
            let done = each(tool, at);
            if done.is_err() {
                first_failed.fetch_min(at, Ordering::Relaxed);
            }
            Some(done)
        })
        .collect();
    done.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::error::LogErrorKind;
    use super::*;

    #[test]
    fn the_first_error_counts_and_ends_the_rest() {
        assert_eq!(for_all(5, || (), |(), at| Ok(at * at)).unwrap(), [0, 1, 4, 9, 16]);
        for _ in 0..20 {
            let tried = AtomicUsize::new(0);
            let failed = for_all(
                100_000,
                || (),
                |(), at| {
                    tried.fetch_add(1, Ordering::Relaxed);
                    match at {
                        0..7 => Ok(()),
                        _ => Err(LogErrorKind::Damaged(format!("{at}")).into()),
                    }
                },
            );
            assert!(matches!(failed.unwrap_err().kind(), LogErrorKind::Damaged(at) if at == "7"));
            // Other threads may be ahead, each by what it fails at first.
            assert!(tried.into_inner() < 10_000);
        }
    }
}
