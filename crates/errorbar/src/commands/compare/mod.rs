//! `errorbar compare`: is one model better than another?
//!
//! Inputs become sides with names, tasks and a base (`commands/inputs`). That the sides have the same samples is checked
//! before anything is computed.

mod flips;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use errorbar_files::FileAccess;
use errorbar_inference::{ComparedScores, ComparisonOptions, ComparisonReport, Correction, compare};
use errorbar_report::{ComparisonRecord, ComparisonView, Markdown, Render, Sort};

use super::common::{Format, one_of};
use super::error_args::ErrorArgs;
use super::gate_args::GateArgs;
use super::inputs::InputOptions;
use super::inputs::alignment::Alignment;
use super::inputs::read::Files;
use super::inputs::sides::Sides;
use super::logs::{ReadArgs, check_new, save};
use super::specs::PlanOverrides;
use super::tables::TableArgs;
use super::{CommandResult, Context, Outcome, explain, table_scores};
use crate::diagnostic::{Diagnostic, Diagnostics};
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

/// The number of samples that are listed unless a number is given.
const LISTED: &str = "20";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// The base, and what to compare with it: eval logs (.eval, .json), folders and patterns of them,
    /// handles (@1, latest), tables of scores (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// With one input, the column or metadata key whose values are compared; given a second time, or with several
    /// inputs, the metadata key to compare by, group for group
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    by: Vec<String>,
    /// The side that others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    /// Compare these scorers of one log or table; the first is the base
    #[arg(long = "scorers", value_name = "NAME", num_args = 2.., conflicts_with = "scorers")]
    compared_scorers: Vec<String>,
    /// Compare every side with every other
    #[arg(long)]
    all_pairs: bool,
    /// How p-values of several comparisons are corrected: for any false alarm (holm), or for the share of
    /// false alarms (bh)
    #[arg(long, value_name = "METHOD", value_parser = corrections())]
    correction: Option<Correction>,
    /// Do not match samples: they are different ones, or their ids mean nothing
    #[arg(long)]
    unpaired: bool,
    /// Take the same id for the same sample, though input or target differ
    #[arg(long)]
    trust_ids: bool,
    /// Compare logs of different tasks as if they were of one
    #[arg(long)]
    ignore_tasks: bool,
    /// List the samples whose score changed, with input and answers: up to N of each comparison, or `all`
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = LISTED,
        value_parser = listed)]
    flips: Option<usize>,
    /// List the samples that only one side has: up to N of each side, or `all`
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = LISTED,
        value_parser = listed)]
    unmatched: Option<usize>,
    /// A metric to compare, with its arguments; may be repeated [default: those that the logs record;
    /// for tables accuracy, or mean if a score is outside of 0 to 1]
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// The reducer of a sample's epochs to one score; may be repeated [default: as the logs record;
    /// mean for tables]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Only this scorer; may be repeated
    #[arg(long = "scorer", value_name = "NAME")]
    scorers: Vec<String>,
    /// Seed for random numbers (bootstrap) [default: as a log records; 0 for a table]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
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
    /// Skip samples that cannot be read; they are reported and counted
    #[arg(long)]
    skip_bad_samples: bool,
    // Gates are a struct of options of their own, flattened here.
    #[command(flatten)]
    gates: GateArgs,
    #[command(flatten)]
    errors: ErrorArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    read: ReadArgs,
}

fn corrections() -> impl clap::builder::TypedValueParser<Value = Correction> {
    one_of([Correction::Holm, Correction::Bh].map(|correction| (correction.name(), correction)))
}

fn listed(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        text => text.parse().map_err(|_| "expected a number of samples, or `all`".to_owned()),
    }
}

