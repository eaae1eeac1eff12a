//! `errorbar completions`: completion scripts for shells.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use errorbar_core::Registry;

use super::list::EntryKind;
use super::{Context, Outcome};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar completions bash > ~/.local/share/bash-completion/completions/errorbar
  errorbar completions zsh > ~/.zfunc/_errorbar
  errorbar completions fish > ~/.config/fish/completions/errorbar.fish";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &Context<'_>) -> Outcome {
    let mut script = Vec::new();
    let mut command = with_names(super::command(context.program), context.registry);
    clap_complete::generate(args.shell, &mut command, context.program, &mut script);
    Output::Data(script).into()
}

/// The definitions with the names of the registry as values of the options that take specs. The values are free-form, so
/// only the script has them.
fn with_names(command: Command, registry: &Registry) -> Command {
    let with_values = |arg: Arg| {
        let kind = match arg.get_long() {
            Some("metric") => EntryKind::Metrics,
            Some("reducer") => EntryKind::Reducers,
            Some("scorer") => EntryKind::Scorers,
            Some("solver") => EntryKind::Solvers,
            _ => return arg,
        };
        let values = kind.entries(registry).into_iter().map(|entry| {
            // Names are `&'static str` to clap; the program ends when the script is printed.
            let (name, summary): (&'static str, &'static str) =
                (entry.name.clone().leak(), entry.summary().leak());
            PossibleValue::new(name).help(summary)
        });
        arg.value_parser(PossibleValuesParser::new(values))
    };
    command.mut_args(with_values).mut_subcommands(|command| with_names(command, registry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_take_specs_complete_names() {
        let registry = errorbar_eval::built_in_registry();
        let names = |path: &[&str], long: &str| -> Vec<String> {
            let command = with_names(super::super::command("errorbar"), &registry);
            let command = path.iter().fold(&command, |command, name| command.find_subcommand(name).unwrap());
            let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long)).unwrap();
            arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
        };
        assert!(names(&["score"], "metric").contains(&"krippendorff_alpha".to_owned()));
        assert!(names(&["eval"], "reducer").contains(&"pass_at".to_owned()));
        assert!(names(&["log", "export"], "scorer").contains(&"includes".to_owned()));
        assert!(names(&["score"], "score-column").is_empty());
    }
}
