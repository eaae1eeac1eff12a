//! From tokens to nodes, every name looked up: a recursive descent with the precedence of Python.

use std::ops::Range;

use errorbar_core::spec::Arg;
use serde_json::Value as Json;

use super::ExpressionError;
use super::functions::Function;
use super::names::{GivenArgument, Names};
use crate::text::PythonRegex;

/// How deep an expression may be nested, and how many operators it may have in a row: each is a level of the stack when
/// it is evaluated.
const MAX_DEPTH: usize = 40;
const MAX_OPERATORS: usize = 200;

/// Operators by how tightly they bind, from those that bind least. `not`, comparisons and signs are levels too.
const LEVELS: [&[&str]; 6] = [&["or"], &["and"], &[], &[], &["+", "-"], &["*", "//", "/", "%"]];
const OR: usize = 0;
const NOT: usize = 2;
const COMPARISON: usize = 3;
const SIGN: usize = 6;

/// Words that are no names.
pub(super) const KEYWORDS: &[&str] =
    &["and", "or", "not", "in", "is", "if", "else", "for", "True", "False", "None", "true", "false", "null"];

pub(super) struct Parser<'t, 'n, 'k> {
    tokens: std::vec::IntoIter<Token<'t>>,
    /// Where the last token ended.
    end: usize,
    depth: usize,
    operators: usize,
    pub(super) names: &'n mut Names<'k>,
}

type Parsed<T = Node> = Result<T, ExpressionError>;

impl<'t, 'n, 'k> Parser<'t, 'n, 'k> {
    /// Reads a part of a text as an expression. What is wrong with names is left with the names, so that all of it can be
    /// reported.
    pub(super) fn whole(text: &'t str, part: Range<usize>, names: &'n mut Names<'k>) -> Parsed {
        let tokens = tokens(text, part.clone())?.into_iter();
        let mut parser = Parser { tokens, end: part.start, depth: 0, operators: 0, names };
        let node = parser.expression()?;
        match parser.next().kind {
            TokenKind::End => Ok(node),
            _ => Err(parser.expected("an operator or the end of the expression")),
        }
    }

    /// All of it: what `if`, `else` and everything that binds closer make of it.
    pub(super) fn expression(&mut self) -> Parsed {
        self.nested(|parser| {
            let start = parser.next().span.start;
            let value = parser.binary(OR)?;
            if !parser.eat("if") {
                return Ok(value);
            }
            let condition = parser.binary(OR)?;
            parser.expect("else")?;
            let other = parser.expression()?;
            Ok(parser.node(start, NodeKind::If(Box::new(condition), Box::new(value), Box::new(other))))
        })
    }

