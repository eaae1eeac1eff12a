//! Whether the parts of a task fit together, for tasks of Rust and of files alike.
//!
//! What is refused here would fail for every sample, or after the last request, or give figures that mean nothing. Nobody
//! is refused on a guess: a custom solver may call the model, mark choices and add metadata, so nothing that it could
//! make right is a problem.

mod headline;
mod problem;

use std::collections::BTreeSet;

use errorbar_core::spec::nearest;
use errorbar_core::{Metric, Metrics};

use crate::effects::{SolverEffects, Template};
use crate::template::placeholders;
use crate::{AnyScorer, Dataset, NamedSample};

pub(crate) use headline::{
    HeadlineParts, are_named_without_scores, check as headline, is_called, metric_names,
};
pub use problem::TaskProblem;

/// A problem, or what only may be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Problem(TaskProblem),
    Warning(String),
}

/// No answer, or no marked choice, for a scorer that needs it; with the number of the scorer, if it is about one.
pub(crate) fn solver_and_scorers(
    effects: &SolverEffects,
    solvers: &[String],
    scorers: &[Option<&AnyScorer>],
) -> Vec<(Option<usize>, TaskProblem)> {
    if effects.is_unknown() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let known = || scorers.iter().enumerate().filter_map(|(at, scorer)| Some((at, (*scorer)?)));
    let name = |scorer: &AnyScorer| scorer.spec().log_name().into_owned();
    let of_output = known().filter(|(_, scorer)| scorer.needs().needs_output());
    let of_output: Vec<String> = of_output.map(|(_, scorer)| name(scorer)).collect();
    if !effects.calls_model() && !of_output.is_empty() {
        let problem = TaskProblem::NoGenerate { solvers: solvers.to_vec(), scorers: of_output };
        found.push((None, problem));
    }
    if !effects.marks() {
        let of_choices = known().filter(|(_, scorer)| scorer.needs().needs_marked_choices());
        found.extend(of_choices.map(|(at, scorer)| {
            let bare = |solver: &String| format!("{}()", solver.split('(').next().unwrap_or_default().trim());
            let (scorer, solvers) = (name(scorer), solvers.iter().map(bare).collect());
            (Some(at), TaskProblem::NoMarkedChoices { scorer, solvers })
        }));
    }
    found
}

/// The names of a template that nothing fills in.
///
/// In templates of prompts the reference leaves an unknown name as it is, and prompts do hold braces: such a name is a
/// problem only if it is nearly a known one, or a field of the dataset file that is not in the metadata.
pub(crate) fn names_of_template(template: &Template, dataset: &Dataset) -> Vec<(String, Finding)> {
    let Ok(samples) = dataset.samples() else { return Vec::new() };
    if template.is_open {
        return Vec::new();
    }
    let is_known = |name: &&str| template.names.contains(name) || samples.iter().all(has(name));
    let unknown: BTreeSet<&str> =
        placeholders(&template.text).into_iter().filter(|name| !is_known(name)).collect();
    let finding = |name: &str| {
        let keys = keys_of(samples);
        let is_field = dataset.fields().iter().any(|field| field == name);
        let all = template.names.iter().copied().chain(keys.iter().map(String::as_str));
        let is_rare = samples.iter().any(has(name));
        let is_certain = template.is_strict || is_field || (!is_rare && nearest(name, all).is_some());
        let solver = template.solver;
        if !is_certain {
            let who = if is_rare { "not every sample" } else { "no sample" };
            let text = format!(
                "{{{name}}} in the template of `{solver}` is sent as it is, because {who} has the metadata key `{name}`; \
                 braces that should stay are written {{{{{name}}}}}"
            );
            return Finding::Warning(text);
        }
        Finding::Problem(TaskProblem::UnknownPlaceholder {
            solver: solver.to_owned(),
            name: name.to_owned(),
            names: template.names.iter().map(|name| (*name).to_owned()).collect(),
            keys,
            is_field,
        })
    };
    unknown.into_iter().map(|name| (name.to_owned(), finding(name))).collect()
}

/// A key that samples are clustered or grouped by, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequiredKey {
    pub(crate) key: String,
    pub(crate) purpose: &'static str,
}

impl RequiredKey {
    pub(crate) fn cluster(key: impl Into<String>) -> Self {
        RequiredKey { key: key.into(), purpose: "cluster" }
    }

    /// Whether samples lack the key, which fails the figures after the last request. `scores_all` if every sample that
    /// does not fail has a score: one without is in no figure, and needs no key.
    pub(crate) fn check(
        &self,
        dataset: &Dataset,
        samples: &[NamedSample],
        scores_all: bool,
    ) -> Option<Finding> {
        let RequiredKey { key, purpose } = self;
        let (lacking, _) = samples.iter().find(|sample| !has(key)(sample))?;
        let is_rare = samples.iter().any(has(key));
        if is_rare && !scores_all {
            return Some(Finding::Warning(format!(
                "sample {:?} has no metadata key `{key}` to {purpose} by; if it has a score, the figure fails",
                lacking.to_string()
            )));
        }
        Some(Finding::Problem(TaskProblem::MissingKey {
            key: key.clone(),
            purpose,
            keys: keys_of(samples),
            is_field: !is_rare && dataset.fields().iter().any(|field| field == key),
            sample: is_rare.then(|| lacking.to_string()),
        }))
    }
}

/// The keys without which these metrics fail. Custom metrics may do without the keys that they name.
pub(crate) fn required_keys(metrics: &Metrics) -> Vec<RequiredKey> {
    fn add(metric: &dyn Metric, keys: &mut Vec<RequiredKey>) {
        if let Some(key) = metric.cluster() {
            keys.push(RequiredKey::cluster(key));
        }
        if let Some(key) = metric.group_key() {
            keys.push(RequiredKey { key: key.to_owned(), purpose: "group" });
        }
        if let Some(inner) = metric.inner() {
            add(inner, keys);
        }
    }
    let mut keys = Vec::new();
    metrics.iter().for_each(|metric| add(metric.as_ref(), &mut keys));
    keys.dedup();
    keys
}

/// Whether each of these scorers is known to score every sample.
pub(crate) fn scores_all<'s>(mut scorers: impl Iterator<Item = &'s AnyScorer>) -> bool {
    scorers.all(|scorer| scorer.needs() != crate::ScorerNeeds::unknown())
}

fn has(key: &str) -> impl Fn(&NamedSample) -> bool {
    move |(_, sample)| sample.metadata.contains_key(key)
}

/// The metadata keys of samples, in order of appearance.
fn keys_of(samples: &[NamedSample]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for key in samples.iter().flat_map(|(_, sample)| sample.metadata.keys()) {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}
