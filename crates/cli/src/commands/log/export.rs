//! `errorbar log export`: the scores of logs as a table.

use std::path::PathBuf;

use clap::Args;
use errorbar_analysis::export::{Export, ExportCounts, ExportError, ExportFormat, ExportOptions};
use errorbar_analysis::files::{check_new, owner_warning};
use errorbar_analysis::{ReadRequest, expand, recovered};
use errorbar_core::{MetadataKeys, ScoreParts};
use errorbar_log::eval::SampleFields;

use super::super::{CommandOutcome, CommandResult, Context};
use crate::diagnostic::{Diagnostic, Diagnostics, Outcome};
use crate::format::one_of;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  errorbar log export logs/run.eval > scores.csv
  errorbar log export logs -o scores.parquet
  errorbar log export logs/run.eval -o scores.jsonl --scorer match --no-texts
  errorbar log export logs/run.eval --columns id,epoch,scorer,number,output,metadata
  errorbar log export logs/run.eval --wide -o samples.csv

A row is a sample, an epoch and a scorer; a sample without scores has one row without scorer and
value. The columns: log (of several logs), task, model, id, epoch, scorer, value, answer,
explanation, reason, error, limit, number (the value as the metrics of its scorer convert it; nothing
if they cannot), input, target, output, started_at, completed_at, total_time, working_time (seconds),
input_tokens, output_tokens, total_tokens (of all models), and the metadata of the samples: maps
become columns with dots (a.b), and a name that is taken has `metadata.` before it.

With --wide a row is a sample and an epoch. Each scorer has a column of its own name with its value,
and NAME.answer, NAME.explanation, NAME.reason and NAME.number; `score --score-column NAME` reads it.

`score TABLE` gives the results of each log of a table of several.

Unscored is NaN in CSV and Parquet and null in JSON lines, as strict JSON has no NaN; an absent score
is empty in CSV, null in Parquet, and no key at all in JSON lines. Lists and maps are JSON strings in
CSV and Parquet. A file appears only when it is complete, and is for its owner alone (mode 0600).

Cells are exact, so a spreadsheet may take one for a formula. With --to csv-safe a cell that begins with
=, +, -, @, a tab or a carriage return and is no number gets an apostrophe in front of it.

Exit code: 0 if all is well, 2 if a log could not be read or the table not be written.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Eval logs, folders of them, or handles: @1, latest
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file of --output if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// The format of the table; `csv-safe` is CSV for spreadsheets [default: by the extension of FILE, else csv]
    #[arg(long, value_name = "FORMAT", value_parser = one_of([
        ("csv", ExportFormat::Csv),
        ("csv-safe", ExportFormat::SafeCsv),
        ("jsonl", ExportFormat::JsonLines),
        ("parquet", ExportFormat::Parquet),
    ]))]
    to: Option<ExportFormat>,
    /// Only the scores by this scorer; may be repeated
    #[arg(long = "scorer", value_name = "NAME")]
    scorers: Vec<String>,
    /// A row per sample and epoch, with columns for each scorer
    #[arg(long)]
    wide: bool,
    /// Only these columns, in this order; `metadata` stands for all metadata
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
    /// Omit inputs, targets, outputs, answers and explanations
    #[arg(long, conflicts_with = "columns")]
    no_texts: bool,
    #[command(flatten)]
    read: ReadRequest,
}

pub(crate) fn run(args: &ExportArgs, context: &Context<'_>) -> CommandResult {
    let by_name = || args.output.as_deref().and_then(ExportFormat::of);
    let format = args.to.or_else(by_name).unwrap_or(ExportFormat::Csv);
    if format == ExportFormat::Parquet && args.output.is_none() {
        let hint = format!("`{} log export … -o scores.parquet` writes a file", context.program);
        return Err(Diagnostic::error("Parquet is not written to standard output").hint(hint).into());
    }
    if let Some(output) = &args.output {
        check_new(output, args.force)?;
    }
    let input = expand(&args.logs);
    // Rows that are written cannot be taken back, so logs of folders that cannot be used are found before.
    let is_folder = args.logs.iter().any(|log| log.is_dir());
    let (files, diagnostics) = input.map(|path, _| {
        let log = args.read.open(path)?;
        if is_folder {
            log.header()?;
            let fields = SampleFields::scores(MetadataKeys::NONE).score_parts(ScoreParts::Value);
            log.samples_with(fields)?.try_for_each(|sample| sample.map(drop))?;
        }
        Ok(path.to_owned())
    });
    // A table of some of the logs would look like one of all.
    if diagnostics.outcome() != Outcome::Done {
        return Err(diagnostics);
    }
    let mut outcome = CommandOutcome { diagnostics, ..CommandOutcome::default() };
    let exported =
        write(files, format, args, context, &mut outcome.diagnostics).map_err(|error| match error {
            ExportError::Write { path: None, error } => Diagnostics::from(error),
            error => error.into(),
        })?;
    if exported.nulled > 0 {
        outcome.diagnostics.push(Diagnostic::warning(format!(
            "{} score(s) have null in place of NaN or Infinity inside a list or map, which JSON does not have; \
             read again, null counts as 0: csv and parquet keep them",
            exported.nulled
        )));
    }
    Ok(outcome)
}

fn write(
    logs: Vec<PathBuf>,
    format: ExportFormat,
    args: &ExportArgs,
    context: &Context<'_>,
    warnings: &mut Diagnostics,
) -> Result<ExportCounts, ExportError> {
    let options = ExportOptions::default()
        .scorers(args.scorers.clone())
        .texts(!args.no_texts)
        .wide(args.wide)
        .columns(args.columns.iter().map(|name| name.trim()).collect::<Vec<_>>())
        .registry(context.registry.clone())
        .limits(args.read.limits());
    let export = Export::of(logs, options)?;
    warnings.extend(export.recovered.iter().map(|log| recovered(log)));
    let empty =
        |log: &PathBuf| Diagnostic::warning("the log has no samples, so it has no row").about(log.display());
    warnings.extend(export.without_samples.iter().map(empty));
    match &args.output {
        Some(path) => {
            let written = export.save(format, path)?;
            warnings.extend(owner_warning(written.file, path));
            Ok(written)
        }
        None => export.write(format, &mut output::stdout()),
    }
}
