//! A transcript in each format: terminal, Markdown, JSON.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use errorbar_core::{SampleId, Score};
use errorbar_log::eval::{MessagePart, Transcript, TranscriptMessage};
use serde_json::{Value, json};

use super::{Paragraph, Section, Tone, TranscriptView, Verdict, facts, sections};
use crate::data::Json;
use crate::markdown::{Markdown, escape};
use crate::terminal::{BOLD, DIM, FAILED, GAP, TerminalTable, UNKNOWN};
use crate::text::{clean, clean_lines, counted, pad, width, wrap};

const RIGHT: Style = AnsiColor::Green.on_default();
const LABEL: Style = AnsiColor::Cyan.on_default();

/// The widest label that stands beside its text; a wider one stands above it.
const WIDEST_LABEL: usize = 12;

impl TerminalTable {
    /// A title for what follows, with details behind or below it.
    pub fn heading(&self, title: &str, details: &[String]) -> String {
        let details: Vec<String> = details.iter().map(|detail| clean(detail)).collect();
        self.titled((&clean(title), BOLD), self.sign(" · ", ", "), &details)
    }

    /// A sample, and whether something of it was left out because it is long.
    pub fn transcript(&self, transcript: &Transcript, view: &TranscriptView) -> (String, bool) {
        let mut text = self.rule(transcript, view);
        let mut is_cut = false;
        for section in sections(transcript, view) {
            is_cut |= self.section(&section, view.whole, &mut text);
        }
        (text, is_cut)
    }

    /// The id and what is known of the sample, with a line behind them.
    fn rule(&self, transcript: &Transcript, view: &TranscriptView) -> String {
        let (dash, between) = (self.sign("─", "-"), self.sign(" · ", ", "));
        let id = clean(&transcript.id.to_string());
        let id = self.truncate(&id, self.width.saturating_sub(4 * GAP));
        let facts: String = facts(transcript, view).iter().map(|fact| format!("{between}{fact}")).collect();
        let facts = if width(&id) + width(&facts) + 2 * GAP > self.width { String::new() } else { facts };
        let left = self.width.saturating_sub(width(&id) + width(&facts) + dash.chars().count() * 2 + 2);
        let line = format!(" {}", dash.repeat(left));
        self.line(&[(dash.repeat(2) + " ", DIM), (id, BOLD), (facts, DIM), (line, DIM)])
    }

    /// Adds a section; whether something of it was left out.
    fn section(&self, section: &Section, is_whole: bool, text: &mut String) -> bool {
        let label = clean(&section.label);
        let indent = WIDEST_LABEL + GAP;
        let limit = self.width.saturating_sub(indent);
        let mut before = (pad(&label, indent), LABEL);
        if width(&label) > WIDEST_LABEL {
            *text += &self.line(&[(self.truncate(&label, self.width), LABEL)]);
            before = (" ".repeat(indent), Style::new());
        }
        let mut is_cut = false;
        for paragraph in &section.paragraphs {
            let (start, rest) = fit(&paragraph.text, limit, is_whole);
            let mut lines: Vec<(String, Style)> =
                start.into_iter().map(|line| (line, style(paragraph))).collect();
            if let Some((omitted, end)) = rest {
                is_cut = true;
                let dots = self.sign("…", "...");
                lines.push((format!("{dots} {omitted} {dots}"), UNKNOWN));
                lines.extend(end.into_iter().map(|line| (line, style(paragraph))));
            }
            for line in lines {
                *text += &self.line(&[before, line]);
                before = (" ".repeat(indent), Style::new());
            }
        }
        is_cut
    }
}

fn style(paragraph: &Paragraph) -> Style {
    match paragraph.tone {
        Tone::Plain | Tone::Verdict(Verdict::Other) => Style::new(),
        Tone::Remark => DIM,
        Tone::Problem | Tone::Verdict(Verdict::Wrong) => FAILED,
        Tone::Verdict(Verdict::Right) => RIGHT,
        Tone::Verdict(Verdict::Partial | Verdict::Unscored) => UNKNOWN,
    }
}

