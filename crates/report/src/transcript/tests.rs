//! Samples on a terminal and as Markdown: nothing is lost, no line is too wide, nothing reaches the terminal raw.

use errorbar_core::{Leaf, SampleId, Score, Value};
use errorbar_log::eval::{Transcript, TranscriptMessage};
use serde_json::json;

use super::*;
use crate::text::{is_unsafe, width};
use crate::{Json, Markdown, TerminalTable};

fn sample() -> Transcript {
    let mut sample = Transcript::default();
    (sample.id, sample.epoch) = (SampleId::from("q17"), 1);
    sample.input =
        vec![TranscriptMessage::new("user", "Which of them did not survive the flood?\n\n  Think.")];
    sample.choices = vec!["the bridge".to_owned(), "the mill".to_owned()];
    sample.target = vec!["B".to_owned()];
    sample.answer = Some("The bridge was carried away.\nANSWER: A".to_owned());
    sample.scores.insert("choice".to_owned(), Score::new("I").answer("A").explanation("ANSWER: A"));
    let grades =
        Value::map([("style", Leaf::from(0.5)), ("facts", Leaf::from(1.0)), ("tone", Leaf::Unscored)]);
    let grading =
        json!([{"role": "user", "content": "Grade it."}, {"role": "assistant", "content": "GRADE: P"}]);
    sample.scores.insert("model_graded_qa".to_owned(), Score::new(grades).metadata("grading", grading));
    sample.scores.insert("judge".to_owned(), Score::unscored("grader_failed").explanation("no grade found"));
    sample.metadata.insert("category".to_owned(), json!("law"));
    sample.metadata.insert("passage".to_owned(), json!(7));
    (sample.limit, sample.limit_value) = (Some("token".to_owned()), Some(900.0));
    (sample.tokens, sample.total_time, sample.message_count) = (Some(812), Some(1.24), Some(3));
    sample
}

fn shown(sample: &Transcript, view: &TranscriptView, cells: usize) -> String {
    TerminalTable::default().width(cells).transcript(sample, view).0
}

#[test]
fn a_sample_reads_from_the_question_to_the_verdicts() {
    assert_eq!(
        shown(
            &sample(),
            &TranscriptView { expected: vec!["match".to_owned()], ..TranscriptView::default() },
            70
        ),
        "\
── q17 · 3 messages · 812 tokens · 1.2 s ─────────────────────────────
question      Which of them did not survive the flood?

                Think.
choices       A) the bridge
              B) the mill
target        B
answer        The bridge was carried away.
              ANSWER: A
choice        I (incorrect)
              answer: A
model_graded_qa
              style: 0.5
              facts: 1
              tone: unscored
              grader: GRADE: P
judge         unscored: grader_failed
              no grade found
match         no score
limit         the token limit of 900 was reached
metadata      category: law · passage: 7
"
    );
}

#[test]
fn a_conversation_stands_in_place_of_question_and_answer() {
    let mut sample = sample();
    let tool = json!({"role": "tool", "function": "bash", "content": "bridge.txt"});
    let call = json!({"role": "assistant", "content": "", "tool_calls": [{"function": "bash", "arguments": {"cmd": "ls"}}]});
    let messages = [json!({"role": "system", "content": "Be brief."}), call, tool];
    sample.messages = messages.iter().filter_map(TranscriptMessage::from_json).collect();
    let text = shown(
        &sample,
        &TranscriptView {
            conversation: true,
            scorers: vec!["model_graded_qa".to_owned()],
            ..TranscriptView::default()
        },
        70,
    );
    assert!(text.contains("assistant     → bash(cmd: ls)\n"), "{text}");
    assert!(text.contains("tool          (bash)\n              bridge.txt\n"), "{text}");
    assert!(text.contains("to the grader: Grade it."), "{text}");
    assert!(!text.contains("question") && !text.contains("choice        I"), "{text}");
}

#[test]
fn lines_keep_to_the_width_and_colours_change_nothing_else() {
    let mut sample = sample();
    let long = "数学 and a-word-that-is-much-too-long-for-any-line-of-a-terminal-that-is-narrow ".repeat(40);
    sample.answer = Some(format!("{long}\n\t\tindented {long}\u{1b}[31m\u{202e}\rred"));
    sample.scores.insert(
        "\u{1b}]0;evil\u{7} scorer of a very long name".to_owned(),
        Score::new("C").explanation(&long),
    );
    sample.error = Some(long.clone());
    for cells in [40, 60, 80, 120] {
        for whole in [false, true] {
            let view = TranscriptView { whole, ..TranscriptView::default() };
            let table = TerminalTable::default().width(cells);
            let (text, is_cut) = table.transcript(&sample, &view);
            assert_eq!(is_cut, !whole, "{cells}");
            let too_wide: Vec<&str> = text.lines().filter(|line| width(line) > cells).collect();
            assert!(too_wide.is_empty(), "{cells}: {too_wide:?}");
            assert!(!text.contains(|c| is_unsafe(c) && c != '\n'), "{text:?}");
            let colored = table.color(true).transcript(&sample, &view).0;
            let styles = without_styles(&colored);
            assert_eq!(styles, text, "{cells}");
            let ascii = table.ascii(true).transcript(&self::ascii(), &view).0;
            assert!(ascii.is_ascii(), "{ascii}");
        }
    }
}

/// A sample in ASCII alone.
fn ascii() -> Transcript {
    let mut sample = Transcript::default();
    sample.answer = Some("line\n".repeat(100));
    sample.target = vec!["x".to_owned()];
    sample
}

/// The text without styles.
fn without_styles(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn a_long_text_is_cut_in_its_middle() {
    let mut sample = Transcript::default();
    let lines: Vec<String> = (1..=100).map(|n| format!("line {n}")).collect();
    sample.answer = Some(lines.join("\n"));
    let text = shown(&sample, &TranscriptView::default(), 60);
    assert!(text.contains("line 14\n              … 80 more lines …\n              line 95\n"), "{text}");
    assert!(text.contains("line 100") && !text.contains("line 15\n"), "{text}");
    let whole = shown(&sample, &TranscriptView { whole: true, ..TranscriptView::default() }, 60);
    assert!(lines.iter().all(|line| whole.contains(line.as_str())));
    // One that is too long to be laid out for that.
    sample.answer = Some("word ".repeat(1 << 20) + "end");
    let (text, is_cut) = TerminalTable::default().transcript(&sample, &TranscriptView::default());
    assert!(is_cut && text.lines().count() < 30, "{text}");
    assert!(text.contains("… of 5242883 characters …") && text.contains("word end"), "{text}");
}

#[test]
fn markdown_and_json_have_all_of_it() {
    let mut sample = sample();
    sample.answer = Some("```\ncode\n```".to_owned());
    let text = Markdown::default().transcript(&sample, &TranscriptView::default());
    assert!(text.starts_with("### q17 · 3 messages"), "{text}");
    assert!(text.contains("**answer**\n\n````text\n```\ncode\n```\n````\n"), "{text}");
    assert!(text.contains("**target** B\n"), "{text}");
    let json = Json.transcript(
        &sample,
        &TranscriptView { scorers: vec!["choice".to_owned()], ..TranscriptView::default() },
    );
    assert_eq!(json["id"], "q17");
    assert_eq!(
        json["scores"],
        json!({"choice": {"value": "I", "answer": "A", "explanation": "ANSWER: A", "reason": null, "metadata": null}})
    );
    assert_eq!((&json["target"][0], &json["metadata"]["passage"]), (&json!("B"), &json!(7)));
    assert!(json.get("messages").is_none());
}
