//! Tables that would take all memory or time: each is refused with the file, the place and the way out.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use errorbar_core::MetadataKeys;
use errorbar_table::{ScoreTable, TableError, TableErrorKind, TableLimits, TableOptions, read_table};
use errorbar_test_support::assert_matches;

use crate::table_support::message;

const MIB: usize = 1 << 20;

fn written(folder: &Path, name: &str, parts: &[&[u8]]) -> PathBuf {
    let path = folder.join(name);
    let mut file = File::create(&path).unwrap();
    parts.iter().for_each(|part| file.write_all(part).unwrap());
    path
}

fn read(name: &str, parts: &[&[u8]], options: &TableOptions) -> Result<ScoreTable, TableError> {
    let folder = tempfile::tempdir().unwrap();
    read_table(written(folder.path(), name, parts), options)
}

/// The words of the error.
fn refused(name: &str, parts: &[&[u8]], options: &TableOptions) -> String {
    message(&read(name, parts, options).unwrap_err())
}

fn with_limits(change: impl FnOnce(&mut TableLimits)) -> TableOptions {
    let mut limits = TableLimits::default();
    change(&mut limits);
    TableOptions::new().limits(limits)
}

/// Lines of 16 MiB at most, so that tests need not write more.
fn short_lines() -> TableOptions {
    with_limits(|limits| limits.max_line = 16 << 20)
}

fn little_memory() -> TableOptions {
    with_limits(|limits| limits.max_memory = Some(1 << 20))
}

#[test]
fn a_line_without_an_end() {
    let long = vec![b'x'; 17 * MIB];
    assert_eq!(
        refused("t.csv", &[b"id,score\nq1,1\n", &long], &short_lines()),
        "t.csv:3: the line is longer than 16 MiB; check that the file is what its name says, or raise `max_line`"
    );
    assert_eq!(
        refused("t.csv", &[&long], &short_lines()),
        "t.csv:1: the header is longer than 1024 KiB; check that the file is what its name says, or raise \
         `max_line`"
    );
    assert_eq!(
        refused("t.tsv", &[b"id\tscore\nq1\t1\nq2\t\"", &long], &short_lines()),
        "t.tsv:3: a quote that opens in this row is still open after 16 MiB; look for a quote that is never \
         closed, or raise `max_line`"
    );
    assert_eq!(
        refused("t.jsonl", &[b"{\"id\": 1, \"score\": 1}\n\n{\"id\": \"", &long], &short_lines()),
        "t.jsonl:3: the line is longer than 16 MiB; check that the file is what its name says, or raise `max_line`"
    );
}

#[test]
fn long_lines_within_the_limit_are_read() {
    let (long, rows) = (vec![b'x'; 15 * MIB], "q,1,y\n".repeat(10));
    let csv = read("t.csv", &[b"id,score,topic\na,1,", &long, b"\n", b"b,0,z\n"], &short_lines()).unwrap();
    assert_eq!((csv.columns.len(), csv.columns.id(1)), (2, "b"));
    let quoted = read("t.csv", &[b"id,score,topic\na,1,\"", &long, b"\"\nb,0,z\n"], &short_lines()).unwrap();
    assert_eq!(quoted.columns.len(), 2);
    let json =
        [b"{\"id\":\"a\",\"score\":1,\"topic\":\"".as_slice(), &long, b"\"}\n{\"id\":\"b\",\"score\":1}"];
    assert_eq!(read("t.jsonl", &json, &short_lines()).unwrap().columns.len(), 2);
    // A table may be far longer than a line.
    let small = with_limits(|limits| limits.max_line = 1 << 18);
    let many: String = (0..100_000).map(|n| format!("q{n},1,y\n")).collect();
    assert_eq!(
        read("t.csv", &[b"id,score,topic\n", many.as_bytes()], &small).unwrap().columns.len(),
        100_000
    );
    assert!(read("t.csv", &[b"id,score,topic\n", rows.as_bytes()], &small).is_err(), "the same id");
}

