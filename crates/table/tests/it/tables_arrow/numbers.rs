//! Columns of scalars.

use arrow_array::builder::{FixedSizeBinaryBuilder, StringDictionaryBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalYearMonthType, Time32SecondType, Time64MicrosecondType, TimestampMicrosecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, Int32Array, Int64Array,
    LargeBinaryArray, LargeStringArray, NullArray, PrimitiveArray, RunArray, StringArray, StringViewArray,
};
use arrow_buffer::i256;

use super::*;
use crate::table_support;

fn numbers<T: ArrowPrimitiveType>(numbers: [Option<T::Native>; 4]) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter(numbers))
}

fn ids() -> ArrayRef {
    Arc::new(Int64Array::from(vec![1, 2, 3, 4]))
}

/// The numbers 1, 0, 3 and none, in every type that has them.
fn same_numbers() -> Vec<ArrayRef> {
    macro_rules! ints {
        ($($of:ty),*) => { vec![$(numbers::<$of>([Some(1), Some(0), Some(3), None])),*] };
    }
    let mut all =
        ints!(Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type);
    all.push(numbers::<Float64Type>([Some(1.0), Some(0.0), Some(3.0), None]));
    all.push(numbers::<Float32Type>([Some(1.0), Some(0.0), Some(3.0), None]));
    let half = |number: f32| Some(<Float16Type as ArrowPrimitiveType>::Native::from_f32(number));
    all.push(numbers::<Float16Type>([half(1.0), half(0.0), half(3.0), None]));
    let scaled = [Some(100), Some(0), Some(300), None];
    let decimal = PrimitiveArray::<Decimal32Type>::from_iter(scaled);
    all.push(Arc::new(decimal.with_precision_and_scale(9, 2).unwrap()));
    let decimal = PrimitiveArray::<Decimal64Type>::from_iter(scaled.map(|int| int.map(i64::from)));
    all.push(Arc::new(decimal.with_precision_and_scale(18, 2).unwrap()));
    let decimal = PrimitiveArray::<Decimal128Type>::from_iter(scaled.map(|int| int.map(i128::from)));
    all.push(Arc::new(decimal.with_precision_and_scale(38, 2).unwrap()));
    let texts = [Some("1"), Some("0"), Some("3"), None];
    all.push(Arc::new(StringArray::from_iter(texts)));
    all.push(Arc::new(LargeStringArray::from_iter(texts)));
    all.push(Arc::new(StringViewArray::from_iter(texts)));
    let mut coded = StringDictionaryBuilder::<Int8Type>::new();
    texts.iter().for_each(|text| coded.append_option(*text));
    all.push(Arc::new(coded.finish()));
    // The null is a value of the dictionary.
    let keys = PrimitiveArray::<UInt32Type>::from_iter([Some(2), Some(0), Some(1), Some(3)]);
    let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), Some(3), Some(1), None]));
    all.push(Arc::new(DictionaryArray::new(keys, values)));
    all
}

#[test]
fn numbers_of_every_type_give_the_figures_of_csv() {
    let csv = table_support::read("t.csv", "id,score\n1,1\n2,0\n3,3\n4,\n").unwrap();
    let expected = shown(&csv);
    assert_eq!(figures(&csv).unwrap().estimate("mean").unwrap().number(), Some(4.0 / 3.0));
    for scores in same_numbers() {
        let table = read(&[("id", ids()), ("score", Arc::clone(&scores))]).unwrap();
        assert_eq!(shown(&table), expected, "{}", scores.data_type());
        assert_eq!(table.columns.score(3, "score"), None, "{}", scores.data_type());
        // A part of an array, which does not start where its memory does.
        let tail = (ids().slice(1, 2), scores.slice(1, 2));
        let part = read(&[("id", tail.0), ("score", tail.1)]).unwrap();
        assert_eq!(figures(&part).unwrap().estimate("mean").unwrap().number(), Some(1.5));
    }
}

