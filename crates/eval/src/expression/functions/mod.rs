//! The functions of expressions. Each can be called in two ways: `lower(x)` and `x.lower()`.

mod letter;
mod lists;
mod literal;
mod md5;
mod numbers;
mod patterns;
mod strings;

#[cfg(test)]
pub(super) use literal::read as read_literal;

use std::borrow::Cow;

use serde_json::Value as Json;

use super::value::{Outcome, Problem, Value, kind, shown};
use crate::text::PythonRegex;

/// A function: its name, its parameters and what it does.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Whether more arguments may follow those that have parameters.
    pub(super) is_variadic: bool,
    /// Which parameter is a regular expression, and therefore a constant.
    pub(super) pattern: Option<usize>,
    pub(super) call: for<'v> fn(&Arguments<'_, 'v>) -> Outcome<'v>,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) is_required: bool,
}

const fn required(name: &'static str) -> Parameter {
    Parameter { name, is_required: true }
}

const fn optional(name: &'static str) -> Parameter {
    Parameter { name, is_required: false }
}

type Call = for<'v> fn(&Arguments<'_, 'v>) -> Outcome<'v>;

impl Function {
    const fn new(name: &'static str, parameters: &'static [Parameter], call: Call) -> Self {
        Function { name, parameters, is_variadic: false, pattern: None, call }
    }

    const fn variadic(mut self) -> Self {
        self.is_variadic = true;
        self
    }

    /// The second parameter is a regular expression.
    const fn with_pattern(mut self) -> Self {
        self.pattern = Some(1);
        self
    }

    /// How it is called: `replace(text, old, new)`, `letter(value, [choices], [start])`.
    pub(super) fn signature(&self) -> String {
        let parameter = |parameter: &Parameter| match parameter.is_required {
            true => parameter.name.to_owned(),
            false => format!("[{}]", parameter.name),
        };
        let mut parameters: Vec<String> = self.parameters.iter().map(parameter).collect();
        parameters.extend(self.is_variadic.then(|| "…".to_owned()));
        format!("{}({})", self.name, parameters.join(", "))
    }
}

/// All functions, in the order of the documentation.
pub(super) const FUNCTIONS: &[Function] = &[
    // Which value. Both are taken apart when the expression is read, and never called.
    Function::new("col", &[required("name")], taken_apart),
    Function::new("default", &[required("value"), required("other")], taken_apart),
    Function::new("get", &[required("map"), required("key"), optional("other")], lists::get),
    // Choices and letters.
    Function::new("letter", &[required("value"), optional("choices"), optional("start")], letter::letter),
    Function::new("index", &[required("list"), required("value")], lists::index),
    // Strings.
    Function::new("str", &[required("value")], strings::str),
    Function::new("lower", &[required("text")], strings::lower),
    Function::new("upper", &[required("text")], strings::upper),
    Function::new("capitalize", &[required("text")], strings::capitalize),
    Function::new("strip", &[required("text"), optional("characters")], strings::strip),
    Function::new("lstrip", &[required("text"), optional("characters")], strings::lstrip),
    Function::new("rstrip", &[required("text"), optional("characters")], strings::rstrip),
    Function::new("removeprefix", &[required("text"), required("prefix")], strings::removeprefix),
    Function::new("removesuffix", &[required("text"), required("suffix")], strings::removesuffix),
    Function::new("replace", &[required("text"), required("old"), required("new")], strings::replace),
    Function::new("startswith", &[required("text"), required("prefix")], strings::startswith),
    Function::new("endswith", &[required("text"), required("suffix")], strings::endswith),
    Function::new("split", &[required("text"), optional("separator"), optional("limit")], strings::split),
    Function::new("lines", &[required("text")], strings::lines),
    Function::new("join", &[required("list"), optional("separator")], strings::join),
    Function::new("md5", &[required("value")], md5::md5).variadic(),
    // Regular expressions.
    Function::new("extract", &[required("text"), required("pattern")], patterns::extract).with_pattern(),
    Function::new("extract_all", &[required("text"), required("pattern")], patterns::extract_all)
        .with_pattern(),
    Function::new("matches", &[required("text"), required("pattern")], patterns::matches).with_pattern(),
    Function::new("sub", &[required("text"), required("pattern"), required("new")], patterns::sub)
        .with_pattern(),
    // Lists and maps.
    Function::new("list", &[required("value")], literal::list),
    Function::new("literal", &[required("text")], literal::literal),
    Function::new("len", &[required("value")], lists::len),
    Function::new("rows", &[required("map")], lists::rows),
    Function::new("zip", &[required("list")], lists::zip).variadic(),
    Function::new("enumerate", &[required("list"), optional("start")], lists::enumerate),
    Function::new("range", &[required("start"), optional("end")], lists::range),
    Function::new("unique", &[required("list")], lists::unique),
    Function::new("sorted", &[required("list")], lists::sorted),
    Function::new("reversed", &[required("list")], lists::reversed),
    Function::new("flatten", &[required("list")], lists::flatten),
    Function::new("count", &[required("list"), required("value")], lists::count),
    Function::new("any", &[required("list")], lists::any),
    Function::new("all", &[required("list")], lists::all),
    Function::new("keys", &[required("map")], lists::keys),
    Function::new("values", &[required("map")], lists::values),
    Function::new("items", &[required("map")], lists::items),
    // Numbers.
    Function::new("int", &[required("value")], numbers::int),
    Function::new("float", &[required("value")], numbers::float),
    Function::new("number", &[required("value")], numbers::number),
    Function::new("round", &[required("number"), optional("digits")], numbers::round),
    Function::new("abs", &[required("number")], numbers::abs),
    Function::new("sum", &[required("list")], numbers::sum),
    Function::new("min", &[required("list")], numbers::min),
    Function::new("max", &[required("list")], numbers::max),
];

