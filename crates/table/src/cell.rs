//! The meaning of a cell that is a string.

use errorbar_core::Value;
use errorbar_core::engine::ValueColumn;
use errorbar_files::json_value::{self, MemoryAllowance};
use jiter::{Jiter, JiterError, Peek};

use super::TableErrorKind;
use super::error_text::excerpt;
use super::limits::Budget;

/// An epoch as it is counted: 1, 2, …, or 0, 1, …
#[inline]
pub(super) fn epoch(text: &str) -> Result<u32, TableErrorKind> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Ok(u32::from(digit - b'0')),
        _ => match whole(text.trim()).parse::<u32>() {
            Ok(epoch) => Ok(epoch),
            _ if text.is_empty() => Err(TableErrorKind::bad_epoch("empty")),
            _ => Err(TableErrorKind::bad_epoch(&excerpt(text))),
        },
    }
}

/// A number without a fraction that is zero: data frames write integers as `1.0` where some are missing.
fn whole(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    }
}

/// An integer that is written as a float, such as `3.0` or `1e3`.
pub fn whole_number(float: f64) -> Option<i64> {
    // Beyond this not every integer is a float.
    const MOST: f64 = 9_007_199_254_740_992.0;
    (float.fract() == 0.0 && float.abs() <= MOST).then_some(float as i64)
}

/// Appends a cell as a score, without a copy of a string that the column has already. `structures` is set where what
/// starts like a list or a map is one, with the name of the table's column.
#[inline]
pub(super) fn push_score(
    column: &mut ValueColumn,
    cell: &str,
    structures: Option<(&str, Budget)>,
) -> Result<(), TableErrorKind> {
    match cell.as_bytes() {
        [digit @ b'0'..=b'9'] => column.push_int(i64::from(digit - b'0')),
        [b'A'..=b'Z'] => column.push_text(cell),
        bytes => match (decimal(bytes), structures) {
            (Some(float), _) => column.push_float(float),
            (None, Some((name, budget))) if cell.trim_start().starts_with(['{', '[']) => {
                column.push(Some(structure(cell, name, budget)?));
            }
            (None, _) => column.push(score(cell)),
        },
    }
    Ok(())
}

/// A number with a point and at most fifteen digits, the way most scores that are no grades are written.
/// Its digits and the power of ten are floats without rounding, so their quotient is rounded once, and is
/// what any reader makes of it.
#[inline]
fn decimal(cell: &[u8]) -> Option<f64> {
    const POWERS: [f64; 15] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];
    let unsigned = cell.strip_prefix(b"-").unwrap_or(cell);
    // Fifteen digits and a point.
    if unsigned.len() > 16 {
        return None;
    }
    let mut digits = 0_u64;
    let mut point = None;
    for (at, byte) in unsigned.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let decimals = unsigned.len() - point? - 1;
    // A digit on both sides: other forms of numbers are parsed by the standard library.
    if point == Some(0) || decimals == 0 {
        return None;
    }
    let value = digits as f64 / POWERS.get(decimals)?;
    Some(if unsigned.len() < cell.len() { -value } else { value })
}

/// A list or a map as a score, from JSON that may hold bare `NaN`.
pub(super) fn structure(cell: &str, column: &str, budget: Budget) -> Result<Value, TableErrorKind> {
    let invalid = |error: JiterError| {
        let problem = format!(
            "the score in `{column}` starts like a list or map, but is not valid JSON: {} at character {}",
            error.error_type,
            cell.get(..error.index).unwrap_or(cell).chars().count() + 1
        );
        TableErrorKind::invalid(problem, "write it as JSON, such as {\"a\": 1} or [1, 0]")
    };
    let value = parse_json(cell, budget, json_value::score_within, invalid)?;
    value.map_err(|found| TableErrorKind::nested_score(column, found))
}

