//! The events of a sample that is scored again.

use std::ops::Range;

use errorbar_core::chat::{Event, EventKind, ModelCall, SampleEvents, SpanNumber};
use errorbar_core::{Metadata, Score};

use super::error::Result;
use super::json::splice;
use super::wire::{CallWriter, InputForm, JsonWriter, timestamp};

/// What a scorer found, with what its events record.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreEvent<'a> {
    pub(super) scorer: &'a str,
    pub(super) params: &'a Metadata,
    /// None if it gave none.
    pub(super) score: Option<&'a Score>,
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
    /// What happened meanwhile: a span for each scorer, numbered in their order, and the calls of models in them.
    pub(super) events: Option<&'a SampleEvents>,
}

/// The events with those of new scores: within the part in which the sample was scored, in its place, or at the end.
/// There is one of `scores` for each scorer.
pub(super) fn with_scores(
    events: &[u8],
    record: ScoringRecord<'_>,
    scores: &[ScoreEvent<'_>],
    replace: bool,
) -> Result<Vec<u8>> {
    // A null is a list without any.
    let events = if events.starts_with(b"[") { events } else { b"[]" };
    let span = find_span(events)?;
    let mut writer = ScoringWriter::new(record)?;
    Ok(match span {
        Some(span) if replace => {
            writer.whole_span(scores, span.parent.as_deref());
            splice::replaced(events, span.begin.start..span.end.end, &writer.out)
        }
        Some(span) => {
            writer.scorer_spans(scores, &span.id);
            if !writer.out.is_empty() {
                writer.out.push(b',');
            }
            splice::replaced(events, span.end.start..span.end.start, &writer.out)
        }
        None => {
            writer.whole_span(scores, None);
            splice::pushed(events, &writer.out)?
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

/// Writes the events of one scoring, with commas between them.
struct ScoringWriter<'a> {
    record: ScoringRecord<'a>,
    target: Option<&'a [u8]>,
    model_usage: Option<&'a [u8]>,
    role_usage: Option<&'a [u8]>,
    /// The working time of the sample, in seconds: by its clock, scoring comes after everything else.
    worked: Option<f64>,
    out: Vec<u8>,
    count: usize,
}

impl<'a> ScoringWriter<'a> {
    fn new(record: ScoringRecord<'a>) -> Result<Self> {
        let set = |field| -> Result<Option<&'a [u8]>> {
            Ok(splice::value(record.sample, field)?.filter(|json| !matches!(*json, b"null" | b"{}")))
        };
        let worked = set("working_time")?.and_then(|json| serde_json::from_slice(json).ok());
        let (target, model_usage, role_usage) = (set("target")?, set("model_usage")?, set("role_usage")?);
        let (out, count) = (Vec::new(), 0);
        Ok(ScoringWriter { record, target, model_usage, role_usage, worked, out, count })
    }

    /// A part of its own for all scores.
    fn whole_span(&mut self, scores: &[ScoreEvent<'_>], parent: Option<&str>) {
        let record = self.record;
        let events = record.events.map_or(&[][..], |events| &events.events);
        self.span_begin(record.id, events.first(), parent, ("scorers", "scorers"));
        self.scorer_spans(scores, record.id);
        self.span_end(record.id, events.last());
    }

    /// A part for each scorer that gave a score or called a model, in the part of this id.
    fn scorer_spans(&mut self, scores: &[ScoreEvent<'_>], parent: &str) {
        let recorded = self.record.events;
        for (number, score) in scores.iter().enumerate() {
            let is_of = |event: &&Event| event.span == SpanNumber::try_from(number).ok();
            let of_scorer: Vec<&Event> =
                recorded.iter().flat_map(|recorded| &recorded.events).filter(is_of).collect();
            let has_calls = of_scorer.iter().any(|event| matches!(event.kind, EventKind::ModelCall(_)));
            if score.score.is_none() && !has_calls {
                continue;
            }
            let id = format!("{}-{}", self.record.id, number + 1);
            self.span_begin(&id, of_scorer.first().copied(), Some(parent), ("scorer", score.scorer));
            for event in &of_scorer {
                if let (EventKind::ModelCall(call), Some(recorded)) = (&event.kind, recorded) {
                    self.call(&id, event, call, recorded);
                }
            }
            let last = of_scorer.last().copied();
            self.score_event(&id, last, score);
            self.span_end(&id, last);
        }
    }

    /// An event of this span that happened when another did.
    fn event(&mut self, span: &str, at: Option<&Event>, kind: &str, fill: impl FnOnce(&mut JsonWriter)) {
        let (record, worked) = (self.record, self.worked);
        let uuid = format!("{}.{}", record.id, self.count);
        let event = JsonWriter::object_bytes(|json| {
            // Viewers find an event by it.
            json.field("uuid", &uuid);
            json.field("span_id", span);
            match (at, record.events) {
                (Some(at), Some(events)) => {
                    json.field("timestamp", &timestamp(events.started.saturating_add(at.at)));
                }
                _ => json.field("timestamp", record.timestamp),
            }
            if let Some(worked) = worked {
                let since = at.map_or(0.0, |at| at.working.as_secs_f64());
                json.field("working_start", &(worked + since));
            }
            json.field("event", kind);
            fill(json);
        });
        if self.count > 0 {
            self.out.push(b',');
        }
        self.count += 1;
        self.out.extend_from_slice(&event);
    }

    fn span_begin(&mut self, id: &str, at: Option<&Event>, parent: Option<&str>, (kind, name): (&str, &str)) {
        self.event(id, at, "span_begin", |json| {
            json.field("id", id);
            json.optional("parent_id", parent);
            json.field("type", kind);
            json.field("name", name);
        });
    }

    fn span_end(&mut self, id: &str, at: Option<&Event>) {
        self.event(id, at, "span_end", |json| json.field("id", id));
    }

    fn call(&mut self, span: &str, event: &Event, call: &ModelCall, recorded: &SampleEvents) {
        let mut calls = CallWriter::new(recorded, InputForm::Inline);
        self.event(span, Some(event), "model", |json| calls.write_call(json, call));
    }

    fn score_event(&mut self, span: &str, at: Option<&Event>, event: &ScoreEvent<'_>) {
        let Some(score) = event.score else { return };
        let (target, usages) =
            (self.target, [("model_usage", self.model_usage), ("role_usage", self.role_usage)]);
        self.event(span, at, "score", |json| {
            json.key("score").score(score, None::<&()>);
            if let Some(target) = target {
                json.key("target").raw(target);
            }
            json.field("intermediate", &false);
            json.field("scorer", event.scorer);
            json.field("scorer_args", event.params);
            for (key, usage) in usages {
                if let Some(usage) = usage {
                    json.key(key).raw(usage);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    fn scored(events: &str, replace: bool) -> Vec<String> {
        let (params, score) = (Metadata::new(), Score::new("C"));
        let scores = [ScoreEvent { scorer: "includes1", params: &params, score: Some(&score) }];
        let sample = br#"{"target":"4","working_time":1.5,"model_usage":{}}"#;
        let record =
            ScoringRecord { sample, timestamp: "2026-11-16T08:00:00+00:00", id: "new", events: None };
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
