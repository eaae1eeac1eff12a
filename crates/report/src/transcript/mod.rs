//! Samples for people to read: question, target, answer, verdicts, and why.
//!
//! What is shown is decided here once, as [sections](section::Section): a label and paragraphs. The formats only lay
//! them out.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use errorbar_core::{LeafRef, SampleId, Score, Value, ValueRef, ValueToFloat};
use errorbar_log::eval::{MessagePart, Transcript, TranscriptMessage};
use serde_json::{Value as Json, json};

use crate::markup::{Markdown, escape_markdown};
use crate::terminal::{BOLD, DIM, FAILED, GAP, TerminalTable, UNKNOWN};
use crate::text::{clean, clean_lines, counted, pad, plain, start, width, wrap};

/// What of a sample is shown: by default question, target, answer and all verdicts, with long texts cut.
#[derive(Clone, Debug, Default)]
pub struct TranscriptView {
    /// Only the verdicts of these scorers; of all if there is none.
    pub scorers: Vec<String>,
    /// The scorers of the log: one of them that a sample has no score of is named.
    pub expected: Vec<String>,
    /// The whole conversation in place of question and answer, and what graders were asked.
    pub conversation: bool,
    /// Long texts are shown whole.
    pub whole: bool,
    /// The epoch is named even where it is the first.
    pub epochs: bool,
}

impl TranscriptView {
    fn shows(&self, scorer: &str) -> bool {
        self.scorers.is_empty() || self.scorers.iter().any(|shown| shown == scorer)
    }
}

// What there is to show of a sample, before it is laid out.

/// A label and what stands beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    pub(super) label: String,
    pub(super) paragraphs: Vec<Paragraph>,
}

/// A text, and what kind of text it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    pub(super) tone: Tone,
}

/// How a text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    /// What explains something else.
    Remark,
    Problem,
    Verdict(Verdict),
}

fn plain_text(text: impl Into<String>) -> Paragraph {
    Paragraph { text: text.into(), tone: Tone::Plain }
}

fn remark(text: impl Into<String>) -> Paragraph {
    Paragraph { text: text.into(), tone: Tone::Remark }
}

fn problem(text: impl Into<String>) -> Paragraph {
    Paragraph { text: text.into(), tone: Tone::Problem }
}

/// What stands in the heading of a sample behind its id.
pub(super) fn facts(transcript: &Transcript, view: &TranscriptView) -> Vec<String> {
    let epoch = (view.epochs || transcript.epoch > 1).then(|| format!("epoch {}", transcript.epoch));
    let messages = transcript.message_count.filter(|count| *count > 0).map(|count| counted(count, "message"));
    let tokens = transcript.tokens.filter(|tokens| *tokens > 0).map(|tokens| counted(tokens, "token"));
    let time = transcript.total_time.filter(|time| *time >= 0.05).map(|time| format!("{time:.1} s"));
    epoch.into_iter().chain(messages).chain(tokens).chain(time).collect()
}

/// The sections of a sample, in order.
pub(super) fn sections(transcript: &Transcript, view: &TranscriptView) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |label: &str, paragraphs: Vec<Paragraph>| {
        if !paragraphs.is_empty() {
            sections.push(Section { label: label.to_owned(), paragraphs });
        }
    };
    let has_conversation = view.conversation && !transcript.messages.is_empty();
    if has_conversation {
        for message in &transcript.messages {
            add(&message.role, message_paragraphs(message));
        }
    } else {
        add("question", question(&transcript.input));
    }
    // A prompt has them already.
    if !(has_conversation && conversation_has(&transcript.messages, &transcript.choices)) {
        let letters = transcript.choices.iter().enumerate();
        add("choices", letters.map(|(at, choice)| plain_text(format!("{}) {choice}", letter(at)))).collect());
    }
    let targets = transcript.target.iter().filter(|target| !target.is_empty());
    add("target", targets.map(plain_text).collect());
    if !has_conversation {
        add("answer", answer(transcript));
    }
    for (scorer, score) in transcript.scores.iter().filter(|(scorer, _)| view.shows(scorer)) {
        add(scorer, verdict(score, transcript, view));
    }
    for scorer in view.expected.iter().filter(|scorer| view.shows(scorer)) {
        if !transcript.scores.contains_key(scorer) {
            let why = if transcript.error.is_some() { "no score: the sample failed" } else { "no score" };
            add(scorer, vec![Paragraph { text: why.to_owned(), tone: Tone::Verdict(Verdict::Unscored) }]);
        }
    }
    add("limit", limit(transcript).into_iter().collect());
    add("error", error(transcript, view));
    let metadata = transcript.metadata.iter().map(|(key, value)| format!("{key}: {}", short(value)));
    let metadata = metadata.collect::<Vec<_>>().join(" · ");
    add("metadata", (!metadata.is_empty()).then(|| remark(metadata)).into_iter().collect());
    sections
}

