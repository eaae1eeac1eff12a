//! Scores of tables whose rows are on several machines: with the options, the metrics and the checks that they have on one.

use std::path::Path;

use errorbar_core::{Order, Plan, Registry, ScoreColumns, ScoreParts};
use errorbar_log::inspect::scorer_metrics;
use errorbar_report::Report;
#[cfg(feature = "arrow")]
use errorbar_table::{ArrowTable, RowGroup, RowGroupError, RowLabels, read_row_groups};
use errorbar_table::{RowColumns, ScoreTable, TableError, TableErrorKind, TableOptions};

use super::error_args::check_clusters;
use super::score::{ScoreArgs, score_rows, with_findings};
use super::specs::PlanOverrides;
use super::table_scores::read_cells;
use super::{Context, NAME};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// What `score` does to a table whose rows are on several machines. Each machine counts the rows that it has by what the
/// [plan](DistributedScore::plan) can see of them ([`Partial`](errorbar_core::Partial)); one of them merges the counts and
/// finishes.
pub struct DistributedScore {
    args: ScoreArgs,
    plan: Plan,
    options: TableOptions,
    overrides: PlanOverrides,
    registry: Registry,
}

impl std::fmt::Debug for DistributedScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DistributedScore").field("options", &self.options).finish_non_exhaustive()
    }
}

impl DistributedScore {
    pub(crate) fn new(args: ScoreArgs, registry: &Registry) -> Result<Self, Diagnostics> {
        let context = Context { program: NAME, registry, quiet: true };
        let overrides = args.overrides(&context)?;
        let mut plan = Plan::new();
        plan.default_metrics = scorer_metrics();
        let mut plan = overrides.apply(plan, args.seed, &args.errors);
        // Rows on several machines have no other order.
        plan.order = Order::Key;
        check_clusters(&plan)?;
        // Errors that only the text of a plan has come up before any row is read.
        plan.to_text().map_err(Diagnostic::from)?;
        let mapping = args.tables.mapping(None)?;
        let options = args
            .tables
            .options(&mapping, args.read.limits().max_memory)
            .metadata(plan.metadata_keys())
            .details(plan.score_parts() == ScoreParts::All)
            .number_rows(false);
        Ok(DistributedScore { args, plan, options, overrides, registry: registry.clone() })
    }

    /// What is computed.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the columns of a table are. Names alone decide, because every machine must decide the same.
    ///
    /// # Errors
    /// Columns that are missing or there twice.
    pub fn columns(&self, name: &str, columns: &[String]) -> Result<RowColumns, Diagnostic> {
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        RowColumns::new(&names, &self.options).map_err(|error| self.problem(name, error))
    }

    /// The same of a table in memory.
    ///
    /// # Errors
    /// As [`DistributedScore::columns`].
    #[cfg(feature = "arrow")]
    pub fn columns_of(&self, table: &ArrowTable) -> Result<RowColumns, TableError> {
        let names = table.column_names(&self.options);
        RowColumns::new(&names.iter().map(String::as_str).collect::<Vec<_>>(), &self.options)
    }

    /// The rows that a machine has, by group, as [`read_row_groups`] gives them.
    ///
    /// # Errors
    /// Rows that cannot be read, and more memory than the options allow.
    #[cfg(feature = "arrow")]
    pub fn rows(
        &self,
        table: &ArrowTable,
        labels: &RowLabels,
    ) -> Result<impl Iterator<Item = Result<RowGroup, RowGroupError>> + use<>, RowGroupError> {
        read_row_groups(table, &self.options, labels)
    }

    /// What is wrong with the rows of a table or a group of this name.
    pub fn problem(&self, name: &str, error: TableError) -> Diagnostic {
        let is_too_large = matches!(error.kind(), TableErrorKind::TooMuchMemory { .. });
        let diagnostic = Diagnostic::from(error.in_table(Path::new(name)));
        match is_too_large {
            true => diagnostic
                .hint("distribute the rows over more partitions, or allow more memory with --max-memory"),
            false => diagnostic,
        }
    }

    /// The results of a table, all of whose rows are there. `metadata_keys` are its columns that are metadata.
    ///
    /// # Errors
    /// As on one machine: cells that are no scores, epochs that cannot be completed, scores that do not fit the metrics.
    pub fn finish(
        &self,
        name: &str,
        columns: ScoreColumns,
        metadata_keys: Vec<String>,
    ) -> (Option<Report>, Vec<Diagnostic>) {
        let (report, diagnostics) = match self.report(name, columns, metadata_keys) {
            Ok((report, warnings)) => (Some(report), warnings),
            Err(diagnostic) => (None, diagnostic.into()),
        };
        let diagnostics = with_findings(report.as_slice(), diagnostics, &self.overrides, &self.args);
        (report, diagnostics.into_iter().collect())
    }

    fn report(
        &self,
        name: &str,
        columns: ScoreColumns,
        metadata_keys: Vec<String>,
    ) -> Result<(Report, Diagnostics), Diagnostic> {
        let context = Context { program: NAME, registry: &self.registry, quiet: true };
        let path = Path::new(name);
        let mut tables = [ScoreTable::of_rows(columns, metadata_keys, &self.options, path)?];
        read_cells(&mut tables, path, &self.plan, self.args.tables.unconvertible)?;
        let [table] = tables;
        let mut warnings = Diagnostics::default();
        let report = score_rows(name, path, table, self.plan.clone(), &self.args, &context, &mut warnings)?;
        Ok((report, warnings))
    }
}
