//! `multiple_choice`: shows the choices and requests a letter.

use std::borrow::Cow;

use errorbar_core::{Error, Params, Result};

use crate::template::{fill, lookup};
use crate::text::{choice_label, marked_choices};
use crate::{
    BoxFuture, Generate, GenerateConfig, Sample, Solver, SolverEffects, TaskState, Template, TemplateText,
};

const SINGLE: &str =
    "Choose the one option that answers the question below. Reply with a single line of the form \
\"ANSWER: $LETTER\", without the quotes, where $LETTER is one of {letters}.

{question}

{choices}";

const MULTIPLE: &str = "Choose every option that answers the question below; there may be more than one. Reply with a \
single line of the form \"ANSWER: $LETTERS\", without the quotes, where $LETTERS are the letters of your options out of \
{letters}, separated by commas.

{question}

{choices}";

const SINGLE_COT: &str = "Choose the one option that answers the question below. Reason step by step first; then let \
the last line of your reply have the form \"ANSWER: $LETTER\", without the quotes, where $LETTER is one of {letters}.

{question}

{choices}";

const MULTIPLE_COT: &str = "Choose every option that answers the question below; there may be more than one. Reason \
step by step first; then let the last line of your reply have the form \"ANSWER: $LETTERS\", without the quotes, where \
$LETTERS are the letters of your options out of {letters}, separated by commas.

{question}

{choices}";

/// Prompts with the choices for a letter and marks those that the model names; a template has {question}, {choices} and {letters}.
///
/// `choice()` scores the marks. It calls the model itself, so no `generate()` follows it. The template "inspect" is the
/// prompt of inspect_ai for the other arguments, word for word.
///
/// # When
/// The dataset has choices. It calls the model itself; score with `choice`.
///
/// # Example
/// ```console
/// $ printf '%s\n' '{"id":1,"input":"2 + 2?","choices":["3","4"],"target":"B"}' > quiz.jsonl
/// $ printf '%s\n' 'dataset = "quiz.jsonl"' 'solver = "multiple_choice"' 'scorer = "choice"' > quiz.toml
/// $ errorbar eval quiz.toml --model 'mock/ANSWER: A' --limit 1 --show --quiet
/// ── 1 · 2 messages ──────────────────────────────────────────────────────────────────────────────────
/// user          Choose the one option that answers the question below. Reply with a single line of the
///               form "ANSWER: $LETTER", without the quotes, where $LETTER is one of A,B.
///
///               2 + 2?
///
///               A) 3
///               B) 4
/// assistant     ANSWER: A
/// target        B
/// choice        I (incorrect)
///               answer: A
///
/// logs/….eval
///       quiz · mock/ANSWER: A · 1 sample
///
/// choice · 1 scored
///                                0                                       1
///   accuracy  0.00 [0.00, 0.79]  ●───────────────────────────────┤          only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `choice`, `generate`, `chain_of_thought`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "multiple_choice")]
pub struct MultipleChoice {
    /// The template of the prompt, the name of a file that holds it, or "inspect".
    #[param(check = check_template)]
    template: Option<TemplateText>,
    /// Whether to prompt for the reasoning first.
    #[param(default = false)]
    cot: Option<bool>,
    /// Whether more than one choice may be right.
    #[param(default = false)]
    multiple_correct: Option<bool>,
    /// The maximum number of tokens in the answer; that of the run if unset.
    #[param(check = check_max_tokens)]
    max_tokens: Option<u64>,
}

fn check_max_tokens(max_tokens: &u64) -> Result<(), String> {
    if *max_tokens == 0 { Err("must be at least 1".to_owned()) } else { Ok(()) }
}

fn check_template(template: &TemplateText) -> Result<(), String> {
    let text = template.text();
    match template.is_inspect() || text.contains("{question}") && text.contains("{choices}") {
        true => Ok(()),
        false => Err("must have {question} and {choices} in it".to_owned()),
    }
}

impl MultipleChoice {
    fn words(&self) -> &str {
        let kind = (self.multiple_correct_or_default(), self.cot_or_default());
        match &self.template {
            Some(template) => template.or_inspect(|prompts| match kind {
                (false, false) => &prompts.single_answer,
                (true, false) => &prompts.multiple_answer,
                (false, true) => &prompts.single_answer_cot,
                (true, true) => &prompts.multiple_answer_cot,
            }),
            None => match kind {
                (false, false) => SINGLE,
                (true, false) => MULTIPLE,
                (false, true) => SINGLE_COT,
                (true, true) => MULTIPLE_COT,
            },
        }
    }

    fn config(&self) -> GenerateConfig {
        GenerateConfig { max_tokens: self.max_tokens, ..GenerateConfig::default() }
    }
}

impl Solver for MultipleChoice {
    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if state.choices.is_empty() {
                return Err(Error::custom(NO_CHOICES));
            }
            let Some(question) = state.user_prompt().map(|message| message.content.clone()) else {
                return Err(Error::custom("multiple_choice: the conversation has no message of the user"));
            };
            let labels: Vec<String> = (0..state.choices.len()).map(choice_label).collect();
            let lines = labels.iter().zip(&state.choices);
            let choices: Vec<String> =
                lines.map(|(label, choice)| format!("{label}) {}", choice.value)).collect();
            let text = fill(self.words(), |name| match name {
                "question" => Some(Cow::Owned(question.clone())),
                "choices" => Some(Cow::Owned(choices.join("\n"))),
                "letters" => Some(Cow::Owned(labels.join(","))),
                other => {
                    lookup(other, [&state.store, &state.metadata]).map(|text| Cow::Owned(text.into_owned()))
                }
            })?;
            if let Some(prompt) = state.user_prompt() {
                prompt.content = text;
            }
            generate.run_with(state, &self.config(), None).await?;
            let multiple = self.multiple_correct_or_default();
            let marked =
                marked_choices(&state.output.completion, state.choices.len(), multiple).unwrap_or_default();
            for (place, choice) in state.choices.iter_mut().enumerate() {
                choice.marked = Some(marked.contains(&place));
            }
            Ok(())
        })
    }

    fn effects(&self) -> SolverEffects {
        let template = Template::new("multiple_choice", self.words(), &["question", "choices", "letters"]);
        SolverEffects::messages().generates().marks_choices().template(template.strict())
    }

    fn configs(&self) -> Vec<GenerateConfig> {
        self.max_tokens.iter().map(|_| self.config()).collect()
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        if sample.choices.is_empty() { Err(Error::custom(NO_CHOICES)) } else { Ok(()) }
    }
}

const NO_CHOICES: &str = "it has no choices, which multiple_choice() needs; map them from the dataset";
