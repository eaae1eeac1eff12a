//! `errorbar man`: manual pages.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use errorbar_files::{FileAccess, write_file};

use super::CommandOutcome;
use super::{CommandResult, Context};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::counted;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar man log show | man -l -
  errorbar man --dir ~/.local/share/man/man1";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// The command that the page is about [default: the program]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    names: Vec<String>,
    /// Write the pages of all commands into this folder, one file each
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, context: &Context<'_>) -> CommandResult {
    let pages = pages(context.program);
    if let Some(folder) = &args.dir {
        return write(&pages, folder);
    }
    let name = [context.program]
        .into_iter()
        .chain(args.names.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("-");
    match pages.iter().find(|page| page.name == name) {
        Some(page) => Ok(Output::Data(page.text.clone()).into()),
        None => {
            let problem = format!("there is no command `{}`", args.names.join(" "));
            let hint = format!("`{} --help` has all commands", context.program);
            Err(Diagnostic::error(problem).hint(hint).into())
        }
    }
}

fn write(pages: &[ManPage], folder: &Path) -> CommandResult {
    let failed = |path: &Path, error: io::Error| {
        Diagnostics::from(Diagnostic::error(error.to_string()).about(path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for page in pages {
        let path = folder.join(format!("{}.1", page.name));
        write_file(&path, &page.text, FileAccess::Umask).map_err(|error| failed(&path, error))?;
    }
    let mut outcome = CommandOutcome::default();
    let count = counted(pages.len() as u64, "page");
    outcome.diagnostics.push(Diagnostic::note(format!("{count} written to {}", folder.display())));
    Ok(outcome)
}

/// The page of a command.
struct ManPage {
    /// The path of the command, with hyphens: `errorbar-log-show`.
    name: String,
    text: Vec<u8>,
}

/// The pages of all commands, that of the program first.
fn pages(program: &str) -> Vec<ManPage> {
    let mut command = super::command(program);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &[program.to_owned()], &mut pages);
    pages
}

fn add_pages(command: &Command, path: &[String], pages: &mut Vec<ManPage>) {
    let name = path.join("-");
    pages.push(ManPage { text: page(command, &name, path), name });
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set() && !is_nested_help(verb, path)) {
        let path: Vec<String> = path.iter().cloned().chain([verb.get_name().to_owned()]).collect();
        add_pages(verb, &path, pages);
    }
}

/// Whether a command is the help that clap adds to commands with subcommands.
fn is_nested_help(verb: &Command, path: &[String]) -> bool {
    verb.get_name() == "help" && path.len() > 1
}

fn page(command: &Command, name: &str, path: &[String]) -> Vec<u8> {
    // Names are `&'static str` to clap; the program ends when the pages are written.
    let title: &'static str = name.to_owned().leak();
    let program = path.first().cloned().unwrap_or_default();
    let nested = command.clone().mut_subcommands(|verb| {
        let hidden = is_nested_help(&verb, path);
        verb.hide(hidden)
    });
    let named = nested.name(title).bin_name(path.join(" ")).display_name(title);
    // Without a date the version would take its place; a page that differs by the day is no use.
    let man = Man::new(named)
        .date(" ")
        .title(name.to_uppercase())
        .source(format!("{program} {}", env!("CARGO_PKG_VERSION")))
        .manual("errorbar");
    let mut text = Vec::new();
    // A vector takes everything.
    let _ = man.render(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let pages = pages("my-scores");
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names.first(), Some(&"my-scores"));
        for name in [
            "my-scores-score",
            "my-scores-log",
            "my-scores-log-show",
            "my-scores-help",
            "my-scores-cache-clear",
        ] {
            assert!(names.contains(&name), "{names:?}");
        }
        assert!(!names.iter().any(|name| name.ends_with("log-help")), "{names:?}");
        for page in &pages {
            let text = String::from_utf8(page.text.clone()).unwrap();
            let name = page.name.replace('-', "\\-");
            assert!(text.contains(".SH NAME") && text.contains(&name), "{}: {text}", page.name);
        }
    }
}