#[test]
fn limits_of_numbers_are_kept() {
    let wide = numbers::<UInt64Type>([Some(u64::MAX), Some(1 << 63), Some(7), Some(i64::MAX.unsigned_abs())]);
    let table = read(&[("id", ids()), ("score", wide)]).unwrap();
    let csv = "id,score\n1,18446744073709551615\n2,9223372036854775808\n3,7\n4,9223372036854775807\n";
    assert_eq!(shown(&table), shown(&table_support::read("t.csv", csv).unwrap()));
    let odd = numbers::<Float64Type>([Some(f64::NAN), Some(f64::INFINITY), Some(-0.0), Some(5e-324)]);
    let table = read(&[("id", ids()), ("score", odd)]).unwrap();
    let csv = table_support::read("t.csv", "id,score\n1,nan\n2,inf\n3,-0.0\n4,5e-324\n").unwrap();
    assert_eq!(shown(&table), shown(&csv));
}

#[test]
fn booleans_are_those_of_csv() {
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), Some(false), Some(true), None]));
    let table = read(&[("id", ids()), ("score", flags)]).unwrap();
    let csv = table_support::read("t.csv", "id,score\n1,true\n2,false\n3,true\n4,\n").unwrap();
    assert_eq!(figures(&table).unwrap().estimate("mean").unwrap().number(), Some(2.0 / 3.0));
    assert_eq!(rows(&table).len(), rows(&csv).len());
}

#[test]
fn ids_of_every_type_are_strings() {
    let scores: ArrayRef = Arc::new(Int64Array::from(vec![1, 0, 1]));
    let csv = table_support::read("t.csv", "id,score\n7,1\n8,0\n9,1\n").unwrap();
    let texts = ["7", "8", "9"];
    let coded: DictionaryArray<Int16Type> = texts.into_iter().collect();
    let decimals = |precision, scale| -> ArrayRef {
        let ids = PrimitiveArray::<Decimal128Type>::from_iter_values([7, 8, 9]);
        Arc::new(ids.with_precision_and_scale(precision, scale).unwrap())
    };
    let all: Vec<ArrayRef> = vec![
        Arc::new(PrimitiveArray::<Int8Type>::from_iter_values([7, 8, 9])),
        Arc::new(PrimitiveArray::<UInt64Type>::from_iter_values([7, 8, 9])),
        decimals(38, 0),
        Arc::new(StringArray::from_iter_values(texts)),
        Arc::new(LargeStringArray::from_iter_values(texts)),
        Arc::new(StringViewArray::from_iter_values(texts)),
        Arc::new(coded),
    ];
    let fractions = refused(&[("id", decimals(38, 2)), ("score", Arc::clone(&scores))]);
    assert!(fractions.contains("decimals"), "{fractions}");
    for ids in all {
        let table = read(&[("id", Arc::clone(&ids)), ("score", Arc::clone(&scores))]).unwrap();
        assert_eq!(rows(&table), rows(&csv), "{}", ids.data_type());
    }
    for ids in [
        Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])) as ArrayRef,
        Arc::new(StringArray::from(vec!["a", "", "c"])),
        Arc::new(Int64Array::from(vec![Some(1), None, Some(2)])),
    ] {
        let error = refused(&[("id", ids), ("score", Arc::clone(&scores))]);
        assert!(error.contains("row 2") && error.contains("the id is empty"), "{error}");
    }
}

