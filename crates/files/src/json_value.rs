//! JSON values with the bare `NaN` and `Infinity` of Python: read with a parser that allows them, and written.

use errorbar_core::{Leaf, SampleId, Value};
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
use serde::Serialize;
use serde_json::Value as Json;

/// How deep metadata may be nested; the parser's own limit does not see our recursion.
const MAX_DEPTH: usize = 100;

/// A value that is neither a list nor a map.
pub enum Scalar<'a> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer beyond `i64`.
    Big(u64),
    /// An integer beyond 64 bits, as its digits.
    Digits(&'a str),
    /// A float, which may not be finite.
    Float(f64),
    /// A string.
    Text(&'a str),
}

impl Scalar<'_> {
    /// The id that it is: a string or an integer; one beyond `i64` is the string of its digits.
    pub fn id(&self) -> Option<SampleId> {
        match self {
            Scalar::Int(id) => Some(SampleId::Int(*id)),
            Scalar::Big(id) => Some(SampleId::Str(id.to_string())),
            Scalar::Text(id) | Scalar::Digits(id) => Some(SampleId::Str((*id).to_owned())),
            Scalar::Null | Scalar::Bool(_) | Scalar::Float(_) => None,
        }
    }

    /// The number that an integer beyond 64 bits is closest to.
    pub fn rounded(digits: &str) -> f64 {
        // The parser has checked the form.
        digits.parse().unwrap_or(f64::NAN)
    }
}

impl From<Scalar<'_>> for Leaf {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Leaf::Null,
            Scalar::Bool(b) => Leaf::Bool(b),
            Scalar::Int(i) => Leaf::Int(i),
            Scalar::Big(i) => Leaf::from(i as f64),
            Scalar::Float(f) => Leaf::from(f),
            Scalar::Digits(digits) => Leaf::from(Scalar::rounded(digits)),
            Scalar::Text(text) => Leaf::from(text),
        }
    }
}

/// What kind of value starts here, for messages.
pub fn kind(peek: Peek) -> &'static str {
    match peek {
        Peek::Null => "null",
        Peek::True | Peek::False => "a boolean",
        Peek::String => "a string",
        Peek::Array => "a list",
        Peek::Object => "a map",
        _ => "a number",
    }
}

/// A scalar; nothing, and nothing consumed, if a list or a map starts here.
pub fn scalar<'a>(json: &'a mut Jiter<'_>, peek: Peek) -> Result<Option<Scalar<'a>>, JiterError> {
    Ok(Some(match peek {
        Peek::Array | Peek::Object => return Ok(None),
        Peek::Null => {
            json.known_null()?;
            Scalar::Null
        }
        Peek::True | Peek::False => Scalar::Bool(json.known_bool(peek)?),
        Peek::String => Scalar::Text(json.known_str()?),
        _ => number(json.known_number_bytes(peek)?),
    }))
}

/// A number as it is written: an integer or a float.
fn number(digits: &[u8]) -> Scalar<'_> {
    let text = str::from_utf8(digits).unwrap_or_default();
    if let Ok(int) = text.parse() {
        return Scalar::Int(int);
    }
    match text.parse() {
        Ok(big) => Scalar::Big(big),
        Err(_) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => Scalar::Digits(text),
        // The parser has checked the form; what is left is a float, `NaN` or `Infinity`.
        Err(_) => Scalar::Float(text.parse().unwrap_or(f64::NAN)),
    }
}

/// How many bytes values may still take; a few bytes of JSON make many times as many in memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryAllowance {
    left: u64,
    is_used_up: bool,
}

impl MemoryAllowance {
    /// No limit.
    pub const UNLIMITED: MemoryAllowance = MemoryAllowance::new(u64::MAX);

    /// This number of bytes.
    pub const fn new(bytes: u64) -> Self {
        MemoryAllowance { left: bytes, is_used_up: false }
    }

    /// Whether a value was larger than allowed.
    pub fn is_used_up(&self) -> bool {
        self.is_used_up
    }

    /// Counts one more part of a value.
    fn take(&mut self, bytes: usize, json: &Jiter<'_>) -> Result<(), JiterError> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.is_used_up = true;
                // Which error does not matter: callers with a limit check whether it was used up.
                let error_type = JiterErrorType::JsonError(JsonErrorType::RecursionLimitExceeded);
                Err(JiterError { error_type, index: json.current_index() })
            }
        }
    }
}

