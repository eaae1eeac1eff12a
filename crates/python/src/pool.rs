//! The threads that everything is computed on.
//!
//! Not rayon's global pool: a process that forks (Inspect's `samples_df(parallel=True)`, PySpark, `multiprocessing`) has
//! the pool in the child and none of its threads, and would wait for them forever. So the pool belongs to a process, and a
//! child makes its own.

use std::env;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The variable with the number of threads.
const THREADS: &str = "ERRORBAR_THREADS";

/// More threads than any machine has cores for.
const MOST_THREADS: usize = 4096;

/// The pool, and the process that its threads are of. It is locked only while the GIL is held, as it is by whoever forks,
/// so no child finds it locked.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process; why there is none, in words.
pub(crate) fn pool() -> Result<Arc<ThreadPool>, String> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match pool.take() {
        Some((process, known)) if process == process::id() => {
            *pool = Some((process, Arc::clone(&known)));
            return Ok(known);
        }
        // Its threads are in another process: to end it would be to wait for them.
        Some((_, other)) => std::mem::forget(other),
        None => {}
    }
    let made = ThreadPoolBuilder::new()
        .num_threads(threads()?)
        .thread_name(|number| format!("errorbar-{number}"))
        .build()
        .map_err(|error| format!("no threads: {error}"))?;
    let made = Arc::new(made);
    *pool = Some((process::id(), Arc::clone(&made)));
    Ok(made)
}

/// Gives this pool up, because what runs on it is no longer waited for: it ends by itself, and the next call has threads of
/// its own.
pub(crate) fn give_up(used: &Arc<ThreadPool>) {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if pool.as_ref().is_some_and(|(_, known)| Arc::ptr_eq(known, used)) {
        *pool = None;
    }
}

/// The number of threads; 0 means that of the cores.
fn threads() -> Result<usize, String> {
    match env::var(THREADS) {
        Ok(text) if !text.trim().is_empty() => {
            let number = text.trim().parse().ok().filter(|number| *number <= MOST_THREADS);
            number
                .ok_or_else(|| format!("{THREADS}={text}: expected a number of threads up to {MOST_THREADS}"))
        }
        _ => Ok(0),
    }
}
