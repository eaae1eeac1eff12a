//! The grammar of the names of estimates.
//!
//! ```text
//! path        = word { "/" word } [ "[" selector { "," selector } "]" ]
//! selector    = label [ "=" label ]                                      string, or anything up to "=", "," or "]"
//! ```

use std::str::FromStr;

use super::SpecError;
use super::cursor::Parser;
use crate::evaluation::{FigurePath, Selector};

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
}
