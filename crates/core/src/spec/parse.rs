//! From text to specs: a recursive descent over characters.

use std::ops::Range;
use std::str::FromStr;

use indexmap::IndexMap;
use indexmap::map::Entry;

use super::error::expected;
use super::{Arg, MAX_DEPTH, Spec, SpecError, SpecErrorKind, continues_word, is_reserved, starts_word};
use crate::condition::Relation;

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, Parser::spec)
    }
}

impl FromStr for Arg {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, Parser::value)
    }
}

impl<'a> Parser<'a> {
    /// Reads the whole input as one thing.
    pub fn whole<T>(
        text: &'a str,
        read: impl FnOnce(&mut Self) -> Result<T, SpecError>,
    ) -> Result<T, SpecError> {
        let mut parser = Self { text, offset: 0, depth: 0, places: Vec::new(), within: 0 };
        let thing = read(&mut parser)?;
        match parser.peek() {
            None => Ok(thing),
            Some(_) => Err(parser.expected("the end of the input")),
        }
    }

    /// `name`, `package/name`, `module:name`, each with or without arguments.
    pub(super) fn spec(&mut self) -> Result<Spec, SpecError> {
        let start = self.skip_blanks();
        let first = match self.peek() {
            Some(_) if self.at_word() => self.word()?,
            Some('"' | '\'') => {
                return Err(self.expected("a name").with_hint("names are written without quotes"));
            }
            _ => return Err(self.expected("a name")),
        };
        if first.is_literal() {
            return Err(self.error_at(start, expected("a name", format!("'{}'", first.text))));
        }
        self.spec_named(first, start)
    }

    /// The rest of a spec whose first word has been read, which starts here.
    fn spec_named(&mut self, first: Word, start: usize) -> Result<Spec, SpecError> {
        // The slash belongs to the name: no blanks around it.
        let (package, name) = if self.rest().starts_with('/') {
            self.offset += 1;
            match self.next_char() {
                Some(_) if self.at_word() => (Some(first.text), self.word()?.text),
                _ => return Err(self.expected("a name after the package")),
            }
        } else if self.at_import() {
            self.offset += 1;
            (None, format!("{}:{}", first.text, self.word()?.text))
        } else {
            (None, first.text)
        };
        let mut spec = Spec { package, name, args: Vec::new(), kwargs: IndexMap::new() };
        let at = self.places.len();
        let is_outer = self.within == 0;
        self.places.push(SpecPlace { name: start..self.offset, is_outer, arguments: Vec::new() });
        if self.eat('(') {
            self.within += 1;
            self.items(')', "an argument", |parser| parser.argument(&mut spec, at))?;
            self.within -= 1;
        }
        Ok(spec)
    }

    /// Whether a colon and a word follow, without blanks: `module:name`.
    fn at_import(&self) -> bool {
        self.rest().strip_prefix(':').is_some_and(|rest| rest.starts_with(starts_word))
    }

