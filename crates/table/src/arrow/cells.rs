//! The cells of Arrow arrays.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int32Type, Int64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, GenericStringArray, OffsetSizeTrait, StructArray,
    downcast_integer_array,
};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{DataType, Fields};
use errorbar_core::engine::TextColumn;
use errorbar_core::{Leaf, LeafMap, Value};
use serde_json::{Map, Value as Json};

use super::NO_CELL;
use crate::TableErrorKind;
use crate::preview::text_of;
use crate::typed::{TypedCell, TypedCells, ValueKind, narrowed};

/// What a column holds; the words for it if it cannot be read.
pub(super) fn kind_of(of: &DataType) -> Result<ValueKind, String> {
    match of {
        // As Parquet has a column without a value.
        DataType::Null => Ok(ValueKind::Int),
        DataType::Boolean => Ok(ValueKind::Bool),
        of if of.is_integer() => Ok(ValueKind::Int),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Ok(ValueKind::Float),
        DataType::Decimal32(_, 0) | DataType::Decimal64(_, 0) | DataType::Decimal128(_, 0) => {
            Ok(ValueKind::Int)
        }
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => {
            Ok(ValueKind::Decimal)
        }
        DataType::Decimal256(..) => Err("decimals of more than 38 digits".to_owned()),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(ValueKind::Text),
        DataType::Dictionary(_, values) => kind_of(values),
        // What is in them is read, too.
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            kind_of(item.data_type()).map(|_| ValueKind::Nested).map_err(|found| format!("lists of {found}"))
        }
        DataType::Struct(fields) => nested(fields),
        DataType::Map(entries, _) => kind_of(entries.data_type()),
        DataType::Date32 | DataType::Date64 => Err("dates".to_owned()),
        DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_)
        | DataType::Interval(_) => Err("times".to_owned()),
        other => Err(format!("values of the type {other}")),
    }
}

/// What maps with these fields are.
fn nested(fields: &Fields) -> Result<ValueKind, String> {
    let unread = fields.iter().find_map(|field| kind_of(field.data_type()).err());
    unread.map_or(Ok(ValueKind::Nested), |found| Err(format!("maps of {found}")))
}

/// A column of a batch, with the nulls of the structures that it is in.
#[derive(Debug)]
pub(super) struct ArrowColumn {
    array: ArrayRef,
    nulls: Option<NullBuffer>,
}

impl ArrowColumn {
    /// A column that is valid; `outer` are the nulls of the structures that it is in.
    pub(super) fn new(array: ArrayRef, outer: Option<&NullBuffer>) -> Self {
        let nulls = NullBuffer::union(outer, array.logical_nulls().as_ref());
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        ArrowColumn { array, nulls }
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    pub(super) fn len(&self) -> usize {
        self.array.len()
    }

    /// A cell for messages, and to find out what a column is.
    pub(super) fn json(&self, row: usize) -> Json {
        if self.is_null(row) { NO_CELL } else { json_at(self.array.as_ref(), row) }
    }

    /// Gives cells to `each`, and nulls where they are.
    #[inline(always)]
    fn give<'v>(
        &self,
        cells: impl Iterator<Item = TypedCell<'v>>,
        mut each: impl FnMut(TypedCell<'v>) -> Result<(), TableErrorKind>,
    ) -> Result<(), TableErrorKind> {
        match &self.nulls {
            None => cells.into_iter().try_for_each(each),
            Some(nulls) => nulls
                .iter()
                .zip(cells)
                .try_for_each(|(is_valid, cell)| each(if is_valid { cell } else { TypedCell::Null })),
        }
    }

    /// Appends all strings to ids, together; false, and nothing done, for other types, and if some are null or empty.
    pub(super) fn extend_ids(&self, ids: &mut TextColumn) -> bool {
        let array = self.array.as_ref();
        let extended = match array.data_type() {
            _ if self.nulls.is_some() => None,
            DataType::Utf8 => array.as_string_opt::<i32>().and_then(|texts| extend_texts(ids, texts)),
            DataType::LargeUtf8 => array.as_string_opt::<i64>().and_then(|texts| extend_texts(ids, texts)),
            _ => None,
        };
        extended.is_some()
    }

    /// A list or a map as a score; the word for what is in it, if that is nested again.
    pub(super) fn structure(&self, row: usize) -> Result<Option<Value>, &'static str> {
        if self.is_null(row) { Ok(None) } else { structure_at(self.array.as_ref(), row) }
    }
}

