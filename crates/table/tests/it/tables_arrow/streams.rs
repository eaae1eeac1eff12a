//! Batches of any size, and streams that fail.

use arrow_array::{ArrayIterator, Float64Array, Int64Array, StringArray, StructArray, UInt32Array};
use arrow_schema::DataType;
use errorbar_table::{RowLabels, TableLocation, outline_table, read_row_groups, read_tables};
use proptest::prelude::*;

use super::*;
use crate::table_support;

fn integers(range: std::ops::Range<i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(range))
}

fn example(rows: i64) -> RecordBatch {
    let texts = StringArray::from_iter_values((0..rows).map(|row| ["C", "I"][row as usize % 2]));
    batch(&[("id", integers(0..rows)), ("score", Arc::new(texts))])
}

#[test]
fn batches_of_any_size_are_one_table() {
    // More rows than one piece has.
    let whole = example(70_000);
    let expected = rows(&read_batches(vec![whole.clone()], &TableOptions::new()).unwrap());
    assert_eq!(expected.len(), 70_000);
    let mut parts = vec![whole.slice(0, 0)];
    parts.extend((0..300).map(|row| whole.slice(row, 1)));
    parts.extend([
        whole.slice(300, 0),
        whole.slice(300, 69_000),
        whole.slice(69_300, 700),
        whole.slice(0, 0),
    ]);
    assert_eq!(rows(&read_batches(parts, &TableOptions::new()).unwrap()), expected);
}

#[test]
fn a_table_without_rows_is_that_of_csv_and_one_without_columns_says_so() {
    let empty = read_batches(vec![example(0)], &TableOptions::new()).map(|table| rows(&table));
    let csv = table_support::read("t.csv", "id,score\n").map(|table| rows(&table));
    assert_eq!(empty.is_ok(), csv.is_ok());
    assert_eq!(empty.unwrap_or_default(), csv.unwrap_or_default());
    let none = read_arrow(table(example(0).schema(), Vec::new()), &TableOptions::new());
    assert!(none.is_ok_and(|table| table.columns.is_empty()));
    let error = read_arrow(table(Arc::new(Schema::empty()), Vec::new()), &TableOptions::new()).unwrap_err();
    assert!(error.to_string().contains("there are no columns"), "{error}");
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(3));
    let rows_alone =
        RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap();
    let error = read_batches(vec![rows_alone], &TableOptions::new()).unwrap_err();
    assert!(error.to_string().contains("there are no columns"), "{error}");
}

#[test]
fn columns_of_one_name_are_refused_and_ten_thousand_are_read() {
    let twice = [("id", integers(0..2)), ("score", integers(0..2)), ("score", integers(0..2))];
    assert!(refused(&twice).contains("the column `score` occurs twice"));
    let names: Vec<String> = (0..9_999).map(|column| format!("c{column}")).collect();
    let mut columns: Vec<(&str, ArrayRef)> = vec![("id", integers(0..2)), ("score", integers(0..2))];
    columns.extend(names.iter().map(|name| (name.as_str(), integers(0..2))));
    let options = with_metadata(&["c9997"]);
    let table = read_batches(vec![batch(&columns[..10_000])], &options).unwrap();
    assert_eq!(figures(&table).unwrap().estimate("mean").unwrap().number(), Some(0.5));
    assert_eq!(table.columns.metadata_row(1).get("c9997"), Some(&1.into()));
    let error = read_batches(vec![batch(&columns)], &options).unwrap_err().to_string();
    assert!(error.contains("more than 10000 columns"), "{error}");
}

/// A table of structures, each with these rows of the example; which rows are null, counted from the start of each.
fn structures(parts: &[(std::ops::Range<usize>, &[usize])]) -> ArrowTable {
    let whole = example(8);
    let fields = whole.schema().fields().clone();
    let arrays: Vec<Result<ArrayRef, ArrowError>> = parts
        .iter()
        .map(|(range, null)| {
            let columns = whole.slice(range.start, range.len()).columns().to_vec();
            let is_valid: Vec<bool> = (0..range.len()).map(|row| !null.contains(&row)).collect();
            Ok(Arc::new(StructArray::new(fields.clone(), columns, Some(is_valid.into()))) as ArrayRef)
        })
        .collect();
    let field = Arc::new(Field::new("", DataType::Struct(fields), true));
    ArrowTable::from_arrays(Box::new(ArrayIterator::new(arrays, field))).unwrap()
}

