//! The grammar of requirements.
//!
//! ```text
//! requirement = figure relation number [ "%" ]
//! figure      = path | part "(" path ")"
//! part        = "lower" | "upper" | "stderr" | "width" | "n" | "absent"
//! ```

use std::str::FromStr;

use errorbar_core::FigurePath;
use errorbar_core::spec::{Parser, SpecError, expected, nearest};

use super::{EstimatePart, Requirement};

const NO_ARGUMENTS: &str =
    "a metric is named without arguments: accuracy; a group of it is accuracy[category=law]";

impl FromStr for Requirement {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, requirement)
    }
}

fn requirement(parser: &mut Parser<'_>) -> Result<Requirement, SpecError> {
    if matches!(parser.peek(), Some('0'..='9' | '+' | '-' | '.')) {
        let error = parser.expected("the name of a figure");
        return Err(error.with_hint("the figure comes first: accuracy >= 0.8"));
    }
    let (part, path) = figure(parser)?;
    let relation = parser.relation()?;
    let limit = parser.limit()?;
    Ok(Requirement { part, path, relation, limit })
}

fn figure(parser: &mut Parser<'_>) -> Result<(EstimatePart, FigurePath), SpecError> {
    let start = parser.skip_blanks();
    let path = parser.figure_path()?;
    if parser.peek() != Some('(') {
        return Ok((EstimatePart::Value, path));
    }
    let part = match path.names() {
        [name] => EstimatePart::named(name),
        _ => None,
    };
    let Some(part) = part else {
        let parts: Vec<&str> = EstimatePart::ALL.iter().filter_map(|part| part.name()).collect();
        let found = parser.since(start);
        let wanted = format!("one of {} before a parenthesis", parts.join(", "));
        let kind = expected(&wanted, format!("'{}'", found.trim_end()));
        let hint = match nearest(found.trim_end(), parts) {
            Some(near) => format!("did you mean `{near}`?"),
            None => NO_ARGUMENTS.to_owned(),
        };
        return Err(parser.error_at(start, kind).with_hint(hint));
    };
    parser.eat('(');
    let path = parser.figure_path()?;
    if !parser.eat(')') {
        let error = parser.expected("')' after the name of a metric");
        return Err(match parser.next_char() {
            Some('(') => error.with_hint("a metric is named without arguments: lower(accuracy)"),
            _ => error,
        });
    }
    Ok((part, path))
}
