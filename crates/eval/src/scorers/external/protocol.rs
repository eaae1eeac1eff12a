//! A line for a program, and a line of it.

use std::collections::HashSet;

use errorbar_core::spec::nearest;
use errorbar_core::{Score, Value};
use jiter::{Jiter, JiterResult, Peek};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::CommandError;
use crate::scorers::detail;
use crate::text::choice_label;
use crate::{Message, SampleId, Target, TaskState};

/// The keys of an answer.
const KEYS: [&str; 7] = ["seq", "value", "answer", "explanation", "reason", "metadata", "error"];

/// What a program is sent about a sample, without its number.
#[derive(Debug, Serialize)]
pub(in crate::scorers) struct Question<'a> {
    /// The number that the answer must have.
    pub(super) seq: u64,
    id: Json,
    epoch: u32,
    model: &'a str,
    /// The question, as a string.
    input: &'a str,
    /// The completion.
    output: &'a str,
    /// All targets as one string, as text scorers see them.
    target: String,
    targets: &'a [String],
    choices: Vec<&'a str>,
    /// The letters of the choices that a solver has marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    marked: Option<Vec<String>>,
    metadata: &'a errorbar_core::Metadata,
    store: &'a errorbar_core::Metadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<&'a [Message]>,
}

impl<'a> Question<'a> {
    pub(in crate::scorers) fn new(state: &'a TaskState, target: &'a Target, with_messages: bool) -> Self {
        let has_marks = state.choices.iter().any(|choice| choice.marked.is_some());
        let marked = || {
            let marked = state.choices.iter().enumerate().filter(|(_, choice)| choice.marked == Some(true));
            marked.map(|(place, _)| choice_label(place)).collect()
        };
        Question {
            seq: 0,
            id: match &state.sample_id {
                SampleId::Int(id) => json!(id),
                SampleId::Str(id) => json!(id),
            },
            epoch: state.epoch,
            model: &state.model,
            input: state.input_text(),
            output: &state.output.completion,
            target: target.text().into_owned(),
            targets: target.as_slice(),
            choices: state.choices.iter().map(|choice| choice.value.as_str()).collect(),
            marked: has_marks.then(marked),
            metadata: &state.metadata,
            store: &state.store,
            messages: with_messages.then_some(&state.messages),
        }
    }

    /// The line.
    pub(super) fn line(&self) -> Result<Vec<u8>, CommandError> {
        let mut line = serde_json::to_vec(self).map_err(|error| {
            CommandError::not_started(format!("the sample cannot be written as JSON: {error}"))
        })?;
        line.push(b'\n');
        Ok(line)
    }
}

/// A line of a program: which sample it is about, and what it says of it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) seq: u64,
    pub(super) score: Result<Score, CommandError>,
}

impl Answer {
    /// Reads a line.
    ///
    /// # Errors
    /// What is no answer to any sample, in words.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let json: Json = serde_json::from_slice(line).map_err(|error| {
            let text = String::from_utf8_lossy(line);
            match text.trim_start().starts_with('{') && (text.contains("NaN") || text.contains("Infinity")) {
                true => {
                    "JSON has neither NaN nor Infinity; an answer that cannot be scored has the value null"
                        .to_owned()
                }
                false => format!("not JSON: {error}"),
            }
        })?;
        let Json::Object(fields) = json else {
            return Err("not an object {\"seq\": …, \"value\": …}".to_owned());
        };
        let Some(seq) = fields.get("seq").and_then(Json::as_u64) else {
            let is_number_in_quotes =
                |seq: &Json| seq.as_str().is_some_and(|text| text.trim().parse::<u64>().is_ok());
            return Err(match fields.get("seq").is_some_and(is_number_in_quotes) {
                true => "its `seq` is a string; repeat the number as it is",
                false => "without the `seq` of the sample",
            }
            .to_owned());
        };
        let score = match repeated_key(&mut Jiter::new(line)) {
            Ok(None) => score(fields),
            Ok(Some(key)) => Err(no_score(&format!("it has the key `{key}` twice"))),
            Err(error) => Err(no_score(&error.to_string())),
        };
        Ok(Answer { seq, score })
    }
}

fn no_score(problem: &str) -> CommandError {
    CommandError(format!("gave an answer that is no score: {problem}"))
}

fn score(mut fields: Map<String, Json>) -> Result<Score, CommandError> {
    if let Some(unknown) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let near = nearest(unknown, KEYS).map(|near| format!("; did you mean `{near}`?"));
        let other = || format!("; it has {}; anything else goes into `metadata`", KEYS.join(", "));
        return Err(no_score(&format!("it has the key `{unknown}`{}", near.unwrap_or_else(other))));
    }
    let reported = |message: &str| CommandError(format!("reports: {message}"));
    match fields.remove("error") {
        None | Some(Json::Null) => {}
        Some(Json::String(message)) => return Err(reported(&message)),
        Some(other) => return Err(reported(&other.to_string())),
    }
    let missing = || no_score("it has no `value`, which is null for an answer that cannot be scored");
    let value = fields.remove("value").ok_or_else(missing)?;
    let value = Value::from_json(&value).map_err(|error| no_score(&format!("`value`: {error}")))?;
    let text = |key: &str| fields.get(key).and_then(detail);
    let mut score = Score::new(value);
    (score.answer, score.explanation, score.reason) = (text("answer"), text("explanation"), text("reason"));
    score.metadata = match fields.remove("metadata") {
        None | Some(Json::Null) => None,
        Some(Json::Object(metadata)) => Some(metadata.into()),
        Some(other) => return Err(no_score(&format!("`metadata` is an object, found {other}"))),
    };
    Ok(score)
}

