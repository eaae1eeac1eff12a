//! `errorbar report`: a page to look at, of one or several logs and tables.
//!
//! Inputs are read and named as those of `compare` are (`commands/inputs`), evaluated as `score` does, and handed to the
//! page of errorbar-report. Inputs that cannot be compared make a page without a comparison, which says why.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use errorbar_analysis::files::{check_extension, check_new, save};
use errorbar_analysis::{
    Alignment, ByteSize, ErrorRequest, Files, Opt, PlanChanges, ReadRequest, RunRequest, Side, SideRequest,
    Surface, TableRequest, cluster_failures, named_sides, text, too_few_epochs,
};
use errorbar_core::IndexMap;
use errorbar_files::FileAccess;
use errorbar_inference::{ComparisonError, ComparisonOptions};
use errorbar_log::eval::LogError;
use errorbar_report::html::{MOST_PAIRED, Page, PageRun, PageSamples, RunFacts};
use errorbar_report::samples::{EncodeError, LogContents, SampleSetBuilder};
use errorbar_report::{ChanceLevel, Report};
use errorbar_table::MemoryTables;

use indexmap::IndexSet;

use super::{CommandResult, Context};
use crate::commands::logs;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::{counted, human_size};

const EXAMPLES: &str = "\
Examples:
  A page of one log; of the newest log of the folder logs:
    errorbar report logs/run.eval -o report.html
    errorbar report latest -o report.html

  Several models of one task, with their differences; several tasks, model by task:
    errorbar report logs/heron.eval logs/magpie.eval -o report.html
    errorbar report logs -o report.html

  A table with a column that names the model, with figures by category:
    errorbar report scores.csv --by model --group category -o report.html

  Without samples, for a page that is published; or with as many as fit:
    errorbar report logs -o report.html --no-samples
    errorbar report logs -o report.html --max-size 2M

The page is one file. It needs no network and no server, and its figures need no script.

Exit code: 0 if all is well, 2 if something could not be read or written.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Eval logs (.eval, .json), folders and patterns of them, handles (@1, latest), tables of scores
    /// (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the page to this file
    #[arg(long, short, required = true, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file of --output if it exists
    #[arg(long)]
    force: bool,
    /// The heading of the page [default: the task, or the file]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Leave out the samples: no question and no answer is in the page
    #[arg(long, conflicts_with = "max_size")]
    no_samples: bool,
    /// The maximum size of the page; texts of samples are shortened, then samples are left out, until it fits
    #[arg(long, value_name = "SIZE")]
    max_size: Option<ByteSize>,
    /// The column of a table, or the metadata key of a log, whose values are the runs
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    by: Option<String>,
    /// Show the headline also by this metadata key or column; may be repeated
    #[arg(long = "group", value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    groups: Vec<String>,
    /// Compare every run with every other, also if there are more than 30 of a task
    #[arg(long)]
    all_pairs: bool,
    /// Take the same id for the same sample, though input or target differ
    #[arg(long)]
    trust_ids: bool,
    /// A metric to compute, with its arguments; may be repeated [default: those that the logs record;
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
    /// Skip samples that cannot be read; they are reported and counted
    #[arg(long)]
    skip_bad_samples: bool,
    #[command(flatten)]
    errors: ErrorRequest,
    #[command(flatten)]
    tables: TableRequest,
    #[command(flatten)]
    read: ReadRequest,
}

