//! `errorbar power`: how many samples it takes, and what these samples can show.

mod design;
mod from;
mod goal;
mod rows;
mod show;
mod values;

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use errorbar_inference::PowerMethod;
use errorbar_report::Listing;

use super::common::{Format, one_of};
use super::logs::ReadArgs;
use super::tables::TableArgs;
use super::{CommandResult, Context, Outcome, explain};
use crate::diagnostic::Diagnostics;
use crate::output::Output;
use values::{Counts, Values, number};

const EXAMPLES: &str = "\
Examples:
  How many samples show a difference of 3 points? (Published: 969 by the normal distribution, 971 by t)
    errorbar power --difference 0.03 --sd 0.3333

  What difference can 198 samples show, with 1 to 16 epochs?
    errorbar power --samples 198 --sd 0.3333 --sd-within 0.4082

  Right and wrong answers: one model alone is right for 6 %, the other alone for 9 %
    errorbar power --p10 0.06 --p01 0.09

  An interval that is 4 points wide, for an accuracy near 80 %
    errorbar power --width 0.04 --share 0.8

  Variances from two runs of the same task, questions on one passage together
    errorbar power --difference 0.02 --from base.eval other.eval --cluster passage

  Curves
    errorbar power --difference 0.01..0.10 --p10 0.05
    errorbar power --samples 100,200,500 --difference 0.03,0.05 --sd 0.4 --format csv

Of --samples, --difference and --power two are given, and the third is computed; without --power, \
samples and differences are for 0.8. A difference is other minus base, and tests are two-sided. With \
--unpaired, samples are those of each model. K epochs divide the variance within samples by K; \
--design-effect multiplies all of it. `calls` are those of all models in the plan. In a test, `width` \
is the width of the interval of the difference.

Methods: Student's t (noncentral t distribution), for pairs of zeros and ones the exact power of \
McNemar's test with mid-p (the test that `compare` shows), for unpaired shares the score test. \
Widths: t, for one share Wilson, for paired shares Bonett and Price, for unpaired ones Newcombe.

