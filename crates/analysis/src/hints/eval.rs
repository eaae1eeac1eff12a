//! Hints for errors of tasks and runs.

use errorbar_eval::{Error, RescoreError, StopRuleProblem, TaskLoadError};
use errorbar_inference::FigureProblem;

use super::{core, log};
use crate::diagnostic::Diagnostic;
use crate::shell;
use crate::text::Text;

/// The error of a task or an argument that a task file does not have.
pub fn task_diagnostic(error: &TaskLoadError) -> Diagnostic {
    let (option, hint) = match error {
        TaskLoadError::UnknownTask { nearest, known, .. } => {
            let hint = match (nearest, known.as_slice()) {
                (_, []) => "it is one task: leave out the `@` and what follows".to_owned(),
                (Some(near), known) => format!("did you mean `{near}`? tasks: {}", known.join(", ")),
                (None, known) => format!("tasks: {}", known.join(", ")),
            };
            ("", Some(hint))
        }
        TaskLoadError::UnknownArgument { nearest, known, .. } => {
            let hint = match (nearest, known.as_slice()) {
                (_, []) => {
                    "no argument is declared; a task file does so with args = { subject = \"law\" }; options such as \
                     --epochs and --metric need none"
                        .to_owned()
                }
                (Some(near), known) => format!("did you mean `{near}`? arguments: {}", known.join(", ")),
                (None, known) => format!("arguments: {}", known.join(", ")),
            };
            ("-T: ", Some(hint))
        }
        TaskLoadError::ArgumentValue { .. } => ("-T: ", None),
        _ => ("", None),
    };
    Diagnostic::error(format!("{option}{error}")).hint_if(hint)
}

/// What to do about it, unless the error itself names it.
pub fn hint(error: &Error) -> Option<Text> {
    let hint = match error {
        Error::Core(error) => return core::hint(error),
        Error::Log(error) => return log::hint(error),
        Error::Task(problem) => return problem.hint().map(Text::from),
        Error::Role { error, .. } => match &**error {
            Error::MissingKey { .. } => {
                "--role-api-key-file names a file that holds the key; for another server, --role-base-url sets its address"
            }
            Error::UnwantedKey { .. } => "leave out --role-api-key-file",
            error => return hint(error),
        },
        Error::NoModel => {
            "name one: --model openai/NAME for a server, --model replay/FILE for recorded outputs, --model mock/TEXT to \
             try it"
        }
        Error::MissingKey { .. } => {
            "--api-key-file names a file that holds the key; for another server, --base-url sets its address"
        }
        Error::UnwantedKey { .. } => "leave out --api-key-file",
        Error::UnknownRole { role, .. } => {
            return Some(format!("give a model the role: --model-role {role}=openai/NAME").into());
        }
        Error::UnknownPrice { .. } => "name a file that has the prices: --prices prices.toml",
        Error::ForeignLog { .. } => {
            "continue it with that program (`inspect eval-retry LOG`), or run the task again"
        }
        Error::JsonLog { archive: Some(archive), .. } => {
            return Some(
                format!("resume its archive: --resume {}", shell::word(&archive.display().to_string()))
                    .into(),
            );
        }
        Error::JsonLog { .. } => "resume the .eval log of a run, or run the task again",
        Error::ChangedTask { .. } => "restore the task, or run it again without --resume",
        Error::StopRule { problem, .. } => return stop_rule_hint(problem),
        Error::NotInRandomOrder { .. } => {
            "resume it without --stop-when, or run the task again with it: its log then has a random order"
        }
        Error::CacheFolder { .. } => "choose another folder with --cache-dir",
        _ => return None,
    };
    Some(hint.into())
}

/// What to do about a rule that cannot stop the run.
fn stop_rule_hint(problem: &StopRuleProblem) -> Option<Text> {
    let hint = match problem {
        StopRuleProblem::RangeNotPlanned { low, high, .. } => {
            return Some(format!(
                "name it: --range {low} {high}, or errors = {{ range = [{low}, {high}] }} in the task file"
            ).into());
        }
        StopRuleProblem::UnknownRange { .. } => {
            "name the lowest and the highest score: --range LO HI, or errors = { range = [LO, HI] } in the task file"
        }
        StopRuleProblem::Figure(FigureProblem::NotReduced) => "reduce them: --reducer mean",
        StopRuleProblem::MissingSamples { .. } => {
            "run only what it has with --limit or --sample-id, or resume that log first"
        }
        StopRuleProblem::OtherQuestion { .. } => "compare with a log of the same questions",
        StopRuleProblem::Log(error) => return log::hint(error),
        _ => return None,
    };
    Some(hint.into())
}

/// The same for a log that could not be scored again.
pub fn rescore_hint(error: &RescoreError) -> Option<Text> {
    match error {
        RescoreError::Log(error) => log::hint(error),
        RescoreError::Models(error) => hint(error),
        RescoreError::Results(error) => core::hint(error),
        RescoreError::NoSamples { .. } => {
            Some("a log that was written without its samples cannot be scored again".into())
        }
        RescoreError::LimitReached { .. } => {
            Some("allow more; with --cache the answers of graders are not paid for twice".into())
        }
        RescoreError::NoGrader { role, recorded, .. } => {
            let model =
                recorded.as_deref().filter(|recorded| !recorded.contains(',')).unwrap_or("openai/NAME");
            Some(format!("give a model the role: --model-role {role}={model}").into())
        }
        _ => None,
    }
}
