//! Rows that are put together into one frame: columns by name, in the order of a frame.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeStringArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use indexmap::IndexMap;

use super::Dialect;
use super::cells::{Cell, Cells};
use super::node::Node;
use crate::eval::error::{LogErrorKind, Result};

/// Frames below this number of cells are never refused.
const MANY_CELLS: u64 = 1 << 24;
/// How many cells there may be for each value in a larger one.
const CELLS_PER_VALUE: u64 = 100;

/// Some rows of a frame.
#[derive(Debug, Default)]
pub(super) struct FramePart {
    columns: IndexMap<String, Cells>,
    /// What identifies each row.
    keys: Vec<String>,
}

impl FramePart {
    fn rows(&self) -> usize {
        self.keys.len()
    }

    /// Sets a value of the row that is being made. One that is set already is replaced.
    pub(super) fn set(&mut self, name: &str, cell: &Cell<'_>) {
        self.push(name, |cells| cells.push(cell));
    }

    /// Sets a value to what is in the log; none is null.
    pub(super) fn set_node(&mut self, name: &str, node: Option<&Node>) {
        self.push(name, |cells| cells.push_node(node.unwrap_or(&Node::Null)));
    }

    pub(super) fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, &Cell::Text(text));
    }

    fn push(&mut self, name: &str, push: impl FnOnce(&mut Cells)) {
        let rows = self.keys.len();
        match self.columns.get_mut(name) {
            Some(cells) => {
                cells.pad(rows);
                if cells.len() > rows {
                    cells.pop();
                }
                push(cells);
            }
            None => {
                let mut cells = Cells::default();
                cells.pad(rows);
                push(&mut cells);
                self.columns.insert(name.to_owned(), cells);
            }
        }
    }

    /// Ends a row that this identifies.
    pub(super) fn end_row(&mut self, key: impl Into<String>) {
        self.keys.push(key.into());
    }

    /// The memory that it takes, about.
    pub(super) fn bytes(&self) -> u64 {
        let keys: u64 = self.keys.iter().map(|key| key.len() as u64).sum();
        self.columns.values().map(Cells::bytes).sum::<u64>() + keys
    }

    /// The rows that are to be kept.
    fn filtered(mut self, keep: &[bool]) -> FramePart {
        let rows = self.rows();
        let mut kept = FramePart::default();
        for (name, cells) in &mut self.columns {
            cells.pad(rows);
            kept.columns.insert(name.clone(), cells.filtered(keep));
        }
        kept.keys = self.keys.into_iter().zip(keep).filter(|(_, keep)| **keep).map(|(key, _)| key).collect();
        kept
    }
}

/// A frame that is being made. Of several rows with the same key the first one counts.
#[derive(Debug, Default)]
pub(super) struct FrameBuilder {
    columns: IndexMap<String, Cells>,
    rows: usize,
    keys: HashSet<String>,
}

impl FrameBuilder {
    /// Adds rows.
    ///
    /// # Errors
    /// Nearly all cells would be empty.
    pub(super) fn append(&mut self, part: FramePart) -> Result<()> {
        let keep: Vec<bool> = part.keys.iter().map(|key| self.keys.insert(key.clone())).collect();
        let part = if keep.contains(&false) { part.filtered(&keep) } else { part };
        for (name, cells) in &part.columns {
            let column = self.columns.entry(name.clone()).or_default();
            column.pad(self.rows);
            column.append(cells);
        }
        self.rows += part.rows();
        let cells = self.rows as u64 * self.columns.len() as u64;
        let values: u64 = self.columns.values().map(Cells::present).sum();
        if cells > MANY_CELLS && cells / CELLS_PER_VALUE > values {
            let (columns, rows) = (self.columns.len(), self.rows);
            return Err(LogErrorKind::SparseFrame { columns, rows }.into());
        }
        Ok(())
    }

