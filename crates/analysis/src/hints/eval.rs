//! Hints for errors of tasks and runs.

use std::path::PathBuf;

use errorbar_eval::{Error, RescoreError, StopRuleProblem, TaskFileError, TaskLoadError};
use errorbar_inference::FigureProblem;

use super::{core_hint, log_hint};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics, Snippet};
use crate::text;
use crate::text::{Opt, Text};

/// The error of a task or an argument that a task file does not have.
pub fn task_diagnostic(error: &TaskLoadError) -> Diagnostic {
    let named = |what: &str, nearest: &Option<String>, known: &[String]| {
        let near = nearest.as_ref().map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Text::from(format!("{near}{what}: {}", known.join(", ")))
    };
    let (is_of_argument, hint) = match error {
        TaskLoadError::UnknownTask { known, .. } if known.is_empty() => {
            (false, Some("it is one task: leave out the `@` and what follows".into()))
        }
        TaskLoadError::UnknownTask { nearest, known, .. } => (false, Some(named("tasks", nearest, known))),
        TaskLoadError::UnknownArgument { known, .. } if known.is_empty() => {
            let hint = text!(
                "no argument is declared; a task file does so with args = { subject = \"law\" }; options such as \
                 {Epochs} and {Metric} need none"
            );
            (true, Some(hint))
        }
        TaskLoadError::UnknownArgument { nearest, known, .. } => {
            (true, Some(named("arguments", nearest, known)))
        }
        TaskLoadError::ArgumentValue { .. } => (true, None),
        _ => (false, None),
    };
    let diagnostic = Diagnostic::error(error.to_string()).hint_if(hint);
    if is_of_argument { diagnostic.about_option(Opt::TaskArgument) } else { diagnostic }
}

/// What to do about it, unless the error itself names it.
fn hint(error: &Error) -> Option<Text> {
    Some(match error {
        Error::Core(error) => return core_hint(error),
        Error::Log(error) => return log_hint(error),
        Error::Task(problem) => problem.hint.as_str().into(),
        Error::Role { error, .. } => match &**error {
            Error::MissingKey { .. } => text!(
                "{RoleApiKeyFile} names a file that holds the key; for another server, {RoleBaseUrl} sets its address"
            ),
            Error::UnwantedKey { .. } => text!("leave out {RoleApiKeyFile}"),
            error => return hint(error),
        },
        Error::NoModel => text!(
            "name one: {Model=openai/NAME} for a server, {Model=replay/FILE} for recorded outputs, {Model=mock/TEXT} to \
             try it"
        ),
        Error::MissingKey { .. } => text!(
            "{ApiKeyFile} names a file that holds the key; for another server, {BaseUrl} sets its address"
        ),
        Error::UnwantedKey { .. } => text!("leave out {ApiKeyFile}"),
        Error::UnknownRole { role, .. } => role_hint(role, "openai/NAME"),
        Error::UnknownPrice { .. } => text!("name a file that has the prices: {Prices=prices.toml}"),
        Error::ForeignLog { .. } => {
            "continue it with that program (`inspect eval-retry LOG`), or run the task again".into()
        }
        Error::JsonLog { archive: Some(archive), .. } => {
            text!("resume its archive: {}", Opt::Resume.set(archive.display().to_string()))
        }
        Error::JsonLog { .. } => "resume the .eval log of a run, or run the task again".into(),
        Error::ChangedTask { .. } => text!("restore the task, or run it again without {Resume}"),
        Error::StopRule { problem, .. } => return stop_rule_hint(problem),
        Error::NotInRandomOrder { .. } => text!(
            "resume it without {StopWhen}, or run the task again with it: its log then has a random order"
        ),
        Error::CacheFolder { .. } => text!("choose another folder with {CacheDir}"),
        _ => return None,
    })
}

fn role_hint(role: &str, model: &str) -> Text {
    text!("give a model the role: {}", Opt::ModelRole.set(format!("{role}={model}")))
}

