//! `chain_of_thought`: requests the reasoning before the answer.

use errorbar_core::{KeywordArgs, Result};
use errorbar_macros::solver;

use super::prompt_template::reword;
use crate::{Generate, SolverEffects, TaskState, Template, TemplateText};

const TEMPLATE: &str = "{prompt}

Work this out one step at a time and write the steps down before you commit to a result. The very last line of your \
reply must have the form \"ANSWER: $ANSWER\", without the quotes, where $ANSWER is your result and nothing else.";

/// Prompts for the reasoning first and the answer in a last line `ANSWER: …`; {prompt} in a custom template stands for the question.
///
/// The template "inspect" is the prompt of inspect_ai, word for word.
///
/// # When
/// Questions that need steps. Score with `answer`, since the reasoning contains other numbers.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["chain_of_thought", "generate"]' 'scorer = "answer(\"word\")"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/ANSWER: 4' --limit 1 --show --quiet
/// ── 1 · 2 messages ──────────────────────────────────────────────────────────────────────────────────
/// user          2 + 2?
///
///               Work this out one step at a time and write the steps down before you commit to a
///               result. The very last line of your reply must have the form "ANSWER: $ANSWER", without
///               the quotes, where $ANSWER is your result and nothing else.
/// assistant     ANSWER: 4
/// target        4
/// answer        C (correct)
///               answer: 4
///
/// logs/….eval
///       sums · mock/ANSWER: 4 · 1 sample
///
/// answer · 1 scored
///                                0                                       1
///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `answer`, `generate`, `self_critique`
///
/// # Source
/// Wei et al. 2022, "Chain-of-thought prompting elicits reasoning in large language models".
#[solver(crate = crate::facade, built_in, known = effects)]
pub fn chain_of_thought(
    state: &mut TaskState,
    _: &Generate,
    /// The template of the prompt, the name of a file that holds it, or "inspect"; `{prompt}` stands for the question.
    template: Option<TemplateText>,
) -> Result<()> {
    reword("chain_of_thought", text_of(template.as_ref()), &KeywordArgs::default(), state)
}

fn text_of(template: Option<&TemplateText>) -> &str {
    template.map_or(TEMPLATE, |template| template.or_inspect(|prompts| &prompts.chain_of_thought))
}

fn effects(solver: &ChainOfThought) -> SolverEffects {
    let template = text_of(solver.template.as_ref());
    SolverEffects::messages().template(Template::new("chain_of_thought", template, &["prompt"]))
}
