//! The functions of expressions. Each can be called in two ways: `lower(x)` and `x.lower()`.

use std::cmp::Ordering;
use std::collections::HashSet;

use errorbar_core::python_text::json_text;
use fancy_regex::Captures;
use md5::{Digest, Md5};
use serde_json::{Map, Number, Value as Json, json};

use super::ExpressionError;
use super::evaluate::{
    Value, as_f64, as_i64, compare, compute, equal, float, holds, item_of_map, kind, length, shown, too_large,
};
use super::literal;
use crate::text::{PythonRegex, SearchBudget, choice_label, groups, is_space, parse_decimal, trim};

/// A function: how it is called and what it does.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// Names with commas between; those in brackets may be left out, and `…` stands for any number of arguments. What is
    /// called `pattern` is a regular expression, and therefore a constant.
    pub(super) parameters: &'static str,
    pub(super) call: Call,
}

type Made = Result<Json, ExpressionError>;
type Call = fn(&Arguments<'_, '_>) -> Made;

impl Function {
    /// The names of its parameters, and whether each must be given.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let named = self.parameters.split(", ").filter(|name| *name != "…");
        named.map(|name| (name.trim_matches(['[', ']']), !name.starts_with('[')))
    }

    /// How it is called: `replace(text, old, new)`, `letter(value, [choices], [start])`.
    pub(super) fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters)
    }
}

const fn function(name: &'static str, parameters: &'static str, call: Call) -> Function {
    Function { name, parameters, call }
}

