//! `prompt_template`: rewords the question.

use errorbar_core::spec::Arg;
use errorbar_core::{Error, KeywordArgs, Params, Result};

use super::message_template::{effects, filled};
use crate::{BoxFuture, Generate, Solver, SolverEffects, TaskState, TemplateText};

/// Rewrites the user prompt: {prompt} in the template stands for it, other names for keyword arguments, metadata or the store.
///
/// ```
/// use errorbar_eval::solvers::prompt_template;
/// let _ = prompt_template("{prompt}\n\nAnswer in {language}.").param("language", "French");
/// ```
///
/// # When
/// Words around every question, with fields of the dataset.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["prompt_template(\"{prompt} Digits only.\")", "generate"]' 'scorer = "match"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/4' --limit 1 --show --quiet
/// ── 1 · 2 messages ──────────────────────────────────────────────────────────────────────────────────
/// user          2 + 2? Digits only.
/// assistant     4
/// target        4
/// match         C (correct)
///
/// logs/….eval · sums · mock/4 · 1 sample
///
/// match · 1 scored
///                                0                                       1
///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `chain_of_thought`, `system_message`, `user_message`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "prompt_template")]
pub struct PromptTemplate {
    /// The template of the new prompt, or the name of a file that holds it.
    template: TemplateText,
    /// What names in the template stand for, before the store and the sample's metadata.
    #[param(keywords)]
    params: KeywordArgs,
}

impl PromptTemplate {
    /// What a name in the template stands for.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Arg>) -> Self {
        self.params = self.params.with(name, value);
        self
    }
}

impl Solver for PromptTemplate {
    fn solve<'a>(&'a self, state: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
        let reworded = reword("prompt_template", self.template.text(), &self.params, state);
        Box::pin(std::future::ready(reworded))
    }

    fn effects(&self) -> SolverEffects {
        effects("prompt_template", &self.template, &["prompt"], &self.params)
    }
}

/// Puts a template around the question.
pub(super) fn reword(
    solver: &str,
    template: &str,
    params: &KeywordArgs,
    state: &mut TaskState,
) -> Result<()> {
    let Some(prompt) = state.user_prompt().map(|message| message.content.clone()) else {
        return Err(Error::custom(format!(
            "{solver}: the conversation has no message of the user to reword; begin it with one (user_message)"
        )));
    };
    let text = filled(template, params, state, &[("prompt", &prompt)])?;
    if let Some(message) = state.user_prompt() {
        message.content = text;
    }
    Ok(())
}
