//! Large delimited tables are read in pieces on many threads, which must not show.

use std::fmt::Write;

use errorbar_core::{MetadataKeys, Plan, ScoreColumns, metrics};
use errorbar_table::{CellUse, TableError, TableOptions, read_table};

use crate::table_support::kind;

/// Reads a table on this number of threads.
fn read_on(threads: usize, content: &str) -> Result<ScoreColumns, TableError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, content).unwrap();
    let options =
        TableOptions::new().metadata(MetadataKeys::Only(vec!["topic".to_owned(), "note".to_owned()]));
    // Cells as they are written.
    let options = options.cells(CellUse::Labels);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| read_table(&path, &options)).map(|table| table.columns)
}

/// Where the first problem is and what it is, by its [`kind`].
fn problem(threads: usize, content: &str) -> String {
    kind(&read_on(threads, content).unwrap_err())
}

/// Four megabytes: rows with and without quotes, line breaks within quotes, blank lines, empty cells.
fn large(row_end: &str) -> String {
    let mut content = format!("id,epoch,score,topic,note{row_end}");
    for n in 0..100_000 {
        let score = ["0", "1", "0.25", "C", "nan", "", "true"][n % 7];
        // Stretches of a megabyte without a quote, and others with one in every tenth row.
        let note = match n {
            _ if n % 10 > 0 || n % 40_000 > 25_000 => format!("note number {n}"),
            _ => format!("\"number {n}, \"\"quoted\"\",{row_end}and broken\""),
        };
        write!(content, "sample {},{},{score},topic {},{note}{row_end}", n % 50_000, 1 + n / 50_000, n % 300)
            .unwrap();
        if n % 9_999 == 0 {
            content += row_end;
        }
    }
    content
}

#[test]
fn the_number_of_threads_does_not_show() {
    for row_end in ["\n", "\r\n"] {
        let content = large(row_end);
        let plan =
            Plan::new().metrics(errorbar_core::metrics![metrics::mean(), metrics::stderr().cluster("topic")]);
        let figures = |columns: &ScoreColumns| {
            let results = plan.evaluate(columns).unwrap().results;
            // Printed floats are equal only if they have the same bits.
            format!("{:?}", results.scores.first().unwrap().metrics)
        };
        let one = read_on(1, &content).unwrap();
        assert_eq!(one.len(), 100_000);
        let note = errorbar_core::ScoreSet::unreduced(&one, "score").unwrap();
        assert_eq!(
            note.scores().sample_metadata(0).get("note").unwrap(),
            &format!("number 0, \"quoted\",{row_end}and broken")
        );
        for threads in [2, 5] {
            let many = read_on(threads, &content).unwrap();
            assert_eq!(many.len(), one.len());
            for row in 0..one.len() {
                assert_eq!((many.id(row), many.epoch(row)), (one.id(row), one.epoch(row)));
                assert_eq!(many.score(row, "score"), one.score(row, "score"));
            }
            assert_eq!(figures(&many), figures(&one));
        }
    }
}

#[test]
fn of_several_problems_the_first_is_reported() {
    let lines = large("\n").lines().count();
    let wrong = |more: &str| format!("{}{more}", large("\n"));
    for threads in [1, 2, 5] {
        assert_eq!(
            problem(threads, &wrong("last,1,1,a\n")),
            format!("t.csv:{} \"last\" the row has 4 field(s), the header has 5", lines + 1)
        );
        let first = large("\n").lines().position(|line| line.starts_with("sample 7,2,")).unwrap() + 1;
        assert_eq!(
            problem(threads, &wrong("x,1,1,a,b\n\nsample 7,2,1,a,b\n")),
            format!("t.csv:{} \"sample 7\" epoch 2 of this sample is already on line {first}", lines + 3)
        );
        assert_eq!(
            problem(threads, &wrong("x,1,1,a,b\ny,1,1,a,\"b\n")),
            format!("t.csv:{} a quote that opens in this row is never closed", lines + 2)
        );
        // A wrong epoch early, another in the middle, and a quote that is never closed.
        let several = large("\n").replacen("\nsample 9,1,", "\nsample 9,one,", 1).replacen(
            "\nsample 4000,2,",
            "\nsample 4000,,",
            1,
        );
        let line = several.lines().position(|line| line.starts_with("sample 9,one")).unwrap() + 1;
        assert_eq!(
            problem(threads, &format!("{several}z,1,1,a,\"b")),
            format!("t.csv:{line} \"sample 9\" the epoch is \"one\"")
        );
    }
}

#[test]
fn quoted_or_not_a_cell_is_the_same() {
    // Without quotes rows are cut by our own reader, with them by the `csv` crate.
    let cells = [
        "1",
        " 2 ",
        "0.5",
        "C",
        "x y",
        "é",
        "\u{1F600}",
        "",
        "nan",
        "TRUE",
        "-",
        "1e3",
        "00",
        "#",
        "'a'",
        "a;b",
    ];
    let (mut bare, mut quoted) =
        ("id,epoch,score,topic,note\n".to_owned(), "\"id\",epoch,score,topic,note\n".to_owned());
    for n in 0..3_000 {
        let cell = |k: usize| cells.get((n * k + n / 7) % cells.len()).unwrap();
        let (id, epoch) = (format!("{}{n}", cell(1)), [" 1", "2", "17"].get(n % 3).unwrap());
        writeln!(bare, "{id},{epoch},{},{},{}", cell(3), cell(5), cell(7)).unwrap();
        writeln!(quoted, "\"{id}\",\"{epoch}\",\"{}\",\"{}\",\"{}\"", cell(3), cell(5), cell(7)).unwrap();
        if n % 100 == 0 {
            bare.push('\n');
        }
    }
    for blank_lines in [true, false] {
        let bare = if blank_lines { bare.clone() } else { bare.replace("\n\n", "\n") };
        let (ours, theirs) = (read_on(1, &bare).unwrap(), read_on(1, &quoted).unwrap());
        assert_eq!(ours.len(), 9_000, "each sample has one of three epochs");
        let sets =
            [&ours, &theirs].map(|columns| errorbar_core::ScoreSet::unreduced(columns, "score").unwrap());
        let [our_scores, their_scores] = sets.each_ref().map(errorbar_core::ScoreSet::scores);
        for row in 0..ours.len() {
            assert_eq!((ours.id(row), ours.epoch(row)), (theirs.id(row), theirs.epoch(row)));
            assert_eq!(ours.score(row, "score"), theirs.score(row, "score"));
        }
        for at in 0..our_scores.len() {
            assert_eq!(our_scores.sample_metadata(at), their_scores.sample_metadata(at));
        }
    }
}
