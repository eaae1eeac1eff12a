//! The types of columns of a Parquet file.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::ColumnDescriptor;

use crate::typed::ValueKind;

/// What a column holds; the words for it if it cannot be read.
pub(super) fn kind_of(column: &ColumnDescriptor) -> Result<ValueKind, String> {
    if column.max_rep_level() > 0 {
        return Err("lists or maps".to_owned());
    }
    let of_type = |name: &str| Err(format!("values of the type {name}"));
    let converted = column.converted_type();
    match (column.physical_type(), column.logical_type_ref()) {
        (physical, Some(LogicalType::Decimal { .. })) => decimal(physical, column),
        (_, Some(LogicalType::Date)) => Err("dates".to_owned()),
        (_, Some(LogicalType::Time { .. } | LogicalType::Timestamp { .. })) => Err("times".to_owned()),
        (_, Some(LogicalType::Bson)) => of_type("BSON"),
        (physical, None) if converted == ConvertedType::DECIMAL => decimal(physical, column),
        (_, None) if converted == ConvertedType::DATE => Err("dates".to_owned()),
        (Type::BOOLEAN, _) => Ok(ValueKind::Bool),
        (Type::INT32 | Type::INT64, Some(LogicalType::Integer(int))) if !int.is_signed => {
            Ok(ValueKind::Unsigned)
        }
        (Type::INT32 | Type::INT64, _) => match converted {
            ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS => Err("times".to_owned()),
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Ok(ValueKind::Unsigned),
            _ => Ok(ValueKind::Int),
        },
        (Type::FLOAT | Type::DOUBLE, _) => Ok(ValueKind::Float),
        (Type::BYTE_ARRAY, Some(LogicalType::Json)) => Ok(ValueKind::Json),
        (Type::BYTE_ARRAY, None) if converted == ConvertedType::JSON => Ok(ValueKind::Json),
        (Type::BYTE_ARRAY, _) if converted == ConvertedType::BSON => of_type("BSON"),
        (Type::BYTE_ARRAY, _) => Ok(ValueKind::Text),
        (Type::INT96, _) => Err("times".to_owned()),
        (Type::FIXED_LEN_BYTE_ARRAY, _) => of_type("FIXED_LEN_BYTE_ARRAY"),
    }
}

/// The longest decimal that is read, in bytes.
const LONGEST_DECIMAL: i32 = 16;

fn decimal(physical: Type, column: &ColumnDescriptor) -> Result<ValueKind, String> {
    let is_read = match physical {
        Type::INT32 | Type::INT64 => true,
        Type::FIXED_LEN_BYTE_ARRAY => (1..=LONGEST_DECIMAL).contains(&column.type_length()),
        _ => false,
    };
    match (is_read, column.type_scale()) {
        (true, 0) => Ok(ValueKind::Int),
        (true, _) => Ok(ValueKind::Decimal),
        (false, _) => Err("decimals of more than 38 digits".to_owned()),
    }
}
