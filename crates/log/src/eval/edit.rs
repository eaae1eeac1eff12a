//! A score changed by a person, with what it was, who changed it and why.

use std::collections::BTreeSet;

use errorbar_core::spec::nearest;
use errorbar_core::{MetadataKeys, SampleId, Score, Value};

use super::error::{LogError, LogErrorKind, Result};
use super::json::splice;
use super::members::SUMMARIES;
use super::reader::{EvalLog, SampleReader};
use super::revision::{RecordKey, Revision};
use super::scores::EditedScore;
use super::stored::{SampleFields, id_and_epoch};
use super::wire::decode;
use super::wire::{JsonWriter, score_json};
use crate::json_value;

/// What stands in the history for a part of a score that was not edited.
const UNCHANGED: &str = "UNCHANGED";

/// A change of one score.
#[derive(Clone, Debug)]
pub struct ScoreEdit {
    /// The sample, as people write its id.
    pub sample: String,
    /// The epoch; optional if the sample has only one.
    pub epoch: Option<u32>,
    /// The scorer.
    pub scorer: String,
    /// The new value.
    pub value: Value,
    /// Who changes it.
    pub author: String,
    /// Why.
    pub reason: Option<String>,
    /// When, by RFC 3339.
    pub timestamp: String,
}

/// A value as people write it: JSON, or else a string.
///
/// ```
/// use errorbar_core::Value;
/// use errorbar_log::eval::score_value;
/// assert_eq!(score_value("0.5"), Ok(Value::from(0.5)));
/// assert_eq!(score_value("C"), Ok(Value::from("C")));
/// assert_eq!(score_value("nan"), Ok(Value::Unscored));
/// assert!(score_value("[[1]]").is_err());
/// ```
pub fn score_value(text: &str) -> std::result::Result<Value, String> {
    if text.trim().is_empty() {
        return Err("there is no value".to_owned());
    }
    if text.eq_ignore_ascii_case("nan") {
        return Ok(Value::Unscored);
    }
    let mut json = decode::parser(text.as_bytes());
    let value = json.peek().and_then(|peek| json_value::score(&mut json, peek));
    match value.and_then(|value| json.finish().map(|()| value)) {
        Ok(value) => {
            value.map_err(|found| format!("a list or map that holds {found} is no value of a score"))
        }
        Err(_) if text.trim_start().starts_with(['{', '[']) => Err("this is not valid JSON".to_owned()),
        Err(_) => Ok(Value::from(text)),
    }
}

impl Revision<'_> {
    /// Changes a score: its value, its history, the record of the edit among the events of the sample, and the
    /// summary of the sample. Returns the score as it will be, for [`ScoreOptions::edited`](super::ScoreOptions):
    /// the results do not change by themselves.
    ///
    /// # Errors
    /// An unknown sample, epoch or scorer.
    pub fn edit_score(&mut self, edit: &ScoreEdit) -> Result<EditedScore> {
        let log = self.log;
        let (at, id, epoch) = find(log, edit)?;
        let place = |error: LogError| {
            error.of_sample(&edit.sample).in_member(&log.container.sample_name(at)).at(log.path())
        };
        // Edits follow one another.
        let sample = match self.replaced(&RecordKey::Sample(at)) {
            Some(json) => json.to_vec(),
            None => log.sample_json(at).map_err(place)?,
        };
        let (sample, score) = edited_sample(&sample, edit).map_err(place)?;
        self.replace(RecordKey::Sample(at), sample);
        let summaries = RecordKey::Member(SUMMARIES.to_owned());
        let old = match self.replaced(&summaries) {
            Some(json) => Some(json.to_vec()),
            None => log.raw(SUMMARIES)?,
        };
        if let Some(old) = old {
            let summaries = edited_summaries(&old, &id, epoch, edit);
            let summaries = summaries.map_err(|error| error.in_member(SUMMARIES).at(log.path()))?;
            self.replace(RecordKey::Member(SUMMARIES.to_owned()), summaries);
        }
        Ok(EditedScore { id, epoch, scorer: edit.scorer.clone(), score })
    }
}

