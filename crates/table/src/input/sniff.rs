//! Which format bytes are in: by what they start with, then by the name of the file.

use std::path::Path;

use errorbar_files::begins_as_log;

use super::compression::Compression;
use crate::TableErrorKind;
use crate::mapping::InputFormat;

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
        return Err(TableErrorKind::EvalLog);
    }
    if let Some(found) = other_file(head) {
        return Err(TableErrorKind::NotATable { found });
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

/// What a file is that is certainly no table.
fn other_file(head: &[u8]) -> Option<&'static str> {
    let contains = |text: &[u8]| head.windows(text.len()).any(|window| window == text);
    match head {
        [b'P', b'K', 3, 4, ..] if contains(b"xl/") || contains(b"[Content_Types].xml") => {
            Some("an Excel workbook")
        }
        [b'P', b'K', 3, 4, ..] if contains(b"opendocument.spreadsheet") => {
            Some("an OpenDocument spreadsheet")
        }
        [b'P', b'K', 3, 4, ..] => Some("a zip archive"),
        [0xd0, 0xcf, 0x11, 0xe0, ..] => Some("an Excel workbook"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("a bzip2 file"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("an xz file"),
        [b'%', b'P', b'D', b'F', ..] => Some("a PDF document"),
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => Some("a SQLite database"),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some("an Arrow file"),
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
        return Err(TableErrorKind::EvalLog);
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
    header.contains(&b'|') && super::markdown::is_rule(rule)
}

/// Whether text has two lines at least, the same number of some delimiter in each, and no control characters.
fn looks_delimited(text: &[u8]) -> bool {
    let is_text = !text.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c));
    let mut lines = text.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty());
    is_text
        && lines.clone().count() > 1
        && lines.any(|line| line.iter().any(|byte| matches!(byte, b',' | b';' | b'\t' | b'|')))
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
            assert!(matches!(&error, TableErrorKind::NotATable { found } if *found == name), "{error}");
        }
        assert!(matches!(found("{\"version\": 2, \"eval\": {", Some("json")), Err(TableErrorKind::EvalLog)));
        assert!(matches!(found("PK", Some("eval")), Err(TableErrorKind::EvalLog)));
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
