//! What threads have read, put together in the order of the file.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use errorbar_core::{ColumnBlock, ScoreColumns};

use crate::table::TableErrorKind;
use crate::table::error::ReadError;
use crate::table::layout::{TableColumn, TableLayout};
use crate::table::limits::Budget;

/// The rows that room is made for at the start, at most: the size of a file is only a hint.
const MOST_RESERVED: usize = 1 << 24;

/// After so many blocks, and at the end, it is checked how much memory the columns take.
const CHECK_EVERY: usize = 16;

/// Puts blocks of rows together, in the order of their numbers, whoever comes first.
///
/// No thread waits for another's rows: a block whose turn has not come is left here, and the thread that
/// is at work on the columns appends it when its turn comes.
pub(super) struct BlockJoiner<'a> {
    layout: &'a TableLayout,
    scorers: usize,
    /// About how many blocks there are.
    blocks: usize,
    /// How many may wait for their turn before nobody begins another.
    most_waiting: usize,
    budget: Budget,
    joined: Mutex<AppendedBlocks>,
    left: Mutex<PendingBlocks>,
    /// Told when fewer blocks are left.
    fewer: Condvar,
    has_failed: AtomicBool,
}

struct AppendedBlocks {
    columns: ScoreColumns,
    /// The block whose turn it is.
    next: usize,
    problem: Option<ReadError>,
}

/// Blocks that wait for their turn, by number, and those that are free again.
#[derive(Default)]
struct PendingBlocks {
    waiting: BTreeMap<usize, Result<ColumnBlock, ReadError>>,
    free: Vec<ColumnBlock>,
}

impl<'a> BlockJoiner<'a> {
    /// For about so many blocks that so many threads read.
    pub(super) fn new(
        layout: &'a TableLayout,
        scores: &[TableColumn],
        blocks: usize,
        threads: usize,
        budget: Budget,
    ) -> Self {
        let columns = ScoreColumns::new(scores.iter().map(|column| &column.name));
        BlockJoiner {
            layout,
            scorers: scores.len(),
            blocks,
            most_waiting: threads + 2,
            budget,
            joined: Mutex::new(AppendedBlocks { columns, next: 0, problem: None }),
            left: Mutex::default(),
            fewer: Condvar::new(),
            has_failed: AtomicBool::new(false),
        }
    }

    /// An empty block to read rows into. Waits while many are left, which happens if one of them takes much
    /// longer than others.
    pub(super) fn block(&self) -> ColumnBlock {
        let mut left = lock(&self.left);
        // Somebody is still at work on the block whose turn it is, and gives it without waiting here.
        while left.waiting.len() > self.most_waiting && !self.has_failed() {
            left = self.fewer.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        left.free.pop().unwrap_or_else(|| ColumnBlock::new(self.scorers, self.layout.metadata.len()))
    }

    /// Takes a block, or what was wrong with it.
    pub(super) fn give(&self, number: usize, read: Result<ColumnBlock, ReadError>) {
        lock(&self.left).waiting.insert(number, read);
        // Whoever has the columns looks for more blocks after giving them back, and so finds this one.
        while let Ok(mut joined) = self.joined.try_lock() {
            let next = self.append_all(&mut joined);
            drop(joined);
            if !lock(&self.left).waiting.contains_key(&next) {
                return;
            }
        }
    }

    /// Appends the blocks whose turn it is, and says which is next.
    fn append_all(&self, joined: &mut AppendedBlocks) -> usize {
        loop {
            let Some(read) = lock(&self.left).waiting.remove(&joined.next) else { return joined.next };
            self.fewer.notify_all();
            joined.next += 1;
            if joined.problem.is_some() {
                continue;
            }
            let number = joined.next;
            match read.and_then(|block| self.append(&mut joined.columns, block, number)) {
                Ok(block) => lock(&self.left).free.push(block),
                Err(problem) => {
                    joined.problem = Some(problem);
                    self.fail();
                }
            }
        }
    }

    /// Appends the rows of a block, and gives it back empty.
    fn append(
        &self,
        columns: &mut ScoreColumns,
        mut block: ColumnBlock,
        number: usize,
    ) -> Result<ColumnBlock, ReadError> {
        let keys = || self.layout.metadata.iter().map(|column| column.name.as_str());
        let rows = columns.len() as u64;
        if rows == 0 {
            columns.reserve(block.ids.len().saturating_mul(self.blocks).min(MOST_RESERVED), keys());
        }
        if rows + block.ids.len() as u64 > u64::from(u32::MAX) {
            return Err(TableErrorKind::TooManyRows.in_row(u64::from(u32::MAX) + 1));
        }
        columns.append(keys(), &mut block);
        // Adding up what is held takes a look at all chunks of ids, so not each time.
        if number.is_multiple_of(CHECK_EVERY) || number + 1 >= self.blocks {
            self.budget.check(columns.heap_bytes() as u64)?;
        }
        Ok(block)
    }

    fn fail(&self) {
        // Under the lock, so that nobody is just about to wait.
        let _left = lock(&self.left);
        self.has_failed.store(true, Ordering::Relaxed);
        self.fewer.notify_all();
    }

    /// Something to hold while blocks are read: if the thread panics, nobody waits for its block.
    pub(super) fn panic_guard(&self) -> PanicGuard<'_, 'a> {
        PanicGuard(self)
    }

    /// Whether a problem was met, so that what follows is read in vain.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// All rows, or the first problem.
    pub(super) fn finish(self) -> Result<ScoreColumns, ReadError> {
        let joined = self.joined.into_inner().unwrap_or_else(PoisonError::into_inner);
        joined.problem.map_or(Ok(joined.columns), Err)
    }
}

/// Tells the others if the thread that holds it panics.
pub(super) struct PanicGuard<'j, 'a>(&'j BlockJoiner<'a>);

impl Drop for PanicGuard<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail();
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::table::layout::Form;
    use crate::table::{TableLimits, TableOptions};

