//! The one reader: files become runs, for every verb and every surface.

mod cells;
mod log;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_core::spec::nearest;
use errorbar_core::{MetadataKeys, ScoreColumns, ScoreParts};
use errorbar_log::eval::EditedScore;
use errorbar_table::read_tables;
use errorbar_table::{MemoryTables, ScoreTable, TableErrorKind, TableMapping, TableOptions, WantedColumn};

pub use self::cells::beyond_threshold_problem;
pub(crate) use self::cells::{below_threshold_problem, cell_use, choose_means, choose_metrics, refuse_empty};
pub(crate) use self::log::read_log_scores;
pub use self::log::{
    has_scored_confidence, partial_run, read_log, recovered, report_of_run, status_of_unfinished,
    unknown_scorer,
};
use crate::Analysis;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics, Outcome};
pub use crate::read::log::of_run as unused_cluster_of_run;
use crate::request::errors::check_clusters;
use crate::request::{PlanChanges, ReadRequest, TableRequest, UnconvertiblePolicy};
use crate::run::{Identity, Provenance, QUESTION, Run};
use crate::source::time_in_name;
use crate::source::{self, InputFiles};
use crate::text;
use crate::text::Opt;
use crate::text::Text;

/// The usual metadata key of the confidence of answers.
pub const CONFIDENCE: &str = "confidence";
/// What two scorers of the same samples are both called.
const SCORE: &str = "score";

/// What is read of each file, and how.
#[derive(Clone, Copy, Debug)]
pub struct RunRequest<'a> {
    /// What is asked for in place of recorded or default metrics, reducers and errors.
    pub changes: &'a PlanChanges,
    /// How tables are read.
    pub tables: &'a TableRequest,
    /// How logs are read.
    pub read: &'a ReadRequest,
    /// Only these scorers; all if empty.
    pub scorers: &'a [String],
    /// The scorers of one file that are runs of their own.
    pub compared_scorers: &'a [String],
    /// The column or key whose values are runs of their own.
    pub split: Option<&'a str>,
    /// The metadata keys of groups, which are read besides those that the plan needs, and the option that names them.
    pub groups: (&'a [String], Opt),
    /// Skip samples that cannot be read.
    pub skip_bad_samples: bool,
    /// Whether what samples ask is read, to see whether the same id is the same sample.
    pub questions: bool,
    /// Whether the confidence of answers is read, where there is one under its usual key.
    pub confidence: bool,
    /// Whether the numbers of choices are read.
    pub choices: bool,
    /// Whether questions and answers of tables are read.
    pub answers: bool,
    /// Whether all parts of scores are read, to be recorded.
    pub all_parts: bool,
    /// Whether a table whose samples have no ids is an error.
    pub needs_ids: bool,
    /// Whether a log whose samples have no scores is taken.
    pub takes_unscored: bool,
    /// Whether a log without samples is taken for its recorded figures.
    pub takes_recorded: bool,
    /// Whether a log with neither samples nor figures is a negative answer, and not an error.
    pub takes_nothing: bool,
    /// A score of a log that is read in place of the recorded one.
    pub edited: Option<&'a EditedScore>,
    /// What to do about rows that repeat, where the column of runs is not named.
    pub repeated_hint: Option<&'a Text>,
}

impl<'a> RunRequest<'a> {
    /// Everything of each file, with what its plan needs.
    pub fn new(changes: &'a PlanChanges, tables: &'a TableRequest, read: &'a ReadRequest) -> Self {
        RunRequest {
            changes,
            tables,
            read,
            scorers: &[],
            compared_scorers: &[],
            split: None,
            groups: (&[], Opt::By),
            skip_bad_samples: false,
            questions: false,
            confidence: false,
            choices: false,
            answers: false,
            all_parts: false,
            needs_ids: false,
            takes_unscored: true,
            takes_recorded: false,
            takes_nothing: false,
            edited: None,
            repeated_hint: None,
        }
    }

    /// The metadata keys to read besides those that the plan needs.
    fn keys(&self, split: Option<&str>) -> Vec<String> {
        let keys = split.into_iter().chain(self.groups.0.iter().map(String::as_str));
        keys.chain(self.confidence.then_some(CONFIDENCE)).map(str::to_owned).collect()
    }

    /// The scorers to read; all if there is none.
    fn scorers_read(&self) -> &[String] {
        if self.compared_scorers.is_empty() { self.scorers } else { self.compared_scorers }
    }
}

/// Files whose runs are read together.
#[derive(Debug)]
pub struct Files {
    input: InputFiles,
    /// By file, what the argument that it came from is called.
    arguments: HashMap<PathBuf, String>,
    /// Those that a folder or a pattern stands for.
    found: HashSet<PathBuf>,
}

