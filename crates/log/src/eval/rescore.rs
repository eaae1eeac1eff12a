//! New scores for the samples of a log: beside those that it has, or in their place.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use errorbar_core::chat::{Event, EventKind, ModelCall, SampleEvents, SpanNumber};
use errorbar_core::{Evaluation, Metadata, Score, ScoreColumns};

use super::chunks::SampleExtent;
use super::container::{REDUCTIONS, SUMMARIES, SampleName, sample_name};
use super::error::{LogErrorKind, Result};
use super::header::{Header, ScorerInfo};
use super::json::{self, validate};
use super::reader::{EvalLog, SampleReader};
use super::revision::Revision;
use super::rewrite::{NewRecords, SampleTools};
use super::sample::{id_and_epoch, member_name, thin_score};
use super::scores::Reductions;
use super::wire::{CallWriter, InputForm, JsonWriter, timestamp};
use super::zip::Members;
use crate::recorded::{RecordedResults, headline_json};

/// What becomes of the scores that a log has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreAction {
    /// They stay, and so do their results; the new ones come after them.
    Append,
    /// The new ones replace them.
    Overwrite,
}

/// A scorer whose scores are new.
#[derive(Clone, Debug)]
pub struct NewScorer {
    /// The name of its scores, which no other score of the log has.
    pub name: String,
    /// What the log records about it, under the name that it has by itself.
    pub info: ScorerInfo,
}

/// New scores for all samples of a log.
#[derive(Clone, Debug)]
pub struct NewScores<'a> {
    /// What becomes of the scores that it has.
    pub action: ScoreAction,
    /// The scorers.
    pub scorers: &'a [NewScorer],
    /// The scores, by the names of the scorers.
    pub columns: &'a ScoreColumns,
    /// The row of each sample, by its index in the log.
    pub rows: &'a [usize],
    /// When the samples were scored, by RFC 3339.
    pub timestamp: String,
    /// Unique for this scoring.
    pub id: String,
    /// What happened while a sample was scored, by its index in the log, where models were called: a span for each
    /// scorer, numbered in their order, and the calls in it.
    pub events: &'a [Option<SampleEvents>],
}

impl<'a> Revision<'a> {
    /// Puts new scores into the samples, their events and their summaries, and the results of these scores into the
    /// header: with [`ScoreAction::Append`] behind those that it has, which stay as they are.
    ///
    /// `evaluation` is that of the new scores alone. A sample that is in several members becomes one record.
    pub fn set_scores(&mut self, new: NewScores<'a>, evaluation: &Evaluation) -> Result<()> {
        let is_append = new.action == ScoreAction::Append;
        self.add_scorers(&new)?;
        let recorded = RecordedResults::from(&evaluation.results);
        if !(is_append && self.append_results(&recorded)?) {
            self.replace_results(&recorded)?;
        }
        if let Some(json) = Reductions::by_key(&evaluation.reductions, new.columns).json {
            let old = if is_append { self.log.raw(REDUCTIONS)? } else { None };
            let json = match old.filter(|old| old.trim_ascii_start().starts_with(b"[")) {
                Some(old) => joined(&old, &json)?,
                None => json,
            };
            self.replace(REDUCTIONS, json);
        }
        if let Some(old) = self.log.raw(SUMMARIES)?.filter(|_| self.log.has_header()) {
            let summaries = summaries(&old, &new);
            let summaries = summaries.map_err(|error| error.in_member(SUMMARIES).at(self.log.path()))?;
            self.replace(SUMMARIES, summaries);
        }
        self.scores = Some(new);
        Ok(())
    }

    /// Records the scorers.
    fn add_scorers(&mut self, new: &NewScores<'_>) -> Result<()> {
        let infos = JsonWriter::bytes_of(|json| {
            json.array(|json| new.scorers.iter().for_each(|scorer| json.value(&scorer.info)));
        });
        let eval = json::value(&self.header, "eval")?.unwrap_or(b"{}");
        let old = json::value(eval, "scorers")?.filter(|old| old.starts_with(b"["));
        let scorers = match old.filter(|_| new.action == ScoreAction::Append) {
            Some(old) => joined(old, &infos)?,
            None => infos,
        };
        self.header = json::set(&self.header, &["eval", "scorers"], &scorers)?;
        Ok(())
    }

