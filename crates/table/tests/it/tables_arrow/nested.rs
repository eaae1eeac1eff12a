//! Lists, maps and structures.

use arrow_array::builder::{
    FixedSizeListBuilder, Int64Builder, LargeListBuilder, ListBuilder, MapBuilder, StringBuilder,
};
use arrow_array::types::{Date32Type, Int8Type};
use arrow_array::{
    Array, BinaryArray, DictionaryArray, Float64Array, Int8Array, Int64Array, ListArray, PrimitiveArray,
    StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::Fields;

use super::*;
use crate::table_support;

fn ids() -> ArrayRef {
    Arc::new(Int64Array::from(vec![1, 2, 3]))
}

fn list(lists: &[Option<[i64; 2]>]) -> ArrayRef {
    let mut list = ListBuilder::new(Int64Builder::new());
    lists.iter().for_each(|items| list.append_option(items.map(|items| items.map(Some))));
    Arc::new(list.finish())
}

/// The lists [1, 0], none and [0, 3], in every type that has them.
fn same_lists() -> Vec<ArrayRef> {
    let lists = [Some([1, 0]), None, Some([0, 3])];
    let mut large = LargeListBuilder::new(Int64Builder::new());
    let mut fixed = FixedSizeListBuilder::new(Int64Builder::new(), 2);
    for items in lists {
        large.append_option(items.map(|items| items.map(Some)));
        fixed.values().append_slice(&items.unwrap_or_default());
        fixed.append(items.is_some());
    }
    let keys = Int8Array::from(vec![Some(1), None, Some(0)]);
    let coded = DictionaryArray::<Int8Type>::new(keys, list(&[Some([0, 3]), Some([1, 0])]));
    vec![list(&lists), Arc::new(large.finish()), Arc::new(fixed.finish()), Arc::new(coded)]
}

fn structure(columns: &[(&str, ArrayRef)], nulls: Option<Vec<bool>>) -> ArrayRef {
    let fields: Fields =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    Arc::new(StructArray::new(fields, arrays, nulls.map(NullBuffer::from)))
}

#[test]
fn lists_are_those_of_json_lines_as_scores_and_as_metadata() {
    let json = concat!(
        r#"{"id":1,"score":[1,0],"tags":[1,0]}"#,
        "\n",
        r#"{"id":2,"tags":null}"#,
        "\n",
        r#"{"id":3,"score":[0,3],"tags":[0,3]}"#,
        "\n",
    );
    let options = with_metadata(&["tags"]);
    let expected = rows(&table_support::read_with("t.jsonl", json, &options).unwrap());
    for lists in same_lists() {
        let columns = batch(&[("id", ids()), ("score", Arc::clone(&lists)), ("tags", Arc::clone(&lists))]);
        assert_eq!(
            rows(&read_batches(vec![columns.clone()], &options).unwrap()),
            expected,
            "{}",
            lists.data_type()
        );
        let parts = vec![columns.slice(0, 1), columns.slice(1, 0), columns.slice(1, 2)];
        assert_eq!(rows(&read_batches(parts, &options).unwrap()), expected, "{}", lists.data_type());
    }
}

#[test]
fn maps_and_structures_are_those_of_json_lines() {
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for (a, b) in [(1, 0), (0, 1), (1, 1)] {
        map.keys().append_value("a");
        map.values().append_value(a);
        map.keys().append_value("b");
        map.values().append_value(b);
        map.append(true).unwrap();
    }
    let (a, b): (ArrayRef, ArrayRef) =
        (Arc::new(Int64Array::from(vec![1, 0, 1])), Arc::new(Int64Array::from(vec![0, 1, 1])));
    let json = concat!(
        r#"{"id":1,"score":{"a":1,"b":0}}"#,
        "\n",
        r#"{"id":2,"score":{"a":0,"b":1}}"#,
        "\n",
        r#"{"id":3,"score":{"a":1,"b":1}}"#,
        "\n",
    );
    let expected = rows(&table_support::read("t.jsonl", json).unwrap());
    let same = structure(&[("a", a), ("b", b)], None);
    let coded = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0, 1, 2]), Arc::clone(&same));
    for scores in [Arc::new(map.finish()) as ArrayRef, same, Arc::new(coded)] {
        let of = scores.data_type().to_string();
        assert_eq!(rows(&read(&[("id", ids()), ("score", scores)]).unwrap()), expected, "{of}");
    }
}

