//! Strings and numbers as people write them, in Python, JSON or Rust.

use super::cursor::Parser;
use super::{Arg, SpecError, SpecErrorKind};

impl<'a> Parser<'a> {
    /// Whether a string starts right here: in either quote, or raw.
    pub(super) fn at_string(&self) -> bool {
        let rest = self.rest();
        rest.strip_prefix(['r', 'R']).unwrap_or(rest).starts_with(['"', '\''])
    }

    /// A string in either quote, once or three times, or a raw one: `r'…'`. The parser must stand at its start.
    pub fn string(&mut self) -> Result<String, SpecError> {
        let start = self.offset;
        let is_raw = matches!(self.next_char(), Some('r' | 'R'));
        if is_raw {
            self.bump();
        }
        let quote = self.bump();
        // Three quotes begin a string that quotes do not end; two are an empty one.
        let rest = self.rest();
        let mut following = rest.chars();
        let is_tripled = following.next() == quote && following.next() == quote;
        if is_tripled {
            self.bump();
            self.bump();
        }
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(self.error_at(start, SpecErrorKind::Unclosed { what: "string" })),
                c if c == quote && !is_tripled => return Ok(text),
                c if c == quote && self.rest().chars().take(2).filter(|c| Some(*c) == quote).count() == 2 => {
                    self.bump();
                    self.bump();
                    return Ok(text);
                }
                // Backslashes of a raw string stay; one in front of a quote keeps the string from ending there.
                Some('\\') if is_raw => {
                    text.push('\\');
                    text.extend(self.bump());
                }
                Some('\\') => self.escape(&mut text, quote)?,
                Some(c) => text.push(c),
            }
        }
    }

    /// Text up to the next character equal to the one the parser stands at, with escapes resolved.
    pub fn quoted(&mut self, what: &'static str) -> Result<String, SpecError> {
        let start = self.offset;
        let quote = self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(self.error_at(start, SpecErrorKind::Unclosed { what })),
                c if c == quote => return Ok(text),
                Some('\\') => self.escape(&mut text, quote)?,
                Some(c) => text.push(c),
            }
        }
    }

    /// Adds what an escape stands for; the backslash has been read. As in Python, one at the end of a line stands for
    /// nothing, and one that starts no escape stands for itself: `'\d'` needs no second backslash.
    fn escape(&mut self, text: &mut String, quote: Option<char>) -> Result<(), SpecError> {
        let start = self.offset - 1;
        let Some(c) = self.bump() else { return Ok(()) };
        let plain = match c {
            '\n' => return Ok(()),
            '\r' if self.rest().starts_with('\n') => {
                self.bump();
                return Ok(());
            }
            '\\' | '\'' | '"' => Some(c),
            c if Some(c) == quote => Some(c),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            _ => None,
        };
        let code = match c {
            _ if plain.is_some() => plain.map(u32::from),
            '0'..='7' => {
                self.offset -= 1;
                self.code_upto(3, 8)
            }
            'x' => self.code_of(2),
            'u' if self.rest().starts_with('{') => self.code_in_braces(),
            'u' => self.code_of(4).and_then(|code| self.join_surrogates(code)),
            'U' => self.code_of(8),
            // In Python the name of a character follows.
            'N' => None,
            c => {
                text.extend(['\\', c]);
                return Ok(());
            }
        };
        let character = code.and_then(char::from_u32).ok_or_else(|| {
            let escape = self.text.get(start..self.offset).unwrap_or_default().to_owned();
            self.error_at(start, SpecErrorKind::Escape { escape })
                .with_hint("write a backslash itself as \\\\, or the string as r'…'")
        })?;
        text.push(character);
        Ok(())
    }

    /// Exactly `length` hexadecimal digits.
    fn code_of(&mut self, length: usize) -> Option<u32> {
        let start = self.offset;
        let code = self.code_upto(length, 16);
        code.filter(|_| self.offset - start == length)
    }

    /// One to `length` digits.
    fn code_upto(&mut self, length: usize, radix: u32) -> Option<u32> {
        let rest = self.rest();
        let end = rest.chars().take(length).take_while(|c| c.is_digit(radix)).count();
        let code = u32::from_str_radix(rest.get(..end)?, radix).ok()?;
        self.offset += end;
        Some(code)
    }

    /// `{…}`, as Rust writes it.
    fn code_in_braces(&mut self) -> Option<u32> {
        self.offset += 1;
        let code = self.code_upto(6, 16)?;
        self.offset += self.rest().strip_prefix('}').map(|_| 1)?;
        Some(code)
    }

    /// JSON writes characters beyond U+FFFF as two escapes; the first half alone is no character.
    fn join_surrogates(&mut self, high: u32) -> Option<u32> {
        if !(0xd800..0xdc00).contains(&high) {
            return Some(high);
        }
        self.offset += self.rest().strip_prefix("\\u").map(|_| 2)?;
        let low = self.code_of(4).filter(|low| (0xdc00..0xe000).contains(low))?;
        Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
    }

    /// An integer or a float. The parser must stand at a sign, a digit or a point.
    pub fn number(&mut self) -> Result<Arg, SpecError> {
        let start = self.offset;
        let literal = self.number_like();
        if let Some((first, last)) = literal.split_once("..") {
            return self.range(start, first, last);
        }
        let Some(is_float) = is_float(literal) else {
            let literal = shorten(literal);
            return Err(self.error_at(start, SpecErrorKind::Number { literal }));
        };
        let plain = literal.replace('_', "");
        let value = if is_float {
            plain.parse().ok().filter(|value: &f64| value.is_finite()).map(Arg::Float)
        } else {
            plain.parse().ok().map(Arg::Int)
        };
        value.ok_or_else(|| {
            let range = if is_float { "a 64-bit float" } else { "a 64-bit integer" };
            let literal = shorten(literal);
            self.error_at(start, SpecErrorKind::NumberRange { literal, range })
        })
    }

    /// `1..8`; the last number may have a sign, which would end other numbers.
    fn range(&mut self, start: usize, first: &str, last: &str) -> Result<Arg, SpecError> {
        let end = |text: &str| {
            let is_integer = is_float(text) == Some(false);
            text.replace('_', "").parse::<i64>().ok().filter(|_| is_integer)
        };
        match (end(first), end(last)) {
            (Some(first), Some(last)) => Ok(Arg::Range(first, last)),
            _ => {
                let literal = shorten(&format!("{first}..{last}"));
                let error = self.error_at(start, SpecErrorKind::Number { literal });
                Err(error.with_hint("a range is two integers, both included: 1..8"))
            }
        }
    }

    /// Everything up to the next character that could not belong to a number. Letters are included, so that `0x10` is
    /// reported as one wrong number and not as `0` with something behind it.
    fn number_like(&mut self) -> &'a str {
        let mut previous = None;
        let rest = self.rest();
        let end = rest.find(|c: char| {
            let sign = matches!(c, '+' | '-') && matches!(previous, None | Some('e' | 'E' | '.'));
            previous = Some(c);
            !(sign || c == '.' || c == '_' || c.is_alphanumeric())
        });
        let literal = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.offset += literal.len();
        literal
    }
}

/// Whether the literal is a float or an integer, or neither.
fn is_float(literal: &str) -> Option<bool> {
    let unsigned = literal.strip_prefix(['+', '-']).unwrap_or(literal);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_is_fine = exponent.is_none_or(|e| is_digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    let mantissa_is_fine = match mantissa.split_once('.') {
        None => is_digits(mantissa),
        Some((whole, "")) => is_digits(whole),
        Some(("", fraction)) => is_digits(fraction),
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
    };
    let point = mantissa.contains('.') || exponent.is_some();
    (mantissa_is_fine && exponent_is_fine).then_some(point)
}

/// Digits with single underscores between them.
fn is_digits(text: &str) -> bool {
    text.split('_').all(|group| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit()))
}

/// Enough of a literal to recognise it in a message.
fn shorten(literal: &str) -> String {
    const SHOWN: usize = 40;
    match literal.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", literal.get(..end).unwrap_or_default()),
        None => literal.to_owned(),
    }
}
