//! Expressions over the fields of a record, as `[dataset]` of a task file has them.
//!
//! A subset of Python's expressions, read by our own parser. Engines were looked at: with minijinja an unknown function,
//! filter or key and a wrong number of arguments show only when they are evaluated (its syntax tree is no public API), and
//! it has no comprehensions; cel and jaq write the same things in another way (`&&`, `;`, no single quotes). Here every
//! name is known when an expression is read, and values are those of the record, not copies.

mod evaluate;
mod functions;
mod literal;
mod names;
mod parser;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use errorbar_core::spec::nearest;
use serde_json::Value as Json;

pub(crate) use evaluate::{entry_bytes, json_bytes, shown};
pub(crate) use names::Tables;

use self::evaluate::Evaluation;
use self::names::Names;
use self::parser::{Node, NodeKind, Parser};
use crate::template::{Braces, ParsedTemplate, TemplatePiece};

/// The most bytes of an expression, or of a template.
const LONGEST: usize = 64 << 10;

/// An expression over the fields of a record, ready to be evaluated.
///
/// A text that is the name of a column is that column; one with `{` is a template, with an expression in each pair of
/// braces; any other is an expression. `docs/expressions.md` describes what expressions can do.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    text: String,
    node: Node,
}

impl Expression {
    /// Reads an expression over records that have these columns, with lookup tables.
    ///
    /// # Errors
    /// Everything that is wrong with it: unknown columns and functions, arguments, syntax.
    pub(crate) fn parse(
        text: &str,
        columns: &HashSet<&str>,
        tables: &Tables,
    ) -> Result<Self, InvalidExpression> {
        let invalid = |problems: Vec<ExpressionError>| InvalidExpression { text: text.to_owned(), problems };
        let mut names = Names::new(columns, tables);
        let parsed = match columns.contains(text) {
            true => Ok(Node { kind: names.column(text, 0..text.len(), true), span: 0..text.len() }),
            false => read(text, &mut names),
        };
        let Names { columns: used, mut problems, .. } = names;
        let node = match parsed {
            Ok(node) if problems.is_empty() => {
                return Ok(Expression { text: text.to_owned(), node });
            }
            Ok(node) => Some(node),
            Err(error) => {
                problems.push(error);
                None
            }
        };
        // `Questoin (en)` is a mistyped column, not the call of a function.
        let is_plain_name =
            node.is_some_and(|node| matches!(node.kind, NodeKind::Column(name) if name == text));
        let is_expression = is_plain_name || used.iter().any(|column| columns.contains(column.as_str()));
        let mut known: Vec<&str> = columns.iter().copied().collect();
        known.sort_unstable();
        let length = text.chars().count();
        let near = nearest(text, known).filter(|near| near.chars().count().abs_diff(length) <= length / 3);
        if let Some(near) = near.filter(|_| !is_expression && !text.contains('{')) {
            let problem = ExpressionError::unknown_column(text).at(0..text.len());
            return Err(invalid(vec![problem.hint(format!("did you mean `{near}`?"))]));
        }
        problems.sort_by_key(|problem| problem.span.start);
        Err(invalid(problems))
    }

    /// The columns that a text would need, whatever columns there are; none if it is no expression.
    pub(crate) fn possible_columns(text: &str, tables: &Tables) -> Option<Vec<String>> {
        let mut names = Names::open(tables);
        read(text, &mut names).ok().map(|_| names.columns)
    }

    /// The text that it was read from.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is nothing but a column.
    pub(crate) fn is_column(&self) -> bool {
        matches!(&self.node.kind, NodeKind::Column(name) if *name == self.text)
    }

    /// Its value for a record, which may be a part of the record.
    ///
    /// # Errors
    /// A field, a key or an item that the record lacks, and values that cannot be used like this.
    pub(crate) fn eval<'v>(
        &'v self,
        field: impl Fn(&str) -> Option<&'v Json>,
    ) -> Result<Cow<'v, Json>, ExpressionError> {
        Evaluation::new(&self.text, field).value(&self.node)
    }
}

/// Reads a template or an expression.
fn read(text: &str, names: &mut Names<'_>) -> Result<Node, ExpressionError> {
    match text.contains('{') {
        _ if text.len() > LONGEST => Err(ExpressionError::too_complex(0..text.len())),
        true => template(text, names),
        false => Parser::whole(text, 0..text.len(), names),
    }
}

