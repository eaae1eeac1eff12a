//! The derive `Params` and the attributes `#[metric]`, `#[reducer]`, `#[solver]`, `#[scorer]` and `#[task]` of errorbar.
//!
//! An entry is declared once: a struct of its arguments with `#[derive(Params)]` (`params`). The attributes write that
//! struct for a plain function, so there is one path for built-in entries and for custom ones. The first four each turn
//! the function into a builder that Rust calls, an entry that specs call by name, and the function itself as
//! `Builder::body`, which unit tests call. A task stays the function it is and gets an entry. The function is taken apart
//! once (`function`, `argument`) and all attributes put it together again from the same parts (`builder`);
//! `attributes` holds only what differs.
//!
//! Paths in generated code start at `::errorbar`, the one crate that users depend on, or at the crate that `crate = …`
//! names: a crate with the items of `errorbar_core` at its root and those of `errorbar_eval` in `eval`.
#![forbid(unsafe_code)]

mod attributes;
mod docs;
mod function;
mod options;
mod params;
mod setters;
mod words;

use proc_macro::TokenStream;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Where rustc and Clippy find something that was generated because of `tokens`: they point at what
/// the user wrote, and know that it is not what the user wrote.
fn at(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
}

fn expanded(code: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    code.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a metric of a function over scores.
///
/// ```
/// use errorbar::prelude::*;
///
/// /// Proportion of samples scoring at or above `threshold`.
/// #[metric]
/// fn pass_rate(scores: &Scores, #[default(0.5)] threshold: f64) -> Result<f64> {
///     let mut passed = 0;
///     for sample in scores {
///         if sample.score.as_f64()? >= threshold {
///             passed += 1;
///         }
///     }
///     Ok(f64::from(passed) / scores.len().max(1) as f64)
/// }
///
/// let plan = Plan::new().metrics(metrics![accuracy(), pass_rate().threshold(0.8)]);
/// let by_spec = Registry::collected()?.metric(&"pass_rate(0.8)".parse()?)?;
/// assert_eq!(by_spec.spec(), pass_rate().threshold(0.8).spec());
/// # Ok::<(), Error>(())
/// ```
///
/// The first argument is the scores. Every other one is an argument of the metric, of any type that
/// implements `ArgType`:
///
/// - without a default it must be passed, in Rust to the function itself;
/// - with `#[default(…)]` it may be passed, in Rust by a method of its name; text and lists are
///   written as literals: `#[default("C")]`, `#[default([0.5, 0.9])]`;
/// - an `Option<T>` needs no default: it is `None` when it is not passed.
///
/// A doc comment on an argument becomes that of its method and is shown in lists. The metric returns anything that turns
/// into a `MetricValue` (a number, an `Estimate`, a map or a list of either), as it is or in a
/// `Result`. A number comes without an error; an `Estimate` has the one that the metric gives it:
///
/// ```
/// use errorbar::prelude::*;
///
/// /// The score in the middle, with the interval that order statistics give.
/// #[metric(role = "location")]
/// fn middle_score(scores: &Scores) -> Estimate {
///     let mut values = scores.floats();
///     values.sort_by(f64::total_cmp);
///     let n = values.len();
///     let Some(middle) = values.get(n / 2) else { return Estimate::undefined(Undefined::NoScores) };
///     let half = 0.98 * (n as f64).sqrt();
///     let rank = |at: f64| values[(at.max(0.0) as usize).min(n - 1)];
///     let (lower, upper) = (rank(n as f64 / 2.0 - half), rank(n as f64 / 2.0 + half));
///     Estimate::new(*middle).with_interval(lower, upper, 0.95).with_n(n as u64)
/// }
/// # let _ = middle_score();
/// ```
///
/// For `fn pass_rate` it defines the type `PassRate`, which implements `Metric`, the function
/// `pass_rate()`, which makes one, and `PassRate::body`, the function as written.
///
/// # Options
///
/// | option | means |
/// |---|---|
/// | `name = "pass_rate"` | the name in specs and logs; that of the function if unset |
/// | `role = "location"` | what kind of figure it gives: `location` (a mean), `share`, `spread` or `other` (the default) |
/// | `wants = "reduced"` | which scores it sees: `auto` (the default), `reduced` or `unreduced` |
/// | `keys = ["category"]` | the sample metadata it reads; all of it if unset, `keys = []` for none |
/// | `parts = "value"` | what it reads of a score: its `value`, also its `metadata`, or `all` (the default); readers of logs hold no more |
/// | `replaces` | it takes the place of a metric of the same name |
#[proc_macro_attribute]
pub fn metric(options: TokenStream, item: TokenStream) -> TokenStream {
    expanded(attributes::expand(&attributes::METRIC, options.into(), item.into()))
}

/// Makes a reducer of a function over the scores of one sample.
///
/// ```
/// use errorbar::prelude::*;
///
/// /// The first epoch that scores at least `threshold`, else the last one.
/// #[reducer(name = "first_pass")]
/// fn first_pass(scores: &[Score], #[default(0.5)] threshold: f64) -> Score {
///     let passed = scores.iter().find(|score| score.to_f64() >= threshold);
///     passed.or(scores.last()).cloned().unwrap_or_else(|| Score::unscored("no_response"))
/// }
///
/// let in_rust = Epochs::new(5, first_pass().threshold(0.8));
/// let by_spec = Epochs::new(5, "first_pass(0.8)").reducers(&Registry::collected()?)?;
/// # Ok::<(), Error>(())
/// ```
///
/// The scores are those of one sample in the order of its epochs, unscored ones among them. What is
/// returned, a `Score` or a `Result` of one, is used as it is: answer, explanation and metadata are
/// the reducer's to merge. Arguments are those of [`macro@metric`]. Results name the reducer by its
/// name, or by its spec if arguments were passed.
///
/// # Options
///
/// | option | means |
/// |---|---|
/// | `name = "first_pass"` | the name in specs and logs; that of the function if unset |
/// | `replaces` | it takes the place of a reducer of the same name |
#[proc_macro_attribute]
pub fn reducer(options: TokenStream, item: TokenStream) -> TokenStream {
    expanded(attributes::expand(&attributes::REDUCER, options.into(), item.into()))
}

/// Makes a solver of a function that changes the conversation about a sample.
///
/// ```
/// use errorbar::prelude::*;
/// use errorbar::eval::AnySolver;
///
/// /// Adds the magic word to the prompt.
/// #[solver]
/// async fn polite(state: &mut TaskState, generate: &Generate, #[default("please")] word: String) -> Result<()> {
///     if let Some(prompt) = state.user_prompt() {
///         prompt.content = format!("{}, {word}", prompt.content);
///     }
///     generate.run(state).await
/// }
///
/// let in_rust = chain![system_message("Be brief."), polite().word("s'il vous plaît")];
/// let by_spec: AnySolver = collected_registry()?.build(&"polite('bitte')".parse()?)?;
/// assert_eq!(by_spec.spec(), polite().word("bitte").spec());
/// # Ok::<(), Error>(())
/// ```
///
/// `generate` calls the model: `generate.run(state)` for the next message of the conversation,
/// `generate.ask(state, &messages)` for an answer to something else. Arguments are those of
/// [`macro@metric`]. A solver that has nothing to wait for may be a plain `fn`, and one that cannot
/// fail may return nothing.
///
/// For `fn polite` it defines the type `Polite`, which implements `Solver`, the function `polite()`,
/// which makes one, and `Polite::body`, the function as written.
///
/// # Options
///
/// | option | means |
/// |---|---|
/// | `name = "polite"` | the name in specs and logs; that of the function if unset |
/// | `replaces` | it takes the place of a solver of the same name |
#[proc_macro_attribute]
pub fn solver(options: TokenStream, item: TokenStream) -> TokenStream {
    expanded(attributes::expand(&attributes::SOLVER, options.into(), item.into()))
}

/// Makes a scorer of a function that judges the answer to a sample.
///
/// ```
/// use errorbar::prelude::*;
/// use errorbar::eval::AnyScorer;
///
/// /// The share of the target's words that the answer has.
/// #[scorer(metrics = [mean(), stderr()])]
/// async fn word_overlap(state: &TaskState, target: &Target) -> Result<Score> {
///     let output = state.output.completion.to_lowercase();
///     let target = target.text().to_lowercase();
///     let words: Vec<&str> = target.split_whitespace().collect();
///     let hits = words.iter().filter(|word| output.contains(**word)).count();
///     Ok(Score::new(hits as f64 / words.len().max(1) as f64))
/// }
///
/// let task = Task::new([Sample::new("Name three primary colors.").target("red green blue")]).scorer(word_overlap());
/// let by_spec: AnyScorer = collected_registry()?.build(&"word_overlap()".parse()?)?;
/// assert_eq!(by_spec.metrics().iter().count(), 2);
/// # Ok::<(), Error>(())
/// ```
///
/// It returns a `Score` or an `Option<Score>`, as it is or in a `Result`; without a score the sample
/// is missing for this scorer, and counted as such. Arguments are those of [`macro@metric`]. A scorer
/// that has nothing to wait for may be a plain `fn`, which unit tests call without a runtime.
///
/// For `fn word_overlap` it defines the type `WordOverlap`, which implements `Scorer`, the function
/// `word_overlap()`, which makes one, and `WordOverlap::body`, the function as written.
///
/// # Options
///
/// | option | means |
/// |---|---|
/// | `metrics = [mean(), stderr()]` | what is computed over its scores, unless the task has its own: what the macro `metrics!` takes, or a map alone, `{"a*": [mean()]}`, for scores that are maps; required |
/// | `name = "word_overlap"` | the name in specs and logs; that of the function if unset |
/// | `range = (0.0, 1.0)` | the lowest and the highest score that there can be; a run can then be stopped early by its mean |
/// | `replaces` | it takes the place of a scorer of the same name |
#[proc_macro_attribute]
pub fn scorer(options: TokenStream, item: TokenStream) -> TokenStream {
    expanded(attributes::expand(&attributes::SCORER, options.into(), item.into()))
}

/// Makes a task of a function that returns one, so that `eval` finds it by name.
///
/// ```
/// use errorbar::prelude::*;
///
/// /// Three colours.
/// #[task]
/// fn colors(#[default(1)] epochs: u32) -> Task {
///     Task::new([Sample::new("Name three primary colors.").target("red green blue")])
///         .solver(generate())
///         .scorer(includes())
///         .epochs(epochs)
/// }
///
/// let in_rust = colors(5);
/// let by_spec: Task = collected_registry()?.build(&"colors(epochs=5)".parse()?)?;
/// # Ok::<(), Error>(())
/// ```
///
/// The function stays what it is: Rust calls it with all its arguments, and `#[default(…)]` defines only
/// what a spec may leave out. Arguments are of the types that those of a [`macro@metric`] have. It
/// returns a `Task` or a `Result` of one. The log records the name and the arguments that were passed.
///
/// # Options
///
/// | option | means |
/// |---|---|
/// | `name = "colors"` | the name in specs and logs; that of the function if unset |
#[proc_macro_attribute]
pub fn task(options: TokenStream, item: TokenStream) -> TokenStream {
    expanded(attributes::task(options.into(), item.into()))
}

/// Declares the arguments of an entry once, as the fields of a struct: see the trait `Params`.
///
/// ```
/// use errorbar::prelude::*;
/// use errorbar::core::{Params, registry::MetricEntry};
///
/// /// The share of scores from a threshold on.
/// #[derive(Clone, Debug, Params)]
/// #[params(name = "share_above")]
/// struct ShareAbove {
///     /// The lowest score that counts.
///     #[param(default = 0.5)]
///     threshold: Option<f64>,
/// }
///
/// impl Metric for ShareAbove {
///     fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
///         let least = self.threshold_or_default();
///         let above = scores.floats().into_iter().filter(|score| *score >= least).count();
///         Ok((above as f64 / scores.len().max(1) as f64).into())
///     }
/// }
///
/// let mut registry = Registry::built_in();
/// registry.add(&MetricEntry::of::<ShareAbove>())?;
/// let by_spec = registry.metric(&"share_above(0.8)".parse()?)?;
/// assert_eq!(by_spec.spec(), share_above().threshold(0.8).spec());
/// # Ok::<(), Error>(())
/// ```
#[proc_macro_derive(Params, attributes(params, param))]
pub fn derive_params(input: TokenStream) -> TokenStream {
    expanded(params::expand(input.into()))
}

/// Makes setters for the fields of a request: `ScoreRequest::default().score_columns(["verdict"]).level(0.9)`.
///
/// Fields with `#[serde(flatten)]` are parts, whose fields are set on the request itself, because that is how the command
/// line and Python name them. A struct with `#[setters(part)]` is such a part: its setters are a trait, for it and for
/// all requests that have it. A field with parts of its own lists them: `#[setters(LimitRequest)]`.
#[proc_macro_derive(Setters, attributes(setters))]
pub fn derive_setters(input: TokenStream) -> TokenStream {
    expanded(syn::parse(input).and_then(|input| setters::expand(&input)))
}

/// The words by which specs pass the variants of an enum, in kebab case: see the trait `ArgWord`, which must be in scope.
#[proc_macro_derive(ArgWord)]
pub fn derive_arg_word(input: TokenStream) -> TokenStream {
    expanded(words::expand(input.into()))
}

/// What rustc refuses of the functions below the attributes: types that do not fit.
///
/// ```compile_fail
/// use errorbar::prelude::*;
/// #[scorer(metrics = [mean()])]
/// async fn number(state: &TaskState, target: &Target) -> Result<f64> {
///     Ok(1.0)
/// }
/// ```
///
/// ```compile_fail
/// use errorbar::prelude::*;
/// #[solver]
/// async fn returns_text(state: &mut TaskState, generate: &Generate) -> Result<String> {
///     Ok(String::new())
/// }
/// ```
///
/// ```compile_fail
/// use errorbar::prelude::*;
/// #[scorer(metrics = [mean()])]
/// async fn swapped(target: &Target, state: &TaskState) -> Result<Score> {
///     Ok(Score::new(1))
/// }
/// ```
///
/// ```compile_fail
/// use errorbar::prelude::*;
/// #[scorer(metrics = [mean(), reducers::mode()])]
/// async fn reducer_for_metric(state: &TaskState, target: &Target) -> Result<Score> {
///     Ok(Score::new(1))
/// }
/// ```
///
/// ```compile_fail
/// use errorbar::prelude::*;
/// #[solver]
/// async fn not_send(state: &mut TaskState, generate: &Generate) -> Result<()> {
///     let shared = std::rc::Rc::new(1);
///     generate.run(state).await?;
///     drop(shared);
///     Ok(())
/// }
/// ```
///
/// ```compile_fail
/// use errorbar::prelude::*;
/// #[solver]
/// fn not_async(state: &mut TaskState, generate: &Generate) -> Result<()> {
///     generate.run(state).await
/// }
/// ```
///
/// ```compile_fail
/// use errorbar::prelude::*;
/// #[task]
/// fn of_text(#[default("five")] epochs: u32) -> Task {
///     Task::new(["?"]).epochs(epochs)
/// }
/// ```
///
/// ```compile_fail
/// use errorbar::prelude::*;
/// use errorbar::eval::Dataset;
/// #[task]
/// fn dataset() -> Result<Dataset> {
///     Ok(Dataset::new(["?"]))
/// }
/// ```
#[cfg(doctest)]
struct WrongTypes;
