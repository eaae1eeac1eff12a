//! What an expression is made of, once its names are known.

use std::ops::Range;

use serde_json::Value as Json;

use super::functions::Function;
use crate::text::PythonRegex;

/// A part of an expression and where it stands in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    /// A constant, or a lookup table.
    Constant(Json),
    Column(String),
    /// The variable of a comprehension, by its number.
    Variable(usize),
    /// `value.name`
    Member(Box<Node>, String),
    /// `value[index]`
    Item(Box<Node>, Box<Node>),
    /// `value[start:end]`
    Slice(Box<Node>, Option<Box<Node>>, Option<Box<Node>>),
    List(Vec<Node>),
    Comprehension(Box<Comprehension>),
    Not(Box<Node>),
    Negative(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// Condition, value if it holds, value if not.
    If(Box<Node>, Box<Node>, Box<Node>),
    /// `a < b <= c`
    Compare(Box<Node>, Vec<(Comparison, Node)>),
    Arithmetic(Operator, Box<Node>, Box<Node>),
    Call(Box<Call>),
    /// `default(value, other)`
    Default(Box<Node>, Box<Node>),
    /// A template: its parts as one string.
    Text(Vec<Node>),
}

/// `[item for variables in list if condition]`
#[derive(Clone, Debug)]
pub(super) struct Comprehension {
    pub(super) item: Node,
    /// The number of the first variable, and how many there are.
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) list: Node,
    pub(super) condition: Option<Node>,
}

/// A call of a function. Arguments that are not given are absent.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: &'static Function,
    pub(super) arguments: Vec<Option<Node>>,
    /// The pattern, which is a constant.
    pub(super) pattern: Option<PythonRegex>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    NotIn,
    Is,
    IsNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
}

impl Operator {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Remainder => "%",
        }
    }
}