    /// Reads something one level deeper.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth >= MAX_DEPTH {
            return Err(ExpressionError::too_complex(self.next().span.clone()));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn count_operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        match self.operators > MAX_OPERATORS {
            true => Err(ExpressionError::too_complex(self.next().span.clone())),
            false => Ok(()),
        }
    }

    /// What binds at least as tightly as this level; operators of one level from left to right.
    fn binary(&mut self, level: usize) -> Parsed {
        let start = self.next().span.start;
        match level {
            NOT if self.eat("not") => {
                let value = self.nested(|parser| parser.binary(NOT))?;
                return Ok(self.node(start, NodeKind::Not(Box::new(value))));
            }
            SIGN if self.eat("-") => {
                let value = self.nested(|parser| parser.binary(SIGN))?;
                return Ok(self.node(start, NodeKind::Negative(Box::new(value))));
            }
            SIGN => return self.postfix(),
            _ => {}
        }
        let mut left = self.binary(level + 1)?;
        if level == COMPARISON {
            return self.comparisons(left);
        }
        let operators = LEVELS.get(level).copied().unwrap_or_default();
        while let Some(operator) = operators.iter().copied().find(|operator| self.eat(operator)) {
            self.count_operator()?;
            let right = self.binary(level + 1)?;
            left = self.node(start, NodeKind::Binary(operator, Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    /// What a value is compared with, and what that is compared with: `a < b <= c`.
    fn comparisons(&mut self, first: Node) -> Parsed {
        let mut others = Vec::new();
        while let Some(comparison) = self.comparison_operator()? {
            others.push((comparison, self.binary(COMPARISON + 1)?));
        }
        match others.is_empty() {
            true => Ok(first),
            false => Ok(self.node(first.span.start, NodeKind::Compare(Box::new(first), others))),
        }
    }

    fn comparison_operator(&mut self) -> Parsed<Option<&'static str>> {
        let known = ["==", "!=", "<=", ">=", "<", ">", "in"].into_iter().find(|operator| self.eat(operator));
        if known.is_some() {
            return Ok(known);
        }
        if self.eat("not") {
            self.expect("in")?;
            return Ok(Some("not in"));
        }
        if self.eat("is") {
            let is_not = self.eat("not");
            if !self.at("None") && !self.at("null") {
                return Err(self.expected("None").hint("other values are compared with =="));
            }
            return Ok(Some(if is_not { "is not" } else { "is" }));
        }
        match self.at("=") {
            true => Err(self.expected("==").hint("two values are compared with ==")),
            false => Ok(None),
        }
    }

    /// A value, and the members, items and calls behind it.
    fn postfix(&mut self) -> Parsed {
        let start = self.next().span.start;
        let mut value = self.atom()?;
        loop {
            if self.eat(".") {
                self.count_operator()?;
                let place = self.next().span.clone();
                let TokenKind::Name(name) = self.next().kind else {
                    return Err(self.expected("the name of a key or a function"));
                };
                self.advance();
                value = if self.at("(") {
                    self.call(name, place, Some(value), start)?
                } else {
                    self.node(start, NodeKind::Member(Box::new(value), name.to_owned()))
                };
            } else if self.eat("[") {
                self.count_operator()?;
                value = self.item(value, start)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// What stands in the brackets behind a value.
    fn item(&mut self, value: Node, start: usize) -> Parsed {
        let first = if self.at(":") { None } else { Some(Box::new(self.expression()?)) };
        let kind = match (self.eat(":"), first) {
            (false, Some(index)) => NodeKind::Item(Box::new(value), index),
            (_, first) => {
                let last = if self.at("]") { None } else { Some(Box::new(self.expression()?)) };
                NodeKind::Slice(Box::new(value), first, last)
            }
        };
        self.expect("]")?;
        Ok(self.node(start, kind))
    }

    fn atom(&mut self) -> Parsed {
        let span = self.next().span.clone();
        match self.next().kind.clone() {
            TokenKind::Constant(value) => {
                self.advance();
                Ok(self.node(span.start, NodeKind::Constant(value)))
            }
            TokenKind::Name(word) if KEYWORDS.contains(&word) => {
                let value = match word {
                    "True" | "true" => Json::Bool(true),
                    "False" | "false" => Json::Bool(false),
                    "None" | "null" => Json::Null,
                    _ => return Err(self.expected("a value")),
                };
                self.advance();
                Ok(self.node(span.start, NodeKind::Constant(value)))
            }
            TokenKind::Name(name) => {
                self.advance();
                if self.at("(") {
                    return self.call(name, span.clone(), None, span.start);
                }
                let kind = self.names.resolve(name, span.clone());
                Ok(self.node(span.start, kind))
            }
            TokenKind::Symbol("(") => {
                self.advance();
                let node = self.expression()?;
                self.expect(")")?;
                Ok(Node { span: span.start..self.end, ..node })
            }
            TokenKind::Symbol("[") => {
                self.advance();
                self.list(span.start)
            }
            TokenKind::Symbol(_) | TokenKind::End => Err(self.expected("a value")),
        }
    }

    /// A list or a comprehension, behind its bracket.
    ///
    /// The variables of a comprehension stand behind the item that uses them, so its words are looked for first.
    fn list(&mut self, start: usize) -> Parsed {
        if self.eat("]") {
            return Ok(self.node(start, NodeKind::List(Vec::new())));
        }
        if let Some(variables) = self.comprehension_variables() {
            return self.comprehension(start, variables);
        }
        let mut items = vec![self.expression()?];
        while self.eat(",") {
            if self.at("]") {
                break;
            }
            items.push(self.expression()?);
        }
        self.expect("]")?;
        Ok(self.node(start, NodeKind::List(items)))
    }

    /// The names between the `for` and the `in` of the list that starts here, if it is a comprehension.
    fn comprehension_variables(&self) -> Option<Vec<String>> {
        let mut depth = 0;
        let mut names: Option<Vec<String>> = None;
        for token in self.tokens.as_slice() {
            match (&token.kind, &mut names) {
                (TokenKind::Name("in"), Some(names)) => return Some(std::mem::take(names)),
                (TokenKind::Name(name), Some(names)) => names.push((*name).to_owned()),
                (TokenKind::Symbol(","), Some(_)) => {}
                // No `in`, which the parser reports at its place.
                (_, Some(names)) => return Some(std::mem::take(names)),
                (TokenKind::Symbol("[" | "("), None) => depth += 1,
                (TokenKind::Symbol("]" | ")"), None) if depth == 0 => return None,
                (TokenKind::Symbol("]" | ")"), None) => depth -= 1,
                (TokenKind::Name("for"), None) if depth == 0 => names = Some(Vec::new()),
                _ => {}
            }
        }
        None
    }

    fn comprehension(&mut self, start: usize, variables: Vec<String>) -> Parsed {
        let (first, count) = (self.names.variables.len(), variables.len());
        self.names.variables.extend(variables);
        let item = self.expression()?;
        self.expect("for")?;
        loop {
            match self.next().kind {
                TokenKind::Name(name) if !KEYWORDS.contains(&name) => self.advance(),
                _ => return Err(self.expected("the name of a variable")),
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect("in")?;
        // The list does not know the variables. An `if` behind it is the condition, and not that of `if … else`.
        let variables = self.names.variables.split_off(first);
        let list = self.binary(OR)?;
        self.names.variables.extend(variables);
        let condition = if self.eat("if") { Some(self.binary(OR)?) } else { None };
        self.names.variables.truncate(first);
        self.expect("]")?;
        let comprehension = Comprehension { item, first, count, list, condition };
        Ok(self.node(start, NodeKind::Comprehension(Box::new(comprehension))))
    }

    /// The arguments of a function, at the parenthesis before them.
    fn call(&mut self, name: &'t str, place: Range<usize>, value: Option<Node>, start: usize) -> Parsed {
        self.expect("(")?;
        // What `default` is about may be absent.
        let is_default = name == "default" && value.is_none();
        let mut arguments: Vec<GivenArgument<'t>> = Vec::new();
        arguments.extend(value.map(|value| (None, value)));
        while !self.at(")") {
            let keyword = match (&self.next().kind, self.tokens.as_slice().get(1)) {
                (TokenKind::Name(name), Some(Token { kind: TokenKind::Symbol("="), .. })) => {
                    let keyword = (*name, self.next().span.clone());
                    self.advance();
                    self.advance();
                    Some(keyword)
                }
                _ => None,
            };
            let is_optional = is_default && arguments.is_empty();
            self.names.optional += usize::from(is_optional);
            let argument = self.expression();
            self.names.optional -= usize::from(is_optional);
            arguments.push((keyword, argument?));
            if !self.eat(",") && !self.at(")") {
                return Err(self.expected("',' or ')'"));
            }
        }
        self.expect(")")?;
        let kind = self.names.call(name, place, arguments, start..self.end);
        Ok(self.node(start, kind))
    }

    fn node(&self, start: usize, kind: NodeKind) -> Node {
        Node { kind, span: start..self.end.max(start) }
    }

    fn advance(&mut self) {
        self.end = self.next().span.end;
        self.tokens.next();
    }

    /// The next token, which is the end if there are no more.
    fn next(&self) -> &Token<'t> {
        const END: &Token<'_> = &Token { kind: TokenKind::End, span: 0..0 };
        self.tokens.as_slice().first().unwrap_or(END)
    }

    /// Whether a symbol or a word comes next.
    fn at(&self, wanted: &str) -> bool {
        matches!(self.next().kind, TokenKind::Symbol(found) | TokenKind::Name(found) if found == wanted)
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let found = self.at(wanted);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, wanted: &str) -> Parsed<()> {
        let quote = if wanted.starts_with(char::is_alphabetic) { '`' } else { '\'' };
        if self.eat(wanted) { Ok(()) } else { Err(self.expected(&format!("{quote}{wanted}{quote}"))) }
    }

    fn expected(&self, expected: &str) -> ExpressionError {
        let found = match &self.next().kind {
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Constant(Json::String(text)) => format!("the string {text:?}"),
            TokenKind::Constant(value) => value.to_string(),
            TokenKind::Symbol(symbol) => format!("'{symbol}'"),
            TokenKind::End => "the end".to_owned(),
        };
        ExpressionError::new(format!("expected {expected}, found {found}")).at(self.next().span.clone())
    }
}

/// A token and where it stands.
#[derive(Clone, Debug)]
struct Token<'t> {
    kind: TokenKind<'t>,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
enum TokenKind<'t> {
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
fn tokens(text: &str, part: Range<usize>) -> Result<Vec<Token<'_>>, ExpressionError> {
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
            ExpressionError::new("a string without its closing quote").at(at..at + rest.len())
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
        let meant = match first {
            '&' => "write `and`",
            '|' => "write `or`; a function is called as lower(x) or x.lower()",
            '!' => "write `not` or `!=`",
            _ => "names with other characters than letters, digits and _ are written col('…')",
        };
        let problem = format!("expected a name, a constant or an operator, found '{}'", first.escape_debug());
        ExpressionError::new(problem).at(at..at + first.len_utf8()).hint(meant)
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
    let refused = |problem: String| ExpressionError::new(problem).at(at..at + length);
    match text.parse::<Arg>() {
        Ok(Arg::Str(text)) => Ok(TokenKind::Constant(Json::String(text))),
        Ok(Arg::Int(number)) => Ok(TokenKind::Constant(number.into())),
        Ok(Arg::Float(number)) => Ok(TokenKind::Constant(number.into())),
        Ok(_) => Err(refused(format!("{text} is no number"))),
        Err(error) => Err(ExpressionError {
            hint: error.hint().map(str::to_owned),
            ..refused(error.kind().to_string())
        }),
    }
}

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
    /// Condition, value if it holds, value if not.
    If(Box<Node>, Box<Node>, Box<Node>),
    /// `a < b <= c`
    Compare(Box<Node>, Vec<(&'static str, Node)>),
    /// `a + b`, `a and b`
    Binary(&'static str, Box<Node>, Box<Node>),
    Call(Box<Call>),
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

/// A call of a function. Arguments that are not given are None.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: &'static Function,
    pub(super) arguments: Vec<Node>,
    /// The pattern, which is a constant.
    pub(super) pattern: Option<PythonRegex>,
}
