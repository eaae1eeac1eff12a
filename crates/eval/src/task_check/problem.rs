//! Parts of a task that do not fit together.

use errorbar_core::KeyUsage;
use errorbar_core::spec::nearest;

use super::purpose;

/// Parts of a task that do not fit together: what it would compute is meaningless, or fails after the last request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskProblem {
    /// A scorer of answers, and no solver that calls the model.
    #[error("no solver calls the model, so {} would score empty answers", listed(scorers))]
    NoGenerate {
        /// The solvers.
        solvers: Vec<String>,
        /// The scorers that judge answers.
        scorers: Vec<String>,
    },
    /// A scorer of marked choices, and no solver that marks them.
    #[error(
        "`{scorer}` scores the choices that multiple_choice() marks, and the solver is {}",
        listed(solvers)
    )]
    NoMarkedChoices {
        /// The scorer.
        scorer: String,
        /// The solvers.
        solvers: Vec<String>,
    },
    /// A scorer that compares answers with targets, and samples of which none has one.
    #[error("no sample has a target, which {} would compare answers with", listed(scorers))]
    NoTarget {
        /// The scorers that compare.
        scorers: Vec<String>,
        /// The fields of the dataset file.
        fields: Vec<String>,
    },
    /// A name in a template that is not filled in for any sample.
    #[error(
        "the template of `{solver}` has {{{name}}}, which is {}metadata key of the samples",
        none_of(names)
    )]
    UnknownPlaceholder {
        /// The solver.
        solver: String,
        /// The name.
        name: String,
        /// The names that the solver fills in.
        names: Vec<String>,
        /// The metadata keys of the samples.
        keys: Vec<String>,
        /// Whether the dataset file has a field of that name.
        is_field: bool,
    },
    /// A metadata key that a metric needs and that no sample has, or not every one.
    #[error(
        "{} has the metadata key `{key}` {}",
        match sample { None => "no sample".to_owned(), Some(_) => "not every sample".to_owned() },
        purpose(*usage)
    )]
    MissingKey {
        /// The key.
        key: String,
        /// What it is for.
        usage: KeyUsage,
        /// The metadata keys of the samples.
        keys: Vec<String>,
        /// Whether the dataset file has a field of that name.
        is_field: bool,
        /// A sample that lacks the key, if others have it.
        sample: Option<String>,
    },
    /// A rater that a metric compares scores with, and that is neither a scorer nor a metadata key.
    #[error("`{name}`, which a metric compares scores with, is no scorer of the task and no metadata key")]
    UnknownRater {
        /// The name.
        name: String,
        /// The scorers of the task.
        scorers: Vec<String>,
        /// The metadata keys of the samples.
        keys: Vec<String>,
        /// Whether the dataset file has a field of that name.
        is_field: bool,
    },
    /// A headline that the results cannot have.
    #[error("the headline names the {part} `{name}`, which the task does not have")]
    UnknownHeadline {
        /// `scorer`, `metric` or `reducer`.
        part: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
}

impl TaskProblem {
    /// What would be right.
    pub fn hint(&self) -> Option<String> {
        match self {
            TaskProblem::NoGenerate { solvers, .. } => {
                let all = solvers.iter().map(String::as_str).chain(["generate()"]);
                Some(format!("add generate(): solver = [{}]", quoted(all)))
            }
            TaskProblem::NoMarkedChoices { .. } => {
                Some("let it ask the question: solver = \"multiple_choice()\"".to_owned())
            }
            TaskProblem::NoTarget { fields, .. } => Some(match fields.as_slice() {
                [] => "give the samples a target".to_owned(),
                fields => format!(
                    "name the field with the right answers as `target` of the dataset; it has: {}",
                    fields.join(", ")
                ),
            }),
            TaskProblem::UnknownPlaceholder { name, names, keys, is_field, .. } => {
                if *is_field {
                    return Some(keep_field(name, keys));
                }
                let near = nearest(name, names.iter().chain(keys).map(String::as_str));
                Some(match near {
                    Some(near) => {
                        format!("did you mean {{{near}}}? braces that should stay are written {{{{{name}}}}}")
                    }
                    None => format!(
                        "names are {}; braces that should stay are written {{{{{name}}}}}",
                        names.iter().chain(keys).map(String::as_str).collect::<Vec<_>>().join(", ")
                    ),
                })
            }
            TaskProblem::MissingKey { key, sample: Some(sample), .. } => {
                Some(format!("sample {sample:?} has none; give every sample the key `{key}`"))
            }
            TaskProblem::MissingKey { key, keys, is_field, .. } => {
                if *is_field {
                    return Some(keep_field(key, keys));
                }
                Some(match (nearest(key, keys.iter().map(String::as_str)), keys.as_slice()) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, []) => format!("the samples have no metadata; {}", keep_field(key, keys)),
                    (None, keys) => format!("the samples have: {}", keys.join(", ")),
                })
            }
            TaskProblem::UnknownRater { name, scorers, keys, is_field } => {
                if *is_field {
                    return Some(keep_field(name, keys));
                }
                let all = || scorers.iter().chain(keys).map(String::as_str);
                Some(match nearest(name, all()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "there are: {}; a field of map-valued scores is `field.{name}`",
                        all().collect::<Vec<_>>().join(", ")
                    ),
                })
            }
            TaskProblem::UnknownHeadline { name, known, .. } => {
                Some(match (nearest(name, known.iter().map(String::as_str)), known.as_slice()) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, []) => "leave it out".to_owned(),
                    (None, known) => format!("there are: {}", known.join(", ")),
                })
            }
        }
    }
}

/// The line that makes a field of the dataset file metadata.
fn keep_field(field: &str, keys: &[String]) -> String {
    let all = keys.iter().map(String::as_str).chain([field]);
    format!("name it in the dataset's metadata: metadata = [{}]", quoted(all))
}

fn quoted<'s>(items: impl Iterator<Item = &'s str>) -> String {
    items.map(|item| format!("{item:?}")).collect::<Vec<_>>().join(", ")
}

fn listed(items: &[String]) -> String {
    items.iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ")
}

/// What an unknown name is not, as the start of a sentence that ends in "metadata key of the samples".
fn none_of(names: &[String]) -> String {
    match names {
        [] => "no ".to_owned(),
        names => format!("none of its names ({}) and no ", names.join(", ")),
    }
}
