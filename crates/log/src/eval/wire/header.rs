//! Headers to and from JSON. By hand where results are, which hold the bare `NaN` of Python.

use errorbar_core::Headline;
use indexmap::IndexMap;
use jiter::{Jiter, Peek};

use super::JsonWriter;
use super::decode::{any, count, fields, list, metadata, number, root_fields, text, typed, unexpected};
use crate::eval::error::{LogErrorKind, Result};
use crate::eval::header::{Header, NEWEST, StartRecord};
use crate::recorded::{RecordedBlock, RecordedMetric, RecordedResults, headline_json};

impl Header {
    /// The header as JSON.
    pub(in crate::eval) fn to_json(&self) -> Vec<u8> {
        JsonWriter::object_bytes(|json| self.write_fields(json))
    }

    fn write_fields(&self, json: &mut JsonWriter) {
        json.field("version", &self.version);
        json.field("status", &self.status);
        json.field("eval", &self.eval);
        json.field("plan", &self.plan);
        if let Some(results) = &self.results {
            write_results(json.key("results"), results);
        }
        json.field("stats", &self.stats);
        json.optional("error", self.error.as_ref());
        for (key, value) in &self.extra {
            json.field(key, value);
        }
    }

    /// Reads a header.
    pub(in crate::eval) fn from_json(bytes: &[u8]) -> Result<Self> {
        let (mut eval, mut plan) = (None, None);
        let mut header = Header::started(StartRecord::new(Default::default(), Default::default()));
        root_fields(bytes, |key, json, peek| {
            match key {
                "version" => header.version = typed("version", json, peek)?,
                "status" => header.status = typed("status", json, peek)?,
                "eval" => eval = Some(typed("eval", json, peek)?),
                "plan" => plan = typed("plan", json, peek)?,
                "results" => header.results = read_results(json, peek)?,
                "stats" => header.stats = typed::<Option<_>>("stats", json, peek)?.unwrap_or_default(),
                "error" => header.error = typed("error", json, peek)?,
                // Part of a `.json` log, and read as samples from there.
                "samples" | "reductions" => json.known_skip(peek)?,
                _ => {
                    header.extra.insert(key.to_owned(), any(json, peek)?);
                }
            }
            Ok(())
        })?;
        if header.version > NEWEST {
            return Err(LogErrorKind::Version { found: header.version, known: NEWEST }.into());
        }
        header.eval = eval.ok_or(LogErrorKind::Missing("eval"))?;
        header.plan = plan.unwrap_or_default();
        Ok(header)
    }
}

impl StartRecord {
    /// Reads the record of the start.
    pub(in crate::eval) fn from_json(bytes: &[u8]) -> Result<Self> {
        let Header { version, eval, plan, .. } = Header::from_json(bytes)?;
        Ok(StartRecord { version, eval, plan })
    }

    pub(in crate::eval) fn to_json(&self) -> Vec<u8> {
        JsonWriter::bytes_of(|json| json.value(self))
    }
}

impl RecordedResults {
    /// The results as JSON.
    pub(in crate::eval) fn to_json(&self) -> Vec<u8> {
        JsonWriter::bytes_of(|json| write_results(json, self))
    }

    /// The blocks as JSON.
    pub(in crate::eval) fn scores_to_json(&self) -> Vec<u8> {
        JsonWriter::bytes_of(|json| write_blocks(json, self))
    }
}

fn write_blocks(json: &mut JsonWriter, results: &RecordedResults) {
    json.array(|json| results.scores.iter().for_each(|block| write_block(json, block)));
}

fn write_results(json: &mut JsonWriter, results: &RecordedResults) {
    json.object(|json| {
        json.field("total_samples", &results.total_samples);
        json.field("completed_samples", &results.completed_samples);
        write_blocks(json.key("scores"), results);
        json.optional("headline", results.headline.as_ref().map(headline_json).as_ref());
        json.optional("metadata", results.metadata.as_ref());
        json.optional("early_stopping", results.early_stopping.as_ref());
        json.optional("logged_samples", results.logged_samples.as_ref());
    });
}

fn write_block(json: &mut JsonWriter, block: &RecordedBlock) {
    json.object(|json| {
        json.field("name", &block.name);
        json.field("scorer", &block.scorer);
        json.optional("reducer", block.reducer.as_ref());
        json.optional("scored_samples", block.scored_samples.as_ref());
        json.optional("unscored_samples", block.unscored_samples.as_ref());
        json.field("params", &block.params);
        json.key("metrics").object(|json| {
            for (key, metric) in &block.metrics {
                json.key(key).object(|json| {
                    json.field("name", &metric.name);
                    json.optional("group", metric.group.as_ref());
                    json.key("value").float(metric.value);
                    json.field("params", &metric.params);
                    json.optional("metadata", metric.metadata.as_ref());
                });
            }
        });
        json.optional("metadata", block.metadata.as_ref());
    });
}

