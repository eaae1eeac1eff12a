//! What solvers that add or reword a message share: a template, filled in with keyword arguments, the store and metadata.

use std::borrow::Cow;

use errorbar_core::{KeywordArgs, Result};

use crate::template::{fill, lookup_set};
use crate::{SolverEffects, TaskState, Template, TemplateText};

/// The template, filled in: with `own` first, then the keyword arguments, the store and the metadata.
pub(super) fn filled(
    template: &str,
    params: &KeywordArgs,
    state: &TaskState,
    own: &[(&str, &str)],
) -> Result<String> {
    let params = params.to_json();
    fill(template, |name| {
        if !params.contains_key(name)
            && let Some((_, text)) = own.iter().find(|(own, _)| *own == name)
        {
            return Some(Cow::Owned((*text).to_owned()));
        }
        lookup_set(name, [&params, &state.store, &state.metadata]).map(|text| Cow::Owned(text.into_owned()))
    })
}

/// What such a solver does.
pub(super) fn effects(
    solver: &'static str,
    template: &TemplateText,
    names: &'static [&'static str],
    params: &KeywordArgs,
) -> SolverEffects {
    let template = Template::new(solver, template.text(), names).filled(params.names());
    SolverEffects::messages().template(template)
}

/// A solver that adds a message: the struct of its arguments, and how it adds the text.
macro_rules! message_solver {
    ($(#[$doc:meta])* $name:literal, $type:ident, $add:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, errorbar_core::Params)]
        #[params(crate = errorbar_core, name = $name)]
        pub struct $type {
            /// The message, or the name of a file that holds it; `{name}` in it is filled in.
            template: crate::TemplateText,
            /// What names in the template stand for, before the store and the sample's metadata.
            #[param(keywords)]
            params: errorbar_core::KeywordArgs,
        }

        impl $type {
            /// What a name in the template stands for.
            #[must_use]
            pub fn param(mut self, name: impl Into<String>, value: impl Into<errorbar_core::spec::Arg>) -> Self {
                self.params = self.params.with(name, value);
                self
            }
        }

        impl crate::Solver for $type {
            fn solve<'a>(
                &'a self,
                state: &'a mut crate::TaskState,
                _: &'a crate::Generate,
            ) -> crate::BoxFuture<'a, errorbar_core::Result<()>> {
                let text = $crate::solvers::message_template::filled(self.template.text(), &self.params, state, &[]);
                let added = text.map(|text| ($add)(state, text));
                Box::pin(std::future::ready(added))
            }

            fn effects(&self) -> crate::SolverEffects {
                $crate::solvers::message_template::effects($name, &self.template, &[], &self.params)
            }
        }
    };
}

pub(super) use message_solver;
