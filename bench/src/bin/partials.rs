//! What a Spark worker does with the rows of a partition, without Spark and Python: batches become states.
//!
//! usage: `partials [ROWS] [ROUNDS]`
//!
//! Prints the nanoseconds of CPU time for each row, of reading the rows by group and of making states of them (medians).
//! The rows are shuffled and have 50 groups and 3 epochs, as those of `bench/spark_speed.py`.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, RecordBatchIterator, StringArray};
use errorbar_core::engine::BUCKETS;
use errorbar_core::metrics::{accuracy, stderr};
use errorbar_core::{Order, Partial, Plan, metrics};
use errorbar_table::{ArrowTable, RowGroup, RowGroupError, RowLabels, TableOptions, read_row_groups};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

type Groups = Box<dyn Iterator<Item = std::result::Result<RowGroup, RowGroupError>>>;

/// What Spark puts into a batch.
const BATCH_ROWS: usize = 10_000;
const GROUPS: u64 = 50;
const EPOCHS: u64 = 3;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let rows: u64 = args.next().map_or(Ok(1_250_000), |arg| arg.parse())?;
    let rounds: usize = args.next().map_or(Ok(5), |arg| arg.parse())?;
    // As one task of Spark has.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let batches = batches(rows)?;
    let mut plan = Plan::new().metrics(metrics![accuracy(), stderr()]);
    plan.order = Order::Key;
    let (mut reading, mut counting, mut bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        let start = cpu_nanoseconds()?;
        let groups = read(batches.clone(), &plan)?;
        let read = cpu_nanoseconds()?;
        bytes = 0;
        for group in groups {
            bytes += black_box(state(&group.map_err(|failed| failed.error)?, &plan)?).len();
        }
        reading.push(read - start);
        counting.push(cpu_nanoseconds()? - read);
    }
    reading.sort();
    counting.sort();
    let of_row = |times: &[u64]| times.get(times.len() / 2).map_or(0, |time| time / rows.max(1));
    #[allow(clippy::disallowed_methods, reason = "numbers, no names from files")]
    let mut out = std::io::stdout().lock();
    writeln!(out, "{rows} rows, {GROUPS} groups, {EPOCHS} epochs: {bytes} bytes of states")?;
    writeln!(out, "CPU ns for each row: reading {}, states {}", of_row(&reading), of_row(&counting))?;
    Ok(())
}

/// The CPU time of all threads: the clock on the wall runs on while others have the cores.
fn cpu_nanoseconds() -> Result<u64> {
    let mut all = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        all += text.split_whitespace().next().ok_or("a number")?.parse::<u64>()?;
    }
    Ok(all)
}

fn read(batches: Vec<RecordBatch>, plan: &Plan) -> Result<Groups> {
    let schema = batches.first().ok_or("some rows")?.schema();
    let stream = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let options =
        TableOptions::new().metadata(plan.metadata_keys()).number_rows(false).epoch_column("attempt");
    let labels = RowLabels::new(Some("group".to_owned()), Some("bucket".to_owned()));
    let groups = read_row_groups(&ArrowTable::new(Box::new(stream)), &options, &labels);
    Ok(Box::new(groups.map_err(|failed| failed.error)?))
}

fn state(rows: &RowGroup, plan: &Plan) -> Result<Vec<u8>> {
    let buckets = rows.buckets.as_deref().ok_or("buckets")?;
    let group = rows.group.as_deref().unwrap_or_default();
    Ok(Partial::of(&rows.columns, plan)?.with_buckets(group, buckets)?.into_owned()?.to_bytes()?)
}

/// Rows in an order without runs: what a shuffle leaves.
fn batches(rows: u64) -> Result<Vec<RecordBatch>> {
    let samples = rows.div_ceil(GROUPS * EPOCHS).max(1);
    let mut order: Vec<(u64, u64)> = (0..rows).map(|row| (mixed(row), row)).collect();
    order.sort_unstable();
    let batch = |rows: &[(u64, u64)]| -> Result<RecordBatch> {
        let parts = || {
            rows.iter()
                .map(|(mixed, row)| (mixed, row % GROUPS, row / GROUPS % EPOCHS, row / GROUPS / EPOCHS))
        };
        let group = |group: u64| format!(r#"["task-{:02}","org/model-{:02}"]"#, group / 10, group % 10);
        let score = |mixed: u64| match mixed % 100 {
            0 => None,
            1..60 => Some("C"),
            60..65 => Some("P"),
            _ => Some("I"),
        };
        let bucket = |group: u64, sample: u64| (mixed(group * samples + sample) % u64::from(BUCKETS)) as i32;
        let columns: [(&str, ArrayRef); 5] = [
            ("group", Arc::new(StringArray::from_iter_values(parts().map(|(_, of, _, _)| group(of))))),
            (
                "id",
                Arc::new(StringArray::from_iter_values(
                    parts().map(|(_, _, _, sample)| format!("q{sample:07}")),
                )),
            ),
            (
                "attempt",
                Arc::new(Int32Array::from_iter_values(parts().map(|(_, _, epoch, _)| epoch as i32 + 1))),
            ),
            ("score", Arc::new(StringArray::from_iter(parts().map(|(mixed, _, _, _)| score(*mixed))))),
            (
                "bucket",
                Arc::new(Int32Array::from_iter_values(parts().map(|(_, of, _, sample)| bucket(of, sample)))),
            ),
        ];
        Ok(RecordBatch::try_from_iter(columns)?)
    };
    order.chunks(BATCH_ROWS).map(batch).collect()
}

/// A number that looks random.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number ^ number >> 31
}
