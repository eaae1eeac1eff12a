//! Mistakes in task files, shown as compilers show them: what, where, the line itself with marks under the place,
//! and what would be right.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use errorbar_eval::{Mistake, TaskFileError};
use errorbar_report::clean;

use crate::message;
use crate::output::{self, Stream};

/// How many mistakes are shown; a file that is no task file at all has hundreds.
const SHOWN: usize = 20;

/// Shows the mistakes on stderr, in order, and counts them.
pub(crate) fn show(error: &TaskFileError) {
    let width = width();
    for mistake in error.mistakes.iter().take(SHOWN) {
        let render = |color: bool| {
            let renderer = if color { Renderer::styled() } else { Renderer::plain() };
            rendered(error, mistake, &renderer.term_width(width)) + "\n\n"
        };
        // If standard error cannot be written to, there is nowhere to report that.
        let _ = output::show(Stream::Stderr, render);
    }
    if let [_, _, ..] = error.mistakes.as_slice() {
        let more = error.mistakes.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(", {more} more than shown") } else { String::new() };
        message::error(format_args!("{} mistakes in {}{more}", error.mistakes.len(), path(error)));
    }
}

/// The mistake with its place. Texts are cleaned already here, because marks stand under what is shown.
fn rendered(error: &TaskFileError, mistake: &Mistake, renderer: &Renderer) -> String {
    let title = Level::ERROR.primary_title(clean(&mistake.message));
    let path = path(error);
    let mut group = if mistake.is_about_the_file() {
        Group::with_title(title).element(Origin::path(path))
    } else {
        let (line, place) = line(&error.text, &mistake.span);
        let marks = AnnotationKind::Primary.span(place);
        let snippet = Snippet::source(line).path(path).line_start(mistake.line).annotation(marks);
        Group::with_title(title).element(snippet)
    };
    if let Some(hint) = &mistake.hint {
        group = group.element(Level::HELP.message(clean(hint)));
    }
    renderer.render(&[group])
}

fn path(error: &TaskFileError) -> String {
    clean(&error.path.display().to_string())
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
    message::columns().map_or(120, |columns| columns.clamp(60, 160))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use errorbar_eval::{built_in_registry, parse_task_file};

    use super::*;

    /// The mistakes of a file as they are shown, without colours.
    fn shown(text: &str) -> Vec<String> {
        let error = parse_task_file(text, Path::new("nowhere/quiz.toml"), &built_in_registry()).unwrap_err();
        let show = |mistake: &Mistake| rendered(&error, mistake, &Renderer::plain().term_width(80));
        error.mistakes.iter().map(show).collect()
    }

    #[test]
    fn the_place_is_marked() {
        let text = "name = 'a'\nscorer = 'chioce()'\nsolver = \"\"\"\ngenerate(\n\n\"\"\"\nsolvr = 5\n";
        let expected = r#"
error: the task has no `dataset`
--> nowhere/quiz.toml
 = help: say where the samples are: dataset = { path = "questions.csv" }

error: unknown scorer `chioce`
 --> nowhere/quiz.toml:2:11
  |
2 | scorer = 'chioce()'
  |           ^^^^^^
  |
  = help: did you mean `choice`?

error: expected a value, found the end of the text
 --> nowhere/quiz.toml:6:1
  |
6 | """
  | ^

error: unknown key `solvr`
 --> nowhere/quiz.toml:7:1
  |
7 | solvr = 5
  | ^^^^^
  |
  = help: did you mean `solver`?"#;
        assert_eq!(shown(text).join("\n\n"), expected.trim_start());
    }

    #[test]
    fn marks_stand_under_what_is_meant() {
        let marked = |text: &str| {
            let shown = shown(text).pop().unwrap();
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
        let error = parse_task_file(text, Path::new("a\u{1b}b/quiz.toml"), &built_in_registry()).unwrap_err();
        for mistake in &error.mistakes {
            let shown = rendered(&error, mistake, &Renderer::plain());
            let raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!shown.contains(raw), "{shown:?}");
        }
        assert!(error.mistakes.len() >= 3);
    }

    #[test]
    fn every_place_can_be_shown() {
        let text = "\u{feff}é = 1\r\n\t數學 = 'x'\n\nlast";
        let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        for &start in &boundaries {
            for &end in boundaries.iter().filter(|end| **end >= start) {
                let line_number = text[..start].matches('\n').count() + 1;
                let mistake = Mistake {
                    span: start..end,
                    line: line_number,
                    column: 1,
                    message: "wrong".to_owned(),
                    hint: None,
                };
                let error = TaskFileError {
                    path: "quiz.toml".into(),
                    text: text.to_owned(),
                    mistakes: vec![mistake.clone()],
                };
                let shown = rendered(&error, &mistake, &Renderer::styled());
                assert!(shown.contains("quiz.toml"));
                if start > 0 {
                    assert!(shown.contains(&format!("quiz.toml:{line_number}:")), "{shown}");
                }
            }
        }
    }
}
