//! `errorbar coverage`: how often the intervals of scores like these hold the truth.

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_core::{Plan, ScoreParts, Side};
use errorbar_inference::{
    Coverage, CoverageFigures, CoverageOptions, CoverageReport, MethodCoverage, NoCoverage, simulate_coverage,
};
use errorbar_log::inspect::scorer_metrics;
use errorbar_report::{Listing, ListingCell, Render, Sort, clean, wrap};
use errorbar_table::ScoreTable;

use super::common::{Format, counted, short, width};
use super::error_args::{ErrorArgs, check_clusters};
use super::logs::{ReadArgs, ReadProgress, ScoreRequest};
use super::specs::PlanOverrides;
use super::table_scores::{self, CellContext};
use super::tables::TableArgs;
use super::{CommandResult, Context, Outcome, explain, files, logs};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::hints;
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
#[command(after_help = EXAMPLES)]
pub(crate) struct CoverageArgs {
    /// Eval logs (.eval, .json), folders and patterns of them, handles (@1, latest), and tables of
    /// scores (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The number of simulations of each method [default: at most 10000, and as many as take a few
    /// seconds]
    #[arg(long, value_name = "N", value_parser = simulations())]
    simulations: Option<u32>,
    /// Seed for random numbers [default: as a log records; 0 for a table]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The reducer of a sample's epochs to one score; may be repeated [default: as a log
    /// records; mean for a table]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Only this scorer; may be repeated
    #[arg(long = "scorer", value_name = "NAME")]
    scorers: Vec<String>,
    /// The column of a table whose values tell its parts apart, such as models: each has results of its own
    #[arg(long, value_name = "COLUMN", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    by: Option<String>,
    /// The format of the results; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    errors: ErrorArgs,
    #[command(flatten)]
    tables: TableArgs,
    #[command(flatten)]
    read: ReadArgs,
}

fn simulations() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(CoverageOptions::MAX_SIMULATIONS))
}

/// The coverage of the scores of one scorer, and where they are from.
struct CoverageBlock {
    file: String,
    scorer: String,
    reducer: Option<String>,
    field: Option<String>,
    /// Whether intervals have one end: then they have no width.
    one_sided: bool,
    coverage: Coverage,
}

pub(crate) fn run(args: &CoverageArgs, context: &Context<'_>) -> CommandResult {
    let overrides = PlanOverrides::new(&[], &args.reducers, false, context)?;
    args.errors.check()?;
    if args.errors.has_population() {
        let problem = "coverage draws samples with replacement, from a population without end";
        return Err(Diagnostic::error(problem).about("--population").hint("omit --population").into());
    }
    let mut options = CoverageOptions::new();
    (options.simulations, options.method) = (args.simulations, args.errors.interval());
    if args.tables.explain {
        let input = files::expand(&args.files);
        let mapping = args.tables.mapping(args.by.as_deref())?;
        let options = args.tables.options(&mapping, args.read.limits().max_memory);
        return explain::run(&input.files, &args.tables, &options, args.format, input.diagnostics);
    }
    let progress = ReadProgress::new(context.quiet);
    let (blocks, diagnostics) = files::expand(&args.files).map(|path, warnings| {
        let task = CoverageTask { args, overrides: &overrides, options, context, path };
        match logs::is_log(path) {
            true => task.of_log(&progress, warnings),
            false => task.of_table(warnings).map_err(Diagnostics::from),
        }
    });
    drop(progress);
    let blocks: Vec<CoverageBlock> = blocks.into_iter().flatten().collect();
    let output = match args.format {
        _ if blocks.is_empty() => Output::Nothing,
        Format::Json | Format::Csv | Format::CsvSafe => args.format.listing(data(&blocks)),
        format => format.render(Sort::None, move |render| {
            let text = |block: &CoverageBlock| block.text(format, render);
            blocks.iter().map(text).collect::<Vec<_>>().join("\n")
        }),
    };
    Ok(Outcome { output, diagnostics, ..Outcome::default() })
}

/// What to do with a file.
struct CoverageTask<'a> {
    args: &'a CoverageArgs,
    overrides: &'a PlanOverrides,
    options: CoverageOptions,
    context: &'a Context<'a>,
    path: &'a Path,
}

