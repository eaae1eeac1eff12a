//! A sample as it is read from a log: what metrics and summaries need. Messages and events, most of the
//! bytes, are counted or skipped but never built.

use errorbar_core::chat::{Input, ModelOutput, Targets, Usage};
use errorbar_core::{Metadata, MetadataKeys, SampleId, Score, ScoreParts};
use indexmap::IndexMap;
use jiter::{Jiter, Peek};
use serde_json::Value as Json;

use super::chunks::SampleExtent;
use super::error::{LogErrorKind, Result};
use super::json::{FieldSelection, Selection};
use super::wire::Wire;
use super::wire::decode::{self, count, fields, metadata, number, part, sample_id, scores, text, typed};

/// What to read of each sample; the rest is skipped.
///
/// ```
/// use errorbar_core::MetadataKeys;
/// use errorbar_log::eval::SampleFields;
/// let only_scores = SampleFields::scores(MetadataKeys::one("category"));
/// assert!(!only_scores.texts);
/// ```
#[derive(Clone, Debug)]
pub struct SampleFields {
    /// Input, choices and target.
    pub texts: bool,
    /// Choices and target without the input. Long ones may be references to other parts of the log.
    pub choices: bool,
    /// Usage, times, the number of messages and the like.
    pub details: bool,
    /// The text of the output.
    pub completion: bool,
    /// Which metadata of the sample.
    pub metadata: MetadataKeys,
    /// Which parts of its scores.
    pub scores: ScoreParts,
}

impl SampleFields {
    /// Everything that a [`StoredSample`] can hold, but for the output.
    pub fn all() -> Self {
        let metadata = MetadataKeys::All;
        SampleFields { texts: true, details: true, ..SampleFields::scores(metadata) }
    }

    /// Scores and this metadata, without input, choices and target.
    pub fn scores(metadata: MetadataKeys) -> Self {
        let (texts, choices, details, completion) = (false, false, false, false);
        SampleFields { texts, choices, details, completion, metadata, scores: ScoreParts::All }
    }

    setters! {
        /// Only these parts of the scores: answers and explanations may be long.
        score_parts: ScoreParts => scores;
    }

    pub(super) fn wants_metadata(&self) -> bool {
        self.metadata != MetadataKeys::NONE
    }

    /// How much of a sample in several members these fields are in: messages and long strings are not in its record.
    pub(super) fn extent(&self) -> SampleExtent {
        match self.texts || self.details || self.completion {
            true => SampleExtent::Conversation,
            false => SampleExtent::Record,
        }
    }

    /// The fields to read, and what of them.
    pub(super) fn wanted(&self) -> Vec<(&'static str, Selection)> {
        // A reason that an old log has among the metadata is lifted.
        const OLD_REASON: Selection = Selection::Fields(&[("unscored_reason", Selection::All)]);
        const VALUE: FieldSelection =
            &[("value", Selection::All), ("reason", Selection::All), ("metadata", OLD_REASON)];
        const METADATA: FieldSelection =
            &[("value", Selection::All), ("reason", Selection::All), ("metadata", Selection::All)];
        let (scores, score) = match self.scores {
            ScoreParts::Value => (Selection::FieldsOfEach(VALUE), Selection::Fields(VALUE)),
            ScoreParts::Metadata => (Selection::FieldsOfEach(METADATA), Selection::Fields(METADATA)),
            ScoreParts::All => (Selection::All, Selection::All),
        };
        let all =
            |names: &[&'static str]| names.iter().map(|name| (*name, Selection::All)).collect::<Vec<_>>();
        let mut wanted = all(&["id", "epoch"]);
        wanted.extend([("scores", scores), ("score", score)]);
        wanted.push(("error", Selection::Fields(&[("message", Selection::All)])));
        wanted.push(("limit", Selection::Fields(&[("type", Selection::All)])));
        if self.texts {
            wanted.extend(all(&["input"]));
        }
        if self.texts || self.choices {
            wanted.extend(all(&["choices", "target"]));
        }
        if self.details {
            wanted.extend(all(&["model_usage", "role_usage", "started_at", "completed_at"]));
            wanted.extend(all(&["total_time", "working_time", "uuid"]));
            wanted.push(("messages", Selection::Count));
        }
        if self.completion {
            wanted.push((
                "output",
                Selection::Fields(&[("choices", Selection::All), ("completion", Selection::All)]),
            ));
        }
        if self.wants_metadata() {
            wanted.push(("metadata", Selection::All));
        }
        wanted
    }
}

/// Stands for the scorer of a score in a very old log, which does not name it; no scorer has such a name.
pub(super) const NAMELESS: &str = "\0";
/// Its default name.
pub(super) const SOME_SCORER: &str = "score";

/// One sample in one epoch, as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StoredSample {
    /// The sample.
    pub id: SampleId,
    /// The epoch, from 1.
    pub epoch: u32,
    /// The input; empty if it was not to be read.
    pub input: Input,
    /// The messages of the input as the log has them, if they hold more than their texts: images, calls of tools.
    pub input_json: Option<Json>,
    /// The answers to choose from.
    pub choices: Option<Vec<String>>,
    /// What the answer should be; empty if it was not to be read.
    pub target: Targets,
    /// The text of the output; none if there is no output, or it was not to be read.
    pub completion: Option<String>,
    /// The scores by scorer, in their order.
    pub scores: IndexMap<String, Score>,
    /// The metadata that was to be read.
    pub metadata: Metadata,
    /// What ended it, if that was an error.
    pub error: Option<String>,
    /// Which limit ended it, if one did.
    pub limit: Option<String>,
    /// The tokens of each model.
    pub model_usage: IndexMap<String, Usage>,
    /// The tokens used by models in a role, by role.
    pub role_usage: IndexMap<String, Usage>,
    /// How many messages the conversation has.
    pub message_count: u64,
    /// When it started.
    pub started_at: Option<String>,
    /// When it ended.
    pub completed_at: Option<String>,
    /// Seconds in all.
    pub total_time: Option<f64>,
    /// Seconds less those spent waiting.
    pub working_time: Option<f64>,
    /// Unique for this sample in this epoch of this run.
    pub uuid: Option<String>,
}

