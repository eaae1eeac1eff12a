//! `--explain`: how tables are read, and nothing computed.

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_analysis::{Analysis, TableRequest, text};
use errorbar_core::Registry;
use errorbar_report::{Listing, ListingCell, Render, Sort, clean, wrap};
use errorbar_table::{
    CellMeaning, ColumnReason, DecimalMark, ExplainedScores, TableExplanation, explain_table, outline_table,
};
use serde_json::{Value as Json, json};

use super::{CommandOutcome, CommandResult};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::{Format, counted, short, width};
use crate::output::Output;

/// The number of distinct cells of a scorer that are shown, and from which on numbers are shown as a range.
const VALUES_SHOWN: usize = 12;
/// The number of characters of a cell that are shown.
const CELL_WIDTH: usize = 18;

/// Whether a command only shows how it would read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading tables")]
pub(super) struct ExplainArgs {
    /// Show which column of the table is read as what, and what its cells mean, and compute nothing
    #[arg(long)]
    pub(super) explain: bool,
}

impl ExplainArgs {
    /// Shows how tables are read: with this request, parts and memory.
    pub(super) fn run(
        &self,
        files: &[PathBuf],
        (tables, by, max_memory): (&TableRequest, Option<&str>, Option<u64>),
        format: Format,
        mut diagnostics: Diagnostics,
    ) -> CommandResult {
        let registry = Registry::built_in();
        let analysis = Analysis::new(&registry);
        let options = &tables.options(&tables.mapping(by)?, max_memory, &analysis.tables);
        let mut found: Vec<(PathBuf, TableExplanation)> = Vec::new();
        for path in files {
            if analysis.is_log(path) {
                let problem = text!("{Explain} is about tables, and this is an eval log");
                diagnostics.push(
                    Diagnostic::error(problem)
                        .about(path.display())
                        .hint("`errorbar log show` shows what a log has"),
                );
                continue;
            }
            match explain_table(path, options) {
                Ok(explanation) => {
                    diagnostics.extend(analysis.save_mapping(tables, &explanation.mapping)?);
                    found.push((path.clone(), explanation));
                }
                Err(error) => {
                    diagnostics.push(Diagnostic::from(error));
                    // What there is to choose from is what the user needs now.
                    let outline =
                        outline_table(path, options).ok().filter(|outline| !outline.columns.is_empty());
                    found.extend(outline.map(|outline| (path.clone(), outline)));
                }
            }
        }
        let output = match format {
            _ if found.is_empty() => Output::Nothing,
            Format::Json => {
                let data: Vec<Json> =
                    found.iter().map(|(path, explanation)| record(path, explanation)).collect();
                let text = serde_json::to_string_pretty(&data).unwrap_or_default();
                Output::Data(format!("{text}\n").into_bytes())
            }
            format if format.is_csv() => format.listing(columns(&found)),
            format => format.render(Sort::None, move |render| {
                let texts: Vec<String> =
                    found.iter().map(|(path, found)| self::text(path, found, format, render)).collect();
                texts.join("\n")
            }),
        };
        Ok(CommandOutcome { output, diagnostics, ..CommandOutcome::default() })
    }
}

