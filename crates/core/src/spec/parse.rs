//! From text to specs: a recursive descent over characters.

use std::str::FromStr;

use indexmap::IndexMap;
use indexmap::map::Entry;

use super::cursor::{Parser, Word, expected};
use super::names::starts_word;
use super::{Arg, MAX_DEPTH, Spec, SpecError, SpecErrorKind};

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
        let mut parser = Self { text, offset: 0, depth: 0 };
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
        self.spec_named(first)
    }

    /// The rest of a spec whose first word has been read.
    fn spec_named(&mut self, first: Word) -> Result<Spec, SpecError> {
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
        if self.eat('(') {
            self.items(')', "an argument", |parser| parser.argument(&mut spec))?;
        }
        Ok(spec)
    }

    /// Whether a colon and a word follow, without blanks: `module:name`.
    fn at_import(&self) -> bool {
        self.rest().strip_prefix(':').is_some_and(|rest| rest.starts_with(starts_word))
    }

    fn argument(&mut self, spec: &mut Spec) -> Result<(), SpecError> {
        let start = self.skip_blanks();
        if let Some(name) = self.keyword()? {
            let value = self.value()?;
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
        let value = self.value()?;
        if let Some((keyword, _)) = spec.kwargs.last() {
            let keyword = keyword.clone();
            return Err(self.error_at(start, SpecErrorKind::PositionalAfterKeyword { keyword }));
        }
        spec.args.push(value);
        Ok(())
    }

    /// `name =`, or nothing at all: then the parser has not moved.
    fn keyword(&mut self) -> Result<Option<String>, SpecError> {
        let start = self.offset;
        if self.at_word() {
            let word = self.word()?;
            if !word.is_literal() && self.eat('=') {
                return Ok(Some(word.text));
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
            Some('[') => {
                let mut list = Vec::new();
                self.offset += 1;
                self.items(']', "a list item", |parser| {
                    list.push(parser.value()?);
                    Ok(())
                })?;
                Ok(Arg::List(list))
            }
            Some('{') => self.map(Self::value).map(Arg::Map),
            Some(_) if self.at_word() => {
                let word = self.word()?;
                match word.text.as_str() {
                    "true" | "True" if !word.quoted => Ok(Arg::Bool(true)),
                    "false" | "False" if !word.quoted => Ok(Arg::Bool(false)),
                    "null" | "None" if !word.quoted => Ok(Arg::Null),
                    _ => self.spec_named(word).map(Arg::Spec),
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
                    let key = entry.key().clone();
                    Err(parser.error_at(start, SpecErrorKind::KeyGivenTwice { key }))
                }
            }
        })?;
        Ok(map)
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
            return Err(self.error_at(opening, SpecErrorKind::TooDeep { limit: MAX_DEPTH }));
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