impl Files {
    /// The files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.input.files.clone()
    }

    /// Finds the files that the arguments mean. A file may be named and also be in a folder; but naming it twice is a
    /// mistake.
    ///
    /// # Errors
    /// Arguments that mean no file, and files that are named twice.
    pub fn find(paths: &[PathBuf], memory: &MemoryTables) -> Result<Self, Diagnostics> {
        let (mut input, mut arguments) = (InputFiles::default(), HashMap::new());
        let (mut named, mut of_folders) = (HashMap::new(), HashSet::new());
        let mut seen = HashSet::new();
        for path in paths {
            let mut found = source::expand_with(std::slice::from_ref(path), memory);
            let is_named = matches!(found.files.as_slice(), [only] if !path.is_dir() && only.is_file());
            let files = std::mem::take(&mut found.files);
            input.append(found);
            for file in files {
                let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
                if is_named && let Some(first) = named.insert(real.clone(), path.clone()) {
                    input.diagnostics.push(itself(path, &first));
                }
                if !seen.insert(real) {
                    continue;
                }
                if !is_named {
                    of_folders.insert(file.clone());
                }
                arguments.insert(file.clone(), name_of(if path.is_dir() { path } else { &file }));
                input.files.push(file);
            }
        }
        match input.diagnostics.outcome() {
            Outcome::Done => Ok(Files { input, arguments, found: of_folders }),
            _ => Err(input.diagnostics),
        }
    }

    /// Whether there is one file.
    pub fn is_one(&self) -> bool {
        self.input.files.len() == 1
    }

    /// Reads them, several at a time, for a verb that needs all of them.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(
        self,
        request: &RunRequest<'_>,
        analysis: &Analysis<'_>,
    ) -> Result<(Vec<Run>, Diagnostics), Diagnostics> {
        // Once, however many files there are.
        let first = self.input.files.first().filter(|_| request.groups.0.is_empty()).cloned();
        let (runs, diagnostics) = self.input.map(|path, warnings| {
            let argument = self.arguments.get(path).cloned().unwrap_or_default();
            let reader = Reader { argument, reports_end: true, ..Reader::new(analysis, request, path) };
            reader.hints(first.as_deref() == Some(path)).runs(warnings)
        });
        match diagnostics.outcome() {
            Outcome::Done => {
                let mut runs: Vec<Run> = runs.into_iter().flatten().collect();
                order(&mut runs, &self.found);
                Ok((runs, diagnostics))
            }
            _ => Err(diagnostics),
        }
    }
}

/// Puts logs of a folder that began in the same second in the order of their tasks and models. Their names end in random
/// ids, which would choose the base.
fn order(runs: &mut [Run], found: &HashSet<PathBuf>) {
    let second = |run: &Run| {
        let name = run.identity.path.file_name()?.to_str()?;
        found.contains(&run.identity.path).then(|| time_in_name(name)).flatten()
    };
    let is_same = |a: &Run, b: &Run| {
        second(a).is_some() && second(a) == second(b) && a.identity.path.parent() == b.identity.path.parent()
    };
    let compare = |a: &Run, b: &Run| -> Ordering {
        let (a, b) = (&a.identity, &b.identity);
        (&a.task, &a.model, &a.path).cmp(&(&b.task, &b.model, &b.path))
    };
    for runs in runs.chunk_by_mut(is_same) {
        runs.sort_by(compare);
    }
}

/// The error of a file that is compared with itself.
fn itself(path: &Path, first: &Path) -> Diagnostic {
    let also = if path == first { String::new() } else { format!(" (also as {})", first.display()) };
    let scorers = Opt::ComparedScorers.set_all(["A", "B"]);
    Diagnostic::error(format!("the file is given twice{also}, and would be compared with itself"))
        .about(path.display())
        .hint(text!("give another log; two scorers of one log are compared with {}", scorers))
}

/// The last part of a path, without the extension of a file.
fn name_of(path: &Path) -> String {
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    name.map_or_else(|| path.display().to_string(), |name| name.display().to_string())
}

/// The warning that a run did not reach its end.
fn unfinished(run: &Run) -> Option<Diagnostic> {
    let partial = partial_run(&run.log()?.header)?;
    let planned = partial.planned.map(|planned| format!(" of {planned}")).unwrap_or_default();
    let text =
        format!("the run did not reach its end ({}): {}{planned} samples", partial.status, run.scores.len());
    Some(Diagnostic::warning(text).about(run.identity.path.display()))
}