#[cfg(unix)]
#[test]
fn endless_and_sparse_files() {
    let folder = tempfile::tempdir().unwrap();
    for (name, source) in [
        ("zero.csv", "/dev/zero"),
        ("zero.tsv", "/dev/zero"),
        ("zero.jsonl", "/dev/zero"),
        ("random.csv", "/dev/urandom"),
        ("random.jsonl", "/dev/urandom"),
        ("zero.parquet", "/dev/zero"),
    ] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink(source, &path).unwrap();
        let error = read_table(&path, &short_lines()).unwrap_err();
        let is_long = matches!(error.kind(), TableErrorKind::LineTooLong { .. });
        assert!(is_long || source != "/dev/zero" || name.ends_with("parquet"), "{error}");
    }
    for (name, start) in [("a.csv", ""), ("b.csv", "id,score\n"), ("c.jsonl", ""), ("d.parquet", "PAR1")] {
        let path = written(folder.path(), name, &[start.as_bytes()]);
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        let error = read_table(&path, &short_lines()).unwrap_err();
        let is_long = matches!(error.kind(), TableErrorKind::LineTooLong { .. });
        assert!(is_long || name.ends_with("parquet"), "{error}");
    }
    let error = read_table(written(folder.path(), "x", &[]).with_file_name("."), &short_lines()).unwrap_err();
    assert!(!error.hint().is_empty());
}

#[cfg(unix)]
#[test]
fn a_csv_from_a_pipe_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writer = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, "id,score\na,1\nb,0\n").unwrap()
    });
    let table = read_table(&path, &TableOptions::new()).unwrap();
    writer.join().unwrap();
    assert_eq!(table.columns.len(), 2);
}

#[test]
fn columns_without_number() {
    let header = |columns: usize| {
        let names: Vec<String> = (0..columns).map(|n| format!("c{n}")).collect();
        format!("id,score,{}\n", names.join(","))
    };
    assert_eq!(
        refused("t.csv", &[header(100_000).as_bytes()], &TableOptions::new()),
        "t.csv:1: there are more than 10000 columns; remove columns that no metric needs, or raise \
         `max_columns`"
    );
    // As many as there may be take no time by their square.
    let header = header(9_998);
    let row = format!("q1,1{}\n", ",".repeat(9_998));
    let table = read("t.csv", &[header.as_bytes(), row.as_bytes()], &TableOptions::new()).unwrap();
    assert_eq!(table.metadata_keys.len(), 9_998);

    let keys: String = (0..20_000).map(|n| format!(",\"k{n}\":1")).collect();
    let line = format!("{{\"id\":1,\"score\":1{keys}}}\n");
    assert_eq!(
        refused("t.jsonl", &[line.as_bytes()], &TableOptions::new()),
        "t.jsonl:1: sample \"1\": there are more than 10000 columns; remove columns that no metric needs, or raise \
         `max_columns`"
    );
    let none = TableOptions::new().metadata(MetadataKeys::NONE);
    assert_eq!(read("t.jsonl", &[line.as_bytes()], &none).unwrap().columns.len(), 1, "what is not read");
    let twice = format!("{{\"id\":1,\"score\":1{}}}\n", ",\"k\":1".repeat(20_000));
    let one = TableOptions::new().metadata(MetadataKeys::one("k"));
    let error = read("t.jsonl", &[twice.as_bytes()], &one).unwrap_err();
    assert_matches!(error.kind(), TableErrorKind::TooManyColumns { limit: 10_000 });
}

#[test]
fn fields_without_number() {
    let commas = vec![b','; 3 * MIB];
    let wanted = format!(
        "the row has {} field(s), the header has 2; look for a missing or unquoted delimiter, or a quote that \
         is never closed",
        3 * MIB + 1
    );
    let options = TableOptions::new();
    let found = |start: &[u8]| refused("t.csv", &[b"id,score\na,1\n", start, &commas, b"\nb,1\n"], &options);
    assert_eq!(found(b""), format!("t.csv:3: {wanted}"));
    assert_eq!(found(b"\"\""), format!("t.csv:3: {wanted}"));
    let quoted = [b"id,score\n\"".as_slice(), &commas, b"\",1\nb,1\n"];
    assert_eq!(read("t.csv", &quoted, &options).unwrap().columns.len(), 2, "commas within quotes");
}

