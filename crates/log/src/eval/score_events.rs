//! The events of a sample that is scored again.

use std::ops::Range;

use errorbar_core::{Metadata, Score};

use super::error::Result;
use super::json::splice;
use super::wire::JsonWriter;

/// A score with what its event records.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreEvent<'a> {
    pub(super) scorer: &'a str,
    pub(super) params: &'a Metadata,
    pub(super) score: &'a Score,
}

/// What all events of one scoring have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoringRecord<'a> {
    /// The JSON of the sample.
    pub(super) sample: &'a [u8],
    /// When it was scored.
    pub(super) timestamp: &'a str,
    /// Unique for this scoring of this sample.
    pub(super) id: &'a str,
}

/// The events with those of new scores: within the part in which the sample was scored, in its place, or at the end.
pub(super) fn with_scores(
    events: &[u8],
    record: ScoringRecord<'_>,
    scores: &[ScoreEvent<'_>],
    replace: bool,
) -> Result<Vec<u8>> {
    // A null is a list without any.
    let events = if events.starts_with(b"[") { events } else { b"[]" };
    let span = find_span(events)?;
    let mut written = Vec::new();
    Ok(match span {
        Some(span) if replace => {
            let parent = span.parent;
            whole_span(&mut written, record, scores, parent.as_deref())?;
            splice::replaced(events, span.begin.start..span.end.end, &written)
        }
        Some(span) => {
            scorer_spans(&mut written, record, scores, &span.id)?;
            if !written.is_empty() {
                written.push(b',');
            }
            splice::replaced(events, span.end.start..span.end.start, &written)
        }
        None => {
            whole_span(&mut written, record, scores, None)?;
            splice::pushed(events, &written)?
        }
    })
}

/// The part of the events in which the sample was scored.
#[derive(Debug)]
struct ScorersSpan {
    id: String,
    parent: Option<String>,
    begin: Range<usize>,
    end: Range<usize>,
}

/// The last whole one.
fn find_span(events: &[u8]) -> Result<Option<ScorersSpan>> {
    const NAME: &[u8] = b"\"scorers\"";
    // Most of a long list need not be looked at one by one.
    if memchr::memmem::find(events, NAME).is_none() {
        return Ok(None);
    }
    let text = |json: &[u8], field: &str| -> Option<String> {
        serde_json::from_slice(splice::value(json, field).ok()??).ok()
    };
    let (mut open, mut found) = (None, None);
    for item in splice::items(events)? {
        let json = events.get(item.clone()).unwrap_or_default();
        match text(json, "event").as_deref() {
            Some("span_begin") => {
                let is_scoring = |field| text(json, field).as_deref() == Some("scorers");
                if is_scoring("type") && is_scoring("name") {
                    open = text(json, "id").map(|id| (id, text(json, "parent_id"), item));
                }
            }
            Some("span_end") => {
                let ended = text(json, "id");
                if let Some((id, parent, begin)) = open.take_if(|(id, ..)| ended.as_ref() == Some(id)) {
                    found = Some(ScorersSpan { id, parent, begin, end: item });
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A part of its own for all scores.
fn whole_span(
    out: &mut Vec<u8>,
    record: ScoringRecord<'_>,
    scores: &[ScoreEvent<'_>],
    parent: Option<&str>,
) -> Result<()> {
    push(out, &span_begin(record, record.id, parent, "scorers", "scorers")?);
    scorer_spans(out, record, scores, record.id)?;
    push(out, &span_end(record, record.id)?);
    Ok(())
}

/// A part for each score, in the part of this id.
fn scorer_spans(
    out: &mut Vec<u8>,
    record: ScoringRecord<'_>,
    scores: &[ScoreEvent<'_>],
    parent: &str,
) -> Result<()> {
    for (number, score) in scores.iter().enumerate() {
        let id = format!("{}-{}", record.id, number + 1);
        push(out, &span_begin(record, &id, Some(parent), "scorer", score.scorer)?);
        push(out, &score_event(record, &id, score)?);
        push(out, &span_end(record, &id)?);
    }
    Ok(())
}

fn push(out: &mut Vec<u8>, event: &[u8]) {
    if !out.is_empty() {
        out.push(b',');
    }
    out.extend_from_slice(event);
}

fn span_begin(
    record: ScoringRecord<'_>,
    id: &str,
    parent: Option<&str>,
    kind: &str,
    name: &str,
) -> Result<Vec<u8>> {
    let start = common(record, id)?;
    Ok(JsonWriter::object_bytes(|json| {
        start(json);
        json.field("event", "span_begin");
        json.field("id", id);
        json.optional("parent_id", parent);
        json.field("type", kind);
        json.field("name", name);
    }))
}

fn span_end(record: ScoringRecord<'_>, id: &str) -> Result<Vec<u8>> {
    let start = common(record, id)?;
    Ok(JsonWriter::object_bytes(|json| {
        start(json);
        json.field("event", "span_end");
        json.field("id", id);
    }))
}

fn score_event(record: ScoringRecord<'_>, span: &str, event: &ScoreEvent<'_>) -> Result<Vec<u8>> {
    let start = common(record, span)?;
    let is_set = |json: &&[u8]| !matches!(*json, b"null" | b"{}");
    let target = splice::value(record.sample, "target")?.filter(is_set);
    let usage = splice::value(record.sample, "model_usage")?.filter(is_set);
    let role_usage = splice::value(record.sample, "role_usage")?.filter(is_set);
    Ok(JsonWriter::object_bytes(|json| {
        start(json);
        json.field("event", "score");
        json.key("score").score(event.score, None::<&()>);
        if let Some(target) = target {
            json.key("target").raw(target);
        }
        json.field("intermediate", &false);
        json.field("scorer", event.scorer);
        json.field("scorer_args", event.params);
        if let Some(usage) = usage {
            json.key("model_usage").raw(usage);
        }
        if let Some(usage) = role_usage {
            json.key("role_usage").raw(usage);
        }
    }))
}

/// The fields that every event has.
fn common<'a>(record: ScoringRecord<'a>, span: &'a str) -> Result<impl Fn(&mut JsonWriter) + 'a> {
    // By the clock of the sample, scoring comes after everything else.
    let worked = splice::value(record.sample, "working_time")?;
    let worked = worked.filter(|json| json.first().is_some_and(u8::is_ascii_digit));
    Ok(move |json: &mut JsonWriter| {
        json.field("span_id", span);
        json.field("timestamp", record.timestamp);
        if let Some(worked) = worked {
            json.key("working_start").raw(worked);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    fn scored(events: &str, replace: bool) -> Vec<String> {
        let (params, score) = (Metadata::new(), Score::new("C"));
        let scores = [ScoreEvent { scorer: "includes1", params: &params, score: &score }];
        let sample = br#"{"target":"4","working_time":1.5,"model_usage":{}}"#;
        let record = ScoringRecord { sample, timestamp: "2026-11-16T08:00:00+00:00", id: "new" };
        let json = with_scores(events.as_bytes(), record, &scores, replace).unwrap();
        let events: Vec<Json> = serde_json::from_slice(&json).unwrap();
        let shown = |event: &Json| {
            let get = |field: &str| event[field].as_str().unwrap_or("-").to_owned();
            format!("{} {} in {}", get("event"), get("span_id"), get("parent_id"))
        };
        events.iter().map(shown).collect()
    }

    const OLD: &str = r#"[{"event":"model"},
        {"event":"span_begin","id":"s","span_id":"s","parent_id":"p","type":"scorers","name":"scorers"},
        {"event":"score","span_id":"s"}, {"event":"span_end","id":"s","span_id":"s"},{"event":"info"}]"#;

    #[test]
    fn new_scores_are_in_the_part_of_the_old_ones() {
        let expected = [
            "model - in -",
            "span_begin s in p",
            "score s in -",
            "span_begin new-1 in s",
            "score new-1 in -",
            "span_end new-1 in -",
            "span_end s in -",
            "info - in -",
        ];
        assert_eq!(scored(OLD, false), expected);
    }

    #[test]
    fn or_replace_it() {
        let expected = [
            "model - in -",
            "span_begin new in p",
            "span_begin new-1 in new",
            "score new-1 in -",
            "span_end new-1 in -",
            "span_end new in -",
            "info - in -",
        ];
        assert_eq!(scored(OLD, true), expected);
    }

    #[test]
    fn or_come_last() {
        let open = r#"[{"event":"span_begin","id":"s","type":"scorers","name":"scorers"}]"#;
        for (events, before) in [("null", 0), ("[]", 0), (open, 1), (r#"[{"event":"model"}]"#, 1)] {
            for replace in [false, true] {
                assert_eq!(scored(events, replace).len(), before + 5, "{events}");
            }
        }
    }
}