/// A file that is read.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    analysis: &'a Analysis<'a>,
    request: &'a RunRequest<'a>,
    path: &'a Path,
    argument: String,
    /// Whether a metadata key that nothing is clustered by is to be reported.
    has_hints: bool,
    /// Whether a run that did not reach its end is to be reported: where results are shown, they say so.
    reports_end: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(analysis: &'a Analysis<'a>, request: &'a RunRequest<'a>, path: &'a Path) -> Self {
        Reader {
            analysis,
            request,
            path,
            argument: path.display().to_string(),
            has_hints: false,
            reports_end: false,
        }
    }

    /// The same with hints about its metadata, if hints are wanted at all.
    pub(crate) fn hints(self, has_hints: bool) -> Self {
        Reader { has_hints: has_hints && self.analysis.has_hints, ..self }
    }

    /// Whether it is a log.
    pub(crate) fn is_log(&self) -> bool {
        self.analysis.is_log(self.path)
    }

    /// The runs of the file.
    pub(crate) fn runs(&self, warnings: &mut Diagnostics) -> Result<Vec<Run>, Diagnostics> {
        match self.is_log() {
            true => self.runs_of_log(warnings),
            false => self.runs_of_table(warnings).map_err(Diagnostics::from),
        }
    }

    fn about(&self, diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.about(self.path.display())
    }

    fn runs_of_log(&self, warnings: &mut Diagnostics) -> Result<Vec<Run>, Diagnostics> {
        let request = self.request;
        let log = Arc::new(request.read.open(self.path)?);
        let mut run = log::read_log_with(log, request, self.has_hints, self.analysis)?;
        run.identity.argument.clone_from(&self.argument);
        check_clusters(&run.plan).map_err(|problem| self.about(problem))?;
        if let Some(source) = run.log().filter(|source| run.scores.is_empty() && source.recorded.is_none()) {
            return Err(log::no_samples(&source.log, &source.header, request.takes_nothing).into());
        }
        warnings.extend(run.warnings());
        warnings.extend(self.reports_end.then(|| unfinished(&run)).flatten());
        if self.has_hints {
            warnings.extend(log::of_columns(&run.plan, &run.scores, self.path));
        }
        if run.recorded().is_none() && !request.takes_unscored && !run.scores.has_scores() {
            let hint = "score its outputs with `score LOG --with SPEC --write`";
            let problem = Diagnostic::error("no sample of the log has a score").of_kind(DiagnosticKind::Log);
            return Err(self.about(problem.hint(hint)).into());
        }
        let (groups, option) = request.groups;
        if let Some(key) = groups.iter().find(|key| !has_key(&run.scores, key)) {
            return Err(self.about(unknown_key(key, &run.known_keys(), "metadata key", option)).into());
        }
        match request.split {
            None => Ok(self.by_scorer(run)),
            Some(key) => self.split(&run, key).map_err(Diagnostics::from),
        }
    }

    /// The parts of a log, by a key of the metadata of its samples.
    fn split(&self, run: &Run, key: &str) -> Result<Vec<Run>, Diagnostic> {
        let parts = run.scores.split_by(key);
        if parts.is_empty() {
            return Err(self.about(unknown_key(key, &run.known_keys(), "metadata key", Opt::By)));
        }
        let counts = run.choice_counts();
        let choices = counts.first().copied().filter(|first| counts.iter().all(|count| count == first));
        let part = |(name, scores): (String, ScoreColumns)| Run {
            identity: Identity { part: Some(name), ..run.identity.clone() },
            scores,
            plan: run.plan.clone(),
            provenance: Provenance::PartOfLog(choices),
        };
        Ok(parts.into_iter().map(part).collect())
    }

    fn runs_of_table(&self, warnings: &mut Diagnostics) -> Result<Vec<Run>, Diagnostic> {
        let request = self.request;
        let plan = request.changes.plan_of_table().map_err(|problem| self.about(problem))?;
        let mut keys = request.keys(None);
        if request.questions || request.answers {
            keys.extend(QUESTION.map(str::to_owned));
        }
        // What the parts of a table are is the verb's own option.
        let mapping = request.tables.mapping(request.split)?;
        let options = request
            .tables
            .options(&mapping, request.read.limits().max_memory, &self.analysis.tables)
            .details(request.all_parts || plan.score_parts() == ScoreParts::All || request.answers);
        let options = options.no_scores(request.tables.unconvertible.into()).cells(cell_use(&plan));
        let asked = plan.metadata_keys().and(MetadataKeys::Only(keys));
        let rows = |rest: bool| self.rows(&mapping, &options.clone().metadata(asked.clone()).rest(rest));
        // Cells that are skipped would be other scores for hints. If those make it fail, there are none.
        let is_skipping = request.tables.unconvertible == UnconvertiblePolicy::Missing;
        let for_hints = self.has_hints && !is_skipping && log::is_small_table(self.path);
        let with_all = if for_hints { rows(true).ok() } else { None };
        let has_all = with_all.is_some();
        let mut tables = with_all.map_or_else(|| rows(false), Ok)?;
        if has_all {
            warnings.extend(log::of_tables(&mut tables, self.path, &plan, &asked));
        }
        if request.needs_ids && tables.iter().any(|table| table.has_synthetic_ids) {
            let problem = "no column identifies the samples, so those of the two sides cannot be paired";
            let hint = text!("name the column with {IdColumn}, or compare without pairs with {Unpaired}");
            return Err(self.about(Diagnostic::error(problem).hint(hint)));
        }
        if let Some(table) = tables.first() {
            warnings.extend(self.analysis.save_mapping(request.tables, &table.mapping)?);
        }
        let are_several = tables.len() > 1;
        let mut runs = Vec::new();
        for table in tables {
            let (groups, option) = request.groups;
            if let Some(key) = groups.iter().find(|key| !table.metadata_keys.contains(key)) {
                return Err(self.about(unknown_key(key, &table.metadata_keys, "column", option)));
            }
            let scorers: Vec<String> = table.columns.scorer_names().map(str::to_owned).collect();
            if let Some(name) = request.scorers_read().iter().find(|name| !scorers.contains(name)) {
                return Err(self.about(unknown_scorer(name, &scorers)));
            }
            let mut plan = plan.clone();
            plan.only = request.scorers.to_vec();
            let called = (self.path.to_owned(), self.argument.clone());
            let run = Run::of_table(table, plan, called, (are_several, request.tables.names_ids()));
            runs.extend(self.by_scorer(run));
        }
        Ok(runs)
    }

    /// The rows of a table. Scorers to compare are columns, or else they have their own rows.
    fn rows(&self, mapping: &TableMapping, options: &TableOptions) -> Result<Vec<ScoreTable>, Diagnostic> {
        let compared_scorers = self.request.compared_scorers;
        let read = |columns: &[String]| read_tables(self.path, &options.clone().score_columns(columns));
        let is_by_columns = compared_scorers.is_empty() || !mapping.score_columns.is_empty();
        let tables = match is_by_columns {
            true => read(&mapping.score_columns),
            false => match read(compared_scorers) {
                Err(error)
                    if matches!(error.kind(), TableErrorKind::NoColumn { role: WantedColumn::Score, .. }) =>
                {
                    // The error about the columns that were named is the better one.
                    read(&[]).map_err(|_| error)
                }
                read => read,
            },
        };
        let tables = tables.map_err(|error| match (error.kind(), self.request.repeated_hint) {
            // Where the column of runs is named, the rows of a part repeat.
            (TableErrorKind::DuplicateRow { .. }, Some(hint)) if mapping.by.is_none() => {
                Diagnostic::from(error).hint(hint.clone())
            }
            _ => Diagnostic::from(error),
        })?;
        refuse_empty(self.path, tables)
    }

    /// A run for each of the scorers to compare, under one name; itself if none are.
    fn by_scorer(&self, run: Run) -> Vec<Run> {
        let scorers = self.request.compared_scorers;
        let Some(first) = scorers.first() else { return vec![run] };
        let of_scorer = |scorer: &String| {
            let mut plan = run.plan.clone();
            // The metrics are those of the base, or figures of one name would be of different kinds.
            plan.scorers.retain(|planned| planned.name == *first);
            plan.scorers.truncate(1);
            plan.scorers.iter_mut().for_each(|planned| planned.name = SCORE.to_owned());
            plan.only.clear();
            if let Some(metrics) = plan.default_metrics.get(first).cloned() {
                plan.default_metrics.insert(SCORE.to_owned(), metrics);
            }
            if let Some(reducers) = plan.scorer_reducers.get(first).cloned() {
                plan.scorer_reducers.insert(SCORE.to_owned(), reducers);
            }
            run.of_scorer(scorer, SCORE, plan)
        };
        scorers.iter().filter_map(of_scorer).collect()
    }
}

/// Whether a sample has this metadata key.
fn has_key(columns: &ScoreColumns, key: &str) -> bool {
    (0..columns.len()).any(|row| columns.metadata_row(row).contains_key(key))
}

/// The error of a column or metadata key that there is none of.
fn unknown_key(key: &str, known: &[String], what: &str, option: Opt) -> Diagnostic {
    let hint = match nearest(key, known.iter().map(String::as_str)) {
        Some(nearest) => text!("did you mean {}?", option.set(nearest)),
        None if known.is_empty() => text!("there is no {} to name: omit {}", what, option),
        None => text!("name a {} with {}: {}", what, option, known.join(", ")),
    };
    Diagnostic::error(format!("there is no {what} `{key}` to compare by")).hint(hint)
}
