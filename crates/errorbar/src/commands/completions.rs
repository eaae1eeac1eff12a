//! `errorbar completions`: completion scripts for shells.

use clap::Args;
use clap_complete::Shell;

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
    clap_complete::generate(args.shell, &mut super::command(context.program), context.program, &mut script);
    Output::Data(script).into()
}
