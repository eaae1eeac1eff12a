//! The grammar of what requirements and stopping rules compare figures with.
//!
//! ```text
//! relation    = ">=" | "<=" | ">" | "<" | "==" | "!="
//! limit       = number [ "%" ]
//! ```

use super::cursor::{Parser, expected};
use super::{Arg, SpecError};
use crate::relation::Relation;

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
            _ => return Err(self.error_at(start, expected("a number", "a range".to_owned()))),
        };
        Ok(if self.eat('%') { number / 100.0 } else { number })
    }
}
