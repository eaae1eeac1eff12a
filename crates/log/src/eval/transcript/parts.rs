//! A few values out of a long object, without the others in memory.

use std::collections::{HashMap, HashSet};

use crate::eval::error::{LogErrorKind, Result};
use crate::eval::json::{Descent, PartVisitor};
use crate::eval::wire::decode;

/// What is copied, up to a limit for all of it.
#[derive(Debug, Default)]
struct CopiedBytes {
    json: Vec<u8>,
    is_copied: bool,
    total: u64,
    limit: u64,
}

impl CopiedBytes {
    fn new(limit: u64) -> Self {
        CopiedBytes { limit, ..CopiedBytes::default() }
    }

    fn begin(&mut self, is_wanted: bool) -> Descent {
        self.is_copied = is_wanted;
        self.json.clear();
        Descent::Whole
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if self.is_copied {
            self.total += bytes.len() as u64;
            if self.total > self.limit {
                return Err(LogErrorKind::TooLargeRecord { limit: self.limit }.into());
            }
            self.json.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// The JSON of the part that has ended, if it was wanted.
    fn end(&mut self) -> Option<&[u8]> {
        std::mem::take(&mut self.is_copied).then_some(self.json.as_slice())
    }
}

/// The attachments of a sample, by their names.
#[derive(Debug)]
pub(super) struct NamedAttachments<'a> {
    wanted: &'a HashSet<String>,
    pub(super) found: HashMap<String, String>,
    current: Option<String>,
    is_inside: bool,
    bytes: CopiedBytes,
}

impl<'a> NamedAttachments<'a> {
    pub(super) fn new(wanted: &'a HashSet<String>, limit: u64) -> Self {
        let bytes = CopiedBytes::new(limit);
        NamedAttachments { wanted, found: HashMap::new(), current: None, is_inside: false, bytes }
    }
}

impl PartVisitor for NamedAttachments<'_> {
    fn begin(&mut self, key: &[u8], first: u8, _at: u64) -> Result<Descent> {
        if !self.is_inside {
            self.is_inside = key == b"attachments" && first == b'{';
            return Ok(if self.is_inside { Descent::Enter } else { Descent::Whole });
        }
        let key = str::from_utf8(key).ok().filter(|key| first == b'"' && self.wanted.contains(*key));
        self.current = key.map(str::to_owned);
        Ok(self.bytes.begin(self.current.is_some()))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.push(bytes)
    }

    fn end(&mut self, _at: u64) -> Result<()> {
        if let (Some(json), Some(name)) = (self.bytes.end(), self.current.take()) {
            self.found.insert(name, string(json)?);
        }
        Ok(())
    }

    fn leave(&mut self, _at: u64) -> Result<()> {
        self.is_inside = false;
        Ok(())
    }
}

/// The string that a JSON document is.
fn string(json: &[u8]) -> Result<String> {
    let mut parser = decode::parser(json);
    let peek = parser.peek()?;
    let text = decode::text("attachments", &mut parser, peek)?.unwrap_or_default();
    parser.finish()?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::json::Outline;

    #[test]
    fn attachments_are_found_by_name() {
        let wanted = HashSet::from(["a".to_owned(), "b\"".to_owned(), "c".to_owned(), "gone".to_owned()]);
        let json = br#"{"a": "not this", "attachments": {"x": "long", "a": "one\ntwo", "b\"": "", "c": [1]}, "c": "nor this"}"#;
        for piece in 1..json.len() {
            let mut found = NamedAttachments::new(&wanted, 100);
            let mut outline = Outline::of_object();
            json.chunks(piece).for_each(|piece| outline.push(piece, &mut found).unwrap());
            let expected = HashMap::from([("a", "one\ntwo"), ("b\"", "")]);
            let expected =
                expected.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
            assert_eq!(found.found, expected, "pieces of {piece}");
        }
        let mut small = NamedAttachments::new(&wanted, 5);
        let error = Outline::of_object().push(json, &mut small).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooLargeRecord { limit: 5 }), "{error}");
    }
}