pub(crate) fn run(args: &CompareArgs, context: &Context<'_>) -> CommandResult {
    let overrides = args.overrides(context)?;
    if let Some(output) = &args.output {
        check_new(output, args.force)?;
    }
    let files = Files::find(&args.files, &args.tables.memory)?;
    if args.tables.explain {
        let (split, _) = args.by(files.is_one())?;
        let mapping = args.tables.mapping(split)?;
        let options = args.tables.options(&mapping, args.read.limits().max_memory);
        return explain::run(&files.paths(), &args.tables, &options, args.format(), Diagnostics::default());
    }
    let (compared, mut diagnostics) = compute(args, files, &overrides, context)?;
    // A table has them below its figures.
    let is_shown = args.format() == Format::Table && args.output.is_none();
    if !is_shown {
        diagnostics.extend(compared.warnings());
    }
    let output = args.shown(compared);
    match &args.output {
        None => Ok(Outcome { output, diagnostics, ..Outcome::default() }),
        Some(path) => {
            // Samples that changed are listed with their inputs and answers.
            let access = if args.flips.is_some() { FileAccess::Owner } else { FileAccess::Umask };
            diagnostics.extend(save(path, output.into_bytes(), access)?);
            diagnostics.push(Diagnostic::note(format!("the comparison is in {}", path.display())));
            Ok(diagnostics.into())
        }
    }
}

/// Comparisons, with what is shown beside them.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) report: ComparisonReport,
    flips: Option<flips::ListedFlips>,
    title: Option<String>,
    task: Option<String>,
}

impl Compared {
    /// A record for each comparison.
    pub(crate) fn records(&self) -> Vec<ComparisonRecord> {
        let view = self.view();
        self.report.comparisons.iter().map(|one| ComparisonRecord::in_view(one, &view)).collect()
    }

    /// The comparisons in a format.
    pub(crate) fn text(&self, format: &dyn Render) -> String {
        format.comparison_text(&self.view())
    }

    fn view(&self) -> ComparisonView<'_> {
        let mut view = ComparisonView::new(&self.report);
        if let Some(flips) = &self.flips {
            view = view.flips(&flips.flips).changed(flips.changed);
        }
        if let Some(title) = &self.title {
            view = view.title(title);
        }
        if let Some(task) = &self.task {
            view = view.task(task);
        }
        view
    }

    /// What a reader of the figures should know.
    fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        self.report.warnings.iter().map(|warning| Diagnostic::warning(warning.to_string()))
    }
}

/// The comparisons, with everything that there is to report: all but `--explain` and `--output`.
pub(crate) fn results(
    args: &CompareArgs,
    context: &Context<'_>,
) -> Result<(Compared, Diagnostics), Diagnostics> {
    let overrides = args.overrides(context)?;
    let files = Files::find(&args.files, &args.tables.memory)?;
    let (compared, mut diagnostics) = compute(args, files, &overrides, context)?;
    diagnostics.extend(compared.warnings());
    Ok((compared, diagnostics))
}

fn compute(
    args: &CompareArgs,
    files: Files,
    overrides: &PlanOverrides,
    context: &Context<'_>,
) -> Result<(Compared, Diagnostics), Diagnostics> {
    let (split, groups) = args.by(files.is_one())?;
    let keys: Vec<String> = groups.map(str::to_owned).into_iter().collect();
    let inputs = args.inputs(overrides, split, &keys);
    let (read, mut diagnostics) = files.read(&inputs, context)?;
    let sides = Sides::new(read, &inputs, context, &mut diagnostics)?;
    // Of logs it is among the warnings of reading them.
    for side in sides.all().iter().filter(|side| side.input.is_table) {
        let problem = table_scores::below_threshold_problem(&side.input.plan, &side.input.columns);
        diagnostics.extend(problem.map(|problem| problem.about(&side.name)));
    }
    let alignment = match args.unpaired {
        true => None,
        false => Some(Alignment::check(sides.all(), &inputs, &mut diagnostics)?),
    };
    let mut options = ComparisonOptions::default();
    options.by = groups.map(str::to_owned);
    (options.unpaired, options.all_pairs, options.correction) =
        (args.unpaired, args.all_pairs, args.correction);
    options.gate = args.gates.gate();
    let scores: Vec<ComparedScores<'_>> = sides.scores().collect();
    let report = compare(&scores, &options).map_err(|error| sides.explained(error))?;
    match (&alignment, args.unmatched) {
        (Some(alignment), Some(most)) => diagnostics.extend(alignment.unmatched(most)),
        (Some(alignment), None) if alignment.has_unmatched() => {
            let text = "samples without a partner on the other side are left out";
            diagnostics.push(Diagnostic::note(text).hint("--unmatched lists them"));
        }
        _ => {}
    }
    let flips = match args.flips {
        Some(most) => Some(flips::flips(&sides, &report, most, &mut diagnostics)?),
        None => None,
    };
    diagnostics.extend(args.gates.verdict(&report));
    let (title, task) = (sides.title(), sides.task());
    drop(scores);
    Ok((Compared { report, flips, title, task }, diagnostics))
}

