//! Texts of any length, cut for display.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The number of characters of a text that are shown. An answer of ten megabytes would stop the page.
pub const TEXT_LIMIT: usize = 20_000;

/// A text of which the middle may be cut out.
///
/// ```
/// use errorbar_report::samples::LongText;
/// let text = LongText::new("a".repeat(1000) + "end", 100);
/// let json = serde_json::to_value(&text)?;
/// assert_eq!((json["length"].as_u64(), json["tail"].as_str().map(|tail| tail.ends_with("end"))), (Some(1003), Some(true)));
/// assert_eq!(serde_json::to_value(&LongText::new("short", 100))?, "short");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LongText {
    head: String,
    /// What is left of the end, and the characters that the whole text has.
    cut: Option<(String, usize)>,
}

impl LongText {
    /// A text with at most this number of characters: the start, and a tenth of them from the end.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        let text = text.into();
        // No text has more characters than bytes.
        if text.len() <= limit {
            return LongText { head: text, cut: None };
        }
        let length = text.chars().count();
        if length <= limit {
            return LongText { head: text, cut: None };
        }
        let end = limit / 10;
        let head = text.chars().take(limit - end).collect();
        let tail = text.chars().skip(length - end).collect();
        LongText { head, cut: Some((tail, length)) }
    }

    /// The same with at most this number of characters; the length stays that of the whole text.
    #[must_use]
    pub fn shorten(&self, limit: usize) -> Self {
        match &self.cut {
            None => LongText::new(self.head.clone(), limit),
            Some((_, length)) => {
                let joined = LongText::new(self.head.clone(), limit);
                let tail = joined.cut.map(|(tail, _)| tail).unwrap_or_default();
                LongText { head: joined.head, cut: Some((tail, *length)) }
            }
        }
    }

    /// Its start.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Whether something was cut out.
    pub fn is_cut(&self) -> bool {
        self.cut.is_some()
    }
}

impl From<&str> for LongText {
    fn from(text: &str) -> Self {
        LongText::new(text, TEXT_LIMIT)
    }
}

impl Serialize for LongText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some((tail, length)) = &self.cut else { return serializer.serialize_str(&self.head) };
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("head", &self.head)?;
        map.serialize_entry("tail", tail)?;
        map.serialize_entry("length", length)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let text = "é".repeat(100);
        assert!(!LongText::new(text.clone(), 100).is_cut());
        let cut = LongText::new(text, 50);
        assert_eq!(serde_json::to_value(&cut).unwrap()["length"], 100);
        assert_eq!(cut.head().chars().count(), 45);
    }

    #[test]
    fn a_text_that_is_shortened_twice_keeps_its_whole_length() {
        let json = serde_json::to_value(LongText::new("x".repeat(500), 200).shorten(50)).unwrap();
        assert_eq!(json["length"], 500);
        assert_eq!(json["head"].as_str().unwrap().len(), 45);
    }
}