#[test]
fn structures_are_batches_unless_a_row_is_null() {
    let expected = rows(&read_batches(vec![example(8)], &TableOptions::new()).unwrap());
    let table = read_arrow(structures(&[(0..3, &[]), (3..3, &[]), (3..8, &[])]), &TableOptions::new());
    assert_eq!(rows(&table.unwrap()), expected);
    let error = read_arrow(structures(&[(0..3, &[]), (3..8, &[2, 3])]), &TableOptions::new()).unwrap_err();
    assert_eq!(error.location(), Some(TableLocation::Row(6)));
    assert_eq!(
        error.to_string(),
        "data: row 6: the row is null as a whole: it has neither an id nor a score; leave out the rows that are null"
    );
}

#[test]
fn a_stream_of_numbers_has_no_rows() {
    let field = Arc::new(Field::new("", DataType::Int64, true));
    let numbers = ArrayIterator::new([Ok(integers(0..3))], field);
    let error = ArrowTable::from_arrays(Box::new(numbers)).unwrap_err().to_string();
    assert!(error.contains("it holds Int64 and no rows"), "{error}");
}

/// Batches with an error behind the first `good`.
fn failing(good: usize, names: [&str; 2]) -> ArrowTable {
    let first = batch(&[(names[0], integers(0..3)), (names[1], integers(0..3))]);
    let mut batches: Vec<_> = (0..good).map(|_| Ok(first.clone())).collect();
    batches.push(Err(ArrowError::ComputeError("the database went away\n  in line 3".to_owned())));
    batches.push(Ok(first.clone()));
    table(first.schema(), batches)
}

/// Whoever looks at the first rows before must not make the rest the end of the table.
#[test]
fn a_stream_that_fails_fails_for_everyone() {
    let is_told = |error: &TableError| {
        let text = error.to_string();
        assert!(
            text.contains("its rows could not be read") && text.contains("the database went away"),
            "{text}"
        );
        assert!(!text.contains("line 3") && !error.hint().is_empty(), "{text}");
    };
    for good in [0, 1] {
        for names in [["id", "score"], ["question_id", "correct"]] {
            for is_kept in [false, true] {
                let table = failing(good, names);
                let table = if is_kept { table.kept() } else { table };
                let tables: MemoryTables = [("data", table)].into_iter().collect();
                let options = TableOptions::new().memory(&tables);
                let _ = outline_table("data", &options);
                is_told(&read_table("data", &options).unwrap_err());
                let again = read_tables("data", &options).unwrap_err();
                if is_kept {
                    is_told(&again);
                }
            }
        }
        let error =
            read_row_groups(&failing(good, ["id", "score"]), &TableOptions::new(), &RowLabels::default());
        is_told(&error.err().unwrap().error);
    }
}

#[test]
fn a_stream_is_read_once_unless_it_is_kept() {
    let stream = || table(example(5).schema(), vec![Ok(example(5))]);
    let read_twice = |table: ArrowTable| {
        let tables: MemoryTables = [("data", table)].into_iter().collect();
        let options = TableOptions::new().memory(&tables);
        [read_table("data", &options), read_table("data", &options)]
            .map(|read| read.map(|table| rows(&table).len()))
    };
    let [first, second] = read_twice(stream().kept());
    assert_eq!((first.unwrap(), second.unwrap()), (5, 5));
    let [first, second] = read_twice(stream());
    assert_eq!(first.unwrap(), 5);
    assert!(second.unwrap_err().to_string().contains("they were read already"));
}

