//! The commands of the command line, one file each.

mod cache;
mod compare;
pub(crate) mod completions;
mod coverage;
mod eval;
mod explain;
mod help;
mod list;
mod log;
mod logs;
mod man;
mod models;
mod plot;
mod power;
mod report;
mod requirements;
mod rescore;
mod run_diagnostics;
mod score;
mod task_list;
mod tasks;
mod verify;
#[cfg(feature = "view")]
mod view;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::Styles;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use errorbar_analysis::{Analysis, Progress};
use errorbar_core::Registry;

use crate::diagnostic::{Diagnostic, Diagnostics, Outcome, Print};
use crate::format::GlobalArgs;
use crate::output::Output;

/// What a command comes to. It is printed when the command has returned: the output, then the diagnostics.
#[derive(Default)]
pub(crate) struct CommandOutcome {
    pub(crate) output: Output,
    pub(crate) diagnostics: Diagnostics,
    /// How it ended, unless the diagnostics have a worse status.
    pub(crate) status: Outcome,
    /// What stays when everything is printed: a server that ends with the user.
    pub(crate) after: Option<Box<dyn FnOnce()>>,
}

/// A command that cannot do anything of what it should comes to diagnostics alone.
pub(crate) type CommandResult = Result<CommandOutcome, Diagnostics>;

impl CommandOutcome {
    /// Prints the output, then the diagnostics, and returns how the command ended.
    ///
    /// Output that cannot be written is one more diagnostic. If its reader has closed the pipe it is none: what the
    /// command came to is the same, whether anybody reads all of it or not.
    pub(crate) fn print(self, quiet: bool) -> Outcome {
        let mut diagnostics = self.diagnostics;
        if let Err(error) = self.output.write() {
            diagnostics.extend(Diagnostics::from(error));
        }
        let status = self.status.max(diagnostics.outcome());
        diagnostics.print(quiet);
        if let Some(after) = self.after {
            after();
        }
        status
    }
}

impl From<Output> for CommandOutcome {
    fn from(output: Output) -> Self {
        CommandOutcome { output, ..CommandOutcome::default() }
    }
}

impl From<Diagnostics> for CommandOutcome {
    fn from(diagnostics: Diagnostics) -> Self {
        CommandOutcome { diagnostics, ..CommandOutcome::default() }
    }
}