/// All functions, in the order of the documentation.
pub(super) const FUNCTIONS: &[Function] = &[
    // Which value. The first is taken apart when the expression is read, the second when it is evaluated; neither is called.
    function("col", "name", |_| Ok(Json::Null)),
    function("default", "value, other", |_| Ok(Json::Null)),
    function("get", "map, key, [other]", get),
    // Choices and letters.
    function("letter", "value, [choices], [start]", letter),
    function("index", "list, value", |of| {
        let value = of.value(1);
        let place = of.list(0)?.iter().position(|item| equal(item, value));
        let missing = || ExpressionError::missing(format!("{} in {}", shown(value), shown(of.value(0))));
        place.map(Json::from).ok_or_else(missing)
    }),
    // Strings, as Python's methods do it.
    function("str", "value", |of| Ok(of.as_text(0).into())),
    function("lower", "text", |of| Ok(of.text(0)?.to_lowercase().into())),
    function("upper", "text", |of| Ok(of.text(0)?.to_uppercase().into())),
    function("capitalize", "text", |of| {
        let mut rest = of.text(0)?.chars();
        let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
        Ok((first + &rest.as_str().to_lowercase()).into())
    }),
    function("strip", "text, [characters]", |of| Ok(of.text(0)?.trim_matches(of.outside()?).into())),
    function("lstrip", "text, [characters]", |of| Ok(of.text(0)?.trim_start_matches(of.outside()?).into())),
    function("rstrip", "text, [characters]", |of| Ok(of.text(0)?.trim_end_matches(of.outside()?).into())),
    function("removeprefix", "text, prefix", |of| {
        let text = of.text(0)?;
        Ok(text.strip_prefix(of.text(1)?).unwrap_or(text).into())
    }),
    function("removesuffix", "text, suffix", |of| {
        let text = of.text(0)?;
        Ok(text.strip_suffix(of.text(1)?).unwrap_or(text).into())
    }),
    function("replace", "text, old, new", |of| {
        let (text, old, new) = (of.text(0)?, of.text(1)?, of.text(2)?);
        check_growth(text.len(), old.len(), new.len())?;
        Ok(text.replace(old, new).into())
    }),
    function("startswith", "text, prefix", |of| Ok(of.text(0)?.starts_with(of.text(1)?).into())),
    function("endswith", "text, suffix", |of| Ok(of.text(0)?.ends_with(of.text(1)?).into())),
    function("split", "text, [separator], [limit]", split),
    function("lines", "text", |of| Ok(of.text(0)?.lines().collect())),
    function("join", "list, [separator]", join),
    function("md5", "value, …", |of| {
        let texts: Vec<String> = (0..of.values.len()).map(|at| of.as_text(at)).collect();
        Ok(hex_digest(&texts.join("\0")).into())
    }),
    // Regular expressions, in the syntax of Python's `re`.
    function("extract", "text, pattern", |of| {
        let what = || format!("match of {} in {}", shown(of.value(1)), shown(of.value(0)));
        let missing = || ExpressionError::missing(what()).hint("default(extract(…), '') gives another value");
        of.search(of.text(0)?)?.map(|found| taken(&found).into()).ok_or_else(missing)
    }),
    function("extract_all", "text, pattern", |of| {
        let mut all = Vec::new();
        each_match(of, |_, found| all.push(taken(found).to_owned()))?;
        Ok(all.into())
    }),
    function("matches", "text, pattern", |of| Ok(of.search(of.text(0)?)?.is_some().into())),
    function("sub", "text, pattern, new", sub),
    // Lists and maps.
    function("list", "value", |of| match of.value(0) {
        value @ Json::Array(_) => Ok(value.clone()),
        value @ Json::String(text) => match literal::read(text) {
            Some(items @ Json::Array(_)) => Ok(items),
            _ => Err(ExpressionError::new(format!("{} is no list", shown(value))).hint(
                "a list is written ['a', 'b'], [\"a\", \"b\"] or ['a' 'b']; split(x, ',') cuts a string",
            )),
        },
        other => Err(of.unsuitable("a list, or a string that holds one", other)),
    }),
    function("literal", "text", |of| {
        let unread = || format!("{} is neither JSON nor a literal of Python", shown(of.value(0)));
        literal::read(of.text(0)?).ok_or_else(|| ExpressionError::new(unread()))
    }),
    function("len", "value", |of| match of.value(0) {
        value @ (Json::String(_) | Json::Array(_) | Json::Object(_)) => Ok(length(value).into()),
        other => Err(of.unsuitable("a string, a list or a map", other)),
    }),
    function("rows", "map", rows),
    function("zip", "list, …", |of| {
        let lists: Result<Vec<&Vec<Json>>, _> = (0..of.values.len()).map(|at| of.list(at)).collect();
        let lists = lists?;
        let count = lists.first().map_or(0, |list| list.len());
        if let Some(other) = lists.iter().find(|list| list.len() != count) {
            return Err(of.unequal(&format!("found {count} and {} items", other.len())));
        }
        let row = |at: usize| lists.iter().filter_map(|list| list.get(at).cloned()).collect::<Json>();
        Ok((0..count).map(row).collect())
    }),
    function("enumerate", "list, [start]", |of| {
        let start = of.integer(1, 0)?;
        let items = of.list(0)?;
        let end = i64::try_from(items.len()).ok().and_then(|count| start.checked_add(count));
        let end = end.ok_or_else(too_large)?;
        Ok((start..end).zip(items).map(|(number, item)| json!([number, item])).collect())
    }),
    function("range", "start, [end]", |of| {
        const LONGEST: u64 = 100_000;
        let first = of.integer(0, 0)?;
        let (start, end) = match of.optional(1) {
            None => (0, first),
            Some(_) => (first, of.integer(1, 0)?),
        };
        match end > start && end.abs_diff(start) > LONGEST {
            true => Err(ExpressionError::new(format!("a range has at most {LONGEST} numbers"))),
            false => Ok((start..end).collect()),
        }
    }),
    function("unique", "list", |of| {
        let mut seen = HashSet::new();
        Ok(of.list(0)?.iter().filter(|item| seen.insert(in_one_form(item).to_string())).cloned().collect())
    }),
    function("sorted", "list", |of| {
        let mut items = of.list(0)?.clone();
        // A list of several kinds has no order, and without one a sort may panic.
        if let Some((first, rest)) = items.split_first() {
            for item in rest {
                compare(first, "<", item)?;
            }
        }
        items.sort_by(total_order);
        Ok(items.into())
    }),
    function("reversed", "list", |of| Ok(of.list(0)?.iter().rev().cloned().collect())),
    // What is no list is an item itself.
    function("flatten", "list", |of| {
        let items = of.list(0)?.iter().flat_map(|item| match item {
            Json::Array(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        });
        Ok(items.cloned().collect())
    }),
    function("count", "list, value", |of| match (of.value(0), of.value(1)) {
        (Json::String(text), Json::String(part)) => Ok(text.matches(part.as_str()).count().into()),
        (_, value) => Ok(of.list(0)?.iter().filter(|item| equal(item, value)).count().into()),
    }),
    function("any", "list", |of| of.has(true).map(Json::from)),
    function("all", "list", |of| Ok((!of.has(false)?).into())),
    function("keys", "map", |of| Ok(of.map(0)?.keys().cloned().collect())),
    function("values", "map", |of| Ok(of.map(0)?.values().cloned().collect())),
    function("items", "map", |of| Ok(of.map(0)?.iter().map(|(key, value)| json!([key, value])).collect())),
    // Numbers.
    function("int", "value", |of| {
        let number: Option<i64> = match of.value(0) {
            Json::String(text) => trim(text).replace('_', "").parse().ok(),
            value => as_i64(value)
                .or_else(|| as_f64(value).map(f64::trunc).filter(|n| n.abs() < 9e18).map(|n| n as i64)),
        };
        number.map(Json::from).ok_or_else(|| of.no_number("an integer"))
    }),
    function("float", "value", |of| {
        let number = match of.value(0) {
            Json::String(text) => parse_decimal(trim(text)),
            value => as_f64(value),
        };
        float(number.ok_or_else(|| of.no_number("a number"))?)
    }),
    // As people write it: with commas between thousands, perhaps with a currency before it.
    function("number", "value", |of| {
        let text = match of.value(0) {
            value @ Json::Number(_) => return Ok(value.clone()),
            value => value.as_str().ok_or_else(|| of.no_number("a number"))?,
        };
        let plain: String = trim(text).trim_start_matches(['$', '€', '£']).replace(',', "");
        let plain = trim(&plain);
        match plain.parse::<i64>() {
            Ok(whole) => Ok(whole.into()),
            Err(_) => float(parse_decimal(plain).ok_or_else(|| of.no_number("a number"))?),
        }
    }),
    function("round", "number, [digits]", round),
    function("abs", "number", |of| {
        let value = of.value(0);
        match value.as_i64().and_then(i64::checked_abs) {
            Some(whole) => Ok(whole.into()),
            None => float(value.as_f64().ok_or_else(|| of.unsuitable("a number", value))?.abs()),
        }
    }),
    function("sum", "list", |of| {
        of.list(0)?.iter().try_fold(Json::from(0), |total, item| compute("+", &total, item))
    }),
    function("min", "list", |of| of.extreme("<")),
    function("max", "list", |of| of.extreme(">")),
];

/// The arguments of a call, at the places of their parameters.
pub(super) struct Arguments<'a, 'v> {
    pub(super) function: &'static Function,
    pub(super) values: Vec<Value<'v>>,
    pub(super) pattern: Option<&'a PythonRegex>,
}

impl Arguments<'_, '_> {
    /// The argument, if it is given. None is as good as absent for those that may be.
    fn optional(&self, at: usize) -> Option<&Json> {
        Some(self.value(at)).filter(|value| !value.is_null())
    }

    /// An argument that must be given: the parser has seen to that.
    fn value(&self, at: usize) -> &Json {
        const NONE: &Json = &Json::Null;
        self.values.get(at).map_or(NONE, |value| &**value)
    }

    /// A string as it is, or another value as Python prints it.
    fn as_text(&self, at: usize) -> String {
        self.value(at).as_str().map_or_else(|| json_text(self.value(at)), str::to_owned)
    }

    fn text(&self, at: usize) -> Result<&str, ExpressionError> {
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

    fn list(&self, at: usize) -> Result<&Vec<Json>, ExpressionError> {
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

    fn map(&self, at: usize) -> Result<&Map<String, Json>, ExpressionError> {
        let value = self.value(at);
        value.as_object().ok_or_else(|| self.unsuitable("a map", value))
    }

    /// An integer, or this one if it is not given.
    fn integer(&self, at: usize, default: i64) -> Result<i64, ExpressionError> {
        match self.optional(at) {
            None => Ok(default),
            Some(value) => value.as_i64().ok_or_else(|| self.unsuitable("an integer", value)),
        }
    }

    /// The problem with a value of a wrong kind.
    fn unsuitable(&self, wanted: &str, found: &Json) -> ExpressionError {
        let name = self.function.name;
        match found {
            Json::Null => ExpressionError::new(format!("`{name}` needs {wanted}, found None"))
                .hint("default(x, …) gives another value in place of None"),
            found => ExpressionError::new(format!(
                "`{name}` needs {wanted}, found {} ({})",
                kind(found),
                shown(found)
            )),
        }
    }

    fn unequal(&self, found: &str) -> ExpressionError {
        ExpressionError::new(format!("`{}` needs lists of one length: {found}", self.function.name))
    }

    fn no_number(&self, wanted: &str) -> ExpressionError {
        match self.value(0) {
            value @ Json::String(_) => ExpressionError::new(format!(
                "{} is no {}",
                shown(value),
                wanted.trim_start_matches("an ").trim_start_matches("a ")
            )),
            other => self.unsuitable(wanted, other),
        }
    }

    /// Whether a character is to be taken off: one of those that are given, or a blank.
    fn outside(&self) -> Result<impl Fn(char) -> bool, ExpressionError> {
        let given = self.optional(1).map(|_| self.text(1)).transpose()?;
        Ok(move |c: char| given.map_or_else(|| is_space(c), |given| given.contains(c)))
    }

    /// Whether an item of the list counts as true, or as false, up to the first that does.
    fn has(&self, wanted: bool) -> Result<bool, ExpressionError> {
        for item in self.list(0)? {
            if holds(item, "x")? == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn extreme(&self, comparison: &str) -> Made {
        let mut items = self.list(0)?.iter();
        let mut best = items.next().ok_or_else(|| ExpressionError::missing("item in an empty list"))?;
        for item in items {
            if compare(item, comparison, best)? {
                best = item;
            }
        }
        Ok(best.clone())
    }

    /// The first match in a text.
    fn search<'t>(&self, text: &'t str) -> Result<Option<Captures<'t, str>>, ExpressionError> {
        let Some(pattern) = self.pattern else { return Ok(None) };
        let found = pattern.search(text, &SearchBudget::default());
        found.map_err(|error| ExpressionError::new(error.to_string()))
    }
}

/// The value of a key or the item of a number, or another one.
fn get(of: &Arguments<'_, '_>) -> Made {
    let found = match (of.value(0), of.value(1)) {
        (Json::Object(map), key) => item_of_map(map, key),
        (Json::Array(items), key) => key.as_u64().and_then(|at| items.get(usize::try_from(at).ok()?)),
        (Json::Null, _) => None,
        (other, _) => return Err(of.unsuitable("a map or a list", other)),
    };
    Ok(found.unwrap_or(of.value(2)).clone())
}

/// `letter(value, [choices], [start])`.
///
/// - With `choices`: the letter of the place where the value stands in that list.
/// - A number, or a string of digits: the letter of that place, counted from `start` (0).
/// - A list of zeros and ones, or of booleans: a list of the letters at the ones.
/// - A letter, in either case, perhaps in parentheses or with a point: the letter.
fn letter(of: &Arguments<'_, '_>) -> Made {
    let value = of.value(0);
    let start = of.integer(2, 0)?;
    if let Some(choices) = of.optional(1) {
        let Some(items) = choices.as_array() else {
            let hint = "numbers that start at 1 are written letter(x, start=1)";
            return Err(of.unsuitable("a list of choices", choices).hint(hint));
        };
        let place = items.iter().position(|item| equal(item, value)).ok_or_else(|| {
            ExpressionError::missing(format!("{} among the choices {}", shown(value), shown(choices)))
        })?;
        return Ok(choice_label(place).into());
    }
    const WANTED: &str = "a number, a letter or a list of zeros and ones";
    match value {
        Json::Array(items) => {
            let is_marked = |(place, item): (usize, &Json)| match as_f64(item) {
                Some(1.0) => Some(Ok(choice_label(place).into())),
                Some(0.0) => None,
                _ => {
                    let hint = "a list of places is written [letter(x) for x in list]";
                    Some(Err(of.unsuitable("a list of zeros and ones", item).hint(hint)))
                }
            };
            let letters: Result<Vec<Json>, _> = items.iter().enumerate().filter_map(is_marked).collect();
            letters.map(Json::from)
        }
        Json::String(text) => match trim(text).parse::<i64>() {
            Ok(number) => at_place(number, start),
            Err(_) => written(text).map(Json::from).ok_or_else(|| {
                let problem = format!("{} is neither a letter nor a number", shown(value));
                ExpressionError::new(problem).hint("the letter of its place in a list is letter(x, choices)")
            }),
        },
        Json::Number(_) => {
            let whole =
                value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64));
            at_place(whole.ok_or_else(|| of.unsuitable("a whole number", value))?, start)
        }
        Json::Bool(_) => {
            let hint = "choose yourself what is true: 'A' if x else 'B'";
            Err(of.unsuitable(WANTED, value).hint(hint))
        }
        other => Err(of.unsuitable(WANTED, other)),
    }
}

fn at_place(number: i64, start: i64) -> Made {
    let place = number.checked_sub(start).and_then(|place| usize::try_from(place).ok());
    place.map(|place| choice_label(place).into()).ok_or_else(|| {
        let problem = format!("there is no letter number {number}, counted from {start}");
        match start {
            1 => ExpressionError::new(problem).hint("without start=1 numbers start at 0"),
            _ => ExpressionError::new(problem),
        }
    })
}

/// The letter that a text like `b`, `(B)`, `B.` or `B)` is.
fn written(text: &str) -> Option<String> {
    let text = trim(text);
    let text = text.strip_prefix('(').unwrap_or(text);
    let text = text.strip_suffix([')', '.', ':']).unwrap_or(text);
    let mut letters = text.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters.next().is_none().then(|| letter.to_ascii_uppercase().to_string())
}

/// Refuses a replacement that makes a small string a huge one, before it does.
fn check_growth(text: usize, old: usize, new: usize) -> Result<(), ExpressionError> {
    const LARGEST: usize = 32 << 20;
    let most = (text / old.max(1) + 1).saturating_mul(new).saturating_add(text);
    match most > LARGEST && new > old {
        true => Err(ExpressionError::too_large()),
        false => Ok(()),
    }
}

/// At a separator, or at blanks; at most `limit` times.
fn split(of: &Arguments<'_, '_>) -> Made {
    let text = of.text(0)?;
    let limit = usize::try_from(of.integer(2, -1)?).unwrap_or(usize::MAX);
    if of.optional(1).is_some() {
        let separator = of.text(1)?;
        if separator.is_empty() {
            return Err(ExpressionError::new("the separator of `split` is empty"));
        }
        return Ok(text.splitn(limit.saturating_add(1), separator).collect());
    }
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let end = if parts.len() < limit { rest.find(is_space) } else { None };
        let (part, tail) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = tail.trim_start_matches(is_space);
    }
    Ok(parts.into())
}

