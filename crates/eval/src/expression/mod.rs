//! Expressions over the fields of a record, as `[dataset]` of a task file has them.
//!
//! A subset of Python's expressions, read by our own parser. Engines were looked at: with minijinja an unknown function,
//! filter or key and a wrong number of arguments show only when they are evaluated (its syntax tree is no public API), and
//! it has no comprehensions; cel and jaq write the same things in another way (`&&`, `;`, no single quotes). Here every
//! name is known when an expression is read, and values are those of the record, not copies.

mod error;
mod evaluate;
mod functions;
mod lexer;
mod names;
mod node;
mod parser;
#[cfg(test)]
mod tests;
mod value;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use errorbar_core::spec::nearest;
use serde_json::Value as Json;

pub use error::{ExpressionError, ExpressionErrorKind, InvalidExpression};
pub(crate) use names::Tables;
pub(crate) use value::shown;

use self::evaluate::Evaluation;
use self::names::Names;
use self::node::{Node, NodeKind};
use self::parser::Parser;
use crate::Record;
use crate::template::{FieldSyntax, ParsedTemplate, TemplatePiece};

/// The most bytes of an expression, or of a template.
const LONGEST: usize = 64 << 10;

/// An expression over the fields of a record, ready to be evaluated.
///
/// A text that is the name of a column is that column; one with `{` is a template, with an expression in each pair of
/// braces; any other is an expression. `docs/expressions.md` describes what expressions can do.
///
/// ```
/// use errorbar_eval::{Dataset, Expression, json_dataset};
/// let columns = ["question", "choices", "answer"];
/// assert_eq!(Expression::parse("letter(answer)", &columns)?.columns(), ["answer"]);
/// assert_eq!(Expression::parse("{question}\n{choices[0]}", &columns)?.columns(), ["question", "choices"]);
///
/// let wrong = Expression::parse("leter(anwser)", &columns).unwrap_err();
/// assert_eq!(wrong.problems[0].to_string(), "no function `leter`; did you mean `letter`?");
/// assert_eq!(wrong.problems[1].to_string(), "no field `anwser`; did you mean `answer`?");
/// # Ok::<(), errorbar_eval::InvalidExpression>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    node: Node,
    columns: Vec<String>,
}

impl Expression {
    /// Reads an expression over records that have these columns.
    ///
    /// # Errors
    /// Everything that is wrong with it: unknown columns and functions, arguments, syntax.
    pub fn parse(text: &str, columns: &[impl AsRef<str>]) -> Result<Self, InvalidExpression> {
        static NO_TABLES: LazyLock<Tables> = LazyLock::new(Tables::default);
        Expression::parse_with(text, &columns.iter().map(AsRef::as_ref).collect(), &NO_TABLES)
    }

