//! A `.json` log: the same records as one object, `samples` and `reductions` inline.

use std::fs::File;
use std::io::Read;
use std::ops::Range;

use jiter::Peek;

use super::decode::{root_fields, unexpected};
use super::error::{LogErrorKind, Result};

/// A log in memory, with the places of its parts. Nothing but the places is built when it is opened.
#[derive(Debug)]
pub(super) struct JsonLog {
    bytes: Vec<u8>,
    /// Everything but samples and reductions, as an object of its own.
    header: Vec<u8>,
    samples: Vec<Range<usize>>,
    reductions: Option<Range<usize>>,
}

impl JsonLog {
    /// Reads a file that holds one object.
    pub(super) fn read(mut file: File) -> Result<Self> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(LogErrorKind::Read)?;
        let (mut header, mut samples, mut reductions) = (b"{".to_vec(), Vec::new(), None);
        root_fields(&bytes, |name, json, peek| {
            let start = json.current_index();
            if name == "samples" && peek == Peek::Array {
                let mut next = json.known_array()?;
                while let Some(item) = next {
                    if item != Peek::Object {
                        return Err(unexpected("a sample", item, "an object"));
                    }
                    let start = json.current_index();
                    json.known_skip(item)?;
                    samples.push(start..json.current_index());
                    next = json.array_step()?;
                }
                return Ok(());
            }
            json.known_skip(peek)?;
            if name == "reductions" {
                reductions = Some(start..json.current_index());
                return Ok(());
            }
            if header.len() > 1 {
                header.push(b',');
            }
            header.extend_from_slice(serde_json::Value::from(name).to_string().as_bytes());
            header.push(b':');
            header.extend_from_slice(json.slice_to_current(start));
            Ok(())
        })?;
        header.push(b'}');
        Ok(JsonLog { bytes, header, samples, reductions })
    }

    pub(super) fn header(&self) -> &[u8] {
        &self.header
    }

    pub(super) fn reductions(&self) -> Option<&[u8]> {
        self.bytes.get(self.reductions.clone()?)
    }

    pub(super) fn sample_count(&self) -> usize {
        self.samples.len()
    }

    pub(super) fn sample(&self, at: usize) -> Option<&[u8]> {
        self.bytes.get(self.samples.get(at)?.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    fn read(text: &str) -> Result<JsonLog> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        JsonLog::read(file)
    }

    #[test]
    fn the_parts_are_found() {
        let text = r#" {"version": 2, "samples": [ {"id": 1, "v": NaN} , {"id": "]}"}], "a\"b": [-Infinity], "reductions": [1]} "#;
        let log = read(text).unwrap();
        assert_eq!(log.header(), br#"{"version":2,"a\"b":[-Infinity]}"#);
        assert_eq!(log.sample_count(), 2);
        assert_eq!(log.sample(0), Some(&br#"{"id": 1, "v": NaN}"#[..]));
        assert_eq!(log.sample(1), Some(&br#"{"id": "]}"}"#[..]));
        assert_eq!(log.reductions(), Some(&b"[1]"[..]));
    }

    #[test]
    fn what_is_no_log_is_refused() {
        for text in ["", "[]", "{", r#"{"samples": [1]}"#, r#"{"a": 1} x"#] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read(r#"{"samples": null}"#).unwrap().sample_count(), 0);
    }
}