fn text(path: &Path, found: &TableExplanation, format: Format, render: &dyn Render) -> String {
    let table = render.listing_text(&listing(found));
    let mut lines = Vec::new();
    if found.has_synthetic_ids {
        lines.push("No column identifies the samples: every row is one, and rows are not paired.".to_owned());
    }
    if found.epochs_from_zero {
        lines.push("Epochs are counted from 0.".to_owned());
    }
    for (scorer, scores) in &found.scores {
        lines.push(format!("{scorer}: {}", meanings(scores)));
    }
    let parts = found.parts.iter().map(String::as_str).collect::<Vec<_>>();
    if !parts.is_empty() {
        lines.push(format!("parts: {}", parts.join(", ")));
    }
    let unread = &found.input.unread;
    if !unread.is_empty() {
        lines.push(format!("not read, because they are no numbers per sample: {}", unread.join(", ")));
    }
    let wrapped = |line: &String| match format {
        Format::Table if !line.contains("  ") => wrap(&clean(line), width()).join("\n  "),
        format => format.line(line),
    };
    let heading = wrapped(&heading(path, found));
    let lines: Vec<String> = lines.iter().map(wrapped).collect();
    let all = [heading.as_str(), ""].into_iter().chain(table.lines()).chain([""]);
    all.chain(lines.iter().map(String::as_str)).map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The file, and what it was found to be.
fn heading(path: &Path, found: &TableExplanation) -> String {
    let input = &found.input;
    let mut parts = vec![clean(&path.display().to_string())];
    parts.push(input.tool.map_or_else(|| input.format.to_owned(), |tool| format!("results of {tool}")));
    match input.delimiter {
        Some('\t') => parts.push("delimiter tab".to_owned()),
        Some(delimiter) => parts.push(format!("delimiter {delimiter}")),
        None => {}
    }
    if found.mapping.decimal == Some(DecimalMark::Comma) {
        parts.push("decimal comma".to_owned());
    }
    parts.extend(input.encoding.map(str::to_owned));
    parts.extend(input.compression.map(str::to_owned));
    if input.skipped_lines > 0 {
        parts.push(format!("{} before the header", counted(input.skipped_lines as u64, "line")));
    }
    parts.push(match found.rows {
        0 => "not read".to_owned(),
        rows => counted(rows as u64, "row"),
    });
    parts.join(" · ")
}

fn listing(found: &TableExplanation) -> Listing {
    let mut listing = Listing::new(["column", "read as", "because", "first cells"]);
    for column in &found.columns {
        let cells: Vec<String> = column.cells.iter().map(|cell| cut(cell)).collect();
        listing.push([
            ListingCell::from(column.name.as_str()),
            column.role.into(),
            reason(column.reason, column.role).1.into(),
            cells.join(" │ ").into(),
        ]);
    }
    listing
}

/// A row per column, for programs.
fn columns(found: &[(PathBuf, TableExplanation)]) -> Listing {
    let mut listing = Listing::new(["file", "column", "role", "reason"]);
    for (path, found) in found {
        for column in &found.columns {
            listing.push([
                ListingCell::from(path.display().to_string()),
                column.name.as_str().into(),
                column.role.into(),
                reason(column.reason, column.role).0.into(),
            ]);
        }
    }
    listing
}

/// Why a column has its role: for programs, and in words.
fn reason(reason: ColumnReason, role: &str) -> (&'static str, &'static str) {
    match reason {
        ColumnReason::Option => ("option", "you named it"),
        ColumnReason::Name => ("name", "its name"),
        ColumnReason::Spelling if role == "score" => ("spelling", "a common name, and its cells are scores"),
        ColumnReason::Spelling => ("spelling", "a common name"),
        _ => ("rest", ""),
    }
}

fn cut(cell: &str) -> String {
    let cell = cell.replace(char::is_control, " ");
    match cell.chars().count() > CELL_WIDTH {
        true => cell.chars().take(CELL_WIDTH - 1).collect::<String>() + "…",
        false => cell,
    }
}

/// What cells mean: `PASS → 1 (120)`.
fn meanings(scores: &ExplainedScores) -> String {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let numbers: usize = scores.values.iter().filter(|(text, ..)| is_number(text)).map(|(_, _, n)| n).sum();
    let are_many = scores.values.len() > VALUES_SHOWN || scores.others > 0;
    let mut parts: Vec<String> = Vec::new();
    if let Some((low, high)) = scores.range.filter(|_| are_many) {
        let all = numbers + scores.others;
        parts.push(format!("{} from {} to {}", counted(all as u64, "number"), short(low, 6), short(high, 6)));
    }
    let shown = scores.values.iter().filter(|(text, ..)| !are_many || !is_number(text));
    let left = shown.clone().count().saturating_sub(VALUES_SHOWN);
    parts.extend(shown.take(VALUES_SHOWN).map(|(text, meaning, count)| {
        let text = cut(text);
        match meaning {
            CellMeaning::Score(score) | CellMeaning::Word(score) => match short(*score, 6) {
                score if score == text => format!("{text} ({count})"),
                score => format!("{text} → {score} ({count})"),
            },
            CellMeaning::Missing => format!("{text} missing ({count})"),
            _ => format!("{text} is no score ({count})"),
        }
    }));
    if left > 0 {
        parts.push(format!("{left} more"));
    }
    if scores.empty > 0 {
        parts.push(format!("empty, missing ({})", scores.empty));
    }
    if scores.unscored > 0 {
        parts.push(format!("NaN or null, unscored ({})", scores.unscored));
    }
    parts.join(", ")
}

fn record(path: &Path, found: &TableExplanation) -> Json {
    let columns: Vec<Json> = found
        .columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name, "role": column.role, "reason": reason(column.reason, column.role).0, "cells": column.cells,
            })
        })
        .collect();
    let value = |(text, meaning, count): &(String, CellMeaning, usize)| {
        let (score, meaning) = match meaning {
            CellMeaning::Score(score) | CellMeaning::Word(score) => (Some(*score), "score"),
            CellMeaning::Missing => (None, "missing"),
            _ => (None, "no score"),
        };
        json!({ "cell": text, "meaning": meaning, "score": score, "count": count })
    };
    let scores: serde_json::Map<String, Json> = found
        .scores
        .iter()
        .map(|(scorer, scores)| {
            let values: Vec<Json> = scores.values.iter().map(value).collect();
            let record = json!({
                "values": values, "others": scores.others, "empty": scores.empty, "unscored": scores.unscored,
            });
            (scorer.clone(), record)
        })
        .collect();
    json!({
        "file": path.display().to_string(),
        "format": found.input.tool.unwrap_or(found.input.format),
        "compression": found.input.compression,
        "encoding": found.input.encoding.unwrap_or("UTF-8"),
        "rows": found.rows,
        "epochs_from_zero": found.epochs_from_zero,
        "synthetic_ids": found.has_synthetic_ids,
        "parts": found.parts,
        "columns": columns,
        "scores": scores,
        "mapping": serde_json::to_value(&found.mapping).unwrap_or_default(),
    })
}