/// Whether one message has all of these texts.
fn conversation_has(messages: &[TranscriptMessage], texts: &[String]) -> bool {
    messages
        .iter()
        .map(TranscriptMessage::text)
        .any(|message| texts.iter().all(|text| message.contains(text)))
}

/// A question that is one message of the user is its text; else each message has its author.
fn question(input: &[TranscriptMessage]) -> Vec<Paragraph> {
    if let [only] = input
        && only.role == "user"
    {
        return message_paragraphs(only);
    }
    let named = |message: &TranscriptMessage| {
        let mut paragraphs = vec![remark(format!("{}:", message.role))];
        paragraphs.extend(message_paragraphs(message));
        paragraphs
    };
    input.iter().flat_map(named).collect()
}

fn message_paragraphs(message: &TranscriptMessage) -> Vec<Paragraph> {
    let author = message.author.as_ref().filter(|_| message.role == "tool");
    let mut paragraphs: Vec<Paragraph> = author.map(|tool| remark(format!("({tool})"))).into_iter().collect();
    for part in &message.parts {
        paragraphs.push(match part {
            MessagePart::Text(text) => plain_text(text),
            MessagePart::Reasoning(text) => remark(format!("(reasoning) {text}")),
            MessagePart::ToolCall { function, arguments } => remark(call(function, arguments)),
            MessagePart::Error(text) => problem(text),
            MessagePart::Media(kind) => remark(format!("({kind})")),
            _ => continue,
        });
    }
    if paragraphs.is_empty() {
        paragraphs.push(remark("(empty)"));
    }
    paragraphs
}

/// A call of a tool, in the way of most programming languages; long arguments in lines of their own.
fn call(function: &str, arguments: &Json) -> String {
    let value = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match arguments {
        Json::Object(map) if map.len() == 1 || map.values().all(|value| !is_long(value)) => {
            let arguments = map.iter().map(|(key, argument)| format!("{key}: {}", value(argument)));
            format!("→ {function}({})", arguments.collect::<Vec<_>>().join(", "))
        }
        Json::Object(map) => {
            let arguments = map.iter().map(|(key, argument)| format!("\n  {key}: {}", value(argument)));
            format!("→ {function}({}\n)", arguments.collect::<String>())
        }
        Json::Null => format!("→ {function}()"),
        other => format!("→ {function}({})", value(other)),
    }
}

fn is_long(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text.len() > 60 || text.contains('\n'))
}

fn answer(transcript: &Transcript) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = match transcript.answer.as_deref() {
        None => Vec::new(),
        Some(answer) if answer.trim().is_empty() && transcript.error.is_some() => Vec::new(),
        Some(answer) if answer.trim().is_empty() => vec![remark("(empty)")],
        Some(answer) => vec![plain_text(answer)],
    };
    paragraphs.extend(transcript.output_error.as_ref().map(problem));
    // An answer that ends otherwise than the model wanted.
    let stop = transcript
        .stop_reason
        .as_ref()
        .filter(|stop| !matches!(stop.as_str(), "stop" | "unknown" | "tool_calls"));
    paragraphs.extend(stop.map(|stop| problem(format!("(stopped: {stop})"))));
    paragraphs
}

