//! `errorbar cache clear`: cached answers, removed.

use std::time::Duration;

use clap::Args;
use errorbar_eval::{CacheFolder, CachedAnswer};
use glob::Pattern;

use super::super::CommandResult;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::{counted, human_size, parse_duration};

const EXAMPLES: &str = "\
Examples:
  errorbar cache clear --older-than 1w
  errorbar cache clear --model 'openai/*' --older-than 30d
  errorbar cache clear --all

There is no confirmation; what was removed is reported. Nothing but answers is removed, whatever else
is in the folder, and a concurrent run is not disturbed.

Exit code: 0 if all is well, even if there was nothing to remove; 2 if something could not be read or
removed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ClearArgs {
    /// Remove all answers
    #[arg(long, conflicts_with_all = ["models", "older_than"])]
    all: bool,
    /// Only those of this model: a name, or a pattern such as 'openai/*'; may be repeated
    #[arg(long = "model", value_name = "MODEL")]
    models: Vec<String>,
    /// Only those that are at least this old: 30s, 10m, 2h, 7d, 1w
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    older_than: Option<Duration>,
}

pub(super) fn run(args: &ClearArgs, folder: &CacheFolder) -> CommandResult {
    let ClearArgs { all, models, older_than } = args;
    if !all && models.is_empty() && older_than.is_none() {
        let hint = "choose them with --model or --older-than, or remove all with --all";
        return Err(Diagnostic::error("no answers to remove were chosen").hint(hint).into());
    }
    let models: Vec<ModelPattern<'_>> = models.iter().map(|name| ModelPattern::new(name)).collect();
    let is_chosen = |answer: &CachedAnswer| {
        let name = answer.model.as_deref();
        (models.is_empty() || name.is_some_and(|name| models.iter().any(|model| model.is(name))))
            && older_than.is_none_or(|age| answer.is_older(age))
    };
    let removed = folder.remove(is_chosen)?;
    let place = folder.path().display();
    let text = match removed.answers {
        0 => format!("there was nothing to remove in {place}"),
        answers => {
            format!("removed {} ({}) from {place}", counted(answers, "answer"), human_size(removed.bytes))
        }
    };
    Ok(Diagnostics::from(Diagnostic::note(text)).into())
}

/// A name of a model, or a pattern of names.
struct ModelPattern<'a> {
    name: &'a str,
    /// None if it can be nothing but a name.
    pattern: Option<Pattern>,
}

impl<'a> ModelPattern<'a> {
    fn new(name: &'a str) -> Self {
        ModelPattern { name, pattern: Pattern::new(name).ok() }
    }

    fn is(&self, name: &str) -> bool {
        self.name == name || self.pattern.as_ref().is_some_and(|pattern| pattern.matches(name))
    }
}
