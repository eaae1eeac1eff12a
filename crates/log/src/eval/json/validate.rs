//! Every byte of a JSON document validated, in pieces: RFC 8259 with the bare `NaN` and `Infinity` of Python.

use ValidatorState as State;
use serde::de::IgnoredAny;

use crate::eval::error::{LogError, LogErrorKind, Result};

/// How deep values may be nested: it takes a byte for each level.
const MAX_DEPTH: usize = 1 << 20;
/// The longest number.
const MAX_NUMBER: usize = 1 << 20;

/// Validates a complete JSON document.
pub(crate) fn validate(json: &[u8]) -> Result<()> {
    let mut validator = Validator::new();
    validator.push(json)?;
    validator.finish()
}

/// Validates a JSON document that comes in pieces.
#[derive(Debug)]
pub(crate) struct Validator {
    state: State,
    /// The brackets that are open.
    open: Vec<u8>,
    /// The number or word that is being read.
    bare: Vec<u8>,
    /// The bytes of a character that is not complete.
    character: Vec<u8>,
    at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValidatorState {
    Value,
    /// A value, or the end of the list.
    FirstItem,
    /// A key, or the end of the object.
    FirstKey,
    Key,
    Colon,
    /// A comma, or the end of what is open.
    After,
    String {
        is_key: bool,
    },
    Escape {
        is_key: bool,
    },
    Hex {
        is_key: bool,
        left: u8,
    },
    /// A number, or a word such as `null`.
    Bare,
}

impl Validator {
    pub(crate) fn new() -> Self {
        let (open, bare, character) = (Vec::new(), Vec::new(), Vec::new());
        Validator { state: State::Value, open, bare, character, at: 0 }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_characters(bytes)?;
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if let State::String { .. } = self.state {
                // Most of a record is strings, and most of them is nothing special.
                let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
                let plain = rest.iter().position(is_special).unwrap_or(rest.len());
                if plain > 0 {
                    self.at += plain as u64;
                    rest = rest.get(plain..).unwrap_or_default();
                    continue;
                }
            }
            self.state = self.step(byte)?;
            self.at += 1;
            rest = after;
        }
        Ok(())
    }

    /// Nothing follows.
    pub(crate) fn finish(&self) -> Result<()> {
        let is_whole = match self.state {
            State::After => true,
            State::Bare => is_number_or_word(&self.bare),
            _ => false,
        };
        if is_whole && self.open.is_empty() { Ok(()) } else { Err(self.error("it ends too early")) }
    }

    fn step(&mut self, byte: u8) -> Result<State> {
        match self.state {
            State::String { is_key } => Ok(match byte {
                b'"' if is_key => State::Colon,
                b'"' => State::After,
                b'\\' => State::Escape { is_key },
                0..0x20 => return Err(self.error("a control character in a string")),
                _ => State::String { is_key },
            }),
            State::Escape { is_key } => match byte {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(State::String { is_key }),
                b'u' => Ok(State::Hex { is_key, left: 4 }),
                _ => Err(self.error(INVALID_ESCAPE)),
            },
            State::Hex { is_key, left } if byte.is_ascii_hexdigit() => match left {
                0 | 1 => Ok(State::String { is_key }),
                _ => Ok(State::Hex { is_key, left: left - 1 }),
            },
            State::Hex { .. } => Err(self.error(INVALID_ESCAPE)),
            State::Bare if is_bare(byte) => {
                if self.bare.len() == MAX_NUMBER {
                    return Err(self.error("a number is too long"));
                }
                self.bare.push(byte);
                Ok(State::Bare)
            }
            State::Bare if is_number_or_word(&self.bare) => self.between(State::After, byte),
            State::Bare => Err(self.error("an invalid number or word")),
            state => self.between(state, byte),
        }
    }

    /// A byte that is part of no string, word or number.
    fn between(&mut self, state: State, byte: u8) -> Result<State> {
        match (state, byte) {
            (state, b' ' | b'\t' | b'\n' | b'\r') => Ok(state),
            (State::FirstItem, b']') => self.closed(b'['),
            (State::Value | State::FirstItem, _) => match byte {
                b'"' => Ok(State::String { is_key: false }),
                b'{' => self.opened(byte, State::FirstKey),
                b'[' => self.opened(byte, State::FirstItem),
                _ if is_bare(byte) => {
                    self.bare.clear();
                    self.bare.push(byte);
                    Ok(State::Bare)
                }
                _ => Err(self.error(UNEXPECTED)),
            },
            (State::FirstKey | State::Key, b'"') => Ok(State::String { is_key: true }),
            (State::FirstKey, b'}') => self.closed(b'{'),
            (State::Colon, b':') => Ok(State::Value),
            (State::After, b',') => match self.open.last() {
                Some(b'{') => Ok(State::Key),
                Some(_) => Ok(State::Value),
                None => Err(self.error("nothing should follow")),
            },
            (State::After, b'}') => self.closed(b'{'),
            (State::After, b']') => self.closed(b'['),
            (State::After, _) if self.open.is_empty() => Err(self.error("nothing should follow")),
            _ => Err(self.error(UNEXPECTED)),
        }
    }

