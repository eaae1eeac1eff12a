//! `errorbar plot`: one plot, as a file of its own.
//!
//! Inputs become runs (`runs.rs`), and a kind draws what it needs of them (`draw.rs`). What the data do not support is
//! an error with the way out.

mod draw;
mod kind;
mod runs;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use errorbar_core::metrics::Prediction;
use errorbar_files::FileAccess;
use errorbar_report::plot::Plot;
use errorbar_report::{Csv, Markdown, Render};

use self::kind::Kind;
use super::explain::ExplainArgs;
use super::{CommandOutcome, CommandResult, Context};
use crate::diagnostic::Diagnostic;
use crate::format::one_of;
use crate::output::{Output, Stream};
use errorbar_analysis::ErrorRequest;
use errorbar_analysis::ReadRequest;
use errorbar_analysis::TableRequest;
use errorbar_analysis::files::{check_extension, check_new, save};
use errorbar_analysis::{Opt, PlanChanges, text};

const EXAMPLES: &str = "\
Examples:
  The score of each log of a folder, with its interval:
    errorbar plot estimates logs -o estimates.svg

  By category, with errors clustered by passage:
    errorbar plot forest logs --group category --cluster passage -o forest.svg

  What a second attempt would bring:
    errorbar plot pass logs/run.eval -o pass.svg

  A table with a column that names the model:
    errorbar plot ranking scores.csv --by model -o ranking.svg

  How far the confidence of answers can be trusted:
    errorbar plot calibration answers.csv --confidence p_correct -o calibration.svg

  The same as numbers:
    errorbar plot estimates logs -o estimates.csv

A file is SVG, 720 pixels wide, with its own colours for light and dark, and the figures in words for those \
who cannot see it. A name that ends in .csv or .md gives the figures as a table.

Exit code: 0 if all is well, 2 if something could not be read, or the data do not support the plot.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlotArgs {
    /// What to draw
    #[arg(value_enum)]
    kind: Kind,
    /// Eval logs (.eval, .json), folders and patterns of them, handles (@1, latest), and tables of
    /// scores (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the plot to this file, - for standard output; the same as numbers if the name ends in .csv or .md [default:
    /// standard output, unless that is a terminal]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file of --output if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// The title [default: the task and what is drawn]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The metadata key of the groups of `forest` [default: that of the first grouped metric]
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    group: Option<String>,
    /// The metadata key of the confidence of answers, for `calibration`
    #[arg(long, value_name = "KEY", default_value = "confidence", value_parser = NonEmptyStringValueParser::new())]
    confidence: String,
    /// The number of bins of `calibration`
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    bins: u16,
    /// The metadata key or scorer with the true labels, for `confusion`; a log has its targets as `target`
    #[arg(long, value_name = "KEY", default_value = "target", value_parser = NonEmptyStringValueParser::new())]
    target: String,
    /// Where the predicted label is, for `confusion`: the `value` of the score, or the `answer` [default: the answer
    /// if there is one, else the value]
    #[arg(long, value_name = "PART", value_parser = predictions())]
    prediction: Option<Prediction>,
    /// The score from which on an epoch is a success, for `pass` [default: 1, unless there are higher scores]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// The column or metadata key whose values tell the runs of one file apart, such as models
    #[arg(long, value_name = "COLUMN", value_parser = NonEmptyStringValueParser::new())]
    by: Option<String>,
    /// A metric to draw, with its arguments; may be repeated, and the first is drawn [default: as a log records; for a
    /// table accuracy, or mean if a score is outside of 0 to 1]
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// The reducer of a sample's epochs to one score [default: as a log records; mean for a table]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Only this scorer; may be repeated
    #[arg(long = "scorer", value_name = "NAME")]
    scorers: Vec<String>,
    /// Seed for random numbers (bootstrap) [default: as a log records; 0 for a table]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Take the same id for the same sample, though input or target differ, for `pairs` and `ranking`
    #[arg(long)]
    trust_ids: bool,
    /// Skip samples that cannot be read; they are reported and counted
    #[arg(long)]
    skip_bad_samples: bool,
    #[command(flatten)]
    errors: ErrorRequest,
    #[command(flatten)]
    tables: TableRequest,
    #[command(flatten)]
    explain: ExplainArgs,
    #[command(flatten)]
    read: ReadRequest,
}

fn predictions() -> impl clap::builder::TypedValueParser<Value = Prediction> {
    one_of([("value", Prediction::Value), ("answer", Prediction::Answer)])
}

pub(crate) fn run(args: &PlotArgs, context: &Context<'_>) -> CommandResult {
    let changes = PlanChanges::new(&args.metrics, &args.reducers, false, context.analysis(&()).specs())?;
    let changes = changes.errors(&args.errors)?.seed(args.seed);
    // As elsewhere, `-` is standard output.
    let output = args.output.as_ref().filter(|output| output.as_os_str() != "-");
    match output {
        Some(output) => {
            check_extension(output, &["svg", "csv", "md", "markdown"])?;
            check_new(output, args.force)?;
        }
        None if Stream::Stdout.is_terminal() => {
            let hint =
                format!("name a file with -o {}.svg, or send it to a program with |", args.kind.name());
            return Err(Diagnostic::error("a plot is not for a terminal").hint(hint).into());
        }
        None => {}
    }
    if args.explain.explain {
        let problem = text!("{} computes nothing, so there is nothing to draw", Opt::Explain);
        return Err(Diagnostic::error(problem).hint("give it to `errorbar score`").into());
    }
    let (data, mut diagnostics) = runs::read(args, changes, context)?;
    let (plot, title) = draw::draw(args, &data)?;
    let written = content(&plot, &args.title.clone().unwrap_or(title), output.map(PathBuf::as_path));
    let Some(path) = output else {
        return Ok(CommandOutcome {
            output: Output::Data(written.into()),
            diagnostics,
            ..CommandOutcome::default()
        });
    };
    diagnostics.extend(save(path, written, FileAccess::Umask)?);
    diagnostics.push(Diagnostic::note(format!("the plot is in {}", path.display())));
    Ok(diagnostics.into())
}

/// What a file of this name holds.
fn content(plot: &Plot, title: &str, path: Option<&Path>) -> String {
    let extension = path.and_then(Path::extension).map(|extension| extension.to_ascii_lowercase());
    match extension.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("csv") => Csv.listing_text(&plot.data),
        Some("md" | "markdown") => Markdown::default().listing_text(&plot.table),
        _ => plot.standalone(title),
    }
}
