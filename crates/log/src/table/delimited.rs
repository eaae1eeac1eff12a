//! Tables as CSV or TSV.

use std::fs::File;
use std::str;

use csv::ByteRecord;
use errorbar_core::Score;
use serde_json::Value as Json;

use super::builder::{Builder, epoch};
use super::error::Problem;
use super::{DEFAULT_SCORES, EPOCH, ID, ScoreTable, TableErrorKind, TableOptions, cell, no_score_column};
use crate::delimited::{BUFFER_BYTES, ends_in_quote, line_at};

pub(super) fn read(file: File, delimiter: u8, options: &TableOptions) -> Result<ScoreTable, Problem> {
    // Flexible, because the reader's own complaint about a short row cannot name the sample.
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(file);
    rows(&mut reader, delimiter, options).map_err(|problem| {
        let mut file = reader.into_inner();
        problem.map_lines(|offset| line_at(&mut file, offset).ok())
    })
}

/// Reads the rows. Lines in the problems of this function are byte offsets: the reader's own line
/// numbers are wrong behind blank lines and CRLF, and nobody asks for them until something fails.
fn rows(
    reader: &mut csv::Reader<File>,
    delimiter: u8,
    options: &TableOptions,
) -> Result<ScoreTable, Problem> {
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(read_error)? {
        return Err(TableErrorKind::Empty.into());
    }
    let mut layout = Layout::new(&record, options)?;
    let mut builder = Builder::new(layout.scores.iter().map(|column| &column.name));
    let mut last = offset_of(&record);
    while reader.read_byte_record(&mut record).map_err(read_error)? {
        last = offset_of(&record);
        layout.add(&record, &mut builder)?;
    }
    // The reader takes the end of the file for the end of a quote, and with it all rows in between.
    if ends_in_quote(reader.get_mut(), last, delimiter).map_err(TableErrorKind::Read)? {
        return Err(TableErrorKind::UnclosedQuote.on_line(last));
    }
    builder.finish(layout.metadata_keys)
}

fn read_error(error: csv::Error) -> Problem {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => TableErrorKind::Read(error).into(),
        _ => TableErrorKind::Read(std::io::Error::other(text)).into(),
    }
}

/// A column and its place in the row.
struct Column {
    name: String,
    at: usize,
}

/// Which field of a row is what.
struct Layout {
    fields: usize,
    id: usize,
    epoch: Option<usize>,
    scores: Vec<Column>,
    /// The metadata to fetch.
    metadata: Vec<Column>,
    /// The row's metadata, kept from row to row so that no text is allocated twice.
    scratch: Vec<Json>,
    metadata_keys: Vec<String>,
}

impl Layout {
    fn new(header: &ByteRecord, options: &TableOptions) -> Result<Self, Problem> {
        let offset = offset_of(header);
        let names: Vec<&str> = header
            .iter()
            .map(|field| str::from_utf8(field).map(str::trim))
            .collect::<Result<_, _>>()
            .map_err(|_| TableErrorKind::InvalidUtf8 { column: None }.on_line(offset))?;
        let owned = || names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (at, name) in names.iter().enumerate() {
            if names.iter().skip(at + 1).any(|other| other == name) {
                return Err(TableErrorKind::DuplicateColumn { name: (*name).to_owned() }.on_line(offset));
            }
        }
        let place = |name: &str| names.iter().position(|other| *other == name);
        let id = place(ID).ok_or_else(|| Problem::from(TableErrorKind::NoIdColumn { found: owned() }))?;

        let wanted: Vec<String> = if options.score_columns.is_empty() {
            let default = DEFAULT_SCORES.into_iter().find(|name| place(name).is_some());
            let missing = || no_score_column(&DEFAULT_SCORES, owned());
            vec![default.ok_or_else(missing)?.to_owned()]
        } else {
            options.score_columns.clone()
        };
        let scores = wanted
            .into_iter()
            .map(|name| match place(&name) {
                Some(at) => Ok(Column { name, at }),
                None => Err(no_score_column(&[&name], owned())),
            })
            .collect::<Result<Vec<_>, _>>()?;

        let epoch = place(EPOCH);
        let is_metadata =
            |at: usize| at != id && Some(at) != epoch && !scores.iter().any(|score| score.at == at);
        let metadata_columns: Vec<Column> = names
            .iter()
            .enumerate()
            .filter(|(at, _)| is_metadata(*at))
            .map(|(at, name)| Column { name: (*name).to_owned(), at })
            .collect();
        let metadata_keys = metadata_columns.iter().map(|column| column.name.clone()).collect();
        let metadata: Vec<Column> =
            metadata_columns.into_iter().filter(|c| options.metadata.contains(&c.name)).collect();
        let scratch = vec![Json::Null; metadata.len()];
        Ok(Layout { fields: names.len(), id, epoch, scores, metadata, scratch, metadata_keys })
    }

    fn add(&mut self, record: &ByteRecord, builder: &mut Builder) -> Result<(), Problem> {
        let offset = offset_of(record);
        let id = text(record, self.id, ID, offset)?;
        let of_row = |kind: TableErrorKind| kind.on_line(offset).of_sample(id);
        if record.len() != self.fields {
            return Err(of_row(TableErrorKind::FieldCount { expected: self.fields, found: record.len() }));
        }
        let epoch = match self.epoch {
            Some(at) => epoch(text(record, at, EPOCH, offset)?).map_err(of_row)?,
            None => 1,
        };
        for (column, slot) in self.metadata.iter().zip(&mut self.scratch) {
            let text = text(record, column.at, &column.name, offset)?;
            match slot {
                _ if text.is_empty() => *slot = Json::Null,
                Json::String(slot) => {
                    slot.clear();
                    slot.push_str(text);
                }
                _ => *slot = Json::from(text),
            }
        }
        let mut row = builder
            .push(id, epoch, offset)?
            .metadata_all(self.metadata.iter().map(|c| c.name.as_str()).zip(&self.scratch));
        for column in &self.scores {
            if let Some(value) = cell::score(text(record, column.at, &column.name, offset)?) {
                // Each scorer is declared, and given once.
                row = row.score(&column.name, Score::new(value)).map_err(|e| of_row(e.into()))?;
            }
        }
        Ok(())
    }
}

fn offset_of(record: &ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::byte)
}

fn text<'r>(record: &'r ByteRecord, at: usize, column: &str, offset: u64) -> Result<&'r str, Problem> {
    let field = record.get(at).unwrap_or_default();
    str::from_utf8(field)
        .map_err(|_| TableErrorKind::InvalidUtf8 { column: Some(column.to_owned()) }.on_line(offset))
}
