//! What each solver makes of a conversation.

use std::sync::{Arc, Mutex};

use errorbar_core::Metadata;
use errorbar_eval::solvers::{
    generate, multiple_choice, prompt_template, self_critique, system_message, user_message,
};
use errorbar_eval::{
    AnySolver, Generate, Message, MessageRole, Sample, TaskState, block_on, chain, model_fn,
};
use serde_json::json;

/// The conversation after a solver, and all requests to the model; it answers `answers` in turn.
fn solved(solver: impl Into<AnySolver>, sample: &Sample, answers: &[&str]) -> (TaskState, Vec<Vec<Message>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (seen, answers) =
        (Arc::clone(&requests), answers.iter().map(ToString::to_string).collect::<Vec<_>>());
    let model = model_fn("test/model", move |request| {
        seen.lock().unwrap().push(request.messages.to_vec());
        let answer = answers.get(request.call as usize).cloned().unwrap_or_default();
        async move { Ok(answer) }
    });
    let mut state = TaskState::new("test/model", sample, 1.into(), 1);
    state.store = Metadata::from_iter([("topic".to_owned(), json!("the store's"))]);
    let generate = Generate::new(model.into());
    block_on(solver.into().solve(&mut state, &generate)).unwrap().unwrap();
    let requests = requests.lock().unwrap().clone();
    (state, requests)
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.content.clone()).collect()
}

#[test]
fn system_messages_keep_their_order_and_come_first() {
    let solver = chain![system_message("one"), system_message("two"), user_message("more")];
    let (state, _) = solved(solver, &Sample::new("question"), &[]);
    assert_eq!(texts(&state.messages), ["one", "two", "question", "more"]);
}

#[test]
fn templates_see_the_last_message_of_the_user_the_store_and_then_the_metadata() {
    let talk = vec![Message::user("first"), Message::assistant("reply"), Message::user("last")];
    let sample = Sample::new(talk).metadata("topic", "the sample's").metadata("n", 1.0);
    let (state, _) = solved(prompt_template("{prompt}: {topic} {n} {none}"), &sample, &[]);
    assert_eq!(texts(&state.messages), ["first", "reply", "last: the store's 1.0 {none}"]);
    assert_eq!(state.input_text(), "last");
}

#[test]
fn a_critique_is_requested_apart_and_answered_in_the_conversation() {
    let critique = self_critique()
        .critique_template("review {question} {completion}")
        .completion_template("again {question} {completion} {critique}");
    let (state, requests) =
        solved(chain![generate(), critique], &Sample::new("q"), &["draft", "weak", "final"]);
    assert_eq!(
        requests.iter().map(|messages| texts(messages)).collect::<Vec<_>>(),
        [vec!["q"], vec!["review q draft"], vec!["q", "draft", "again q draft weak"],]
    );
    assert_eq!(texts(&state.messages), ["q", "draft", "again q draft weak", "final"]);
    assert_eq!(state.output.completion, "final");
}

/// Which choices of three are marked, and the prompt.
fn marked(solver: impl Into<AnySolver>, answer: &str) -> (Vec<Option<bool>>, String) {
    let sample = Sample::new("Which?").choices(["x", "y", "z"]).target("A");
    let (state, requests) = solved(solver, &sample, &[answer]);
    let prompt =
        requests.concat().iter().rfind(|message| message.role == MessageRole::User).unwrap().content.clone();
    (state.choices.iter().map(|choice| choice.marked).collect(), prompt)
}

#[test]
fn one_choice_is_marked_unless_several_may_be() {
    let (yes, no) = (Some(true), Some(false));
    let (single, prompt) = marked(multiple_choice(), "ANSWER: B");
    assert_eq!(single, [no, yes, no]);
    assert!(prompt.contains("A) x\nB) y\nC) z") && prompt.contains("one of A, B, C"), "{prompt}");
    assert_eq!(marked(multiple_choice(), "ANSWER: A, C").0, [no; 3]);
    let (several, prompt) = marked(multiple_choice().multiple_correct(true), "ANSWER: A, C");
    assert_eq!(several, [yes, no, yes]);
    assert!(prompt.contains("more than one"), "{prompt}");
    // An answer that cannot be read was looked at all the same.
    assert_eq!(marked(multiple_choice(), "no idea").0, [no; 3]);
}

#[test]
fn multiple_choice_has_other_prompts() {
    let (_, prompt) = marked(multiple_choice().template("{question} [{letters}]\n{choices}"), "ANSWER: A");
    assert_eq!(prompt, "Which? [A, B, C]\nA) x\nB) y\nC) z");
    let (_, single) = marked(multiple_choice().cot(true), "ANSWER: A");
    let (_, several) = marked(multiple_choice().cot(true).multiple_correct(true), "ANSWER: A");
    assert!(single.contains("step by step") && !single.contains("more than one"), "{single}");
    assert!(several.contains("step by step") && several.contains("more than one"), "{several}");
}