impl StoredSample {
    /// Reads a sample from its JSON, of which a skimmer has taken what is wanted: long lists are counts.
    pub(super) fn from_json(bytes: &[u8], wanted: &SampleFields) -> Result<Self> {
        let (mut id, mut epoch) = (None, None);
        let mut sample = StoredSample::default();
        let read = decode::root_fields(bytes, |key, json, peek| {
            match key {
                "id" => id = Some(sample_id(json, peek)?),
                "epoch" => epoch = Some(decode::epoch(json, peek)?),
                _ => sample.field(key, json, peek, wanted)?,
            }
            Ok(())
        });
        read.map_err(|error| match &id {
            Some(id) => error.of_sample(id),
            None => error,
        })?;
        sample.id = id.ok_or(LogErrorKind::Missing("id"))?;
        sample.epoch = epoch.ok_or(LogErrorKind::Missing("epoch"))?;
        Ok(sample)
    }

    /// Gives the score of a very old log the name of its scorer.
    pub(super) fn name_nameless(mut self, name: impl FnOnce() -> String) -> Self {
        if let Some(score) = self.scores.shift_remove(NAMELESS) {
            self.scores.insert(name(), score);
        }
        self
    }

    /// Takes the metadata out of a separate record.
    pub(super) fn read_metadata(&mut self, bytes: &[u8], keys: &MetadataKeys) -> Result<()> {
        let mut json = decode::parser(bytes);
        let peek = json.peek()?;
        self.metadata = wanted_metadata(&mut json, peek, keys)?;
        Ok(json.finish()?)
    }

