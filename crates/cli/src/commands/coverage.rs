//! `errorbar coverage`: how often the intervals of scores like these hold the truth.

use std::path::PathBuf;

use clap::Args;
use errorbar_analysis::{CoverageBlock, CoverageRequest, expand};
use errorbar_inference::{Coverage, CoverageFigures, MethodCoverage};
use errorbar_report::{Listing, ListingCell, Render, Sort, clean, wrap};

use super::explain::ExplainArgs;
use super::{CommandOutcome, CommandResult, Context};
use crate::format::{Format, counted, short, width};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  Which interval is right for these scores?
    errorbar coverage scores.csv

  Questions on one passage belong together: whole passages are drawn
    errorbar coverage logs/run.eval --cluster passage

  One method, often, at 90 %:
    errorbar coverage scores.csv --interval bootstrap --level 0.9 --simulations 5000

The scores of a file are taken as a population whose mean is known. As many samples (with --cluster,
whole clusters) are drawn from it with replacement, again and again; the epochs of a sample are
reduced first. `coverage` is how often the interval of a method holds the known mean; it should be
the level. An interval that is too low lies below the mean, one that is too high above. A draw for
which a method has no interval, such as one of equal scores, holds nothing. ± is the Monte-Carlo
error. Intervals that resample draw 1,000 times in each simulation (10,000 times of zeros and ones)
unless --draws is given. The methods that do not fit the scores are below the table. With --side, an
interval has one end and no width.

Exit code: 0 if all is well, 1 if the scores of a file cannot show it (all are equal, or there are
too few), 2 if something could not be read or computed.";

#[derive(Debug, Args)]
// What a request asks for comes first.
#[command(after_help = EXAMPLES, next_display_order = 500)]
pub(crate) struct CoverageArgs {
    /// Eval logs (.eval, .json), folders and patterns of them, handles (@1, latest), and tables of
    /// scores (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of the results; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    request: CoverageRequest,
    #[command(flatten)]
    explain: ExplainArgs,
}

pub(crate) fn run(args: &CoverageArgs, context: &Context<'_>) -> CommandResult {
    let CoverageArgs { request, .. } = args;
    if args.explain.explain {
        let input = expand(&args.files);
        let reading = (&request.tables, request.by.as_deref(), request.read.limits().max_memory);
        return args.explain.run(&input.files, reading, args.format, input.diagnostics);
    }
    let answer = context.reading(|analysis| analysis.coverage(&args.files, request));
    let blocks = answer.value.unwrap_or_default();
    let output = match args.format {
        _ if blocks.is_empty() => Output::Nothing,
        Format::Json | Format::Csv | Format::CsvSafe => args.format.listing(data(&blocks)),
        format => format.render(Sort::None, move |render| {
            let text = |block: &CoverageBlock| BlockView(block).text(format, render);
            blocks.iter().map(text).collect::<Vec<_>>().join("\n")
        }),
    };
    Ok(CommandOutcome { output, diagnostics: answer.diagnostics, ..CommandOutcome::default() })
}

/// A block as it is shown.
struct BlockView<'a>(&'a CoverageBlock);