impl TypedCells for ArrowColumn {
    #[inline]
    fn for_each(
        &self,
        row: &mut usize,
        mut each: impl FnMut(TypedCell<'_>) -> Result<(), TableErrorKind>,
    ) -> Result<(), TableErrorKind> {
        let array = self.array.as_ref();
        let mut each = |cell: TypedCell<'_>| {
            each(cell)?;
            *row += 1;
            Ok(())
        };
        if let Some(ints) = array.as_primitive_opt::<Int64Type>() {
            return self.give(ints.values().iter().map(|int| TypedCell::Int(*int)), each);
        }
        if let Some(ints) = array.as_primitive_opt::<Int32Type>() {
            return self.give(ints.values().iter().map(|int| TypedCell::Int((*int).into())), each);
        }
        if let Some(floats) = array.as_primitive_opt::<Float64Type>() {
            return self.give(floats.values().iter().map(|float| TypedCell::Float(*float)), each);
        }
        if let Some(texts) = array.as_string_opt::<i32>() {
            return self.give((0..texts.len()).map(|at| TypedCell::Text(texts.value(at))), each);
        }
        if let Some(texts) = array.as_string_opt::<i64>() {
            return self.give((0..texts.len()).map(|at| TypedCell::Text(texts.value(at))), each);
        }
        if let Some(texts) = array.as_string_view_opt() {
            return self.give((0..texts.len()).map(|at| TypedCell::Text(texts.value(at))), each);
        }
        match array.as_any_dictionary_opt() {
            Some(coded) if !coded.values().is_empty() => {
                let codes = coded.normalized_keys().into_iter();
                self.give(codes.map(|code| cell_at(coded.values().as_ref(), code)), each)
            }
            Some(_) => (0..array.len()).try_for_each(|_| each(TypedCell::Null)),
            // Other types are not worth a loop of their own.
            None => self.give((0..array.len()).map(|at| cell_at(array, at)), each),
        }
    }

    fn narrowed<T>(&self, most: i64, narrow: impl Fn(i64) -> T) -> Option<Vec<T>> {
        let array = self.nulls.is_none().then_some(self.array.as_ref())?;
        downcast_integer_array!(
            array => {
                // One beyond `i64` is negative here.
                narrowed(array.values().iter().map(|int| int.to_i64().unwrap_or(-1)), most, narrow)
            }
            _ => None
        )
    }

    fn coded(&self) -> Option<(Vec<&str>, Vec<u32>)> {
        let coded = self.array.as_any_dictionary_opt().filter(|_| self.nulls.is_none())?;
        let values = coded.values();
        if values.is_empty() || values.len() / 8 > self.array.len() || values.null_count() > 0 {
            return None;
        }
        let text = |at: usize| match cell_at(values.as_ref(), at) {
            TypedCell::Text(text) => Some(text),
            _ => None,
        };
        let texts = (0..values.len()).map(text).collect::<Option<Vec<&str>>>()?;
        let codes = coded.normalized_keys().into_iter().map(|code| code as u32).collect();
        Some((texts, codes))
    }
}

/// Whether an array is of strings in ASCII, none of which ends before it starts. Most strings are, and many bytes are looked
/// at in a step.
pub(super) fn is_ascii(array: &dyn Array) -> bool {
    fn of<O: OffsetSizeTrait>(texts: &GenericStringArray<O>) -> bool {
        let offsets = texts.value_offsets();
        let goes_up =
            offsets.iter().zip(offsets.iter().skip(1)).fold(true, |all, (start, end)| all & (start <= end));
        goes_up && bytes_of(texts).is_some_and(<[u8]>::is_ascii)
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string_opt::<i32>().is_some_and(of),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().is_some_and(of),
        _ => false,
    }
}

/// The bytes of all strings: of a part of an array not those of the whole.
fn bytes_of<O: OffsetSizeTrait>(texts: &GenericStringArray<O>) -> Option<&[u8]> {
    let (start, end) = (texts.value_offsets().first()?, texts.value_offsets().last()?);
    texts.value_data().get(start.as_usize()..end.as_usize())
}

/// Appends all strings, none of which may be empty.
fn extend_texts<O: OffsetSizeTrait>(ids: &mut TextColumn, texts: &GenericStringArray<O>) -> Option<()> {
    let (first, ends) = texts.value_offsets().split_first()?;
    let has_empty =
        texts.value_offsets().windows(2).fold(false, |any, pair| any | matches!(pair, [a, b] if a == b));
    let text = str::from_utf8(bytes_of(texts)?).ok().filter(|_| !has_empty)?;
    ids.extend(text, ends.iter().map(|end| end.as_usize() - first.as_usize()));
    Some(())
}

/// The number at a position that the array has.
fn number<T: ArrowPrimitiveType>(array: &dyn Array, at: usize) -> Option<T::Native> {
    array.as_primitive_opt::<T>().map(|numbers| numbers.value(at))
}

