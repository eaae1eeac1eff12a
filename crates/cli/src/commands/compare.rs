//! `errorbar compare`: is one model better than another?

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_analysis::files::{check_new, save};
use errorbar_analysis::{CompareRequest, Comparisons, Files, Opt, text};
use errorbar_files::FileAccess;
use errorbar_report::{ComparisonView, Markdown, Render, Sort, gate_cases, gate_diagnostics};
use errorbar_table::MemoryTables;

use super::explain::ExplainArgs;
use super::{CommandOutcome, CommandResult, Context, requirements};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::Format;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  Is the second model better than the first? The samples are matched by their id:
    errorbar compare logs/base.eval logs/other.eval

  All models of a folder of logs with one of them; or each with each:
    errorbar compare logs --base openai/gpt-4o
    errorbar compare logs --all-pairs --correction holm

  A table with a column that names the model, by category, with errors clustered by passage:
    errorbar compare scores.csv --by model --by category --cluster passage

  Which answers changed?
    errorbar compare logs/base.eval logs/other.eval --flips

  Two scorers of one log:
    errorbar compare logs/run.eval --scorers match model_graded_qa

  Fail if the other is worse; unless it is shown not to be worse by 0.02 or more; unless it is better:
    errorbar compare logs/base.eval logs/other.eval --fail-if-worse
    errorbar compare logs/base.eval logs/other.eval --margin 0.02 --junit gates.xml
    errorbar compare logs/base.eval logs/other.eval --min-difference 0

  A comment for a pull request:
    errorbar compare logs/base.eval logs/other.eval --format markdown --brief

A difference is that of the other side minus the base: the first input, or --base. The epochs of a \
sample are reduced to one score first, and pairs are samples. With one input, --by names the column or \
key whose values are compared, and a second --by the groups; with several inputs, --by names the groups.

The sides are called by their models, if those differ, else by their files.

Exit code: 0 if all is well, 1 if a gate is not met, 2 if something could not be read or compared.";

#[derive(Debug, Args)]
// What a request asks for comes first.
#[command(after_help = EXAMPLES, next_display_order = 500)]
pub(crate) struct CompareArgs {
    /// The base, and what to compare with it: eval logs (.eval, .json), folders and patterns of them,
    /// handles (@1, latest), tables of scores (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format; `csv-safe` is CSV for spreadsheets, in which no cell is a formula [default: by the name
    /// of the file of --output, else table]
    #[arg(long, short, value_enum)]
    format: Option<Format>,
    /// Only what fits into a comment on a pull request
    #[arg(long)]
    brief: bool,
    /// Write the comparison to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file of --output if it exists
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    request: CompareRequest,
    #[command(flatten)]
    explain: ExplainArgs,
    #[command(flatten)]
    junit: JUnitArgs,
}

/// Where gates are recorded.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gates")]
struct JUnitArgs {
    /// Write what the gate decides to this file, as JUnit XML
    #[arg(long, value_name = "FILE", requires = "gate")]
    junit: Option<PathBuf>,
}

pub(crate) fn run(args: &CompareArgs, context: &Context<'_>) -> CommandResult {
    let CompareArgs { request, .. } = args;
    let changes = request.changes(&context.analysis(&()))?;
    args.check()?;
    if let Some(output) = &args.output {
        check_new(output, args.force)?;
    }
    let files = Files::find(&args.files, &MemoryTables::default())?;
    if args.explain.explain {
        let (split, _) = request.split_and_groups(files.is_one())?;
        let reading = (&request.tables, split, request.read.limits().max_memory);
        return args.explain.run(&files.paths(), reading, args.format(), Diagnostics::default());
    }
    let (compared, mut diagnostics) =
        context.reading(|analysis| analysis.compare_files(files, request, &changes))?;
    diagnostics.extend(gate_diagnostics(&compared.report, &request.gate));
    if let (Some(path), Some(_)) = (&args.junit.junit, request.gate.gate()) {
        let cases = gate_cases(&compared.report, request.gate.decisive);
        diagnostics.extend(requirements::write_junit(path, &cases).err());
    }
    // A table has them below its figures.
    let is_shown = args.format() == Format::Table && args.output.is_none();
    if !is_shown {
        diagnostics.extend(compared.warnings());
    }
    let output = args.shown(compared);
    match &args.output {
        None => Ok(CommandOutcome { output, diagnostics, ..CommandOutcome::default() }),
        Some(path) => {
            // Samples that changed are listed with their inputs and answers.
            let access = if request.flips.is_some() { FileAccess::Owner } else { FileAccess::Umask };
            diagnostics.extend(save(path, output.into_bytes(), access)?);
            diagnostics.push(Diagnostic::note(format!("the comparison is in {}", path.display())));
            Ok(diagnostics.into())
        }
    }
}

impl CompareArgs {
    /// Checks the options that are only of the command line.
    fn check(&self) -> Result<(), Diagnostic> {
        if let (None, Some(output), None) = (self.format, &self.output, self.named_format()) {
            let problem = "the extension names no format that comparisons are written in";
            let hint = "name it .json, .csv, .md, .tex or .txt, or give the format with --format";
            return Err(Diagnostic::error(problem).about(output.display()).hint(hint));
        }
        if self.request.flips.is_some() && self.format().is_csv() {
            let problem = "CSV has a row for each comparison, and none for the samples that changed";
            let hint = text!("--format json and the formats for people have them; or omit {Flips}");
            return Err(Diagnostic::error(problem).about_option(Opt::Flips).hint(hint));
        }
        self.junit.junit.as_deref().map_or(Ok(()), requirements::check_junit)
    }

    /// The format that the name of the output file stands for; a name without an extension is that of a table.
    fn named_format(&self) -> Option<Format> {
        let Some(extension) = self.output.as_deref().and_then(Path::extension) else {
            return Some(Format::Table);
        };
        Some(match extension.to_ascii_lowercase().to_str()? {
            "json" => Format::Json,
            "csv" => Format::Csv,
            "md" | "markdown" => Format::Markdown,
            "tex" => Format::Latex,
            "txt" => Format::Table,
            _ => return None,
        })
    }

    fn format(&self) -> Format {
        self.format.or_else(|| self.named_format()).unwrap_or_default()
    }

    fn shown(&self, compared: Comparisons) -> Output {
        let text = move |format: &dyn Render| format.comparison_text(&ComparisonView::of(&compared));
        match self.format() {
            Format::Markdown => text(&Markdown { brief: self.brief, ..Markdown::default() }).into(),
            format => format.render(Sort::None, text),
        }
    }
}
