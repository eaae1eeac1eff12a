//! Diagnostics on standard error.
//!
//! Commands return diagnostics, or add them to those of their outcome, and never print them. [`Print::print`] is called
//! once, when the results are out; what cannot wait for that, because a run takes hours, goes the same way.

use std::collections::HashSet;

use anstyle::{AnsiColor, Style};
pub(crate) use errorbar_analysis::{Diagnostic, Diagnostics, Outcome, all};
use errorbar_analysis::{Severity, Surface};

use crate::output::{self, Stream};
use crate::snippet;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// What is shown on standard error.
pub(crate) trait Print {
    /// Shows it now. Notes and warnings are skipped if `quiet`.
    fn print(self, quiet: bool);
}

impl Print for &Diagnostic {
    fn print(self, quiet: bool) {
        if !quiet || self.severity() > Severity::Warning {
            // If standard error cannot be written to, there is nowhere to report that.
            let _ = output::show(Stream::Stderr, |color| render(self, color));
        }
    }
}

/// Each once.
impl Print for Diagnostics {
    fn print(self, quiet: bool) {
        let mut all: Vec<&Diagnostic> = self.iter().collect();
        all.sort_by_key(|diagnostic| diagnostic.severity());
        let mut printed = HashSet::new();
        for diagnostic in all {
            if printed.insert((diagnostic.severity(), diagnostic.text(), diagnostic.snippet())) {
                diagnostic.print(quiet);
            }
        }
    }
}

fn render(diagnostic: &Diagnostic, color: bool) -> String {
    let labeled = |label: &str, style: Style, text: &str| {
        let style = if color { style } else { Style::new() };
        format!("{style}{label}{style:#}: {}\n", output::paragraph(text))
    };
    let (text, hint) = diagnostic.on(Surface::CommandLine);
    let text = match diagnostic.severity() {
        Severity::Note => format!("{}\n", output::paragraph(&text)),
        Severity::Warning => labeled("warning", WARNING, &text),
        Severity::Failure | Severity::Error => labeled("error", ERROR, &text),
    };
    let snippet = diagnostic.snippet().map(|snippet| snippet::render(snippet, color)).unwrap_or_default();
    let hint = hint.map(|hint| labeled("hint", HINT, &hint)).unwrap_or_default();
    // Lines that belong together stand apart from others.
    text + &snippet + &hint + if diagnostic.snippet().is_some() { "\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use errorbar_analysis::{Opt, Snippet};

    use super::*;

    #[test]
    fn a_diagnostic_is_its_text_the_place_and_the_hint() {
        let diagnostic = Diagnostic::error("unknown metric `acc`\nof two lines").hint("try `mean`");
        let diagnostic = diagnostic.marked(Snippet::of_option(Opt::Metric, "acc", 0..3));
        assert_eq!(
            render(&diagnostic, false),
            "error: unknown metric `acc`\n  of two lines\n |\n | --metric acc\n |          ^^^\nhint: try `mean`\n\n"
        );
        assert!(render(&diagnostic, true).starts_with("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: unknown"));
        assert_eq!(render(&Diagnostic::note("done").about("a.eval"), true), "a.eval: done\n");
    }
}
