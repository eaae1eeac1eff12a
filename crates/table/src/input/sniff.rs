//! Which format bytes are in: by what they start with, then by the name of the file.

use std::path::Path;

use csv::ByteRecord;
use errorbar_files::begins_as_log;

use super::compression::Compression;
use crate::mapping::{DecimalMark, InputFormat};
use crate::{TableErrorKind, spellings};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Delimited text, with the delimiter that the name stands for.
    Delimited(Option<u8>),
    /// A table in Markdown.
    Markdown,
    /// One JSON value.
    JsonDocument,
    /// An object per line.
    JsonLines,
    Parquet,
}

/// The extension of a file without that of its compression, in small letters.
pub(super) fn extension(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (_, extension) = Compression::strip(&name).rsplit_once('.')?;
    Some(extension.to_lowercase())
}

/// Finds out what a file holds.
///
/// # Errors
/// If it is no table, or nothing says what it is.
pub(super) fn content(
    head: &[u8],
    is_whole: bool,
    extension: Option<&str>,
    named: Option<InputFormat>,
) -> Result<Content, TableErrorKind> {
    let usual = match (named, extension) {
        (Some(InputFormat::Csv), _) => return Ok(Content::Delimited(Some(b','))),
        (Some(InputFormat::Tsv), _) => return Ok(Content::Delimited(Some(b'\t'))),
        (Some(InputFormat::Jsonl), _) => return Ok(Content::JsonLines),
        (Some(InputFormat::Json), _) => return Ok(Content::JsonDocument),
        (Some(InputFormat::Parquet), _) => return Ok(Content::Parquet),
        (_, Some("csv")) => Some(b','),
        (_, Some("tsv" | "tab")) => Some(b'\t'),
        _ => None,
    };
    if head.starts_with(b"PAR1") || extension == Some("parquet") {
        return Ok(Content::Parquet);
    }
    if extension == Some("eval") {
        return Err(eval_log());
    }
    if let Some(found) = other_file(head) {
        return Err(not_a_table(found));
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let is_json_name = matches!(extension, Some("json" | "jsonl" | "ndjson"));
    if is_json(text) || (is_json_name && text.first() == Some(&b'{')) {
        return json(text, is_whole, extension);
    }
    match extension {
        Some("jsonl" | "ndjson") => Ok(Content::JsonLines),
        Some("json") => Ok(Content::JsonDocument),
        _ if is_markdown(text) => Ok(Content::Markdown),
        Some("csv" | "tsv" | "tab") => Ok(Content::Delimited(usual)),
        // Any other name, or none: it is a table if it looks like one.
        _ if looks_delimited(text) => Ok(Content::Delimited(None)),
        _ => Err(TableErrorKind::UnknownFormat { extension: extension.map(str::to_owned) }),
    }
}

/// An eval log where a table is read.
fn eval_log() -> TableErrorKind {
    let hint = "read it as a log, or export its scores as a table";
    TableErrorKind::invalid("this is an eval log, not a score table", hint)
}

/// A file of another kind, in words.
fn not_a_table(found: &str) -> TableErrorKind {
    let hint = match found {
        "an Excel workbook" | "an OpenDocument spreadsheet" => "save the sheet as CSV",
        "a web page" => "give the results as JSON or CSV, which most tools write too",
        "a bzip2 file" | "an xz file" | "a zip archive" => "decompress it, or compress it with gzip or zstd",
        "a table as a database client prints it" => {
            "let it write CSV: `psql --csv`, `mysql --batch`, which separates with tabs"
        }
        _ => "give a table as CSV, JSON lines, JSON or Parquet",
    };
    TableErrorKind::invalid(format!("this is {found}, not a score table"), hint)
}

/// What other files begin with.
const OTHER_FILES: [(&[u8], &str); 5] = [
    (b"\xd0\xcf\x11\xe0", "an Excel workbook"),
    (b"\xfd7zXZ", "an xz file"),
    (b"%PDF", "a PDF document"),
    (b"SQLite", "a SQLite database"),
    (b"ARROW1", "an Arrow file"),
];

/// What a file is that is certainly no table.
fn other_file(head: &[u8]) -> Option<&'static str> {
    let contains = |text: &[u8]| head.windows(text.len()).any(|window| window == text);
    if let Some((_, found)) = OTHER_FILES.iter().find(|(start, _)| head.starts_with(start)) {
        return Some(found);
    }
    match head {
        [b'P', b'K', 3, 4, ..] if contains(b"xl/") || contains(b"[Content_Types].xml") => {
            Some("an Excel workbook")
        }
        [b'P', b'K', 3, 4, ..] if contains(b"opendocument.spreadsheet") => {
            Some("an OpenDocument spreadsheet")
        }
        [b'P', b'K', 3, 4, ..] => Some("a zip archive"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("a bzip2 file"),
        _ if is_box(head) => Some("a table as a database client prints it"),
        _ => {
            let start = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
            let start = start.get(..start.len().min(16)).unwrap_or_default().to_ascii_lowercase();
            let is_page = start.starts_with(b"<!doctype") || start.starts_with(b"<html");
            is_page.then_some("a web page")
        }
    }
}

/// Whether text is a table with a frame of `+` and `-`, as psql and MySQL print it.
fn is_box(head: &[u8]) -> bool {
    let is_rule = |line: &[u8]| {
        line.len() > 2 && line.contains(&b'+') && line.iter().all(|byte| matches!(byte, b'+' | b'-'))
    };
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    lines.take(2).any(is_rule)
}

/// Whether text starts like an object, or a list of objects.
fn is_json(text: &[u8]) -> bool {
    let next = |rest: &[u8]| rest.trim_ascii_start().first().copied();
    match text.split_first() {
        Some((b'{', rest)) => matches!(next(rest), Some(b'"' | b'}')),
        Some((b'[', rest)) => matches!(next(rest), Some(b'{' | b']')),
        _ => false,
    }
}

/// Whether JSON is one value or a line per row.
fn json(text: &[u8], is_whole: bool, extension: Option<&str>) -> Result<Content, TableErrorKind> {
    let names_lines = matches!(extension, Some("jsonl" | "ndjson"));
    if text.first() == Some(&b'[') {
        return Ok(Content::JsonDocument);
    }
    // Logs are read as such; their `eval` is among the first keys.
    if !names_lines && begins_as_log(text) {
        return Err(eval_log());
    }
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next());
    let mut parser = jiter::Jiter::new(first).with_allow_inf_nan();
    let is_object = parser.next_skip().and_then(|()| parser.finish()).is_ok();
    Ok(match second {
        // The first line is an object, and another starts in the second.
        Some(second) if is_object && second.starts_with(b"{") => Content::JsonLines,
        Some(_) if is_object && names_lines => Content::JsonLines,
        // An object over several lines.
        Some(_) if !names_lines || first == b"{" => Content::JsonDocument,
        Some(_) => Content::JsonLines,
        // One line, or the start of one that is longer than the head.
        None if names_lines && !(is_whole && is_object && is_document(first)) => Content::JsonLines,
        None => Content::JsonDocument,
    })
}

