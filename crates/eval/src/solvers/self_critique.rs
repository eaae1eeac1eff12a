//! `self_critique`: lets the model look at its answer again.

use std::borrow::Cow;

use errorbar_core::{Params, Result};

use crate::template::{fill, lookup};
use crate::{BoxFuture, Generate, Message, Solver, SolverEffects, TaskState, Template, TemplateText};

const CRITIQUE: &str =
    "Below are a question and an answer to it. Point out what is wrong, missing or unclear in the \
answer. If there is nothing to improve, say only: The answer stands.

[Question]
{question}

[Answer]
{completion}

[Your review]
";

const COMPLETION: &str =
    "Below are a question, the answer you gave, and a review of that answer. Where the review \
is right, answer again and better. Where nothing needs to change, repeat your answer word for word.

[Question]
{question}

[Your answer]
{completion}

[Review]
{critique}

[Your final answer]
";

/// Lets the model review its answer and answer again; templates have {question}, {completion} and {critique}.
///
/// It needs an answer, so `generate()` comes before it. The template "inspect" is the prompt of inspect_ai, word for word.
///
/// # When
/// A second look by the same or by another model.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["generate", "self_critique"]' 'scorer = "includes"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/["3", "Wrong.", "4"]' --limit 1 --show --quiet
/// ── 1 · 4 messages ──────────────────────────────────────────────────────────────────────────────────
/// user          2 + 2?
/// assistant     3
/// user          Below are a question, the answer you gave, and a review of that answer. Where the
///               review is right, answer again and better. Where nothing needs to change, repeat your
///               answer word for word.
///
///               [Question]
///               2 + 2?
///
///               [Your answer]
///               3
///
///               [Review]
///               Wrong.
///
///               [Your final answer]
/// assistant     4
/// target        4
/// includes      C (correct)
///
/// logs/….eval
///       sums · mock/["3", "Wrong.", "4"] · 1 sample
///
/// includes · 1 scored
///                                0                                       1
///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `generate`, `user_message`, `chain_of_thought`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "self_critique")]
pub struct SelfCritique {
    /// The template of the prompt for the review, the name of a file that holds it, or "inspect".
    critique_template: Option<TemplateText>,
    /// The template of the prompt for the second answer, the name of a file that holds it, or "inspect".
    completion_template: Option<TemplateText>,
    /// The model that reviews; the evaluated one if unset.
    model: Option<String>,
}

impl SelfCritique {
    fn critique(&self) -> &str {
        self.critique_template.as_ref().map_or(CRITIQUE, |text| text.or_inspect(|prompts| &prompts.critique))
    }

    fn completion(&self) -> &str {
        let template = self.completion_template.as_ref();
        template.map_or(COMPLETION, |text| text.or_inspect(|prompts| &prompts.critique_completion))
    }
}

fn filled(template: &str, state: &TaskState, critique: &str) -> Result<String> {
    fill(template, |name| match name {
        "question" => Some(Cow::Owned(state.input_text().to_owned())),
        "completion" => Some(Cow::Owned(state.output.completion.clone())),
        "critique" => Some(Cow::Owned(critique.to_owned())),
        other => lookup(other, [&state.store, &state.metadata]).map(|text| Cow::Owned(text.into_owned())),
    })
}

impl Solver for SelfCritique {
    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let review = [Message::user(filled(self.critique(), state, "")?)];
            let critique = match &self.model {
                None => generate.ask(state, &review).await?,
                Some(model) => {
                    let reviewer = generate.named(model)?;
                    generate.ask_of(reviewer, state, &review).await?
                }
            };
            let again = Message::user(filled(self.completion(), state, &critique.completion)?);
            state.messages.push(again);
            generate.run(state).await
        })
    }

    fn effects(&self) -> SolverEffects {
        let name = "self_critique";
        // It gets its first answer from elsewhere, but the output is an answer of the model.
        SolverEffects::messages()
            .generates()
            .template(Template::new(name, self.critique(), &["question", "completion"]).strict())
            .template(
                Template::new(name, self.completion(), &["question", "completion", "critique"]).strict(),
            )
    }

    fn models(&self) -> Vec<String> {
        self.model.iter().cloned().collect()
    }
}
