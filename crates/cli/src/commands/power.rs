//! `errorbar power`: how many samples it takes, and what these samples can show.

use clap::Args;
use errorbar_analysis::{Plans, PowerRequest};
use errorbar_report::{PlansView, Render, Sort};

use super::explain::ExplainArgs;
use super::{CommandOutcome, CommandResult, Context};
use crate::diagnostic::Diagnostics;
use crate::format::{Format, width};
use crate::output::Output;

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
// What a request asks for comes first.
#[command(after_help = EXAMPLES, next_display_order = 500)]
pub(crate) struct PowerArgs {
    /// The format of the results; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    request: PowerRequest,
    #[command(flatten)]
    explain: ExplainArgs,
}

pub(crate) fn run(args: &PowerArgs, context: &Context<'_>) -> CommandResult {
    let runs = &args.request.runs;
    if args.explain.explain && !runs.from.is_empty() {
        let reading = (&runs.tables, runs.by.as_deref(), runs.read.limits().max_memory);
        return args.explain.run(&runs.from, reading, args.format, Diagnostics::default());
    }
    let answer = context.reading(|analysis| analysis.power(&args.request));
    let Some(plans) = answer.value else { return Err(answer.diagnostics) };
    let diagnostics = answer.diagnostics;
    Ok(CommandOutcome { output: output(plans, args.format), diagnostics, ..CommandOutcome::default() })
}

fn output(plans: Plans, format: Format) -> Output {
    let view = PlansView(&plans);
    match format {
        Format::Json => view.to_json().into(),
        Format::Csv | Format::CsvSafe => format.listing(view.data()),
        Format::Table => Output::text(move |color| {
            PlansView(&plans).to_text(&crate::format::table().color(color), width())
        }),
        _ => {
            let (heading, listing) = (view.heading(), view.listing());
            let gap = if format == Format::Latex { "\n" } else { "\n\n" };
            format.render(Sort::None, move |render: &dyn Render| {
                let lines = heading.iter().map(|line| format.line(line) + gap).collect::<String>();
                lines + &render.listing_text(&listing)
            })
        }
    }
}