    fn field(&mut self, key: &str, json: &mut Jiter<'_>, peek: Peek, wanted: &SampleFields) -> Result<()> {
        match key {
            "input" if wanted.texts => {
                let input: Json = typed("input", json, peek)?;
                self.input_json = holds_more_than_texts(&input).then(|| input.clone());
                self.input = part::<Wire<_>>("input", input)?.0;
            }
            "choices" if wanted.texts || wanted.choices => self.choices = typed("choices", json, peek)?,
            "target" if wanted.texts || wanted.choices => {
                self.target = typed::<Wire<_>>("target", json, peek)?.0
            }
            "output" if wanted.completion => self.completion = completion(json, peek)?,
            "scores" => self.scores = scores(json, peek)?,
            // Very old logs have one score without the name of its scorer.
            "score" if peek == Peek::Object && self.scores.is_empty() => {
                self.scores.insert(NAMELESS.to_owned(), decode::score(SOME_SCORER, json, peek)?);
            }
            "metadata" => self.metadata = wanted_metadata(json, peek, &wanted.metadata)?,
            "error" => self.error = text_or_field(key, "message", json, peek)?,
            "limit" => self.limit = text_or_field(key, "type", json, peek)?,
            "model_usage" => self.model_usage = usage("model_usage", json, peek)?,
            "role_usage" => self.role_usage = usage("role_usage", json, peek)?,
            "messages" => self.message_count = count(key, json, peek)?.unwrap_or_default(),
            "started_at" => self.started_at = text(key, json, peek)?,
            "completed_at" => self.completed_at = text(key, json, peek)?,
            "total_time" => self.total_time = number(key, json, peek)?,
            "working_time" => self.working_time = number(key, json, peek)?,
            "uuid" => self.uuid = text(key, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    }
}

/// Id and epoch, if they stand among the first bytes of a sample.
pub(super) fn id_and_epoch(head: &[u8]) -> Option<(SampleId, u32)> {
    let mut json = decode::parser(head);
    let mut key = json.next_object().ok()?.map(str::to_owned);
    let (mut id, mut epoch) = (None, None);
    while let Some(name) = key {
        let peek = json.peek().ok()?;
        match name.as_str() {
            "id" => id = Some(sample_id(&mut json, peek).ok()?),
            "epoch" => epoch = Some(decode::epoch(&mut json, peek).ok()?),
            _ => json.known_skip(peek).ok()?,
        }
        if let (Some(id), Some(epoch)) = (&id, epoch) {
            // A number at the very end of the head might continue beyond it.
            return (json.current_index() < head.len()).then(|| (id.clone(), epoch));
        }
        key = json.next_key().ok()?.map(str::to_owned);
    }
    None
}

fn wanted_metadata(json: &mut Jiter<'_>, peek: Peek, keys: &MetadataKeys) -> Result<Metadata> {
    if matches!(keys, MetadataKeys::All) || peek != Peek::Object {
        return Ok(metadata("metadata", json, peek)?.unwrap_or_default());
    }
    let mut found = Metadata::new();
    fields(json, |key, json, peek| {
        if keys.contains(key) {
            found.insert(key.to_owned(), decode::any(json, peek)?);
        } else {
            json.known_skip(peek)?;
        }
        Ok(())
    })?;
    Ok(found)
}

/// The string in a field of an object, or the string that old logs have in place of the object. An object without the
/// field has an empty one.
pub(super) fn text_or_field(
    name: &str,
    field: &str,
    json: &mut Jiter<'_>,
    peek: Peek,
) -> Result<Option<String>> {
    if peek != Peek::Object {
        return text(name, json, peek);
    }
    let mut found = None;
    fields(json, |key, json, peek| match key == field {
        true => text(&format!("{name}.{field}"), json, peek).map(|text| found = text),
        false => Ok(json.known_skip(peek)?),
    })?;
    Ok(Some(found.unwrap_or_default()))
}

/// Whether messages have a content in parts, or keys that are not read.
fn holds_more_than_texts(input: &Json) -> bool {
    const READ: [&str; 5] = ["id", "content", "source", "role", "model"];
    let holds_more = |message: &Json| {
        let mut fields = message.as_object().into_iter().flatten();
        fields.any(|(key, value)| match value {
            Json::Null => false,
            value => !READ.contains(&key.as_str()) || !value.is_string(),
        })
    };
    input.as_array().is_some_and(|messages| messages.iter().any(holds_more))
}

/// The text of an output: that of its first answer, where it is not recorded by itself.
fn completion(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<String>> {
    let Some(Wire(output)) = typed::<Option<Wire<ModelOutput>>>("output", json, peek)? else {
        return Ok(None);
    };
    let first = output.choices.into_iter().next().map(|choice| choice.message.content);
    Ok(Some(output.completion).filter(|text| !text.is_empty()).or(first))
}

/// The tokens of each model or role; null is none.
fn usage(name: &'static str, json: &mut Jiter<'_>, peek: Peek) -> Result<IndexMap<String, Usage>> {
    Ok(typed::<Option<Wire<_>>>(name, json, peek)?.map(|Wire(usage)| usage).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_gives_the_key_or_nothing() {
        for sample in [r#"{"id":12,"epoch":345,"x":1}"#, r#"{"x":[{}],"epoch":345,"id":12}"#] {
            for length in 0..=sample.len() {
                let key = id_and_epoch(&sample.as_bytes()[..length]);
                assert!(key.is_none() || key == Some((SampleId::Int(12), 345)), "{key:?} at {length}");
            }
            assert!(id_and_epoch(sample.as_bytes()).is_some());
        }
    }
    #[test]
    fn messages_are_kept_whole_if_they_hold_more_than_texts() {
        let of = |input: &str| {
            let wanted = SampleFields { texts: true, ..SampleFields::scores(MetadataKeys::All) };
            let json = format!(r#"{{"id":1,"epoch":1,"input":{input}}}"#);
            StoredSample::from_json(json.as_bytes(), &wanted).unwrap().input_json
        };
        for whole in [
            r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","image":"x.png"}]}]"#,
            r#"[{"role":"assistant","content":"","tool_calls":[{"id":"1","function":"add","arguments":{}}]}]"#,
            r#"[{"role":"user","content":"a"},{"role":"tool","content":"4","tool_call_id":"1"}]"#,
        ] {
            assert_eq!(of(whole), Some(serde_json::from_str(whole).unwrap()), "{whole}");
        }
        for texts in [
            r#""a""#,
            r#"[{"id":"1","role":"user","content":"a","source":"input"}]"#,
            r#"[{"role":"assistant","content":"a","model":"m","tool_calls":null}]"#,
        ] {
            assert_eq!(of(texts), None, "{texts}");
        }
    }
}