impl CompareArgs {
    /// What the options give in place of recorded metrics and reducers, if all options are valid.
    fn overrides(&self, context: &Context<'_>) -> Result<PlanOverrides, Diagnostics> {
        let overrides = PlanOverrides::new(&self.metrics, &self.reducers, false, context)?;
        self.errors.check()?;
        self.gates.check(&self.errors)?;
        self.check()?;
        Ok(overrides)
    }

    /// Checks the options before anything is read.
    fn check(&self) -> Result<(), Diagnostic> {
        let mut scorers = self.compared_scorers.iter().enumerate();
        let is_second =
            |(at, name): &(usize, &String)| self.compared_scorers.iter().take(*at).any(|one| one == *name);
        if let Some((_, name)) = scorers.find(is_second) {
            let problem = format!("scorer `{name}` is given twice, and would be compared with itself");
            return Err(Diagnostic::error(problem)
                .about("--scorers")
                .hint("name different ones: --scorers A B"));
        }
        if let (None, Some(output), None) = (self.format, &self.output, self.named_format()) {
            let problem = "the extension names no format that comparisons are written in";
            let hint = "name it .json, .csv, .md, .tex or .txt, or give the format with --format";
            return Err(Diagnostic::error(problem).about(output.display()).hint(hint));
        }
        if self.flips.is_some() && self.format().is_csv() {
            let problem = "CSV has a row for each comparison, and none for the samples that changed";
            let hint = "--format json and the formats for people have them; or omit --flips";
            return Err(Diagnostic::error(problem).about("--flips").hint(hint));
        }
        Ok(())
    }

    /// What `--by` names: the column or key whose values are the sides, if there is one file and no scorers are compared;
    /// and the key of the groups.
    fn by(&self, is_one_file: bool) -> Result<(Option<&str>, Option<&str>), Diagnostic> {
        let mut keys = self.by.iter().map(String::as_str);
        let split = if is_one_file && self.compared_scorers.is_empty() { keys.next() } else { None };
        let groups = keys.next();
        match keys.next() {
            None => Ok((split, groups)),
            Some(_) => Err(Diagnostic::error("sides are compared by one key").about("--by").hint(
                "with one input, give --by for the sides and once more for the groups; with several, once for the groups",
            )),
        }
    }

    /// What is read of each input.
    fn inputs<'a>(
        &'a self,
        overrides: &'a PlanOverrides,
        split: Option<&'a str>,
        groups: &'a [String],
    ) -> InputOptions<'a> {
        InputOptions {
            overrides,
            seed: self.seed,
            errors: &self.errors,
            gates: Some(&self.gates),
            scorers: &self.scorers,
            compared_scorers: &self.compared_scorers,
            split,
            groups,
            groups_option: "--by",
            base: self.base.as_deref(),
            unpaired: self.unpaired,
            requires_ids: true,
            trust_ids: self.trust_ids,
            ignore_tasks: self.ignore_tasks,
            skip_bad_samples: self.skip_bad_samples,
            reads_chance: false,
            reads_confidence: false,
            reads_answers: self.flips.is_some(),
            whole_names: true,
            takes_unscored: false,
            takes_recorded: split.is_none() && groups.is_empty() && self.compared_scorers.is_empty(),
            tables: &self.tables,
            read: &self.read,
        }
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

    fn shown(&self, compared: Compared) -> Output {
        let text = move |format: &dyn Render| compared.text(format);
        match self.format() {
            Format::Markdown => text(&Markdown::default().brief(self.brief)).into(),
            format => format.render(Sort::None, text),
        }
    }
}
