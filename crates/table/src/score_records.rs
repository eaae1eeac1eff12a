//! Scores that another program computed, as JSON records: one object a line, or one list of objects.

use errorbar_core::engine::ColumnBlock;
use errorbar_core::{Score, ScoreColumns, Value};
use errorbar_files::json_value::{self, Scalar, kind};
use jiter::{Jiter, JiterError, Peek};
use serde_json::Value as Json;

use super::{CellUse, ScoreTable, TableOptions, give_meaning};

/// A score of a sample.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScoreRecord {
    /// The sample, as a string.
    pub id: String,
    /// The epoch; the score is that of every epoch if there is none.
    pub epoch: Option<u32>,
    /// The score, with what the record has of `answer`, `explanation`, `reason` and `metadata`.
    pub score: Score,
}

/// Reads scores from JSON: one object a line, or one list of objects. The value is in `column`, else in `score` or
/// `value`; null and a bare `NaN` are unscored, and a record without a value is skipped. Values have their meaning, as the
/// cells of a table do.
///
/// # Errors
/// A sentence that names the line or the record, and what is wrong with it; values that are no scores.
///
/// ```
/// use errorbar_table::read_score_records;
/// let text = r#"[{"id": "q1", "score": "C", "answer": "42"}, {"id": 2, "epoch": 1, "score": NaN}]"#;
/// let records = read_score_records(text, None)?;
/// assert_eq!((records[0].epoch, records[0].score.answer.as_deref()), (None, Some("42")));
/// assert_eq!((records[1].id.as_str(), records[1].epoch), ("2", Some(1)));
/// # Ok::<(), String>(())
/// ```
pub fn read_score_records(text: &str, column: Option<&str>) -> Result<Vec<ScoreRecord>, String> {
    with_meaning(parse(text, column)?)
}

/// The records with values that have their meaning, as the cells of a table do; strings that have none are left to metrics. One
/// whose value means that there is none is left out.
fn with_meaning(records: Vec<ScoreRecord>) -> Result<Vec<ScoreRecord>, String> {
    const NAME: &str = "score";
    let mut table = ScoreTable { columns: ScoreColumns::new([NAME]), ..ScoreTable::default() };
    let mut block = ColumnBlock::new(1, 0);
    for record in &records {
        block.ids.push(&record.id);
        block.scores.iter_mut().for_each(|values| values.push(Some(record.score.value.clone())));
    }
    table.columns.append([], &mut block);
    let options = TableOptions::new().cells(CellUse::Converted);
    give_meaning(std::slice::from_mut(&mut table), &options)
        .map_err(|kind| format!("{kind}; {}", kind.hint()))?;
    let value = |(row, mut record): (usize, ScoreRecord)| {
        record.score.value = table.columns.score(row, NAME)?.value;
        Some(record)
    };
    Ok(records.into_iter().enumerate().filter_map(value).collect())
}

fn parse(text: &str, column: Option<&str>) -> Result<Vec<ScoreRecord>, String> {
    let mut records = Vec::new();
    if text.trim_start().starts_with('[') {
        let mut json = parser(text);
        let wrong = |error: JiterError| format!("this is not valid JSON: {error}");
        let mut next = json.next_array().map_err(wrong)?;
        let mut number = 1;
        while let Some(peek) = next {
            let record = record(&mut json, peek, column);
            records.extend(record.map_err(|problem| format!("record {number}: {problem}"))?);
            next = json.array_step().map_err(wrong)?;
            number += 1;
        }
        json.finish().map_err(wrong)?;
        return Ok(records);
    }
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let of_line = |problem: String| format!("line {number}: {problem}");
        let mut json = parser(line);
        let peek = json.peek().map_err(|error| of_line(error.error_type.to_string()))?;
        records.extend(record(&mut json, peek, column).map_err(of_line)?);
        json.finish().map_err(|error| of_line(error.error_type.to_string()))?;
    }
    Ok(records)
}

fn parser(text: &str) -> Jiter<'_> {
    Jiter::new(text.as_bytes()).with_allow_inf_nan()
}

fn record(json: &mut Jiter<'_>, peek: Peek, column: Option<&str>) -> Result<Option<ScoreRecord>, String> {
    if peek != Peek::Object {
        return Err(format!("a record is an object {{\"id\": …, \"score\": …}}, found {}", kind(peek)));
    }
    let text = |error: JiterError| error.error_type.to_string();
    let (mut id, mut epoch, mut score) = (None, None, Score::new(Value::Unscored));
    // The value, and that of a record that has none in `score`.
    let (mut value, mut other_value) = (None, None);
    let mut key = json.known_object().map_err(text)?.map(str::to_owned);
    while let Some(name) = key {
        let wrong = |problem: String| format!("`{name}`: {problem}");
        let peek = json.peek().map_err(text)?;
        match name.as_str() {
            name if name == column.unwrap_or("score") => value = Some(value_of(json, peek).map_err(wrong)?),
            "value" if column.is_none() => other_value = Some(value_of(json, peek).map_err(wrong)?),
            "id" => {
                let found = json_value::scalar(json, peek).map_err(text).map_err(wrong)?;
                let expected = || wrong(format!("expected a string or an integer, found {}", kind(peek)));
                id = Some(found.and_then(|scalar| scalar.id()).ok_or_else(expected)?.to_string());
            }
            "epoch" => {
                epoch = match json_value::scalar(json, peek).map_err(text).map_err(wrong)? {
                    Some(Scalar::Null) => None,
                    Some(Scalar::Int(epoch)) if (1..=i64::from(u32::MAX)).contains(&epoch) => {
                        u32::try_from(epoch).ok()
                    }
                    _ => return Err(wrong("expected an integer from 1 on".to_owned())),
                };
            }
            "answer" => score.answer = string(json, peek).map_err(wrong)?,
            "explanation" => score.explanation = string(json, peek).map_err(wrong)?,
            "reason" => score.reason = string(json, peek).map_err(wrong)?,
            "metadata" => {
                score.metadata = match json_value::any(json, peek).map_err(text).map_err(wrong)? {
                    Json::Object(metadata) => Some(metadata.into()),
                    Json::Null => None,
                    _ => return Err(wrong(format!("expected a map, found {}", kind(peek)))),
                };
            }
            _ => json.known_skip(peek).map_err(text).map_err(wrong)?,
        }
        key = json.next_key().map_err(text)?.map(str::to_owned);
    }
    let id = id.ok_or("`id` is missing")?;
    Ok(value.or(other_value).map(|value| ScoreRecord { id, epoch, score: Score { value, ..score } }))
}