    /// An argument of a spec, whose places are at this number.
    fn argument(&mut self, spec: &mut Spec, at: usize) -> Result<(), SpecError> {
        let start = self.skip_blanks();
        let keyword = self.keyword()?;
        let from = self.skip_blanks();
        let value = self.value()?;
        let to = from + self.since(from).trim_end().len();
        if let Some(place) = self.places.get_mut(at) {
            place.arguments.push((keyword.as_ref().map(|(_, end)| start..*end), from..to));
        }
        if let Some((name, _)) = keyword {
            return match spec.kwargs.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                    Ok(())
                }
                Entry::Occupied(entry) => {
                    let argument = entry.key().clone();
                    let spec = spec.name.clone();
                    let parameters = Vec::new();
                    let kind = SpecErrorKind::ArgumentGivenTwice { spec, argument, parameters };
                    Err(self.error_at(start, kind))
                }
            };
        }
        if let Some((keyword, _)) = spec.kwargs.last() {
            return Err(self.error_at(
                start,
                SpecErrorKind::Syntax(format!("positional argument after keyword argument '{keyword}'")),
            ));
        }
        spec.args.push(value);
        Ok(())
    }

    /// `name =` and where the name ends, or nothing at all: then the parser has not moved.
    fn keyword(&mut self) -> Result<Option<(String, usize)>, SpecError> {
        let start = self.offset;
        if self.at_word() {
            let word = self.word()?;
            let end = self.offset;
            if !word.is_literal() && self.eat('=') {
                return Ok(Some((word.text, end)));
            }
            if !self.at_import() && self.peek() == Some(':') {
                let error = self.expected("',' or ')' after an argument");
                return Err(error.with_hint("keyword arguments are written name=value"));
            }
        }
        self.offset = start;
        Ok(None)
    }

    fn value(&mut self) -> Result<Arg, SpecError> {
        match self.peek() {
            Some(_) if self.at_string() => self.string().map(Arg::Str),
            Some('0'..='9' | '+' | '-' | '.') => self.number(),
            Some('[') => self.list("a list item", Self::value).map(Arg::List),
            Some('{') => self.map(Self::value).map(Arg::Map),
            Some(_) if self.at_word() => {
                let start = self.offset;
                let word = self.word()?;
                match word.text.as_str() {
                    "true" | "True" if !word.quoted => Ok(Arg::Bool(true)),
                    "false" | "False" if !word.quoted => Ok(Arg::Bool(false)),
                    "null" | "None" if !word.quoted => Ok(Arg::Null),
                    _ => self.spec_named(word, start).map(Arg::Spec),
                }
            }
            Some('“' | '”' | '‘' | '’') => {
                Err(self.expected("a value").with_hint("use straight quotes: \"…\" or '…'"))
            }
            _ => Err(self.expected("a value")),
        }
    }

    /// `{"key": …, …}`, with the opening brace still to be read.
    pub(super) fn map<T>(
        &mut self,
        value: impl Fn(&mut Self) -> Result<T, SpecError>,
    ) -> Result<IndexMap<String, T>, SpecError> {
        let mut map = IndexMap::new();
        self.offset += 1;
        self.items('}', "a map entry", |parser| {
            let start = parser.skip_blanks();
            if !parser.at_string() {
                return Err(parser.expected("a key in quotes"));
            }
            let key = parser.string()?;
            if !parser.eat(':') {
                return Err(parser.expected("':' after a key"));
            }
            let value = value(parser)?;
            match map.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                    Ok(())
                }
                Entry::Occupied(entry) => {
                    let problem = format!("the key '{}' is given twice", entry.key());
                    Err(parser.error_at(start, SpecErrorKind::Syntax(problem)))
                }
            }
        })?;
        Ok(map)
    }

    /// `[…]`, with the opening bracket still to be read.
    pub(super) fn list<T>(
        &mut self,
        item_name: &str,
        item: impl Fn(&mut Self) -> Result<T, SpecError>,
    ) -> Result<Vec<T>, SpecError> {
        let mut list = Vec::new();
        self.offset += 1;
        self.items(']', item_name, |parser| {
            list.push(item(parser)?);
            Ok(())
        })?;
        Ok(list)
    }

    /// Items with commas between them and perhaps after them, up to and including `close`. All nesting passes through
    /// here, so this is where depth is counted.
    pub fn items(
        &mut self,
        close: char,
        item_name: &str,
        mut item: impl FnMut(&mut Self) -> Result<(), SpecError>,
    ) -> Result<(), SpecError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let opening = self.offset.saturating_sub(1);
            return Err(self.error_at(opening, SpecErrorKind::too_deep()));
        }
        while !self.eat(close) {
            item(self)?;
            if !self.eat(',') && self.peek() != Some(close) {
                return Err(self.expected(&format!("',' or '{close}' after {item_name}")));
            }
        }
        self.depth -= 1;
        Ok(())
    }
}

// The reader's place in the text, and the smallest things it can read there.

/// A place in the text. What follows it is the rest to be read; errors point at it.
pub struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) offset: usize,
    pub(super) depth: usize,
    /// The specs read so far, each before those in it.
    places: Vec<SpecPlace>,
    /// In how many specs this place is.
    within: usize,
}

/// Where in a text a spec and its arguments stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecPlace {
    /// The name, with its package.
    pub name: Range<usize>,
    /// Whether it stands in no other spec.
    pub is_outer: bool,
    /// The name of each argument, if it was passed by name, and its value.
    pub arguments: Vec<(Option<Range<usize>>, Range<usize>)>,
}