/// As in Parquet; a field of a structure that is null is null, whatever stands there.
#[test]
fn the_fields_of_a_structure_are_columns() {
    let values: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 7.0, 0.5]));
    let nested = structure(&[("inner", structure(&[("acc", values)], None))], Some(vec![true, false, true]));
    let options = TableOptions::new().score_columns(["outer.inner.acc"]);
    let table = read_batches(vec![batch(&[("id", ids()), ("outer", nested)])], &options).unwrap();
    assert_eq!(figures(&table).unwrap().estimate("mean").unwrap().number(), Some(0.75));
    assert_eq!(table.columns.score(1, "outer.inner.acc"), None);
}

#[test]
fn what_is_nested_in_what_is_nested_is_no_score() {
    let inner = list(&[Some([1, 0]), Some([1, 1]), Some([0, 0])]);
    let field = Arc::new(Field::new("item", inner.data_type().clone(), true));
    let outer = ListArray::new(field, OffsetBuffer::from_lengths([1, 1, 1]), Arc::clone(&inner), None);
    let coded = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0, 1, 2]), Arc::clone(&inner));
    let of_coded = structure(&[("a", Arc::new(coded))], None);
    for scores in [Arc::new(outer) as ArrayRef, structure(&[("a", inner)], None), of_coded] {
        let error = refused(&[("id", ids()), ("score", Arc::clone(&scores))]);
        assert!(error.contains("a list"), "{}: {error}", scores.data_type());
        // But metadata may be anything.
        let columns = batch(&[("id", ids()), ("score", ids()), ("deep", Arc::clone(&scores))]);
        let table = read_batches(vec![columns], &with_metadata(&["deep"])).unwrap();
        let deep = table.columns.metadata_row(0).get("deep").map(ToString::to_string).unwrap();
        assert!(deep.contains("[1,0]"), "{}: {deep}", scores.data_type());
    }
}

/// They would be null, silently.
#[test]
fn types_that_are_not_read_are_refused_in_lists_and_maps_too() {
    let dates: ArrayRef = Arc::new(PrimitiveArray::<Date32Type>::from_iter_values([1, 2, 3]));
    let bytes: ArrayRef = Arc::new(BinaryArray::from_iter_values([b"x", b"y", b"z"]));
    for (items, found) in [(dates, "dates"), (bytes, "values of the type Binary")] {
        let field = Arc::new(Field::new("item", items.data_type().clone(), true));
        let lists = ListArray::new(field, OffsetBuffer::from_lengths([1, 1, 1]), Arc::clone(&items), None);
        let error = refused(&[("id", ids()), ("score", Arc::new(lists))]);
        assert!(error.contains(&format!("holds lists of {found}")), "{error}");
        let error = refused(&[("id", ids()), ("score", structure(&[("a", items)], None))]);
        assert!(error.contains(&format!("holds maps of {found}")), "{error}");
    }
}

#[test]
fn strings_of_lists_and_maps_are_read_as_those_of_csv() {
    let texts = ["[1, 0]", "{\"a\": 1}", "0.5"];
    let columns = [
        ("id", ids()),
        ("scorer", Arc::new(StringArray::from(vec!["s"; 3])) as ArrayRef),
        ("value", Arc::new(StringArray::from_iter_values(texts))),
    ];
    let csv = "id,scorer,value\n1,s,\"[1, 0]\"\n2,s,\"{\"\"a\"\": 1}\"\n3,s,0.5\n";
    assert_eq!(rows(&read(&columns).unwrap()), rows(&table_support::read("t.csv", csv).unwrap()));
}