fn value_of(json: &mut Jiter<'_>, peek: Peek) -> Result<Value, String> {
    let value = json_value::score(json, peek).map_err(|error| error.error_type.to_string())?;
    value.map_err(|found| format!("a list or map that holds {found} is no value of a score"))
}

/// A string; what is no string is written as JSON, and null is none.
fn string(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<String>, String> {
    Ok(match json_value::any(json, peek).map_err(|error| error.error_type.to_string())? {
        Json::String(text) => Some(text),
        Json::Null => None,
        other => Some(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use errorbar_core::Leaf;

    fn read(text: &str) -> Result<Vec<ScoreRecord>, String> {
        read_score_records(text, None)
    }

    #[test]
    fn a_record_has_a_value_and_what_belongs_to_it() {
        let text = r#"{"value": 0, "id": "a", "score": [1, 0.5], "epoch": 3, "answer": 42, "explanation": "why",
            "reason": null, "metadata": {"judge": "ann"}, "other": {"x": [NaN]}}"#;
        let records = read(&text.replace('\n', " ")).unwrap();
        let score = &records[0].score;
        assert_eq!(
            (records[0].epoch, &score.value),
            (Some(3), &Value::list([Leaf::Int(1), Leaf::Float(0.5)]))
        );
        assert_eq!((score.answer.as_deref(), score.explanation.as_deref()), (Some("42"), Some("why")));
        assert_eq!(score.metadata.as_ref().unwrap()["judge"], "ann");
        assert!(score.reason.is_none());
    }

    #[test]
    fn lines_and_lists_are_the_same() {
        let line = r#"{"id": 1, "score": "C"}"#;
        let lines = read(&format!("{line}\n\n{line}\r\n")).unwrap();
        assert_eq!(lines, read(&format!(" [{line}, {line}]")).unwrap());
        assert_eq!(read("").unwrap(), []);
        assert_eq!(read(r#"{"id": 1, "note": "no score"}"#).unwrap(), []);
        assert_eq!(read(r#"{"id": 1, "score": null}"#).unwrap()[0].score.value, Value::Unscored);
        assert_eq!(
            read_score_records(r#"{"id": 1, "score": 1, "x": 2}"#, Some("x")).unwrap()[0].score.value,
            Value::from(2)
        );
    }

    #[test]
    fn values_have_their_meaning() {
        let text = r#"[{"id": 1, "score": "PASS"}, {"id": 2, "score": "28%"}, {"id": 3, "score": "NA"}]"#;
        let found: Vec<_> = read(text).unwrap().into_iter().map(|one| (one.id, one.score.value)).collect();
        assert_eq!(found, [("1".to_owned(), Value::from(1)), ("2".to_owned(), Value::from(0.28))]);
        let label = r#"{"id": "a", "score": "polite"}"#;
        assert_eq!(read(label).unwrap()[0].score.value, Value::from("polite"));
        let grades = r#"[{"id": "a", "score": "A"}, {"id": "b", "score": "C"}]"#;
        let problem = "`score`: 2 values are letter grades, whose meaning is not clear: ";
        assert!(read(grades).unwrap_err().starts_with(problem));
    }

    #[test]
    fn ids_beyond_64_bits_are_the_text_of_their_digits() {
        for id in ["12345678901234567890", "1234567890123456789012345678901"] {
            assert_eq!(read(&format!("{{\"id\": {id}, \"score\": 1}}")).unwrap()[0].id, id);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, problem) in [
            ("{\"id\": 1}\n{\"score\": 1}", "line 2: `id` is missing"),
            (
                r#"[{"id": 1, "score": 1}, 7]"#,
                "record 2: a record is an object {\"id\": …, \"score\": …}, found a number",
            ),
            (r#"{"id": [1], "score": 1}"#, "line 1: `id`: expected a string or an integer, found a list"),
            (r#"{"id": 1, "epoch": 0, "score": 1}"#, "line 1: `epoch`: expected an integer from 1 on"),
            (
                r#"{"id": 1, "score": [[1]]}"#,
                "line 1: `score`: a list or map that holds a list is no value of a score",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), problem);
        }
        assert!(read("[1").is_err() && read("{").is_err() && read("{} {}").is_err());
    }
}
