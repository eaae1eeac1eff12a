//! A score changed by a person, with what it was, who changed it and why.

use std::collections::BTreeSet;

use errorbar_core::spec::nearest;
use errorbar_core::{Leaf, Metadata, MetadataKeys, SampleId, Score, Value};
use errorbar_files::json_value;

use super::error::{LogError, LogErrorKind, Result};
use super::json::splice;
use super::members::SUMMARIES;
use super::reader::{EvalLog, SampleReader};
use super::revision::{RecordKey, Revision};
use super::scores::EditedScore;
use super::stored::{SampleFields, id_and_epoch};
use super::summary::thin_score;
use super::wire::{JsonWriter, decode, murmur3};

/// What stands in the history for a part of a score that was not edited.
pub(super) const UNCHANGED: &str = "UNCHANGED";

/// A change of one score, or a new one.
#[derive(Clone, Debug, Default)]
pub struct ScoreEdit {
    /// The sample, as people write its id.
    pub sample: String,
    /// The epoch; optional if the sample has only one.
    pub epoch: Option<u32>,
    /// The scorer.
    pub scorer: String,
    /// Whether the score is a new one; the sample must not have one by this scorer then.
    pub is_new: bool,
    /// The new value, if it changes; a new score needs one.
    pub value: Option<Value>,
    /// The new answer, if it changes.
    pub answer: Option<String>,
    /// The new explanation, if it changes.
    pub explanation: Option<String>,
    /// The new metadata, if it changes: it replaces all of the old one.
    pub metadata: Option<Metadata>,
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
/// assert!(score_value("[[1]]").is_err() && score_value("[null]").is_err() && score_value("null").is_err());
/// ```
///
/// # Errors
/// What logs have no values of scores for: lists and maps in lists and maps, null outside of a map, and nothing.
pub fn score_value(text: &str) -> std::result::Result<Value, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("there is no value".to_owned());
    }
    if text == "null" {
        return Err("null is no value of a score; NaN leaves it unscored".to_owned());
    }
    if text.eq_ignore_ascii_case("nan") {
        return Ok(Value::Unscored);
    }
    let mut json = decode::parser(text.as_bytes());
    let value = json.peek().and_then(|peek| json_value::score(&mut json, peek));
    match value.and_then(|value| json.finish().map(|()| value)) {
        Ok(Ok(Value::List(items))) if items.iter().any(|item| matches!(item, Leaf::Null)) => {
            Err("a list that holds null is no value of a score".to_owned())
        }
        Ok(value) => {
            value.map_err(|found| format!("a list or map that holds {found} is no value of a score"))
        }
        Err(_) if text.starts_with(['{', '[']) => Err("this is not valid JSON".to_owned()),
        Err(_) => Ok(Value::from(text)),
    }
}

impl ScoreEdit {
    /// Refuses what is no edit.
    fn check(&self) -> Result<()> {
        let ScoreEdit { value, answer, explanation, metadata, is_new, .. } = self;
        if value.is_none() && *is_new {
            return Err(LogErrorKind::NoValue.into());
        }
        if value.is_none() && answer.is_none() && explanation.is_none() && metadata.is_none() {
            return Err(LogErrorKind::NoChange.into());
        }
        let value = match value {
            Some(Value::Str(text)) => Some(&**text),
            _ => None,
        };
        for (part, text) in
            [("value", value), ("answer", answer.as_deref()), ("explanation", explanation.as_deref())]
        {
            if text == Some(UNCHANGED) {
                return Err(LogErrorKind::ReservedText { part }.into());
            }
        }
        Ok(())
    }

    /// The parts that change, as JSON.
    fn changes(&self) -> Vec<(&'static str, Vec<u8>)> {
        let text = |text: &String| JsonWriter::bytes_of(|json| json.text(text));
        let value = self.value.as_ref().map(|value| json_value::score_json(value).into_bytes());
        let metadata =
            self.metadata.as_ref().map(|metadata| JsonWriter::bytes_of(|json| json.value(metadata)));
        let parts = [
            ("value", value),
            ("answer", self.answer.as_ref().map(text)),
            ("explanation", self.explanation.as_ref().map(text)),
            ("metadata", metadata),
        ];
        parts.into_iter().filter_map(|(part, json)| Some((part, json?))).collect()
    }
}

