//! Specs in JSON, TOML and the like. They are written as a string, which is what people put into task files, and read from
//! a string or from the forms of a log.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{MetricsSpec, Spec, SpecError};

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, Self::from_json)
    }
}

/// The structured form: a list or a map of strings.
impl<'de> Deserialize<'de> for MetricsSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, Self::from_log_json)
    }
}

/// By way of a JSON value: what stands there decides how it is to be read, and serde's own way of trying variants ends in
/// errors without information.
fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    from_json: impl FnOnce(&Value) -> Result<T, SpecError>,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    from_json(&value).map_err(|error| D::Error::custom(format_args!("{error:#}")))
}