impl SpecPlace {
    /// The specs of a text that is a [`MetricsSpec`](super::MetricsSpec), each before those in it; none of another text.
    ///
    /// ```
    /// use errorbar_core::spec::SpecPlace;
    ///
    /// let places = SpecPlace::all("[mean, grouped(std(), by='x')]");
    /// assert_eq!(places[1].name, 7..14);
    /// assert_eq!(places[1].arguments, [(None, 15..20), (Some(22..24), 25..28)]);
    /// assert!(places[1].is_outer && !places[2].is_outer);
    /// ```
    pub fn all(text: &str) -> Vec<SpecPlace> {
        let read = |parser: &mut Parser<'_>| {
            parser.metrics()?;
            Ok(std::mem::take(&mut parser.places))
        };
        Parser::whole(text, read).unwrap_or_default()
    }
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
                return Err(self.error_at(start, expected("a name", "an empty one")));
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

// Strings and numbers as people write them, in Python, JSON or Rust.

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
        self.quoted_from(start, "string", is_raw)
    }

    /// Text up to the next character equal to the one the parser stands at, with escapes resolved.
    pub fn quoted(&mut self, what: &str) -> Result<String, SpecError> {
        self.quoted_from(self.offset, what, false)
    }

    fn quoted_from(&mut self, start: usize, what: &str, is_raw: bool) -> Result<String, SpecError> {
        let quote = self.bump();
        // Three quotes begin a string that quotes do not end; two are an empty one.
        let is_tripled =
            what == "string" && self.rest().chars().take(2).filter(|c| Some(*c) == quote).count() == 2;
        if is_tripled {
            self.bump();
            self.bump();
        }
        let mut text = String::new();
        loop {
            match self.bump() {
                None => {
                    let problem = format!("this {what} is never closed");
                    return Err(self.error_at(start, SpecErrorKind::Syntax(problem)));
                }
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
            let escape = self.text.get(start..self.offset).unwrap_or_default();
            self.error_at(start, SpecErrorKind::Syntax(format!("'{escape}' is not an escape sequence")))
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
            return Err(self.no_number(start, literal));
        };
        let plain = literal.replace('_', "");
        let value = if is_float {
            plain.parse().ok().filter(|value: &f64| value.is_finite()).map(Arg::Float)
        } else {
            plain.parse().ok().map(Arg::Int)
        };
        value.ok_or_else(|| {
            let range = if is_float { "a 64-bit float" } else { "a 64-bit integer" };
            let problem = format!("{} does not fit {range}", shorten(literal));
            self.error_at(start, SpecErrorKind::Syntax(problem))
        })
    }

    fn no_number(&self, start: usize, literal: &str) -> SpecError {
        self.error_at(start, SpecErrorKind::Syntax(format!("'{}' is not a number", shorten(literal))))
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
                let error = self.no_number(start, &format!("{first}..{last}"));
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

// The grammar of what requirements and stopping rules compare figures with.
//
// ```text
// relation    = ">=" | "<=" | ">" | "<" | "==" | "!="
// limit       = number [ "%" ]
// ```

impl Parser<'_> {
    /// A relation.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn relation(&mut self) -> Result<Relation, SpecError> {
        self.skip_blanks();
        let found =
            Relation::at_start_of(self.rest()).filter(|(relation, length)| relation.text().len() == *length);
        match found {
            Some((relation, length)) => {
                self.advance(length);
                Ok(relation)
            }
            None => {
                let error = self.expected("one of >=, <=, >, <, ==, !=");
                Err(match self.next_char() {
                    Some('=') if self.rest().starts_with("=>") || self.rest().starts_with("=<") => {
                        error.with_hint("write >= or <=")
                    }
                    Some('=') => error.with_hint("equality is written =="),
                    Some('≥' | '≤') => error.with_hint("write >= or <="),
                    None => error.with_hint("a requirement compares a figure with a number: accuracy >= 0.8"),
                    _ => error,
                })
            }
        }
    }

    /// What a figure is compared with: a number, or a percentage.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn limit(&mut self) -> Result<f64, SpecError> {
        let start = self.skip_blanks();
        if !matches!(self.next_char(), Some('0'..='9' | '+' | '-' | '.')) {
            return Err(self.expected("a number"));
        }
        let number = match self.number()? {
            Arg::Int(number) => number as f64,
            Arg::Float(number) => number,
            _ => return Err(self.error_at(start, expected("a number", "a range"))),
        };
        Ok(if self.eat('%') { number / 100.0 } else { number })
    }
}