impl Revision<'_> {
    /// Changes a score, or adds one: its parts, its history, the record of the edit among the events of the sample,
    /// and the summary of the sample. Returns the score as it will be, for
    /// [`ScoreOptions::edited`](super::ScoreOptions): the results do not change by themselves.
    ///
    /// # Errors
    /// An unknown sample, epoch or scorer; a new score that is there already; an edit that changes nothing.
    pub fn edit_score(&mut self, edit: &ScoreEdit) -> Result<EditedScore> {
        let log = self.log;
        edit.check().map_err(|error| error.at(log.path()))?;
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
            let summaries = edited_summaries(&old, &id, epoch, edit, &score);
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
    let scores = splice::value(sample, "scores")?.filter(|json| json.starts_with(b"{")).unwrap_or(b"{}");
    let scorer = || edit.scorer.clone();
    let new = match splice::value(scores, &edit.scorer)? {
        Some(_) if edit.is_new => return Err(LogErrorKind::HasScore { scorer: scorer() }.into()),
        Some(old) => edited_score(old, edit)?,
        None if edit.is_new => new_score(edit)?,
        None => {
            let mut known = Vec::new();
            decode::root_fields(scores, |scorer, json, peek| {
                known.push(scorer.to_owned());
                Ok(json.known_skip(peek)?)
            })?;
            return Err(LogErrorKind::NoScore { scorer: scorer(), known }.into());
        }
    };
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

/// A new score, whose history begins with the edit.
fn new_score(edit: &ScoreEdit) -> Result<Vec<u8>> {
    let score = with_changes(b"{}", edit)?;
    splice::set(&score, &["history"], &splice::pushed(b"[]", &edit_json(edit))?)
}

fn with_changes(score: &[u8], edit: &ScoreEdit) -> Result<Vec<u8>> {
    let set = |score: Vec<u8>, (part, json): (&str, Vec<u8>)| splice::set(&score, &[part], &json);
    edit.changes().into_iter().try_fold(score.to_vec(), set)
}

/// The score with its changes, and in its history what it was and what was done.
fn edited_score(old: &[u8], edit: &ScoreEdit) -> Result<Vec<u8>> {
    let history = splice::value(old, "history")?.filter(|json| json.starts_with(b"["));
    let mut history = history.unwrap_or(b"[]").to_vec();
    if splice::items(&history)?.is_empty() {
        history = splice::pushed(&history, &original(old)?)?;
    }
    let history = splice::pushed(&history, &edit_json(edit))?;
    splice::set(&with_changes(old, edit)?, &["history"], &history)
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
    let changes = edit.changes();
    JsonWriter::object_bytes(|json| {
        for part in ["value", "answer", "explanation", "reason", "metadata"] {
            match changes.iter().find(|(changed, _)| *changed == part) {
                Some((_, new)) => json.key(part).raw(new),
                None => json.key(part).text(UNCHANGED),
            }
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
    // Unlike any other edit, so that its hash is unlike any other id.
    let uuid = murmur3(&[edit.sample.as_bytes(), edit.scorer.as_bytes(), &edit_json(edit)].concat());
    let event = JsonWriter::object_bytes(|json| {
        json.field("uuid", &format!("{uuid:032x}"));
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

/// The summaries with the changes in that of the sample.
fn edited_summaries(
    json: &[u8],
    id: &SampleId,
    epoch: u32,
    edit: &ScoreEdit,
    score: &Score,
) -> Result<Vec<u8>> {
    // Long strings are cut.
    let short = thin_score(score);
    let short = ScoreEdit {
        value: edit.value.clone(),
        answer: short.answer.filter(|_| edit.answer.is_some()),
        explanation: short.explanation.filter(|_| edit.explanation.is_some()),
        metadata: short.metadata.filter(|_| edit.metadata.is_some()),
        ..ScoreEdit::default()
    };
    for item in splice::items(json)? {
        let summary = json.get(item.clone()).unwrap_or_default();
        if id_and_epoch(summary).is_some_and(|(i, e)| i == *id && e == epoch) {
            let mut summary = summary.to_vec();
            for (part, new) in short.changes() {
                summary = splice::set(&summary, &["scores", &edit.scorer, part], &new)?;
            }
            if edit.is_new {
                summary = splice::set(&summary, &["scores", &edit.scorer, "history"], b"[]")?;
            }
            return Ok(splice::replaced(json, item, &summary));
        }
    }
    Ok(json.to_vec())
}

#[cfg(test)]
mod tests;
