//! Records from Parquet files.

use std::path::Path;
use std::sync::Arc;

use errorbar_table::{ParquetRecords, TableErrorKind};

use super::error::{DatasetError, RecordLocation, RecordPosition};
use super::record::{FieldNames, Record, RecordSink, Stop};

/// What the samples of a small row may take beside its values, if rows have at least a byte of the file each.
const BYTES_PER_ROW: u64 = 128;
/// How many times the size of the file its values may have.
const DECOMPRESSED_PER_BYTE: u64 = 16;

/// Reads the columns that are needed, or all.
pub(super) fn read(
    path: &Arc<Path>,
    columns: Option<&[String]>,
    sink: &mut RecordSink<'_>,
) -> Result<Stop, DatasetError> {
    let unreadable = |row: Option<u64>, kind: TableErrorKind| {
        let row = row.map(|row| format!("row {row}: ")).unwrap_or_default();
        let problem = match kind {
            TableErrorKind::Open(error) | TableErrorKind::Read(error) => error.to_string(),
            kind => format!("{row}{kind}"),
        };
        DatasetError::Read { path: path.to_path_buf(), problem }
    };
    let mut records = ParquetRecords::open(path, columns).map_err(|kind| unreadable(None, kind))?;
    let mut names: FieldNames = records.names().iter().map(|name| (name.clone(), None)).collect();
    names.extend((0..).zip(records.read_names()).map(|(at, name)| (name.clone(), Some(at))));
    let names = Arc::new(names);
    sink.names(path, &names)?;
    let file_size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let rows = records.rows().max(1);
    // What the file claims is not trusted beyond what a file of its size can hold.
    let claimed = records.decompressed_size().min(file_size.saturating_mul(DECOMPRESSED_PER_BYTE));
    let bytes = (claimed + BYTES_PER_ROW * rows.min(file_size)).div_ceil(rows);
    for row in 1.. {
        let values = records.next_row().map_err(|kind| unreadable(Some(row), kind))?;
        let Some(values) = values else { break };
        let place = RecordLocation { path: Some(path.clone()), line: Some(RecordPosition::Row(row)) };
        if sink.take(Record::with_names(place, names.clone(), values), bytes)? == Stop::Early {
            return Ok(Stop::Early);
        }
    }
    Ok(Stop::AtTheEnd)
}
