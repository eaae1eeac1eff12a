//! An expression that is ready to search.

use fancy_regex::{Captures, Regex, RegexBuilder};

use super::{is_plain, translate};
use crate::text::TextError;

/// How many ways of matching are tried before an expression is given up.
const STEPS: usize = 1_000_000;

/// An expression in the syntax of Python's `re` that is ready to search.
#[derive(Debug, Clone)]
pub(crate) struct PythonRegex {
    source: String,
    exact: Regex,
    on_plain_text: Option<Regex>,
}

impl PythonRegex {
    /// Reads an expression.
    ///
    /// # Errors
    /// One that cannot be read.
    pub(crate) fn new(pattern: &str, ignore_case: bool) -> Result<Self, TextError> {
        let refused = |problem: String| TextError::Pattern { pattern: pattern.to_owned(), problem };
        let translated = translate(pattern, ignore_case).map_err(refused)?;
        let build = |regex: &str| {
            RegexBuilder::new(regex).backtrack_limit(STEPS).build().map_err(|e| refused(e.to_string()))
        };
        let exact = build(&translated.exact)?;
        let on_plain_text = translated.on_plain_text.as_deref().map(build).transpose()?;
        Ok(PythonRegex { source: pattern.to_owned(), exact, on_plain_text })
    }

    /// The first match in a text.
    ///
    /// # Errors
    /// An expression that tries too many ways to match.
    pub(crate) fn search<'t>(&self, text: &'t str) -> Result<Option<Captures<'t, str>>, TextError> {
        let regex = self.on_plain_text.as_ref().filter(|_| is_plain(text)).unwrap_or(&self.exact);
        regex
            .captures(text)
            .map_err(|_| TextError::TooManySteps { pattern: self.source.clone(), bytes: text.len() })
    }

    /// How many groups it has, the whole match not counted.
    pub(crate) fn groups(&self) -> usize {
        self.exact.captures_len().saturating_sub(1)
    }
}
