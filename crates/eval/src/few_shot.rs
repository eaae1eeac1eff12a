//! Solved examples before the question.

use std::borrow::Cow;
use std::sync::Arc;

use errorbar_core::{Error, Result, Spec, ToSpec};
use serde_json::Value as Json;

use crate::dataset::shuffle;
use crate::template::{fill, text_of};
use crate::text::choice_label;
use crate::{
    BoxFuture, Dataset, DatasetError, Generate, Input, Message, MessageRole, NamedSample, Sample, SampleId,
    Solver, SolverEffects, TaskState,
};

/// What sets the order of examples apart from that of the samples of a dataset with the same seed.
const STREAM: u64 = u64::MAX;

/// Puts solved examples before the question. They are the same for every sample, but that a sample is never an example
/// for itself.
#[derive(Clone, Debug)]
pub(crate) struct FewShot {
    pub(crate) count: usize,
    /// The examples in a random order; in that of the file without a seed.
    pub(crate) seed: Option<u64>,
    pub(crate) place: ExamplesPlace,
    /// The template of the question of an example; of all of it, if it is in one message.
    pub(crate) question: Option<String>,
    /// The template of the answer.
    pub(crate) answer: Option<String>,
    /// What stands between two examples in one message.
    pub(crate) separator: String,
    /// The template of the whole message.
    pub(crate) message: Option<String>,
    /// Metadata that a sample and its examples have in common.
    pub(crate) group: Option<String>,
    /// Whether they are in the file of the questions, where an id is that of one sample.
    pub(crate) is_same_file: bool,
    pub(crate) location: Option<String>,
    /// What examples are chosen from, the first that fit.
    pub(crate) candidates: Arc<[NamedSample]>,
    pub(crate) digest: String,
}

/// Where examples stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExamplesPlace {
    /// In a system message.
    System,
    /// In the message of the user, before the question.
    User,
    /// Each as a message of the user and the answer of the assistant.
    Messages,
}

impl ExamplesPlace {
    pub(crate) const NAMES: [(&'static str, ExamplesPlace); 3] = [
        ("system", ExamplesPlace::System),
        ("user", ExamplesPlace::User),
        ("messages", ExamplesPlace::Messages),
    ];
}

impl FewShot {
    /// No example yet, of these.
    pub(crate) fn new(dataset: &Dataset) -> Result<Self, DatasetError> {
        let candidates = dataset.samples()?;
        dataset.check_text(candidates)?;
        Ok(FewShot {
            count: 0,
            seed: None,
            place: ExamplesPlace::System,
            question: None,
            answer: None,
            separator: "\n\n".to_owned(),
            message: None,
            group: None,
            is_same_file: false,
            location: dataset.location().map(str::to_owned),
            candidates: candidates.into(),
            digest: String::new(),
        })
    }

    /// With its candidates in the order in which they are chosen.
    ///
    /// # Errors
    /// An example that is too long for a prompt.
    pub(crate) fn chosen(mut self) -> Result<Self> {
        if let Some(seed) = self.seed {
            let mut candidates = self.candidates.to_vec();
            shuffle(&mut candidates, seed, STREAM);
            self.candidates = candidates.into();
        }
        let mut digest = blake3::Hasher::new();
        for (id, sample) in self.candidates.iter() {
            let parts = [id.to_string(), self.question(sample)?, self.answer(sample)?];
            for part in parts {
                digest.update(&(part.len() as u64).to_le_bytes());
                digest.update(part.as_bytes());
            }
        }
        self.digest = digest.finalize().to_hex().chars().take(16).collect();
        Ok(self)
    }

    /// The examples of a sample.
    fn examples<'a>(
        &'a self,
        id: Option<&SampleId>,
        input: &Input,
        choices: &[&str],
        group: Option<&Json>,
    ) -> Result<Vec<&'a Sample>> {
        let fits = |(_, example): &&NamedSample| {
            let is_same_text = example.input == *input && are_same(&example.choices, choices);
            let is_same_id = self.is_same_file && id.is_some() && example.id.as_ref() == id;
            let in_group = match &self.group {
                Some(key) => group.is_some() && example.metadata.get(key) == group,
                None => true,
            };
            !is_same_text && !is_same_id && in_group
        };
        let examples = self.candidates.iter().filter(fits).take(self.count);
        let examples: Vec<&Sample> = examples.map(|(_, example)| &**example).collect();
        if examples.len() == self.count {
            return Ok(examples);
        }
        let of_group = match &self.group {
            Some(key) => format!(" of its `{key}`"),
            None => String::new(),
        };
        let file = self.location.as_deref().unwrap_or("the dataset");
        Err(Error::custom(format!(
            "few_shot wants {} examples{of_group} beside the sample itself, and {file} has {}",
            self.count,
            examples.len()
        )))
    }

    /// Refuses a sample for which there are not enough examples.
    pub(crate) fn check(&self, sample: &Sample) -> Result<()> {
        let choices: Vec<&str> = sample.choices.iter().map(String::as_str).collect();
        let group = self.group.as_ref().and_then(|key| sample.metadata.get(key));
        self.examples(sample.id.as_ref(), &sample.input, &choices, group).map(|_| ())
    }

    /// The question of an example as the model sees it; all of the example, if that is one message.
    fn question(&self, example: &Sample) -> Result<String> {
        let default = match (self.place, example.choices.is_empty()) {
            (ExamplesPlace::Messages, true) => "{input}",
            (ExamplesPlace::Messages, false) => "{input}\n\n{choices}",
            (_, true) => "{input}\n\n{target}",
            (_, false) => "{input}\n\n{choices}\n\nANSWER: {target}",
        };
        filled(self.question.as_deref().unwrap_or(default), example)
    }

    fn answer(&self, example: &Sample) -> Result<String> {
        if self.place != ExamplesPlace::Messages {
            return Ok(String::new());
        }
        let default = if example.choices.is_empty() { "{target}" } else { "ANSWER: {target}" };
        filled(self.answer.as_deref().unwrap_or(default), example)
    }
}

