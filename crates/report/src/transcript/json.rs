//! A sample as JSON, for programs.

use errorbar_core::{SampleId, Score};
use errorbar_log::eval::{MessagePart, Transcript, TranscriptMessage};
use serde_json::{Value, json};

use super::TranscriptView;
use crate::json::Json;

impl Json {
    /// A sample with what the view shows of it, texts whole. What is absent is null, and so is unscored.
    pub fn transcript(&self, transcript: &Transcript, view: &TranscriptView) -> Value {
        let scores = transcript.scores.iter().filter(|(scorer, _)| view.shows(scorer));
        let scores: serde_json::Map<String, Value> =
            scores.map(|(scorer, score)| (scorer.clone(), of_score(score))).collect();
        let mut object = json!({
            "id": match &transcript.id {
                SampleId::Int(id) => json!(id),
                SampleId::Str(id) => json!(id),
            },
            "epoch": transcript.epoch,
            "input": of_messages(&transcript.input),
            "choices": transcript.choices,
            "target": transcript.target,
            "answer": transcript.answer,
            "stop_reason": transcript.stop_reason,
            "scores": scores,
            "error": transcript.error,
            "limit": transcript.limit,
            "metadata": transcript.metadata,
        });
        if view.conversation
            && let Some(object) = object.as_object_mut()
        {
            object.insert("messages".to_owned(), of_messages(&transcript.messages));
        }
        object
    }
}

fn of_score(score: &Score) -> Value {
    json!({
        "value": score.value.to_json(),
        "answer": score.answer,
        "explanation": score.explanation,
        "reason": score.reason,
        "metadata": score.metadata,
    })
}

fn of_messages(messages: &[TranscriptMessage]) -> Value {
    let of_message = |message: &TranscriptMessage| {
        let calls = message.parts.iter().filter_map(|part| match part {
            MessagePart::ToolCall { function, arguments } => {
                Some(json!({ "function": function, "arguments": arguments }))
            }
            _ => None,
        });
        let calls: Vec<Value> = calls.collect();
        let mut object = json!({ "role": message.role, "text": message.text() });
        if let Some(object) = object.as_object_mut() {
            let author = message.author.as_ref().map(|author| ("author", json!(author)));
            let calls = (!calls.is_empty()).then(|| ("tool_calls", json!(calls)));
            object.extend(author.into_iter().chain(calls).map(|(key, value)| (key.to_owned(), value)));
        }
        object
    };
    messages.iter().map(of_message).collect()
}