/// The cell at a position that the array has.
fn cell_at(array: &dyn Array, at: usize) -> TypedCell<'_> {
    if array.is_null(at) {
        return TypedCell::Null;
    }
    let scaled = |int: i128, scale: i8| match scale {
        0 => TypedCell::integer(int),
        _ => TypedCell::Float(int as f64 / 10f64.powi(scale.into())),
    };
    let cell = match array.data_type() {
        DataType::Boolean => array.as_boolean_opt().map(|bools| TypedCell::Bool(bools.value(at))),
        kind if kind.is_integer() => downcast_integer_array!(
            array => Some(TypedCell::integer(array.value(at).into())),
            _ => None
        ),
        DataType::Float16 => number::<Float16Type>(array, at).map(|float| TypedCell::Float(float.into())),
        DataType::Float32 => number::<Float32Type>(array, at).map(|float| TypedCell::Float(float.into())),
        DataType::Float64 => number::<Float64Type>(array, at).map(TypedCell::Float),
        DataType::Decimal32(_, scale) => {
            number::<Decimal32Type>(array, at).map(|int| scaled(int.into(), *scale))
        }
        DataType::Decimal64(_, scale) => {
            number::<Decimal64Type>(array, at).map(|int| scaled(int.into(), *scale))
        }
        DataType::Decimal128(_, scale) => number::<Decimal128Type>(array, at).map(|int| scaled(int, *scale)),
        DataType::Utf8 => array.as_string_opt::<i32>().map(|texts| TypedCell::Text(texts.value(at))),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|texts| TypedCell::Text(texts.value(at))),
        DataType::Utf8View => array.as_string_view_opt().map(|texts| TypedCell::Text(texts.value(at))),
        DataType::Dictionary(..) => decoded(array, at).map(|(values, at)| cell_at(values, at)),
        _ => None,
    };
    cell.unwrap_or(TypedCell::Null)
}

/// Where the value of a position is, which in a dictionary is elsewhere; none for a null.
fn decoded(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize)> {
    if array.is_null(at) {
        return None;
    }
    let Some(coded) = array.as_any_dictionary_opt() else { return Some((array, at)) };
    let TypedCell::Int(code) = cell_at(coded.keys(), at) else { return None };
    let code = usize::try_from(code).ok().filter(|code| *code < coded.values().len())?;
    decoded(coded.values().as_ref(), code)
}

/// The items of a list; none if it is something else.
fn items(array: &dyn Array, at: usize) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::List(_) => array.as_list_opt::<i32>().map(|lists| lists.value(at)),
        DataType::LargeList(_) => array.as_list_opt::<i64>().map(|lists| lists.value(at)),
        DataType::FixedSizeList(..) => array.as_fixed_size_list_opt().map(|lists| lists.value(at)),
        _ => None,
    }
}

/// The keys and values of a map, or the fields of a structure; none if it is something else.
fn entries(array: &dyn Array, at: usize) -> Option<Vec<(String, ArrayRef, usize)>> {
    match array.data_type() {
        DataType::Struct(fields) => {
            let structure: &StructArray = array.as_struct_opt()?;
            let entry = |(name, column): (&String, &ArrayRef)| (name.clone(), ArrayRef::clone(column), at);
            Some(fields.iter().map(|field| field.name()).zip(structure.columns()).map(entry).collect())
        }
        DataType::Map(..) => {
            let map = array.as_map_opt()?.value(at);
            let (keys, values) = (map.columns().first()?, map.columns().get(1)?);
            let entry = |row: usize| (text_of(&json_at(keys.as_ref(), row)), ArrayRef::clone(values), row);
            Some((0..map.len()).map(entry).collect())
        }
        _ => None,
    }
}

fn structure_at(array: &dyn Array, at: usize) -> Result<Option<Value>, &'static str> {
    let Some((array, at)) = decoded(array, at) else { return Ok(None) };
    if let Some(items) = items(array, at) {
        let leaves = (0..items.len()).map(|item| leaf_at(items.as_ref(), item)).collect::<Result<_, _>>()?;
        return Ok(Some(Value::List(leaves)));
    }
    let Some(entries) = entries(array, at) else { return Ok(None) };
    let leaves = entries
        .into_iter()
        .map(|(key, values, row)| Ok((key.into(), leaf_at(values.as_ref(), row)?)))
        .collect::<Result<LeafMap, &'static str>>()?;
    Ok(Some(Value::Map(leaves)))
}

fn leaf_at(array: &dyn Array, at: usize) -> Result<Leaf, &'static str> {
    let Some((array, at)) = decoded(array, at) else { return Ok(Leaf::Null) };
    match array.data_type() {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => Err("a list"),
        DataType::Struct(_) | DataType::Map(..) => Err("a map"),
        _ => Ok(match cell_at(array, at) {
            TypedCell::Null => Leaf::Null,
            TypedCell::Bool(b) => Leaf::from(b),
            TypedCell::Int(int) => Leaf::from(int),
            TypedCell::Wide(int) => Leaf::from(int as f64),
            TypedCell::Float(float) => Leaf::from(float),
            TypedCell::Text(text) => Leaf::from(text),
        }),
    }
}

/// Any value. JSON has no word for a number that is not finite, so it becomes null.
fn json_at(array: &dyn Array, at: usize) -> Json {
    let Some((array, at)) = decoded(array, at) else { return Json::Null };
    if let Some(items) = items(array, at) {
        return (0..items.len()).map(|item| json_at(items.as_ref(), item)).collect();
    }
    if let Some(entries) = entries(array, at) {
        let entry = |(key, values, row): (String, ArrayRef, usize)| (key, json_at(values.as_ref(), row));
        return Json::Object(entries.into_iter().map(entry).collect::<Map<String, Json>>());
    }
    cell_at(array, at).json()
}
