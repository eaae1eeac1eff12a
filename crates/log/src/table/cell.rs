//! What a text cell means as a score.

use errorbar_core::Value;

/// A cell as a score; nothing if it is empty, which makes the score missing.
///
/// Numbers keep their kind, because reducers and frequencies tell `1` from `1.0`. What is no number
/// stays the text it is, blanks included: whether it means something is for the conversion to say.
pub(super) fn score(cell: &str) -> Option<Value> {
    let trimmed = cell.trim();
    if trimmed.is_empty() {
        return None;
    }
    if let Ok(int) = trimmed.parse::<i64>() {
        return Some(Value::Int(int));
    }
    // Also reads `nan`, which becomes unscored, and `inf`, which a metric refuses by name.
    if let Ok(float) = trimmed.parse::<f64>() {
        return Some(Value::from(float));
    }
    if trimmed.eq_ignore_ascii_case("true") {
        Some(Value::Bool(true))
    } else if trimmed.eq_ignore_ascii_case("false") {
        Some(Value::Bool(false))
    } else {
        Some(Value::from(cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_kind() {
        let cases = [
            ("1", Value::Int(1)),
            ("007", Value::Int(7)),
            (" -3 ", Value::Int(-3)),
            ("1.0", Value::Float(1.0)),
            ("1e-2", Value::Float(0.01)),
            ("99999999999999999999", Value::Float(1e20)),
            ("TRUE", Value::Bool(true)),
            ("False", Value::Bool(false)),
            ("nan", Value::Unscored),
            ("NaN", Value::Unscored),
            ("inf", Value::Float(f64::INFINITY)),
            ("-Infinity", Value::Float(f64::NEG_INFINITY)),
            ("C", Value::from("C")),
            (" C", Value::from(" C")),
            ("1_000", Value::from("1_000")),
            ("yes", Value::from("yes")),
        ];
        for (cell, value) in cases {
            assert_eq!(score(cell), Some(value), "{cell:?}");
        }
        assert_eq!(score(""), None);
        assert_eq!(score("  "), None);
    }
}
