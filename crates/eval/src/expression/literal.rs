//! Lists and other values that are written as text: as JSON, as Python prints them, and as numpy does.

use errorbar_core::spec::Arg;
use serde_json::{Map, Value as Json};

use super::parser::string_length;

pub(super) fn read(text: &str) -> Option<Json> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let mut reader = Reader { rest: text, depth: 0 };
    let value = reader.value()?;
    reader.rest.trim().is_empty().then_some(value)
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl Reader<'_> {
    fn eat(&mut self, wanted: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Option<Json> {
        const DEEPEST: usize = 32;
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = self.value_here();
        self.depth -= 1;
        value
    }

    fn value_here(&mut self) -> Option<Json> {
        if self.eat("[") {
            return self.items("]").map(Json::Array);
        }
        if self.eat("(") {
            return self.items(")").map(Json::Array);
        }
        if self.eat("{") {
            return self.entries();
        }
        // As pandas writes a cell that holds an array of numpy.
        if self.eat("array(") {
            let value = self.value()?;
            if self.eat(",") && self.eat("dtype=") {
                let end = self.rest.find(')')?;
                self.rest = self.rest.get(end..)?;
            }
            return self.eat(")").then_some(value);
        }
        self.rest = self.rest.trim_start();
        if let Some(length) = string_length(self.rest) {
            let (literal, rest) = self.rest.split_at(length?);
            self.rest = rest;
            return match literal.parse::<Arg>() {
                Ok(Arg::Str(text)) => Some(Json::String(text)),
                _ => None,
            };
        }
        let end =
            self.rest.find(|c: char| c.is_whitespace() || ",])}:".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "None" | "null" => Some(Json::Null),
            "True" | "true" => Some(Json::Bool(true)),
            "False" | "false" => Some(Json::Bool(false)),
            // Words are none; numpy's `1.` is a number.
            word => match word.strip_suffix('.').unwrap_or(word).parse::<Arg>() {
                Ok(Arg::Int(number)) if !word.ends_with('.') => Some(number.into()),
                Ok(Arg::Int(number)) => Some((number as f64).into()),
                Ok(Arg::Float(number)) => Some(number.into()),
                _ => None,
            },
        }
    }

    /// What follows an opening bracket: with commas between, or, as numpy prints it, without.
    fn items(&mut self, close: &str) -> Option<Vec<Json>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.value()?);
            let is_blank = self.rest.starts_with(|c: char| c.is_whitespace());
            let is_separated = self.eat(",") || is_blank;
            self.rest = self.rest.trim_start();
            // `['a''b']` is no list of two.
            if !is_separated && !self.rest.starts_with(close) && !self.rest.starts_with('[') {
                return None;
            }
        }
        Some(items)
    }

    fn entries(&mut self) -> Option<Json> {
        let mut entries = Map::new();
        while !self.eat("}") {
            let key = match self.value()? {
                Json::String(key) => key,
                Json::Array(_) | Json::Object(_) => return None,
                other => errorbar_core::python_text::json_text(&other),
            };
            if !self.eat(":") {
                return None;
            }
            entries.insert(key, self.value()?);
            if !self.eat(",") && !self.rest.trim_start().starts_with('}') {
                return None;
            }
        }
        Some(Json::Object(entries))
    }
}