/// An entry of a map: key and value, the hash, a place in the table, and the key on the heap.
pub const MAP_ENTRY_BYTES: usize = 112;

/// A score value. What is nested deeper than scalars in a list or map is skipped and named.
pub fn score(json: &mut Jiter<'_>, peek: Peek) -> Result<Result<Value, &'static str>, JiterError> {
    score_within(json, peek, &mut MemoryAllowance::UNLIMITED.clone())
}

/// The same with a limit on what lists and maps may take.
pub fn score_within(
    json: &mut Jiter<'_>,
    peek: Peek,
    allowance: &mut MemoryAllowance,
) -> Result<Result<Value, &'static str>, JiterError> {
    let mut nested = None;
    let mut leaf = |json: &mut Jiter<'_>, peek| -> Result<Leaf, JiterError> {
        match scalar(json, peek)? {
            Some(scalar) => Ok(Leaf::from(scalar)),
            None => {
                nested = Some(kind(peek));
                json.known_skip(peek)?;
                Ok(Leaf::Null)
            }
        }
    };
    let value = match peek {
        Peek::Array => Value::List(items(json, allowance, |json, peek, _| leaf(json, peek))?),
        Peek::Object => Value::Map(entries(json, allowance, |json, peek, _| leaf(json, peek))?),
        _ => Value::from(leaf(json, peek)?),
    };
    Ok(nested.map_or(Ok(value), Err))
}

/// Any value, for metadata. An integer beyond 64 bits is the text of its digits, as ids are: as a float, values that differ
/// would be one group or cluster. JSON has no word for a number that is not finite, so it becomes null.
pub fn any(json: &mut Jiter<'_>, peek: Peek) -> Result<Json, JiterError> {
    any_within(json, peek, &mut MemoryAllowance::UNLIMITED.clone())
}

/// The same with a limit on what lists and maps may take.
pub fn any_within(
    json: &mut Jiter<'_>,
    peek: Peek,
    allowance: &mut MemoryAllowance,
) -> Result<Json, JiterError> {
    nested(json, peek, MAX_DEPTH, allowance)
}

fn nested(
    json: &mut Jiter<'_>,
    peek: Peek,
    depth: usize,
    allowance: &mut MemoryAllowance,
) -> Result<Json, JiterError> {
    if depth == 0 {
        let error_type = JiterErrorType::JsonError(JsonErrorType::RecursionLimitExceeded);
        return Err(JiterError { error_type, index: json.current_index() });
    }
    let deeper = |json: &mut Jiter<'_>, peek, allowance: &mut MemoryAllowance| {
        nested(json, peek, depth - 1, allowance)
    };
    match peek {
        Peek::Array => Ok(Json::Array(items(json, allowance, deeper)?)),
        Peek::Object => Ok(Json::Object(entries(json, allowance, deeper)?)),
        _ => Ok(match scalar(json, peek)? {
            None | Some(Scalar::Null) => Json::Null,
            Some(Scalar::Bool(b)) => Json::from(b),
            Some(Scalar::Int(i)) => Json::from(i),
            Some(Scalar::Big(i)) => Json::from(i),
            Some(Scalar::Float(f)) => Json::from(f),
            Some(Scalar::Text(text) | Scalar::Digits(text)) => Json::from(text),
        }),
    }
}

