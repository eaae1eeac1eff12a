//! `#[task]`: a function that stays what it is, and is found by name.
#![expect(clippy::unwrap_used, reason = "a test's helper may fail as the test may")]

use std::sync::Arc;

use errorbar::core::Metadata;
use errorbar::core::Spec;
use errorbar::eval::AnyScorer;
use errorbar::eval::{CancelToken, Quiet, RunOptions, block_on};
use errorbar::prelude::*;
use errorbar_log::eval::{EvalLog, Header};

/// Three colours,
/// asked for several times.
///
/// The manual's example.
#[task]
fn colors(
    #[default(2)] epochs: u32,
    #[default("red green blue")] target: String,
    /// The first epoch only.
    scorer: Option<AnyScorer>,
) -> Task {
    Task::new([Sample::new("Name three primary colors.").target(target)])
        .solver(generate())
        .scorer(scorer.unwrap_or_else(|| includes().into()))
        .epochs(epochs)
        .model("mock/red")
}

/// It may fail, is named otherwise, and has a required argument.
#[task(name = "one-colour")]
pub fn one(color: String) -> Result<Task> {
    if color.is_empty() {
        return Err("a colour has a name".into());
    }
    Ok(colors(1, color, None).name("one colour"))
}

/// A name that generated code uses too.
#[task]
fn build(args: u32) -> Task {
    colors(args, "red".to_owned(), None)
}

fn by_spec(spec: &str) -> Result<Task> {
    collected_registry()?.build(&spec.parse()?)
}

/// The header of the log of a run.
fn run(task: &Task) -> Header {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions { log_dir: folder.path().to_owned(), ..RunOptions::default() };
    let prepared = task.prepare(&options, &collected_registry().unwrap()).unwrap();
    let finished = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    EvalLog::open(&finished.log).unwrap().header().unwrap()
}

fn passed(header: &Header) -> String {
    serde_json::to_string(&header.eval.task_args_passed).unwrap()
}

#[test]
fn the_function_is_callable_as_written() {
    let header = run(&colors(3, "red".to_owned(), Some(exact().into())));
    assert_eq!(header.eval.config.epochs, Some(3));
    assert_eq!(header.eval.scorers.unwrap()[0].name, "exact");
    assert_eq!(header.eval.task_registry_name, None, "nobody has called it by name");
    assert!(one(String::new()).is_err());
}

#[test]
fn specs_pass_what_they_like() {
    let header = run(&by_spec("colors").unwrap());
    assert_eq!(header.eval.config.epochs, Some(2), "the default");
    assert_eq!((header.eval.task.as_str(), passed(&header).as_str()), ("colors", "{}"));
    assert_eq!(header.eval.task_registry_name.as_deref(), Some("colors"));

    let header = run(&by_spec("colors(3, scorer=exact(), target=None)").unwrap());
    assert_eq!(header.eval.config.epochs, Some(3));
    assert_eq!(header.eval.scorers.as_ref().unwrap()[0].name, "exact");
    let logged = r#"{"epochs":3,"scorer":{"type":"scorer","name":"exact","params":{}}}"#;
    assert_eq!(passed(&header), logged, "null is what was not passed");
}

#[test]
fn what_a_log_records_builds_the_task_again() {
    let header = run(&by_spec("colors(3, scorer=exact())").unwrap());
    let args: &Metadata = &header.eval.task_args_passed;
    let spec = Spec::from_log(header.eval.task_registry_name.as_deref().unwrap(), args).unwrap();
    let again = run(&collected_registry().unwrap().build(&spec).unwrap());
    assert_eq!(again.eval.config.epochs, Some(3));
    assert_eq!(again.eval.task_args_passed, header.eval.task_args_passed);
}

#[test]
fn a_name_of_its_own_stays() {
    let header = run(&by_spec("one-colour('red')").unwrap());
    assert_eq!(header.eval.task, "one colour");
    assert_eq!(header.eval.task_registry_name.as_deref(), Some("one-colour"));
    assert_eq!(header.results.unwrap().scores[0].metrics["accuracy"].value, 1.0, "mock/red says red");
}

#[test]
fn names_of_generated_code_are_free() {
    assert_eq!(run(&by_spec("build(args=4)").unwrap()).eval.config.epochs, Some(4));
}

#[test]
fn wrong_arguments_are_refused() {
    let message = |spec: &str| by_spec(spec).unwrap_err().to_string();
    assert_eq!(message("one-colour('')"), "a colour has a name");
    assert_eq!(message("one-colour"), "one-colour: argument `color` is missing; it is a string in quotes");
    assert_eq!(message("colors(-1)"), "colors: argument `epochs` must be an integer, 0 or more, found -1");
    assert_eq!(
        message("colors(epoch=1)"),
        "colors has no argument 'epoch' (it takes epochs, target, scorer)"
    );
    assert_eq!(message("color"), "unknown task `color`; did you mean `colors`?");
}

#[test]
fn listings_show_arguments_defaults_and_a_sentence() {
    let registry = collected_registry().unwrap();
    let listing = registry.list::<Task>().find(|l| l.name == "colors").unwrap();
    assert_eq!(listing.signature(), r#"colors(epochs=2, target="red green blue", scorer=None)"#);
    assert_eq!(listing.summary(), "Three colours, asked for several times.");
}
