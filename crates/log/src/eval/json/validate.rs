//! Every byte of a JSON text checked, in pieces: RFC 8259 with the bare `NaN` and `Infinity` of Python.

use crate::eval::error::{LogError, LogErrorKind, Result};

/// How deep values may be nested: it takes a byte for each level.
const MAX_DEPTH: usize = 1 << 20;

/// Checks a JSON text that is all there.
pub(crate) fn validate(json: &[u8]) -> Result<()> {
    let mut validator = Validator::new();
    validator.push(json)?;
    validator.finish()
}

/// Checks a JSON text that comes in pieces.
#[derive(Debug)]
pub(in crate::eval) struct Validator {
    state: ValidatorState,
    /// The brackets that are open.
    open: Vec<u8>,
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
    Text {
        is_key: bool,
    },
    Escape {
        is_key: bool,
    },
    Hex {
        is_key: bool,
        left: u8,
    },
    Word(&'static [u8]),
    NumberState(NumberState),
}

/// What of a number was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberState {
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Validator {
    pub(in crate::eval) fn new() -> Self {
        Validator { state: ValidatorState::Value, open: Vec::new(), character: Vec::new(), at: 0 }
    }

    /// Takes the next bytes.
    pub(in crate::eval) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_characters(bytes)?;
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if let ValidatorState::Text { .. } = self.state {
                // Most of a record is texts, and most of them is nothing special.
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
    pub(in crate::eval) fn finish(&self) -> Result<()> {
        let is_whole = match self.state {
            ValidatorState::After => true,
            ValidatorState::NumberState(number) => is_number(number),
            _ => false,
        };
        if is_whole && self.open.is_empty() { Ok(()) } else { Err(self.error("it ends too early")) }
    }

    fn step(&mut self, byte: u8) -> Result<ValidatorState> {
        match self.state {
            ValidatorState::Text { is_key } => Ok(match byte {
                b'"' if is_key => ValidatorState::Colon,
                b'"' => ValidatorState::After,
                b'\\' => ValidatorState::Escape { is_key },
                0..0x20 => return Err(self.error("a control character in a text")),
                _ => ValidatorState::Text { is_key },
            }),
            ValidatorState::Escape { is_key } => match byte {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(ValidatorState::Text { is_key }),
                b'u' => Ok(ValidatorState::Hex { is_key, left: 4 }),
                _ => Err(self.error("an escape that there is not")),
            },
            ValidatorState::Hex { is_key, left } if byte.is_ascii_hexdigit() => match left {
                0 | 1 => Ok(ValidatorState::Text { is_key }),
                _ => Ok(ValidatorState::Hex { is_key, left: left - 1 }),
            },
            ValidatorState::Hex { .. } => Err(self.error("an escape that there is not")),
            ValidatorState::Word(rest) => match rest.split_first() {
                Some((expected, rest)) if *expected == byte => {
                    Ok(if rest.is_empty() { ValidatorState::After } else { ValidatorState::Word(rest) })
                }
                _ => Err(self.error("a word that there is not")),
            },
            ValidatorState::NumberState(number) => match next_of_number(number, byte) {
                Some(next) => Ok(ValidatorState::NumberState(next)),
                // The only word that starts like a number.
                None if number == NumberState::Minus && byte == b'I' => Ok(ValidatorState::Word(b"nfinity")),
                None if is_number(number) => self.between(ValidatorState::After, byte),
                None => Err(self.error("a number that is not whole")),
            },
            state => self.between(state, byte),
        }
    }

    /// A byte that is part of no text, word or number.
    fn between(&mut self, state: ValidatorState, byte: u8) -> Result<ValidatorState> {
        match (state, byte) {
            (state, b' ' | b'\t' | b'\n' | b'\r') => Ok(state),
            (ValidatorState::Value | ValidatorState::FirstItem, b'"') => {
                Ok(ValidatorState::Text { is_key: false })
            }
            (ValidatorState::Value | ValidatorState::FirstItem, b'{') => {
                self.opened(byte, ValidatorState::FirstKey)
            }
            (ValidatorState::Value | ValidatorState::FirstItem, b'[') => {
                self.opened(byte, ValidatorState::FirstItem)
            }
            (ValidatorState::FirstItem, b']') => self.closed(b'['),
            (ValidatorState::Value | ValidatorState::FirstItem, b't') => Ok(ValidatorState::Word(b"rue")),
            (ValidatorState::Value | ValidatorState::FirstItem, b'f') => Ok(ValidatorState::Word(b"alse")),
            (ValidatorState::Value | ValidatorState::FirstItem, b'n') => Ok(ValidatorState::Word(b"ull")),
            (ValidatorState::Value | ValidatorState::FirstItem, b'N') => Ok(ValidatorState::Word(b"aN")),
            (ValidatorState::Value | ValidatorState::FirstItem, b'I') => Ok(ValidatorState::Word(b"nfinity")),
            (ValidatorState::Value | ValidatorState::FirstItem, b'-') => {
                Ok(ValidatorState::NumberState(NumberState::Minus))
            }
            (ValidatorState::Value | ValidatorState::FirstItem, b'0') => {
                Ok(ValidatorState::NumberState(NumberState::Zero))
            }
            (ValidatorState::Value | ValidatorState::FirstItem, b'1'..=b'9') => {
                Ok(ValidatorState::NumberState(NumberState::Digits))
            }
            (ValidatorState::FirstKey | ValidatorState::Key, b'"') => {
                Ok(ValidatorState::Text { is_key: true })
            }
            (ValidatorState::FirstKey, b'}') => self.closed(b'{'),
            (ValidatorState::Colon, b':') => Ok(ValidatorState::Value),
            (ValidatorState::After, b',') => match self.open.last() {
                Some(b'{') => Ok(ValidatorState::Key),
                Some(_) => Ok(ValidatorState::Value),
                None => Err(self.error("nothing should follow")),
            },
            (ValidatorState::After, b'}') => self.closed(b'{'),
            (ValidatorState::After, b']') => self.closed(b'['),
            (ValidatorState::After, _) if self.open.is_empty() => Err(self.error("nothing should follow")),
            _ => Err(self.error("a sign that does not belong here")),
        }
    }

    fn opened(&mut self, bracket: u8, state: ValidatorState) -> Result<ValidatorState> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.error("it is nested too deep"));
        }
        self.open.push(bracket);
        Ok(state)
    }

    fn closed(&mut self, bracket: u8) -> Result<ValidatorState> {
        match self.open.pop() {
            Some(open) if open == bracket => Ok(ValidatorState::After),
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

fn is_number(number: NumberState) -> bool {
    matches!(
        number,
        NumberState::Zero | NumberState::Digits | NumberState::Fraction | NumberState::ExponentDigits
    )
}

fn next_of_number(number: NumberState, byte: u8) -> Option<NumberState> {
    use NumberState as N;
    Some(match (number, byte) {
        (N::Minus, b'0') => N::Zero,
        (N::Minus, b'1'..=b'9') | (N::Digits, b'0'..=b'9') => N::Digits,
        (N::Zero | N::Digits, b'.') => N::Point,
        (N::Point | N::Fraction, b'0'..=b'9') => N::Fraction,
        (N::Zero | N::Digits | N::Fraction, b'e' | b'E') => N::Exponent,
        (N::Exponent, b'+' | b'-') => N::ExponentSign,
        (N::Exponent | N::ExponentSign | N::ExponentDigits, b'0'..=b'9') => N::ExponentDigits,
        _ => return None,
    })
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
    fn what_is_nested_without_end_is_refused() {
        let error = check(&vec![b'['; MAX_DEPTH + 1], 1 << 16).unwrap_err().to_string();
        assert!(error.contains("nested too deep"), "{error}");
    }

    #[test]
    fn a_byte_that_is_not_utf_8_is_told_with_its_place() {
        for (piece, place) in [(100, "at byte 5"), (3, "at byte 5")] {
            let error = check(b"[\"abc\xff\"]", piece).unwrap_err().to_string();
            assert!(error.contains(place), "{error} in pieces of {piece}");
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
