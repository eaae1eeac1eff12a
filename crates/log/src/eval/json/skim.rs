//! The fields of an object that are wanted, out of all that it holds.

use super::outline::{Outline, Parts};
use crate::eval::error::{LogError, LogErrorKind, Result};

/// Takes an object in pieces and keeps only the fields that are wanted, as a smaller object.
#[derive(Debug)]
pub(in crate::eval) struct Skimmer {
    outline: Outline,
    kept: Kept,
}

#[derive(Debug)]
struct Kept {
    wanted: Vec<&'static str>,
    /// The smaller object.
    json: Vec<u8>,
    is_keeping: bool,
    /// Where each field stands in the smaller object, and where it stood in the whole one.
    places: Vec<(usize, u64)>,
    /// The most that may be kept.
    limit: u64,
}

impl Skimmer {
    /// Keeps these fields, at most so many bytes of them.
    pub(in crate::eval) fn new(wanted: Vec<&'static str>, limit: u64) -> Self {
        let kept = Kept { wanted, json: vec![b'{'], is_keeping: false, places: Vec::new(), limit };
        Skimmer { outline: Outline::of_object(), kept }
    }

    /// Forgets what it has, to take another object.
    pub(in crate::eval) fn reset(&mut self) {
        self.outline = Outline::of_object();
        self.kept.json.truncate(1);
        self.kept.is_keeping = false;
        self.kept.places.clear();
    }

    /// Takes the next bytes.
    pub(in crate::eval) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.outline.push(bytes, &mut self.kept)
    }

    /// The smaller object. An error of its reader is about bytes in it; [`Skimmer::place`] says where they were.
    pub(in crate::eval) fn finish(&mut self) -> Result<&[u8]> {
        self.outline.finish()?;
        self.kept.json.push(b'}');
        Ok(&self.kept.json)
    }

    /// An error about the smaller object as one about the whole.
    pub(in crate::eval) fn place(&self, error: LogError) -> LogError {
        error.map_place(|at| {
            let after = self.kept.places.partition_point(|(kept, _)| *kept as u64 <= at);
            match after.checked_sub(1).and_then(|before| self.kept.places.get(before)) {
                Some((kept, whole)) => whole + (at - *kept as u64),
                None => at,
            }
        })
    }
}

impl Kept {
    fn keep(&mut self, bytes: &[u8]) -> Result<()> {
        let size = (self.json.len() + bytes.len()) as u64;
        if size > self.limit {
            return Err(LogErrorKind::TooLargeRecord { limit: self.limit }.into());
        }
        self.json.extend_from_slice(bytes);
        Ok(())
    }
}

impl Parts for Kept {
    fn begin(&mut self, key: &[u8], at: u64) -> Result<()> {
        self.is_keeping = self.wanted.iter().any(|wanted| wanted.as_bytes() == key);
        if self.is_keeping {
            if self.json.len() > 1 {
                self.json.push(b',');
            }
            // What is wanted has no sign in its name that must be escaped.
            self.json.push(b'"');
            self.keep(key)?;
            self.json.extend_from_slice(b"\":");
            self.places.push((self.json.len(), at));
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8], _at: u64) -> Result<()> {
        if self.is_keeping { self.keep(bytes) } else { Ok(()) }
    }

    fn end(&mut self, _at: u64) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skimmer() -> Skimmer {
        Skimmer::new(vec!["id", "scores"], 100)
    }

    #[test]
    fn only_what_is_wanted_is_kept() {
        let mut skimmer = skimmer();
        for _ in 0..2 {
            skimmer.reset();
            for piece in br#"{"messages":[{"id":7}],"id":1,"events":"x","scores":{"m":NaN}}"#.chunks(3) {
                skimmer.push(piece).unwrap();
            }
            assert_eq!(skimmer.finish().unwrap(), br#"{"id":1,"scores":{"m":NaN}}"#);
        }
        skimmer.reset();
        skimmer.push(b"{}").unwrap();
        assert_eq!(skimmer.finish().unwrap(), b"{}");
    }

    #[test]
    fn places_are_those_of_the_whole() {
        let whole = br#"{"messages":[{"id":7}], "id" : 1,"events":"x","scores":{"m":oh}}"#;
        let mut skimmer = skimmer();
        skimmer.push(whole).unwrap();
        let kept = skimmer.finish().unwrap();
        let wrong = kept.windows(2).position(|pair| pair == b"oh").unwrap();
        let error = LogErrorKind::Json { problem: String::new(), at: wrong as u64 };
        let expected = whole.windows(2).position(|pair| pair == b"oh").unwrap();
        let text = skimmer.place(error.into()).to_string();
        assert!(text.contains(&format!("at byte {expected}")), "{text}");

        // Those of the object before it are forgotten.
        skimmer.reset();
        skimmer.push(br#"{"x":[1,2,3],"id":1,"scores":{},"scores":{}}"#).unwrap();
        skimmer.reset();
        skimmer.push(br#"{"id":oh,"scores":{}}"#).unwrap();
        let error = LogErrorKind::Json { problem: String::new(), at: 6 };
        let text = skimmer.place(error.into()).to_string();
        assert!(text.contains("at byte 6"), "{text}");
    }

    #[test]
    fn more_than_the_limit_is_refused() {
        let mut skimmer = skimmer();
        skimmer.push(br#"{"messages":""#).unwrap();
        skimmer.push(&[b'x'; 1000]).unwrap();
        skimmer.push(br#"","id":""#).unwrap();
        let error = skimmer.push(&[b'x'; 1000]).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooLargeRecord { limit: 100 }), "{error}");

        // By small pieces, it is the sum that counts.
        skimmer.reset();
        let object = [br#"{"id":""#.as_slice(), &[b'x'; 1000], br#""}"#].concat();
        let pushed = object.chunks(7).try_for_each(|piece| skimmer.push(piece));
        assert!(matches!(pushed.unwrap_err().kind(), LogErrorKind::TooLargeRecord { limit: 100 }));
    }
}