/// Whether one object alone in a file is the whole of a tool's results, not a row.
fn is_document(line: &[u8]) -> bool {
    let contains = |text: &[u8]| line.windows(text.len()).any(|window| window == text);
    contains(b"\"results\"") || contains(b"\"htmls\"")
}

fn is_markdown(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let header = lines.next().unwrap_or_default();
    let rule = lines.next().unwrap_or_default();
    header.contains(&b'|') && is_rule(rule)
}

/// Whether text has two lines at least, the same number of some delimiter in each, and no control characters.
fn looks_delimited(text: &[u8]) -> bool {
    let is_text = !text.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c));
    let mut lines = text.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty());
    is_text
        && lines.clone().count() > 1
        && lines.any(|line| line.iter().any(|byte| matches!(byte, b',' | b';' | b'\t' | b'|')))
}

/// What may be between the fields of a row, if nothing else is named.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// How many rows are looked at.
const ROWS: usize = 200;

/// How a delimited table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableDialect {
    /// What is between the fields of a row.
    pub delimiter: u8,
    /// What is between the integer and the fraction of a number, if the first rows show it.
    pub decimal: Option<DecimalMark>,
    /// How many bytes come before the header: comments, and a title.
    pub preamble: u64,
}

impl TableDialect {
    /// Fields with this between them.
    pub const fn new(delimiter: u8) -> Self {
        TableDialect { delimiter, decimal: None, preamble: 0 }
    }
}

