//! How often the intervals of scores like these hold the truth, by simulation.

use std::path::{Path, PathBuf};

use errorbar_core::IntervalSide;
use errorbar_inference::{Coverage, CoverageOptions, NoCoverage, simulate_coverage};
use errorbar_macros::Setters;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::read::{Reader, RunRequest};
use crate::request::{ErrorRequest, LimitRequest, PlanChanges, ReadRequest, TableRequest, one_or_many};
use crate::run::Run;
use crate::score::numbered_rows;
use crate::source::expand_with;
use crate::text::Opt;
use crate::{Analysis, Answer, hints, text};

/// What is simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_display_order = 1))]
pub struct CoverageRequest {
    /// The number of simulations of each method [default: at most 10000, and as many as take a few
    /// seconds]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = simulations()))]
    pub simulations: Option<u32>,
    /// Seed for random numbers [default: as a log records; 0 for a table]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub seed: Option<u64>,
    /// The reducer of a sample's epochs to one score; may be repeated [default: as a log
    /// records; mean for a table]
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "reducer", short, value_name = "SPEC"))]
    pub reducers: Vec<String>,
    /// Only this scorer; may be repeated
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "scorer", value_name = "NAME"))]
    pub scorers: Vec<String>,
    /// The column of a table whose values tell its parts apart, such as models: each has results of its own
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN",
        value_parser = clap::builder::NonEmptyStringValueParser::new()))]
    pub by: Option<String>,
    /// How errors and intervals are computed.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub errors: ErrorRequest,
    /// How tables are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub tables: TableRequest,
    /// How logs are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    #[setters(LimitRequest)]
    pub read: ReadRequest,
}

#[cfg(feature = "clap")]
fn simulations() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(CoverageOptions::MAX_SIMULATIONS))
}

/// The coverage of the scores of one scorer, and where they are from.
#[derive(Debug)]
#[non_exhaustive]
pub struct CoverageBlock {
    /// The file, and the part of it.
    pub file: String,
    /// The scorer.
    pub scorer: String,
    /// The reducer.
    pub reducer: Option<String>,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// Whether intervals have one end: then they have no width.
    pub one_sided: bool,
    /// What was simulated.
    pub coverage: Coverage,
}

impl Analysis<'_> {
    /// How often the intervals of scores like these hold the truth.
    pub fn coverage(&self, sources: &[PathBuf], request: &CoverageRequest) -> Answer<Vec<CoverageBlock>> {
        let changes = match self.coverage_changes(request) {
            Ok(changes) => changes,
            Err(diagnostics) => return Answer::failed(diagnostics),
        };
        let mut options = CoverageOptions::default();
        (options.simulations, options.method) = (request.simulations, request.errors.interval);
        let (blocks, diagnostics) = expand_with(sources, &self.tables).map(|path, warnings| {
            let run_request = RunRequest {
                scorers: &request.scorers,
                split: request.by.as_deref().filter(|_| !self.is_log(path)),
                ..RunRequest::new(&changes, &request.tables, &request.read)
            };
            let runs = Reader::new(self, &run_request, path).runs(warnings)?;
            warnings.extend(numbered_rows(&runs, path));
            let blocks = runs.into_iter().map(|run| self.coverage_of(run, path, request, options, warnings));
            blocks.collect::<Result<Vec<_>, Diagnostic>>().map_err(Diagnostics::from)
        });
        Answer::new(blocks.into_iter().flatten().flatten().collect(), diagnostics)
    }

    fn coverage_changes(&self, request: &CoverageRequest) -> Result<PlanChanges, Diagnostics> {
        if request.errors.population.is_some() {
            let problem = "coverage draws samples with replacement, from a population without end";
            return Err(Diagnostic::error(problem)
                .about_option(Opt::Population)
                .hint(text!("omit {Population}"))
                .into());
        }
        let changes = PlanChanges::new(&[], &request.reducers, false, self.specs())?;
        Ok(changes.errors(&request.errors)?.seed(request.seed))
    }

    /// The coverage of a run.
    fn coverage_of(
        &self,
        mut run: Run,
        path: &Path,
        request: &CoverageRequest,
        options: CoverageOptions,
        warnings: &mut Diagnostics,
    ) -> Result<Vec<CoverageBlock>, Diagnostic> {
        let title = run.title();
        let about = |problem: Diagnostic| problem.about(&title);
        run.check_cells(run.plan.clone(), request.tables.unconvertible, self.registry).map_err(about)?;
        let mut report =
            simulate_coverage(&run.plan, &run.scores, options).map_err(|error| about(error.into()))?;
        let is_wanted = |name: &String| request.scorers.is_empty() || request.scorers.contains(name);
        report.scores.retain(|score| is_wanted(&score.scorer));
        warnings.extend(
            report.warnings.iter().map(|warning| Diagnostic::warning(warning.to_string()).about(&title)),
        );
        if report.scores.is_empty() {
            warnings.push(Diagnostic::failure("there is no score").about(path.display()));
        }
        let mut blocks = Vec::new();
        for score in report.scores {
            let field = score.field.as_ref().map(|field| format!(": {field}")).unwrap_or_default();
            let place = format!("{title}: {}{field}", score.scorer);
            match score.coverage {
                Ok(coverage) => blocks.push(CoverageBlock {
                    file: title.clone(),
                    scorer: score.scorer,
                    reducer: score.reducer,
                    field: score.field,
                    one_sided: run.plan.errors.side.unwrap_or_default() != IntervalSide::TwoSided,
                    coverage,
                }),
                Err(NoCoverage::Scores(mut error)) => {
                    // The reader fetched only the metadata that the plan needs; the table knows what else there is.
                    if let Some(table) = run.table() {
                        error.name_metadata_keys(table.metadata_keys.iter().map(String::as_str));
                    }
                    let hint = hints::figure_hint(&error, &run.plan.errors.cluster);
                    warnings.push(Diagnostic::error(error.to_string()).about(place).hint_if(hint));
                }
                Err(reason) => {
                    let text = format!("no coverage: {reason}");
                    let hint = hints::coverage_hint(&reason);
                    warnings.push(Diagnostic::failure(text).about(place).hint_if(hint));
                }
            }
        }
        Ok(blocks)
    }
}
