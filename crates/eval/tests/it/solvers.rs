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
    assert!(prompt.contains("A) x\nB) y\nC) z") && prompt.contains("one of A,B,C"), "{prompt}");
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
    assert_eq!(prompt, "Which? [A,B,C]\nA) x\nB) y\nC) z");
    let (_, single) = marked(multiple_choice().cot(true), "ANSWER: A");
    let (_, several) = marked(multiple_choice().cot(true).multiple_correct(true), "ANSWER: A");
    assert!(single.contains("step by step") && !single.contains("more than one"), "{single}");
    assert!(several.contains("step by step") && several.contains("more than one"), "{several}");
}

#[test]
fn keyword_arguments_are_part_of_the_spec() {
    use errorbar_core::{Spec, ToSpec};
    let registry = errorbar_eval::built_in_registry();
    let text = r#"prompt_template(template="{prompt} {tone}", tone="dry", n=2, list=["a", 1.5])"#;
    let built: AnySolver = registry.build(&text.parse::<Spec>().unwrap()).unwrap();
    assert_eq!(built.spec().to_string(), text);
    assert_eq!(
        prompt_template("{x}").param("x", 1).spec().to_string(),
        r#"prompt_template(template="{x}", x=1)"#
    );
    for wrong in ["prompt_template('{x}', x=mean())", "prompt_template('{x}', 'y')", "chain_of_thought(x=1)"]
    {
        assert!(registry.build::<AnySolver>(&wrong.parse::<Spec>().unwrap()).is_err(), "{wrong}");
    }
}

#[test]
fn a_template_may_be_the_name_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("system.txt"), "From a file: {topic}\n").unwrap();
    let registry = errorbar_eval::built_in_registry().relative_to(folder.path());
    let solver: AnySolver = registry.build(&"system_message('system.txt')".parse().unwrap()).unwrap();
    let (state, _) = solved(solver, &Sample::new("q"), &[]);
    assert_eq!(texts(&state.messages), ["From a file: the store's\n", "q"]);
    assert!(registry.build::<AnySolver>(&"user_message('sytem.txt')".parse().unwrap()).is_err());
    // The message of a configuration, too.
    let built = |spec: &str| registry.build::<AnySolver>(&spec.parse().unwrap());
    let configs = built("generate(system_message='system.txt')").unwrap().configs();
    assert_eq!(configs[0].system_message.as_deref(), Some("From a file: {topic}\n"));
    assert!(built("generate(system_message='sytem.txt')").is_err());
}

#[test]
fn another_model_may_review() {
    use errorbar_eval::{Calls, GenerateConfig, Mock, ModelClient, Models};
    let client = |text: &str| {
        let model = Mock::new(text).unwrap();
        ModelClient::new(model.into(), GenerateConfig::default(), Arc::new(Calls::default()))
    };
    let mut models = Models::only(client("[\"draft\", \"final\"]"));
    models.named.insert("mock/weak".to_owned(), client("weak"));
    let critique = self_critique().completion_template("{critique}!").model("mock/weak");
    assert_eq!(errorbar_eval::Solver::models(&critique), ["mock/weak"]);
    let mut state = TaskState::new("mock/x", &Sample::new("q"), 1.into(), 1);
    let solver: AnySolver = chain![generate(), critique].into();
    block_on(solver.solve(&mut state, &Generate::of(Arc::new(models)))).unwrap().unwrap();
    assert_eq!(texts(&state.messages), ["q", "draft", "weak!", "final"]);
}

/// A model that can be cached and counts its calls.
#[derive(Debug, Default)]
struct Counted(std::sync::atomic::AtomicU32);

impl errorbar_eval::Model for Counted {
    fn name(&self) -> &str {
        "test/counted"
    }

    fn generate<'a>(
        &'a self,
        _: errorbar_eval::Request<'a>,
    ) -> errorbar_eval::BoxFuture<'a, Result<errorbar_eval::ModelOutput, errorbar_eval::ModelError>> {
        let calls = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(errorbar_eval::ModelOutput::from_text(
            "test/counted",
            calls.to_string(),
        ))))
    }

    fn is_cacheable(&self) -> bool {
        true
    }
}

#[test]
fn a_call_decides_about_the_cache() {
    use errorbar_eval::{AnyModel, Cache, Calls, GenerateConfig, ModelClient, Models, RetryPolicy};
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path().join("answers"), None).unwrap();
    let calls = Arc::new(Calls::new(1, RetryPolicy::default()).cache(cache));
    let client = ModelClient::new(AnyModel::from(Counted::default()), GenerateConfig::default(), calls);
    let answer = |solver: AnySolver| {
        let mut state = TaskState::new("test/counted", &Sample::new("q"), 1.into(), 1);
        let generate = Generate::of(Arc::new(Models::only(client.clone())));
        block_on(solver.solve(&mut state, &generate)).unwrap().unwrap();
        state.output.completion
    };
    assert_eq!(answer(generate().into()), "0");
    assert_eq!(answer(generate().into()), "0", "cached");
    assert_eq!(answer(generate().cache(false).into()), "1", "not by this call");
    assert_eq!(answer(generate().cache(true).into()), "0");
    assert_eq!(answer(generate().temperature(0.5).into()), "2", "another request");
}
