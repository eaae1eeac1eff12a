//! `generate`: calls the model.

use errorbar_core::{Error, Params, Result};

use crate::prompts::template_or_prompt;
use crate::template::{fill, lookup};
use crate::text::choice_label;
use crate::{
    BoxFuture, Generate, GenerateConfig, Message, Sample, Solver, SolverEffects, TaskState, Template,
    TemplateText,
};

/// Calls the model for the next message of the conversation, perhaps with other settings than those of the run.
///
/// ```
/// use errorbar_eval::solvers::generate;
/// let _ = generate().temperature(0.0).max_tokens(100_u64);
/// ```
///
/// # When
/// The call itself; the default where a task has no solver. Settings here are for this call alone.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = "generate(temperature=0.0)"' 'scorer = "includes"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/It is 4.' --limit 1 --show --quiet
/// ── 1 · 2 messages ──────────────────────────────────────────────────────────────────────────────────
/// user          2 + 2?
/// assistant     It is 4.
/// target        4
/// includes      C (correct)
///
/// logs/….eval
///       sums · mock/It is 4. · 1 sample
///
/// includes · 1 scored
///                                0                                       1
///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `multiple_choice`, `system_message`, `self_critique`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "generate", check = Self::check_config)]
pub struct GenerateSolver {
    /// The sampling temperature.
    temperature: Option<f64>,
    /// The maximum number of tokens in the answer.
    max_tokens: Option<u64>,
    /// Nucleus sampling: the share of the probability that tokens are sampled from.
    top_p: Option<f64>,
    /// Strings that end the answer.
    stop_seqs: Option<Vec<String>>,
    /// The penalty on tokens by how often they occurred.
    frequency_penalty: Option<f64>,
    /// The penalty on tokens that occurred at all.
    presence_penalty: Option<f64>,
    /// The sampling seed of the server.
    seed: Option<i64>,
    /// Whether to return the log probabilities of tokens.
    logprobs: Option<bool>,
    /// Of how many tokens at each position.
    top_logprobs: Option<u32>,
    /// The first message of the conversation for this call, or the name of a file that holds it.
    system_message: Option<TemplateText>,
    /// Whether the answer is cached, whatever the run does.
    cache: Option<bool>,
}

impl GenerateSolver {
    fn config(&self) -> GenerateConfig {
        GenerateConfig {
            system_message: self.system_message.as_ref().map(|message| message.text().to_owned()),
            max_tokens: self.max_tokens,
            top_p: self.top_p,
            temperature: self.temperature,
            stop_seqs: self.stop_seqs.clone().unwrap_or_default(),
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            seed: self.seed,
            logprobs: self.logprobs,
            top_logprobs: self.top_logprobs,
            ..GenerateConfig::default()
        }
    }

    fn check_config(&self) -> Result<()> {
        self.config().check()
    }
}

impl Solver for GenerateSolver {
    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { generate.run_with(state, &self.config(), self.cache).await })
    }

    fn effects(&self) -> SolverEffects {
        SolverEffects { generates: true, ..SolverEffects::default() }
    }

    fn configs(&self) -> Vec<GenerateConfig> {
        let config = self.config();
        if config == GenerateConfig::default() { Vec::new() } else { vec![config] }
    }
}

// `multiple_choice`: shows the choices and requests a letter.

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
        let name = match (self.multiple_correct_or_default(), self.cot_or_default()) {
            (false, false) => "single_answer",
            (true, false) => "multiple_answer",
            (false, true) => "single_answer_cot",
            (true, true) => "multiple_answer_cot",
        };
        template_or_prompt(self.template.as_ref(), name)
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
                "question" => Some(question.as_str().into()),
                "choices" => Some(choices.join("\n").into()),
                "letters" => Some(labels.join(",").into()),
                other => lookup(other, [&state.store, &state.metadata]),
            })?;
            if let Some(prompt) = state.user_prompt() {
                prompt.content = text;
            }
            generate.run_with(state, &self.config(), None).await?;
            state.mark_choices(self.multiple_correct_or_default());
            Ok(())
        })
    }

    fn effects(&self) -> SolverEffects {
        let names = &["question", "choices", "letters"];
        let templates = vec![strict("multiple_choice", self.words(), names)];
        SolverEffects { generates: true, marks_choices: true, templates, unknown: false }
    }

    fn configs(&self) -> Vec<GenerateConfig> {
        self.max_tokens.iter().map(|_| self.config()).collect()
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        if sample.choices.is_empty() { Err(Error::custom(NO_CHOICES)) } else { Ok(()) }
    }
}

const NO_CHOICES: &str = "it has no choices, which multiple_choice() needs; map them from the dataset";

// `self_critique`: lets the model look at its answer again.

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
        template_or_prompt(self.critique_template.as_ref(), "critique")
    }

    fn completion(&self) -> &str {
        template_or_prompt(self.completion_template.as_ref(), "critique_completion")
    }
}

fn filled<'s>(template: &str, state: &'s TaskState, critique: &'s str) -> Result<String> {
    fill(template, |name| match name {
        "question" => Some(state.input_text().into()),
        "completion" => Some(state.output.completion.as_str().into()),
        "critique" => Some(critique.into()),
        other => lookup(other, [&state.store, &state.metadata]),
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
        let critique = strict("self_critique", self.critique(), &["question", "completion"]);
        let names = &["question", "completion", "critique"];
        let templates = vec![critique, strict("self_critique", self.completion(), names)];
        // It gets its first answer from elsewhere, but the output is an answer of the model.
        SolverEffects { generates: true, templates, ..SolverEffects::default() }
    }

    fn models(&self) -> Vec<String> {
        self.model.iter().cloned().collect()
    }
}

/// A template in which an unknown name is a mistake.
fn strict(solver: &'static str, text: &str, names: &'static [&'static str]) -> Template {
    Template { solver, text: text.to_owned(), names, is_strict: true, ..Template::default() }
}