/// The items of a list.
fn items<T>(
    json: &mut Jiter<'_>,
    allowance: &mut MemoryAllowance,
    mut item: impl FnMut(&mut Jiter<'_>, Peek, &mut MemoryAllowance) -> Result<T, JiterError>,
) -> Result<Vec<T>, JiterError> {
    let mut items = Vec::new();
    let mut next = json.known_array()?;
    while let Some(peek) = next {
        allowance.take(size_of::<T>(), json)?;
        items.push(item(json, peek, allowance)?);
        next = json.array_step()?;
    }
    Ok(items)
}

/// The entries of a map.
fn entries<K: for<'k> From<&'k str> + AsRef<str>, T, M: Default + Extend<(K, T)>>(
    json: &mut Jiter<'_>,
    allowance: &mut MemoryAllowance,
    mut value: impl FnMut(&mut Jiter<'_>, Peek, &mut MemoryAllowance) -> Result<T, JiterError>,
) -> Result<M, JiterError> {
    let mut map = M::default();
    let mut key = json.known_object()?.map(K::from);
    while let Some(name) = key {
        let peek = json.peek()?;
        allowance.take(MAP_ENTRY_BYTES + size_of::<T>() + name.as_ref().len(), json)?;
        map.extend([(name, value(json, peek, allowance)?)]);
        key = json.next_key()?.map(K::from);
    }
    Ok(map)
}

/// The value of a score as JSON, with `NaN` and `Infinity` bare.
pub fn score_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    write_score(value, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes the value of a score as JSON, with `NaN` and `Infinity` bare.
pub fn write_score(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Unscored => write_float(f64::NAN, out),
        Value::Bool(b) => write_json(b, out),
        Value::Int(i) => write_json(i, out),
        Value::Float(f) => write_float(*f, out),
        Value::Str(s) => write_json(s.as_ref(), out),
        Value::List(items) => {
            let mut open = b'[';
            for leaf in items {
                out.push(std::mem::replace(&mut open, b','));
                write_leaf(leaf, out);
            }
            out.extend_from_slice(if items.is_empty() { b"[]" } else { b"]" });
        }
        Value::Map(map) => {
            let mut open = b'{';
            for (key, leaf) in map {
                out.push(std::mem::replace(&mut open, b','));
                write_json(key.as_ref(), out);
                out.push(b':');
                write_leaf(leaf, out);
            }
            out.extend_from_slice(if map.is_empty() { b"{}" } else { b"}" });
        }
    }
}

fn write_leaf(leaf: &Leaf, out: &mut Vec<u8>) {
    match leaf {
        Leaf::Unscored => write_float(f64::NAN, out),
        Leaf::Null => write_json(&(), out),
        Leaf::Bool(b) => write_json(b, out),
        Leaf::Int(i) => write_json(i, out),
        Leaf::Float(f) => write_float(*f, out),
        Leaf::Str(s) => write_json(s.as_ref(), out),
    }
}

/// Writes any float.
pub fn write_float(value: f64, out: &mut Vec<u8>) {
    match value {
        f64::INFINITY => out.extend_from_slice(b"Infinity"),
        f64::NEG_INFINITY => out.extend_from_slice(b"-Infinity"),
        _ if value.is_nan() => out.extend_from_slice(b"NaN"),
        _ => write_json(&value, out),
    }
}

/// Writes any value that holds no number which is not finite (one that does becomes null).
pub fn write_json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    let start = out.len();
    // Our own types serialise and memory does not fail; should one not, null keeps the JSON readable.
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: impl Into<Value>) -> String {
        score_json(&value.into())
    }

    #[test]
    fn numbers_that_are_not_finite_are_bare() {
        assert_eq!(written(f64::NAN), "NaN");
        assert_eq!(written(f64::INFINITY), "Infinity");
        assert_eq!(written(f64::NEG_INFINITY), "-Infinity");
        assert_eq!(written(Value::map([("a", Leaf::Unscored), ("b", Leaf::Null)])), r#"{"a":NaN,"b":null}"#);
        assert_eq!(written(Value::list([0.5, f64::NAN])), "[0.5,NaN]");
        assert_eq!(written(Value::list(Vec::<f64>::new())), "[]");
        assert_eq!(written(Value::map(Vec::<(&str, f64)>::new())), "{}");
    }

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(written("\"},\n\u{1}\u{2028}é"), "\"\\\"},\\n\\u0001\u{2028}é\"");
        let key = Value::map([("k\"\\", 1)]);
        assert_eq!(written(key), r#"{"k\"\\":1}"#);
    }

    #[test]
    fn integers_beyond_64_bits_keep_their_digits() {
        let read = |text: &str| {
            let mut json = Jiter::new(text.as_bytes());
            let peek = json.peek().unwrap();
            any(&mut json, peek).unwrap()
        };
        for digits in ["99999999999999999999", "-99999999999999999998"] {
            assert_eq!(read(digits), digits);
            let nested = read(&format!(r#"{{"a": [{digits}]}}"#));
            assert_eq!(nested, serde_json::json!({"a": [digits]}));
        }
        assert_eq!(read("18446744073709551615"), u64::MAX);
    }
}
