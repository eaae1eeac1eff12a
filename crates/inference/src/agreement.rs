//! Whether both sides of pairs put their samples into the same clusters and groups.

use std::collections::HashMap;

use serde_json::Value as Json;

use errorbar_core::ScoreColumns;
use errorbar_core::python_text::json_text;

use crate::error::{ComparisonError, ComparisonErrorKind};

/// Two sides by name, and their scores.
pub(crate) struct NamedColumns<'a> {
    pub(crate) names: [&'a str; 2],
    pub(crate) columns: [&'a ScoreColumns; 2],
}

impl NamedColumns<'_> {
    /// Checks that the rows of the same samples have the same value under a metadata key. A side without a value takes that of
    /// the other.
    ///
    /// # Errors
    /// The first sample with two values: whichever is taken, clusters and groups would depend on which side is the base.
    pub(crate) fn check_key(
        &self,
        key: &str,
        rows: impl Iterator<Item = (usize, usize)>,
    ) -> Result<(), ComparisonError> {
        let [base, other] = self.columns;
        let (Some(of_base), Some(of_other)) = (base.metadata_column(key), other.metadata_column(key)) else {
            return Ok(());
        };
        // Values are compared once, and then their codes.
        let mut known: HashMap<(u32, u32), bool> = HashMap::new();
        for (base_row, row) in rows {
            let (Some(base_code), Some(code)) = (of_base.code(base_row), of_other.code(row)) else {
                continue;
            };
            let values = || Some((of_base.value(base_code as usize)?, of_other.value(code as usize)?));
            let is_same = *known
                .entry((base_code, code))
                .or_insert_with(|| values().is_none_or(|(base, other)| is_same_value(base, other)));
            if is_same {
                continue;
            }
            let [base_value, other_value] =
                values().map_or_else(Default::default, |(base, other)| [base, other].map(json_text));
            let ([of_base, of_other], sample) = (self.names, base.id(base_row));
            let text = format!(
                "`{key}` of sample {sample:?} is {base_value} in {of_base} and {other_value} in {of_other}: the sides \
                 disagree on which samples belong together"
            );
            return Err(ComparisonError::new(ComparisonErrorKind::OtherKey(key.to_owned()), text));
        }
        Ok(())
    }
}

/// Whether two values are the same text or number: a table may write 1 as `1.0`.
fn is_same_value(base: &Json, other: &Json) -> bool {
    let (base, other) = (json_text(base), json_text(other));
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    base == other || number(&base).is_some_and(|base| number(&other) == Some(base))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        for (base, other, is_same) in [
            (json!("1"), json!("1.0"), true),
            (json!(1), json!("1"), true),
            (json!("a"), json!("a"), true),
            (json!("a"), json!("A"), false),
            (json!("nan"), json!("NaN"), false),
            (json!(1), json!(2), false),
            (json!([1]), json!([1]), true),
        ] {
            assert_eq!(is_same_value(&base, &other), is_same, "{base} {other}");
        }
    }
}
