//! The prompt for a grader.

use errorbar_core::spec::nearest;
use errorbar_core::{Error, Metadata, Result};
use serde_json::Value as Json;

use super::format::{self, FormatTemplate, Placeholder};
use crate::model::unseen;
use crate::prompts::template_or_prompt;
use crate::{Input, Message, MessageRole, Sample, ScorerNeeds, Target, TaskState, TemplateText};

/// The names that a template can use beside those of the sample's metadata, which they hide.
const NAMES: [&str; 4] = ["question", "answer", "criterion", "instructions"];

/// The names of the lowest and the highest score, in templates of graders that give numbers.
const BOUNDS: [&str; 2] = ["min", "max"];

/// The prompt for graders about each sample.
#[derive(Clone, Debug)]
pub(in crate::scorers) struct Prompt {
    pub(super) template: FormatTemplate,
    /// That of samples without a criterion, if it is another one.
    pub(super) without_criterion: Option<FormatTemplate>,
    pub(super) instructions: String,
    pub(super) include_history: bool,
    /// The lowest and the highest score of graders that give numbers.
    pub(super) bounds: Option<(f64, f64)>,
}

impl Prompt {
    /// The prompt of a template, or of this name, checked to show the grader something.
    ///
    /// # Errors
    /// A template that cannot be read, or that names nothing.
    pub(in crate::scorers) fn new(
        template: Option<&TemplateText>,
        name: &str,
        instructions: String,
        include_history: bool,
    ) -> Result<Self> {
        let given = template.map(TemplateText::given).unwrap_or_default();
        let template = format::parse(template_or_prompt(template, name))?;
        if template.fields().next().is_none() {
            return Err(Error::custom(format!(
                "the template {given:?} names no file, and as a string it shows the grader nothing; put {{question}}, \
                 {{answer}}, {{criterion}} and {{instructions}} into it"
            )));
        }
        Ok(Prompt { template, without_criterion: None, instructions, include_history, bounds: None })
    }

    /// What graders need who are shown it.
    pub(in crate::scorers) fn needs(&self) -> ScorerNeeds {
        let has_criterion = self.template.fields().any(|field| field.name == "criterion");
        ScorerNeeds {
            // With the history a grader can judge a conversation that the dataset has.
            output: !self.include_history,
            target: self.without_criterion.is_none() && has_criterion,
            ..ScorerNeeds::default()
        }
    }

    fn is_own(&self, name: &str) -> bool {
        NAMES.contains(&name) || self.bounds.is_some() && BOUNDS.contains(&name)
    }

    fn template_for(&self, target: &Target) -> &FormatTemplate {
        match &self.without_criterion {
            Some(other) if target.iter().all(|target| target.trim().is_empty()) => other,
            _ => &self.template,
        }
    }

    /// Refuses a conversation of which the grader would not see all that the template shows it: a verdict about an image
    /// that was not there looks like any other.
    pub(in crate::scorers) fn check_shown(&self, state: &TaskState, target: &Target) -> Result<()> {
        let refuse = |part: &str, unseen: Vec<&str>, advice: &str| match unseen.as_slice() {
            [] => Ok(()),
            kinds => Err(Error::custom(format!(
                "its {part} has {}, and a grader is shown the text alone; {advice}",
                kinds.join(", ")
            ))),
        };
        let template = self.template_for(target);
        let has = |name: &str| template.fields().any(|field| field.name == name);
        let question = last_of_user(&state.input);
        match question.filter(|_| has("question") && !self.include_history) {
            Some(question) => {
                let advice = "if the criterion says enough, take a template without {question}";
                refuse("question", unseen(question), advice)?;
            }
            None if has("question") && self.include_history => {
                let advice = "if the question and the answer say enough, leave out include_history";
                let unseen = shown_history(&state.messages).flat_map(unseen).take(1).collect();
                refuse("conversation", unseen, advice)?;
            }
            None => {}
        }
        let answer = state.output.choices.first().filter(|_| has("answer"));
        let mut unseen = answer.map(|choice| unseen(&choice.message)).unwrap_or_default();
        // What it did to find the answer is no part of that.
        unseen.retain(|kind| !["tool_calls", "tool_use"].contains(kind));
        refuse("answer", unseen, "take a scorer that compares texts")
    }

    /// The prompt for one answer.
    pub(in crate::scorers) fn text(&self, state: &TaskState, target: &Target) -> Result<String> {
        self.check_shown(state, target)?;
        let question = match self.include_history {
            true => history(&state.messages),
            false => question(&state.input)?.to_owned(),
        };
        let template = self.template_for(target);
        template.fill(|field, _| {
            let text = |text: &str| Json::from(text);
            let shown = match field.name.as_str() {
                "question" => shown(field, &text(&question))?,
                "answer" => shown(field, &text(&state.output.completion))?,
                "criterion" => shown(field, &text(&target.text()))?,
                // The author's words need no guard.
                "instructions" => return shown(field, &text(&self.instructions)),
                name if self.is_own(name) => {
                    let (min, max) = self.bounds.unwrap_or_default();
                    // As people write them: 10, not 10.0.
                    return shown(field, &text(&if name == "min" { min } else { max }.to_string()));
                }
                _ => shown(field, entry(field, &state.metadata)?)?,
            };
            Ok(guard(&shown))
        })
    }

