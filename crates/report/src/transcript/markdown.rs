//! A sample as Markdown, to be pasted into an issue or a page.

use std::fmt::Write as _;

use errorbar_log::eval::Transcript;

use super::TranscriptView;
use super::section::{facts, sections};
use crate::markdown::{Markdown, escape};
use crate::text::clean_lines;

impl Markdown {
    /// A sample: a heading, and its sections. Texts are whole, in blocks that show them as they are.
    pub fn transcript(&self, transcript: &Transcript, view: &TranscriptView) -> String {
        let heading = std::iter::once(transcript.id.to_string()).chain(facts(transcript, view));
        let mut text = format!("### {}\n", escape(&heading.collect::<Vec<_>>().join(" · ")));
        for section in sections(transcript, view) {
            let paragraphs: Vec<&str> = section.paragraphs.iter().map(|one| one.text.as_str()).collect();
            let joined = paragraphs.join("\n");
            let joined = joined.trim_end();
            if joined.contains('\n') || joined.len() > 100 {
                let (fence, joined) = (fence(joined), clean_lines(joined));
                let _ = write!(text, "\n**{}**\n\n{fence}text\n{joined}\n{fence}\n", escape(&section.label));
            } else {
                let _ = write!(text, "\n**{}** {}\n", escape(&section.label), escape(joined));
            }
        }
        text
    }
}

/// A fence that the text does not hold.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
