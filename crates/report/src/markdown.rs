//! Results as Markdown, to be pasted into an issue or a page.

use std::io;

use crate::comparison::{self, ComparisonView};
use crate::matrix::tables;
use crate::title::facts;
use crate::{Listing, Render, Report, Sort};

/// A heading for each report, with task and model, and a table for each block; the rows are those of the terminal,
/// without bars.
#[derive(Debug, Clone, Copy, Default)]
pub struct Markdown {
    sort: Sort,
    brief: bool,
}

impl Markdown {
    /// The order of groups and shares below their heading.
    #[must_use]
    pub fn sort(mut self, sort: Sort) -> Self {
        self.sort = sort;
        self
    }

    /// Whether comparisons are to fit the comment of a pull request: a sentence, one table, the rest folded.
    #[must_use]
    pub fn brief(mut self, brief: bool) -> Self {
        self.brief = brief;
        self
    }
}

impl Render for Markdown {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        for (at, report) in reports.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            let heading: Vec<&str> =
                [&report.task, &report.model].into_iter().flatten().map(String::as_str).collect();
            let mut details = facts(report);
            if heading.is_empty() {
                writeln!(out, "### {}", escape(&report.log))?;
            } else {
                writeln!(out, "### {}", escape(&heading.join(" · ")))?;
                details.insert(0, report.log.clone());
            }
            writeln!(out, "\n{}", escape(&details.join(" · ")))?;
            let (common, tables) = tables(report, self.sort);
            for table in tables {
                let details: Vec<String> = table.details.iter().map(|detail| escape(detail)).collect();
                let title = std::iter::once(format!("**{}**", escape(&table.name))).chain(details);
                writeln!(out, "\n{}\n", title.collect::<Vec<_>>().join(" · "))?;
                write!(out, "{}", pipe_table(&table.titles(&common), &table.cells("– ")))?;
            }
            if let Some(legend) = common.legend() {
                writeln!(out, "\n{}", escape(&legend))?;
            }
        }
        Ok(())
    }

    fn listing(&self, listing: &Listing, out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "{}", pipe_table(listing.titles(), &listing.texts()))
    }

    fn comparison(&self, view: &ComparisonView<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "{}", comparison::markdown::text(view, self.brief))
    }
}

/// A table of texts, escaped.
pub(crate) fn pipe_table(titles: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rows = rows.iter().map(|row| line(row));
    let head = [line(titles), format!("|{}\n", "---|".repeat(titles.len()))];
    head.into_iter().chain(rows).collect()
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
            '\\' | '|' | '`' | '*' | '[' | ']' | '<' | '>' | '~' => escaped.extend(['\\', c]),
            '&' if chars.peek().is_some_and(|next| *next == '#' || next.is_ascii_alphanumeric()) => {
                escaped.push_str("\\&");
            }
            _ => escaped.push(c),
        }
    }
    escaped
}