    /// Appends blocks to the results that the log has; false if it has none.
    fn append_results(&mut self, new: &RecordedResults) -> Result<bool> {
        let Some(old) = json::value(&self.header, "results")?.filter(|json| json.starts_with(b"{")) else {
            return Ok(false);
        };
        let results = match json::value(old, "scores")?.filter(|old| old.starts_with(b"[")) {
            Some(blocks) => {
                let blocks = joined(blocks, &new.scores_to_json())?;
                let mut results = json::set(old, &["scores"], &blocks)?;
                let has_headline = json::value(&results, "headline")?.is_some_and(|json| json != b"null");
                if let Some(headline) = new.headline.as_ref().filter(|_| !has_headline) {
                    let headline = headline_json(headline).to_string();
                    results = json::set(&results, &["headline"], headline.as_bytes())?;
                }
                results
            }
            // A very old log holds a single block in other fields.
            None => {
                let mut results = Header::from_json(&self.header)?.results.unwrap_or_default();
                results.scores.extend(new.scores.iter().cloned());
                results.to_json()
            }
        };
        self.header = json::set(&self.header, &["results"], &results)?;
        Ok(true)
    }
}

/// The first list with the items of the second behind its own.
fn joined(first: &[u8], second: &[u8]) -> Result<Vec<u8>> {
    let items = second.trim_ascii();
    let items = items.get(1..items.len().saturating_sub(1)).unwrap_or_default();
    match items.trim_ascii().is_empty() {
        true => Ok(first.to_vec()),
        false => json::pushed(first, items),
    }
}

impl NewScores<'_> {
    /// The new scores of the sample at an index.
    fn of(&self, at: usize) -> Vec<ScorerResult<'_>> {
        let row = self.rows.get(at);
        let score = |scorer: &NewScorer| self.columns.score(*row?, &scorer.name);
        self.scorers.iter().map(|scorer| (scorer, score(scorer))).collect()
    }

    /// The sample at an index with its new scores; `old_scorer` is the name of a score without one.
    fn put_into(&self, sample: &[u8], at: usize, old_scorer: &str) -> Result<Vec<u8>> {
        let new = self.of(at);
        let nameless = json::value(sample, "score")?.filter(|json| json.starts_with(b"{"));
        let old = json::value(sample, "scores")?.filter(|json| json.starts_with(b"{"));
        let mut scores = match (self.action, old, nameless) {
            (ScoreAction::Append, Some(old), _) => old.to_vec(),
            (ScoreAction::Append, None, Some(score)) => json::set(b"{}", &[old_scorer], score)?,
            _ => b"{}".to_vec(),
        };
        for (scorer, score) in &new {
            let Some(score) = score else { continue };
            let score = JsonWriter::bytes_of(|json| json.score(score, None::<&()>));
            scores = json::set(&scores, &[&scorer.name], &score)?;
        }
        let (id, events) = (format!("{}-{at}", self.id), self.events.get(at).and_then(Option::as_ref));
        let record = ScoringRecord { sample, timestamp: &self.timestamp, id: &id, events };
        let old = json::value(sample, "events")?.unwrap_or(b"[]");
        let events = with_scores(old, record, &new, self.action == ScoreAction::Overwrite)?;

        let mut changed = json::set(sample, &["scores"], &scores)?;
        if nameless.is_some() {
            changed = json::set(&changed, &["score"], b"null")?;
        }
        json::set(&changed, &["events"], &events)
    }
}