/// A key that an object has twice, in any value: readers keep the last of them, and what the first said would be lost.
fn repeated_key(json: &mut Jiter<'_>) -> JiterResult<Option<String>> {
    match json.peek()? {
        Peek::Array => {
            let mut has_item = json.known_array()?.is_some();
            while has_item {
                if let Some(key) = repeated_key(json)? {
                    return Ok(Some(key));
                }
                has_item = json.array_step()?.is_some();
            }
        }
        Peek::Object => {
            let mut keys = HashSet::new();
            let mut next = json.known_object()?.map(str::to_owned);
            while let Some(key) = next {
                let inner = repeated_key(json)?;
                if let Some(key) = inner.or_else(|| keys.replace(key)) {
                    return Ok(Some(key));
                }
                next = json.next_key()?.map(str::to_owned);
            }
        }
        value => json.known_skip(value)?,
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;

    #[test]
    fn a_question_has_all_that_scorers_see() {
        let sample = Sample::new("Which?").choices(["x", "y"]).target(["A", "B"]).metadata("topic", "t");
        let mut state = TaskState::new("a/b", &sample, "q1".into(), 2);
        let line = |state: &TaskState, messages| {
            let line = Question { seq: 7, ..Question::new(state, &sample.target, messages) }.line().unwrap();
            serde_json::from_slice::<Json>(line.strip_suffix(b"\n").unwrap()).unwrap()
        };
        let mut expected = json!({
            "seq": 7, "id": "q1", "epoch": 2, "model": "a/b", "input": "Which?", "output": "", "target": "AB",
            "targets": ["A", "B"], "choices": ["x", "y"], "metadata": {"topic": "t"}, "store": {},
        });
        assert_eq!(line(&state, false), expected);
        state.choices.iter_mut().zip([false, true]).for_each(|(choice, mark)| choice.marked = Some(mark));
        expected["marked"] = json!(["B"]);
        expected["messages"] = json!([{"content": "Which?", "source": "input", "role": "user"}]);
        assert_eq!(line(&state, true), expected);
    }

    fn read(line: &str) -> Result<Score, CommandError> {
        Answer::read(line.as_bytes()).unwrap().score
    }

    #[test]
    fn an_answer_is_a_score() {
        let full = r#"{"seq": 1, "value": 0.5, "answer": 4, "explanation": "half", "reason": null, "metadata": {"a": 1}}"#;
        let score = Score::new(0.5).answer("4").explanation("half").metadata("a", 1);
        assert_eq!(read(full), Ok(score));
        assert_eq!(read(r#"{"seq": 1, "value": null, "reason": "refusal"}"#), Ok(Score::unscored("refusal")));
        assert_eq!(
            read(r#"{"seq": 1, "value": {"a": 1, "b": "C"}}"#).unwrap().value.to_json(),
            json!({"a": 1, "b": "C"})
        );
    }

    #[test]
    fn what_is_no_score_fails_its_sample() {
        let message = |line: &str| read(line).unwrap_err().to_string();
        assert_eq!(message(r#"{"seq": 1, "error": "no", "value": 1}"#), "reports: no");
        for line in [
            r#"{"seq": 1}"#,
            r#"{"seq": 1, "value": [[1]]}"#,
            r#"{"seq": 1, "value": 1, "explanaton": "x"}"#,
            r#"{"seq": 1, "value": 1, "metadata": 3}"#,
        ] {
            assert!(message(line).starts_with("gave an answer that is no score: "), "{line}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_no_score() {
        for (line, key) in [
            (r#"{"seq": 1, "value": 1, "value": 0}"#, "value"),
            (r#"{"seq": 1, "value": {"a": 1, "a": 0}}"#, "a"),
            (r#"{"seq": 1, "value": 1, "metadata": {"x": [{"b": 1, "b": null}]}}"#, "b"),
            (r#"{"seq": 2, "seq": 1, "value": 1}"#, "seq"),
        ] {
            assert_eq!(read(line), Err(no_score(&format!("it has the key `{key}` twice"))));
        }
    }

    #[test]
    fn what_is_no_answer_fails_the_program() {
        let problem = |line: &str| Answer::read(line.as_bytes()).unwrap_err();
        assert!(problem("Loading…").starts_with("not JSON"));
        assert_eq!(problem("[1]"), "not an object {\"seq\": …, \"value\": …}");
        assert_eq!(problem(r#"{"value": 1}"#), "without the `seq` of the sample");
        assert_eq!(problem(r#"{"seq": -1, "value": 1}"#), "without the `seq` of the sample");
        let quoted = problem(r#"{"seq": "1", "value": 1}"#);
        assert_eq!(quoted, "its `seq` is a string; repeat the number as it is");
        assert!(problem(r#"{"seq": 1, "value": NaN}"#).starts_with("JSON has neither NaN"));
    }
}