    /// The same with lookup tables.
    pub(crate) fn parse_with(
        text: &str,
        columns: &HashSet<&str>,
        tables: &Tables,
    ) -> Result<Self, InvalidExpression> {
        let invalid = |problems: Vec<ExpressionError>| InvalidExpression { text: text.to_owned(), problems };
        let mut names = Names::new(columns, tables);
        let parsed = match () {
            () if columns.contains(text) => {
                Ok(Node { kind: names.column(text, 0..text.len(), true), span: 0..text.len() })
            }
            () if text.len() > LONGEST => {
                Err(ExpressionError::new(ExpressionErrorKind::TooComplex, 0..text.len()))
            }
            () if text.contains('{') => template(text, &mut names),
            () => Parser::whole(text, 0..text.len(), &mut names),
        };
        let Names { columns: used, mut problems, .. } = names;
        let node = match parsed {
            Ok(node) if problems.is_empty() => {
                return Ok(Expression { text: text.to_owned(), node, columns: used });
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
            let kind = ExpressionErrorKind::UnknownColumn { name: text.to_owned() };
            let hint = format!("did you mean `{near}`?");
            return Err(invalid(vec![ExpressionError::new(kind, 0..text.len()).with_hint(Some(hint))]));
        }
        problems.sort_by_key(|problem| problem.span.start);
        Err(invalid(problems))
    }

    /// The columns that a text would need, whatever columns there are; none if it is no expression.
    pub(crate) fn possible_columns(text: &str, tables: &Tables) -> Option<Vec<String>> {
        let mut names = Names::open(tables);
        let parsed = match text.contains('{') {
            _ if text.len() > LONGEST => return None,
            true => template(text, &mut names),
            false => Parser::whole(text, 0..text.len(), &mut names),
        };
        parsed.ok().map(|_| names.columns)
    }

    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The columns that it needs, in the order of their first use.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Whether it is nothing but a column.
    pub(crate) fn is_column(&self) -> bool {
        matches!(&self.node.kind, NodeKind::Column(name) if *name == self.text)
    }

    /// Its value for a record, which may be a part of the record.
    ///
    /// # Errors
    /// A field, a key or an item that the record lacks, and values that cannot be used like this.
    pub fn eval<'v>(&'v self, record: &'v Record) -> Result<std::borrow::Cow<'v, Json>, ExpressionError> {
        Evaluation::new(&self.text, record).value(&self.node)
    }
}

/// Reads a text with expressions in braces. One that is nothing but a pair of braces gives the value in them as it is.
fn template(text: &str, names: &mut Names<'_>) -> Result<Node, ExpressionError> {
    let mut pieces = ParsedTemplate::parse(text, &mut InBraces { text, names })?.into_pieces();
    pieces.retain(|piece| !matches!(piece, TemplatePiece::Text(text) if text.is_empty()));
    let mut parts: Vec<Node> = pieces
        .into_iter()
        .map(|piece| match piece {
            TemplatePiece::Text(text) => Node { kind: NodeKind::Constant(Json::String(text)), span: 0..0 },
            TemplatePiece::Field(node) => node,
        })
        .collect();
    match parts.len() {
        1 => parts.pop().ok_or_else(|| ExpressionError::new(ExpressionErrorKind::TooComplex, 0..text.len())),
        _ => Ok(Node { kind: NodeKind::Text(parts), span: 0..text.len() }),
    }
}

/// Expressions in the braces of a template.
struct InBraces<'t, 'n, 'k> {
    text: &'t str,
    names: &'n mut Names<'k>,
}

impl FieldSyntax for InBraces<'_, '_, '_> {
    type Field = Node;
    type Error = ExpressionError;

    /// The brace that closes, which is none in a string.
    fn end(&self, inside: &str) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = inside.get(at..)?;
            at += match rest.chars().next()? {
                '}' => return Some(at),
                '"' | '\'' => match lexer::string_length(rest) {
                    Some(Some(length)) => length,
                    // The string is reported; it ends with the braces.
                    _ => return inside.find('}'),
                },
                c => c.len_utf8(),
            };
        }
    }

    fn field(&mut self, _: &str, place: Range<usize>) -> Result<Option<Node>, ExpressionError> {
        let advice = "a value with { is a template, with an expression in each pair of braces; \
                      braces that should stay are written {{ and }}";
        let before = self.names.problems.len();
        let inside = self.text.get(place.clone()).unwrap_or_default().trim();
        let parsed = Parser::whole(self.text, place.clone(), self.names);
        let is_wrong = parsed.is_err() || self.names.problems.len() > before;
        if is_wrong && self.names.is_column(inside) {
            self.names.problems.truncate(before);
            let problem = format!("`{inside}` is a column, but its name is no expression");
            let hint = format!("write col({})", errorbar_core::python_text::str_repr(inside));
            let error = ExpressionError::new(ExpressionErrorKind::Literal { problem }, place.clone());
            self.names.problems.push(error.with_hint(Some(hint)));
            return Ok(Some(Node { kind: NodeKind::Constant(Json::Null), span: place }));
        }
        parsed.map(Some).map_err(|error| match &error.hint {
            Some(_) => error,
            None => error.with_hint(Some(advice)),
        })
    }

    fn lone_brace(&mut self, rest: &str, at: usize) -> Result<(), ExpressionError> {
        let brace = rest.get(..1).unwrap_or_default();
        let kind = ExpressionErrorKind::Literal { problem: format!("'{brace}' without its partner") };
        let hint = "braces that should stay are written {{ and }}";
        Err(ExpressionError::new(kind, at..at + 1).with_hint(Some(hint)))
    }
}