/// The summaries with the new scores in them.
fn summaries(json: &[u8], new: &NewScores<'_>) -> Result<Vec<u8>> {
    let columns = new.columns;
    let rows: HashMap<(String, u32), usize> =
        (0..columns.len()).map(|row| ((columns.id(row).to_owned(), columns.epoch(row)), row)).collect();
    let mut changed = Vec::with_capacity(json.len() + json.len() / 4);
    let mut copied = 0;
    for item in json::items(json)? {
        let summary = json.get(item.clone()).unwrap_or_default();
        let key = id_and_epoch(summary).map(|(id, epoch)| (id.to_string(), epoch));
        let Some(row) = key.and_then(|key| rows.get(&key)) else { continue };
        changed.extend_from_slice(json.get(copied..item.start).unwrap_or_default());
        changed.extend_from_slice(&summary_with(summary, *row, new)?);
        copied = item.end;
    }
    changed.extend_from_slice(json.get(copied..).unwrap_or_default());
    Ok(changed)
}

fn summary_with(summary: &[u8], row: usize, new: &NewScores<'_>) -> Result<Vec<u8>> {
    let old = json::value(summary, "scores")?.filter(|json| json.starts_with(b"{"));
    let old = old.filter(|_| new.action == ScoreAction::Append);
    let mut scores = old.unwrap_or(b"{}").to_vec();
    for scorer in new.scorers {
        if let Some(score) = new.columns.score(row, &scorer.name) {
            let score = JsonWriter::bytes_of(|json| json.score(&thin_score(&score), None::<&()>));
            scores = json::set(&scores, &[&scorer.name], &score)?;
        }
    }
    json::set(summary, &["scores"], &scores)
}

// A log with new scores in all its samples, written as a new file.
//
// Every sample changes, so copying the old file and appending to it, as other changes do, would leave most of it
// without use: the records are put together anew. What holds no scores is copied. A sample that is in several members
// becomes one record, as `convert` makes it.

impl Revision<'_> {
    /// Writes all records, those that are replaced and the samples with their new scores.
    pub(super) fn write_rescored_zip(
        &self,
        new: &NewScores<'_>,
        members: &Members,
        out: &mut impl Write,
    ) -> Result<()> {
        let (summaries, reductions) = (self.replaced(SUMMARIES), self.replaced(REDUCTIONS));
        let records = NewRecords { header: &self.header, summaries, reductions, methods: Some(members) };
        self.log.write_anew(&records, &self.places(), out, |tools, at| {
            let json = sample(self.log, &mut tools.reader, new, at)?;
            let summary = match summaries {
                Some(_) => Vec::new(),
                None => tools.reader.parse(&json)?.summary_json(),
            };
            let name = record_name(self.log, at, &json)?;
            Ok((tools.encoder.encode_by(records.method(&name), &name, &json)?, summary))
        })
    }

    /// Gives every sample with its new scores, in their order; none if there are no new scores.
    pub(super) fn each_rescored(&self, each: impl FnMut(usize, Vec<u8>) -> Result<()>) -> Result<()> {
        let Some(new) = &self.scores else { return Ok(()) };
        let rescored = |tools: &mut SampleTools<'_>, at| sample(self.log, &mut tools.reader, new, at);
        self.log.each_rewritten(&self.places(), rescored, each)
    }

    /// The samples in the order of the file.
    fn places(&self) -> Vec<usize> {
        (0..self.log.sample_count()).collect()
    }
}

/// The sample at an index with its new scores.
fn sample(log: &EvalLog, reader: &mut SampleReader<'_>, new: &NewScores<'_>, at: usize) -> Result<Vec<u8>> {
    let json = reader.json(at, SampleExtent::Whole)?;
    validate(&json)?;
    new.put_into(&json, at, log.old_scorer())
}

/// The name of the member for a sample as one record.
fn record_name(log: &EvalLog, at: usize, json: &[u8]) -> Result<String> {
    let name = log.container.sample_name(at);
    match sample_name(&name) {
        SampleName::Shell { .. } => {
            let (id, epoch) = id_and_epoch(json).ok_or(LogErrorKind::Missing("id"))?;
            Ok(member_name(&id, epoch))
        }
        _ => Ok(name),
    }
}

// The events of a sample that is scored again.

/// What a scorer found, if it found something.
type ScorerResult<'a> = (&'a NewScorer, Option<Score>);

