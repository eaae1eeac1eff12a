//! The models that errorbar brings: scripts and recorded outputs.

use std::fs;
use std::path::Path;

use errorbar_core::Error;
use errorbar_eval::{AnyModel, Generate, Mock, Replay, Sample, TaskState, block_on};

/// The model's answers to this number of calls about a sample in an epoch.
fn outputs(model: &AnyModel, id: &str, epoch: u32, calls: usize) -> Vec<String> {
    let generate = Generate::new(model.clone());
    let mut state = TaskState::new(model.name(), &Sample::new("?"), id.into(), epoch);
    let mut texts = Vec::new();
    for _ in 0..calls {
        match block_on(generate.run(&mut state)).unwrap() {
            Ok(()) => texts.push(state.output.completion.clone()),
            Err(error) => texts.push(format!("error: {error}")),
        }
    }
    let answered = texts.iter().filter(|text| !text.starts_with("error")).count();
    assert_eq!(state.messages.len(), 1 + answered, "every answer joins the conversation");
    texts
}

fn replay(lines: &str) -> errorbar_core::Result<AnyModel> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("o.jsonl"), lines).unwrap();
    Replay::open("o.jsonl", folder.path()).map(AnyModel::from)
}

/// What is wrong with recorded outputs, without their path.
#[track_caller]
fn refused(lines: &str) -> String {
    let Err(Error::Custom(message)) = replay(lines) else { panic!("they are read") };
    let (start, problem) = message.split_once("o.jsonl: ").unwrap();
    assert_eq!(start.split('/').next(), Some("cannot read the recorded outputs "));
    problem.to_owned()
}

const FORM: &str = "; a line is {\"id\": …, \"epoch\": 1, \"output\": \"…\"}, the epoch is optional";

fn too_long(line: u64) -> String {
    format!("line {line} is longer than 64 MiB; check that the file is what its name says, or split the line")
}

#[test]
fn scripts_answer_call_by_call_and_sample_by_sample() {
    let always = Mock::new("yes").unwrap().into();
    assert_eq!(outputs(&always, "q", 1, 2), ["yes", "yes"]);
    let each = Mock::new(r#"["first", "last"]"#).unwrap().into();
    assert_eq!(outputs(&each, "q", 1, 3), ["first", "last", "last"]);
    let by_sample = Mock::new(r#"{"a": "x", "b": ["y", "z"]}"#).unwrap().into();
    assert_eq!(outputs(&by_sample, "b", 1, 2), ["y", "z"]);
    assert_eq!(
        outputs(&by_sample, "c", 1, 1),
        ["error: the script of the mock model has no answer for sample \"c\"; add one"]
    );
    assert_eq!(
        Mock::new("[1]").unwrap_err().to_string(),
        "`mock/[1]`: a script is a string, a JSON list of strings, or a JSON object from sample ids to those: invalid \
         type: integer `1`, expected a string at line 1 column 2"
    );
}

#[test]
fn recorded_outputs_are_those_of_the_epoch_before_those_of_all() {
    let model = replay(
        "{\"id\": 1, \"output\": \"any\"}\n\n{\"id\": \"1\", \"epoch\": 2, \"output\": [\"second\", \"again\"]}\r\n",
    )
    .unwrap();
    assert_eq!(outputs(&model, "1", 1, 1), ["any"]);
    assert_eq!(outputs(&model, "1", 2, 3), ["second", "again", "again"]);
    assert_eq!(outputs(&model, "1", 3, 1), ["any"]);
    let unknown = outputs(&model, "2", 1, 1).concat();
    assert_eq!(
        unknown.split_once("o.jsonl ").unwrap().1,
        "has no output for sample \"2\" in epoch 1; record one, or run fewer samples or epochs"
    );
}

#[test]
fn recorded_usage_is_counted() {
    let usage = r#"{"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}"#;
    let model = replay(&format!("{{\"id\": 1, \"output\": \"x\", \"usage\": {usage}}}")).unwrap();
    let generate = Generate::new(model.clone());
    let mut state = TaskState::new(model.name(), &Sample::new("?"), 1.into(), 1);
    block_on(generate.run(&mut state)).unwrap().unwrap();
    assert_eq!(generate.usage().get("replay/o.jsonl").unwrap().total_tokens, 5);
}

#[test]
fn wrong_recordings_are_refused_with_their_line() {
    assert_eq!(refused("\n{\"id\": 1, \"output\": []}"), "line 2: `output` is an empty list");
    let twice =
        "{\"id\": 1, \"epoch\": 2, \"output\": \"a\"}\n{\"id\": \"1\", \"epoch\": 2, \"output\": \"b\"}";
    assert_eq!(refused(twice), "line 2: sample \"1\" occurs twice in epoch 2");
    assert_eq!(refused("{\"id\": 1}"), format!("line 1: missing field `output` at column 9{FORM}"));
    assert_eq!(
        Replay::open("none.jsonl", Path::new("")).unwrap_err().to_string(),
        "cannot read the recorded outputs none.jsonl: No such file or directory (os error 2)"
    );
}

#[test]
fn usage_is_that_of_all_calls_together() {
    let line = r#"{"id": "q", "output": ["a", "b"], "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}}"#;
    let model = replay(&format!("\u{feff}{line}\n")).unwrap();
    let generate = Generate::new(model.clone());
    let mut state = TaskState::new(model.name(), &Sample::new("?"), "q".into(), 1);
    for _ in 0..2 {
        block_on(generate.run(&mut state)).unwrap().unwrap();
    }
    assert_eq!(generate.usage().values().map(|usage| usage.total_tokens).sum::<u64>(), 3);
}

#[test]
fn recorded_outputs_without_end_are_refused() {
    let long =
        format!("{{\"id\": 1, \"output\": \"a\"}}\n{{\"id\": 2, \"output\": \"{}", "x".repeat(65 << 20));
    assert_eq!(refused(&long), too_long(2));
    let dense = format!("{{\"id\": 1, \"output\": [\"\"{}]}}", ",\"\"".repeat(5_000_000));
    assert_eq!(refused(&dense), format!("line 1: the record takes more than 48 MiB of memory{FORM}"));
    let many: String = (0..2_000_000).map(|n| format!("{{\"id\":{n},\"output\":\"\"}}\n")).collect();
    let problem = refused(&many);
    assert_eq!(
        problem.split_once(": ").unwrap().1,
        format!(
            "up to here it takes more than {} MiB of memory, far more than a file of its size should; check that the \
             file is what its name says, or split it",
            (many.len() * 6) >> 20
        )
    );
    let deep = format!("{{\"id\": {}", "[".repeat(100_000));
    assert_eq!(refused(&deep), format!("line 1: recursion limit exceeded at column 134{FORM}"));
}

#[cfg(unix)]
#[test]
fn recorded_outputs_from_an_endless_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("z.jsonl")).unwrap();
    let problem = Replay::open("z.jsonl", folder.path()).unwrap_err().to_string();
    let path = folder.path().join("z.jsonl");
    assert_eq!(problem, format!("cannot read the recorded outputs {}: {}", path.display(), too_long(1)));
}