fn taken_apart<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    Err(Problem::value(format!("`{}` cannot be called here", arguments.function.name)))
}

/// The arguments of a call, at the places of their parameters.
pub(super) struct Arguments<'a, 'v> {
    pub(super) function: &'static Function,
    pub(super) values: Vec<Option<Value<'v>>>,
    pub(super) pattern: Option<&'a PythonRegex>,
}

impl<'v> Arguments<'_, 'v> {
    /// The argument, if it is given. None is as good as absent for those that may be.
    fn optional(&self, at: usize) -> Option<&Value<'v>> {
        self.values.get(at)?.as_ref().filter(|value| !value.is_null())
    }

    /// An argument that must be given: the parser has seen to that.
    fn value(&self, at: usize) -> &Json {
        const NONE: &Json = &Json::Null;
        self.values.get(at).and_then(Option::as_ref).map_or(NONE, |value| &**value)
    }

    /// The same, to be returned as it is.
    fn owned(&self, at: usize) -> Value<'v> {
        self.values.get(at).and_then(Clone::clone).unwrap_or(Cow::Owned(Json::Null))
    }

    fn text(&self, at: usize) -> Result<&str, Problem> {
        let value = self.value(at);
        value.as_str().ok_or_else(|| {
            let problem = self.unsuitable("a string", value);
            match value {
                Json::Null => problem,
                Json::Array(_) => problem.hint("for each item of a list: [f(x) for x in list]"),
                _ => problem.hint("str(x) makes a string of a value"),
            }
        })
    }

    fn list(&self, at: usize) -> Result<&Vec<Json>, Problem> {
        let value = self.value(at);
        value.as_array().ok_or_else(|| {
            let problem = self.unsuitable("a list", value);
            match value {
                Json::String(_) => {
                    problem.hint("list(x) reads a list that is written as text, split(x, ',') cuts a string")
                }
                _ => problem,
            }
        })
    }

    fn map(&self, at: usize) -> Result<&serde_json::Map<String, Json>, Problem> {
        let value = self.value(at);
        value.as_object().ok_or_else(|| self.unsuitable("a map", value))
    }

    /// An integer, or this one if it is not given.
    fn integer(&self, at: usize, default: i64) -> Result<i64, Problem> {
        match self.optional(at) {
            None => Ok(default),
            Some(value) => value.as_i64().ok_or_else(|| self.unsuitable("an integer", value)),
        }
    }

    /// The problem with a value of a wrong kind.
    fn unsuitable(&self, wanted: &str, found: &Json) -> Problem {
        let name = self.function.name;
        let problem = match found {
            Json::Null => format!("`{name}` needs {wanted}, found None"),
            found => format!("`{name}` needs {wanted}, found {} ({})", kind(found), shown(found)),
        };
        match found {
            Json::Null => Problem::value(problem).hint("default(x, …) gives another value in place of None"),
            _ => Problem::value(problem),
        }
    }
}

fn string<'v>(text: impl Into<String>) -> Outcome<'v> {
    Ok(Cow::Owned(Json::String(text.into())))
}

fn list_of<'v>(items: impl IntoIterator<Item = Json>) -> Outcome<'v> {
    Ok(Cow::Owned(Json::Array(items.into_iter().collect())))
}

fn boolean<'v>(truth: bool) -> Outcome<'v> {
    Ok(Cow::Owned(Json::Bool(truth)))
}

fn integer<'v>(number: i64) -> Outcome<'v> {
    Ok(Cow::Owned(number.into()))
}
