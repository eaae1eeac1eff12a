//! The rows of a Parquet file as JSON, for datasets: lists, structs and maps become lists and objects.
//!
//! Rows are made one at a time from the library's record reader, and only of the columns that are asked for; the
//! rest of the file is not touched. A reader that stops after a hundred rows has read the pages that hold them.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::Field;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use serde_json::Value as Json;

use super::column::{caught, guarded};
use super::headers::{PageBudget, largest_page};
use super::{headers, plausible_rows, rows_of};
use crate::input::InputBytes;
use crate::{TableErrorKind, TableLimits};

/// The rows of a Parquet file, one after the other.
///
/// ```no_run
/// use errorbar_table::ParquetRecords;
/// let mut records = ParquetRecords::open("questions.parquet".as_ref(), Some(&["question".to_owned()]))?;
/// while let Some(values) = records.next_row()? {
///     println!("{}", values[0]);
/// }
/// # Ok::<(), errorbar_table::TableErrorKind>(())
/// ```
pub struct ParquetRecords {
    reader: SerializedFileReader<InputBytes>,
    /// A handle of its own: the library's has its position.
    file: InputBytes,
    schema: SchemaDescPtr,
    /// The leaves of the schema that are read.
    leaves: Vec<usize>,
    names: Vec<String>,
    read: Vec<String>,
    /// Whether columns were asked for, which must then be readable.
    is_chosen: bool,
    group: usize,
    rows: Option<ReaderIter>,
    all_rows: u64,
    work: PageBudget,
}

impl std::fmt::Debug for ParquetRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetRecords").field("read", &self.read).field("rows", &self.all_rows).finish()
    }
}

impl ParquetRecords {
    /// Opens a file. Of the columns that are asked for, those that the file has are read, in its order; all of
    /// them if none are named.
    ///
    /// # Errors
    /// A file that is no Parquet, or is damaged.
    pub fn open(path: &Path, columns: Option<&[String]>) -> Result<Self, TableErrorKind> {
        ParquetRecords::of_bytes(InputBytes::open(path).map_err(TableErrorKind::Open)?, columns)
    }

    /// The same of bytes, which are those of a file or in memory.
    pub(crate) fn of_bytes(bytes: InputBytes, columns: Option<&[String]>) -> Result<Self, TableErrorKind> {
        caught(|| open(bytes, columns)).map_err(TableErrorKind::parquet)?
    }

    /// The columns of the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns of the file as a table has them: the fields of a structure each by itself.
    pub(crate) fn table_names(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        super::named_leaves(schema).into_iter().map(|(name, _)| name).collect()
    }

    /// The columns that are read, in the order of the values of a row.
    pub fn read_names(&self) -> &[String] {
        &self.read
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.all_rows
    }

    /// About how many bytes the columns that are read have when they are decompressed, as the file claims it.
    pub fn decompressed_size(&self) -> u64 {
        let size = |chunk: Option<&ColumnChunkMetaData>| {
            chunk.and_then(|chunk| u64::try_from(chunk.uncompressed_size()).ok()).unwrap_or(0)
        };
        let groups = self.reader.metadata().row_groups().iter();
        groups
            .flat_map(|group| self.leaves.iter().map(move |leaf| size(group.columns().get(*leaf))))
            .fold(0, u64::saturating_add)
    }

    /// The values of the next row; `None` behind the last.
    ///
    /// # Errors
    /// A page that is damaged, or cannot be decoded.
    pub fn next_row(&mut self) -> Result<Option<Vec<Json>>, TableErrorKind> {
        loop {
            if let Some(rows) = &mut self.rows
                && let Some(row) = caught(|| rows.next()).map_err(TableErrorKind::parquet)?
            {
                let row = guarded(|| row).map_err(TableErrorKind::parquet)?;
                let columns = row.into_columns().into_iter();
                return columns
                    .map(|(name, field)| self.json(&name, field))
                    .collect::<Result<_, _>>()
                    .map(Some);
            }
            if self.group >= self.reader.num_row_groups() {
                return Ok(None);
            }
            self.rows = Some(self.open_group()?);
            self.group += 1;
        }
    }