/// Arrays of four rows whose types are not read.
fn unread() -> Vec<ArrayRef> {
    let bytes: [&[u8]; 4] = [b"1", b"0", b"\xff", b""];
    let mut fixed = FixedSizeBinaryBuilder::new(1);
    (0..4).for_each(|_| fixed.append_value(b"1").unwrap());
    let runs = RunArray::try_new(&Int32Array::from(vec![4]), &Int64Array::from(vec![1])).unwrap();
    let wide = PrimitiveArray::<Decimal256Type>::from_iter_values([i256::ONE; 4]);
    vec![
        numbers::<Date32Type>([Some(1), None, Some(2), Some(3)]),
        numbers::<Date64Type>([Some(1), None, Some(2), Some(3)]),
        numbers::<Time32SecondType>([Some(1), None, Some(2), Some(3)]),
        numbers::<Time64MicrosecondType>([Some(1), None, Some(2), Some(3)]),
        numbers::<TimestampMicrosecondType>([Some(1), None, Some(2), Some(3)]),
        numbers::<DurationSecondType>([Some(1), None, Some(2), Some(3)]),
        numbers::<IntervalYearMonthType>([Some(1), None, Some(2), Some(3)]),
        Arc::new(BinaryArray::from_iter_values(bytes)),
        Arc::new(LargeBinaryArray::from_iter_values(bytes)),
        Arc::new(BinaryViewArray::from_iter_values(bytes)),
        Arc::new(fixed.finish()),
        Arc::new(runs),
        Arc::new(wide),
    ]
}

#[test]
fn other_types_are_refused_where_they_are_read_and_ignored_elsewhere() {
    let good: ArrayRef = Arc::new(Int64Array::from(vec![1, 0, 1, 1]));
    for column in unread() {
        let of = column.data_type().to_string();
        let error = refused(&[("id", ids()), ("score", Arc::clone(&column))]);
        assert!(
            error.contains("the column `score` holds") && error.contains("read as a score"),
            "{of}: {error}"
        );
        let error = refused(&[("id", Arc::clone(&column)), ("score", Arc::clone(&good))]);
        assert!(error.contains("the column `id` holds"), "{of}: {error}");
        let columns = batch(&[("id", ids()), ("score", Arc::clone(&good)), ("other", Arc::clone(&column))]);
        let error = read_batches(vec![columns.clone()], &with_metadata(&["other"])).unwrap_err().to_string();
        assert!(error.contains("the column `other` holds"), "{of}: {error}");
        let ignored = read_batches(vec![columns], &with_metadata(&[])).unwrap();
        assert_eq!(figures(&ignored).unwrap().estimate("mean").unwrap().number(), Some(0.75), "{of}");
    }
}

#[test]
fn a_column_of_nothing_but_nulls_has_no_scores() {
    let nulls: ArrayRef = Arc::new(NullArray::new(4));
    let table = read(&[("id", ids()), ("score", nulls)]).unwrap();
    let csv = table_support::read("t.csv", "id,score\n1,\n2,\n3,\n4,\n").unwrap();
    assert_eq!(rows(&table), rows(&csv));
}

#[test]
fn metadata_is_that_of_json_lines() {
    let texts: DictionaryArray<Int8Type> = ["x", "y", "x", ""].into_iter().collect();
    let columns = batch(&[
        ("id", ids()),
        ("score", ids()),
        ("text", Arc::new(texts)),
        ("int", numbers::<UInt8Type>([Some(1), None, Some(3), Some(255)])),
        ("float", numbers::<Float64Type>([Some(0.1), Some(1e300), None, Some(-0.0)])),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))),
    ]);
    let options = with_metadata(&["text", "int", "float", "flag"]);
    let table = read_batches(vec![columns], &options).unwrap();
    let json = concat!(
        r#"{"id":1,"score":1,"text":"x","int":1,"float":0.1,"flag":true}"#,
        "\n",
        r#"{"id":2,"score":2,"text":"y","int":null,"float":1e300,"flag":null}"#,
        "\n",
        r#"{"id":3,"score":3,"text":"x","int":3,"float":null,"flag":false}"#,
        "\n",
        r#"{"id":4,"score":4,"text":"","int":255,"float":-0.0,"flag":true}"#,
        "\n",
    );
    let expected = table_support::read_with("t.jsonl", json, &options).unwrap();
    assert_eq!(rows(&table), rows(&expected));
}