    fn opened(&mut self, bracket: u8, state: State) -> Result<State> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.error("it is nested too deep"));
        }
        self.open.push(bracket);
        Ok(state)
    }

    fn closed(&mut self, bracket: u8) -> Result<State> {
        match self.open.pop() {
            Some(open) if open == bracket => Ok(State::After),
            _ => Err(self.error("a bracket that was not opened")),
        }
    }

    /// Checks that the bytes are UTF-8, with what the last piece left.
    fn check_characters(&mut self, mut bytes: &[u8]) -> Result<()> {
        let start = self.at;
        while !self.character.is_empty() {
            let Some((first, rest)) = bytes.split_first() else { return Ok(()) };
            self.character.push(*first);
            bytes = rest;
            match str::from_utf8(&self.character) {
                Ok(_) => self.character.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(self.error("a byte that is not UTF-8")),
            }
        }
        match str::from_utf8(bytes) {
            Ok(_) => {}
            Err(error) if error.error_len().is_none() => {
                self.character.extend_from_slice(bytes.get(error.valid_up_to()..).unwrap_or_default());
            }
            Err(error) => {
                let problem = "a byte that is not UTF-8".to_owned();
                return Err(LogErrorKind::Json { problem, at: start + error.valid_up_to() as u64 }.into());
            }
        }
        Ok(())
    }

    fn error(&self, problem: &str) -> LogError {
        LogErrorKind::Json { problem: problem.to_owned(), at: self.at }.into()
    }
}

const INVALID_ESCAPE: &str = "an invalid escape sequence";
const UNEXPECTED: &str = "an unexpected character";

/// Whether a byte may be part of a number or a word.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Whether such bytes are a number, or one of the words of JSON and Python.
fn is_number_or_word(bare: &[u8]) -> bool {
    matches!(bare, b"NaN" | b"Infinity" | b"-Infinity") || serde_json::from_slice::<IgnoredAny>(bare).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(bytes: &[u8], piece: usize) -> Result<()> {
        let mut validator = Validator::new();
        for piece in bytes.chunks(piece) {
            validator.push(piece)?;
        }
        validator.finish()
    }

    #[test]
    fn what_is_json_passes() {
        for text in [
            "1",
            "-0.5e+10 ",
            " [ ] ",
            "{}",
            r#"{"a":[1,{"b":null}],"c":"\u00e9\n"}"#,
            "NaN",
            "-Infinity",
            "Infinity",
            "[true,false]",
            "\"é€😀\"",
            "0",
            "[0,0.0,1E5]",
            r#"{"\u00e9":1}"#,
        ] {
            for piece in 1..=text.len() {
                assert!(check(text.as_bytes(), piece).is_ok(), "{text} in pieces of {piece}");
            }
        }
        let deep = [vec![b'['; 10_000], vec![b']'; 10_000]].concat();
        assert!(check(&deep, 100).is_ok());
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let at = |bytes: &[u8]| match check(bytes, 1 << 16).unwrap_err().kind() {
            LogErrorKind::Json { at, .. } => *at,
            other => panic!("{other}"),
        };
        assert_eq!(at(&vec![b'['; MAX_DEPTH + 1]), MAX_DEPTH as u64);
        assert_eq!(at(&vec![b'1'; MAX_NUMBER + 1]), MAX_NUMBER as u64);
    }

    #[test]
    fn a_byte_that_is_not_utf_8_is_reported_with_its_offset() {
        for piece in [100, 3] {
            let error = check(b"[\"abc\xff\"]", piece).unwrap_err();
            assert!(matches!(error.kind(), LogErrorKind::Json { at: 5, .. }), "{error} in pieces of {piece}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "]",
            "[1,]",
            "{\"a\"}",
            "{\"a\":1,}",
            "01",
            "1.",
            "-",
            "1e",
            "nul",
            "NaNx",
            "\"\n\"",
            "\"\u{1f}\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "[}",
            "1 2",
            "[1}",
            "{]",
            "-NaN",
            ",",
            "\"",
        ] {
            for piece in 1..=text.len().max(1) {
                assert!(check(text.as_bytes(), piece).is_err(), "{text} in pieces of {piece}");
            }
        }
        for bytes in [&b"\"\xff\""[..], b"\"\xc3\"", b"\"\xe2\x82\"", b"\"\xed\xa0\x80\""] {
            for piece in 1..=bytes.len() {
                assert!(check(bytes, piece).is_err(), "{bytes:?}");
            }
        }
    }

    proptest! {
        /// Whatever comes, it agrees with another parser.
        #[test]
        fn it_agrees_with_serde_json(text in "[\\[\\]{}\",:0-9eE.+\\-truefalsn\\\\ u]{0,12}", piece in 1_usize..5) {
            let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(check(text.as_bytes(), piece).is_ok(), theirs, "{}", text);
        }
    }
}
