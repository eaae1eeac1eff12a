//! Tables that were changed at random: whatever comes of it, it is a table or an error that names the file.

use std::path::Path;

use errorbar_table::{TableOptions, read_table};

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 27)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

fn changed(bytes: &[u8], random: &mut Random, likely: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let byte =
            if random.below(2) == 0 { random.next() as u8 } else { likely[random.below(likely.len())] };
        match random.below(8) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, byte),
            2 => bytes[at] ^= 1 << random.below(8),
            3 if random.below(10) == 0 => bytes.truncate(at.max(1)),
            _ => bytes[at] = byte,
        }
        if bytes.is_empty() {
            bytes.push(byte);
        }
    }
    bytes
}

fn read_anything(path: &Path, bytes: &[u8], options: &TableOptions) -> bool {
    std::fs::write(path, bytes).unwrap();
    match read_table(path, options) {
        Ok(table) => {
            let _ = errorbar_core::Plan::new().evaluate(&table.columns);
            true
        }
        Err(error) => {
            assert_eq!(error.path(), path);
            assert!(!error.hint().is_empty());
            assert!(error.to_string().len() < 2000, "{error}");
            false
        }
    }
}

/// Reads a table changed this number of times; some must have been readable all the same, and some not.
fn change(name: &str, tables: &[Vec<u8>], likely: &[u8], times: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let named = TableOptions::new().score_columns(["value", "topic"]);
    let mut random = Random(1);
    for table in tables {
        assert!(read_anything(&path, table, &TableOptions::new()), "{name} as it was");
        let mut read = 0;
        for _ in 0..times {
            let bytes = changed(table, &mut random, likely);
            read += usize::from(read_anything(&path, &bytes, &TableOptions::new()));
            read += usize::from(read_anything(&path, &bytes, &named));
        }
        assert!(0 < read && read < 2 * times, "{name}: {read} of {times} changed tables could be read");
    }
}

const WIDE: &str =
    "id,epoch,value,topic\nq1,1,C,\"a, b\"\nq2,1,0.5,\n\nq1,2,nan,c\r\n\"q \"\"3\"\"\",1,,d\nq4,1,1,é\n";
const LONG: &str = "id,scorer,value,error,topic\nq1,a,C,,x\nq1,b,\"{\"\"k\"\": 1, \"\"l\"\": NaN}\",,x\nq2,a,\"[1, 2]\",,\nq3,,,boom,\n";

#[test]
fn changed_csv() {
    let tables = [WIDE.as_bytes().to_vec(), LONG.as_bytes().to_vec()];
    change("t.csv", &tables, b"\"\",\n\r{[1q", 2500);
}

#[test]
fn changed_json_lines() {
    let long = r#"{"id":"q1","scorer":"a","value":"C","answer":"x","topic":"t"}
{"id":"q1","scorer":"b","value":{"k":1,"l":NaN},"error":{"m":[1]},"topic":null}
{"id":"q2","scorer":null,"value":null,"topic":1}
"#;
    change("t.jsonl", &[long.as_bytes().to_vec()], b"\"{}[]:,\n", 2500);
}

#[cfg(feature = "parquet")]
#[test]
fn changed_parquet() {
    use crate::parquet_files::{Cells, write};
    use parquet::basic::{Compression, Encoding};
    use parquet::file::properties::{WriterProperties, WriterVersion};

    let rows = 60;
    let text = |text: String| Some(text.into_bytes());
    let ids = Cells::Texts((0..rows).map(|n| text(format!("sample {n}"))).collect());
    let topics = Cells::Texts(
        (0..rows).map(|n| (n % 5 > 0).then(|| format!("topic {}", n % 7).into_bytes())).collect(),
    );
    let scores = Cells::Doubles((0..rows).map(|n| (n % 3 > 0).then(|| f64::from(n) / 8.0)).collect());
    let fields = "required binary id (UTF8); optional double value; optional binary topic (UTF8);";
    let wide = [ids.clone(), scores.clone(), topics.clone()];
    let scorers = Cells::Texts((0..rows).map(|n| text(format!("scorer {}", n % 3))).collect());
    let long_fields = "required binary id (UTF8); optional double value; optional binary topic (UTF8); required binary scorer (UTF8);";
    let long = [ids, scores, topics, scorers];

    let builder = WriterProperties::builder;
    let plain =
        builder().set_dictionary_enabled(false).set_data_page_row_count_limit(20).set_write_batch_size(5);
    let snappy = builder().set_compression(Compression::SNAPPY);
    let second = builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(Default::default()));
    let delta = builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("id".into(), Encoding::DELTA_BYTE_ARRAY)
        .set_column_encoding("topic".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
        .set_column_encoding("value".into(), Encoding::BYTE_STREAM_SPLIT);
    let tables = [
        write(fields, &wide, 25, plain.build()),
        write(fields, &wide, usize::MAX, snappy.clone().build()),
        write(fields, &wide, usize::MAX, second.build()),
        write(fields, &wide, usize::MAX, delta.build()),
        write(long_fields, &long, usize::MAX, snappy.build()),
    ];
    change("t.parquet", &tables, &[0, 1, 0x7f, 0x80, 0xff, 0x15, 0x2c], 800);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_cut_off_anywhere() {
    use crate::parquet_files::{Cells, simple};
    let bytes = simple(
        "required binary id (UTF8); required double value;",
        &[Cells::texts(&["a", "b", "c"]), Cells::doubles(&[1.0, 0.0, 0.5])],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for length in 0..bytes.len() {
        assert!(!read_anything(&path, &bytes[..length], &TableOptions::new()), "{length} bytes");
    }
    assert!(read_anything(&path, &bytes, &TableOptions::new()));
}

#[test]
fn a_json_file_without_json_is_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.json");
    for (text, expected) in [
        ("hello", "this is not valid JSON"),
        ("not", "this is not valid JSON"),
        ("tru", "this is not valid JSON"),
        ("17", "this JSON is no table: it is a number"),
        ("null", "this JSON is no table: it is null"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = read_table(&path, &TableOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
