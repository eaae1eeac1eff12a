//! The grammar of the names of estimates, and of what requirements and stopping rules compare them with.
//!
//! ```text
//! path        = word { "/" word } [ "[" selector { "," selector } "]" ]
//! selector    = label [ "=" label ]                                      string, or anything up to "=", "," or "]"
//! relation    = ">=" | "<=" | ">" | "<" | "==" | "!="
//! limit       = number [ "%" ]
//! ```

use std::str::FromStr;

use super::cursor::{Parser, expected};
use super::{Arg, SpecError};
use crate::evaluation::{FigurePath, Selector};
use crate::relation::Relation;

impl FromStr for FigurePath {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, Parser::figure_path)
    }
}

impl Parser<'_> {
    /// The name of an estimate: metric, scorer/metric, metric[key=group].
    ///
    /// # Errors
    /// Something else comes next.
    pub fn figure_path(&mut self) -> Result<FigurePath, SpecError> {
        let mut names = Vec::new();
        loop {
            // A slash belongs to the name: no blanks around it.
            let is_first = names.is_empty();
            if is_first {
                self.skip_blanks();
            }
            if !self.at_word() {
                return Err(self.expected(if is_first {
                    "the name of a metric"
                } else {
                    "a name after '/'"
                }));
            }
            names.push(self.word()?.text);
            if !self.rest().starts_with('/') {
                break;
            }
            self.offset += 1;
        }
        let mut selectors = Vec::new();
        if self.eat('[') {
            self.items(']', "a group", |parser| {
                selectors.push(parser.selector()?);
                Ok(())
            })?;
        }
        Ok(FigurePath { names, selectors })
    }

    fn selector(&mut self) -> Result<Selector, SpecError> {
        let key = self.label("a metadata key")?;
        if !self.eat('=') {
            return Ok(Selector { key, value: None });
        }
        // As in other languages; a group whose name starts with it needs quotes.
        if self.rest().starts_with('=') {
            self.offset += 1;
        }
        Ok(Selector { key, value: Some(self.label("a group after '='")?) })
    }

    /// A string, or everything up to the next delimiter.
    fn label(&mut self, wanted: &str) -> Result<String, SpecError> {
        self.skip_blanks();
        if matches!(self.next_char(), Some('"' | '\'')) {
            return self.string();
        }
        let rest = self.rest();
        let end = rest.find(['=', ',', ']']).unwrap_or(rest.len());
        let label = rest.get(..end).unwrap_or_default().trim_end();
        if label.is_empty() {
            return Err(self.expected(wanted));
        }
        self.offset += end;
        Ok(label.to_owned())
    }

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
            _ => return Err(self.error_at(start, expected("a number", "a range".to_owned()))),
        };
        Ok(if self.eat('%') { number / 100.0 } else { number })
    }
}