    /// The rows of the next row group, once the headers of its pages are checked.
    fn open_group(&mut self) -> Result<ReaderIter, TableErrorKind> {
        let group = self.reader.metadata().row_group(self.group);
        for leaf in &self.leaves {
            let lacks = || TableErrorKind::parquet("a row group lacks a column");
            let chunk = group.columns().get(*leaf).ok_or_else(lacks)?;
            let name = chunk.column_path().string();
            largest_page(&mut self.file, chunk, &name, rows_of(group), &self.work)?;
        }
        guarded(|| {
            let group = self.reader.get_row_group(self.group)?;
            TreeBuilder::new().as_iter(self.schema.clone(), &*group)
        })
        .map_err(TableErrorKind::parquet)
    }

    fn json(&self, column: &str, field: Field) -> Result<Json, TableErrorKind> {
        Ok(match field {
            Field::Str(text) => Json::String(text),
            Field::Bytes(bytes) => match str::from_utf8(bytes.data()) {
                Ok(text) => Json::from(text),
                // An image, say, which no field needs if all columns are read.
                Err(_) if !self.is_chosen => Json::Null,
                Err(_) => return Err(TableErrorKind::not_utf8(Some(column))),
            },
            Field::Group(row) => {
                let fields = row.into_columns().into_iter();
                let entries = fields.map(|(name, field)| Ok((name, self.json(column, field)?)));
                Json::Object(entries.collect::<Result<_, TableErrorKind>>()?)
            }
            Field::ListInternal(list) => {
                let items = list.elements().iter().map(|field| self.json(column, field.clone()));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            Field::MapInternal(map) => {
                let entries = map.entries().iter().map(|(key, value)| {
                    let key = match key {
                        Field::Str(key) => key.clone(),
                        other => other.to_string(),
                    };
                    Ok((key, self.json(column, value.clone())?))
                });
                Json::Object(entries.collect::<Result<_, TableErrorKind>>()?)
            }
            scalar => scalar_json(&scalar),
        })
    }
}

/// A number, a boolean, or the string of a date, a time or a decimal.
fn scalar_json(field: &Field) -> Json {
    match field {
        Field::Null => Json::Null,
        Field::Bool(bool) => Json::from(*bool),
        Field::Byte(int) => Json::from(*int),
        Field::Short(int) => Json::from(*int),
        Field::Int(int) => Json::from(*int),
        Field::Long(int) => Json::from(*int),
        Field::UByte(int) => Json::from(*int),
        Field::UShort(int) => Json::from(*int),
        Field::UInt(int) => Json::from(*int),
        Field::ULong(int) => Json::from(*int),
        Field::Float16(float) => Json::from(float.to_f64()),
        Field::Float(float) => Json::from(f64::from(*float)),
        Field::Double(float) => Json::from(*float),
        other => Json::from(other.to_string()),
    }
}

fn open(mut file: InputBytes, columns: Option<&[String]>) -> Result<ParquetRecords, TableErrorKind> {
    let limits = TableLimits::default();
    headers::check(&mut file, &limits)?;
    let bytes = file.size().unwrap_or(0);
    let own = file.reopen().map_err(TableErrorKind::Open)?;
    let reader = guarded(|| SerializedFileReader::new(own)).map_err(TableErrorKind::parquet)?;
    let all_rows = plausible_rows(reader.metadata(), bytes)?;
    let descriptor = reader.metadata().file_metadata().schema_descr();
    let root = descriptor.root_schema();
    let names: Vec<String> = root.get_fields().iter().map(|field| field.name().to_owned()).collect();
    let mut seen = HashSet::with_capacity(names.len());
    if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(TableErrorKind::parquet(format!("it has two columns `{name}`")));
    }
    let is_read = |name: &str| columns.is_none_or(|columns| columns.iter().any(|column| column == name));
    let fields = root.get_fields().iter().filter(|field| is_read(field.name())).cloned().collect();
    let read = names.iter().filter(|name| is_read(name)).cloned().collect();
    let is_read_leaf = |leaf: &usize| is_read(descriptor.get_column_root(*leaf).name());
    let leaves = (0..descriptor.num_columns()).filter(is_read_leaf).collect();
    let schema = guarded(|| Type::group_type_builder(root.name()).with_fields(fields).build());
    let schema = schema.map_err(TableErrorKind::parquet)?;
    Ok(ParquetRecords {
        schema: Arc::new(SchemaDescriptor::new(Arc::new(schema))),
        leaves,
        names,
        read,
        is_chosen: columns.is_some(),
        group: 0,
        rows: None,
        all_rows,
        work: PageBudget::new(&limits, bytes),
        file,
        reader,
    })
}
