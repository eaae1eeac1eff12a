//! JSON values off a parser that also reads the bare `NaN` and `Infinity` of Python.

use errorbar_core::{Leaf, SampleId, Value};
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
use serde_json::Value as Json;

/// How deep metadata may be nested; the parser's own limit does not see our recursion.
const MAX_DEPTH: usize = 100;

/// A value that is neither a list nor a map.
pub(crate) enum Scalar<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond `i64`.
    Big(u64),
    /// An integer beyond 64 bits, as its digits.
    Digits(&'a str),
    Float(f64),
    Text(&'a str),
}

impl Scalar<'_> {
    /// The value, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(b) => b.to_string(),
            Scalar::Int(i) => i.to_string(),
            Scalar::Big(i) => i.to_string(),
            Scalar::Float(f) => format!("the number {f}"),
            Scalar::Text(text) | Scalar::Digits(text) => crate::table::excerpt(text),
        }
    }

    /// The id that it is: a string or an integer; one beyond `i64` is the string of its digits.
    pub(crate) fn id(&self) -> Option<SampleId> {
        match self {
            Scalar::Int(id) => Some(SampleId::Int(*id)),
            Scalar::Big(id) => Some(SampleId::Str(id.to_string())),
            Scalar::Text(id) | Scalar::Digits(id) => Some(SampleId::Str((*id).to_owned())),
            Scalar::Null | Scalar::Bool(_) | Scalar::Float(_) => None,
        }
    }

    /// The number that an integer beyond 64 bits is closest to.
    pub(crate) fn rounded(digits: &str) -> f64 {
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
pub(crate) fn kind(peek: Peek) -> &'static str {
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
pub(crate) fn scalar<'a>(json: &'a mut Jiter<'_>, peek: Peek) -> Result<Option<Scalar<'a>>, JiterError> {
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
pub(crate) struct MemoryAllowance {
    left: u64,
    is_used_up: bool,
}

impl MemoryAllowance {
    /// No limit.
    pub(crate) const UNLIMITED: MemoryAllowance = MemoryAllowance::new(u64::MAX);

    pub(crate) const fn new(bytes: u64) -> Self {
        MemoryAllowance { left: bytes, is_used_up: false }
    }

    /// Whether a value was larger than allowed.
    pub(crate) fn is_used_up(&self) -> bool {
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
pub(crate) const MAP_ENTRY_BYTES: usize = 112;

/// A score value. What is nested deeper than scalars in a list or map is skipped and named.
pub(crate) fn score(json: &mut Jiter<'_>, peek: Peek) -> Result<Result<Value, &'static str>, JiterError> {
    score_within(json, peek, &mut MemoryAllowance::UNLIMITED.clone())
}

/// The same with a limit on what lists and maps may take.
pub(crate) fn score_within(
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

/// Any value, for metadata. JSON has no word for a number that is not finite, so it becomes null.
pub(crate) fn any(json: &mut Jiter<'_>, peek: Peek) -> Result<Json, JiterError> {
    any_within(json, peek, &mut MemoryAllowance::UNLIMITED.clone())
}

/// The same with a limit on what lists and maps may take.
pub(crate) fn any_within(
    json: &mut Jiter<'_>,
    peek: Peek,
    allowance: &mut MemoryAllowance,
) -> Result<Json, JiterError> {
    nested(json, peek, MAX_DEPTH, allowance, |digits| Json::from(Scalar::rounded(digits)))
}

/// Any value whose integers beyond 64 bits are the text of their digits, so that ids stay as they are.
pub(crate) fn exact(json: &mut Jiter<'_>, peek: Peek) -> Result<Json, JiterError> {
    nested(json, peek, MAX_DEPTH, &mut MemoryAllowance::UNLIMITED.clone(), |digits| {
        Json::String(digits.to_owned())
    })
}

fn nested(
    json: &mut Jiter<'_>,
    peek: Peek,
    depth: usize,
    allowance: &mut MemoryAllowance,
    digits: fn(&str) -> Json,
) -> Result<Json, JiterError> {
    if depth == 0 {
        let error_type = JiterErrorType::JsonError(JsonErrorType::RecursionLimitExceeded);
        return Err(JiterError { error_type, index: json.current_index() });
    }
    let deeper = |json: &mut Jiter<'_>, peek, allowance: &mut MemoryAllowance| {
        nested(json, peek, depth - 1, allowance, digits)
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
            Some(Scalar::Digits(text)) => digits(text),
            Some(Scalar::Text(text)) => Json::from(text),
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