pub(crate) fn run(args: &ReportArgs, context: &Context<'_>) -> CommandResult {
    let specs = context.analysis(&()).specs();
    let changes = PlanChanges::new(&args.metrics, &args.reducers, false, specs)?;
    let changes = changes.errors(&args.errors)?.seed(args.seed);
    check_extension(&args.output, &["html", "htm"])?;
    check_new(&args.output, args.force)?;
    let files = Files::find(&args.files, &MemoryTables::default())?;
    let options = args.sides(&changes);
    let (runs, mut diagnostics) = context.reading(|analysis| files.read(&options.runs, analysis))?;
    let mut sides = named_sides(runs, &options, &context.analysis(&()))?;
    order_by_task(&mut sides);
    let not_compared = not_compared(&sides, &options, &mut diagnostics);
    if not_compared.is_none() {
        check_pairs(&sides, args.all_pairs, &mut diagnostics)?;
    }
    let run = |side| Run::new(side, &args.errors, &mut diagnostics);
    let runs = sides.into_iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let of_page = runs.iter().map(|Run { name, run, report, facts }| PageRun {
        name: name.clone(),
        report,
        columns: &run.scores,
        plan: &run.plan,
        facts: facts.clone(),
    });
    let mut page = Page::new(of_page.collect());
    page.title = args.title.clone().unwrap_or_default();
    page.groups = args.groups.clone();
    (page.all_pairs, page.not_compared) = (args.all_pairs, not_compared);
    if !args.no_samples {
        // What the page takes without samples is not there for them.
        let least = args.max_size.map(|ByteSize(size)| (size, page.to_html().len() as u64));
        if let Some((size, least)) = least.filter(|(size, least)| least > size) {
            let text = format!(
                "the page takes {} without any sample, and --max-size is {}",
                human_size(least),
                human_size(size)
            );
            return Err(Diagnostic::error(text).hint("allow more, or give fewer runs").into());
        }
        let room = least.map(|(size, least)| size.saturating_sub(least + MARKUP));
        page.samples = samples_of_page(&runs, room, &mut diagnostics)?;
    }
    let html = page.to_html();
    if let Some(size) = args.max_size.map(|ByteSize(size)| size).filter(|size| (html.len() as u64) > *size) {
        let text = format!(
            "the page would have {}, and --max-size is {}",
            human_size(html.len() as u64),
            human_size(size)
        );
        return Err(Diagnostic::error(text)
            .hint("allow more, or leave out the samples with --no-samples")
            .into());
    }
    let access = if args.no_samples { FileAccess::Umask } else { FileAccess::Owner };
    diagnostics.extend(save(&args.output, &html, access)?);
    let text = format!("the report is in {} ({})", args.output.display(), human_size(html.len() as u64));
    diagnostics.push(Diagnostic::note(text));
    Ok(diagnostics.into())
}

impl ReportArgs {
    fn sides<'a>(&'a self, changes: &'a PlanChanges) -> SideRequest<'a> {
        let runs = RunRequest {
            scorers: &self.scorers,
            split: self.by.as_deref(),
            groups: (&self.groups, Opt::Group),
            skip_bad_samples: self.skip_bad_samples,
            questions: !self.trust_ids,
            confidence: true,
            choices: true,
            answers: !self.no_samples,
            takes_recorded: self.by.is_none() && self.groups.is_empty(),
            ..RunRequest::new(changes, &self.tables, &self.read)
        };
        SideRequest { runs, base: None, trust_ids: self.trust_ids, ignore_tasks: false, whole_names: false }
    }
}

/// Puts the runs of a task together; tasks and runs stay in the order of the inputs otherwise.
fn order_by_task(sides: &mut [Side]) {
    let tasks: IndexMap<Option<String>, ()> = sides.iter().map(|side| (side.task.clone(), ())).collect();
    sides.sort_by_key(|side| tasks.get_index_of(&side.task));
}

/// Many runs of a task are compared with the first alone, unless all pairs are wanted.
///
/// # Errors
/// There are more runs than all pairs are tested of.
fn check_pairs(sides: &[Side], all_pairs: bool, diagnostics: &mut Diagnostics) -> Result<(), Diagnostic> {
    let most = ComparisonOptions::MOST_PAIRED;
    for sides in sides.chunk_by(|a, b| a.task == b.task).filter(|sides| sides.len() > MOST_PAIRED) {
        if all_pairs && sides.len() > most {
            return Err(ComparisonError::too_many_sides(sides.len(), most).into());
        }
        if let Some(first) = sides.first().filter(|_| !all_pairs) {
            let of = first.task.as_ref().map(|task| format!(" of task `{task}`")).unwrap_or_default();
            let text = format!("{} runs{of}: each is compared with {} alone", sides.len(), first.name);
            let hint = match sides.len() > most {
                true => text!("{AllPairs} compares every two of up to {} runs", most.to_string()),
                false => text!("{AllPairs} compares every two"),
            };
            diagnostics.push(Diagnostic::note(text).hint(hint));
        }
    }
    Ok(())
}

