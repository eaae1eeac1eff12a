//! The engine's side of `bench/frames.py`: columns from buffers like those of Arrow, and their results.
//!
//! Each line of standard input is a number of rows; the answer is the nanoseconds of building the columns and of
//! `Plan::evaluate`, the bytes of the columns, the mean and its clustered standard error. The buffers are made before the
//! clock starts and have the values of those that the script makes in Python.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::Instant;

use errorbar_core::engine::ColumnBlock;
use errorbar_core::metrics::mean;
use errorbar_core::{Plan, ScoreColumns, metrics};
use rayon::prelude::*;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Rows that a thread reads at once.
const BLOCK_ROWS: usize = 1 << 16;
const TOPICS: usize = 50;

fn main() -> Result<()> {
    #[allow(clippy::disallowed_methods, reason = "numbers for frames.py, no names from files")]
    let mut out = std::io::stdout().lock();
    let mut buffers = Buffers::default();
    for line in std::io::stdin().lock().lines() {
        let rows = line?.trim().parse()?;
        if buffers.scores.len() != rows {
            buffers = Buffers::new(rows);
        }
        let plan =
            Plan::new().metrics(metrics![mean()]).errors(r#"{"cluster": "topic", "method": "CR0"}"#.parse()?);
        let start = Instant::now();
        let columns = black_box(&buffers).columns();
        let built = start.elapsed();
        let results = black_box(plan.evaluate(black_box(&columns))?).results;
        let time = start.elapsed();
        let estimate = results.estimate("mean")?;
        let error = estimate.error.clone()?.se;
        let mean = estimate.number().ok_or("a mean")?;
        let bytes = columns.heap_bytes();
        writeln!(out, "{} {} {bytes} {mean} {error}", built.as_nanos(), time.as_nanos())?;
        out.flush()?;
    }
    Ok(())
}

/// Three columns as Arrow has them: strings with offsets, floats, a dictionary with codes.
#[derive(Default)]
struct Buffers {
    ids: String,
    offsets: Vec<usize>,
    scores: Vec<f64>,
    topics: Vec<String>,
    codes: Vec<u32>,
}

impl Buffers {
    fn new(rows: usize) -> Self {
        let mut buffers = Buffers { offsets: vec![0], ..Buffers::default() };
        for row in 0..rows as u64 {
            buffers.ids.push_str(&format!("q{row}"));
            buffers.offsets.push(buffers.ids.len());
            let mixed = row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            buffers.scores.push((mixed >> 63) as f64);
            buffers.codes.push(((mixed >> 32) % TOPICS as u64) as u32);
        }
        buffers.topics = (0..TOPICS).map(|topic| format!("t{topic}")).collect();
        buffers
    }

    fn columns(&self) -> ScoreColumns {
        let topics: Vec<&str> = self.topics.iter().map(String::as_str).collect();
        let starts: Vec<usize> = (0..self.scores.len()).step_by(BLOCK_ROWS).collect();
        let mut columns = ScoreColumns::new(["score"]);
        columns.reserve(self.scores.len(), ["topic"]);
        // A round of blocks at a time, so that they are not all in memory beside the columns.
        for round in starts.chunks(rayon::current_num_threads()) {
            let blocks: Vec<ColumnBlock> =
                round.par_iter().map(|start| self.block(*start, &topics)).collect();
            for mut block in blocks {
                columns.append(["topic"], &mut block);
            }
        }
        columns
    }

    #[allow(
        clippy::indexing_slicing,
        reason = "within the buffers, and what is timed is without checks of errors"
    )]
    fn block(&self, start: usize, topics: &[&str]) -> ColumnBlock {
        let end = (start + BLOCK_ROWS).min(self.scores.len());
        let mut block = ColumnBlock::new(1, 1);
        for bounds in self.offsets[start..=end].windows(2) {
            block.ids.push(&self.ids[bounds[0]..bounds[1]]);
        }
        self.scores[start..end].iter().for_each(|score| block.scores[0].push_float(*score));
        block.metadata[0].extend_coded(topics, &self.codes[start..end]);
        block
    }
}