    /// The frame, with columns in the order of these patterns: those that `*` stands for by name, and those that no
    /// pattern is for last. A frame without rows has the columns that have no `*` in their names.
    pub(super) fn finish(mut self, patterns: &[&str], dialect: Dialect) -> Result<RecordBatch> {
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        if self.rows == 0 {
            for name in patterns.iter().filter(|pattern| !pattern.contains('*')) {
                columns.push(((*name).to_owned(), Arc::new(LargeStringArray::new_null(0))));
            }
        } else {
            for name in order(self.columns.keys(), patterns) {
                let Some(mut cells) = self.columns.swap_remove(&name) else { continue };
                cells.pad(self.rows);
                columns.push((name, cells.into_array(dialect)));
            }
        }
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        batch.map_err(|error| LogErrorKind::Frame(error.to_string()).into())
    }
}

/// The names in the order of the patterns.
fn order<'a>(names: impl Iterator<Item = &'a String>, patterns: &[&str]) -> Vec<String> {
    let mut left: Vec<&String> = names.collect();
    left.sort();
    let mut ordered = Vec::with_capacity(left.len());
    for pattern in patterns {
        left.retain(|name| {
            let is_it = matches(pattern, name);
            if is_it {
                ordered.push((*name).clone());
            }
            !is_it
        });
    }
    ordered.extend(left.into_iter().cloned());
    ordered
}

/// Whether a pattern is for a name. A star is for anything within a line.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let line = name.strip_suffix('\n').unwrap_or(name);
    let Some(behind) = line.strip_prefix(start).filter(|_| !line.contains('\n')) else { return false };
    match rest.strip_suffix('*') {
        Some(between) => behind.contains(between),
        None => behind.ends_with(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_the_order_of_the_patterns() {
        let names = [
            "score_b_x",
            "z",
            "a\nb",
            "meta_é",
            "meta_b",
            "id",
            "score_a_y",
            "score_c",
            "meta_a\nb",
            "meta_a\n",
        ];
        let names = names.map(str::to_owned);
        let ordered = order(names.iter(), &["id", "absent", "meta_*", "z", "score_*_*"]);
        let expected = [
            "id",
            "meta_a\n",
            "meta_b",
            "meta_é",
            "z",
            "score_a_y",
            "score_b_x",
            "a\nb",
            "meta_a\nb",
            "score_c",
        ];
        assert_eq!(ordered, expected);
    }

    #[test]
    fn the_first_of_several_rows_counts_and_a_value_can_be_replaced() {
        let mut builder = FrameBuilder::default();
        for values in [[1, 2], [3, 1]] {
            let mut part = FramePart::default();
            for value in values {
                part.set("a", &Cell::Text("gone"));
                part.set("a", &Cell::Int(value * 10));
                if value == 2 {
                    part.set_text("b", "two");
                }
                part.end_row(value.to_string());
            }
            builder.append(part).unwrap();
        }
        let frame = builder.finish(&["b"], Dialect::Plain).unwrap();
        let names: Vec<&String> = frame.schema_ref().fields().iter().map(|field| field.name()).collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(format!("{:?}", frame.column(1)), "PrimitiveArray<Int64>\n[\n  10,\n  20,\n  30,\n]");
        assert_eq!(frame.column(0).null_count(), 2);
    }

    #[test]
    fn a_frame_of_empty_cells_is_refused() {
        let mut builder = FrameBuilder::default();
        let refused = (0..200).find_map(|round| {
            let mut part = FramePart::default();
            for at in 0..100 {
                part.set(&format!("metadata_{round}_{at}"), &Cell::Int(1));
                part.end_row(format!("{round} {at}"));
            }
            builder.append(part).err()
        });
        let error = refused.unwrap().to_string();
        assert!(error.contains("columns") && error.contains("metadata"), "{error}");
    }

    #[test]
    fn a_frame_without_rows_has_its_fixed_columns() {
        let frame = FrameBuilder::default().finish(&["id", "metadata_*", "log"], Dialect::Plain).unwrap();
        assert_eq!((frame.num_rows(), frame.num_columns()), (0, 2));
    }
}