/// `join(list, separator)`, or, as Python has it, `separator.join(list)`.
fn join(of: &Arguments<'_, '_>) -> Made {
    let is_python = of.value(0).is_string() && of.value(1).is_array();
    let (list, separator) = if is_python { (1, 0) } else { (0, 1) };
    let items = of.list(list)?;
    let separator = if of.optional(separator).is_some() { of.text(separator)? } else { "" };
    let text = |item: &Json| match item {
        Json::String(text) => Ok(text.clone()),
        Json::Null => Err(of.unsuitable("strings", item)),
        other => Ok(json_text(other)),
    };
    let texts: Result<Vec<String>, ExpressionError> = items.iter().map(text).collect();
    check_growth(items.len(), 1, separator.len())?;
    Ok(texts?.join(separator).into())
}

/// MD5 in hexadecimal, for stable ids: collections of evaluations name samples by the digest of their question.
fn hex_digest(text: &str) -> String {
    Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first group that took part in the match; the match itself if the expression has no group.
fn taken<'t>(found: &Captures<'t, str>) -> &'t str {
    groups(found).next().unwrap_or_default()
}

fn sub(of: &Arguments<'_, '_>) -> Made {
    let (text, new) = (of.text(0)?, of.text(2)?);
    check_growth(text.len(), 1, new.len())?;
    let pieces = replacement(new, of)?;
    let mut out = String::new();
    let rest = each_match(of, |before, found| {
        out.push_str(before);
        for piece in &pieces {
            // Python has the empty string for a group that took no part in the match.
            out.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Group(number) => found.get(*number).map_or("", |group| group.as_str()),
                Piece::Named(name) => found.name(name).map_or("", |group| group.as_str()),
            });
        }
    })?;
    Ok((out + rest).into())
}