/// How many lines of a text are shown: those at its start, and those at its end, where answers are.
const START: usize = 14;
const END: usize = 6;

/// Texts beyond this number of characters are not laid out as a whole to show a few lines of them.
const LONG: usize = 64 << 10;

/// The lines of a text, cleaned.
/// The lines of a text; of a long one the first, and behind what was left out the last.
fn fit(text: &str, limit: usize, is_whole: bool) -> (Vec<String>, Option<(String, Vec<String>)>) {
    let text = text.trim_end();
    if is_whole || text.len() <= LONG {
        let mut lines = lines_of(text, limit);
        if is_whole || lines.len() <= START + END + 1 {
            return (lines, None);
        }
        let end = lines.split_off(lines.len() - END);
        let omitted = lines.split_off(START).len();
        return (lines, Some((counted(omitted as u64, "more line"), end)));
    }
    let start = text.get(..text.floor_char_boundary(LONG / 4)).unwrap_or_default();
    let end = text.get(text.ceil_char_boundary(text.len() - LONG / 4)..).unwrap_or_default();
    let mut start = lines_of(start, limit);
    start.truncate(START);
    let mut end = lines_of(end, limit);
    let end = end.split_off(end.len().saturating_sub(END));
    (start, Some((format!("of {}", counted(text.chars().count() as u64, "character")), end)))
}

/// All lines. Those that are too long are wrapped, below their own indentation.
fn lines_of(text: &str, limit: usize) -> Vec<String> {
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

// A sample as JSON, for programs.

impl Json {
    /// A sample with what the view shows of it, texts whole. What is absent is null, and so is unscored.
    pub fn transcript(&self, transcript: &Transcript, view: &TranscriptView) -> Value {
        let scores = transcript.scores.iter().filter(|(scorer, _)| view.shows(scorer));
        let scores: serde_json::Map<String, Value> =
            scores.map(|(scorer, score)| (scorer.clone(), of_score(score))).collect();
        let mut object = json!({
            "id": match &transcript.id {
                SampleId::Int(id) => json!(id),
                SampleId::Str(id) => json!(id),
            },
            "epoch": transcript.epoch,
            "input": of_messages(&transcript.input),
            "choices": transcript.choices,
            "target": transcript.target,
            "answer": transcript.answer,
            "stop_reason": transcript.stop_reason,
            "scores": scores,
            "error": transcript.error,
            "limit": transcript.limit,
            "metadata": transcript.metadata,
        });
        if view.conversation
            && let Some(object) = object.as_object_mut()
        {
            object.insert("messages".to_owned(), of_messages(&transcript.messages));
        }
        object
    }
}

fn of_score(score: &Score) -> Value {
    json!({
        "value": score.value.to_json(),
        "answer": score.answer,
        "explanation": score.explanation,
        "reason": score.reason,
        "metadata": score.metadata,
    })
}

fn of_messages(messages: &[TranscriptMessage]) -> Value {
    let of_message = |message: &TranscriptMessage| {
        let calls = message.parts.iter().filter_map(|part| match part {
            MessagePart::ToolCall { function, arguments } => {
                Some(json!({ "function": function, "arguments": arguments }))
            }
            _ => None,
        });
        let calls: Vec<Value> = calls.collect();
        let mut object = json!({ "role": message.role, "text": message.text() });
        if let Some(object) = object.as_object_mut() {
            let author = message.author.as_ref().map(|author| ("author", json!(author)));
            let calls = (!calls.is_empty()).then(|| ("tool_calls", json!(calls)));
            object.extend(author.into_iter().chain(calls).map(|(key, value)| (key.to_owned(), value)));
        }
        object
    };
    messages.iter().map(of_message).collect()
}

// A sample as Markdown, to be pasted into an issue or a page.

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