impl CoverageTask<'_> {
    fn plan(&self, mut plan: Plan) -> Plan {
        if let Some(reducers) = &self.overrides.reducers {
            plan.reducers = reducers.clone();
        }
        plan.seed = self.args.seed.unwrap_or(plan.seed);
        plan.errors = self.args.errors.over(&plan.errors);
        plan
    }

    fn of_log(
        &self,
        progress: &ReadProgress,
        warnings: &mut Diagnostics,
    ) -> Result<Vec<CoverageBlock>, Diagnostics> {
        let about = |diagnostic: Diagnostic| diagnostic.about(self.path.display());
        let request = ScoreRequest { scorers: &self.args.scorers, ..ScoreRequest::default() };
        let log = self.args.read.open(self.path)?;
        let opened = logs::read(&log, &request, progress, self.context, |plan| self.plan(plan))?;
        check_clusters(&opened.plan).map_err(about)?;
        warnings.extend(opened.warnings());
        let report = simulate_coverage(&opened.plan, &opened.scores.columns, self.options);
        let report = report.map_err(|error| about(error.into()))?;
        Ok(self.blocks(&self.path.display().to_string(), report, &opened.plan, warnings))
    }

    fn of_table(&self, warnings: &mut Diagnostics) -> Result<Vec<CoverageBlock>, Diagnostic> {
        let about = |diagnostic: Diagnostic| diagnostic.about(self.path.display());
        let mut plan = Plan::new();
        plan.default_metrics = scorer_metrics();
        let plan = self.plan(plan);
        check_clusters(&plan).map_err(about)?;
        let mapping = self.args.tables.mapping(self.args.by.as_deref())?;
        let options = self
            .args
            .tables
            .options(&mapping, self.args.read.limits().max_memory)
            .metadata(plan.metadata_keys())
            .details(plan.score_parts() == ScoreParts::All);
        let tables = table_scores::read(self.path, &options, &plan, self.args.tables.unconvertible)?;
        warnings.extend(table_scores::numbered_rows(&tables, self.path));
        if let Some(table) = tables.first() {
            warnings.extend(self.args.tables.save(&table.mapping)?);
        }
        let are_several = tables.len() > 1;
        let mut blocks = Vec::new();
        for table in tables {
            let part = table.part.as_ref().or(table.log.as_ref().filter(|_| are_several));
            let path = self.path.display();
            let name = part.map_or_else(|| path.to_string(), |part| format!("{path}: {part}"));
            blocks.extend(self.of_rows(&name, table, &plan, warnings)?);
        }
        Ok(blocks)
    }

    /// The coverage of a table, or of those of its rows that are of one log.
    fn of_rows(
        &self,
        name: &str,
        mut table: ScoreTable,
        plan: &Plan,
        warnings: &mut Diagnostics,
    ) -> Result<Vec<CoverageBlock>, Diagnostic> {
        let about = |diagnostic: Diagnostic| diagnostic.about(name);
        let scorers: Vec<String> = table.columns.scorer_names().map(str::to_owned).collect();
        if let Some(name) = self.args.scorers.iter().find(|name| !scorers.contains(name)) {
            return Err(about(logs::unknown_scorer(name, &scorers)));
        }
        let cells = CellContext {
            mode: self.args.tables.unconvertible,
            registry: self.context.registry,
            path: self.path,
            words: &table.words,
            is_unordered: table.is_unordered,
            has_no_reduce: false,
        };
        table_scores::check(&mut table.columns, plan, cells).map_err(about)?;
        let mut report =
            simulate_coverage(plan, &table.columns, self.options).map_err(|error| about(error.into()))?;
        report
            .scores
            .retain(|score| self.args.scorers.is_empty() || self.args.scorers.contains(&score.scorer));
        // The reader fetched only the metadata that the plan needs; the table knows what else there is.
        for score in &mut report.scores {
            if let Err(NoCoverage::Scores(errorbar_core::Error::MissingKey { known, .. })) =
                &mut score.coverage
            {
                *known = table.metadata_keys.iter().take(12).cloned().collect();
            }
        }
        Ok(self.blocks(name, report, plan, warnings))
    }

    /// What there is; what there is not is among the warnings.
    fn blocks(
        &self,
        file: &str,
        report: CoverageReport,
        plan: &Plan,
        warnings: &mut Diagnostics,
    ) -> Vec<CoverageBlock> {
        warnings.extend(
            report.warnings.iter().map(|warning| Diagnostic::warning(warning.to_string()).about(file)),
        );
        if report.scores.is_empty() {
            warnings.push(Diagnostic::failure("there is no score").about(file));
        }
        let mut blocks = Vec::new();
        for score in report.scores {
            let field = score.field.as_ref().map(|field| format!(": {field}")).unwrap_or_default();
            let place = format!("{file}: {}{field}", score.scorer);
            match score.coverage {
                Ok(coverage) => blocks.push(CoverageBlock {
                    file: file.to_owned(),
                    scorer: score.scorer,
                    reducer: score.reducer,
                    field: score.field,
                    one_sided: plan.errors.side.unwrap_or_default() != Side::TwoSided,
                    coverage,
                }),
                Err(NoCoverage::Scores(error)) => {
                    let hint = hints::core::cluster_hint(&error, &plan.errors.cluster);
                    let hint = hint.or_else(|| hints::core::hint(&error));
                    warnings.push(Diagnostic::error(error.to_string()).about(place).hint_if(hint));
                }
                Err(reason) => {
                    let text = format!("no coverage: {reason}");
                    let hint = hints::core::coverage_hint(&reason);
                    warnings.push(Diagnostic::failure(text).about(place).hint_if(hint));
                }
            }
        }
        blocks
    }
}

impl CoverageBlock {
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
        let Coverage { n, clusters, mean, level, seed, .. } = &self.coverage;
        let reducer = self.reducer.as_ref().map(|reducer| format!(" ({reducer})")).unwrap_or_default();
        let field = self.field.as_ref().map(|field| format!(" · {field}")).unwrap_or_default();
        let clusters = clusters.map(|clusters| format!(" in {}", counted(clusters, "cluster")));
        let simulations = self.simulations().map(|count| format!(" · {}", counted(count, "simulation")));
        format!(
            "{} · {}{reducer}{field} · {}{}, mean {} · {} % intervals{} · seed {seed}",
            self.file,
            self.scorer,
            counted(*n, "score"),
            clusters.unwrap_or_default(),
            short(*mean, 4),
            short(100.0 * level, 4),
            simulations.unwrap_or_default(),
        )
    }

    /// The figures of the methods that have any.
    fn figures(&self) -> impl Iterator<Item = (&MethodCoverage, &CoverageFigures)> {
        self.coverage.methods.iter().filter_map(|method| Some((method, method.figures.as_ref().ok()?)))
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
        for method in &self.coverage.methods {
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
            "width" => !self.one_sided,
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
    for CoverageBlock { file, scorer, reducer, field, one_sided, coverage } in blocks {
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