/// Why the runs of a task must not be compared, if they have not the same samples under the same ids.
fn not_compared(sides: &[Side], options: &SideRequest<'_>, diagnostics: &mut Diagnostics) -> Option<String> {
    if sides.len() > 1 && sides.iter().any(|side| side.run.has_synthetic_ids()) {
        return Some(
            "no column identifies the samples, so those of different runs cannot be matched".to_owned(),
        );
    }
    let error = Alignment::check(sides, options, diagnostics).err()?;
    // What a terminal has on lines of its own is one sentence here.
    let text = error.iter().next().map(|problem| problem.text.on(Surface::CommandLine));
    let text = text.as_deref().unwrap_or("their samples differ");
    let reason = match text.split_once('\n') {
        Some((first, rest)) => format!("{first}: {}", rest.lines().collect::<Vec<_>>().join("; ")),
        None => text.to_owned(),
    };
    let hint = text!("give {TrustIds} if the same id is the same sample nevertheless");
    diagnostics.push(Diagnostic::warning(format!("the runs are not compared: {reason}")).hint(hint));
    Some(reason)
}

/// A run with what the page refers to.
struct Run {
    name: String,
    run: errorbar_analysis::Run,
    report: Report,
    facts: RunFacts,
}

impl Run {
    /// Evaluates an input.
    fn new(side: Side, errors: &ErrorRequest, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostics> {
        let Side { name, task, run, .. } = side;
        let title = run.title();
        let known = if errors.clusters.is_empty() { Vec::new() } else { run.known_keys() };
        let path = run.identity.path.display().to_string();
        let about = |diagnostic: Diagnostic| diagnostic.about(&path);
        let mut results = match run.recorded() {
            Some(recorded) => recorded.clone(),
            None => run.plan.evaluate(&run.scores).map_err(|error| about(error.into()))?.results,
        };
        let unclustered = cluster_failures(&title, &known, &mut results, errors);
        if !unclustered.is_empty() {
            return Err(unclustered);
        }
        diagnostics.extend(too_few_epochs(&results, &run.plan).map(about));
        let of_log = run.log().map(|source| logs::run_facts(&run.identity.path, &source.header));
        let mut facts = of_log.unwrap_or_default();
        facts.file.clone_from(&path);
        facts.chance = ChanceLevel::of_rows(&run.scores, &run.choice_counts());
        let mut report = run.report(results);
        report.log = path;
        report.task = task.or(report.task);
        Ok(Run { name, run, report, facts })
    }

    /// Adds its samples to those of the page: all, or those with these ids. Those of a log are read; of a part of one, as of a
    /// table, the rows are there.
    fn add_samples(
        &self,
        samples: &mut SampleSetBuilder,
        listed: Option<&HashSet<&str>>,
    ) -> Result<(), LogError> {
        let is_listed = |id: &str| listed.is_none_or(|listed| listed.contains(id));
        match self.run.log() {
            Some(source) => {
                samples.add_log(&self.name, &source.log, LogContents::Messages, |id, _| match listed {
                    None => true,
                    Some(_) => is_listed(&id.to_string()),
                })
            }
            None => {
                samples.add_rows(&self.name, &self.run.scores, is_listed);
                Ok(())
            }
        }
    }

    /// The task, if it is known.
    fn task(&self) -> Option<&str> {
        self.report.task.as_deref()
    }
}

/// What the markup of the browser takes, at most.
const MARKUP: u64 = 8 << 10;

/// The most samples × epochs of runs that a page lists: each takes 2 kB until the page is written.
const MOST_LISTED: usize = 100_000;
/// The most bytes of texts that are held for a page.
const MOST_TEXT_BYTES: usize = 64 << 20;

/// The columns of tables that are texts or measurements, not groups.
const NO_GROUPS: [&str; 5] = ["input", "target", "answer", "explanation", "confidence"];

/// The samples, in as many bytes as there are; none if no run has any.
fn samples_of_page(
    runs: &[Run],
    max_bytes: Option<u64>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<PageSamples>, Diagnostic> {
    let keys = runs.iter().flat_map(|run| run.run.scores.metadata_keys());
    let keys: IndexSet<&str> = keys.filter(|key| !NO_GROUPS.contains(key)).collect();
    let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
    let mut samples = SampleSetBuilder::new().group_keys(keys).max_text_bytes(MOST_TEXT_BYTES);
    let are_several = runs.iter().any(|run| run.task() != runs.first().and_then(Run::task));
    let epochs: usize = runs.iter().map(|run| run.run.scores.sample_index().max_rows()).sum();
    let most = (MOST_LISTED / epochs.max(1)).max(1);
    let listed = listed(runs, most);
    if listed.is_some() {
        samples.set_listed(most);
    }
    for run in runs {
        if let Some(task) = run.task().filter(|_| are_several) {
            samples.set_task(task);
        }
        run.add_samples(&mut samples, listed.as_ref().and_then(|listed| listed.get(&run.task())))?;
        if samples.is_too_large() {
            let text = "all samples are left out: even without long texts they take too much memory";
            diagnostics.push(Diagnostic::warning(text).hint("give fewer runs for a page with samples"));
            return Ok(None);
        }
    }
    if samples.is_too_sparse() || listed.is_some() && samples.is_sparse() {
        let text = "all samples are left out: the runs have too few of them in common to be shown together";
        diagnostics.push(Diagnostic::warning(text).hint("give fewer runs for a page with samples"));
        return Ok(None);
    }
    if !samples.problems().is_empty() {
        let count = samples.problems().len() as u64;
        let text =
            format!("{} could not be read, and cannot be opened in the page", counted(count, "sample"));
        diagnostics.push(Diagnostic::warning(text));
    }
    let set = samples.finish();
    let bounds: Vec<String> = set.omissions().iter().map(ToString::to_string).collect();
    if !bounds.is_empty() {
        diagnostics
            .push(Diagnostic::note(format!("the page does not hold everything: {}", bounds.join(", "))));
    }
    if set.is_empty() {
        return Ok(None);
    }
    let max_bytes = max_bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let encoded = match set.encode(max_bytes) {
        // Texts are left out until it fits: with none that do, all of them.
        Err(EncodeError::TooLarge { .. }) => {
            let text = "to fit --max-size, all samples are left out";
            diagnostics.push(Diagnostic::warning(text).hint("allow more with --max-size"));
            return Ok(None);
        }
        encoded => encoded.map_err(|error| Diagnostic::error(error.to_string()))?,
    };
    let omitted = encoded.omissions.iter().filter(|omission| !set.omissions().contains(omission));
    let omitted: Vec<String> = omitted.map(ToString::to_string).collect();
    if !omitted.is_empty() {
        diagnostics.push(Diagnostic::note(format!("to fit --max-size, {}", omitted.join(", "))));
    }
    Ok(Some(PageSamples { key: set.key_html(), data: Some(encoded.to_html()) }))
}

/// The first samples of each task, where there are too many for all; none if no task has more of them than `most`.
fn listed(runs: &[Run], most: usize) -> Option<HashMap<Option<&str>, HashSet<&str>>> {
    let mut tasks: HashMap<Option<&str>, HashSet<&str>> = HashMap::new();
    let mut has_more = false;
    for run in runs {
        let (ids, columns) = (tasks.entry(run.task()).or_default(), &run.run.scores);
        for id in (0..columns.len()).map(|row| columns.id(row)) {
            if ids.len() < most {
                ids.insert(id);
            } else if !ids.contains(id) {
                has_more = true;
                break;
            }
        }
    }
    has_more.then_some(tasks)
}