/// The files in a folder and in the folders below it, by path; but for hidden ones, folders behind links, and folders that
/// are left out.
fn files_below(folder: &Path, is_left_out: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Diagnostic> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.map_err(|error| {
            let problem = Diagnostic::error(format!("cannot read the folder: {error}"));
            problem.about(folder.display()).hint("check that you may read it")
        })?;
        for entry in entries {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match entry.file_name().as_encoded_bytes().starts_with(b".") {
                true => {}
                false if is_folder && !is_left_out(&path) => folders.push(path),
                false if path.is_dir() => {}
                false => found.push(path),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The name of the program in examples; a custom program has its own.
const NAME: &str = "errorbar";

/// What a command runs with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The name that the program was started by.
    pub(crate) program: &'a str,
    pub(crate) registry: &'a Registry,
    /// Whether to print no notes, warnings and progress.
    pub(crate) quiet: bool,
}

impl<'a> Context<'a> {
    /// What requests are answered with; `progress` is told how far the reading of samples is.
    pub(crate) fn analysis(&self, progress: &'a dyn Progress) -> Analysis<'a> {
        let mut analysis = Analysis::new(self.registry);
        (analysis.program, analysis.progress, analysis.has_hints) = (self.program, progress, !self.quiet);
        analysis
    }

    /// What is read, with the progress of that shown meanwhile.
    pub(crate) fn reading<T>(&self, read: impl FnOnce(&Analysis<'_>) -> T) -> T {
        let progress = logs::ReadProgress::new(self.quiet);
        read(&self.analysis(&progress))
    }
}

const EXAMPLES: &str = "\
Examples:
  errorbar eval task.toml --model replay/outputs.jsonl
  errorbar score scores.csv
  errorbar score scores.csv --cluster passage
  errorbar list metrics

`errorbar help <COMMAND>` shows more, `errorbar help <METRIC>` explains a metric.";

/// What the program is, at the head of its help.
const ABOUT: &str = "Scoring metrics for language-model evaluations, with honest error bars";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = NAME, version, about = ABOUT, after_help = EXAMPLES)]
#[command(max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run tasks: call a model, score its answers, write a log
    Eval(Box<eval::EvalArgs>),
    /// Compute metrics, with their error bars, from eval logs and tables of scores
    Score(Box<score::ScoreArgs>),
    /// Compare models, sample by sample: differences with intervals, tests, ranks
    Compare(Box<compare::CompareArgs>),
    /// Write a page with figures, comparisons, plots and samples: one HTML file
    Report(Box<report::ReportArgs>),
    /// Draw one plot as SVG: estimates, groups, distributions, epochs, calibration, pairs, ranks, cost
    Plot(Box<plot::PlotArgs>),
    /// Simulate how often the intervals of scores like these hold the truth
    Coverage(Box<coverage::CoverageArgs>),
    /// Plan: samples for a difference or a width, and what samples can show
    Power(Box<power::PowerArgs>),
    /// Check that the results that logs record are those of their samples
    Verify(verify::VerifyArgs),
    /// Look at the logs of a folder in a browser: a local server, runs in progress included
    #[cfg(feature = "view")]
    View(view::ViewArgs),
    /// Work with logs: list, show samples, dump, convert, edit scores, export tables
    Log(Box<log::LogArgs>),
    /// List and clear the cached answers of models
    Cache(cache::CacheArgs),
    /// List metrics, reducers, scorers, solvers, models and tasks, with arguments; the tasks of a folder
    List(list::ListArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Print a manual page, or write all of them
    Man(man::ManArgs),
    /// Explain a command, a metric, a reducer, a scorer or a solver
    Help(help::HelpArgs),
}

impl Cli {
    /// Parses the arguments of a program of this name; help and errors have these styles.
    pub(crate) fn parse_as(program: &str, args: Vec<OsString>, styles: Styles) -> clap::error::Result<Self> {
        let mut command = command(program).styles(styles);
        let mut matches = command.try_get_matches_from_mut(args)?;
        Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }

    pub(crate) fn run(&self, context: &Context<'_>) -> CommandResult {
        match &self.command {
            Command::Eval(args) => eval::run(args, context),
            Command::Verify(args) => verify::run(args, context),
            Command::Score(args) => score::run(args, context),
            Command::Compare(args) => compare::run(args, context),
            Command::Report(args) => report::run(args, context),
            Command::Plot(args) => plot::run(args, context),
            Command::Coverage(args) => coverage::run(args, context),
            Command::Power(args) => power::run(args, context),
            #[cfg(feature = "view")]
            Command::View(args) => view::run(args, context),
            Command::Log(args) => log::run(args, context),
            Command::Cache(args) => cache::run(args),
            Command::List(args) => list::run(args, context.registry),
            Command::Completions(args) => completions::run(args, context),
            Command::Man(args) => man::run(args, context),
            Command::Help(args) => help::run(args, context),
        }
    }
}

/// The definitions under the program's own name, in the usage and in the examples.
fn command(program: &str) -> clap::Command {
    /// The version is ours whatever the program is called.
    const VERSION: &str = concat!("(errorbar ", env!("CARGO_PKG_VERSION"), ")");
    let command = Cli::command();
    if program == NAME {
        return command.bin_name(NAME);
    }
    // Names are `&'static str` to clap; there is one in a run.
    let name: &'static str = program.to_owned().leak();
    let command = command.name(name).bin_name(name).version(VERSION);
    under_name(command, name)
}

fn under_name(command: clap::Command, program: &str) -> clap::Command {
    let command = command.mut_subcommands(|verb| under_name(verb, program));
    match command.get_after_help().map(|text| text.to_string().replace(NAME, program)) {
        Some(text) => command.after_help(text),
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
        command("my-scores").debug_assert();
    }

    /// A hint that is followed works: what messages name, commands have.
    #[test]
    fn commands_have_the_options_that_messages_name() {
        fn flags(command: &clap::Command, found: &mut Vec<String>) {
            for option in command.get_arguments() {
                found.extend(option.get_long().map(|long| format!("--{long}")));
                found.extend(option.get_short().map(|short| format!("-{short}")));
            }
            command.get_subcommands().for_each(|verb| flags(verb, found));
        }
        let mut found = Vec::new();
        flags(&Cli::command(), &mut found);
        for option in errorbar_analysis::Opt::ALL {
            assert!(found.iter().any(|flag| flag == option.flag()), "{option:?}");
        }
    }

    #[test]
    fn help_is_about_the_program_as_it_is_called() {
        let help = |args: &[&str]| {
            let args = ["my-scores"].iter().chain(args).map(OsString::from).collect();
            Cli::parse_as("my-scores", args, Styles::styled()).unwrap_err().to_string()
        };
        for args in [
            &["--help"][..],
            &["score", "--help"],
            &["compare", "--help"],
            &["coverage", "--help"],
            &["plot", "--help"],
            &["power", "--help"],
            &["eval", "--help"],
            &["verify", "--help"],
            #[cfg(feature = "view")]
            &["view", "--help"],
            &["log", "--help"],
            &["log", "list", "--help"],
            &["log", "show", "--help"],
            &["log", "dump", "--help"],
            &["log", "export", "--help"],
            &["cache", "--help"],
            &["cache", "list", "--help"],
            &["cache", "clear", "--help"],
            &["list", "--help"],
            &["completions", "--help"],
            &["man", "--help"],
            &["help", "--help"],
        ] {
            let text = help(args);
            assert!(text.contains("Usage: my-scores") && !text.contains(NAME), "{text}");
        }
        assert_eq!(help(&["--version"]), format!("my-scores (errorbar {})\n", env!("CARGO_PKG_VERSION")));
        assert!(help(&["score"]).contains("Usage: my-scores score"), "{}", help(&["score"]));
    }
}
