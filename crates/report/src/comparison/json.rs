//! Comparisons as one JSON object; `docs/schema/compare.schema.json` is its schema.

use std::io;

use errorbar_inference::Gate;
use serde::Serialize;

use super::record::RankingRecord;
use super::{ComparisonRecord, ComparisonView, Flip};

/// The version of the schema.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct ComparisonJson<'a> {
    schema: u32,
    comparisons: Vec<ComparisonRecord>,
    flips: &'a [Flip],
    /// The number of samples that changed, if they were asked for; more than `flips` has if the list was cut.
    changed_samples: Option<usize>,
    sides: &'a [String],
    rankings: Vec<RankingRecord<'a>>,
    gate: Option<GateRecord>,
    warnings: Vec<String>,
}

/// What must hold.
#[derive(Serialize)]
struct GateRecord {
    rule: &'static str,
    /// The margin or the difference of the rule.
    value: Option<f64>,
}

impl From<Gate> for GateRecord {
    fn from(gate: Gate) -> Self {
        let (rule, value) = super::gate::rule(gate);
        GateRecord { rule, value }
    }
}

/// Strict JSON, with a line break behind it.
pub(crate) fn write(view: &ComparisonView<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let report = view.report;
    let json = ComparisonJson {
        schema: SCHEMA,
        comparisons: report.comparisons.iter().map(|c| ComparisonRecord::in_view(c, view)).collect(),
        flips: view.flips.unwrap_or_default(),
        changed_samples: view.changed_count(),
        sides: &report.sides,
        rankings: report.rankings.iter().map(|ranking| RankingRecord::in_view(ranking, view)).collect(),
        gate: report.options.gate.map(GateRecord::from),
        warnings: report.warnings.iter().map(ToString::to_string).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &json)?;
    writeln!(out)
}
