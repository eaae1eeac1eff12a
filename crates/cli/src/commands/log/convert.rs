//! `errorbar log convert`: logs in the other format.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::TypedValueParser;
use errorbar_log::eval::convert;
use rayon::prelude::*;

use super::super::{CommandOutcome, CommandResult};
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
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    to: Option<&'static str>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    read: ReadRequest,
}

fn formats() -> impl TypedValueParser<Value = &'static str> {
    one_of([("eval", "eval"), ("json", "json")])
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

/// A log and the file that it becomes.
struct Conversion {
    from: PathBuf,
    to: PathBuf,
}

fn convert_into_folder(args: &ConvertArgs, format: &str) -> CommandResult {
    if args.output.exists() && !args.output.is_dir() {
        let problem = Diagnostic::error("this is a file, but with --to the output is a folder");
        return Err(problem.about(args.output.display()).hint("give another name, or omit --to").into());
    }
    let mut found = FoundFiles::default();
    if args.log.is_dir() {
        found.walk(&args.log, &args.output)?;
    } else {
        found.logs.push(errorbar_analysis::resolve(&args.log)?);
    }
    let ConversionPlan { conversions, in_place } = found.plan(args, format)?;
    let written: Vec<Result<Option<Diagnostic>, Diagnostics>> =
        conversions.par_iter().map(|conversion| write(conversion, args)).collect();
    let (count, mut diagnostics) = (written.len(), Diagnostics::default());
    let skipped = found.others.len();
    let named = found.others.iter().take(SKIPPED_SHOWN);
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

fn write(conversion: &Conversion, args: &ConvertArgs) -> Result<Option<Diagnostic>, Diagnostics> {
    let log = args.read.open(&conversion.from)?;
    if let Some(folder) = conversion.to.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            let problem = Diagnostic::error(format!("cannot create the folder: {error}"));
            problem.about(folder.display()).hint("choose a folder that you may write to")
        })?;
    }
    Ok(owner_warning(convert(&log, &conversion.to)?, &conversion.to))
}

/// The files below a folder.
#[derive(Default)]
struct FoundFiles {
    logs: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

/// What is to be done, and how many logs are in their place and format already.
struct ConversionPlan {
    conversions: Vec<Conversion>,
    in_place: usize,
}

impl FoundFiles {
    /// Finds the files below a folder, but for hidden ones, those behind links to folders, and the output of an earlier
    /// conversion.
    fn walk(&mut self, folder: &Path, output: &Path) -> Result<(), Diagnostics> {
        let output = fs::canonicalize(output).ok();
        let is_output = |path: &Path| output.is_some() && fs::canonicalize(path).ok() == output;
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let entries = entries.map_err(|error| {
                let problem = Diagnostic::error(format!("cannot read the folder: {error}"));
                problem.about(folder.display()).hint("check that you may read it")
            })?;
            for entry in entries {
                let (path, name) = (entry.path(), entry.file_name());
                let is_hidden = name.as_encoded_bytes().starts_with(b".");
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_hidden || (path.is_dir() && (!is_folder || is_output(&path))) {
                    continue;
                }
                if is_folder {
                    folders.push(path);
                } else if is_log(&path) {
                    self.logs.push(path);
                } else {
                    self.others.push(path);
                }
            }
        }
        self.logs.sort();
        self.others.sort();
        if self.logs.is_empty() {
            let problem = Diagnostic::error("no eval log is in this folder");
            return Err(problem
                .about(folder.display())
                .hint("give a folder with .eval or .json logs")
                .into());
        }
        Ok(())
    }

    /// What becomes of each log. All of it is checked before anything is written.
    fn plan(&self, args: &ConvertArgs, format: &str) -> Result<ConversionPlan, Diagnostics> {
        let (mut conversions, mut in_place, mut problems) = (Vec::new(), 0, Diagnostics::default());
        let mut sources: HashMap<PathBuf, &Path> = HashMap::new();
        for log in &self.logs {
            let name = match log.strip_prefix(&args.log) {
                Ok(below) if !below.as_os_str().is_empty() => below,
                _ => Path::new(log.file_name().unwrap_or_default()),
            };
            let to = args.output.join(name).with_extension(format);
            let place = fs::canonicalize(&to).ok();
            if place.is_some() && place == fs::canonicalize(log).ok() {
                in_place += 1;
                continue;
            }
            if let Some(other) = sources.insert(to.clone(), log) {
                let text = format!("{} and this log would both become {}", other.display(), to.display());
                problems
                    .push(Diagnostic::error(text).about(log.display()).hint("convert one of them by itself"));
            } else if let Err(problem) = check_new(&to, args.force) {
                problems.push(problem);
            }
            conversions.push(Conversion { from: log.clone(), to });
        }
        if problems.is_empty() { Ok(ConversionPlan { conversions, in_place }) } else { Err(problems) }
    }
}
