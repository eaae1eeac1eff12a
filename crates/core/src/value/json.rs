//! Values to and from JSON. Bare `NaN` never reaches this place: readers of logs and tables
//! turn it into [`Value::Unscored`] themselves; here unscored is written as null.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value as Json;

use super::{Leaf, Value};
use crate::error::{Error, Result};

impl Value {
    /// Reads a score value from JSON; null is unscored, lists and maps hold scalars only.
    pub fn from_json(json: &Json) -> Result<Value> {
        match json {
            Json::Array(items) => items.iter().map(Leaf::from_json).collect::<Result<_>>().map(Value::List),
            Json::Object(map) => map
                .iter()
                .map(|(k, v)| Ok((k.as_str().into(), Leaf::from_json(v)?)))
                .collect::<Result<_>>()
                .map(Value::Map),
            scalar => Leaf::from_json(scalar).map(Value::from),
        }
    }

    /// Writes the value as strict JSON; unscored and infinite floats become null.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Unscored => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(i) => Json::from(*i),
            Value::Float(f) => Json::from(*f),
            Value::Str(s) => Json::from(s.as_ref()),
            Value::List(items) => items.iter().map(Leaf::to_json).collect(),
            Value::Map(map) => map.iter().map(|(k, v)| (k.to_string(), v.to_json())).collect(),
        }
    }
}

impl Leaf {
    /// Reads a scalar from JSON. An integer beyond 64 bits is read as a float.
    pub fn from_json(json: &Json) -> Result<Leaf> {
        match json {
            Json::Null => Ok(Leaf::Null),
            Json::Bool(b) => Ok(Leaf::Bool(*b)),
            Json::Number(n) => match (n.as_i64(), n.as_f64()) {
                (Some(i), _) => Ok(Leaf::Int(i)),
                (None, Some(f)) => Ok(Leaf::from(f)),
                (None, None) => Err(Error::NestedValue { found: n.to_string() }),
            },
            Json::String(s) => Ok(Leaf::Str(s.as_str().into())),
            Json::Array(_) => Err(Error::NestedValue { found: "a list".to_owned() }),
            Json::Object(_) => Err(Error::NestedValue { found: "a map".to_owned() }),
        }
    }

    /// Writes the scalar as strict JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Leaf::Unscored | Leaf::Null => Json::Null,
            Leaf::Bool(b) => Json::Bool(*b),
            Leaf::Int(i) => Json::from(*i),
            Leaf::Float(f) => Json::from(*f),
            Leaf::Str(s) => Json::from(s.as_ref()),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Value::from_json(&Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_number_types_apart() {
        let read = |s: &str| serde_json::from_str::<Value>(s);
        assert_eq!(read("1").unwrap(), Value::Int(1));
        assert_eq!(read("1.0").unwrap(), Value::Float(1.0));
        assert_eq!(read("null").unwrap(), Value::Unscored);
        assert_eq!(read("18446744073709551616").unwrap(), Value::Float(18446744073709551616.0));
        assert_eq!(read(r#"{"a": null}"#).unwrap(), Value::map([("a", None::<i64>)]));
        let nested = Value::from_json(&serde_json::json!([[1]]));
        assert_eq!(nested, Err(Error::NestedValue { found: "a list".to_owned() }));
    }
}