/// A score: its value, in words, the answer that was scored, why, and what the grader said.
fn verdict(score: &Score, transcript: &Transcript, view: &TranscriptView) -> Vec<Paragraph> {
    let reason = score.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let mut paragraphs: Vec<Paragraph> = leaves(&score.value)
        .map(|(key, leaf)| {
            let key = key.map(|key| format!("{key}: ")).unwrap_or_default();
            Paragraph { text: format!("{key}{}", words(leaf)), tone: Tone::Verdict(Verdict::of(leaf)) }
        })
        .collect();
    match paragraphs.as_mut_slice() {
        [] => paragraphs.push(remark(format!("(empty){reason}"))),
        [only] => only.text += &reason,
        _ if reason.is_empty() => {}
        _ => paragraphs.push(remark(format!("reason{reason}"))),
    }
    let given = transcript.answer.as_deref().unwrap_or_default();
    // Some scorers compare in lower case, and record that.
    let is_given = |text: &str| text.trim().eq_ignore_ascii_case(given.trim());
    let is_new = |text: &&String| !text.trim().is_empty() && !is_given(text);
    paragraphs
        .extend(score.answer.as_ref().filter(is_new).map(|answer| plain_text(format!("answer: {answer}"))));
    // Scorers of texts explain a score with the answer, or with a part of it.
    let explanation = score.explanation.as_ref().filter(is_new).filter(|text| !given.contains(text.trim()));
    paragraphs.extend(explanation.map(remark));
    // What a grader says is most often the explanation too.
    let is_said = |text: &str| explanation.is_some_and(|explanation| explanation.contains(text.trim()));
    for message in grading(score) {
        let text = message.text();
        if (view.conversation || message.role == "assistant") && !is_said(&text) && !text.trim().is_empty() {
            let speaker = if message.role == "assistant" { "grader" } else { "to the grader" };
            paragraphs.push(remark(format!("{speaker}: {text}")));
        }
    }
    if !score.history.is_empty() {
        paragraphs
            .push(remark(format!("(edited: {})", counted(score.history.len() as u64, "earlier record"))));
    }
    paragraphs
}

fn limit(transcript: &Transcript) -> Option<Paragraph> {
    let kind = transcript.limit.as_ref()?;
    let value = transcript.limit_value.map(|value| format!(" of {}", plain(value))).unwrap_or_default();
    Some(problem(format!("the {kind} limit{value} was reached")))
}

fn error(transcript: &Transcript, view: &TranscriptView) -> Vec<Paragraph> {
    let Some(error) = &transcript.error else { return Vec::new() };
    let traceback = transcript.traceback.as_ref().filter(|text| view.whole && !text.trim().is_empty());
    std::iter::once(problem(if error.is_empty() { "(without a message)" } else { error }))
        .chain(traceback.map(remark))
        .collect()
}

/// A value of the metadata; a long one is cut.
fn short(value: &Json) -> String {
    const MOST: usize = 80;
    start(&value.as_str().map_or_else(|| value.to_string(), str::to_owned), MOST)
}

/// The letter of a choice; beyond Z its number.
fn letter(at: usize) -> String {
    match u8::try_from(at) {
        Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
        _ => (at + 1).to_string(),
    }
}

// Whether a score says that an answer is right.

/// What a value means for the answer, by the default conversion to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts 1.
    Right,
    /// It counts something between 0 and 1.
    Partial,
    /// It counts 0 or less.
    Wrong,
    /// There is no score.
    Unscored,
    /// It is beyond 1, or not a number: more is not known.
    Other,
}

impl Verdict {
    /// The verdict of one value.
    ///
    /// ```
    /// use errorbar_core::Leaf;
    /// use errorbar_report::Verdict;
    /// let of = |leaf: Leaf| Verdict::of(leaf.view());
    /// assert_eq!([of("C".into()), of("I".into()), of(0.5.into()), of("blue".into())],
    ///     [Verdict::Right, Verdict::Wrong, Verdict::Partial, Verdict::Other]);
    /// ```
    pub fn of(leaf: LeafRef<'_>) -> Self {
        if matches!(leaf, LeafRef::Unscored | LeafRef::Null) {
            return Verdict::Unscored;
        }
        let number = ValueToFloat::default().convert_leaf(leaf);
        match number.value {
            _ if !number.convertible => Verdict::Other,
            value if value <= 0.0 => Verdict::Wrong,
            value if value < 1.0 => Verdict::Partial,
            1.0 => Verdict::Right,
            _ => Verdict::Other,
        }
    }