    fn block(joiner: &BlockJoiner<'_>, id: &str) -> ColumnBlock {
        let mut block = joiner.block();
        block.ids.push(id);
        block
    }

    fn with_joiner<T>(test: impl FnOnce(BlockJoiner<'_>) -> T) -> T {
        let layout = TableLayout::new(&["id", "score"], &TableOptions::new()).unwrap();
        let Form::Wide(scores) = &layout.form else { unreachable!("no column names a scorer") };
        let budget = TableLimits::default().budget(&tempfile::tempfile().unwrap());
        test(BlockJoiner::new(&layout, scores, 3, 1, budget))
    }

    fn ids(columns: &ScoreColumns) -> Vec<&str> {
        (0..columns.len()).map(|row| columns.id(row)).collect()
    }

    #[test]
    fn blocks_come_in_order_whoever_is_first() {
        with_joiner(|joiner| {
            for (number, id) in [(2, "c"), (0, "a"), (3, "d"), (1, "b")] {
                joiner.give(number, Ok(block(&joiner, id)));
            }
            assert_eq!(ids(&joiner.finish().unwrap()), ["a", "b", "c", "d"]);
        });
    }

    #[test]
    fn the_problem_that_comes_first_in_the_file_is_told() {
        with_joiner(|joiner| {
            joiner.give(2, Err(TableErrorKind::Empty.into()));
            joiner.give(0, Ok(block(&joiner, "a")));
            assert!(!joiner.has_failed(), "the block before the problem is still to come");
            joiner.give(1, Err(TableErrorKind::TooManyRows.into()));
            assert!(joiner.has_failed());
            let problem = format!("{:?}", joiner.finish().unwrap_err());
            assert!(problem.contains("TooManyRows"), "{problem}");
        });
    }

    #[test]
    fn nobody_runs_far_ahead_of_a_slow_block() {
        with_joiner(|joiner| {
            let slow = block(&joiner, "0");
            let most = joiner.most_waiting;
            for number in 1..=most + 1 {
                joiner.give(number, Ok(block(&joiner, &number.to_string())));
            }
            thread::scope(|scope| {
                let (done, is_done) = mpsc::channel();
                let joiner = &joiner;
                scope.spawn(move || done.send(joiner.block()).unwrap());
                assert!(is_done.recv_timeout(Duration::from_millis(30)).is_err(), "it waits");
                joiner.give(0, Ok(slow));
                assert!(is_done.recv().unwrap().ids.is_empty());
            });
            assert_eq!(joiner.finish().unwrap().len(), most + 2);
        });
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        with_joiner(|joiner| {
            for number in 1..=joiner.most_waiting + 1 {
                joiner.give(number, Ok(block(&joiner, "x")));
            }
            thread::scope(|scope| {
                let waiting = scope.spawn(|| joiner.block());
                let panicking = scope.spawn(|| {
                    let _watch = joiner.panic_guard();
                    panic!("a bug in the reader of a piece");
                });
                assert!(panicking.join().is_err());
                assert!(waiting.join().is_ok());
            });
        });
    }
}
