//! `errorbar log convert`: logs in the other format.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_log::eval::convert;
use rayon::prelude::*;

use super::super::{CommandOutcome, CommandResult, files_below};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::{counted, one_of};
use errorbar_analysis::ReadRequest;
use errorbar_analysis::files::{check_new, owner_warning};
use errorbar_log::eval::{has_log_name, is_log_file as is_log};

const EXAMPLES: &str = "\
Examples:
  errorbar log convert logs/run.eval -o run.json
  errorbar log convert run.json -o run.eval
  errorbar log convert logs --to json -o logs-json

  Recover a log whose run was killed:
    errorbar log convert logs/torn.eval -o whole.eval

The samples, the header and the reduced scores are copied as they are; samples that are in several
entries each (chunked logs) become one record each. A new file appears when it is complete.

The logs of a folder keep their names and folders below it, but for the ending; what is no log is
skipped, with a note. Without --force nothing is written if one of the new files exists.

Exit code: 0 if all is well, 2 if something could not be read or written.";

/// The number of skipped files that are named one by one.
const SKIPPED_SHOWN: usize = 10;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// An eval log (a path, @1 or latest), or a folder of them
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The new file, whose name ends in .json or .eval, which is its format; with --to, the folder of
    /// the new files
    #[arg(long, short, value_name = "PATH")]
    output: PathBuf,
    /// The format of the new files, which are written into the folder PATH
    #[arg(long, value_name = "FORMAT", value_parser = one_of([("eval", "eval"), ("json", "json")]))]
    to: Option<&'static str>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    read: ReadRequest,
}

pub(crate) fn run(args: &ConvertArgs) -> CommandResult {
    match args.to {
        Some(format) => convert_into_folder(args, format),
        None if args.log.is_dir() => {
            let problem = Diagnostic::error("this is a folder, and --to does not name a format");
            let hint = "give --to json or --to eval, and a folder as --output";
            Err(problem.about(args.log.display()).hint(hint).into())
        }
        None => convert_file(args),
    }
}

fn convert_file(args: &ConvertArgs) -> CommandResult {
    if !has_log_name(&args.output) {
        let problem = Diagnostic::error("the name does not say which format the log should have");
        let hint = "give it a name that ends in .eval or .json, or give --to and a folder";
        return Err(problem.about(args.output.display()).hint(hint).into());
    }
    check_new(&args.output, args.force)?;
    let written = convert(&args.read.open_named(&args.log)?, &args.output)?;
    let diagnostics = owner_warning(written, &args.output).into_iter().collect();
    Ok(CommandOutcome { diagnostics, ..CommandOutcome::default() })
}

fn convert_into_folder(args: &ConvertArgs, format: &str) -> CommandResult {
    if args.output.exists() && !args.output.is_dir() {
        let problem = Diagnostic::error("this is a file, but with --to the output is a folder");
        return Err(problem.about(args.output.display()).hint("give another name, or omit --to").into());
    }
    let (logs, others) = match args.log.is_dir() {
        true => logs_below(&args.log, &args.output)?,
        false => (vec![errorbar_analysis::resolve(&args.log)?], Vec::new()),
    };
    let conversions = plan(&logs, args, format)?;
    let written: Vec<Result<Option<Diagnostic>, Diagnostics>> =
        conversions.par_iter().map(|(log, to)| write(log, to, args)).collect();
    let (count, mut diagnostics) = (written.len(), Diagnostics::default());
    let (skipped, in_place) = (others.len(), logs.len() - count);
    let named = others.iter().take(SKIPPED_SHOWN);
    diagnostics.extend(named.map(|path| Diagnostic::note("skipped: no eval log").about(path.display())));
    let done =
        written.into_iter().filter_map(|result| diagnostics.collect(result).map(|w| diagnostics.extend(w)));
    let done = done.count();
    let mut summary = format!("{} converted", counted(done as u64, "log"));
    if count > done {
        summary += &format!(", {} not", count - done);
    }
    if in_place > 0 {
        summary += &format!(", {in_place} already in their place and format");
    }
    if skipped > 0 {
        summary += &format!("; {} skipped", counted(skipped as u64, "other file"));
    }
    diagnostics.push(Diagnostic::note(summary).about(args.log.display()));
    Ok(CommandOutcome { diagnostics, ..CommandOutcome::default() })
}

fn write(log: &Path, to: &Path, args: &ConvertArgs) -> Result<Option<Diagnostic>, Diagnostics> {
    let log = args.read.open(log)?;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            let problem = Diagnostic::error(format!("cannot create the folder: {error}"));
            problem.about(folder.display()).hint("choose a folder that you may write to")
        })?;
    }
    Ok(owner_warning(convert(&log, to)?, to))
}

/// The logs below a folder, and the other files, but for the output of an earlier conversion.
fn logs_below(folder: &Path, output: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Diagnostic> {
    let output = fs::canonicalize(output).ok();
    let is_output = |path: &Path| output.is_some() && fs::canonicalize(path).ok() == output;
    let (logs, others): (Vec<PathBuf>, _) =
        files_below(folder, is_output)?.into_iter().partition(|path| is_log(path));
    match logs.is_empty() {
        true => Err(Diagnostic::error("no eval log is in this folder")
            .about(folder.display())
            .hint("give a folder with .eval or .json logs")),
        false => Ok((logs, others)),
    }
}

/// The file that each log becomes, but for those that are in their place and format already. All of it is checked before
/// anything is written.
fn plan<'l>(
    logs: &'l [PathBuf],
    args: &ConvertArgs,
    format: &str,
) -> Result<Vec<(&'l Path, PathBuf)>, Diagnostics> {
    let (mut conversions, mut problems) = (Vec::new(), Diagnostics::default());
    let mut sources: HashMap<PathBuf, &Path> = HashMap::new();
    for log in logs {
        let name = match log.strip_prefix(&args.log) {
            Ok(below) if !below.as_os_str().is_empty() => below,
            _ => Path::new(log.file_name().unwrap_or_default()),
        };
        let to = args.output.join(name).with_extension(format);
        let place = fs::canonicalize(&to).ok();
        if place.is_some() && place == fs::canonicalize(log).ok() {
            continue;
        }
        if let Some(other) = sources.insert(to.clone(), log) {
            let text = format!("{} and this log would both become {}", other.display(), to.display());
            let problem = Diagnostic::error(text).about(log.display());
            problems.push(problem.hint("convert one of them by itself"));
        } else if let Err(problem) = check_new(&to, args.force) {
            problems.push(problem);
        }
        conversions.push((log.as_path(), to));
    }
    if problems.is_empty() { Ok(conversions) } else { Err(problems) }
}
