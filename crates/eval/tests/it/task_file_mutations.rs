//! Task files cut, mangled and mixed: nothing makes the reader fall over, and every mistake has a place.

use errorbar_core::Registry;
use errorbar_eval::{built_in_registry, parse_task_file};
use std::path::Path;

const GOOD: &[&str] = &[
    r#"name = "gpqa" # comment
version = 1.5
metadata = { author = "me", at = 2020-01-01, n = [1, { x = 0x1F }] }
model = "replay/outputs.jsonl"
dataset = { path = "fine.csv", input = "question", target = ["answer"], choices = ["a", "b"], id = "id", metadata = ["id"], limit = 2, shuffle = 7 }
solver = ["system_message('Answer \"carefully\".')", "multiple_choice()"]
scorer = "choice()"
metrics = ["grouped(accuracy(), 'id')", { "a*" = ["mean(to_float=value_to_float(correct='yes'))"] }]
epochs = { count = 5, reducers = ["at_least_2", "pass_at(k=5, value=0.5)"] }
fail_on_error = 0.1
time_limit = 30
generate = { temperature = 0, stop_seqs = ["END"], extra_body = { top_k = 40 } }
headline = { scorer = "choice", metric = "accuracy", reducer = "at_least_2" }
"#,
    "scorer = '''\nmatch(numeric=true)'''\r
solver = [\"\"\"
prompt_template(\\
  'é: {prompt}')\"\"\", 'generate']
[dataset]
path = 'fine.csv'
input = 'question'
target = 'answer'
[epochs]
count = 0b11
",
];

/// Pieces that mean something to one of the parsers.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\\",
    "\\u00e9",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "=",
    ",",
    "\n",
    "\r",
    "#",
    ".",
    "é",
    "\u{0}",
    "`",
    "/",
    "-",
    "0",
    "nan",
    "true",
    ":",
    "@",
    "[[",
    "\u{feff}",
    "\u{202e}",
    "😀",
    "a=1\n",
    "[dataset]\n",
];

/// Whether the text is refused. If it is, every diagnostic must have its place.
fn is_refused(text: &str, path: &Path, registry: &Registry) -> bool {
    let Err(error) = parse_task_file(text, path, registry) else { return false };
    assert!(!error.mistakes.is_empty(), "refused without a word:\n{text}");
    assert_eq!(error.text, text);
    assert_eq!(error.to_string().lines().count(), error.mistakes.len(), "{error}");
    let mut last = 0;
    for mistake in &error.mistakes {
        assert!(text.get(mistake.span.clone()).is_some(), "{mistake:?} is no place in\n{text}");
        let before = text.get(..mistake.span.start).unwrap();
        assert_eq!(mistake.line, before.matches('\n').count() + 1, "{mistake:?}");
        assert!(mistake.span.start >= last && mistake.column > 0, "{mistake:?}");
        last = mistake.span.start;
    }
    true
}

#[test]
fn nothing_makes_the_reader_fall_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("task.toml");
    let registry = built_in_registry();
    std::fs::write(folder.path().join("fine.csv"), "id,question,answer,a,b\nq1,One?,A,x,y\nq2,Two?,B,x,y\n")
        .unwrap();
    std::fs::write(folder.path().join("outputs.jsonl"), "{\"id\": \"q1\", \"output\": \"A\"}\n").unwrap();

    let mut random = Random(7);
    let mut refused = 0;
    for good in GOOD {
        assert!(
            !is_refused(good, &path, &registry),
            "{}",
            parse_task_file(good, &path, &registry).unwrap_err()
        );
        for (at, c) in good.char_indices() {
            let (before, behind) = (&good[..at], &good[at + c.len_utf8()..]);
            is_refused(before, &path, &registry);
            refused += usize::from(is_refused(&format!("{before}{behind}"), &path, &registry));
        }
        for _ in 0..2000 {
            let mut text = (*good).to_owned();
            for _ in 0..=random.below(3) {
                random.change(&mut text);
            }
            refused += usize::from(is_refused(&text, &path, &registry));
        }
    }
    assert!(refused > 2000, "most of them should be wrong, only {refused} are");
}

/// Numbers that look random enough, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    /// A place in the text, between two characters.
    fn place(&mut self, text: &str) -> usize {
        text.floor_char_boundary(self.below(text.len() + 1))
    }

    /// Puts something in, takes something out, or repeats a part elsewhere.
    fn change(&mut self, text: &mut String) {
        let at = self.place(text);
        match self.below(3) {
            0 => text.insert_str(at, PIECES[self.below(PIECES.len())]),
            1 => {
                let end = text.ceil_char_boundary(at + self.below(8));
                text.replace_range(at..end, "");
            }
            _ => {
                let from = self.place(text);
                let end = text.ceil_char_boundary(from + self.below(12));
                let piece = text[from..end].to_owned();
                text.insert_str(at, &piece);
            }
        }
    }
}