/// Parses a cell that is JSON.
pub(super) fn parse_json<T>(
    cell: &str,
    budget: Budget,
    parse: impl FnOnce(&mut Jiter<'_>, Peek, &mut MemoryAllowance) -> Result<T, JiterError>,
    invalid: impl FnOnce(JiterError) -> TableErrorKind,
) -> Result<T, TableErrorKind> {
    let mut allowance = MemoryAllowance::new(budget.limit());
    let mut json = Jiter::new(cell.as_bytes()).with_allow_inf_nan();
    let value = json.peek().and_then(|peek| parse(&mut json, peek, &mut allowance));
    let value = value.and_then(|value| json.finish().map(|()| value));
    value.map_err(|error| if allowance.is_used_up() { budget.refusal() } else { invalid(error) })
}

/// A cell as a score; `None` if it is empty, which makes the score missing.
///
/// Numbers keep their kind, because reducers and frequencies distinguish `1` from `1.0`. Other cells
/// stay strings, blanks included: whether they mean something is decided by the conversion.
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
    fn decimals_are_what_the_standard_library_makes_of_them() {
        let digits = "0123456789876543210";
        let mut met = 0;
        for cut in 0..digits.len() {
            for length in 1..=digits.len() - cut {
                let text = &digits[cut..cut + length];
                for point in 0..=length {
                    for sign in ["", "-", "+", "--"] {
                        let cell = format!("{sign}{}.{}", &text[..point], &text[point..]);
                        if let Some(found) = decimal(cell.as_bytes()) {
                            assert_eq!(found.to_bits(), cell.parse::<f64>().unwrap().to_bits(), "{cell}");
                            met += 1;
                        }
                    }
                }
            }
        }
        assert!(met > 1000, "{met}");
        for other in [
            "",
            ".",
            "-",
            "-.",
            "5",
            "1.",
            ".5",
            "1.2.3",
            "1e5",
            "1.5e3",
            "nan",
            "1.0 ",
            "1234567890.1234567",
        ] {
            assert_eq!(decimal(other.as_bytes()), None, "{other}");
        }
        assert_eq!(decimal(b"-0.0").map(f64::to_bits), Some((-0.0_f64).to_bits()));
    }

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

    #[test]
    fn the_short_ways_lead_to_the_same() {
        let cells = ["0", "7", "9", "C", "Z", "c", "10", "-1", "", " 1", "T", "é", "nan", "0.5"];
        let mut column = ValueColumn::default();
        for cell in cells {
            push_score(&mut column, cell, None).unwrap();
        }
        let mut block = errorbar_core::engine::ColumnBlock::new(1, 0);
        block.scores[0] = column;
        cells.iter().for_each(|cell| block.ids.push(cell));
        let mut columns = errorbar_core::ScoreColumns::new(["s"]);
        columns.append([], &mut block);
        for (row, cell) in cells.iter().enumerate() {
            assert_eq!(columns.score(row, "s").map(|score| score.value), score(cell), "{cell:?}");
        }
        for (text, wanted) in
            [("1", Some(1)), ("9", Some(9)), (" 12 ", Some(12)), ("0", Some(0)), ("", None), ("-1", None)]
        {
            assert_eq!(epoch(text).ok(), wanted, "{text:?}");
        }
    }

    #[test]
    fn structures_are_read_where_they_are_looked_for() {
        let budget =
            crate::TableLimits::default().budget(&crate::input::InputBytes::from_memory(Vec::new()), 0);
        let read = |cell: &str, structures| {
            let mut block = errorbar_core::engine::ColumnBlock::new(1, 0);
            block.ids.push("q");
            push_score(&mut block.scores[0], cell, structures)?;
            let mut columns = errorbar_core::ScoreColumns::new(["s"]);
            columns.append([], &mut block);
            Ok::<_, TableErrorKind>(columns.score(0, "s").map(|score| score.value))
        };
        let structured = Some(("value", budget));
        let Some(Value::Map(map)) = read(" {\"a\": 1, \"b\": NaN}", structured).unwrap() else {
            panic!("a map")
        };
        assert_eq!(map["b"], errorbar_core::Leaf::Unscored);
        let list = Value::List(vec![1.into(), "C".into()]);
        assert_eq!(read("[1, \"C\"]", structured).unwrap(), Some(list));
        assert_eq!(read("[1, \"C\"]", None).unwrap(), Some(Value::from("[1, \"C\"]")));
        assert_eq!(read("0.5", structured).unwrap(), Some(Value::Float(0.5)));
        for (cell, message) in
            [("{\"a\": }", "expected value at character 7"), ("[1] x", "trailing characters at character 5")]
        {
            let error = read(cell, structured).unwrap_err();
            let wanted = "the score in `value` starts like a list or map, but is not valid JSON";
            assert_eq!(error.to_string(), format!("{wanted}: {message}"));
        }
        let error = read("[[1]]", structured).unwrap_err();
        assert_eq!(error.to_string(), "the score in `value` holds a list inside a list or map");
    }
}