/// What to do about a rule that cannot stop the run.
fn stop_rule_hint(problem: &StopRuleProblem) -> Option<Text> {
    Some(match problem {
        StopRuleProblem::RangeNotPlanned { low, high, .. } => text!(
            "name it: {}, or {} in the task file",
            Opt::Range.set_all([low.to_string(), high.to_string()]),
            format!("errors = {{ range = [{low}, {high}] }}")
        ),
        StopRuleProblem::UnknownRange { .. } => text!(
            "name the lowest and the highest score: {Range=LO HI}, or errors = { range = [LO, HI] } in the task file"
        ),
        StopRuleProblem::Figure(FigureProblem::NotReduced) => text!("reduce them: {Reducer=mean}"),
        StopRuleProblem::MissingSamples { .. } => {
            text!("run only what it has with {Limit} or {SampleId}, or resume that log first")
        }
        StopRuleProblem::OtherQuestion { .. } => "compare with a log of the same questions".into(),
        StopRuleProblem::Log(error) => return log_hint(error),
        _ => return None,
    })
}

/// The same for a log that could not be scored again.
fn rescore_hint(error: &RescoreError) -> Option<Text> {
    Some(match error {
        RescoreError::Log(error) => return log_hint(error),
        RescoreError::Models(error) => return hint(error),
        RescoreError::Results(error) => return core_hint(error),
        RescoreError::NoSamples { .. } => {
            "a log that was written without its samples cannot be scored again".into()
        }
        RescoreError::LimitReached { .. } => {
            text!("allow more; with {Cache} the answers of graders are not paid for twice")
        }
        RescoreError::NoGrader { role, recorded, .. } => {
            let model = recorded.as_deref().filter(|recorded| !recorded.contains(','));
            role_hint(role, model.unwrap_or("openai/NAME"))
        }
        _ => return None,
    })
}

/// The number of mistakes of a task file that are shown; a file that is no task file at all has hundreds.
const MISTAKES_SHOWN: usize = 20;

impl From<errorbar_eval::Error> for Diagnostic {
    fn from(error: errorbar_eval::Error) -> Self {
        match error {
            errorbar_eval::Error::Log(error) => error.into(),
            error => Diagnostic::error(error.to_string()).hint_if(hint(&error)),
        }
    }
}

impl From<RescoreError> for Diagnostic {
    fn from(error: RescoreError) -> Self {
        let text = error.to_string();
        let diagnostic = match &error {
            RescoreError::Cancelled { .. } => Diagnostic::failure(text),
            _ => Diagnostic::error(text),
        };
        let diagnostic = diagnostic.hint_if(rescore_hint(&error));
        match error {
            RescoreError::NoSamples { .. } => diagnostic.of_kind(DiagnosticKind::Log),
            _ => diagnostic,
        }
    }
}

impl From<TaskFileError> for Diagnostics {
    fn from(error: TaskFileError) -> Self {
        let (path, count) = (error.path.display().to_string(), error.mistakes.len());
        let mistakes = error.mistakes.iter().take(MISTAKES_SHOWN).map(|mistake| {
            let allow = |path: &PathBuf| {
                text!("if you trust it, allow it: {}", Opt::AllowPath.set(path.display().to_string()))
            };
            let hint = mistake.hint.clone().map(Text::from).or_else(|| mistake.outside.as_ref().map(allow));
            let diagnostic = Diagnostic::error(&mistake.message).hint_if(hint);
            if mistake.is_about_the_file() {
                return diagnostic.about(&path);
            }
            diagnostic.marked(Snippet::of_file(&path, &error.text, &mistake.span, mistake.line))
        });
        let mut diagnostics: Diagnostics = mistakes.collect();
        if count > 1 {
            let more = count.saturating_sub(MISTAKES_SHOWN);
            let more = if more > 0 { format!(", {more} more than shown") } else { String::new() };
            diagnostics.push(Diagnostic::error(format!("{count} mistakes in {path}{more}")));
        }
        diagnostics
    }
}
