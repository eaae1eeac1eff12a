//! The samples that changed, on a terminal.

use anstyle::Style;

use super::Flip;
use super::flip;
use crate::layout::{GAP, INDENT, NOTES_BELOW};
use crate::paint::{BOLD, DIM};
use crate::table::TerminalTable;
use crate::text::{clean, pad, truncate_middle, width, wrap};

impl TerminalTable {
    /// The samples that changed: both scores, the start of the input, and both answers below.
    pub(super) fn flips(&self, flips: &[Flip], changed: usize) -> String {
        let title = flip::title(flips.len(), changed);
        let pairs = flip::by_pair(flips);
        let between = self.sign(" · ", ", ");
        if let [(heading, flips)] = pairs.as_slice() {
            let details = [self.in_our_signs(&clean(heading))];
            return self.titled((&title, BOLD), between, &details) + &self.flips_of_pair(flips);
        }
        let mut text = self.titled((&title, BOLD), between, &[]);
        for (heading, flips) in pairs {
            let lines = wrap(&self.in_our_signs(&clean(&heading)), self.width);
            text += &lines.into_iter().map(|line| self.line(&[(line, DIM)])).collect::<String>();
            text += &self.flips_of_pair(&flips);
        }
        text
    }

    fn flips_of_pair(&self, flips: &[&Flip]) -> String {
        let cut = |text: &str, to: usize| truncate_middle(text, to, self.sign("…", ".."));
        let id = |flip: &Flip| cut(&clean(&flip.id.to_string()), self.width / 3);
        let scores = |flip: &Flip| cut(&self.in_our_signs(&clean(&flip.scores())), self.width / 3);
        let ids = flips.iter().map(|flip| width(&id(flip))).max().unwrap_or(0);
        let widest = flips.iter().map(|flip| width(&scores(flip))).max().unwrap_or(0);
        let blanks = |cells: usize| (" ".repeat(cells), Style::new());
        let mut text = String::new();
        for flip in flips {
            let input = flip.input.as_deref().map(|input| clean(&flip::one_line(input))).unwrap_or_default();
            let input = self.truncate(&input, self.width.saturating_sub(INDENT + ids + widest + 2 * GAP));
            let (id, scores) = ((pad(&id(flip), ids), Style::new()), (pad(&scores(flip), widest), BOLD));
            text += &self.line(&[blanks(INDENT), id, blanks(GAP), scores, blanks(GAP), (input, DIM)]);
            let [base, other] = [&flip.base, &flip.other].map(|side| cut(&clean(side), self.width / 4));
            // Names that were cut to the same text say nothing.
            let (base, other) =
                if base == other { ("base".to_owned(), "other".to_owned()) } else { (base, other) };
            for (side, answer) in [(base, &flip.base_answer), (other, &flip.other_answer)] {
                let Some(answer) = answer else { continue };
                let line = format!("{side}: {}", clean(&flip::one_line(answer)));
                let line = self.truncate(&line, self.width.saturating_sub(NOTES_BELOW));
                text += &self.line(&[blanks(NOTES_BELOW), (line, Style::new())]);
            }
        }
        text
    }
}
