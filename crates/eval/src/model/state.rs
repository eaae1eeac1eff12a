//! The conversation about one sample in one epoch, as solvers change it and scorers judge it.

use std::sync::Arc;

use errorbar_core::Metadata;
use errorbar_log::eval::{MessageSource, SampleLimit};

use crate::text::marked_choices;
use crate::{Generate, Input, Message, MessageRole, ModelOutput, Sample, SampleId, Target};

/// One choice of a multiple-choice question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// Its text.
    pub value: String,
    /// Whether the model marked it; `None` before it has answered.
    pub marked: Option<bool>,
}

/// The conversation about one sample in one epoch.
///
/// ```
/// use errorbar_eval::{Sample, TaskState};
/// let mut state = TaskState::new("mock/model", &Sample::new("2 + 2?").target("4"), 1.into(), 1);
/// state.messages.insert(0, errorbar_eval::Message::system("Be brief."));
/// assert_eq!(state.user_prompt().map(|message| message.content.clone()).as_deref(), Some("2 + 2?"));
/// ```
#[derive(Clone, Debug)]
pub struct TaskState {
    /// The model that is called.
    pub model: String,
    /// The sample's id.
    pub sample_id: SampleId,
    /// The epoch, from 1 on.
    pub epoch: u32,
    /// The question as the dataset has it.
    pub input: Input,
    /// What would be right.
    pub target: Target,
    /// The choices; none unless it is a multiple-choice question.
    pub choices: Vec<Choice>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The last answer of the model.
    pub output: ModelOutput,
    /// The sample's metadata.
    pub metadata: Metadata,
    /// What solvers and scorers keep for each other. Logs record it.
    pub store: Metadata,
    /// Set by a solver to skip those that follow it.
    pub completed: bool,
    /// The limit that ended solving, if one did. What it ended is scored as it is, so a scorer that needs a solver's
    /// work may find none.
    pub limit: Option<SampleLimit>,
    generate: Option<Arc<Generate>>,
}

impl TaskState {
    /// The conversation about a sample before the first answer.
    pub fn new(model: &str, sample: &Sample, id: SampleId, epoch: u32) -> Self {
        let messages = match &sample.input {
            Input::Text(text) => vec![from_input(Message::user(text.as_str()))],
            Input::Messages(messages) => messages.iter().cloned().map(from_input).collect(),
        };
        let choices = sample.choices.iter().map(|value| Choice { value: value.clone(), marked: None });
        TaskState {
            model: model.to_owned(),
            sample_id: id,
            epoch,
            input: sample.input.clone(),
            target: sample.target.clone(),
            choices: choices.collect(),
            messages,
            output: ModelOutput::new(model, Vec::new()),
            metadata: sample.metadata.clone(),
            store: Metadata::new(),
            completed: false,
            limit: None,
            generate: None,
        }
    }

    /// With models that scorers can call.
    #[must_use]
    pub fn with_generate(mut self, generate: Arc<Generate>) -> Self {
        self.generate = Some(generate);
        self
    }

    /// What calls models about this sample, for scorers; `None` outside a run.
    pub fn generate(&self) -> Option<&Generate> {
        self.generate.as_deref()
    }

    /// The model has answered: its message joins the conversation, and its output is the last one.
    pub(crate) fn answer(&mut self, output: ModelOutput) {
        self.messages.extend(output.choices.first().map(|choice| choice.message.clone()));
        self.output = output;
    }

    /// Marks the choices that the answer names.
    pub(crate) fn mark_choices(&mut self, several: bool) {
        let marked = marked_choices(&self.output.completion, self.choices.len(), several).unwrap_or_default();
        for (place, choice) in self.choices.iter_mut().enumerate() {
            choice.marked = Some(marked.contains(&place));
        }
    }

    /// The question as a string: that of the last message of the user, if it is a conversation.
    pub fn input_text(&self) -> &str {
        match &self.input {
            Input::Text(text) => text,
            Input::Messages(messages) => {
                let last = messages.iter().rfind(|message| message.role == MessageRole::User);
                last.map_or("", |message| &message.content)
            }
        }
    }

    /// The last message of the user, which solvers reword.
    pub fn user_prompt(&mut self) -> Option<&mut Message> {
        self.messages.iter_mut().rev().find(|message| message.role == MessageRole::User)
    }
}

/// What the text of a message lacks for somebody who judges the conversation: images and what tools did, but not what the
/// model thought, which is no part of an answer.
pub(crate) fn unseen(message: &Message) -> Vec<&str> {
    const THOUGHTS: [&str; 2] = ["reasoning", "data"];
    message.omitted.iter().map(String::as_str).filter(|kind| !THOUGHTS.contains(kind)).collect()
}

fn from_input(mut message: Message) -> Message {
    message.source = Some(MessageSource::Input);
    message
}
