//! Diagnostics on standard error.
//!
//! Commands return diagnostics, or add them to those of their outcome, and never print them. [`Print::print`] is called
//! once, when the results are out; what cannot wait for that, because a run takes hours, goes the same way.

use std::collections::HashSet;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet as SourceSnippet};
use anstyle::{AnsiColor, Style};
pub(crate) use errorbar_analysis::{Diagnostic, Diagnostics, Outcome, all};
use errorbar_analysis::{Severity, Snippet, SnippetOrigin, Surface};
use errorbar_report::clean;

use crate::output;
use crate::output::Stream;

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
        if !quiet || self.severity > Severity::Warning {
            // If standard error cannot be written to, there is nowhere to report that.
            let _ = output::show(Stream::Stderr, |color| render(self, color));
        }
    }
}

/// Each once.
impl Print for Diagnostics {
    fn print(self, quiet: bool) {
        let mut all: Vec<&Diagnostic> = self.iter().collect();
        all.sort_by_key(|diagnostic| diagnostic.severity);
        let mut printed = HashSet::new();
        for diagnostic in all {
            if printed.insert((diagnostic.severity, &diagnostic.text, &diagnostic.snippet)) {
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
    let text = match diagnostic.severity {
        Severity::Note => format!("{}\n", output::paragraph(&text)),
        Severity::Warning => labeled("warning", WARNING, &text),
        Severity::Failure | Severity::Error => labeled("error", ERROR, &text),
    };
    let snippet =
        diagnostic.snippet.as_ref().map(|snippet| render_snippet(snippet, color)).unwrap_or_default();
    let hint = hint.map(|hint| labeled("hint", HINT, &hint)).unwrap_or_default();
    // Lines that belong together stand apart from others.
    text + &snippet + &hint + if diagnostic.snippet.is_some() { "\n" } else { "" }
}

/// The line of a snippet with its mark.
fn render_snippet(snippet: &Snippet, color: bool) -> String {
    let (origin, (line, span)) = match &snippet.origin {
        SnippetOrigin::Option(option) => {
            let (flag, Snippet { text, span, .. }) = (option.flag(), snippet);
            let shift = flag.len() + 1;
            (None, line(&format!("{flag} {text}"), &(span.start + shift..span.end + shift)))
        }
        SnippetOrigin::File(path, number) => {
            (Some((clean(path), *number)), line(&snippet.text, &snippet.span))
        }
    };
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let source = SourceSnippet::source(&line).annotation(AnnotationKind::Primary.span(span));
    let source = match origin {
        Some((path, number)) => source.path(path).line_start(number),
        None => source.line_numbering(false),
    };
    let group = Group::with_level(Level::ERROR).element(source);
    renderer.term_width(width()).render(&[group]) + "\n"
}

/// The line that a place starts in, fit for a terminal, and the place in it. Of a place of several lines the first
/// is shown: the rest explains nothing.
fn line(text: &str, place: &Range<usize>) -> (String, Range<usize>) {
    let before = text.get(..place.start).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);

    let from = place.start.saturating_sub(start).min(line.len());
    let to = place.end.saturating_sub(start).clamp(from, line.len());
    let part = |range: Range<usize>| line.get(range).unwrap_or_default();
    let before = visible(part(0..from).trim_start_matches('\u{feff}'));
    let marked = visible(part(from..to));
    let behind = visible(part(to..line.len()));
    let place = before.len()..before.len() + marked.len();
    (format!("{before}{marked}{behind}"), place)
}

/// The text without anything that would move the cursor or hide text; tabs are for the renderer.
fn visible(text: &str) -> String {
    text.split('\t').map(clean).collect::<Vec<_>>().join("\t")
}

/// How wide lines may be: as the terminal, within reason; 120 for a file or a pipe.
fn width() -> usize {
    Stream::Stderr.columns().map_or(120, |columns| columns.clamp(60, 160))
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

#[cfg(test)]
mod snippet_tests {
    use std::path::Path;

    use errorbar_eval::{built_in_registry, parse_task_file};

    use super::*;
    use errorbar_analysis::{Diagnostics, Opt};

    /// The snippets of the mistakes in a task file, without colours.
    fn shown(text: &str, path: &str) -> Vec<String> {
        let error = parse_task_file(text, Path::new(path), &built_in_registry()).unwrap_err();
        let mistakes: Diagnostics = error.into();
        mistakes
            .iter()
            .filter_map(|mistake| mistake.snippet.as_deref())
            .map(|snippet| render_snippet(snippet, false))
            .collect()
    }

    #[test]
    fn the_place_is_marked() {
        let text = "name = 'a'\nscorer = 'chioce()'\nsolver = \"\"\"\ngenerate(\n\n\"\"\"\nsolvr = 5\n";
        let expected = r#"
 --> nowhere/quiz.toml:2:11
  |
2 | scorer = 'chioce()'
  |           ^^^^^^

 --> nowhere/quiz.toml:6:1
  |
6 | """
  | ^

 --> nowhere/quiz.toml:7:1
  |
7 | solvr = 5
  | ^^^^^
"#;
        assert_eq!(shown(text, "nowhere/quiz.toml").join("\n"), expected.trim_start_matches('\n'));
    }

    #[test]
    fn marks_stand_under_what_is_meant() {
        let marked = |text: &str| {
            let shown = shown(text, "quiz.toml").pop().unwrap();
            let lines: Vec<&str> =
                shown.lines().filter_map(|line| line.split_once("| ")).map(|(_, line)| line).collect();
            let [source, marks] = lines.as_slice() else { panic!("{shown}") };
            let start = marks.find('^').unwrap();
            let cells =
                |from: usize, to: usize| source.chars().skip(from).take(to - from).collect::<String>();
            cells(start, marks.trim_end().len())
        };
        let fine = "dataset = 'x'\nscorer = 'includes'\n";
        assert_eq!(marked(&format!("{fine}metrics = 'größe()'")), "größe");
        assert_eq!(marked(&format!("{fine}\tepochs =\t0\r\n")), "0");
        assert_eq!(marked(&format!("{fine}\"\\u001b\u{202e}é\" = 0")), "\"\\u001b\u{fffd}é\"");
        assert_eq!(marked("\u{feff}metrics = 0\n# é"), "0");
    }

    #[test]
    fn nothing_of_the_file_reaches_the_terminal_raw() {
        let text =
            "\"a\u{202e}b\" = 'x\u{1b}[31m\u{7}'\r\nscorer = \"x\\u001b\\u202e\"\n\u{1b}]0;title\u{7}\n";
        let shown = shown(text, "a\u{1b}b/quiz.toml");
        for snippet in &shown {
            let raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!snippet.contains(raw), "{snippet:?}");
        }
        assert!(shown.len() >= 3);
    }

    #[test]
    fn every_place_can_be_shown() {
        let text = "\u{feff}é = 1\r\n\t數學 = 'x'\n\nlast";
        let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        for &start in &boundaries {
            for &end in boundaries.iter().filter(|end| **end >= start) {
                let line = text[..start].matches('\n').count() + 1;
                let shown = render_snippet(&Snippet::of_file("quiz.toml", text, &(start..end), line), true);
                assert!(shown.contains(&format!("quiz.toml:{line}:")), "{shown}");
                render_snippet(&Snippet::of_option(Opt::Metric, text, start..end), false);
            }
        }
    }
}