fn read_results(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<RecordedResults>> {
    if peek == Peek::Null {
        return Ok(json.known_null().map(|()| None)?);
    }
    let mut results = RecordedResults::default();
    // Very old logs hold a single block as `scorer` and `metrics`.
    let mut old = RecordedBlock::default();
    object("results", json, peek, |key, json, peek| {
        match key {
            "total_samples" => results.total_samples = count(key, json, peek)?.unwrap_or(0),
            "completed_samples" => results.completed_samples = count(key, json, peek)?.unwrap_or(0),
            "scores" => results.scores = list("results.scores", json, peek, read_block)?,
            "headline" => results.headline = read_headline(json, peek)?,
            "metadata" => results.metadata = metadata("results.metadata", json, peek)?,
            "early_stopping" => results.early_stopping = metadata("results.early_stopping", json, peek)?,
            "logged_samples" => results.logged_samples = count(key, json, peek)?,
            "scorer" => old = old_scorer(std::mem::take(&mut old), json, peek)?,
            "metrics" => old.metrics = read_metrics(json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    if results.scores.is_empty() && !old.scorer.is_empty() {
        results.scores.push(old);
    }
    Ok(Some(results))
}

/// The scorer of a very old log: a name, or an object with one.
fn old_scorer(mut block: RecordedBlock, json: &mut Jiter<'_>, peek: Peek) -> Result<RecordedBlock> {
    let name = match any(json, peek)? {
        serde_json::Value::String(name) => name,
        other => other.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned(),
    };
    block.name.clone_from(&name);
    block.scorer = name;
    Ok(block)
}

fn read_headline(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<Headline>> {
    let Some(map) = metadata("results.headline", json, peek)? else { return Ok(None) };
    let get = |key: &str| map.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    Ok(Some(Headline {
        scorer: get("scorer").unwrap_or_default(),
        score: get("score").unwrap_or_default(),
        metric: get("metric").unwrap_or_default(),
        reducer: get("reducer"),
    }))
}

fn read_block(json: &mut Jiter<'_>, peek: Peek) -> Result<RecordedBlock> {
    let (mut block, mut scorer) = (RecordedBlock::default(), None);
    object("results.scores[]", json, peek, |key, json, peek| {
        match key {
            "name" => block.name = text(key, json, peek)?.unwrap_or_default(),
            "scorer" => scorer = text(key, json, peek)?,
            "reducer" => block.reducer = text(key, json, peek)?,
            "scored_samples" => block.scored_samples = count(key, json, peek)?,
            "unscored_samples" => block.unscored_samples = count(key, json, peek)?,
            "params" => block.params = metadata(key, json, peek)?.unwrap_or_default(),
            "metrics" => block.metrics = read_metrics(json, peek)?,
            "metadata" => block.metadata = metadata(key, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    block.scorer = scorer.unwrap_or_else(|| block.name.clone());
    Ok(block)
}

fn read_metrics(json: &mut Jiter<'_>, peek: Peek) -> Result<IndexMap<String, RecordedMetric>> {
    let mut metrics = IndexMap::new();
    object("metrics", json, peek, |key, json, peek| {
        let metric = read_metric(key, json, peek)?;
        metrics.insert(key.to_owned(), metric);
        Ok(())
    })?;
    Ok(metrics)
}

fn read_metric(key: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<RecordedMetric> {
    // Older logs hold null where the value was not-a-number.
    let mut metric = RecordedMetric::new(key, f64::NAN);
    object(key, json, peek, |field, json, peek| {
        match field {
            "name" => metric.name = text(field, json, peek)?.unwrap_or_default(),
            "group" => metric.group = text(field, json, peek)?,
            "value" => metric.value = number(key, json, peek)?.unwrap_or(f64::NAN),
            "params" | "options" => metric.params = metadata(field, json, peek)?.unwrap_or_default(),
            "metadata" => metric.metadata = metadata(field, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    Ok(metric)
}

fn object(
    name: &str,
    json: &mut Jiter<'_>,
    peek: Peek,
    field: impl FnMut(&str, &mut Jiter<'_>, Peek) -> Result<()>,
) -> Result<()> {
    if peek != Peek::Object {
        return Err(unexpected(name, peek, "an object"));
    }
    fields(json, field)
}
