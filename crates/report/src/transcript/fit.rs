//! Texts of any length in lines of a terminal.

use crate::number::counted;
use crate::text::{clean, width, wrap};

/// How many lines of a text are shown: those at its start, and those at its end, where answers are.
const START: usize = 14;
const END: usize = 6;

/// Texts beyond this number of characters are not laid out as a whole to show a few lines of them.
const LONG: usize = 64 << 10;

/// The lines of a text, cleaned.
pub(super) struct FittedText {
    pub(super) lines: Vec<FittedLine>,
    /// Whether something was left out.
    pub(super) is_cut: bool,
}

/// A line of the text, or a remark on what is not there.
pub(super) enum FittedLine {
    Text(String),
    Omitted(String),
}

/// Lays out a text in lines of at most `limit` cells.
pub(super) fn fit(text: &str, limit: usize, is_whole: bool) -> FittedText {
    let text = text.trim_end();
    let as_lines = |lines: Vec<String>| lines.into_iter().map(FittedLine::Text);
    if is_whole || text.len() <= LONG {
        let mut lines = lines_of(text, limit);
        if is_whole || lines.len() <= START + END + 1 {
            return FittedText { lines: as_lines(lines).collect(), is_cut: false };
        }
        let end = lines.split_off(lines.len() - END);
        let omitted = lines.split_off(START);
        let remark = FittedLine::Omitted(format!("… {} …", counted(omitted.len() as u64, "more line")));
        return FittedText {
            lines: as_lines(lines).chain([remark]).chain(as_lines(end)).collect(),
            is_cut: true,
        };
    }
    let start = text.get(..text.floor_char_boundary(LONG / 4)).unwrap_or_default();
    let end = text.get(text.ceil_char_boundary(text.len() - LONG / 4)..).unwrap_or_default();
    let mut start = lines_of(start, limit);
    start.truncate(START);
    let mut end = lines_of(end, limit);
    let end = end.split_off(end.len().saturating_sub(END));
    let remark = FittedLine::Omitted(format!("… of {} …", counted(text.chars().count() as u64, "character")));
    FittedText { lines: as_lines(start).chain([remark]).chain(as_lines(end)).collect(), is_cut: true }
}

/// All lines. Those that are too long are wrapped, below their own indentation.
pub(super) fn lines_of(text: &str, limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = clean(&line.replace('\t', "    "));
        let words = line.trim_start_matches(' ');
        let indent = (line.len() - words.len()).min(limit / 2);
        if width(words) + indent <= limit {
            lines.push(format!("{}{}", " ".repeat(indent), words.trim_end()));
        } else {
            let wrapped = wrap(words.trim_end(), limit - indent);
            lines.extend(wrapped.iter().map(|part| format!("{}{part}", " ".repeat(indent))));
        }
    }
    lines
}