/// Finds out how a table is written.
///
/// `head` is the start of the file, and all of it if `is_whole`. `usual` is the delimiter that the name of the file
/// stands for.
///
/// # Errors
/// If the rows have the same number of fields with more than one delimiter, and the usual one is none of them.
pub(super) fn sniff(
    head: &[u8],
    is_whole: bool,
    named: Option<u8>,
    usual: Option<u8>,
) -> Result<TableDialect, TableErrorKind> {
    let comments = comments(head);
    let body = head.get(comments.end..).unwrap_or_default();
    let delimiter = match named {
        Some(delimiter) => delimiter,
        None => delimiter(body, is_whole, usual)?,
    };
    let rows = rows(body, delimiter, is_whole);
    let comment = head.get(comments.last..comments.end).unwrap_or_default();
    if rows.is_empty() || rows.first().is_some_and(|first| is_header(comment, first, delimiter)) {
        // Only the sign of the comment is no part of the table.
        let preamble = if rows.is_empty() { 0 } else { comments.last as u64 };
        return Ok(TableDialect { delimiter, decimal: None, preamble });
    }
    let title = title_bytes(&rows);
    let preamble = (comments.end + title) as u64;
    let rows: Vec<&Row> = rows.iter().filter(|row| row.start >= title).collect();
    Ok(TableDialect { delimiter, decimal: decimal(&rows, delimiter), preamble })
}

/// A row, and where it starts.
struct Row {
    start: usize,
    record: ByteRecord,
}

/// The first rows that are complete.
fn rows(body: &[u8], delimiter: u8, is_whole: bool) -> Vec<Row> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(body);
    let (mut rows, mut record) = (Vec::new(), ByteRecord::new());
    while rows.len() <= ROWS && matches!(reader.read_byte_record(&mut record), Ok(true)) {
        let start = record.position().map_or(0, |position| position.byte()) as usize;
        // A record starts behind the line ends that the reader has skipped.
        let blank =
            body.get(start..).unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        rows.push(Row { start: start + blank.count(), record: record.clone() });
    }
    // The last one may go on beyond the head.
    if !is_whole && rows.len() <= ROWS {
        rows.pop();
    }
    rows
}

/// The lines at the start that are comments: `# made by …`.
struct Comments {
    /// Where they end.
    end: usize,
    /// Where the last of them starts, behind its `# `.
    last: usize,
}

fn comments(head: &[u8]) -> Comments {
    let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let (mut at, mut found) = (mark, Comments { end: 0, last: 0 });
    while let Some(rest) = head.get(at..).filter(|rest| !rest.is_empty()) {
        let length = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or_default();
        // `#id` and `#` are names of columns.
        let is_comment = line.starts_with(b"# ") || line.starts_with(b"##");
        if !is_comment && !line.trim_ascii().is_empty() {
            break;
        }
        if is_comment {
            found = Comments { end: at + (length + 1).min(rest.len()), last: at + 2 };
        }
        at += (length + 1).min(rest.len());
    }
    found
}

/// Whether the first row is data under a header that is written as a comment, as NumPy does: names above numbers.
fn is_header(comment: &[u8], first: &Row, delimiter: u8) -> bool {
    let Some(header) = rows(comment, delimiter, true).into_iter().next() else { return false };
    header.record.len() > 1
        && header.record.len() == first.record.len()
        && !header.record.iter().any(is_number)
        && first.record.iter().any(is_number)
}