/// The index, id and epoch of the sample to edit.
fn find(log: &EvalLog, edit: &ScoreEdit) -> Result<(usize, SampleId, u32)> {
    let mut reader = SampleReader::new(log, SampleFields::scores(MetadataKeys::NONE));
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for at in 0..log.sample_count() {
        let (id, epoch) = reader.key(at)?;
        let text = id.to_string();
        if text == edit.sample {
            found.push((at, id, epoch));
        } else {
            known.insert(text);
        }
    }
    let no = |kind: LogErrorKind| LogError::from(kind).at(log.path());
    if found.is_empty() {
        let nearest = nearest(&edit.sample, known.iter().map(String::as_str)).map(str::to_owned);
        return Err(no(LogErrorKind::NoSample { sample: edit.sample.clone(), nearest }));
    }
    let mut epochs: Vec<u32> = found.iter().map(|(_, _, epoch)| *epoch).collect();
    epochs.sort_unstable();
    match edit.epoch {
        Some(wanted) => found.retain(|(_, _, epoch)| *epoch == wanted),
        None if found.len() > 1 => {
            return Err(no(LogErrorKind::WhichEpoch { sample: edit.sample.clone(), epochs }));
        }
        None => {}
    }
    let missing = || no(LogErrorKind::NoEpoch { sample: edit.sample.clone(), epochs });
    found.pop().ok_or_else(missing)
}

/// The sample with the edit in it, and the score as it is then.
fn edited_sample(sample: &[u8], edit: &ScoreEdit) -> Result<(Vec<u8>, Score)> {
    let no_scores = || LogErrorKind::NoScore { scorer: edit.scorer.clone(), known: Vec::new() };
    let scores = splice::value(sample, "scores")?.filter(|json| json.starts_with(b"{"));
    let scores = scores.ok_or_else(no_scores)?;
    let Some(old) = splice::value(scores, &edit.scorer)? else {
        let mut known = Vec::new();
        decode::root_fields(scores, |scorer, json, peek| {
            known.push(scorer.to_owned());
            Ok(json.known_skip(peek)?)
        })?;
        return Err(LogErrorKind::NoScore { scorer: edit.scorer.clone(), known }.into());
    };
    let new = edited_score(old, edit)?;
    let mut json = decode::parser(&new);
    let peek = json.peek()?;
    let score = decode::score(&edit.scorer, &mut json, peek)?;

    let mut sample = splice::set(sample, &["scores", &edit.scorer], &new)?;
    // Samples in several members have their events elsewhere.
    if let Some(range) = splice::field(&sample, "events")? {
        let events = with_event(sample.get(range.clone()).unwrap_or_default(), edit)?;
        sample = splice::replaced(&sample, range, &events);
    }
    Ok((sample, score))
}

/// The score with its new value, and in its history what it was and what was done.
fn edited_score(old: &[u8], edit: &ScoreEdit) -> Result<Vec<u8>> {
    let history = splice::value(old, "history")?.filter(|json| json.starts_with(b"["));
    let mut history = history.unwrap_or(b"[]").to_vec();
    if splice::items(&history)?.is_empty() {
        history = splice::pushed(&history, &original(old)?)?;
    }
    let history = splice::pushed(&history, &edit_json(edit))?;
    let new = splice::set(old, &["value"], score_json(&edit.value).as_bytes())?;
    splice::set(&new, &["history"], &history)
}

/// A score before its first edit, as the first item of its history.
fn original(score: &[u8]) -> Result<Vec<u8>> {
    let mut original = b"{}".to_vec();
    for field in ["value", "answer", "explanation", "reason", "metadata"] {
        match splice::value(score, field)?.filter(|json| *json != b"null") {
            Some(json) => original = splice::set(&original, &[field], json)?,
            None if field == "metadata" => original = splice::set(&original, &[field], b"{}")?,
            None => {}
        }
    }
    Ok(original)
}