impl BlockView<'_> {
    /// The table below what was simulated, and below it the methods that do not apply.
    fn text(&self, format: Format, render: &dyn Render) -> String {
        let lines = |text: &str| match format {
            Format::Table => wrap(&clean(text), width()).into_iter().map(|line| line + "\n").collect(),
            format => format.line(text) + "\n",
        };
        let gap = if format == Format::Markdown { "\n" } else { "" };
        let listing = self.listing();
        let table = match listing.rows().is_empty() {
            true => String::new(),
            false => format!("{gap}{}", render.listing_text(&listing)),
        };
        let reasons = self.without_interval();
        // A line of its own between them: the table has no end that could be seen.
        let apart = if format == Format::Table && !reasons.is_empty() { "\n" } else { "" };
        let below: String = reasons.iter().map(|text| format!("{gap}{}", lines(text))).collect();
        format!("{}{table}{apart}{below}", lines(&self.heading()))
    }

    /// What was simulated, in a line.
    fn heading(&self) -> String {
        let Coverage { n, clusters, mean, level, seed, .. } = &self.0.coverage;
        let reducer = self.0.reducer.as_ref().map(|reducer| format!(" ({reducer})")).unwrap_or_default();
        let field = self.0.field.as_ref().map(|field| format!(" · {field}")).unwrap_or_default();
        let clusters = clusters.map(|clusters| format!(" in {}", counted(clusters, "cluster")));
        let simulations = self.simulations().map(|count| format!(" · {}", counted(count, "simulation")));
        format!(
            "{} · {}{reducer}{field} · {}{}, mean {} · {} % intervals{} · seed {seed}",
            self.0.file,
            self.0.scorer,
            counted(*n, "score"),
            clusters.unwrap_or_default(),
            short(*mean, 4),
            short(100.0 * level, 4),
            simulations.unwrap_or_default(),
        )
    }

    /// The figures of the methods that have any.
    fn figures(&self) -> impl Iterator<Item = (&MethodCoverage, &CoverageFigures)> {
        self.0.coverage.methods.iter().filter_map(|method| Some((method, method.figures.as_ref().ok()?)))
    }

    /// The number of simulations, if it is the same for all methods.
    fn simulations(&self) -> Option<u64> {
        let mut counts = self.figures().map(|(_, figures)| figures.simulations);
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// The methods without figures, a sentence for each reason.
    fn without_interval(&self) -> Vec<String> {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for method in &self.0.coverage.methods {
            let Err(reason) = &method.figures else { continue };
            let (name, reason) = (method.method.to_string(), reason.to_string());
            // Some reasons are a sentence about the method, which has its name there without arguments.
            let bare = name.split('(').next().unwrap_or_default();
            let reason = match reason.strip_prefix(&format!("{bare} ")) {
                Some(predicate) => predicate.to_owned(),
                None => format!("without an interval: {reason}"),
            };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(name),
                None => reasons.push((reason, vec![name])),
            }
        }
        let sentence = |(reason, names): (String, Vec<String>)| {
            let plural = reason.strip_prefix("is ").filter(|_| names.len() > 1);
            let reason = plural.map_or_else(|| reason.clone(), |of| format!("are {of}"));
            format!("{} {reason}", names.join(", "))
        };
        reasons.into_iter().map(sentence).collect()
    }

    fn listing(&self) -> Listing {
        let titles = ["method", "coverage", "width", "too low", "too high", "no interval", "simulations"];
        let is_shown = |title: &&str| match *title {
            "width" => !self.0.one_sided,
            // The heading has it.
            "simulations" => self.simulations().is_none(),
            _ => true,
        };
        let mut listing = Listing::new(titles.into_iter().filter(is_shown)).droppable(["simulations"]);
        for (method, figures) in self.figures() {
            let cells = titles.into_iter().zip(cells(method, figures));
            listing.push(cells.filter(|(title, _)| is_shown(title)).map(|(_, cell)| cell));
        }
        listing
    }
}

/// A row for people.
fn cells(method: &MethodCoverage, figures: &CoverageFigures) -> [ListingCell; 7] {
    let name = match (method.method.to_string(), method.takes) {
        (name, Some(takes)) if takes.to_string() != name => format!("{name}: {takes}"),
        (name, _) => name,
    };
    let percent = |share: f64| ListingCell::new(format!("{:.1} %", 100.0 * share), share.into());
    let width = figures.width.map(|width| {
        let error = figures.width_error.map(|error| format!(" ± {}", short(error, 1)));
        format!("{}{}", short(width, 3), error.unwrap_or_default())
    });
    [
        name.into(),
        ListingCell::new(
            percent_with_error(figures.coverage, figures.coverage_error),
            figures.coverage.into(),
        ),
        width.map(|text| ListingCell::new(text, figures.width.into())).into(),
        percent(figures.below),
        percent(figures.above),
        percent(figures.undefined),
        figures.simulations.into(),
    ]
}

/// A share in percent with its error, both with the digits that the error has.
fn percent_with_error(share: f64, error: f64) -> String {
    let digits = if error < 0.001 { 2 } else { 1 };
    format!("{:.digits$} ± {:.digits$} %", 100.0 * share, 100.0 * error)
}

/// A row per method, for programs.
fn data(blocks: &[CoverageBlock]) -> Listing {
    let mut listing = Listing::new([
        "file",
        "scorer",
        "reducer",
        "field",
        "method",
        "takes",
        "coverage",
        "coverage_error",
        "too_low",
        "too_high",
        "no_interval",
        "width",
        "width_error",
        "simulations",
        "n",
        "clusters",
        "mean",
        "level",
        "seed",
        "draws",
        "reason",
    ]);
    for CoverageBlock { file, scorer, reducer, field, one_sided, coverage, .. } in blocks {
        for method in &coverage.methods {
            let figures = method.figures.as_ref().ok();
            let number =
                |part: &dyn Fn(&CoverageFigures) -> Option<f64>| ListingCell::from(figures.and_then(part));
            listing.push([
                file.as_str().into(),
                scorer.as_str().into(),
                reducer.clone().into(),
                field.clone().into(),
                method.method.to_string().into(),
                method.takes.map(|takes| takes.to_string()).into(),
                number(&|figures| Some(figures.coverage)),
                number(&|figures| Some(figures.coverage_error)),
                number(&|figures| Some(figures.below)),
                number(&|figures| Some(figures.above)),
                number(&|figures| Some(figures.undefined)),
                number(&|figures| figures.width.filter(|_| !one_sided)),
                number(&|figures| figures.width_error.filter(|_| !one_sided)),
                figures.map(|figures| figures.simulations).into(),
                coverage.n.into(),
                coverage.clusters.into(),
                coverage.mean.into(),
                coverage.level.into(),
                coverage.seed.into(),
                u64::from(coverage.draws).into(),
                method.figures.as_ref().err().map(ToString::to_string).into(),
            ]);
        }
    }
    listing
}
