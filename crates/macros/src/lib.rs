//! The attributes `#[metric]` and `#[reducer]` of errorbar.
//!
//! Each turns a plain function into three things: a builder that Rust calls, an entry that specs
//! call by name, and the function itself as `Builder::body`, which unit tests call. The function is
//! taken apart once (`function`, `argument`, `default`) and both attributes put it together again
//! from the same parts (`builder`); `metric` and `reducer` hold only what differs.
//!
//! All paths in generated code start at `::errorbar`, the one crate that users depend on.
#![forbid(unsafe_code)]

mod argument;
mod builder;
mod default;
mod function;
mod metric;
mod options;
mod reducer;

use proc_macro::TokenStream;

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
/// A doc comment on an argument becomes that of its method. The metric returns anything that turns
/// into a `MetricValue` (a number, a map, a list), as it is or in a `Result`.
///
/// For `fn pass_rate` it defines the type `PassRate`, which implements `Metric`, the function
/// `pass_rate()`, which makes one, and `PassRate::body`, the function as written.
///
/// # Options
///
/// | option | means |
/// |---|---|
/// | `name = "pass_rate"` | the name in specs and logs; that of the function if not said |
/// | `wants = "reduced"` | which scores it sees: `auto` (the default), `reduced` or `unreduced` |
/// | `keys = ["category"]` | the sample metadata it reads; all of it if not said, `keys = []` for none |
/// | `replaces` | it takes the place of a metric of the same name |
#[proc_macro_attribute]
pub fn metric(options: TokenStream, item: TokenStream) -> TokenStream {
    metric::expand(options.into(), item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
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
/// returned, a `Score` or a `Result` of one, is kept as it is: answer, explanation and metadata are
/// the reducer's to merge. Arguments are those of [`macro@metric`]. Results name the reducer by its
/// name, or by its spec if arguments were passed.
///
/// # Options
///
/// | option | means |
/// |---|---|
/// | `name = "first_pass"` | the name in specs and logs; that of the function if not said |
/// | `replaces` | it takes the place of a reducer of the same name |
#[proc_macro_attribute]
pub fn reducer(options: TokenStream, item: TokenStream) -> TokenStream {
    reducer::expand(options.into(), item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