/// Reads a text with expressions in braces. One that is nothing but a pair of braces gives the value in them as it is.
fn template(text: &str, names: &mut Names<'_>) -> Result<Node, ExpressionError> {
    let read = |braces: Braces<'_>| match braces {
        Braces::Pair(inside, place) => in_braces(text, inside.trim(), place, names).map(Some),
        Braces::Alone(rest, at) => {
            let brace = rest.get(..1).unwrap_or_default();
            let problem = ExpressionError::new(format!("'{brace}' without its partner")).at(at..at + 1);
            Err(problem.hint("braces that should stay are written {{ and }}"))
        }
    };
    let part = |piece| match piece {
        TemplatePiece::Text(text) if text.is_empty() => None,
        TemplatePiece::Text(text) => Some(Node { kind: NodeKind::Constant(Json::String(text)), span: 0..0 }),
        TemplatePiece::Field(node) => Some(node),
    };
    let pieces = ParsedTemplate::parse(text, end_of_braces, read)?.into_pieces();
    let mut parts: Vec<Node> = pieces.into_iter().filter_map(part).collect();
    match parts.len() {
        1 => parts.pop().ok_or_else(|| ExpressionError::too_complex(0..text.len())),
        _ => Ok(Node { kind: NodeKind::Text(parts), span: 0..text.len() }),
    }
}

/// Where braces end: a brace in a string is none.
fn end_of_braces(inside: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = inside.get(at..)?;
        at += match rest.chars().next()? {
            '}' => return Some(at),
            '"' | '\'' => match parser::string_length(rest) {
                Some(Some(length)) => length,
                // The string is reported; it ends with the braces.
                _ => return inside.find('}'),
            },
            c => c.len_utf8(),
        };
    }
}

/// The expression in a pair of braces.
fn in_braces(
    text: &str,
    inside: &str,
    place: Range<usize>,
    names: &mut Names<'_>,
) -> Result<Node, ExpressionError> {
    let advice = "a value with { is a template, with an expression in each pair of braces; \
                  braces that should stay are written {{ and }}";
    let before = names.problems.len();
    let parsed = Parser::whole(text, place.clone(), names);
    let is_wrong = parsed.is_err() || names.problems.len() > before;
    if is_wrong && names.is_column(inside) {
        names.problems.truncate(before);
        let problem = format!("`{inside}` is a column, but its name is no expression");
        let hint = format!("write col({})", errorbar_core::python_text::str_repr(inside));
        names.problems.push(ExpressionError::new(problem).at(place.clone()).hint(hint));
        return Ok(Node { kind: NodeKind::Constant(Json::Null), span: place });
    }
    parsed.map_err(|error| match &error.hint {
        Some(_) => error,
        None => error.hint(advice),
    })
}

/// An expression that cannot be used: everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", in_one_line(text, problems))]
#[non_exhaustive]
pub struct InvalidExpression {
    /// The text of the expression.
    pub text: String,
    /// At least one, in the order of the text.
    pub problems: Vec<ExpressionError>,
}

/// One thing that is wrong with an expression, or with the value that it should give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
#[non_exhaustive]
pub struct ExpressionError {
    /// What is wrong.
    pub kind: ExpressionErrorKind,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What would be right, where that is known.
    pub hint: Option<String>,
}

/// The kinds of errors of expressions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionErrorKind {
    /// A name that is no column.
    #[error("no field `{name}`")]
    UnknownColumn {
        /// The name.
        name: String,
    },
    /// A field, a key or an item that this record does not have.
    #[error("there is no {0}")]
    Missing(String),
    /// Anything else that is wrong with the text or a value.
    #[error("{0}")]
    Other(String),
}

impl ExpressionError {
    fn of_kind(kind: ExpressionErrorKind) -> Self {
        ExpressionError { kind, span: 0..0, hint: None }
    }

    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self::of_kind(ExpressionErrorKind::Other(problem.into()))
    }

    fn missing(what: impl Into<String>) -> Self {
        Self::of_kind(ExpressionErrorKind::Missing(what.into()))
    }

    fn unknown_column(name: &str) -> Self {
        Self::of_kind(ExpressionErrorKind::UnknownColumn { name: name.to_owned() })
    }

    fn too_complex(span: Range<usize>) -> Self {
        Self::new("the expression is too long or nested too deep").at(span)
    }

    fn too_large() -> Self {
        Self::new("the expression makes too large a value of this record, or takes too many steps")
    }

    pub(crate) fn at(self, span: Range<usize>) -> Self {
        ExpressionError { span, ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        ExpressionError { hint: Some(hint.into()), ..self }
    }

    /// Whether a value is absent, for which `default` gives another.
    fn is_missing(&self) -> bool {
        matches!(self.kind, ExpressionErrorKind::Missing(_))
    }
}

fn in_one_line(text: &str, problems: &[ExpressionError]) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).collect();
    shown.extend(text.chars().nth(SHOWN).map(|_| '…'));
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    format!("in {shown:?}: {}", problems.join("; "))
}
