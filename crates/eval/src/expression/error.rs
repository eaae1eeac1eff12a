//! What is wrong with an expression, and where in its text.

use std::fmt;
use std::ops::Range;

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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpressionErrorKind {
    /// Something else should stand here.
    Expected {
        /// What.
        expected: String,
        /// What stands here.
        found: String,
    },
    /// A string, a number or a pattern that cannot be read.
    Literal {
        /// Why.
        problem: String,
    },
    /// A name that is no column.
    UnknownColumn {
        /// The name.
        name: String,
    },
    /// A name that is no function.
    UnknownFunction {
        /// The name.
        name: String,
    },
    /// Arguments that the function does not take, or lacks.
    Arguments {
        /// The function.
        function: &'static str,
        /// What is wrong with them.
        problem: String,
    },
    /// Longer, or nested deeper, than any expression needs to be.
    TooComplex,
    /// A field, a key or an item that this record does not have.
    Missing {
        /// What.
        what: String,
    },
    /// A value that cannot be used like this.
    Value {
        /// Why.
        problem: String,
    },
    /// An expression that makes too large a value of this record, or takes too many steps.
    TooLarge,
}

impl ExpressionError {
    pub(super) fn new(kind: ExpressionErrorKind, span: Range<usize>) -> Self {
        ExpressionError { kind, span, hint: None }
    }

    pub(super) fn expected(expected: impl Into<String>, found: String, span: Range<usize>) -> Self {
        Self::new(ExpressionErrorKind::Expected { expected: expected.into(), found }, span)
    }

    #[must_use]
    pub(super) fn with_hint(mut self, hint: Option<impl Into<String>>) -> Self {
        self.hint = hint.map(Into::into);
        self
    }

    /// Whether a value is absent, for which `default` gives another.
    pub fn is_missing(&self) -> bool {
        matches!(self.kind, ExpressionErrorKind::Missing { .. })
    }
}

impl fmt::Display for ExpressionErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ExpressionErrorKind as Kind;
        match self {
            Kind::Expected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Kind::Literal { problem } | Kind::Value { problem } => f.write_str(problem),
            Kind::UnknownColumn { name } => write!(f, "no field `{name}`"),
            Kind::UnknownFunction { name } => write!(f, "no function `{name}`"),
            Kind::Arguments { function, problem } => write!(f, "`{function}` {problem}"),
            Kind::TooComplex => f.write_str("the expression is too long or nested too deep"),
            Kind::Missing { what } => write!(f, "there is no {what}"),
            Kind::TooLarge => {
                f.write_str("the expression makes too large a value of this record, or takes too many steps")
            }
        }
    }
}

fn in_one_line(text: &str, problems: &[ExpressionError]) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).collect();
    shown.extend(text.chars().nth(SHOWN).map(|_| '…'));
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    format!("in {shown:?}: {}", problems.join("; "))
}