/// The edit, as an item of the history and as a part of the event.
fn edit_json(edit: &ScoreEdit) -> Vec<u8> {
    JsonWriter::object_bytes(|json| {
        json.key("value").score_value(&edit.value);
        for part in ["answer", "explanation", "reason", "metadata"] {
            json.field(part, UNCHANGED);
        }
        json.key("provenance").object(|json| {
            json.field("timestamp", &edit.timestamp);
            json.field("author", &edit.author);
            json.optional("reason", edit.reason.as_ref());
            json.key("metadata").object(|_| ());
        });
    })
}

/// The events with one about the edit: at the end of the part in which the sample was scored, if it has one.
fn with_event(events: &[u8], edit: &ScoreEdit) -> Result<Vec<u8>> {
    // A null is a list without any.
    let events = if events.starts_with(b"[") { events } else { b"[]" };
    let items = splice::items(events)?;
    let text = |json: &[u8], field: &str| -> Option<String> {
        serde_json::from_slice(splice::value(json, field).ok()??).ok()
    };
    let (mut span, mut end) = (None, None);
    for item in &items {
        let json = events.get(item.clone()).unwrap_or_default();
        match text(json, "event").as_deref() {
            Some("span_begin") => {
                let is_scoring = |field| text(json, field).as_deref() == Some("scorers");
                if is_scoring("type") && is_scoring("name") {
                    (span, end) = (text(json, "id"), None);
                }
            }
            Some("span_end") if span.is_some() && text(json, "id") == span => end = Some(item.start),
            _ => {}
        }
    }
    let span = span.filter(|_| end.is_some());
    let event = JsonWriter::object_bytes(|json| {
        json.optional("span_id", span.as_ref());
        json.field("timestamp", &edit.timestamp);
        json.field("event", "score_edit");
        json.field("score_name", &edit.scorer);
        json.key("edit").raw(&edit_json(edit));
    });
    Ok(match end {
        Some(end) => splice::replaced(events, end..end, &[event.as_slice(), b","].concat()),
        None => splice::pushed(events, &event)?,
    })
}