/// What all events of one scoring have in common.
#[derive(Clone, Copy, Debug)]
struct ScoringRecord<'a> {
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
fn with_scores(
    events: &[u8],
    record: ScoringRecord<'_>,
    scores: &[ScorerResult<'_>],
    replace: bool,
) -> Result<Vec<u8>> {
    // A null is a list without any.
    let events = if events.starts_with(b"[") { events } else { b"[]" };
    let span = find_span(events)?;
    let mut writer = ScoringWriter::new(record)?;
    Ok(match span {
        Some(span) if replace => {
            writer.whole_span(scores, span.parent.as_deref());
            json::replaced(events, span.begin.start..span.end.end, &writer.out)
        }
        Some(span) => {
            writer.scorer_spans(scores, &span.id);
            if !writer.out.is_empty() {
                writer.out.push(b',');
            }
            json::replaced(events, span.end.start..span.end.start, &writer.out)
        }
        None => {
            writer.whole_span(scores, None);
            json::pushed(events, &writer.out)?
        }
    })
}

/// The part of the events in which the sample was scored.
#[derive(Debug)]
pub(super) struct ScorersSpan {
    pub(super) id: String,
    parent: Option<String>,
    begin: Range<usize>,
    pub(super) end: Range<usize>,
    /// Whether no other begins behind it, which was not ended.
    pub(super) is_last: bool,
}

/// The last whole one.
pub(super) fn find_span(events: &[u8]) -> Result<Option<ScorersSpan>> {
    const NAME: &[u8] = b"\"scorers\"";
    // Most of a long list need not be looked at one by one.
    if memchr::memmem::find(events, NAME).is_none() {
        return Ok(None);
    }
    let text = |json: &[u8], field: &str| -> Option<String> {
        serde_json::from_slice(json::value(json, field).ok()??).ok()
    };
    let (mut open, mut found) = (None, None::<ScorersSpan>);
    for item in json::items(events)? {
        let json = events.get(item.clone()).unwrap_or_default();
        match text(json, "event").as_deref() {
            Some("span_begin") => {
                let is_scoring = |field| text(json, field).as_deref() == Some("scorers");
                if is_scoring("type") && is_scoring("name") {
                    found = found.map(|span| ScorersSpan { is_last: false, ..span });
                    open = text(json, "id").map(|id| (id, text(json, "parent_id"), item));
                }
            }
            Some("span_end") => {
                let ended = text(json, "id");
                if let Some((id, parent, begin)) = open.take_if(|(id, ..)| ended.as_ref() == Some(id)) {
                    found = Some(ScorersSpan { id, parent, begin, end: item, is_last: true });
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
            Ok(json::value(record.sample, field)?.filter(|json| !matches!(*json, b"null" | b"{}")))
        };
        let worked = set("working_time")?.and_then(|json| serde_json::from_slice(json).ok());
        let (target, model_usage, role_usage) = (set("target")?, set("model_usage")?, set("role_usage")?);
        let (out, count) = (Vec::new(), 0);
        Ok(ScoringWriter { record, target, model_usage, role_usage, worked, out, count })
    }

    /// A part of its own for all scores.
    fn whole_span(&mut self, scores: &[ScorerResult<'_>], parent: Option<&str>) {
        let record = self.record;
        let events = record.events.map_or(&[][..], |events| &events.events);
        self.span_begin(record.id, events.first(), parent, ("scorers", "scorers"));
        self.scorer_spans(scores, record.id);
        self.span_end(record.id, events.last());
    }

    /// A part for each scorer that gave a score or called a model, in the part of this id.
    fn scorer_spans(&mut self, scores: &[ScorerResult<'_>], parent: &str) {
        let recorded = self.record.events;
        for (number, (scorer, score)) in scores.iter().enumerate() {
            let is_of = |event: &&Event| event.span == SpanNumber::try_from(number).ok();
            let of_scorer: Vec<&Event> =
                recorded.iter().flat_map(|recorded| &recorded.events).filter(is_of).collect();
            let has_calls = of_scorer.iter().any(|event| matches!(event.kind, EventKind::ModelCall(_)));
            if score.is_none() && !has_calls {
                continue;
            }
            let id = format!("{}-{}", self.record.id, number + 1);
            self.span_begin(&id, of_scorer.first().copied(), Some(parent), ("scorer", &scorer.name));
            for event in &of_scorer {
                if let (EventKind::ModelCall(call), Some(recorded)) = (&event.kind, recorded) {
                    self.call(&id, event, call, recorded);
                }
            }
            let last = of_scorer.last().copied();
            if let Some(score) = score {
                self.score_event(&id, last, scorer, score);
            }
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

    fn score_event(&mut self, span: &str, at: Option<&Event>, scorer: &NewScorer, score: &Score) {
        let (target, usages) =
            (self.target, [("model_usage", self.model_usage), ("role_usage", self.role_usage)]);
        let no_params = Metadata::new();
        self.event(span, at, "score", |json| {
            json.key("score").score(score, None::<&()>);
            if let Some(target) = target {
                json.key("target").raw(target);
            }
            json.field("intermediate", &false);
            json.field("scorer", &scorer.name);
            json.field("scorer_args", scorer.info.options.as_ref().unwrap_or(&no_params));
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

    fn text(json: &[u8]) -> &str {
        std::str::from_utf8(json).unwrap()
    }

    fn scorers() -> [NewScorer; 1] {
        let info = ScorerInfo { name: "s".to_owned(), ..ScorerInfo::default() };
        [NewScorer { name: "s1".to_owned(), info }]
    }

    fn put(sample: &str, action: ScoreAction) -> String {
        let mut columns = ScoreColumns::new(["s1"]);
        columns.push("q", 1).score("s1", Score::new(0.5)).unwrap();
        let scorers = scorers();
        let (timestamp, id) = ("now".to_owned(), "run".to_owned());
        let new = NewScores {
            action,
            scorers: &scorers,
            columns: &columns,
            rows: &[0],
            timestamp,
            id,
            events: &[],
        };
        let mut json = new.put_into(sample.as_bytes(), 0, "old").unwrap();
        json = json::set(&json, &["events"], b"0").unwrap();
        text(&json).to_owned()
    }

    #[test]
    fn scores_stay_or_are_replaced() {
        const NEW: &str = r#""s1":{"value":0.5,"history":[]}"#;
        use ScoreAction::{Append, Overwrite};
        let scored = r#"{"id":"q", "scores": {"s": {"value": NaN}}, "x":1,"events":[]}"#;
        let appended = put(scored, Append);
        assert_eq!(
            appended,
            scored.replace("NaN}}", &format!("NaN}},{NEW}}}")).replace("\"events\":[]", "\"events\":0")
        );
        let expected = format!(r#"{{"id":"q", "scores": {{{NEW}}}, "x":1,"events":0}}"#);
        assert_eq!(put(scored, Overwrite), expected);
        // A sample that was not scored, and one of a very old log.
        assert_eq!(put("{}", Append), format!(r#"{{"scores":{{{NEW}}},"events":0}}"#));
        let old = r#"{"score":{"value":1}}"#;
        assert_eq!(
            put(old, Append),
            format!(r#"{{"score":null,"scores":{{"old":{{"value":1}},{NEW}}},"events":0}}"#)
        );
        assert_eq!(put(old, Overwrite), format!(r#"{{"score":null,"scores":{{{NEW}}},"events":0}}"#));
    }

    #[test]
    fn lists_are_joined() {
        for (first, second, both) in
            [("[]", "[]", "[]"), ("[ 1 ]", "[]", "[ 1 ]"), ("[]", "[1,2]", "[1,2]"), ("[1]", "[2]", "[1,2]")]
        {
            assert_eq!(text(&joined(first.as_bytes(), second.as_bytes()).unwrap()), both);
        }
    }
}

#[cfg(test)]
mod score_events_tests {
    use super::*;
    use serde_json::Value as Json;

    fn scored(events: &str, replace: bool) -> Vec<String> {
        let scorer = NewScorer { name: "includes1".to_owned(), info: ScorerInfo::default() };
        let scores = [(&scorer, Some(Score::new("C")))];
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