    /// The verdicts of a score: one, or one for each value of a list or a map.
    pub fn all_of(value: &Value) -> Vec<Self> {
        leaves(value).map(|(_, leaf)| Verdict::of(leaf)).collect()
    }
}

/// The values of a score, those of a map with their keys and those of a list with their indices.
pub(crate) fn leaves(value: &Value) -> Box<dyn Iterator<Item = (Option<String>, LeafRef<'_>)> + '_> {
    match value.view() {
        ValueRef::Leaf(leaf) => Box::new(std::iter::once((None, leaf))),
        ValueRef::List(items) => {
            Box::new(items.iter().enumerate().map(|(at, leaf)| (Some(at.to_string()), leaf.view())))
        }
        ValueRef::Map(map) => Box::new(map.iter().map(|(key, leaf)| (Some(key.to_string()), leaf.view()))),
    }
}

/// A value in words.
pub(super) fn words(leaf: LeafRef<'_>) -> String {
    let meaning = match leaf {
        LeafRef::Unscored | LeafRef::Null => return "unscored".to_owned(),
        LeafRef::Str("C") => "correct",
        LeafRef::Str("I") => "incorrect",
        LeafRef::Str("P") => "partially correct",
        LeafRef::Str("N") => "no answer",
        LeafRef::Float(number) => return crate::text::plain(number),
        other => return other.text(),
    };
    format!("{} ({meaning})", leaf.text())
}

/// The messages that a grader was sent and gave, as scorers record them.
pub(crate) fn grading(score: &Score) -> Vec<errorbar_log::eval::TranscriptMessage> {
    let grading = score.metadata.as_ref().and_then(|metadata| metadata.get("grading")?.as_array());
    let messages = grading.into_iter().flatten();
    messages.filter_map(errorbar_log::eval::TranscriptMessage::from_json).collect()
}

// A transcript in each format: terminal, Markdown, JSON.

const RIGHT: Style = AnsiColor::Green.on_default();
const LABEL: Style = AnsiColor::Cyan.on_default();

/// The widest label that stands beside its text; a wider one stands above it.
const WIDEST_LABEL: usize = 12;

impl TerminalTable {
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

/// The lines of a text, cleaned; of a long one the first, and behind what was left out the last.
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

impl crate::Json {
    /// A sample with what the view shows of it, texts whole. What is absent is null, and so is unscored.
    pub fn transcript(&self, transcript: &Transcript, view: &TranscriptView) -> Json {
        let scores = transcript.scores.iter().filter(|(scorer, _)| view.shows(scorer));
        let scores: serde_json::Map<String, Json> =
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

fn of_score(score: &Score) -> Json {
    json!({
        "value": score.value.to_json(),
        "answer": score.answer,
        "explanation": score.explanation,
        "reason": score.reason,
        "metadata": score.metadata,
    })
}

fn of_messages(messages: &[TranscriptMessage]) -> Json {
    let of_message = |message: &TranscriptMessage| {
        let calls = message.parts.iter().filter_map(|part| match part {
            MessagePart::ToolCall { function, arguments } => {
                Some(json!({ "function": function, "arguments": arguments }))
            }
            _ => None,
        });
        let calls: Vec<Json> = calls.collect();
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
        let mut text = format!("### {}\n", escape_markdown(&heading.collect::<Vec<_>>().join(" · ")));
        for section in sections(transcript, view) {
            let paragraphs: Vec<&str> = section.paragraphs.iter().map(|one| one.text.as_str()).collect();
            let joined = paragraphs.join("\n");
            let joined = joined.trim_end();
            if joined.contains('\n') || joined.len() > 100 {
                let (fence, joined) = (fence(joined), clean_lines(joined));
                let _ = write!(
                    text,
                    "\n**{}**\n\n{fence}text\n{joined}\n{fence}\n",
                    escape_markdown(&section.label)
                );
            } else {
                let _ =
                    write!(text, "\n**{}** {}\n", escape_markdown(&section.label), escape_markdown(joined));
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
