//! Parquet files of a few kilobytes that claim to hold gigabytes, or are made to bring a reader down.
#![cfg(feature = "parquet")]

use crate::parquet_files::{Cells, write};
use crate::table_support::{self, message};
use errorbar_table::{ScoreTable, TableError, TableErrorKind, TableLimits, TableOptions};
use errorbar_test_support::assert_matches;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};

fn read_with(bytes: &[u8], limits: TableLimits) -> Result<ScoreTable, TableError> {
    table_support::read_with("t.parquet", bytes, &TableOptions::new().limits(limits))
}

fn refused(bytes: &[u8]) -> TableError {
    read_with(bytes, TableLimits::default()).unwrap_err()
}

fn zstd() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()))
}

const FIELDS: &str = "required binary id (UTF8); required double score;";

fn text(text: &str) -> Option<Vec<u8>> {
    Some(text.as_bytes().to_vec())
}

#[test]
fn a_cell_of_eighty_megabytes() {
    let ids = Cells::Texts(vec![Some(vec![b'x'; 80 << 20]), text("b")]);
    let columns = [ids, Cells::doubles(&[1.0, 0.0])];
    for dictionary in [false, true] {
        let bytes = write(FIELDS, &columns, usize::MAX, zstd().set_dictionary_enabled(dictionary).build());
        assert!(bytes.len() < 1 << 20, "{}", bytes.len());
        assert_eq!(
            message(&refused(&bytes)),
            "t.parquet: the column `id` has a page of 80 MiB decompressed; at most 64 MiB are read; write the \
             table with smaller pages, or raise `max_line`"
        );
        let mut larger = TableLimits::default();
        larger.max_line = 1 << 30;
        assert_eq!(read_with(&bytes, larger).unwrap().columns.len(), 2);
    }
}

#[test]
fn a_long_id_in_every_row() {
    // The dictionary has it once, and the rows take a few bytes.
    let id = Some(vec![b'x'; 1 << 20]);
    let rows = 2000;
    let columns = [Cells::Texts(vec![id; rows]), Cells::Doubles(vec![Some(1.0); rows])];
    let bytes = write(FIELDS, &columns, usize::MAX, zstd().set_dictionary_page_size_limit(4 << 20).build());
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    let error = read_with(&bytes, TableLimits::default()).unwrap_err();
    assert!(
        matches!(error.kind(), TableErrorKind::TooMuchMemory { limit } if *limit == 256 << 20),
        "{error}"
    );
}

#[test]
fn texts_that_share_their_beginnings() {
    // Two bytes a row stand for a text of a megabyte.
    let rows = 2000;
    let long = "x".repeat(1 << 20);
    let topics = Cells::Texts((0..rows).map(|n| text(&format!("{long}{n}"))).collect());
    let ids = Cells::Texts((0..rows).map(|n| text(&n.to_string())).collect());
    let columns = [ids, Cells::Doubles(vec![Some(1.0); rows]), topics];
    let fields = format!("{FIELDS} required binary topic (UTF8);");
    let delta = zstd()
        .set_dictionary_enabled(false)
        .set_column_encoding("topic".into(), Encoding::DELTA_BYTE_ARRAY)
        .set_data_page_size_limit(32 << 20);
    let bytes = write(&fields, &columns, usize::MAX, delta.build());
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    let error = read_with(&bytes, TableLimits::default()).unwrap_err();
    let kind = error.kind();
    assert!(
        matches!(kind, TableErrorKind::TooMuchMemory { .. } | TableErrorKind::TooDense { .. }),
        "{error}"
    );
}

#[test]
fn pages_that_decompress_to_gigabytes() {
    // Pages of 32 MiB that take some kilobytes each; what they hold is not even needed.
    let rows = 40;
    let cells = Cells::Texts((0..rows).map(|n| Some(vec![b'a' + n; 32 << 20])).collect());
    let ids = Cells::Texts((0..rows).map(|n| text(&n.to_string())).collect());
    let columns = [ids, cells];
    // Without statistics, which would repeat the longest and the shortest.
    let plain = zstd()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_row_count_limit(1)
        .set_write_batch_size(1);
    let fields = "required binary id (UTF8); required binary score (UTF8);";
    let bytes = write(fields, &columns, usize::MAX, plain.build());
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    assert_eq!(
        message(&refused(&bytes)),
        "t.parquet: the pages of this table have more than 1024 MiB decompressed; check that the file is what its \
         name says, or raise `max_memory`"
    );
}

