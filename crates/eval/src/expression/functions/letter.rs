//! The letter of the right choice, from whatever a dataset has in its place.

use serde_json::Value as Json;

use super::{Arguments, list_of, string};
use crate::expression::value::{Outcome, Problem, equal, shown};
use crate::text::{choice_label, trim};

/// `letter(value, [choices], [start])`.
///
/// - With `choices`: the letter of the place where the value stands in that list.
/// - A number, or a string of digits: the letter of that place, counted from `start` (0).
/// - A list of zeros and ones, or of booleans: a list of the letters at the ones.
/// - A letter, in either case, perhaps in parentheses or with a point: the letter.
pub(super) fn letter<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let value = arguments.value(0);
    let start = arguments.integer(2, 0)?;
    if let Some(choices) = arguments.optional(1) {
        let Some(items) = choices.as_array() else {
            let hint = "numbers that start at 1 are written letter(x, start=1)";
            return Err(arguments.unsuitable("a list of choices", choices).hint(hint));
        };
        let place = items.iter().position(|item| equal(item, value)).ok_or_else(|| {
            Problem::missing(format!("{} among the choices {}", shown(value), shown(choices)))
        })?;
        return string(choice_label(place));
    }
    match value {
        Json::Array(items) => {
            let mut letters = Vec::new();
            for (place, item) in items.iter().enumerate() {
                match item {
                    Json::Bool(true) => letters.push(Json::String(choice_label(place))),
                    Json::Bool(false) => {}
                    item if item.as_f64() == Some(1.0) => letters.push(Json::String(choice_label(place))),
                    item if item.as_f64() == Some(0.0) => {}
                    item => {
                        let hint = "a list of places is written [letter(x) for x in list]";
                        return Err(arguments.unsuitable("a list of zeros and ones", item).hint(hint));
                    }
                }
            }
            list_of(letters)
        }
        Json::String(text) => match trim(text).parse::<i64>() {
            Ok(number) => string(at_place(number, start)?),
            Err(_) => string(written(text).ok_or_else(|| {
                let problem = format!("{} is neither a letter nor a number", shown(value));
                Problem::value(problem).hint("the letter of its place in a list is letter(x, choices)")
            })?),
        },
        Json::Number(_) => {
            let whole =
                value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64));
            string(at_place(whole.ok_or_else(|| arguments.unsuitable("a whole number", value))?, start)?)
        }
        Json::Bool(_) => {
            let hint = "choose yourself what is true: 'A' if x else 'B'";
            Err(arguments.unsuitable("a number, a letter or a list of zeros and ones", value).hint(hint))
        }
        other => Err(arguments.unsuitable("a number, a letter or a list of zeros and ones", other)),
    }
}

fn at_place(number: i64, start: i64) -> Result<String, Problem> {
    let place = number.checked_sub(start).and_then(|place| usize::try_from(place).ok());
    place.map(choice_label).ok_or_else(|| {
        let problem = Problem::value(format!("there is no letter number {number}, counted from {start}"));
        match start {
            1 => problem.hint("without start=1 numbers start at 0"),
            _ => problem,
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
