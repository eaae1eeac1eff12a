//! The JSON shape of a call of a model.

use std::ops::Range;

use errorbar_core::chat::{Message, MessageRole, MessageSource, ModelCall, ModelOutput, SampleEvents};

use super::attachments::Attachments;
use super::chat::Wire;
use super::time::{TimeWriter, put_seconds};
use super::writer::JsonWriter;

/// Where the messages of a call, and long strings, are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::eval) enum InputForm {
    /// In lists of the sample, each once.
    References,
    /// In the call: the lists of a sample that was written before stay as they are.
    Inline,
}

/// Writes the calls of one sample.
#[derive(Debug)]
pub(in crate::eval) struct CallWriter<'a> {
    recorded: &'a SampleEvents,
    input: InputForm,
    attachments: Attachments<'a>,
    times: TimeWriter,
}

impl<'a> CallWriter<'a> {
    pub(in crate::eval) fn new(recorded: &'a SampleEvents, input: InputForm) -> Self {
        CallWriter { recorded, input, attachments: Attachments::default(), times: TimeWriter::default() }
    }

    /// The long strings of what was written so far.
    pub(super) fn write_attachments(&self, json: &mut JsonWriter) {
        self.attachments.write(json);
    }

    /// A string, or a reference to it if it is long.
    pub(super) fn write_text(&mut self, json: &mut JsonWriter, text: &'a str) {
        match self.input {
            InputForm::References => self.attachments.write_text(json, text),
            InputForm::Inline => json.text(text),
        }
    }

    pub(in crate::eval) fn write_call(&mut self, json: &mut JsonWriter, call: &'a ModelCall) {
        let ModelCall { model, role, input, config, answer, retries, cache, completed, working_time } = call;
        json.key("model").text(model);
        if let Some(role) = role {
            json.key("role").text(role);
        }
        let sent: &[Range<usize>] = match self.input {
            InputForm::Inline => input,
            InputForm::References => &[],
        };
        let messages = self.recorded.messages.as_slice();
        json.key("input").array(|json| {
            let sent = sent.iter().filter_map(|range| messages.get(range.clone()));
            sent.flatten().for_each(|message| self.write_message(json, message));
        });
        if self.input == InputForm::References {
            json.key("input_refs").array(|json| {
                let pair =
                    |json: &mut JsonWriter, range: &Range<usize>| json.value(&[range.start, range.end]);
                input.iter().for_each(|range| pair(json, range));
            });
        }
        json.key("tools").array(|_| ());
        json.key("tool_choice").text("none");
        json.field("config", &**config);
        json.key("output");
        match answer {
            Ok(output) => self.write_output(json, output),
            Err(_) => write_no_output(json, model),
        }
        if *retries > 0 {
            json.field("retries", retries);
        }
        if let Err(problem) = answer {
            json.key("error").text(problem);
        }
        if let Some(cache) = cache {
            json.key("cache").text(cache.name());
        }
        json.bytes.extend_from_slice(br#","completed":""#);
        self.times.put(&mut json.bytes, self.recorded.started.saturating_add(*completed));
        json.bytes.extend_from_slice(br#"","working_time":"#);
        put_seconds(&mut json.bytes, *working_time);
    }

    fn write_output(&mut self, json: &mut JsonWriter, output: &'a ModelOutput) {
        let ModelOutput { model, choices, completion, usage, time, metadata, error, .. } = output;
        json.object(|json| {
            json.key("model").text(model);
            json.key("choices").array(|json| {
                for choice in choices {
                    json.object(|json| {
                        self.write_message(json.key("message"), &choice.message);
                        json.key("stop_reason").text(&choice.stop_reason);
                        json.optional("logprobs", choice.logprobs.as_ref());
                    });
                }
            });
            // Readers do not look for references here.
            json.key("completion").text(completion);
            json.optional("usage", usage.as_ref().map(Wire).as_ref());
            json.optional("time", time.as_ref());
            json.optional("metadata", metadata.as_ref());
            json.optional("error", error.as_ref());
        });
    }

    pub(super) fn write_message(&mut self, json: &mut JsonWriter, message: &'a Message) {
        let Message { id, content, source, role, model, .. } = message;
        self.write_parts(json, (id.as_deref(), *source, model.as_deref()), *role, content);
    }

    pub(super) fn write_parts(
        &mut self,
        json: &mut JsonWriter,
        (id, source, model): (Option<&str>, Option<MessageSource>, Option<&str>),
        role: MessageRole,
        content: &'a str,
    ) {
        json.object(|json| {
            if let Some(id) = id {
                json.key("id").text(id);
            }
            self.write_text(json.key("content"), content);
            if let Some(source) = source {
                json.key("source").text(source.name());
            }
            json.key("role").text(role.name());
            if let Some(model) = model {
                json.key("model").text(model);
            }
        });
    }
}

/// What stands in place of an answer where there is none: an empty one.
fn write_no_output(json: &mut JsonWriter, model: &str) {
    json.object(|json| {
        json.key("model").text(model);
        json.key("choices").array(|json| {
            json.object(|json| {
                json.key("message").object(|json| {
                    json.key("content").text("");
                    json.key("source").text(MessageSource::Generate.name());
                    json.key("role").text(MessageRole::Assistant.name());
                    json.key("model").text(model);
                });
                json.key("stop_reason").text("stop");
            });
        });
        json.key("completion").text("");
    });
}
