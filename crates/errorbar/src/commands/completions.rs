//! `errorbar completions`: what shells need to complete commands and options.

use clap::Args;
use clap_complete::Shell;

use super::{Status, output};

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

pub(crate) fn run(args: &CompletionsArgs, program: &str) -> anyhow::Result<Status> {
    // Into memory first: the generator panics if what it writes to fails, and a pipe may be closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(program), program, &mut script);
    output::print(&script)?;
    Ok(Status::Fine)
}