/// The delimiter with which all rows have the same number of fields, more than one.
fn delimiter(body: &[u8], is_whole: bool, usual: Option<u8>) -> Result<u8, TableErrorKind> {
    let counts: Vec<(u8, Vec<usize>)> = DELIMITERS
        .into_iter()
        .map(|delimiter| {
            let rows = rows(body, delimiter, is_whole);
            (delimiter, rows.iter().map(|row| row.record.len()).collect())
        })
        .collect();
    let with = |is_fit: fn(&[usize]) -> bool| -> Vec<u8> {
        counts.iter().filter(|(_, counts)| is_fit(counts)).map(|(delimiter, _)| *delimiter).collect()
    };
    let consistent = with(|counts| match counts {
        [first, rest @ ..] => *first > 1 && rest.iter().all(|count| count == first),
        [] => false,
    });
    match consistent.as_slice() {
        [only] => return Ok(*only),
        [] => {}
        // A file called .tsv with tabs has tabs; one called .csv may have semicolons just as well as commas.
        several => match usual.filter(|usual| *usual == b'\t' && several.contains(usual)) {
            Some(usual) => return Ok(usual),
            None => {
                let candidates = several.iter().map(|delimiter| char::from(*delimiter)).collect();
                return Err(TableErrorKind::AmbiguousDelimiter { candidates });
            }
        },
    }
    // Some rows are damaged, or there is a title: all but a few rows have as many fields as most.
    let mostly = with(|counts| {
        let most =
            counts.iter().copied().max_by_key(|count| counts.iter().filter(|other| *other == count).count());
        let fit = counts.iter().filter(|count| Some(**count) == most).count();
        most.is_some_and(|most| most > 1) && fit * 4 >= counts.len() * 3
    });
    Ok(match (mostly.as_slice(), usual) {
        (several, Some(usual)) if several.contains(&usual) => usual,
        ([only], _) => *only,
        (_, Some(usual)) => usual,
        _ => b',',
    })
}

/// The size of a title above the header: lines of one cell, where the header has several and all of them are names.
fn title_bytes(rows: &[Row]) -> usize {
    let filled = |row: &Row| row.record.iter().filter(|field| !field.trim_ascii().is_empty()).count();
    let titles = rows.iter().take_while(|row| filled(row) == 1 && !is_short_header(row)).count();
    let (Some(header), Some(first)) = (rows.get(titles), rows.get(titles + 1)) else { return 0 };
    let names: Vec<&[u8]> =
        header.record.iter().map(<[u8]>::trim_ascii).filter(|name| !name.is_empty()).collect();
    let are_names = names
        .iter()
        .enumerate()
        .all(|(at, name)| !is_number(name) && names.iter().skip(at + 1).all(|other| other != name));
    let is_title = (1..=5).contains(&titles)
        && header.record.len() > 1
        && are_names
        && first.record.len() == header.record.len()
        && rows
            .iter()
            .take(titles)
            .all(|row| row.record.len() == 1 || row.record.len() == header.record.len());
    if is_title { header.start } else { 0 }
}

/// Whether a row of several cells of which one is filled is a header, as that of a column with an index is: `,score`.
fn is_short_header(row: &Row) -> bool {
    let mut cells = row.record.iter().map(<[u8]>::trim_ascii);
    let is_name = |name: &str| spellings::scores(name).is_some() || spellings::is_id(name);
    row.record.len() > 1
        && match cells.next() {
            Some(b"") => true,
            Some(first) => str::from_utf8(first).is_ok_and(is_name),
            None => false,
        }
}

fn is_number(cell: &[u8]) -> bool {
    str::from_utf8(cell).is_ok_and(|cell| cell.parse::<f64>().is_ok())
}

/// What a cell shows about the mark between the integer and the fraction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberForm {
    /// `0.5`
    Point,
    /// `0,5`
    Comma,
    /// `1,234`, which may be a thousand or one.
    Either,
}

