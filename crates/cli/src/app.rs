//! The command line as a value: what is registered, and how it runs.

use std::env::consts::EXE_SUFFIX;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::builder::Styles;
use errorbar_core::{Conversion, Metadata, Metric, Reducer, Registry, Result, Spec};
use errorbar_eval::{AnyScorer, AnySolver, Provider, Task};

use crate::commands::{Cli, CommandOutcome, Context, completions};
use crate::diagnostic::{Diagnostics, Outcome};
use crate::output::{self, Stream};

/// The whole command line, with everything that `#[metric]`, `#[reducer]`, `#[solver]`, `#[scorer]` and
/// `#[task]` define in the program.
///
/// This is the `main` of a program with custom metrics or tasks; see [`App`] to add what has no attribute.
/// Help, hints and completions have the name that the program was started by.
pub fn main() -> ExitCode {
    App::new().run(std::env::args_os())
}

/// The command line with entries that have no attribute: metrics, reducers, conversions, scorers, solvers, tasks and
/// providers of models.
#[derive(Debug)]
#[must_use]
pub struct App {
    /// What is registered, or the first error of that; reported when the program runs.
    registry: Result<Registry>,
}

impl Default for App {
    fn default() -> Self {
        App::new()
    }
}

impl App {
    /// Everything built in, and everything that the attributes define in this program.
    pub fn new() -> Self {
        App { registry: errorbar_eval::collected_registry() }
    }

    /// Everything that a registry has.
    pub fn of_registry(registry: Registry) -> Self {
        App { registry: Ok(registry) }
    }

    /// Adds a metric under its own name, with a sentence for `errorbar list`.
    pub fn metric(self, metric: impl Metric + 'static, doc: &str) -> Self {
        self.add(|registry| registry.add_metric_object(Arc::new(metric), doc))
    }

    /// Adds a reducer under its own name, with a sentence for `errorbar list`.
    pub fn reducer(self, reducer: impl Reducer + 'static, doc: &str) -> Self {
        self.add(|registry| registry.add_reducer_object(Arc::new(reducer), doc))
    }

    /// Adds a conversion under its own name, with a sentence for `errorbar list`.
    pub fn conversion(self, conversion: Conversion, doc: &str) -> Self {
        self.add(|registry| registry.add_conversion(conversion, doc))
    }

    /// Adds a scorer under its own name, with a sentence for `errorbar list`.
    pub fn scorer(self, scorer: impl Into<AnyScorer>, doc: &str) -> Self {
        let scorer = scorer.into();
        self.add(|registry| registry.add_object(scorer.spec(), doc, scorer))
    }

    /// Adds a solver under its own name, with a sentence for `errorbar list`.
    pub fn solver(self, solver: impl Into<AnySolver>, doc: &str) -> Self {
        let solver = solver.into();
        self.add(|registry| registry.add_object(solver.spec(), doc, solver))
    }

    /// Adds a task under this name, with a sentence for `errorbar list`.
    pub fn task(self, name: &str, task: Task, doc: &str) -> Self {
        let task = task.registered_as(name, Metadata::new());
        self.add(|registry| registry.add_object(Spec::new(name), doc, task))
    }

    /// Adds a provider of models: `--model NAME/…` opens one. The sentence is for `errorbar list`.
    pub fn provider(self, name: &str, provider: Provider, doc: &str) -> Self {
        self.add(|registry| registry.add_object(Spec::new(name), doc, provider))
    }

    fn add(mut self, add: impl FnOnce(&mut Registry) -> Result<()>) -> Self {
        self.registry = self.registry.and_then(|mut registry| add(&mut registry).map(|()| registry));
        self
    }

    /// Runs the command line on these arguments, the first of which is the program's name.
    pub fn run(self, args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
        self.run_to_status(args).into()
    }

