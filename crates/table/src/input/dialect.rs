//! How a delimited table is written, by its first rows.

use csv::ByteRecord;

use crate::TableErrorKind;
use crate::mapping::DecimalMark;
use crate::spellings;

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

#[cfg(test)]
mod tests {
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
