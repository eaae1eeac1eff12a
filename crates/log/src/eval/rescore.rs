//! New scores for the samples of a log: beside those that it has, or in their place.

use std::collections::HashMap;

use errorbar_core::chat::SampleEvents;
use errorbar_core::{Evaluation, Score, ScoreColumns};

use super::error::Result;
use super::header::{Header, ScorerInfo};
use super::json::splice;
use super::members::{REDUCTIONS, SUMMARIES};
use super::reductions::Reductions;
use super::revision::{RecordKey, Revision};
use super::score_events::{ScoreEvent, ScoringRecord, with_scores};
use super::stored::id_and_epoch;
use super::summary::thin_score;
use super::wire::JsonWriter;
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
            self.replace(RecordKey::Member(REDUCTIONS.to_owned()), json);
        }
        if let Some(old) = self.log.raw(SUMMARIES)?.filter(|_| self.log.has_header()) {
            let summaries = summaries(&old, &new);
            let summaries = summaries.map_err(|error| error.in_member(SUMMARIES).at(self.log.path()))?;
            self.replace(RecordKey::Member(SUMMARIES.to_owned()), summaries);
        }
        self.scores = Some(new);
        Ok(())
    }

    /// Records the scorers.
    fn add_scorers(&mut self, new: &NewScores<'_>) -> Result<()> {
        let infos = JsonWriter::bytes_of(|json| {
            json.array(|json| new.scorers.iter().for_each(|scorer| json.value(&scorer.info)));
        });
        let eval = splice::value(&self.header, "eval")?.unwrap_or(b"{}");
        let old = splice::value(eval, "scorers")?.filter(|old| old.starts_with(b"["));
        let scorers = match old.filter(|_| new.action == ScoreAction::Append) {
            Some(old) => joined(old, &infos)?,
            None => infos,
        };
        self.header = splice::set(&self.header, &["eval", "scorers"], &scorers)?;
        Ok(())
    }

    /// Appends blocks to the results that the log has; false if it has none.
    fn append_results(&mut self, new: &RecordedResults) -> Result<bool> {
        let Some(old) = splice::value(&self.header, "results")?.filter(|json| json.starts_with(b"{")) else {
            return Ok(false);
        };
        let results = match splice::value(old, "scores")?.filter(|old| old.starts_with(b"[")) {
            Some(blocks) => {
                let blocks = joined(blocks, &new.scores_to_json())?;
                let mut results = splice::set(old, &["scores"], &blocks)?;
                let has_headline = splice::value(&results, "headline")?.is_some_and(|json| json != b"null");
                if let Some(headline) = new.headline.as_ref().filter(|_| !has_headline) {
                    let headline = headline_json(headline).to_string();
                    results = splice::set(&results, &["headline"], headline.as_bytes())?;
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
        self.header = splice::set(&self.header, &["results"], &results)?;
        Ok(true)
    }
}

/// The first list with the items of the second behind its own.
fn joined(first: &[u8], second: &[u8]) -> Result<Vec<u8>> {
    let items = second.trim_ascii();
    let items = items.get(1..items.len().saturating_sub(1)).unwrap_or_default();
    match items.trim_ascii().is_empty() {
        true => Ok(first.to_vec()),
        false => splice::pushed(first, items),
    }
}

impl NewScores<'_> {
    /// The new scores of the sample at an index.
    fn of(&self, at: usize) -> Vec<(&NewScorer, Option<Score>)> {
        let row = self.rows.get(at);
        let score = |scorer: &NewScorer| self.columns.score(*row?, &scorer.name);
        self.scorers.iter().map(|scorer| (scorer, score(scorer))).collect()
    }

    /// The sample at an index with its new scores; `old_scorer` is the name of a score without one.
    pub(super) fn put_into(&self, sample: &[u8], at: usize, old_scorer: &str) -> Result<Vec<u8>> {
        let new = self.of(at);
        let nameless = splice::value(sample, "score")?.filter(|json| json.starts_with(b"{"));
        let old = splice::value(sample, "scores")?.filter(|json| json.starts_with(b"{"));
        let mut scores = match (self.action, old, nameless) {
            (ScoreAction::Append, Some(old), _) => old.to_vec(),
            (ScoreAction::Append, None, Some(score)) => splice::set(b"{}", &[old_scorer], score)?,
            _ => b"{}".to_vec(),
        };
        for (scorer, score) in &new {
            let Some(score) = score else { continue };
            let score = JsonWriter::bytes_of(|json| json.score(score, None::<&()>));
            scores = splice::set(&scores, &[&scorer.name], &score)?;
        }
        let id = format!("{}-{at}", self.id);
        let events = self.events.get(at).and_then(Option::as_ref);
        let record = ScoringRecord { sample, timestamp: &self.timestamp, id: &id, events };
        let no_params = Default::default();
        let of_events: Vec<ScoreEvent<'_>> = new
            .iter()
            .map(|(scorer, score)| ScoreEvent {
                scorer: &scorer.name,
                params: scorer.info.options.as_ref().unwrap_or(&no_params),
                score: score.as_ref(),
            })
            .collect();
        let old = splice::value(sample, "events")?.unwrap_or(b"[]");
        let events = with_scores(old, record, &of_events, self.action == ScoreAction::Overwrite)?;

        let mut changed = splice::set(sample, &["scores"], &scores)?;
        if nameless.is_some() {
            changed = splice::set(&changed, &["score"], b"null")?;
        }
        splice::set(&changed, &["events"], &events)
    }
}

/// The summaries with the new scores in them.
fn summaries(json: &[u8], new: &NewScores<'_>) -> Result<Vec<u8>> {
    let columns = new.columns;
    let rows: HashMap<(String, u32), usize> =
        (0..columns.len()).map(|row| ((columns.id(row).to_owned(), columns.epoch(row)), row)).collect();
    let mut changed = Vec::with_capacity(json.len() + json.len() / 4);
    let mut copied = 0;
    for item in splice::items(json)? {
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
    let old = splice::value(summary, "scores")?.filter(|json| json.starts_with(b"{"));
    let old = old.filter(|_| new.action == ScoreAction::Append);
    let mut scores = old.unwrap_or(b"{}").to_vec();
    for scorer in new.scorers {
        if let Some(score) = new.columns.score(row, &scorer.name) {
            let score = JsonWriter::bytes_of(|json| json.score(&thin_score(&score), None::<&()>));
            scores = splice::set(&scores, &[&scorer.name], &score)?;
        }
    }
    splice::set(summary, &["scores"], &scores)
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
        json = splice::set(&json, &["events"], b"0").unwrap();
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