fn number_form(cell: &[u8]) -> Option<NumberForm> {
    let cell = cell.trim_ascii();
    let cell = cell.strip_suffix(b"%").unwrap_or(cell).trim_ascii();
    let digits = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    let mark = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let (whole, rest) = digits.split_at_checked(mark)?;
    let (mark, fraction) = rest.split_first()?;
    let is_number = !whole.is_empty() && !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit);
    match mark {
        _ if !is_number => None,
        b'.' => Some(NumberForm::Point),
        b',' if fraction.len() == 3 && whole.len() <= 3 && whole != b"0" => Some(NumberForm::Either),
        b',' => Some(NumberForm::Comma),
        _ => None,
    }
}

/// The mark between the integer and the fraction of numbers: a comma only where commas do not delimit, and in a column
/// whose numbers all have one, none of them like a thousand's.
fn decimal(rows: &[&Row], delimiter: u8) -> Option<DecimalMark> {
    if delimiter == b',' {
        return None;
    }
    let columns = rows.first().map_or(0, |header| header.record.len());
    let mut found = None;
    for column in 0..columns {
        let cells = rows.iter().skip(1).filter_map(|row| row.record.get(column));
        let forms: Vec<NumberForm> = cells.filter_map(number_form).collect();
        let has = |form: NumberForm| forms.contains(&form);
        match (has(NumberForm::Comma), has(NumberForm::Point), has(NumberForm::Either)) {
            (true, false, _) => found = Some(DecimalMark::Comma),
            // Two ways to write numbers in one column, or a thousand that may be one.
            (true, true, _) | (false, _, true) => return None,
            _ => {}
        }
    }
    found
}

/// Whether a line is the one between header and rows: `|---|:--:|`.
pub(super) fn is_rule(line: &[u8]) -> bool {
    let is_part = |byte: &u8| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t' | b'\r');
    line.contains(&b'|') && line.windows(2).any(|pair| pair == b"--") && line.iter().all(is_part)
}

/// The same table as comma-separated values. Lines that are no rows end it.
pub(super) fn to_csv(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if is_rule(line) {
            continue;
        }
        if !line.contains(&b'|') {
            match line.is_empty() {
                true => continue,
                false => break,
            }
        }
        // Writing to memory does not fail.
        drop(writer.write_record(cells(line)));
    }
    writer.into_inner().unwrap_or_default()
}

/// The cells of a row; `\|` is a bar that is meant.
fn cells(line: &[u8]) -> Vec<Vec<u8>> {
    let line = line.strip_prefix(b"|").unwrap_or(line);
    let mut cells = vec![Vec::new()];
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if bytes.peek() == Some(&b'|') => {
                cells.last_mut().into_iter().for_each(|cell: &mut Vec<u8>| cell.push(b'|'));
                bytes.next();
            }
            // The bar at the end of a line ends its last cell.
            b'|' if bytes.peek().is_none() => {}
            b'|' => cells.push(Vec::new()),
            byte => cells.last_mut().into_iter().for_each(|cell| cell.push(byte)),
        }
    }
    cells.iter().map(|cell| plain(cell.trim_ascii())).collect()
}