    /// The same, for a program that ends in another way than by an [`ExitCode`].
    pub fn run_to_status(self, args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Outcome {
        let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
        let program = program_name(args.first());
        output::clean_panics();
        // A registry with an error is reported by the commands.
        if self.registry.as_ref().is_ok_and(|registry| completions::answer(&program, &args, registry)) {
            return Outcome::Done;
        }
        let cli = match Cli::parse_as(&program, args.clone(), Styles::styled()) {
            Ok(cli) => cli,
            Err(error) => {
                print_usage(&program, args, &error);
                return if error.use_stderr() { Outcome::InputError } else { Outcome::Done };
            }
        };
        output::set_colors(cli.global.color);
        let quiet = cli.global.quiet;
        let registry = self.registry.map_err(Diagnostics::from);
        let run = |registry| cli.run(&Context { program: &program, registry: &registry, quiet });
        registry.and_then(run).unwrap_or_else(CommandOutcome::from).print(quiet)
    }
}

/// Prints what is wrong with the arguments to standard error, or the help that they ask for to standard output.
fn print_usage(program: &str, args: Vec<OsString>, error: &clap::Error) {
    let stream = if error.use_stderr() { Stream::Stderr } else { Stream::Stdout };
    // Only a text without styles distinguishes those of clap from escape sequences in arguments and variables.
    let plain = Cli::parse_as(program, args, Styles::plain()).err();
    let plain = plain.map_or_else(|| error.to_string(), |plain| plain.render().ansi().to_string());
    let render = |color: bool| if color { error.render().ansi().to_string() } else { plain.clone() };
    // A closed stream is no error here.
    let _ = output::show(stream, render);
}

/// The name that the program was started by: that of its file.
fn program_name(called: Option<&OsString>) -> String {
    let file = called.and_then(|path| Path::new(path).file_name()).and_then(OsStr::to_str);
    let name = file.map(|file| file.strip_suffix(EXE_SUFFIX).unwrap_or(file)).unwrap_or_default();
    if name.is_empty() { "errorbar".to_owned() } else { errorbar_report::clean(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use errorbar_core::{Metrics, Score, Scores, ToSpec, metric_fn, reducer_fn};
    use errorbar_eval::{BoxFuture, Generate, Sample, Scorer, Solver, Target, TaskState};

    #[derive(Debug)]
    struct Step;

    impl ToSpec for Step {
        fn spec(&self) -> Spec {
            Spec::new("step")
        }
    }

    impl Solver for Step {
        fn solve<'a>(&'a self, _: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
            Box::pin(async { Ok(()) })
        }
    }

    #[derive(Debug)]
    struct StepScorer;

    impl ToSpec for StepScorer {
        fn spec(&self) -> Spec {
            Spec::new("step_scorer")
        }
    }

    impl Scorer for StepScorer {
        fn metrics(&self) -> Metrics {
            Metrics::List(Vec::new())
        }

        fn score<'a>(&'a self, _: &'a TaskState, _: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
            Box::pin(async { Ok(None) })
        }
    }

    fn app() -> App {
        let best = metric_fn("best", |scores: &Scores<'_>| Ok(scores.len()));
        App::new()
            .metric(best, "The best.")
            .reducer(reducer_fn("first", |scores| Ok(scores[0].clone())), "The first.")
            .conversion(
                Conversion::from_fn("length", |value| value.as_text().ok().map(|t| t.len() as f64)),
                "How long the string is.",
            )
    }

    #[test]
    fn what_is_added_can_be_named() {
        let registry = app().registry.unwrap();
        assert!(registry.metric(&"best".parse().unwrap()).is_ok());
        assert!(registry.reducer(&"first".parse().unwrap()).is_ok());
        assert!(registry.metric(&"mean(to_float=length())".parse().unwrap()).is_ok());
    }

    #[test]
    fn tasks_and_what_they_are_made_of_can_be_added() {
        let provider = Provider::local(|_, _| Err(errorbar_core::Error::custom("closed").into()));
        let task = Task::new([Sample::new("1 + 1")]).scorer(StepScorer);
        let app = App::new()
            .solver(Step, "A step.")
            .scorer(StepScorer, "A scorer.")
            .task("sums", task, "Sums.")
            .provider("local", provider, "Local models.");
        let registry = app.registry.unwrap();
        let spec = |text: &str| text.parse::<Spec>().unwrap();
        assert_eq!(registry.build::<AnySolver>(&spec("step")).unwrap().spec(), spec("step"));
        assert!(registry.build::<AnyScorer>(&spec("step_scorer")).is_ok());
        assert!(registry.build::<Task>(&spec("sums")).is_ok());
        assert!(registry.build::<Provider>(&spec("local")).is_ok());
    }

    #[test]
    fn a_program_is_called_by_the_name_of_its_file() {
        let name = |path: &str| program_name(Some(&OsString::from(path)));
        assert_eq!(name(&format!("/opt/bin/my-scores{EXE_SUFFIX}")), "my-scores");
        assert_eq!(name("scores.v2"), "scores.v2");
        assert_eq!(name(""), "errorbar");
        assert_eq!(program_name(None), "errorbar");
    }

    #[test]
    fn a_name_that_is_taken_ends_the_run() {
        let again = metric_fn("accuracy", |scores: &Scores<'_>| Ok(scores.len()));
        let code = app()
            .metric(again, "Mine.")
            .reducer(errorbar_core::reducers::mode(), "")
            .run(["errorbar", "list"]);
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(2)));
    }
}
