//! Texts of any length, cut for display, and the line that tells a question from others.

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

/// The number of characters of a preview.
const PREVIEW_LENGTH: usize = 120;

/// One line of a text: of several, the last one that asks something, because a passage often stands before its question;
/// else the first.
pub(super) fn preview(text: &str) -> String {
    // Of a very long text only both ends are looked at.
    const LOOKED_AT: usize = 20_000;
    let end = text.floor_char_boundary(LOOKED_AT.min(text.len()));
    let start = text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT));
    let last = text.get(start..).unwrap_or_default().lines().rev().map(str::trim);
    let question = last.filter(|line| !line.is_empty()).take(12).find(|line| line.ends_with('?'));
    let mut first =
        text.get(..end).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let line = question.or_else(|| first.next()).unwrap_or_default();
    match line.char_indices().nth(PREVIEW_LENGTH) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
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

    #[test]
    fn a_question_after_a_passage_is_found() {
        assert_eq!(preview("The lake is green.\n\nWhat makes it green?\n\n"), "What makes it green?");
        assert_eq!(preview("What is it?\nA) one\nB) two"), "What is it?");
        assert_eq!(preview("\n Add 2 and 2.\nAnswer:"), "Add 2 and 2.");
        assert_eq!(preview(""), "");
        assert_eq!(preview(&"é".repeat(30_000)).chars().count(), 121);
    }
}
