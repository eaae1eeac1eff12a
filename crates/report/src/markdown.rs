//! Results as markdown, to be pasted into an issue or a page.

use std::io;

use crate::rows::{self, Row, Shown};
use crate::{Render, Report, Unfinished};

/// A heading per log, a table per block; the rows are those of the terminal, without bars.
#[derive(Debug, Clone, Copy, Default)]
pub struct Markdown;

impl Render for Markdown {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        for (at, report) in reports.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            writeln!(out, "### {}", escape(&report.log))?;
            if let Some(Unfinished { status, planned }) = &report.unfinished {
                let of = planned.map(|planned| format!(" of {planned}")).unwrap_or_default();
                writeln!(out, "\n{}{of} samples: {}", report.results.total_samples, escape(status))?;
            }
            if report.skipped > 0 {
                writeln!(out, "\n{} samples could not be read and were left out", report.skipped)?;
            }
            if !report.limits.is_empty() {
                let met: Vec<String> = report.limits_met().collect();
                writeln!(out, "\nOf the samples {}", escape(&met.join(", ")))?;
            }
            for block in rows::blocks(&report.results) {
                let (name, details) = rows::title(block);
                writeln!(out, "\n**{}** · {}\n", escape(&name), escape(&details.join(" · ")))?;
                writeln!(out, "| metric | value | notes |\n|---|---|---|")?;
                for row in rows::rows(block) {
                    let [label, value, notes] = cells(&row).map(|cell| escape(&cell));
                    writeln!(out, "| {label} | {value} | {notes} |")?;
                }
            }
        }
        Ok(())
    }
}

fn cells(row: &Row) -> [String; 3] {
    match row {
        Row::Heading { label, notes } => [label.clone(), String::new(), notes.join(" · ")],
        Row::Figure { nested, label, shown, notes, .. } => {
            let value = match shown {
                Shown::Number(number) => number.clone(),
                Shown::WithError(value, error) => format!("{value} ± {error}"),
                Shown::Interval(lower, upper) => format!("{lower} … {upper}"),
                Shown::Undefined(Some(reason)) => format!("undefined ({reason})"),
                Shown::Undefined(None) => "undefined".to_owned(),
            };
            let before = if *nested { "– " } else { "" };
            [format!("{before}{label}"), value, notes.join(" · ")]
        }
        Row::Failure { label, message } => [label.clone(), "failed".to_owned(), message.clone()],
    }
}

/// Text as Markdown shows it: what Markdown would read as something else is escaped, and a line break, which would end
/// the row of a table, is a character reference. Nothing is lost or replaced, so two names stay two.
///
/// ```
/// use errorbar_report::escape_markdown;
///
/// assert_eq!(escape_markdown("a|b\n[c] R&D &amp;"), "a\\|b&#10;\\[c\\] R\\&D \\&amp;");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\\' | '|' | '`' | '*' | '[' | ']' | '<' | '>' => escaped.extend(['\\', c]),
            '&' if chars.peek().is_some_and(|next| *next == '#' || next.is_ascii_alphanumeric()) => {
                escaped.push_str("\\&");
            }
            _ => escaped.push(c),
        }
    }
    escaped
}