#[test]
fn an_error_names_the_row_of_the_table_not_of_the_batch() {
    let epochs = |epochs: Vec<Option<f64>>| -> ArrayRef { Arc::new(Float64Array::from(epochs)) };
    let part = |ids: std::ops::Range<i64>, of: Vec<Option<f64>>| {
        batch(&[("id", integers(ids.clone())), ("epoch", epochs(of)), ("score", integers(ids))])
    };
    let good = part(0..3, vec![Some(1.0); 3]);
    for (bad, found) in [(Some(1.5), "1.5"), (None, "empty"), (Some(-1.0), "-1"), (Some(1e10), "10000000000")]
    {
        let batches = vec![good.clone(), good.slice(0, 0), part(3..5, vec![Some(1.0), bad])];
        let error = read_batches(batches, &TableOptions::new()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("row 5") && text.contains(&format!("the epoch is {found}")), "{text}");
        assert_eq!(error.sample(), Some("4"));
    }
}

#[test]
fn rows_of_groups_have_the_buckets_of_their_column() {
    let groups: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a", "b"]));
    let read = |buckets: ArrayRef| {
        let columns = batch(&[
            ("id", integers(0..4)),
            ("score", integers(0..4)),
            ("group", Arc::clone(&groups)),
            ("bucket", buckets),
        ]);
        let labels = RowLabels::new(Some("group".to_owned()), Some("bucket".to_owned()));
        let groups =
            read_row_groups(&table(columns.schema(), vec![Ok(columns)]), &with_metadata(&[]), &labels);
        groups?.collect::<Result<Vec<_>, _>>()
    };
    let found = read(Arc::new(UInt32Array::from(vec![1, 4095, 0, 7]))).unwrap();
    let found: Vec<_> =
        found.into_iter().map(|rows| (rows.group, rows.columns.len(), rows.buckets)).collect();
    assert_eq!(
        found,
        [(Some("a".to_owned()), 2, Some(vec![1, 0])), (Some("b".to_owned()), 2, Some(vec![4095, 7])),]
    );
    let bad: [(ArrayRef, &str); 3] = [
        (Arc::new(UInt32Array::from(vec![1, 4096, 0, 7])), "b"),
        (Arc::new(Int64Array::from(vec![1, -1, 0, 7])), "b"),
        (Arc::new(UInt32Array::from(vec![Some(1), None, Some(0), Some(7)])), "b"),
    ];
    for (bad, group) in bad {
        let error = read(bad).unwrap_err();
        assert_eq!(error.group.as_deref(), Some(group));
        assert!(error.error.to_string().contains("no number from 0 to 4095"), "{}", error.error);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// However they are cut, rows are those of JSON lines.
    #[test]
    fn any_rows_in_any_batches_are_those_of_json_lines(
        cells in prop::collection::vec((prop::option::of(-3..300_i64), prop::option::of("[a-cé\"]{0,3}")), 1..60),
        cuts in prop::collection::vec(0..60_usize, 0..6),
    ) {
        let mut cells = cells;
        // A table of JSON lines without a score has no column of this name.
        cells[0].0 = Some(1);
        let ids: Vec<String> = (0..cells.len()).map(|row| format!("é{row}")).collect();
        let whole = batch(&[
            ("id", Arc::new(StringArray::from_iter_values(&ids)) as ArrayRef),
            ("score", Arc::new(Int64Array::from_iter(cells.iter().map(|(score, _)| *score)))),
            ("topic", Arc::new(StringArray::from_iter(cells.iter().map(|(_, topic)| topic.as_deref())))),
        ]);
        let mut json = String::new();
        for (id, (score, topic)) in ids.iter().zip(&cells) {
            let mut line = serde_json::json!({"id": id, "topic": topic});
            if let Some(score) = score {
                line["score"] = (*score).into();
            }
            json += &format!("{line}\n");
        }
        let options = with_metadata(&["topic"]);
        let expected = rows(&table_support::read_with("t.jsonl", json, &options).unwrap());
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(cells.len())).collect();
        cuts.extend([0, cells.len()]);
        cuts.sort_unstable();
        let parts = cuts.windows(2).map(|pair| whole.slice(pair[0], pair[1] - pair[0])).collect();
        prop_assert_eq!(rows(&read_batches(parts, &options).unwrap()), expected);
    }
}
