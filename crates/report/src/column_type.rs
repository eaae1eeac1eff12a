//! What columns of records hold.

use serde_json::Value as Json;

/// What a column of records holds, nulls apart: for those who make a table with types of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// Strings.
    Text,
    /// Floating-point numbers.
    Float,
    /// Integers.
    Int,
    /// Integers up to 2^64, such as seeds.
    Unsigned,
    /// Booleans.
    Bool,
    /// A list of integers; one integer is a list of it.
    Ints,
    /// Lists and maps.
    Json,
}

impl ColumnType {
    /// Whether a column of this type has this value as it is.
    ///
    /// ```
    /// use errorbar_report::ColumnType;
    /// use serde_json::json;
    /// assert!(ColumnType::Int.holds(&json!(3)) && ColumnType::Int.holds(&json!(null)));
    /// assert!(!ColumnType::Int.holds(&json!(0.5)));
    /// ```
    pub fn holds(self, value: &Json) -> bool {
        value.is_null()
            || match self {
                ColumnType::Text => value.is_string(),
                ColumnType::Float => value.is_number(),
                ColumnType::Int => value.is_i64(),
                ColumnType::Unsigned => value.is_u64(),
                ColumnType::Bool => value.is_boolean(),
                ColumnType::Ints => {
                    value.is_i64() || value.as_array().is_some_and(|items| items.iter().all(Json::is_i64))
                }
                ColumnType::Json => value.is_array() || value.is_object(),
            }
    }
}
