//! `errorbar log schema`: the JSON schemas of logs, and of what `score`, `eval`, `compare`, `verify` and
//! `power` print.

use clap::{Args, ValueEnum};
use errorbar_log::eval::LOG_SCHEMA;
use errorbar_report::{COMPARISON_SCHEMA, RESULTS_SCHEMA};

use super::super::CommandOutcome;
use crate::output::Output;

const POWER_SCHEMA: &str = include_str!("../../../schema/power.schema.json");
const VERIFY_SCHEMA: &str = include_str!("../../../schema/verify.schema.json");

const EXAMPLES: &str = "\
Examples:
  errorbar log schema > log.schema.json
  errorbar log schema --of sample
  errorbar log schema --of results

It is JSON Schema, draft 2020-12. Logs of other programs and versions are valid too: fields that are
not described are allowed, and most of those that are described may be absent.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SchemaArgs {
    /// What to describe: a log as one JSON object, one sample (as `log dump --sample` prints it), or
    /// what `score` and `eval` (results), `compare`, `verify` and `power` print with --format json
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    of: SchemaSubject,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum SchemaSubject {
    #[default]
    Log,
    Sample,
    Results,
    Compare,
    Verify,
    Power,
}

pub(crate) fn run(args: &SchemaArgs) -> CommandOutcome {
    let schema = match args.of {
        SchemaSubject::Log => LOG_SCHEMA.to_owned(),
        SchemaSubject::Sample => sample_schema(),
        SchemaSubject::Results => RESULTS_SCHEMA.to_owned(),
        SchemaSubject::Compare => COMPARISON_SCHEMA.to_owned(),
        SchemaSubject::Verify => VERIFY_SCHEMA.to_owned(),
        SchemaSubject::Power => POWER_SCHEMA.to_owned(),
    };
    Output::from(schema).into()
}

/// The part of the schema of logs that is about samples.
fn sample_schema() -> String {
    // It is ours and valid, as tests see; nothing is better than half of it.
    let Ok(mut schema) = serde_json::from_str::<serde_json::Value>(LOG_SCHEMA) else { return String::new() };
    let definitions = schema.get_mut("$defs").map(serde_json::Value::take).unwrap_or_default();
    let sample = serde_json::json!({
        "$schema": schema.get("$schema"),
        "title": "sample of an eval log",
        "$ref": "#/$defs/sample",
        "$defs": definitions,
    });
    format!("{sample:#}\n")
}