/// The summaries with the new value in that of the sample.
fn edited_summaries(json: &[u8], id: &SampleId, epoch: u32, edit: &ScoreEdit) -> Result<Vec<u8>> {
    for item in splice::items(json)? {
        let summary = json.get(item.clone()).unwrap_or_default();
        if id_and_epoch(summary).is_some_and(|(i, e)| i == *id && e == epoch) {
            let path = ["scores", edit.scorer.as_str(), "value"];
            let summary = splice::set(summary, &path, score_json(&edit.value).as_bytes())?;
            return Ok(splice::replaced(json, item, &summary));
        }
    }
    Ok(json.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    fn edit() -> ScoreEdit {
        ScoreEdit {
            sample: "q1".to_owned(),
            epoch: None,
            scorer: "m".to_owned(),
            value: Value::from(0.5),
            author: "ann".to_owned(),
            reason: Some("a \"typo\"".to_owned()),
            timestamp: "2026-11-15T09:20:38Z".to_owned(),
        }
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_history_begins_with_what_was() {
        let once = edited_score(br#"{"value":"I","answer":"1","history":[]}"#, &edit()).unwrap();
        let item = r#"{"value":0.5,"answer":"UNCHANGED","explanation":"UNCHANGED","reason":"UNCHANGED","metadata":"UNCHANGED","provenance":{"timestamp":"2026-11-15T09:20:38Z","author":"ann","reason":"a \"typo\"","metadata":{}}}"#;
        let original = r#"{"value":"I","answer":"1","metadata":{}}"#;
        assert_eq!(
            text(once.clone()),
            format!(r#"{{"value":0.5,"answer":"1","history":[{original},{item}]}}"#)
        );
        let twice = edited_score(&once, &edit()).unwrap();
        assert_eq!(
            text(twice),
            format!(r#"{{"value":0.5,"answer":"1","history":[{original},{item},{item}]}}"#)
        );
        // A null is as good as nothing.
        let nulls = br#"{"value":1,"answer":null,"metadata":null,"history":null}"#;
        let new = text(edited_score(nulls, &edit()).unwrap());
        assert!(new.contains(r#""history":[{"value":1,"metadata":{}},{"value":0.5,"#), "{new}");
        assert!(
            text(edited_score(br#"{"value":NaN}"#, &edit()).unwrap())
                .contains(r#"[{"value":NaN,"metadata":{}},"#)
        );
    }

    #[test]
    fn the_event_is_where_the_sample_was_scored() {
        let begin = r#"{"event":"span_begin","id":"s1","type":"scorers","name":"scorers"}"#;
        let end = r#"{"event":"span_end","id":"s1"}"#;
        let events = format!(r#"[{{"event":"x"}}, {begin}, {end}, {{"event":"y"}}]"#);
        let new = text(with_event(events.as_bytes(), &edit()).unwrap());
        let json: Vec<Json> = serde_json::from_str(&new).unwrap();
        assert_eq!(json.len(), 5);
        assert_eq!(
            (json[2]["event"].as_str(), json[2]["span_id"].as_str()),
            (Some("score_edit"), Some("s1"))
        );
        // Within the span of the scorers, whatever else ends around it; the last one, if there are two.
        let span = |event: &str, id: &str, kind: &str, name: &str| {
            format!(r#"{{"event":"{event}","id":"{id}","type":"{kind}","name":"{name}"}}"#)
        };
        let outer = span("span_begin", "o", "sample", "x");
        let (inner, other) =
            (span("span_begin", "i", "scorer", "m"), span("span_begin", "n", "solver", "scorers"));
        let ends = |id: &str| format!(r#"{{"event":"span_end","id":"{id}"}}"#);
        let second = span("span_begin", "s2", "scorers", "scorers");
        let (o, i, n, s2) = (ends("o"), ends("i"), ends("n"), ends("s2"));
        for (events, at, id) in [
            (format!("[{outer},{begin},{inner},{i},{end},{o}]"), 4, "s1"),
            (format!("[{begin},{end},{other},{n}]"), 1, "s1"),
            (format!("[{begin},{end},{second},{s2}]"), 3, "s2"),
        ] {
            let new = text(with_event(events.as_bytes(), &edit()).unwrap());
            let json: Vec<Json> = serde_json::from_str(&new).unwrap();
            assert_eq!(json[at]["event"], "score_edit", "{new}");
            assert_eq!(json[at]["span_id"], id, "{new}");
        }
        let unended = format!("[{begin},{end},{second}]");
        for events in ["[]", r#"[{"event":"x"}]"#, &format!("[{begin}]"), &unended] {
            let new = text(with_event(events.as_bytes(), &edit()).unwrap());
            let json: Vec<Json> = serde_json::from_str(&new).unwrap();
            let last = json.last().unwrap();
            assert_eq!((last["event"].as_str(), last.get("span_id")), (Some("score_edit"), None), "{new}");
        }
    }

    #[test]
    fn only_the_summary_of_the_sample_changes() {
        let json = br#"[{"id":"q1","epoch":1,"scores":{"m":{"value":"I"}}},{"id":"q1","epoch":2,"scores":{"m":{"value":"I"}}}]"#;
        let new = text(edited_summaries(json, &"q1".into(), 2, &edit()).unwrap());
        assert_eq!(new.matches("0.5").count(), 1);
        assert!(new.contains(r#""epoch":2,"scores":{"m":{"value":0.5}}"#), "{new}");
    }
}
