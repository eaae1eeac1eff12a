//! `#[solver]`: what it defines, in Rust and by spec.
#![expect(clippy::unwrap_used, reason = "a test's helper may fail as the test may")]

use errorbar::core::Spec;
use errorbar::eval::{AnyModel, block_on};
use errorbar::eval::{AnySolver, Solver, model_fn};
use errorbar::prelude::*;

/// Adds the magic word to the prompt.
#[solver]
async fn polite(state: &mut TaskState, generate: &Generate, #[default("please")] word: String) -> Result<()> {
    let prompt = state.user_prompt().ok_or("there is nothing to be polite about")?;
    prompt.content = format!("{}, {word}", prompt.content);
    generate.run(state).await
}

/// A plain function that cannot fail, and returns nothing.
#[solver(name = "skip-rest")]
fn enough(state: &mut TaskState, _: &Generate) {
    state.completed = true;
}

/// Asks beside the conversation, with a solver among its arguments.
#[solver]
pub async fn second_opinion(
    state: &mut TaskState,
    generate: &Generate,
    question: String,
    #[default(generate().into())] first: AnySolver,
) -> Result<()> {
    first.solve(state, generate).await?;
    let opinion = generate.ask(state, &[Message::user(question)]).await?;
    state.store.insert("opinion".to_owned(), opinion.completion.into());
    Ok(())
}

/// Without waiting, but it may fail.
#[solver]
fn refuse(_: &mut TaskState, _generate: &Generate) -> Result<()> {
    Err(Error::custom("no"))
}

/// What is left of the question "Well?" when the model repeats every prompt.
fn solve(solver: impl Into<AnySolver>) -> Result<TaskState> {
    let echo = model_fn("mock/echo", |request| {
        let prompt = request.messages.last().map(|message| message.content.clone());
        async move { Ok(prompt.unwrap_or_default()) }
    });
    let mut state = TaskState::new("mock/echo", &Sample::new("Well?"), 1.into(), 1);
    let (solver, generate) = (solver.into(), Generate::new(AnyModel::from(echo)));
    block_on(solver.solve(&mut state, &generate)).unwrap().map(|()| state)
}

fn by_spec(spec: &str) -> Result<AnySolver> {
    collected_registry()?.build(&spec.parse()?)
}

#[test]
fn solvers_change_the_conversation() {
    let state = solve(polite()).unwrap();
    assert_eq!(state.output.completion, "Well?, please");
    assert_eq!(state.messages.len(), 2, "question and answer");
    assert_eq!(solve(polite().word("bitte")).unwrap().output.completion, "Well?, bitte");
    assert!(solve(enough()).unwrap().completed);
    assert_eq!(solve(refuse()).unwrap_err(), Error::custom("no"));
}

#[test]
fn they_stand_in_chains() {
    let state = solve(chain![polite().word("a"), polite().word("b")]).unwrap();
    assert_eq!(state.messages[0].content, "Well?, a, b");
    assert_eq!(state.messages.len(), 3, "the question, and two answers");
    let state = solve(chain![enough(), polite()]).unwrap();
    assert_eq!(state.output.completion, "", "what follows is skipped");
    let steps: Vec<String> =
        chain![enough(), polite().word("a")].steps().iter().map(Spec::to_string).collect();
    assert_eq!(steps, ["skip-rest", r#"polite(word="a")"#]);
}

#[test]
fn specs_build_the_same_solver() {
    for spec in ["polite('s il vous plaît')", "polite(word='s il vous plaît')"] {
        let built = by_spec(spec).unwrap();
        assert_eq!(built.spec(), polite().word("s il vous plaît").spec());
        assert_eq!(solve(built).unwrap().output.completion, "Well?, s il vous plaît");
    }
    assert!(solve(by_spec("skip-rest").unwrap()).unwrap().completed);
    assert!(by_spec("enough").is_err(), "not by the name of the function");
    let error = by_spec("polite(1)").unwrap_err();
    assert_eq!(error.to_string(), "polite: argument `word` must be a string in quotes, found 1");
}

#[test]
fn a_solver_may_be_an_argument() {
    let state = solve(second_opinion("Sure?").first(polite())).unwrap();
    assert_eq!(state.output.completion, "Well?, please", "the conversation");
    assert_eq!(state.store["opinion"], "Sure?", "beside it");
    assert_eq!(solve(second_opinion("Sure?")).unwrap().output.completion, "Well?", "the default");
    let by_spec = by_spec("second_opinion('Sure?', polite('now'))").unwrap();
    assert_eq!(by_spec.spec().to_string(), r#"second_opinion(question="Sure?", first=polite(word="now"))"#);
    assert_eq!(solve(by_spec).unwrap().output.completion, "Well?, now");
}

#[test]
fn the_body_is_callable() {
    let mut state = TaskState::new("mock/model", &Sample::new("Well?"), 1.into(), 1);
    let silent = Generate::new(AnyModel::from(model_fn("mock/silent", |_| async { Ok("…".to_owned()) })));
    Enough::body(&mut state, &silent);
    assert!(state.completed);
    block_on(Polite::body(&mut state, &silent, "do".to_owned())).unwrap().unwrap();
    assert_eq!(state.messages[0].content, "Well?, do");
    state.messages.clear();
    let error = block_on(Polite::body(&mut state, &silent, "do".to_owned())).unwrap().unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to be polite about");
}

#[test]
fn listings_show_arguments_defaults_and_a_sentence() {
    let registry = collected_registry().unwrap();
    let listing = |name: &str| registry.list::<AnySolver>().find(|l| l.name == name).unwrap().clone();
    assert_eq!(listing("polite").signature(), r#"polite(word="please")"#);
    assert_eq!(listing("polite").summary(), "Adds the magic word to the prompt.");
    assert_eq!(listing("second_opinion").signature(), "second_opinion(question, first=generate())");
    assert!(!listing("polite").built_in && listing("generate").built_in);
}
