//! From tokens to nodes, every name looked up: a recursive descent with the precedence of Python.

use std::ops::Range;

use serde_json::Value as Json;

use super::error::{ExpressionError, ExpressionErrorKind};
use super::lexer::{Token, TokenKind, tokens};
use super::names::Names;
use super::node::{Comparison, Comprehension, Node, NodeKind, Operator};

/// How deep an expression may be nested, and how many operators it may have in a row: each is a level of the stack when
/// it is evaluated.
const MAX_DEPTH: usize = 40;
const MAX_OPERATORS: usize = 200;

/// Words that are no names.
pub(super) const KEYWORDS: &[&str] =
    &["and", "or", "not", "in", "is", "if", "else", "for", "True", "False", "None", "true", "false", "null"];

pub(super) struct Parser<'t, 'n, 'k> {
    tokens: std::vec::IntoIter<Token<'t>>,
    next: Token<'t>,
    after_next: Option<Token<'t>>,
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
        let end = part.start;
        let mut tokens = tokens(text, part.clone())?.into_iter();
        let next = tokens.next().unwrap_or(Token { kind: TokenKind::End, span: part.end..part.end });
        let after_next = tokens.next();
        let mut parser = Parser { tokens, next, after_next, end, depth: 0, operators: 0, names };
        let node = parser.expression()?;
        match parser.next.kind {
            TokenKind::End => Ok(node),
            _ => Err(parser.expected("an operator or the end of the expression")),
        }
    }

    /// All of it: what `if`, `else` and everything that binds closer make of it.
    pub(super) fn expression(&mut self) -> Parsed {
        self.nested(|parser| {
            let start = parser.next.span.start;
            let value = parser.or()?;
            if !parser.eat_word("if") {
                return Ok(value);
            }
            let condition = parser.or()?;
            parser.expect_word("else")?;
            let other = parser.expression()?;
            Ok(parser.node(start, NodeKind::If(Box::new(condition), Box::new(value), Box::new(other))))
        })
    }

    /// Reads something one level deeper.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth >= MAX_DEPTH {
            return Err(ExpressionError::new(ExpressionErrorKind::TooComplex, self.next.span.clone()));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn count_operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        match self.operators > MAX_OPERATORS {
            true => Err(ExpressionError::new(ExpressionErrorKind::TooComplex, self.next.span.clone())),
            false => Ok(()),
        }
    }

    fn or(&mut self) -> Parsed {
        let start = self.next.span.start;
        let mut left = self.and()?;
        while self.eat_word("or") {
            self.count_operator()?;
            let right = self.and()?;
            left = self.node(start, NodeKind::Or(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed {
        let start = self.next.span.start;
        let mut left = self.not()?;
        while self.eat_word("and") {
            self.count_operator()?;
            let right = self.not()?;
            left = self.node(start, NodeKind::And(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed {
        let start = self.next.span.start;
        if !self.eat_word("not") {
            return self.comparison();
        }
        let value = self.nested(Self::not)?;
        Ok(self.node(start, NodeKind::Not(Box::new(value))))
    }

    fn comparison(&mut self) -> Parsed {
        let start = self.next.span.start;
        let first = self.sum()?;
        let mut others = Vec::new();
        while let Some(comparison) = self.comparison_operator()? {
            others.push((comparison, self.sum()?));
        }
        match others.is_empty() {
            true => Ok(first),
            false => Ok(self.node(start, NodeKind::Compare(Box::new(first), others))),
        }
    }

    fn comparison_operator(&mut self) -> Parsed<Option<Comparison>> {
        let symbols = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        if let Some((_, comparison)) = symbols.into_iter().find(|(symbol, _)| self.eat(symbol)) {
            return Ok(Some(comparison));
        }
        Ok(match () {
            () if self.eat_word("in") => Some(Comparison::In),
            () if self.at_word("not") => {
                self.advance();
                self.expect_word("in")?;
                Some(Comparison::NotIn)
            }
            () if self.eat_word("is") => {
                let is_not = self.eat_word("not");
                // Anything else is compared by `==`; identity means nothing here.
                if !self.at_word("None") && !self.at_word("null") {
                    return Err(self.expected("None").with_hint(Some("other values are compared with ==")));
                }
                Some(if is_not { Comparison::IsNot } else { Comparison::Is })
            }
            () if self.at("=") => {
                return Err(self.expected("==").with_hint(Some("two values are compared with ==")));
            }
            () => None,
        })
    }

    fn sum(&mut self) -> Parsed {
        let operators = [("+", Operator::Add), ("-", Operator::Subtract)];
        self.arithmetic(&operators, Self::product)
    }

    fn product(&mut self) -> Parsed {
        let operators = [
            ("*", Operator::Multiply),
            ("//", Operator::FloorDivide),
            ("/", Operator::Divide),
            ("%", Operator::Remainder),
        ];
        self.arithmetic(&operators, Self::sign)
    }

    fn arithmetic(
        &mut self,
        operators: &[(&'static str, Operator)],
        operand: impl Fn(&mut Self) -> Parsed,
    ) -> Parsed {
        let start = self.next.span.start;
        let mut left = operand(self)?;
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.eat(symbol)) {
            self.count_operator()?;
            let right = operand(self)?;
            left = self.node(start, NodeKind::Arithmetic(*operator, Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn sign(&mut self) -> Parsed {
        let start = self.next.span.start;
        if !self.eat("-") {
            return self.postfix();
        }
        let value = self.nested(Self::sign)?;
        Ok(self.node(start, NodeKind::Negative(Box::new(value))))
    }

    /// A value, and the members, items and calls behind it.
    fn postfix(&mut self) -> Parsed {
        let start = self.next.span.start;
        let mut value = self.atom()?;
        loop {
            if self.eat(".") {
                self.count_operator()?;
                let place = self.next.span.clone();
                let TokenKind::Name(name) = self.next.kind else {
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
        let span = self.next.span.clone();
        match self.next.kind.clone() {
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
        let ahead = std::iter::once(&self.next).chain(&self.after_next).chain(self.tokens.as_slice());
        let mut depth = 0;
        let mut names: Option<Vec<String>> = None;
        for token in ahead {
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
        let count = variables.len();
        let outer = self.names.variables.clone();
        let first = outer.len();
        self.names.variables.extend(variables);
        let inner = self.names.variables.clone();
        let item = self.expression()?;
        self.expect_word("for")?;
        loop {
            match self.next.kind {
                TokenKind::Name(name) if !KEYWORDS.contains(&name) => self.advance(),
                _ => return Err(self.expected("the name of a variable")),
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect_word("in")?;
        // The list does not know the variables. An `if` behind it is the condition, and not that of `if … else`.
        self.names.variables = outer.clone();
        let list = self.or()?;
        self.names.variables = inner;
        let condition = if self.eat_word("if") { Some(self.or()?) } else { None };
        self.names.variables = outer;
        self.expect("]")?;
        let comprehension = Comprehension { item, first, count, list, condition };
        Ok(self.node(start, NodeKind::Comprehension(Box::new(comprehension))))
    }

    /// The arguments of a function, at the parenthesis before them.
    fn call(&mut self, name: &'t str, place: Range<usize>, value: Option<Node>, start: usize) -> Parsed {
        self.expect("(")?;
        // What `default` is about may be absent.
        let is_default = name == "default" && value.is_none();
        let mut arguments: Vec<(Option<(&'t str, Range<usize>)>, Node)> = Vec::new();
        arguments.extend(value.map(|value| (None, value)));
        while !self.at(")") {
            let keyword = match (&self.next.kind, &self.after_next) {
                (TokenKind::Name(name), Some(Token { kind: TokenKind::Symbol("="), .. })) => {
                    let keyword = (*name, self.next.span.clone());
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
        self.end = self.next.span.end;
        let end = Token { kind: TokenKind::End, span: self.end..self.end };
        self.next = std::mem::replace(&mut self.after_next, self.tokens.next()).unwrap_or(end);
    }

    fn at(&self, symbol: &str) -> bool {
        matches!(self.next.kind, TokenKind::Symbol(found) if found == symbol)
    }

    fn at_word(&self, word: &str) -> bool {
        self.next.kind == TokenKind::Name(word)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.at(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("'{symbol}'"))) }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    fn expected(&self, expected: &str) -> ExpressionError {
        let found = match &self.next.kind {
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Constant(Json::String(text)) => format!("the string {text:?}"),
            TokenKind::Constant(value) => value.to_string(),
            TokenKind::Symbol(symbol) => format!("'{symbol}'"),
            TokenKind::End => "the end".to_owned(),
        };
        ExpressionError::expected(expected, found, self.next.span.clone())
    }
}
