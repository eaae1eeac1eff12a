//! What the names in an expression mean: columns, variables, lookup tables and functions.

use std::collections::HashSet;
use std::ops::Range;

use errorbar_core::IndexMap;
use errorbar_core::spec::nearest;
use serde_json::Value as Json;

use super::ExpressionError;
use super::functions::{FUNCTIONS, Function};
use super::parser::{Call, Node, NodeKind};
use crate::text::PythonRegex;

/// Lookup tables by name; each is an object.
pub(crate) type Tables = IndexMap<String, Json>;

/// An argument as it is written, with its keyword and the keyword's place if it has one.
pub(super) type GivenArgument<'t> = (Option<(&'t str, Range<usize>)>, Node);

/// The names that an expression can use, and what was found about those that it does use.
pub(super) struct Names<'k> {
    /// The columns that there are; any, if that is not known.
    known: Option<&'k HashSet<&'k str>>,
    tables: &'k Tables,
    /// The columns in use, in the order of their first use.
    pub(super) columns: Vec<String>,
    /// The variables of the comprehensions around.
    pub(super) variables: Vec<String>,
    /// How many calls of `default` are around: there a column may be absent.
    pub(super) optional: usize,
    pub(super) problems: Vec<ExpressionError>,
}

impl<'k> Names<'k> {
    pub(super) fn new(known: &'k HashSet<&'k str>, tables: &'k Tables) -> Self {
        Names { known: Some(known), ..Names::open(tables) }
    }

    /// Any name may be that of a column.
    pub(super) fn open(tables: &'k Tables) -> Self {
        let (columns, variables, problems) = Default::default();
        Names { known: None, tables, columns, variables, optional: 0, problems }
    }

    /// Whether there is a column of this name.
    pub(super) fn is_column(&self, name: &str) -> bool {
        self.known.is_some_and(|known| known.contains(name))
    }

    /// The known columns in alphabetical order.
    fn sorted(&self) -> Vec<&'k str> {
        let mut known: Vec<&str> = self.known.into_iter().flatten().copied().collect();
        known.sort_unstable();
        known
    }

    /// What a name means that is not called.
    pub(super) fn resolve(&mut self, name: &str, span: Range<usize>) -> NodeKind {
        if let Some(number) = self.variables.iter().rposition(|variable| variable == name) {
            return NodeKind::Variable(number);
        }
        if let Some(table) = self.tables.get(name) {
            return NodeKind::Constant(table.clone());
        }
        self.column(name, span, false)
    }

    /// A column. `is_quoted` if it is written `col('…')`, where it cannot be a mistyped variable or function.
    pub(super) fn column(&mut self, name: &str, span: Range<usize>, is_quoted: bool) -> NodeKind {
        if !self.columns.iter().any(|column| column == name) {
            self.columns.push(name.to_owned());
        }
        if self.known.is_some_and(|known| !known.contains(name)) {
            let near = self.nearest_name(name);
            let may_be_absent = self.optional > 0 && (is_quoted || near.is_none());
            if !may_be_absent {
                let hint = self.advice(name, near);
                self.problems.push(ExpressionError::unknown_column(name).at(span).hint(hint));
            }
        }
        NodeKind::Column(name.to_owned())
    }

    /// The column, variable or table that was probably meant.
    fn nearest_name(&self, name: &str) -> Option<String> {
        let known = self.sorted();
        let others = self.variables.iter().chain(self.tables.keys()).map(String::as_str);
        nearest(name, known.into_iter().chain(others)).map(str::to_owned)
    }

    fn advice(&self, name: &str, near: Option<String>) -> String {
        const SHOWN: usize = 12;
        if let Some(near) = near {
            let is_plain = near.chars().all(|c| c.is_alphanumeric() || c == '_');
            return match is_plain {
                true => format!("did you mean `{near}`?"),
                false => format!("did you mean col('{near}')?"),
            };
        }
        if find_function(name).is_some() {
            return format!("functions are called with parentheses: {name}(…)");
        }
        let mut known = self.sorted();
        let more = known.len().saturating_sub(SHOWN);
        known.truncate(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("there are: {}{more}; constants are written in quotes: '{name}'", known.join(", "))
    }

    /// A call with these arguments, each with its keyword if it has one.
    pub(super) fn call(
        &mut self,
        name: &str,
        place: Range<usize>,
        arguments: Vec<GivenArgument<'_>>,
        span: Range<usize>,
    ) -> NodeKind {
        let Some(function) = find_function(name) else {
            let names: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
            let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, hint)| (*hint).to_owned());
            let near = || nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            let hint = alias.or_else(near).unwrap_or_else(|| format!("there are: {}", names.join(", ")));
            self.problems.push(ExpressionError::new(format!("no function `{name}`")).at(place).hint(hint));
            return NOTHING.kind;
        };
        let bound = bind(function, arguments).map_err(|(problem, at)| {
            let problem = ExpressionError::new(format!("`{}` {problem}", function.name));
            problem.at(at.unwrap_or(span)).hint(format!("it is {}", function.signature()))
        });
        bound.and_then(|bound| self.special(function, bound)).unwrap_or_else(|problem| {
            self.problems.push(problem);
            NOTHING.kind
        })
    }

    /// The call, or what it is in its place; the pattern of one that has a pattern is read.
    fn special(
        &mut self,
        function: &'static Function,
        bound: Vec<Node>,
    ) -> Result<NodeKind, ExpressionError> {
        let is_constant = |name: &str| name == "pattern" || function.name == "col";
        let Some((at, (name, _))) =
            function.parameters().enumerate().find(|(_, (name, _))| is_constant(name))
        else {
            return Ok(NodeKind::Call(Box::new(Call { function, arguments: bound, pattern: None })));
        };
        let (text, span) = match bound.get(at) {
            Some(Node { kind: NodeKind::Constant(Json::String(text)), span }) => (text, span.clone()),
            other => {
                let problem = format!("`{}` needs a constant in quotes for its {name}", function.name);
                return Err(ExpressionError::new(problem).at(other.map_or(0..0, |node| node.span.clone())));
            }
        };
        if function.name == "col" {
            return Ok(self.column(text, span, true));
        }
        let pattern = PythonRegex::new(text, false);
        let pattern = Some(pattern.map_err(|error| ExpressionError::new(error.to_string()).at(span))?);
        Ok(NodeKind::Call(Box::new(Call { function, arguments: bound, pattern })))
    }
}