/// A cell without the marks of bold, italic and code around it.
fn plain(cell: &[u8]) -> Vec<u8> {
    let marks: [&[u8]; 4] = [b"**", b"__", b"`", b"*"];
    let inner = marks.iter().find_map(|mark| cell.strip_prefix(*mark)?.strip_suffix(*mark));
    inner.filter(|inner| !inner.is_empty()).unwrap_or(cell).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, extension: Option<&str>) -> Result<Content, TableErrorKind> {
        content(text.as_bytes(), true, extension, None)
    }

    #[test]
    fn content_decides_where_it_is_clear() {
        let object = "{\"id\": 1}";
        let lines = format!("{object}\n{object}\n");
        for (text, extension, content) in [
            ("id,score\n", Some("csv"), Content::Delimited(Some(b','))),
            ("id\tscore\n", Some("tsv"), Content::Delimited(Some(b'\t'))),
            ("id;score\n1;2\n", Some("txt"), Content::Delimited(None)),
            ("id;score\n1;2\n", None, Content::Delimited(None)),
            ("PAR1", None, Content::Parquet),
            ("PAR1", Some("csv"), Content::Parquet),
            (&lines, Some("jsonl"), Content::JsonLines),
            (&lines, Some("json"), Content::JsonLines),
            (&lines, Some("csv"), Content::JsonLines),
            (&lines, None, Content::JsonLines),
            (object, Some("jsonl"), Content::JsonLines),
            (object, Some("json"), Content::JsonDocument),
            ("[{\"id\": 1}]", Some("json"), Content::JsonDocument),
            ("[\n {\"id\": 1}\n]", Some("jsonl"), Content::JsonDocument),
            ("{\n \"id\": 1\n}", Some("jsonl"), Content::JsonDocument),
            ("{\"results\": {}}", Some("jsonl"), Content::JsonDocument),
            ("", Some("csv"), Content::Delimited(Some(b','))),
            ("", Some("jsonl"), Content::JsonLines),
            ("not json\n", Some("jsonl"), Content::JsonLines),
            ("| id | score |\n|----|---:|\n| a | 1 |\n", Some("md"), Content::Markdown),
            ("[id],[score]\n1,2\n", Some("csv"), Content::Delimited(Some(b','))),
        ] {
            assert_eq!(found(text, extension).unwrap(), content, "{text:?} {extension:?}");
        }
        let named = content(b"id,score\n", true, Some("json"), Some(InputFormat::Tsv)).unwrap();
        assert_eq!(named, Content::Delimited(Some(b'\t')));
    }

    #[test]
    fn other_files_are_named() {
        let refused = |head: &[u8]| content(head, false, Some("csv"), None).unwrap_err();
        for (head, name) in [
            (b"PK\x03\x04....[Content_Types].xml".as_slice(), "an Excel workbook"),
            (b"PK\x03\x04", "a zip archive"),
            (b"BZh91AY", "a bzip2 file"),
            (b" id | score \n----+-------\n q1 |     1\n", "a table as a database client prints it"),
            (b"+----+-------+\n| id | score |\n+----+-------+\n", "a table as a database client prints it"),
            (b"  <!DOCTYPE html>", "a web page"),
        ] {
            let error = refused(head);
            assert_eq!(error.to_string(), format!("this is {name}, not a score table"));
        }
        for log in [found("{\"version\": 2, \"eval\": {", Some("json")), found("PK", Some("eval"))] {
            assert_eq!(log.unwrap_err().to_string(), "this is an eval log, not a score table");
        }
        assert!(matches!(found("hello", None), Err(TableErrorKind::UnknownFormat { extension: None })));
    }

    #[test]
    fn extensions_are_those_beneath_the_compression() {
        for (name, wanted) in [
            ("a.csv", Some("csv")),
            ("a.CSV.GZ", Some("csv")),
            ("a.b.jsonl.zst", Some("jsonl")),
            ("a.gz", None),
            ("a", None),
        ] {
            assert_eq!(extension(Path::new(name)).as_deref(), wanted, "{name}");
        }
    }
}

#[cfg(test)]
mod dialect_tests {
    use super::*;

    fn found(text: &str) -> TableDialect {
        sniff(text.as_bytes(), true, None, Some(b',')).unwrap()
    }

    #[test]
    fn the_delimiter_is_the_one_with_which_rows_have_as_many_fields() {
        for (text, delimiter) in [
            ("id,score\na,1\n", b','),
            ("id;score\na;1\n", b';'),
            ("id\tscore\na\t1\n", b'\t'),
            ("id|score\na|1\n", b'|'),
            ("id;score\na;0,5\nb;1,5\n", b';'),
            ("id;text;score\n1;\"a;b,c\";1\n2;\"x\ny\";0\n", b';'),
            ("id,text,score\n1,\"a;b\",1\n2,\"c|d;e\",0\n", b','),
            // Not even a header with two: the usual one.
            ("score\n1\n0\n", b','),
            ("id,score\na;1\n", b','),
            ("", b','),
            // A damaged row does not change what the others have.
            ("id;score\na;1\nb;0\nc;1\nd\n", b';'),
        ] {
            assert_eq!(char::from(found(text).delimiter), char::from(delimiter), "{text:?}");
        }
        assert_eq!(sniff(b"a,b\n1;2\n", true, Some(b';'), Some(b',')).unwrap().delimiter, b';');
        // The head ends in the middle of a row.
        assert_eq!(sniff(b"a;b;c\n1;2;3\n4;5", false, None, Some(b',')).unwrap().delimiter, b';');
    }

