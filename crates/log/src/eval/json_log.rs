//! A `.json` log: the same records as one object, `samples` and `reductions` inline.

use std::ops::Range;

use super::error::{LogErrorKind, Result};
use super::json::{Descent, Outline, PartVisitor};
use super::limits::LogLimits;
use super::members::{HEADER, REDUCTIONS};
use super::zip::decompress::{Decompressor, collector};
use super::zip::source::{FileSection, LogFile};

const SAMPLES_FIELD: &str = "samples";
const REDUCTIONS_FIELD: &str = "reductions";

/// The most fields of a log, known or not; the reference writes a dozen.
const MAX_FIELDS: usize = 10_000;

/// Where the parts of a log are in its file. Only their offsets are held in memory.
#[derive(Debug, Default)]
pub(super) struct JsonLog {
    /// Every field of the log, as it comes.
    pub(super) fields: Vec<(String, Range<u64>)>,
    pub(super) samples: Vec<Range<u64>>,
    /// Whether the list of samples is being indexed.
    is_in_samples: bool,
}

impl JsonLog {
    /// Finds the parts of a file that holds one object.
    pub(super) fn index(source: &LogFile, limits: LogLimits) -> Result<Self> {
        let (mut log, mut outline) = (JsonLog::default(), Outline::of_object());
        Decompressor::new(limits)
            .section(FileSection::whole(source), &mut |piece| outline.push(piece, &mut log))?;
        outline.finish()?;
        Ok(log)
    }

    /// Where a field is; of several with one name the last counts.
    pub(super) fn field(&self, name: &str) -> Option<Range<u64>> {
        self.fields.iter().rev().find(|(field, _)| field == name).map(|(_, range)| range.clone())
    }

    /// The header that an `.eval` log would have, in pieces.
    pub(super) fn header_pieces(
        &self,
        source: &LogFile,
        decompressor: &mut Decompressor,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let parts = self.fields.iter().filter(|(name, _)| name != SAMPLES_FIELD && name != REDUCTIONS_FIELD);
        let mut before = "{";
        for (name, range) in parts {
            each(format!("{before}{}:", serde_json::Value::from(name.as_str())).as_bytes())?;
            decompressor.section(FileSection::new(source, range.start, range.end - range.start), each)?;
            before = ",";
        }
        each(if before == "{" { b"{}" } else { b"}" })
    }

    /// What would be this member of an `.eval` log.
    pub(super) fn member(&self, source: &LogFile, name: &str, limits: LogLimits) -> Result<Option<Vec<u8>>> {
        let mut decompressor = Decompressor::new(limits);
        let mut json = Vec::new();
        let mut keep = collector(&mut json, limits.max_record);
        match (name, self.field(REDUCTIONS_FIELD)) {
            (HEADER, _) => self.header_pieces(source, &mut decompressor, &mut keep)?,
            (REDUCTIONS, Some(range)) => {
                decompressor
                    .section(FileSection::new(source, range.start, range.end - range.start), &mut keep)?;
            }
            _ => return Ok(None),
        }
        drop(keep);
        Ok(Some(json))
    }
}

impl PartVisitor for JsonLog {
    fn begin(&mut self, key: &[u8], first: u8, at: u64) -> Result<Descent> {
        if self.is_in_samples {
            self.samples.push(at..at);
            return Ok(Descent::Whole);
        }
        if self.fields.len() == MAX_FIELDS {
            return Err(LogErrorKind::TooMany { what: "fields", limit: MAX_FIELDS }.into());
        }
        self.fields.push((String::from_utf8_lossy(key).into_owned(), at..at));
        if key != SAMPLES_FIELD.as_bytes() {
            return Ok(Descent::Whole);
        }
        // Of several lists the last one counts.
        self.samples.clear();
        match first {
            b'[' => {
                self.is_in_samples = true;
                Ok(Descent::Enter)
            }
            // A null is a list without any.
            b'n' => Ok(Descent::Whole),
            _ => Err(LogErrorKind::Json { problem: "a list should start".to_owned(), at }.into()),
        }
    }

    fn end(&mut self, at: u64) -> Result<()> {
        let range = match self.is_in_samples {
            true => self.samples.last_mut(),
            false => self.fields.last_mut().map(|(_, range)| range),
        };
        range.into_iter().for_each(|range| range.end = at);
        Ok(())
    }

    fn leave(&mut self, at: u64) -> Result<()> {
        self.is_in_samples = false;
        self.end(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn log(text: &str) -> Result<(JsonLog, LogFile)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let source = LogFile::new(file).unwrap();
        Ok((JsonLog::index(&source, LogLimits::default())?, source))
    }

    #[test]
    fn the_parts_are_found() {
        let text = r#" {"version": 2, "samples": [ {"id": 1, "v": NaN} , {"id": "]}"}], "a\"b": [-Infinity], "reductions": [1]} "#;
        let (log, source) = log(text).unwrap();
        let member = |name| log.member(&source, name, LogLimits::default()).unwrap();
        assert_eq!(member(HEADER).unwrap(), br#"{"version":2,"a\"b":[-Infinity]}"#);
        let samples: Vec<&str> =
            log.samples.iter().map(|range| &text[range.start as usize..range.end as usize]).collect();
        assert_eq!(samples, [r#"{"id": 1, "v": NaN}"#, r#"{"id": "]}"}"#]);
        assert_eq!(member(REDUCTIONS).unwrap(), b"[1]");
        assert_eq!(member("summaries.json"), None);
    }

    #[test]
    fn what_is_no_log_is_refused() {
        for text in ["", "[]", "{", r#"{"samples": {}}"#, r#"{"samples": [1 2]}"#, r#"{"a": 1} x"#] {
            assert!(log(text).is_err(), "{text}");
        }
        assert_eq!(log(r#"{"samples": null}"#).unwrap().0.samples, []);
    }

    #[test]
    fn fields_have_a_limit() {
        let fields: Vec<String> = (0..10_001).map(|n| format!(r#""k{n}":0"#)).collect();
        assert!(log(&format!("{{{}}}", fields[1..].join(","))).is_ok());
        let error = log(&format!("{{{}}}", fields.join(","))).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooMany { what: "fields", .. }), "{error}");
    }

    #[test]
    fn a_header_beyond_the_limit_is_refused() {
        let (log, source) = log(&format!(r#"{{"a":"{}"}}"#, "x".repeat(1000))).unwrap();
        let limits = LogLimits { max_record: 500, ..LogLimits::default() };
        assert!(log.member(&source, HEADER, limits).is_err());
    }
}