#[test]
fn more_than_the_memory_holds() {
    let rows = |line: &dyn Fn(usize) -> String| (0..200_000).map(line).collect::<String>();
    let header = |names: &str| format!("{names}\n");
    let tables = [
        ("t.csv", header("id,score"), rows(&|n| format!("sample{n},1\n"))),
        ("t.csv", header("id,score,topic"), rows(&|n| format!("{n},1,a long topic {n}\n"))),
        ("t.csv", header("id,scorer,value"), rows(&|n| format!("{n},a,1\n"))),
        ("t.csv", header("id,scorer,value"), rows(&|n| format!("{},{},1\n", n / 200, n % 200))),
        ("t.csv", header("id,scorer,value,answer"), rows(&|n| format!("{},{},1,A\n", n / 2, n % 2))),
        ("t.csv", header("id,scorer,value"), rows(&|n| format!("{n},a,\"[1,0,1,1]\"\n"))),
        ("t.jsonl", String::new(), rows(&|n| format!("{{\"id\":{n},\"score\":1}}\n"))),
        ("t.jsonl", String::new(), rows(&|n| format!("{{\"id\":{n},\"score\":1,\"topic\":\"t {n}\"}}\n"))),
        ("t.jsonl", String::new(), rows(&|n| format!("{{\"id\":{n},\"score\":[1,0,1,1,1,1]}}\n"))),
        ("t.jsonl", String::new(), rows(&|n| format!("{{\"id\":{n},\"score\":{{\"a\":1,\"b\":0}}}}\n"))),
    ];
    for (name, header, rows) in &tables {
        let parts = [header.as_bytes(), rows.as_bytes()];
        let error = read(name, &parts, &little_memory()).unwrap_err();
        assert_matches!(error.kind(), TableErrorKind::TooMuchMemory { limit: 0x10_0000 });
        assert_eq!(
            format!("{}; {}", error.kind(), error.hint()),
            "the ids, scores and metadata of this table take more than 1024 KiB of memory; check that the file is what \
             its name says, or raise `max_memory`"
        );
        assert!(read(name, &parts, &TableOptions::new()).is_ok(), "{name} {header}");
    }
}

#[test]
fn one_value_that_the_memory_does_not_hold() {
    let items = ",1".repeat(100_000);
    let entries: String = (0..20_000).map(|n| format!(",\"{n}\":1")).collect();
    for (name, text) in [
        ("t.jsonl", format!("{{\"id\":\"a\",\"score\":[1{items}]}}\n")),
        ("t.jsonl", format!("{{\"id\":\"a\",\"score\":{{\"x\":1{entries}}}}}\n")),
        ("t.jsonl", format!("{{\"id\":\"a\",\"score\":1,\"topic\":[1{items}]}}\n")),
        ("t.jsonl", format!("{{\"id\":\"a\",\"score\":1,\"topic\":{{\"x\":1{entries}}}}}\n")),
        ("t.csv", format!("id,scorer,value\na,s,\"[1{items}]\"\n")),
    ] {
        let error = read(name, &[text.as_bytes()], &little_memory()).unwrap_err();
        assert!(matches!(error.kind(), TableErrorKind::TooMuchMemory { .. }), "{error}");
        assert_eq!(error.sample(), Some("a"), "{error}");
        assert!(read(name, &[text.as_bytes()], &TableOptions::new()).is_ok(), "{name}");
    }
}

#[test]
fn nesting_without_end() {
    for open in ["[", "{\"a\":"] {
        let deep = open.repeat(100_000);
        for line in [
            format!("{{\"id\":1,\"score\":{deep}"),
            format!("{{\"id\":1,\"score\":1,\"topic\":{deep}"),
            format!("{{\"other\":{deep}"),
            deep.clone(),
        ] {
            let error = read("t.jsonl", &[line.as_bytes()], &TableOptions::new()).unwrap_err();
            let problem = "this is not valid JSON: recursion limit exceeded at column";
            assert!(error.kind().to_string().starts_with(problem), "{error}");
        }
    }
}

#[test]
fn answers_are_held_only_if_they_are_wanted() {
    let csv = b"id,scorer,value,answer,explanation,reason\na,s,1,x,y,z\n";
    let json = br#"{"id":"a","scorer":"s","value":1,"answer":"x","explanation":"y","reason":"z"}"#;
    for (name, text) in [("t.csv", csv.as_slice()), ("t.jsonl", json.as_slice())] {
        let score =
            |options: &TableOptions| read(name, &[text], options).unwrap().columns.score(0, "s").unwrap();
        let whole = score(&TableOptions::new());
        assert_eq!((whole.answer.as_deref(), whole.explanation.as_deref()), (Some("x"), Some("y")));
        let short = score(&TableOptions::new().details(false));
        assert_eq!((short.answer, short.explanation, short.reason.as_deref()), (None, None, Some("z")));
        assert_eq!(short.value, whole.value);
    }
}