    #[test]
    fn two_delimiters_that_fit_are_refused() {
        let text = b"id;score,judge\na;1,2\nb;0,3\n";
        let error = sniff(text, true, None, Some(b',')).unwrap_err();
        assert!(
            matches!(&error, TableErrorKind::AmbiguousDelimiter { candidates } if *candidates == [',', ';']),
            "{error}"
        );
        assert_eq!(sniff(text, true, Some(b';'), Some(b',')).unwrap().delimiter, b';');
        let tabs = b"id\tscore,x\na\t1,2\n";
        assert_eq!(sniff(tabs, true, None, Some(b'\t')).unwrap().delimiter, b'\t');
    }

    #[test]
    fn decimal_commas() {
        for (text, decimal) in [
            ("id;score\na;0,5\nb;1,0\n", Some(DecimalMark::Comma)),
            ("id\tscore\na\t0,5\nb\t1\n", Some(DecimalMark::Comma)),
            ("id;score\na;-0,25\nb;28,5%\n", Some(DecimalMark::Comma)),
            ("id;score\na;0,125\nb;1\n", Some(DecimalMark::Comma)),
            ("id;score\na;0.5\nb;1.0\n", None),
            ("id;score\na;1\nb;0\n", None),
            // A thousand, or one and a bit.
            ("id;score\na;1,234\nb;2,345\n", None),
            ("id;score\na;1,234\nb;0,5\n", Some(DecimalMark::Comma)),
            ("id;score\na;0,5\nb;0.5\n", None),
            ("id,score\na,\"0,5\"\n", None),
        ] {
            assert_eq!(found(text).decimal, decimal, "{text:?}");
        }
    }

    #[test]
    fn comments_and_titles_come_before_the_header() {
        for (text, preamble) in [
            ("id,score\na,1\n", 0),
            ("# made by x\n# seed 1\nid,score\na,1\n", "# made by x\n# seed 1\n".len()),
            ("\u{feff}# made\r\n\r\nid,score\r\na,1\r\n", "\u{feff}# made\r".len()),
            ("Results of run 3\nid,score\na,1\n", "Results of run 3\n".len()),
            ("Results;;\n\nid;score;topic\na;1;x\n", "Results;;\n\n".len()),
            // A header with an odd name, and one that is too short, are headers.
            ("#,score\n1,1\n", 0),
            ("#id,score\na,1\n", 0),
            ("id\na,1\nb,0\n", 0),
            ("score\n1\n0\n", 0),
            // The index of a data frame has no name.
            (",score\nq1,PASS\nq2,FAIL\nq3,PASS\n", 0),
            ("\tresult\nq1\tPASS\nq2\tFAIL\n", 0),
            ("# a\n", 0),
            ("# id,score\n1,0.5\n2,1.0\n", 2),
        ] {
            assert_eq!(found(text).preamble, preamble as u64, "{text:?}");
        }
    }
}

#[cfg(test)]
mod markdown_tests {
    use super::*;

    #[test]
    fn rows_become_records() {
        let text =
            "| id | score |\n|:---|---:|\n| `a, b` | **1** |\n| c \\| d | 0 |\n\nSome text.\n| x | 1 |\n";
        assert_eq!(String::from_utf8(to_csv(text.as_bytes())).unwrap(), "id,score\n\"a, b\",1\nc | d,0\n");
        let text = "id | score\n--- | ---\na | 1\n";
        assert_eq!(String::from_utf8(to_csv(text.as_bytes())).unwrap(), "id,score\na,1\n");
    }
}
