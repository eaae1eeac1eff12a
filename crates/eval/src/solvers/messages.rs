//! What solvers that add or reword a message share: a template, filled in with keyword arguments, the store and metadata.

use errorbar_core::spec::Arg;
use errorbar_core::{Error, KeywordArgs, Params, Result};
use errorbar_macros::solver;

use crate::prompts::template_or_prompt;
use crate::template::{fill, lookup_set};
use crate::{
    BoxFuture, Generate, Message, MessageRole, Solver, SolverEffects, TaskState, Template, TemplateText,
};

/// The template, filled in: with `own` first, then the keyword arguments, the store and the metadata.
fn filled(template: &str, params: &KeywordArgs, state: &TaskState, own: &[(&str, &str)]) -> Result<String> {
    let params = params.to_json();
    fill(template, |name| {
        if !params.contains_key(name)
            && let Some((_, text)) = own.iter().find(|(own, _)| *own == name)
        {
            return Some((*text).into());
        }
        lookup_set(name, [&params, &state.store, &state.metadata])
    })
}

/// A solver with a template: the struct of its arguments, the names that it fills in itself, and how it fills it in.
macro_rules! template_solver {
    ($(#[$doc:meta])* $name:literal, $type:ident, $(#[$template:meta])* template [$($own:literal)*], $solve:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Params)]
        #[params(crate = errorbar_core, name = $name)]
        pub struct $type {
            $(#[$template])*
            template: TemplateText,
            /// What names in the template stand for, before the store and the sample's metadata.
            #[param(keywords)]
            params: KeywordArgs,
        }

        impl $type {
            /// What a name in the template stands for.
            #[must_use]
            pub fn param(mut self, name: impl Into<String>, value: impl Into<Arg>) -> Self {
                self.params = self.params.with(name, value);
                self
            }
        }

        impl Solver for $type {
            fn solve<'a>(&'a self, state: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
                let solve: fn(&mut TaskState, &str, &KeywordArgs) -> Result<()> = $solve;
                Box::pin(std::future::ready(solve(state, self.template.text(), &self.params)))
            }

            fn effects(&self) -> SolverEffects {
                let template = Template {
                    solver: $name,
                    text: self.template.text().to_owned(),
                    names: &[$($own),*],
                    params: self.params.names().map(Into::into).collect(),
                    ..Template::default()
                };
                SolverEffects { templates: vec![template], ..SolverEffects::default() }
            }
        }
    };
}

// `system_message`: instructs the model how to behave.

template_solver! {
    /// Adds a system message, after any that the conversation has.
    ///
    /// # When
    /// Instructions that hold for the whole conversation.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
    /// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["system_message(\"Be brief.\")", "generate"]' 'scorer = "includes"' > sums.toml
    /// $ errorbar eval sums.toml --model 'mock/4' --limit 1 --show --quiet
    /// ── 1 · 3 messages ──────────────────────────────────────────────────────────────────────────────────
    /// system        Be brief.
    /// user          2 + 2?
    /// assistant     4
    /// target        4
    /// includes      C (correct)
    ///
    /// logs/….eval · sums · mock/4 · 1 sample
    ///
    /// includes · 1 scored
    ///                                0                                       1
    ///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
    ///
    /// [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `user_message`, `prompt_template`, `generate`
    ///
    /// # Source
    /// As inspect_ai defines it.
    "system_message", SystemMessage,
    /// The message, or the name of a file that holds it; `{name}` in it is filled in.
    template [], |state, template, params| {
        let text = filled(template, params, state, &[])?;
        let behind = state.messages.iter().rposition(|message| message.role == MessageRole::System);
        state.messages.insert(behind.map_or(0, |at| at + 1), Message::system(text));
        Ok(())
    }
}

// `user_message`: adds a message to the conversation.

template_solver! {
    /// Adds a user message at the end of the conversation.
    ///
    /// # When
    /// A second question after the first answer.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
    /// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["generate", "user_message(\"Sure?\")", "generate"]' 'scorer = "includes"' > sums.toml
    /// $ errorbar eval sums.toml --model 'mock/["3", "4"]' --limit 1 --show --quiet
    /// ── 1 · 4 messages ──────────────────────────────────────────────────────────────────────────────────
    /// user          2 + 2?
    /// assistant     3
    /// user          Sure?
    /// assistant     4
    /// target        4
    /// includes      C (correct)
    ///
    /// logs/….eval
    ///       sums · mock/["3", "4"] · 1 sample
    ///
    /// includes · 1 scored
    ///                                0                                       1
    ///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
    ///
    /// [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `assistant_message`, `system_message`, `self_critique`
    ///
    /// # Source
    /// As inspect_ai defines it.
    "user_message", UserMessage,
    /// The message, or the name of a file that holds it; `{name}` in it is filled in.
    template [], |state, template, params| {
        let text = filled(template, params, state, &[])?;
        state.messages.push(Message::user(text));
        Ok(())
    }
}

// `assistant_message`: adds an answer that the model did not give.

template_solver! {
    /// Adds an assistant message at the end of the conversation: a few-shot answer, or the beginning of one.
    ///
    /// The model has not given it, so it is no output: scorers do not judge it.
    ///
    /// # When
    /// An answer put into the model's mouth, to continue from.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
    /// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["assistant_message(\"Let me count.\")", "generate"]' 'scorer = "includes"' > sums.toml
    /// $ errorbar eval sums.toml --model 'mock/4' --limit 1 --show --quiet
    /// ── 1 · 3 messages ──────────────────────────────────────────────────────────────────────────────────
    /// user          2 + 2?
    /// assistant     Let me count.
    /// assistant     4
    /// target        4
    /// includes      C (correct)
    ///
    /// logs/….eval · sums · mock/4 · 1 sample
    ///
    /// includes · 1 scored
    ///                                0                                       1
    ///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
    ///
    /// [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `user_message`, `generate`
    ///
    /// # Source
    /// As inspect_ai defines it.
    "assistant_message", AssistantMessage,
    /// The message, or the name of a file that holds it; `{name}` in it is filled in.
    template [], |state, template, params| {
        let text = filled(template, params, state, &[])?;
        let model = state.model.split_once('/').map_or(state.model.as_str(), |(_, name)| name);
        let mut message = Message::assistant(text);
        message.model = Some(model.to_owned());
        state.messages.push(message);
        Ok(())
    }
}

// `prompt_template`: rewords the question.

template_solver! {
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
    "prompt_template", PromptTemplate,
    /// The template of the new prompt, or the name of a file that holds it.
    template ["prompt"], |state, template, params| reword("prompt_template", template, params, state)
}

/// Puts a template around the question.
fn reword(solver: &str, template: &str, params: &KeywordArgs, state: &mut TaskState) -> Result<()> {
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

// `chain_of_thought`: requests the reasoning before the answer.

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
#[solver(crate = crate::facade, built_in, known = reasoning_effects)]
pub fn chain_of_thought(
    state: &mut TaskState,
    _: &Generate,
    /// The template of the prompt, the name of a file that holds it, or "inspect"; `{prompt}` stands for the question.
    template: Option<TemplateText>,
) -> Result<()> {
    reword("chain_of_thought", text_of(template.as_ref()), &KeywordArgs::default(), state)
}

fn text_of(template: Option<&TemplateText>) -> &str {
    template_or_prompt(template, "chain_of_thought")
}

fn reasoning_effects(solver: &ChainOfThought) -> SolverEffects {
    let text = text_of(solver.template.as_ref()).to_owned();
    let template = Template { solver: "chain_of_thought", text, names: &["prompt"], ..Template::default() };
    SolverEffects { templates: vec![template], ..SolverEffects::default() }
}
