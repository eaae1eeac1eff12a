//! How many files and connections this process may have open.
//!
//! A process without a descriptor left can neither connect nor open a file. So connections get no more than there are,
//! less a reserve for the log, the cache, the runtime and the names of servers that are looked up.

/// Descriptors for anything but connections, if there are that many.
const RESERVE: usize = 128;

/// The maximum number of idle connections: more than are used at once, as a new connection for each request would
/// take longer than many a request.
const MOST_IDLE: usize = 1024;

/// Of a number of connections that are wanted at once, how many this process can have. Allows it more open files, as far
/// as the system lets it, if that is needed.
pub fn allow_connections(wanted: usize) -> usize {
    match limit::open_files() {
        Some(limit) if connections(limit) < wanted => {
            let limit = limit::raise().unwrap_or(limit);
            wanted.min(connections(limit)).max(1)
        }
        _ => wanted,
    }
}

/// How many files this process may have open, if there is a limit.
pub fn max_open_files() -> Option<usize> {
    limit::open_files()
}

/// The maximum number of idle connections to one server.
pub(super) fn most_idle() -> usize {
    limit::open_files().map_or(MOST_IDLE, |limit| (for_connections(limit) / 4).clamp(1, MOST_IDLE))
}

fn for_connections(limit: usize) -> usize {
    limit - RESERVE.min(limit / 2)
}

/// Half of them: a request that finds no idle connection opens one, and takes another that becomes idle meanwhile, so
/// that there may be twice as many as are in use. And those at other servers stay idle for a while.
fn connections(limit: usize) -> usize {
    for_connections(limit) / 2
}

#[cfg(unix)]
mod limit {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    /// How many files may be open now.
    pub(super) fn open_files() -> Option<usize> {
        usize::try_from(getrlimit(Resource::Nofile).current?).ok()
    }

    /// Allows as many as the system lets us; how many those are.
    pub(super) fn raise() -> Option<usize> {
        let maximum = getrlimit(Resource::Nofile).maximum;
        // Some systems take no infinity here, and then it stays as it is.
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).ok()?;
        Some(open_files().unwrap_or(usize::MAX))
    }
}

#[cfg(not(unix))]
mod limit {
    pub(super) fn open_files() -> Option<usize> {
        None
    }

    pub(super) fn raise() -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_the_rest() {
        for limit in [16, 64, 256, 1024, 65536] {
            assert!(connections(limit) >= limit / 4, "{limit}");
            assert!(2 * connections(limit) + RESERVE.min(limit / 2) <= limit, "{limit}");
        }
        assert_eq!(connections(1024), 448);
        assert_eq!(allow_connections(1), 1);
    }
}
