//! The text of an expression in tokens.

use std::ops::Range;

use errorbar_core::spec::Arg;
use serde_json::Value as Json;

use super::error::{ExpressionError, ExpressionErrorKind};

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind<'t>,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind<'t> {
    Name(&'t str),
    Constant(Json),
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// Longer ones first: `<=` is not `<`.
const SYMBOLS: &[&str] = &[
    "==", "!=", "<=", ">=", "//", "(", ")", "[", "]", ",", ".", ":", "+", "-", "*", "/", "%", "<", ">", "=",
];

/// All tokens of a part of a text, the end included; their places are those in the text.
pub(super) fn tokens(text: &str, part: Range<usize>) -> Result<Vec<Token<'_>>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = part.start;
    loop {
        let rest = text.get(at..part.end).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start().len();
        at += blanks;
        let rest = rest.get(blanks..).unwrap_or_default();
        let (kind, length) = token(rest, at)?;
        tokens.push(Token { kind, span: at..at + length });
        if length == 0 {
            return Ok(tokens);
        }
        at += length;
    }
}

/// The token that a text starts with, and its length.
fn token(rest: &str, at: usize) -> Result<(TokenKind<'_>, usize), ExpressionError> {
    let Some(first) = rest.chars().next() else { return Ok((TokenKind::End, 0)) };
    if let Some(length) = string_length(rest) {
        let length = length.ok_or_else(|| {
            let kind = ExpressionErrorKind::Literal { problem: "a string without its closing quote".into() };
            ExpressionError::new(kind, at..at + rest.len())
        })?;
        return Ok((literal(rest, length, at)?, length));
    }
    if first.is_ascii_digit() || (first == '.' && rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit())) {
        let length = number_length(rest);
        return Ok((literal(rest, length, at)?, length));
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        return Ok((TokenKind::Name(rest.get(..length).unwrap_or_default()), length));
    }
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    symbol.map(|symbol| (TokenKind::Symbol(symbol), symbol.len())).ok_or_else(|| {
        let found = format!("'{}'", first.escape_debug());
        let meant = match first {
            '&' => Some("write `and`"),
            '|' => Some("write `or`; a function is called as lower(x) or x.lower()"),
            '!' => Some("write `not` or `!=`"),
            _ => Some("names with other characters than letters, digits and _ are written col('…')"),
        };
        ExpressionError::expected("a name, a constant or an operator", found, at..at + first.len_utf8())
            .with_hint(meant)
    })
}

/// The length of the string that a text starts with: none if it starts with no string, and nothing in it if the string
/// does not end.
pub(super) fn string_length(text: &str) -> Option<Option<usize>> {
    let body = text.strip_prefix(['r', 'R']).filter(|body| body.starts_with(['"', '\''])).unwrap_or(text);
    let quote = body.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let start = text.len() - body.len() + 1;
    let mut is_escaped = false;
    for (at, c) in text.get(start..)?.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(Some(start + at + 1)),
            _ => {}
        }
    }
    Some(None)
}

/// The length of a number, with its point and its exponent.
fn number_length(text: &str) -> usize {
    let mut previous = ' ';
    let end = text.find(|c: char| {
        let is_sign = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
        previous = c;
        !(is_sign || c == '.' || c == '_' || c.is_alphanumeric())
    });
    end.unwrap_or(text.len())
}

/// A string or a number, as specs write them.
fn literal(rest: &str, length: usize, at: usize) -> Result<TokenKind<'_>, ExpressionError> {
    let text = rest.get(..length).unwrap_or_default();
    let refused =
        |problem: String| ExpressionError::new(ExpressionErrorKind::Literal { problem }, at..at + length);
    match text.parse::<Arg>() {
        Ok(Arg::Str(text)) => Ok(TokenKind::Constant(Json::String(text))),
        Ok(Arg::Int(number)) => Ok(TokenKind::Constant(number.into())),
        Ok(Arg::Float(number)) => Ok(TokenKind::Constant(number.into())),
        Ok(_) => Err(refused(format!("{text} is no number"))),
        Err(error) => Err(refused(error.kind().to_string()).with_hint(error.hint())),
    }
}