    /// Refuses a sample that lacks something the template requires.
    ///
    /// Its metadata is complete unless a solver may add to it.
    pub(in crate::scorers) fn check(&self, sample: &Sample, is_complete: bool) -> Result<()> {
        if !self.include_history {
            question(&sample.input)?;
        }
        let of_metadata = self.template.fields().filter(|field| !self.is_own(&field.name));
        of_metadata
            .filter(|field| is_complete || sample.metadata.contains_key(&field.name))
            .map(|field| shown(field, entry(field, &sample.metadata)?))
            .try_for_each(|shown| shown.map(drop))
    }
}

fn entry<'m>(field: &Placeholder, metadata: &'m Metadata) -> Result<&'m Json> {
    metadata.get(&field.name).ok_or_else(|| {
        let keys: Vec<&str> = metadata.keys().map(String::as_str).collect();
        let keys_shown = match keys.as_slice() {
            [] => "it has none".to_owned(),
            keys => format!("it has {}", keys.join(", ")),
        };
        let near = nearest(&field.name, NAMES.into_iter().chain(keys));
        let advice = near.map(|near| format!("; did you mean {{{near}}}?"));
        Error::custom(format!(
            "the grader's template has {field}, which is none of {} and not in the sample's metadata ({keys_shown}){}",
            NAMES.join(", "),
            advice.unwrap_or_default(),
        ))
    })
}

fn shown(field: &Placeholder, value: &Json) -> Result<String> {
    let refused = |problem: &str, value: &Json| {
        Error::custom(format!(
            "the grader's template has {field}, but {problem} in the sample's `{}`: it is {value}",
            field.name
        ))
    };
    let part = field.part_of(value).ok_or_else(|| refused("nothing is at that place", value))?;
    field.text_of(part).ok_or_else(|| refused("what is there cannot be written that way", part))
}

/// The question: the text, or the last message of the user.
fn question(input: &Input) -> Result<&str> {
    match input {
        Input::Text(text) => Ok(text),
        Input::Messages(_) => last_of_user(input).map(|message| message.content.as_str()).ok_or_else(|| {
            Error::custom(
                "its input has no message of the user, which is the question that a grader is shown; add one, or show \
                 the whole conversation: include_history=true",
            )
        }),
    }
}

fn last_of_user(input: &Input) -> Option<&Message> {
    match input {
        Input::Text(_) => None,
        Input::Messages(messages) => messages.iter().rfind(|message| message.role == MessageRole::User),
    }
}

/// The messages up to the last answer, without those of the system.
fn shown_history(messages: &[Message]) -> impl Iterator<Item = &Message> {
    let end = messages.iter().rposition(|message| message.role == MessageRole::Assistant);
    let shown = messages.get(..end.map_or(messages.len(), |end| end + 1)).unwrap_or_default();
    shown.iter().filter(|message| message.role != MessageRole::System)
}

/// The conversation as text.
fn history(messages: &[Message]) -> String {
    let lines = shown_history(messages).enumerate().map(|(at, message)| match message.role {
        // The question.
        _ if at == 0 => message.content.clone(),
        MessageRole::Assistant => format!("Assistant: {}", message.content),
        MessageRole::Tool => format!("Tool: {}", message.content),
        MessageRole::User | MessageRole::System => format!("User: {}", message.content),
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

/// What is graded must not end the part of the prompt that is shown as data: the markers `[BEGIN DATA]` and
/// `[END DATA]`, in any case, get a dash for their blank.
fn guard(text: &str) -> String {
    const MARKERS: [&str; 2] = ["[begin data]", "[end data]"];
    let blank = |marker: &str| marker.find(' ').unwrap_or_default();
    let is_blank_of_marker = |at: usize| {
        MARKERS.iter().any(|marker| {
            let start = at.checked_sub(blank(marker));
            let found = start.and_then(|start| text.get(start..start + marker.len()));
            found.is_some_and(|found| found.eq_ignore_ascii_case(marker))
        })
    };
    let guarded = text.char_indices().map(|(at, c)| if c == ' ' && is_blank_of_marker(at) { '-' } else { c });
    guarded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_in_what_is_graded_are_broken() {
        assert_eq!(
            guard("[Begin Data] [end  data] [END\tDATA][BEGIN DATA ] é[END DATA][end data]"),
            "[Begin-Data] [end  data] [END\tDATA][BEGIN DATA ] é[END-DATA][end-data]"
        );
    }

    // As the reference renders these conversations.
    #[test]
    fn history_ends_with_the_last_answer() {
        use Message as M;
        let (s, u, a, t) = (M::system, M::user, M::assistant, |text| M::new(MessageRole::Tool, text));
        for (messages, shown) in [
            (vec![], ""),
            (vec![s("only")], ""),
            (vec![s("only"), a("x")], "x"),
            (
                vec![s("sys"), u(" q\n"), a(" a "), u("more"), s("s2"), a("b"), u("tail")],
                " q\n\n\nAssistant:  a \n\nUser: more\n\nAssistant: b",
            ),
            (vec![a("first"), u("u"), a("")], "first\n\nUser: u\n\nAssistant: "),
            (vec![u("u1"), u("u2")], "u1\n\nUser: u2"),
            (vec![u("u1"), t("found"), a("x")], "u1\n\nTool: found\n\nAssistant: x"),
        ] {
            assert_eq!(history(&messages), shown);
        }
    }
}