/// A part of what matches are replaced by.
enum Piece<'t> {
    Text(&'t str),
    Group(usize),
    Named(&'t str),
}

/// Reads the replacement of `sub` as Python does: `\1` and `\g<1>` are groups, `\g<name>` a named one, `\\` is a backslash.
fn replacement<'t>(text: &'t str, of: &Arguments<'_, '_>) -> Result<Vec<Piece<'t>>, ExpressionError> {
    let wrong = |problem: &str| {
        let hint = "groups are written \\1, \\g<1> or \\g<name>, and a backslash \\\\, in a raw string r'…'";
        ExpressionError::new(format!("{} in {}", problem, shown(of.value(2)))).hint(hint)
    };
    let group = |number: &str| {
        let known = |number: &usize| of.pattern.is_none_or(|pattern| *number <= pattern.groups());
        let number: Option<usize> = number.parse().ok().filter(known);
        number.map(Piece::Group).ok_or_else(|| wrong("there is no such group of the pattern"))
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once('\\') {
        pieces.push(Piece::Text(before));
        let digits = escaped.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let (piece, length) = match escaped.chars().next() {
            Some('\\') => (Piece::Text("\\"), 1),
            Some('n') => (Piece::Text("\n"), 1),
            Some('t') => (Piece::Text("\t"), 1),
            Some('r') => (Piece::Text("\r"), 1),
            Some('1'..='9') => (group(escaped.get(..digits).unwrap_or_default())?, digits),
            Some('g') => {
                let name = escaped.strip_prefix("g<").and_then(|rest| rest.split_once('>'));
                let (name, _) = name.ok_or_else(|| wrong("a group without its name"))?;
                let piece = match name.starts_with(|c: char| c.is_ascii_digit()) {
                    true => group(name)?,
                    false if of.pattern.is_none_or(|pattern| pattern.has_group(name)) => Piece::Named(name),
                    false => return Err(wrong("there is no such group of the pattern")),
                };
                (piece, name.len() + 3)
            }
            Some(c) if c.is_ascii_alphanumeric() => return Err(wrong("an invalid escape sequence")),
            None => return Err(wrong("a backslash at the end")),
            // Not an escape sequence: Python leaves the backslash where it is.
            Some(_) => (Piece::Text("\\"), 0),
        };
        pieces.push(piece);
        rest = escaped.get(length..).unwrap_or_default();
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

/// Calls a function with each match and the text between it and the one before; gives the text behind the last.
///
/// A search starts at a place of the whole text, so that what stands before it (`^`, `\b`, look-behind) counts.
fn each_match<'a>(
    of: &'a Arguments<'_, '_>,
    mut take: impl FnMut(&str, &Captures<'a, str>),
) -> Result<&'a str, ExpressionError> {
    let text = of.text(0)?;
    let budget = SearchBudget::default();
    let (mut from, mut kept) = (0, 0);
    while let Some(pattern) = of.pattern
        && from <= text.len()
    {
        let found = pattern.search_from(text, from, &budget);
        let found = found.map_err(|error| ExpressionError::new(error.to_string()))?;
        let Some(found) = found else { break };
        let Some(whole) = found.get(0) else { break };
        take(text.get(kept..whole.start()).unwrap_or_default(), &found);
        kept = whole.end();
        // An empty match is not found twice.
        let step = text.get(whole.end()..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        from = if whole.end() > whole.start() { whole.end() } else { whole.end() + step };
    }
    Ok(text.get(kept..).unwrap_or_default())
}

/// A map of lists as a list of maps: `{"a": [1, 2], "b": [3, 4]}` is `[{"a": 1, "b": 3}, {"a": 2, "b": 4}]`.
fn rows(of: &Arguments<'_, '_>) -> Made {
    let mut lists = Vec::new();
    for (key, value) in of.map(0)? {
        let list = value.as_array().ok_or_else(|| of.unsuitable("a map of lists", value))?;
        lists.push((key, list));
    }
    let count = lists.first().map_or(0, |(_, list)| list.len());
    if let Some((key, list)) = lists.iter().find(|(_, list)| list.len() != count) {
        return Err(of.unequal(&format!("the first has {count} items, `{key}` {}", list.len())));
    }
    let row = |at: usize| {
        let entry = |(key, list): &(&String, &Vec<Json>)| Some(((*key).clone(), list.get(at)?.clone()));
        lists.iter().filter_map(entry).collect::<Json>()
    };
    Ok((0..count).map(row).collect())
}

/// A value in the form that all values equal to it have: 1 of 1.0 and of true, and maps in the order of their keys.
fn in_one_form(value: &Json) -> Json {
    match value {
        Json::Bool(_) | Json::Number(_) => {
            let whole = || value.as_f64().filter(|number| number.trunc() == *number && number.abs() < 9e18);
            as_i64(value).or_else(|| Some(whole()? as i64)).map_or_else(|| value.clone(), Json::from)
        }
        Json::Array(items) => items.iter().map(in_one_form).collect(),
        Json::Object(entries) => {
            let mut entries: Vec<(&String, Json)> =
                entries.iter().map(|(key, value)| (key, in_one_form(value))).collect();
            entries.sort_by_key(|(key, _)| *key);
            entries.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        other => other.clone(),
    }
}

/// The order of two values of one kind, also of integers that floats cannot tell apart.
fn total_order(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => {
            let float = |number: &Number| number.as_f64().unwrap_or(0.0);
            float(a).total_cmp(&float(b)).then_with(|| a.as_i64().cmp(&b.as_i64()))
        }
        _ => Ordering::Equal,
    }
}

/// Half to even, as Python does.
fn round(of: &Arguments<'_, '_>) -> Made {
    let value = of.value(0);
    let number = value.as_f64().ok_or_else(|| of.unsuitable("a number", value))?;
    if of.optional(1).is_none() {
        return match value.as_i64() {
            Some(whole) => Ok(whole.into()),
            None if number.abs() < 9e18 => Ok((number.round_ties_even() as i64).into()),
            None => Err(too_large()),
        };
    }
    let digits = usize::try_from(of.integer(1, 0)?).ok().filter(|digits| *digits <= 30);
    let digits = digits.ok_or_else(|| of.unsuitable("0 to 30 digits", of.value(1)))?;
    if value.is_i64() || value.is_u64() {
        return Ok(value.clone());
    }
    // Printing rounds the exact value of the float, which multiplying by a power of ten would not.
    float(format!("{number:.digits$}").parse().unwrap_or(number))
}

#[cfg(test)]
mod tests {
    use super::hex_digest;

    /// The digests of Python's hashlib.
    #[test]
    fn digests_are_those_of_the_standard() {
        for (text, digest) in [
            (String::new(), "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc".to_owned(), "900150983cd24fb0d6963f7d28e17f72"),
            ("a".repeat(1000), "cabe45dcc9ae5b66ba86600cca6b8ba8"),
            ("ü €".to_owned(), "4d9aae7a953ff3600ac3832546bc66df"),
        ] {
            assert_eq!(hex_digest(&text), digest, "{} bytes", text.len());
        }
    }
}
