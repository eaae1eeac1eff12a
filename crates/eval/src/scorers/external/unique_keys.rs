//! JSON in which no object has a key twice: readers keep the last of them, and what the first said would be lost.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Any JSON value that is that.
pub(super) struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueKeys)
    }
}

/// Values that have no keys.
macro_rules! scalars {
    ($($visit:ident: $type:ty),+) => {$(
        fn $visit<E: Error>(self, _: $type) -> Result<Self, E> {
            Ok(self)
        }
    )+};
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<UniqueKeys>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            fields.next_value::<UniqueKeys>()?;
            if let Some(key) = keys.replace(key) {
                return Err(Error::custom(format_args!("it has the key `{key}` twice")));
            }
        }
        Ok(self)
    }
}
