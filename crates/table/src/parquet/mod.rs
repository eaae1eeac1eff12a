//! Tables as Parquet, as pandas, polars, DuckDB and Arrow write them.
//!
//! Only the columns that are needed are read, each on its own thread and a row group at a time; memory
//! is that of the columns of the result and of one row group. What a cell means is what it means in
//! JSON lines, but for null: a score that is null is missing, as an empty cell of a CSV is, because
//! writers of Parquet know no other way to leave a cell empty.

mod column;
mod groups;
mod headers;
mod records;

use std::sync::Mutex;

use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::SchemaDescriptor;

use self::column::{caught, guarded, kind_of};
use self::groups::MemoryUse;
use self::headers::PageBudget;
pub use self::records::ParquetRecords;
use super::error::TableError;
use super::input::InputBytes;
use super::layout::{TableColumn, TableLayout, refuse_twice};
use super::limits::Budget;
use super::typed::TypedColumn;
use super::{ScoreTable, TableErrorKind, TableOptions};

pub(super) fn read(file: InputBytes, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    // A panic of the library on a damaged file becomes an error about that file.
    caught(|| read_file(file, options)).map_err(TableErrorKind::parquet)?
}

fn read_file(mut file: InputBytes, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let bytes = file.size().unwrap_or(0);
    headers::check(&mut file, &options.limits)?;
    let source = file.reopen().map_err(TableErrorKind::Open)?;
    let reader = guarded(|| SerializedFileReader::new(file)).map_err(TableErrorKind::parquet)?;
    let metadata = reader.metadata();
    let leaves = named_leaves(metadata.file_metadata().schema_descr());
    let names: Vec<&str> = leaves.iter().map(|(name, _)| name.as_str()).collect();
    refuse_twice(&names)?;
    let layout = TableLayout::new(&names, options)?;
    let rows = plausible_rows(metadata, bytes)?;
    let budget = options.limits.budget(&source, rows.saturating_mul(layout.columns.len() as u64));
    refuse_implausible(rows, &layout, budget)?;
    let (held, work) = (MemoryUse::new(budget), PageBudget::new(&options.limits, bytes));
    let table = ParquetTable {
        source: &source,
        metadata,
        layout: &layout,
        leaves: &leaves,
        budget,
        held,
        work,
        large: Mutex::new(()),
    };
    let columns = layout.columns.iter().map(|column| table.column(column)).collect::<Result<Vec<_>, _>>()?;
    groups::read(&table, &columns)?.finish(&layout)
}

/// The columns of a schema: the fields of a structure are columns of their own, `scores.accuracy`; a list or a map is one,
/// whatever it holds.
fn named_leaves(schema: &SchemaDescriptor) -> Vec<(String, usize)> {
    let mut leaves: Vec<(String, usize)> = Vec::new();
    let mut last_list = None;
    for (leaf, column) in schema.columns().iter().enumerate() {
        if column.max_rep_level() == 0 {
            leaves.push((column.path().parts().join("."), leaf));
            continue;
        }
        let root = schema.get_column_root_idx(leaf);
        if last_list != Some(root) {
            last_list = Some(root);
            leaves.push((schema.get_column_root(leaf).name().to_owned(), leaf));
        }
    }
    leaves
}

/// The most rows per byte of a file. Samples with different ids take more than this.
const ROWS_PER_BYTE: u64 = 256;

/// Refuses a file that claims more rows than it can have: columns of one value take no space however
/// long they are, and would fill the memory before a repeated row is found.
fn refuse_implausible(rows: u64, layout: &TableLayout, budget: Budget) -> Result<(), TableErrorKind> {
    // In the long form rows of the table are not rows of the columns.
    if layout.is_long {
        return Ok(());
    }
    let of_row = ROW_BYTES + 2 * layout.scores.len() as u64 + 4 * layout.metadata.len() as u64;
    budget.check(rows.saturating_mul(of_row))
}

/// The number of rows, if a file of this size can have that many and its metadata agree on it.
fn plausible_rows(metadata: &ParquetMetaData, bytes: u64) -> Result<u64, TableErrorKind> {
    let groups = metadata.row_groups().iter();
    if groups.clone().any(|group| group.num_rows() < 0) {
        return Err(TableErrorKind::parquet("a row group has a negative number of rows"));
    }
    let rows = groups.fold(0, |rows: u64, group| rows.saturating_add(rows_of(group) as u64));
    if rows > bytes.saturating_mul(ROWS_PER_BYTE) {
        let problem = format!("it claims {rows} rows, in {bytes} bytes");
        return Err(TableErrorKind::parquet(problem));
    }
    // The file has both counts, so that a damaged one is found.
    let claimed = metadata.file_metadata().num_rows();
    if u64::try_from(claimed) != Ok(rows) {
        let problem = format!("it claims {claimed} rows, and its row groups {rows}");
        return Err(TableErrorKind::parquet(problem));
    }
    Ok(rows)
}

/// What a row takes at least, its scores and metadata aside.
const ROW_BYTES: u64 = 3;

/// An open file and what its columns are.
struct ParquetTable<'a> {
    source: &'a InputBytes,
    metadata: &'a ParquetMetaData,
    layout: &'a TableLayout,
    /// The names of the columns, and which leaf of the schema each is.
    leaves: &'a [(String, usize)],
    budget: Budget,
    held: MemoryUse,
    work: PageBudget,
    /// Held by the thread that has large pages in memory.
    large: Mutex<()>,
}

/// A column, and which leaf of the schema it is.
type ParquetColumn<'a> = TypedColumn<'a, usize>;

impl<'a> ParquetTable<'a> {
    /// What a column holds, if its role takes that.
    fn column(&self, column: &'a TableColumn) -> Result<ParquetColumn<'a>, TableErrorKind> {
        let schema = self.metadata.file_metadata().schema_descr();
        let leaf = self.leaves.get(column.at).map(|(_, leaf)| *leaf);
        let found = leaf.map_or(Err("nothing".to_owned()), |leaf| kind_of(&schema.column(leaf)));
        TypedColumn::new(column, leaf.unwrap_or_default(), found)
    }
}

/// The number of rows of a row group, by its metadata.
fn rows_of(group: &RowGroupMetaData) -> usize {
    usize::try_from(group.num_rows()).unwrap_or(0)
}
