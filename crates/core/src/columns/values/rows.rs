//! Rows of a column once more, and rows in another order: as codes, without making values of them.

use std::sync::Arc;

use super::{Repr, ValueColumn};
use crate::columns::tagged::Tag;

impl ValueColumn {
    /// Appends what a row holds.
    pub(in crate::columns) fn repeat_row(&mut self, row: usize) {
        let tagged = self.make_tagged();
        let (tag, payload) = match (tagged.tags.get(row).copied(), tagged.payloads.get(row)) {
            (Some(Tag::Nested), Some(payload)) => {
                let nested = tagged.nested.get(payload as usize).cloned();
                tagged.encode(nested)
            }
            (Some(tag), Some(payload)) => (tag, payload),
            _ => (Tag::Missing, 0),
        };
        tagged.push(tag, payload);
    }

    /// These rows, in this order.
    pub(in crate::columns) fn reordered(&self, order: &[u32]) -> Self {
        let mut column = ValueColumn::with_capacity(order.len());
        let Repr::Tagged(other) = &self.0 else {
            order.iter().for_each(|row| column.push(self.to_value(*row as usize)));
            return column;
        };
        let own = column.make_tagged();
        let mut known: Vec<Option<u64>> = vec![None; other.texts.len()];
        for row in order.iter().map(|row| *row as usize) {
            let (tag, payload) = match (other.tags.get(row).copied(), other.payloads.get(row)) {
                (Some(Tag::Text), Some(payload)) => {
                    match (known.get_mut(payload as usize), other.text(payload)) {
                        (Some(code), Some(text)) => {
                            let code = code.get_or_insert_with(|| own.text_code(text, || Arc::clone(text)));
                            (Tag::Text, *code)
                        }
                        _ => (Tag::Missing, 0),
                    }
                }
                (Some(Tag::Nested), Some(payload)) => own.encode(other.nested.get(payload as usize).cloned()),
                (Some(tag), Some(payload)) => (tag, payload),
                _ => (Tag::Missing, 0),
            };
            own.push(tag, payload);
        }
        column
    }
}

#[cfg(test)]
mod tests {
    use crate::columns::ValueColumn;
    use crate::value::{Leaf, Value};

    #[test]
    fn rows_hold_the_same_wherever_they_are() {
        let mut column = ValueColumn::default();
        let values = [
            Some(Value::from("C")),
            None,
            Some(Value::map([("style", 1)])),
            Some(Value::Unscored),
            Some(Value::Float(0.25)),
            Some(Value::from("I")),
            Some(Value::Int(-7)),
            Some(Value::List(vec![Leaf::Int(1), Leaf::Null])),
            Some(Value::Bool(true)),
        ];
        values.iter().for_each(|value| column.push(value.clone()));
        let order = [7, 5, 0, 5, 2, 1, 8, 3, 4, 6, 2];
        let reordered = column.reordered(&order);
        (0..values.len()).for_each(|row| column.repeat_row(row));
        for (row, value) in values.iter().enumerate() {
            assert_eq!(column.to_value(row), *value);
            assert_eq!(column.to_value(values.len() + row), *value);
        }
        for (at, row) in order.iter().enumerate() {
            assert_eq!(reordered.to_value(at), values[*row as usize]);
        }
        assert_eq!(reordered.count_present(), (10, 1));
        assert_eq!(column.count_present(), (16, 2));
        let floats = ValueColumn::from_floats(vec![1.5, f64::NAN, 2.5]);
        let reordered = floats.reordered(&[2, 1, 0]);
        assert_eq!([0, 1, 2].map(|row| reordered.to_value(row)), [2, 1, 0].map(|row| floats.to_value(row)));
    }
}
