//! The reader's place in the text, and the smallest things it can read there.

use super::names::{continues_word, is_reserved, starts_word};
use super::{SpecError, SpecErrorKind};

/// A place in the text. What follows it is the rest to be read; errors point at it.
pub struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) offset: usize,
    pub(super) depth: usize,
}

/// A word as it stood in the text.
pub struct Word {
    /// The text.
    pub text: String,
    /// In backquotes, and therefore never a literal.
    pub(super) quoted: bool,
}

impl Word {
    /// Whether this is `true`, `None` or the like, and not a name.
    pub(super) fn is_literal(&self) -> bool {
        !self.quoted && is_reserved(&self.text)
    }
}

impl<'a> Parser<'a> {
    /// Whether a word starts right here.
    pub fn at_word(&self) -> bool {
        self.next_char().is_some_and(|c| starts_word(c) || c == '`')
    }

    /// A word, plain or in backquotes. The parser must stand at the start of one.
    pub fn word(&mut self) -> Result<Word, SpecError> {
        if self.next_char() == Some('`') {
            let start = self.offset;
            let text = self.quoted("name")?;
            if text.is_empty() {
                return Err(self.error_at(start, expected("a name", "an empty one".to_owned())));
            }
            return Ok(Word { text, quoted: true });
        }
        let rest = self.rest();
        let end = rest.find(|c| !continues_word(c)).unwrap_or(rest.len());
        let text = rest.get(..end).unwrap_or_default().to_owned();
        self.offset += end;
        Ok(Word { text, quoted: false })
    }

    /// Skips blanks and returns the new position.
    pub fn skip_blanks(&mut self) -> usize {
        let rest = self.rest();
        self.offset += rest.len() - rest.trim_start().len();
        self.offset
    }

    /// The next character that is not blank; blanks before it are gone.
    pub fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.next_char()
    }

    /// Moves past `wanted` if it comes next.
    pub fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.offset += wanted.len_utf8();
        }
        found
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// The next character, which may be blank.
    pub fn next_char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// An error at a position.
    pub fn error_at(&self, offset: usize, kind: SpecErrorKind) -> SpecError {
        SpecError::at(kind, self.text, offset)
    }

    /// The error that something else was wanted at this place.
    pub fn expected(&self, wanted: &str) -> SpecError {
        let found = match self.next_char() {
            None => "the end of the input".to_owned(),
            Some('\'') => "\"'\"".to_owned(),
            Some(c) => format!("'{}'", c.escape_debug()),
        };
        self.error_at(self.offset, expected(wanted, found))
    }

    /// The text from a position on, up to here.
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.offset).unwrap_or_default()
    }

    /// Moves on by this number of bytes, which end at a character.
    pub fn advance(&mut self, bytes: usize) {
        self.offset += bytes;
    }

    /// Moves past the next character, whatever it is.
    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.next_char()?;
        self.offset += c.len_utf8();
        Some(c)
    }
}

/// The error that one thing was expected and another found.
pub fn expected(expected: &str, found: String) -> SpecErrorKind {
    SpecErrorKind::Expected { expected: expected.to_owned(), found }
}
