//! Pieces of a file become blocks on all threads, and the blocks go to the builder in the order of the file.
//!
//! A worker takes a piece, with a block of columns to parse it into, and leaves the block to the thread that has the
//! builder. There are enough blocks that a worker seldom waits for one; a block is taken before its piece, so that the piece
//! whose turn it is always has one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use errorbar_core::engine::{ColumnBlock, MetadataColumn};

use super::TableError;
use super::builder::TableBuilder;
use super::layout::ColumnRole;
use super::limits::Budget;

/// Something that has rows, piece by piece. Whether they are those of the columns, or how they become them, is none
/// of its business.
pub(super) trait RowSource: Sync {
    /// Some rows that are not parsed yet.
    type Piece: Default + Send;

    /// How many pieces there are, about.
    fn estimate(&self) -> usize;

    /// Reads the next piece into the memory of another, and returns its number, also with an error: pieces before it may
    /// hold one that comes first. `None` at the end.
    fn next(&self, piece: &mut Self::Piece) -> Option<(usize, Result<(), TableError>)>;

    /// Whether a piece may take so much memory that no other is parsed at the same time.
    fn is_large(&self, piece: &Self::Piece) -> bool;

    /// Parses a piece into an empty block, which with an error has the rows before it.
    fn parse(&self, piece: &mut Self::Piece, block: &mut ColumnBlock) -> Result<(), TableError>;

    /// Appends the block of a piece when all before it are.
    fn append(
        &self,
        piece: &mut Self::Piece,
        block: &mut ColumnBlock,
        builder: &mut TableBuilder,
    ) -> Result<(), TableError>;
}

/// A piece and the block that it is parsed into.
struct Job<P> {
    piece: P,
    block: ColumnBlock,
    is_parsed: bool,
    /// What is wrong with the row behind those of the block.
    error: Option<TableError>,
}

/// What was read so far.
struct Appended<P> {
    /// Nothing while a worker appends a block.
    builder: Option<TableBuilder>,
    /// Blocks that came before their turn, which is that of the number `next`.
    early: BTreeMap<usize, Job<P>>,
    next: usize,
    /// Where blocks go that are free again; none once something failed, which ends all workers.
    free: Option<Sender<Job<P>>>,
    error: Option<TableError>,
}

/// Reads all rows of a source.
pub(super) fn read_blocks<S: RowSource>(source: &S, budget: Budget) -> Result<TableBuilder, TableError> {
    let expected = source.estimate();
    let workers = rayon::current_num_threads().min(expected).max(1);
    let (free, free_jobs) = channel();
    for _ in 0..workers + 3 {
        let (piece, block) = (S::Piece::default(), ColumnBlock::default());
        let _ = free.send(Job { piece, block, is_parsed: false, error: None });
    }
    let builder = TableBuilder::of_blocks(budget, expected);
    let appended =
        Appended { builder: Some(builder), early: BTreeMap::new(), next: 0, free: Some(free), error: None };
    let (appended, free_jobs) = (Mutex::new(appended), Mutex::new(free_jobs));
    rayon::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|_| {
                let work = AssertUnwindSafe(|| work(source, &free_jobs, &appended));
                if let Err(panic) = catch_unwind(work) {
                    // Others must not wait for the block that this one took.
                    lock(&appended).free = None;
                    resume_unwind(panic);
                }
            });
        }
    });
    let Appended { builder, error, .. } = appended.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (error, builder) {
        (Some(error), _) => Err(error),
        (None, Some(builder)) => Ok(builder),
        // The worker that had it has panicked, and so has this function.
        (None, None) => Ok(TableBuilder::new(budget)),
    }
}

/// Parses and appends piece after piece, until the file ends or something fails.
fn work<S: RowSource>(
    source: &S,
    free: &Mutex<Receiver<Job<S::Piece>>>,
    appended: &Mutex<Appended<S::Piece>>,
) {
    loop {
        let Ok(mut job) = lock(free).recv() else { return };
        let Some((number, read)) = source.next(&mut job.piece) else { return };
        job.is_parsed = false;
        match read {
            Ok(()) if source.is_large(&job.piece) => {}
            Ok(()) => parse(source, &mut job),
            Err(error) => (job.is_parsed, job.error) = (true, Some(error)),
        }
        lock(appended).early.insert(number, job);
        while append_next(source, appended) {}
    }
}

fn parse<S: RowSource>(source: &S, job: &mut Job<S::Piece>) {
    job.is_parsed = true;
    job.error = source.parse(&mut job.piece, &mut job.block).err();
}

/// Appends the block whose turn it is, if it is there and no other thread is at it. The first error of the file is
/// the one that counts.
fn append_next<S: RowSource>(source: &S, appended: &Mutex<Appended<S::Piece>>) -> bool {
    let (mut builder, mut job) = {
        let state = &mut *lock(appended);
        if state.builder.is_none() || state.error.is_some() {
            return false;
        }
        let Some(job) = state.early.remove(&state.next) else { return false };
        let Some(builder) = state.builder.take() else { return false };
        state.next += 1;
        (builder, job)
    };
    if !job.is_parsed {
        parse(source, &mut job);
    }
    // What is wrong with a row before comes first.
    let done = source.append(&mut job.piece, &mut job.block, &mut builder);
    let done = done.and_then(|()| job.error.take().map_or(Ok(job), Err));
    let state = &mut *lock(appended);
    state.builder = Some(builder);
    match done {
        Ok(job) => {
            if let Some(free) = &state.free {
                let _ = free.send(job);
            }
            true
        }
        Err(error) => {
            (state.free, state.error) = (None, Some(error));
            false
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where strings of a role go that is neither a score nor metadata.
pub(super) fn text_column(block: &mut ColumnBlock, role: ColumnRole) -> Option<&mut MetadataColumn> {
    match role {
        ColumnRole::Scorer => Some(&mut block.labels.scorers),
        ColumnRole::Answer => Some(&mut block.details.answers),
        ColumnRole::Explanation => Some(&mut block.details.explanations),
        ColumnRole::Reason => Some(&mut block.details.reasons),
        ColumnRole::Log => Some(&mut block.labels.parts),
        ColumnRole::Task => Some(&mut block.labels.tasks),
        ColumnRole::Model => Some(&mut block.labels.models),
        _ => None,
    }
}