#[test]
fn rows_that_take_no_space() {
    let rows = 100_000;
    let columns = [Cells::Longs(vec![Some(7); rows]), Cells::Doubles(vec![Some(1.0); rows])];
    let bytes = write("required int64 id; required double score;", &columns, usize::MAX, zstd().build());
    let mut little = TableLimits::default();
    little.max_memory = Some(400_000);
    let error = read_with(&bytes, little).unwrap_err();
    assert!(matches!(error.kind(), TableErrorKind::TooMuchMemory { .. }), "{error}");
    let error = read_with(&bytes, TableLimits::default()).unwrap_err();
    assert!(matches!(error.kind(), TableErrorKind::DuplicateRow { .. }), "{error}");
}

/// A file that has only a footer.
fn with_footer(footer: &[u8]) -> Vec<u8> {
    [b"PAR1", footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn a_footer_that_is_too_large() {
    let bytes = with_footer(&vec![0; 9 << 20]);
    assert_eq!(
        message(&refused(&bytes)),
        "t.parquet: the footer has 9216 KiB; at most 8192 KiB are read; write the table with fewer row groups, or \
         raise `max_line`"
    );
    // One that claims to be longer than the file is for the library to refuse.
    let mut bytes = with_footer(&[0; 100]);
    let at = bytes.len() - 5;
    bytes[at] = 0x7f;
    assert_matches!(refused(&bytes).kind(), TableErrorKind::Parquet { .. });
}

#[test]
fn a_schema_that_is_too_deep_or_too_wide() {
    // Version 1; a list of parts, each of one child.
    let schema = |parts: u32, children: &[u8]| {
        let mut footer = vec![0x15, 2, 0x19, 0xfc];
        let mut left = parts;
        while left >= 0x80 {
            footer.push(left as u8 | 0x80);
            left >>= 7;
        }
        footer.push(left as u8);
        // The repetition, the name `x`, the number of children.
        let part = [&[0x35, 0, 0x18, 1, b'x', 0x15], children, &[0]].concat();
        (0..parts).for_each(|_| footer.extend_from_slice(&part));
        footer.push(0);
        with_footer(&footer)
    };
    assert_matches!(refused(&schema(500_000, &[2])).kind(), TableErrorKind::Parquet { .. });
    assert_matches!(
        refused(&schema(3, &[0xfe, 0xff, 0xff, 0xff, 0x0f])).kind(),
        TableErrorKind::TooManyColumns { limit: 10_000 }
    );
}

#[test]
fn thousands_of_row_groups() {
    let rows = 3000;
    let ids = Cells::Texts((0..rows).map(|n| text(&n.to_string())).collect());
    let columns = [ids, Cells::Doubles(vec![Some(1.0); rows])];
    let bytes = write(FIELDS, &columns, 1, zstd().build());
    assert_eq!(read_with(&bytes, TableLimits::default()).unwrap().columns.len(), rows);
}

#[test]
fn a_page_that_claims_more_strings_than_it_has() {
    let rows = 200;
    let ids = Cells::Texts((0..rows).map(|n| text(&format!("sample {n}"))).collect());
    let columns = [ids, Cells::Doubles(vec![Some(1.0); rows])];
    for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_column_encoding("id".into(), encoding)
            .build();
        let bytes = write(FIELDS, &columns, usize::MAX, properties);
        assert_eq!(read_with(&bytes, TableLimits::default()).unwrap().columns.len(), rows);
        // Blocks of 128 in 4 parts, 200 of them.
        let header = [0x80, 1, 4, 0xc8, 1];
        let places: Vec<usize> =
            (0..bytes.len() - header.len()).filter(|at| bytes[*at..].starts_with(&header)).collect();
        assert!(!places.is_empty());
        for at in places {
            let mut changed = bytes.clone();
            changed[at + 4] = 0x7f;
            assert_matches!(
                refused(&changed).kind(),
                TableErrorKind::Parquet { column: Some(column), problem }
                    if column == "id" && problem == "a page claims more strings than it has"
            );
        }
    }
}

#[test]
fn counts_that_contradict_each_other() {
    let columns = [Cells::texts(&["a", "b", "c"]), Cells::doubles(&[1.0, 0.0, 0.5])];
    let bytes = write(FIELDS, &columns, usize::MAX, WriterProperties::builder().build());
    // The number of rows of the file comes behind the schema: field 3, an integer of 64 bits.
    let footer =
        bytes.len() - 8 - u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap()) as usize;
    let at = (footer..bytes.len()).find(|at| bytes[*at..].starts_with(&[0x16, 6])).unwrap();
    let mut changed = bytes.clone();
    changed[at + 1] = 8;
    assert_matches!(
        refused(&changed).kind(),
        TableErrorKind::Parquet { problem, .. } if problem == "it claims 4 rows, and its row groups 3"
    );
}