/// What functions are called elsewhere, and how the same is written here.
const ALIASES: [(&str, &str); 8] = [
    ("trim", "did you mean `strip`?"),
    ("concat", "strings and lists are joined with +: a + b"),
    ("title", "did you mean `capitalize`?"),
    ("bool", "compare the value with something, as in x == 'True'"),
    ("length", "did you mean `len`?"),
    ("contains", "`part in whole` is true if it does"),
    ("substring", "parts are taken with brackets: x[0:3]"),
    ("map", "lists are made of others in brackets: [lower(x) for x in list]"),
];

pub(super) fn find_function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// In place of an argument that is not given, and of a call that is wrong: nothing is evaluated where there is a problem.
const NOTHING: Node = Node { kind: NodeKind::Constant(Json::Null), span: 0..0 };

type Unbound = (String, Option<Range<usize>>);

/// The arguments at the places of their parameters, None where there is none; what is wrong with them, and where.
fn bind(function: &Function, arguments: Vec<GivenArgument<'_>>) -> Result<Vec<Node>, Unbound> {
    let parameters: Vec<(&str, bool)> = function.parameters().collect();
    let mut bound: Vec<Option<Node>> = parameters.iter().map(|_| None).collect();
    let given = arguments.len();
    for (at, (keyword, node)) in arguments.into_iter().enumerate() {
        let place = match keyword {
            None if at >= parameters.len() && function.parameters.ends_with('…') => {
                bound.push(Some(node));
                continue;
            }
            None if at >= parameters.len() => {
                let most = parameters.len();
                let s = if most == 1 { "" } else { "s" };
                return Err((format!("takes {most} argument{s}, found {given}"), Some(node.span)));
            }
            None => at,
            Some((keyword, span)) => {
                let place = parameters.iter().position(|(name, _)| *name == keyword);
                place.ok_or_else(|| (format!("has no argument `{keyword}`"), Some(span)))?
            }
        };
        if let (Some(slot), Some((name, _))) = (bound.get_mut(place), parameters.get(place)) {
            if slot.is_some() {
                return Err((format!("has its argument `{name}` twice"), Some(node.span)));
            }
            *slot = Some(node);
        }
    }
    match parameters.iter().zip(&bound).find(|((_, is_required), node)| *is_required && node.is_none()) {
        Some(((name, _), _)) => Err((format!("lacks its argument `{name}`"), None)),
        None => Ok(bound.into_iter().map(|node| node.unwrap_or(NOTHING)).collect()),
    }
}