/// Whether choices are the same; those of a question may be shuffled, those of examples are not.
fn are_same(of_example: &[String], of_question: &[&str]) -> bool {
    let mut of_example: Vec<&str> = of_example.iter().map(String::as_str).collect();
    let mut of_question = of_question.to_vec();
    of_example.sort_unstable();
    of_question.sort_unstable();
    of_example == of_question
}

/// A template with the parts of an example.
fn filled(template: &str, example: &Sample) -> Result<String> {
    fill(template, |name| {
        Some(Cow::Owned(match name {
            "input" => question_text(&example.input).to_owned(),
            // One that would do is an example of an answer.
            "target" => example.target.first().cloned().unwrap_or_default(),
            "choices" => {
                let lines = example.choices.iter().enumerate();
                let lines = lines.map(|(at, choice)| format!("{}) {choice}", choice_label(at)));
                lines.collect::<Vec<_>>().join("\n")
            }
            other => text_of(example.metadata.get(other)?).into_owned(),
        }))
    })
}

fn question_text(input: &Input) -> &str {
    match input {
        Input::Text(text) => text,
        Input::Messages(messages) => {
            let last = messages.iter().rev().find(|message| message.role == MessageRole::User);
            last.map_or("", |message| &message.content)
        }
    }
}

impl ToSpec for FewShot {
    fn spec(&self) -> Spec {
        let place = ExamplesPlace::NAMES.iter().find(|(_, place)| *place == self.place);
        let count = i64::try_from(self.count).ok();
        let seed = self.seed.and_then(|seed| i64::try_from(seed).ok());
        Spec::new("few_shot")
            .kwarg_some("path", self.location.as_deref())
            .kwarg_some("count", count)
            .kwarg_some("seed", seed)
            .kwarg_some("as", place.map(|(name, _)| *name))
            .kwarg_some("template", self.question.as_deref())
            .kwarg_some("answer_template", self.answer.as_deref())
            .kwarg("separator", self.separator.as_str())
            .kwarg_some("message", self.message.as_deref())
            .kwarg_some("group", self.group.as_deref())
            // What the examples are, so that a run is not resumed with others.
            .kwarg("digest", self.digest.as_str())
    }
}

impl Solver for FewShot {
    fn solve<'a>(&'a self, state: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.put_before(state) })
    }

    fn effects(&self) -> SolverEffects {
        SolverEffects::default()
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        FewShot::check(self, sample)
    }
}

impl FewShot {
    fn put_before(&self, state: &mut TaskState) -> Result<()> {
        let choices: Vec<&str> = state.choices.iter().map(|choice| choice.value.as_str()).collect();
        let group = self.group.as_ref().and_then(|key| state.metadata.get(key));
        let examples = self.examples(Some(&state.sample_id), &state.input, &choices, group)?;
        if self.place == ExamplesPlace::Messages {
            let mut pairs = Vec::with_capacity(2 * examples.len());
            for example in examples {
                pairs.push(Message::user(self.question(example)?));
                pairs.push(Message::assistant(self.answer(example)?));
            }
            let is_system = |message: &Message| message.role == MessageRole::System;
            let behind = state.messages.iter().take_while(|message| is_system(message)).count();
            state.messages.splice(behind..behind, pairs);
            return Ok(());
        }
        let examples: Vec<String> =
            examples.into_iter().map(|example| self.question(example)).collect::<Result<_>>()?;
        let examples = examples.join(&self.separator);
        let default = match self.place {
            ExamplesPlace::User => "{examples}\n\n{prompt}",
            _ => "{examples}",
        };
        let prompt = state.user_prompt().map(|message| message.content.clone());
        let text = fill(self.message.as_deref().unwrap_or(default), |name| match name {
            "examples" => Some(Cow::Owned(examples.clone())),
            "prompt" => prompt.clone().map(Cow::Owned),
            _ => None,
        })?;
        match (self.place, state.user_prompt()) {
            (ExamplesPlace::User, Some(prompt)) => prompt.content = text,
            _ => {
                let system = |message: &Message| message.role == MessageRole::System;
                let behind = state.messages.iter().rposition(system);
                state.messages.insert(behind.map_or(0, |at| at + 1), Message::system(text));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shuffled choices do not make a question another one.
    #[test]
    fn a_sample_with_shuffled_choices_is_no_example_for_itself() {
        let sample = Sample::new("Which?").choices(["x", "y", "z"]).target("A");
        let mut few_shot = FewShot::new(&Dataset::new([sample])).unwrap();
        few_shot.count = 1;
        assert!(few_shot.check(&Sample::new("Which?").choices(["z", "x", "y"])).is_err());
        assert!(few_shot.check(&Sample::new("Which?").choices(["x", "y", "y"])).is_ok());
    }
}
