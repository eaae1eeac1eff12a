//! What graders and programs see of stored conversations that are not text alone: all of it, or nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use errorbar_core::Error;
use errorbar_eval::scorers::{includes, model_graded_qa, model_graded_score, multi_scorer};
use errorbar_eval::{
    AnyScorer, CancelToken, ModelChoice, Rescore, RescoredLog, RunOptions, block_on, built_in_registry,
    model_fn,
};
use errorbar_log::eval::EvalLog;
use serde_json::{Value as Json, json};

const IMAGE: &str = "{\"type\": \"image\", \"image\": \"data:image/png;base64,AA\"}";

/// A part beside a text.
fn with_part(role: &str, part: &str) -> Json {
    let part: Json = serde_json::from_str(part).unwrap();
    json!({"role": role, "content": [{"type": "text", "text": "Look."}, part]})
}

/// What becomes of a log with a plain sample and one of this conversation, and how often the grader was called.
fn rescored(
    scorer: impl Into<AnyScorer>,
    question: &Json,
    answer: &Json,
) -> (Result<RescoredLog, String>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let sample = |id: &str, question: &Json, answer: &Json| {
        let between =
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "look"}]});
        let found = json!({"role": "tool", "content": "found", "tool_call_id": "1"});
        let between = if question["tools"] == true { vec![between, found] } else { Vec::new() };
        let messages = [std::slice::from_ref(question), &between, std::slice::from_ref(answer)].concat();
        json!({"id": id, "epoch": 1, "input": [question], "target": "4", "messages": messages, "events": [],
               "output": {"choices": [{"message": answer, "stop_reason": "stop"}], "completion": "It is 4."}})
    };
    let plain =
        [json!({"role": "user", "content": "2 + 2?"}), json!({"role": "assistant", "content": "It is 4."})];
    let log = json!({"version": 2, "status": "success",
        "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "a/b", "dataset": {}, "config": {}},
        "samples": [sample("q1", &plain[0], &plain[1]), sample("q2", question, answer)]});
    std::fs::write(&path, log.to_string()).unwrap();
    let calls: Arc<AtomicUsize> = Arc::default();
    let counted = Arc::clone(&calls);
    let grader = model_fn("test/grader", move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Ok::<_, Error>("GRADE: C\nSCORE: 7".to_owned()))
    });
    let roles = vec![("grader".to_owned(), ModelChoice::Built(grader.into()))];
    let options = RunOptions { roles, ..RunOptions::default() };
    let rescore = Rescore::new().scorer(scorer);
    let prepared = rescore.prepare(EvalLog::open(&path).unwrap(), &options, &built_in_registry()).unwrap();
    let scored = block_on(prepared.run(Arc::new(|_| ()), CancelToken::new())).unwrap();
    (scored.map_err(|error| error.to_string()), calls.load(Ordering::Relaxed))
}

/// It is refused, and the grader was not called for any sample.
#[track_caller]
fn refused(scorer: impl Into<AnyScorer>, question: &Json, answer: &Json) -> String {
    let (scored, calls) = rescored(scorer, question, answer);
    assert_eq!(calls, 0);
    scored.unwrap_err()
}

#[track_caller]
fn graded(scorer: impl Into<AnyScorer>, question: &Json, answer: &Json) {
    let (scored, calls) = rescored(scorer, question, answer);
    assert_eq!((scored.map(|_| ()), calls), (Ok(()), 2));
}

#[test]
fn a_grader_is_shown_the_whole_question_or_nothing() {
    let (image, answer) = (with_part("user", IMAGE), json!({"role": "assistant", "content": "It is 4."}));
    let refusal = refused(model_graded_qa(), &image, &answer);
    let expected = "sample \"q2\", epoch 1: the scorer `model_graded_qa` refuses it: its question has image, and a \
                    grader is shown the text alone; if the criterion says enough, take a template without {question}";
    assert!(refusal.ends_with(expected), "{refusal}");
    refused(multi_scorer([AnyScorer::from(model_graded_score()), includes().into()], "max"), &image, &answer);
    graded(model_graded_qa().template("{answer}: {criterion}?\n{instructions}"), &image, &answer);
    let (scored, calls) = rescored(includes(), &image, &answer);
    assert_eq!((scored.map(|_| ()), calls), (Ok(()), 0), "who compares texts sees all that it compares");
}

#[test]
fn a_grader_is_shown_the_whole_conversation_or_nothing() {
    let history = || model_graded_qa().include_history(true);
    let answer = json!({"role": "assistant", "content": "It is 4."});
    let with_tools = json!({"role": "user", "content": "2 + 2?", "tools": true});
    let refusal = refused(history(), &with_tools, &answer);
    let expected = "its conversation has tool_calls, and a grader is shown the text alone; if the question and the \
                    answer say enough, leave out include_history";
    assert!(refusal.ends_with(expected), "{refusal}");
    assert!(refused(history(), &with_part("user", IMAGE), &answer).contains("its conversation has image"));
    graded(model_graded_qa(), &with_tools, &answer);
    // What a model thinks is no part of what it says.
    let thought = with_part("assistant", r#"{"type": "reasoning", "reasoning": "Hm."}"#);
    graded(history(), &json!({"role": "user", "content": "2 + 2?"}), &thought);
}

#[test]
fn a_grader_is_shown_the_whole_answer_or_nothing() {
    let question = json!({"role": "user", "content": "Draw a cat."});
    let refusal = refused(model_graded_qa(), &question, &with_part("assistant", IMAGE));
    let expected =
        "its answer has image, and a grader is shown the text alone; take a scorer that compares texts";
    assert!(refusal.ends_with(expected), "{refusal}");
    let submitted =
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "submit"}]});
    graded(model_graded_qa(), &question, &submitted);
}
