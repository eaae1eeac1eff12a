//! The grammar of requirements, and of the names of estimates.
//!
//! ```text
//! requirement = figure relation number [ "%" ]
//! figure      = path | part "(" path ")"
//! part        = "lower" | "upper" | "stderr" | "width" | "n" | "absent"
//! path        = word { "/" word } [ "[" selector { "," selector } "]" ]
//! selector    = label [ "=" label ]                                      string, or anything up to "=", "," or "]"
//! relation    = ">=" | "<=" | ">" | "<" | "==" | "!="
//! ```

use std::str::FromStr;

use super::cursor::{Parser, expected};
use super::{Arg, SpecError, nearest};
use crate::evaluation::{FigurePath, Selector};
use crate::requirement::{EstimatePart, Relation, Requirement};

const NO_ARGUMENTS: &str =
    "a metric is named without arguments: accuracy; a group of it is accuracy[category=law]";

impl FromStr for FigurePath {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, Parser::figure_path)
    }
}

impl FromStr for Requirement {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, Parser::requirement)
    }
}

impl Parser<'_> {
    fn requirement(&mut self) -> Result<Requirement, SpecError> {
        if matches!(self.peek(), Some('0'..='9' | '+' | '-' | '.')) {
            let error = self.expected("the name of a figure");
            return Err(error.with_hint("the figure comes first: accuracy >= 0.8"));
        }
        let (part, path) = self.figure()?;
        let relation = self.relation()?;
        let limit = self.limit()?;
        Ok(Requirement { part, path, relation, limit })
    }

    fn figure(&mut self) -> Result<(EstimatePart, FigurePath), SpecError> {
        let start = self.skip_blanks();
        let path = self.figure_path()?;
        if self.peek() != Some('(') {
            return Ok((EstimatePart::Value, path));
        }
        let part = match path.names() {
            [name] => EstimatePart::named(name),
            _ => None,
        };
        let Some(part) = part else {
            let parts: Vec<&str> = EstimatePart::ALL.iter().filter_map(|part| part.name()).collect();
            let found = self.text.get(start..self.offset).unwrap_or_default();
            let wanted = format!("one of {} before a parenthesis", parts.join(", "));
            let kind = expected(&wanted, format!("'{}'", found.trim_end()));
            let hint = match nearest(found.trim_end(), parts) {
                Some(near) => format!("did you mean `{near}`?"),
                None => NO_ARGUMENTS.to_owned(),
            };
            return Err(self.error_at(start, kind).with_hint(hint));
        };
        self.eat('(');
        let path = self.figure_path()?;
        if !self.eat(')') {
            let error = self.expected("')' after the name of a metric");
            return Err(match self.next_char() {
                Some('(') => error.with_hint("a metric is named without arguments: lower(accuracy)"),
                _ => error,
            });
        }
        Ok((part, path))
    }

    fn figure_path(&mut self) -> Result<FigurePath, SpecError> {
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

    fn relation(&mut self) -> Result<Relation, SpecError> {
        self.skip_blanks();
        // The longer ones first: `>=` starts with `>`.
        let found = Relation::ALL.into_iter().find(|relation| self.rest().starts_with(relation.text()));
        match found {
            Some(relation) => {
                self.offset += relation.text().len();
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

    fn limit(&mut self) -> Result<f64, SpecError> {
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