Exit code: 0 if there is an answer, 1 if no number of samples or epochs suffices, 2 if something \
could not be read or makes no sense.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PowerArgs {
    /// The difference to detect: a number, a list (0.01,0.02) or a range (0.01..0.10, 0.1..0.5:0.1)
    #[arg(long, value_name = "D", value_parser = Values::parse, allow_hyphen_values = true)]
    difference: Option<Values>,
    /// The width of the interval, from its lower to its upper end
    #[arg(long, value_name = "W", value_parser = Values::parse, allow_hyphen_values = true)]
    width: Option<Values>,
    /// The number of samples; of each model, if unpaired
    #[arg(long, value_name = "N", value_parser = Counts::parse, allow_hyphen_values = true)]
    samples: Option<Counts>,
    /// The chance to detect the difference [default: 0.8, unless it is computed]
    #[arg(long, value_name = "P", value_parser = Values::parse, allow_hyphen_values = true)]
    power: Option<Values>,
    /// The chance of a false alarm; intervals have the level 1 − alpha
    #[arg(long, value_name = "A", default_value = "0.05", value_parser = number, allow_hyphen_values = true)]
    alpha: f64,
    /// The method of the test [default: the one that fits]
    #[arg(long, value_name = "METHOD", value_parser = methods())]
    method: Option<PowerMethod>,
    #[command(flatten)]
    spread: SpreadArgs,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    pub(crate) from: FromArgs,
    /// The format of the results; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

/// How scores vary.
#[derive(Debug, Args)]
#[command(next_help_heading = "How scores vary")]
struct SpreadArgs {
    /// The standard deviation, between samples, of the paired difference; of the scores, with --unpaired,
    /// --correlation, or --width alone
    #[arg(long, value_name = "S", value_parser = number, allow_hyphen_values = true)]
    sd: Option<f64>,
    /// The standard deviation of the epochs of one sample of one model; --sd is then without it
    #[arg(long, value_name = "S", value_parser = number, allow_hyphen_values = true)]
    sd_within: Option<f64>,
    /// The share of right answers (of the base), for scores of zeros and ones
    #[arg(long, value_name = "P", value_parser = number, allow_hyphen_values = true)]
    share: Option<f64>,
    /// The correlation of the two models' scores over samples, with --sd or --share
    #[arg(long, value_name = "R", value_parser = number, allow_hyphen_values = true)]
    correlation: Option<f64>,
    /// The share of samples that only the base has right
    #[arg(long, value_name = "P", value_parser = number, allow_hyphen_values = true)]
    p10: Option<f64>,
    /// The share of samples that only the other model has right
    #[arg(long, value_name = "P", value_parser = number, allow_hyphen_values = true)]
    p01: Option<f64>,
    /// The two models get different samples
    #[arg(long)]
    unpaired: bool,
    /// By what clusters multiply the variance of the difference (or of the mean, for a width)
    #[arg(long, value_name = "D", value_parser = number, allow_hyphen_values = true)]
    design_effect: Option<f64>,
}

/// What samples and epochs cost.
#[derive(Debug, Args)]
#[command(next_help_heading = "Epochs and costs")]
struct BudgetArgs {
    /// Epochs of each sample: a number, a list or a range [default: 1; if the variance within samples is
    /// known, 1 to 16]
    #[arg(long, value_name = "K", value_parser = Counts::parse, allow_hyphen_values = true)]
    epochs: Option<Counts>,
    /// The number of samples that there are; more epochs make up for samples that are missing
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_samples: Option<u64>,
    /// The cost of one call of a model, for the cost of each plan
    #[arg(long, value_name = "C", value_parser = values::cost, allow_hyphen_values = true)]
    call_cost: Option<f64>,
    /// The cost of one sample besides its calls, such as writing or grading it
    #[arg(long, value_name = "C", value_parser = values::cost, allow_hyphen_values = true)]
    sample_cost: Option<f64>,
}

/// Runs that show how scores vary.
#[derive(Debug, Args)]
#[command(next_help_heading = "From runs")]
pub(crate) struct FromArgs {
    /// One or two eval logs or tables of scores whose variances are taken; two runs of the same samples
    /// show how their difference varies
    #[arg(long, value_name = "FILE", num_args = 1..=2)]
    from: Vec<PathBuf>,
    /// The column of a table that tells the two models apart
    #[arg(long, value_name = "COLUMN", requires = "from")]
    by: Option<String>,
    /// A metadata key whose samples belong together; given twice, samples are clustered both ways
    #[arg(long = "cluster", value_name = "KEY", requires = "from", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    clusters: Vec<String>,
    /// The scorer, if there are several
    #[arg(long, value_name = "NAME", requires = "from")]
    scorer: Option<String>,
    /// Take the same id for the same sample, though input or target differ
    #[arg(long, requires = "from")]
    trust_ids: bool,
    /// Take two logs of different tasks as if they were of one
    #[arg(long, requires = "from")]
    ignore_tasks: bool,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    read: ReadArgs,
}

fn methods() -> impl TypedValueParser<Value = PowerMethod> {
    one_of(
        [PowerMethod::T, PowerMethod::Normal, PowerMethod::McNemarMid, PowerMethod::McNemarExact]
            .map(|method| (method.name(), method)),
    )
}

pub(crate) fn run(args: &PowerArgs, context: &Context<'_>) -> CommandResult {
    let mut diagnostics = Diagnostics::default();
    if args.from.tables.explain && !args.from.from.is_empty() {
        let from = &args.from;
        let mapping = from.tables.mapping(from.by.as_deref())?;
        let options = from.tables.options(&mapping, from.read.limits().max_memory);
        return explain::run(&from.from, &from.tables, &options, args.format, diagnostics);
    }
    let planned = compute(args, context, &mut diagnostics)?;
    Ok(Outcome { output: planned.output(args.format), diagnostics, ..Outcome::default() })
}

/// Plans, each with its samples, epochs, difference and power.
pub(crate) struct Planned {
    goal: goal::Goal,
    design: design::PlannedDesign,
    rows: Vec<rows::Row>,
}

impl Planned {
    /// The plans in a format.
    pub(crate) fn output(&self, format: Format) -> Output {
        show::output(format, &self.goal, &self.design, &self.rows)
    }

    /// A row for each plan, for programs.
    pub(crate) fn listing(&self) -> Listing {
        show::data(&self.rows, &self.design, show::method(&self.goal, &self.design))
    }
}

/// The plans, with everything that there is to report: all but `--explain`.
pub(crate) fn compute(
    args: &PowerArgs,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Planned, Diagnostics> {
    let runs = from::read(&args.from, &args.spread, context, diagnostics)?;
    let goal = goal::Goal::of(args, runs.as_ref())?;
    let design = design::PlannedDesign::of(args, &goal, runs.as_ref(), diagnostics)?;
    let rows = rows::compute(args, &goal, &design, diagnostics)?;
    Ok(Planned { goal, design, rows })
}
