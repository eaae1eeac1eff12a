//! Whether the parts of a task fit together, for tasks of Rust and of files alike.
//!
//! What is refused here would fail for every sample, or after the last request, or give figures that mean nothing. Nobody
//! is refused on a guess: a custom solver may call the model, mark choices and add metadata, so nothing that it could
//! make right is a problem.

mod headline;
mod problem;

use std::collections::BTreeSet;

use errorbar_core::spec::nearest;
use errorbar_core::{KeyUsage, Metrics, Plan, RequiredKey};

use crate::template::placeholders;
use crate::traits::{SolverEffects, Template};
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
    if effects.unknown {
        return Vec::new();
    }
    let mut found = Vec::new();
    let known = || scorers.iter().enumerate().filter_map(|(at, scorer)| Some((at, (*scorer)?)));
    let name = |scorer: &AnyScorer| scorer.spec().log_name().into_owned();
    let of_output = known().filter(|(_, scorer)| scorer.needs().output);
    let of_output: Vec<String> = of_output.map(|(_, scorer)| name(scorer)).collect();
    if !effects.generates && !of_output.is_empty() {
        let problem = TaskProblem::NoGenerate { solvers: solvers.to_vec(), scorers: of_output };
        found.push((None, problem));
    }
    if !effects.marks_choices {
        let of_choices = known().filter(|(_, scorer)| scorer.needs().marked_choices);
        found.extend(of_choices.map(|(at, scorer)| {
            let bare = |solver: &String| format!("{}()", solver.split('(').next().unwrap_or_default().trim());
            let (scorer, solvers) = (name(scorer), solvers.iter().map(bare).collect());
            (Some(at), TaskProblem::NoMarkedChoices { scorer, solvers })
        }));
    }
    found
}

/// Samples of which none has a target, for scorers that compare answers with it: an empty string is in every answer.
pub(crate) fn targets(scorers: &[Option<&AnyScorer>], dataset: &Dataset) -> Option<TaskProblem> {
    let comparing = scorers.iter().flatten().filter(|scorer| scorer.needs().target);
    let scorers: Vec<String> = comparing.map(|scorer| scorer.spec().log_name().into_owned()).collect();
    let lacks = |(_, sample): &NamedSample| sample.target.iter().all(String::is_empty);
    match !scorers.is_empty() && dataset.samples().ok()?.iter().all(lacks) {
        true => Some(TaskProblem::NoTarget { scorers, fields: dataset.fields().to_vec() }),
        false => None,
    }
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
    let is_filled =
        |name: &&str| template.names.contains(name) || template.params.iter().any(|param| param == name);
    let is_known = |name: &&str| is_filled(name) || samples.iter().all(has(name));
    let used = placeholders(&template.text);
    let is_unused = |param: &&String| !used.iter().any(|name| is_part_of(name, param));
    let unused = template.params.iter().filter(is_unused).map(|param| {
        let near = nearest(param, ["template"].into_iter().chain(used.iter().copied()));
        let advice = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let text = format!(
            "no {{{param}}} in the template of `{}` uses its argument `{param}`{advice}",
            template.solver
        );
        (param.clone(), Finding::Warning(text))
    });
    let unknown: BTreeSet<&str> = used.iter().copied().filter(|name| !is_known(name)).collect();
    let finding = |name: &str| {
        let keys = keys_of(samples);
        let is_field = dataset.fields().iter().any(|field| field == name);
        let own = || template.names.iter().copied().chain(template.params.iter().map(String::as_str));
        let all = own().chain(keys.iter().map(String::as_str));
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
            names: own().map(str::to_owned).collect(),
            keys,
            is_field,
        })
    };
    unknown.into_iter().map(|name| (name.to_owned(), finding(name))).chain(unused).collect()
}

/// Whether a name in a template is this argument, or a part of it.
fn is_part_of(name: &str, param: &str) -> bool {
    name.strip_prefix(param).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Whether samples lack a key, which fails the figures after the last request. `scores_all` if every sample that does not
/// fail has a score: one without is in no figure, and needs no key.
pub(crate) fn check_key(
    required: &RequiredKey,
    dataset: &Dataset,
    samples: &[NamedSample],
    scores_all: bool,
) -> Option<Finding> {
    let RequiredKey { key, usage, .. } = required;
    let (lacking, _) = samples.iter().find(|sample| !has(key)(sample))?;
    let is_rare = samples.iter().any(has(key));
    let keys = keys_of(samples);
    match usage {
        // A part of a map, or a key of some samples, will do.
        KeyUsage::Condition => {
            let is_within = key.split_once('.').is_some_and(|(map, _)| samples.iter().any(has(map)));
            if is_rare || is_within {
                return None;
            }
        }
        // Scores may have it, of which nothing is known before there are any; a key that is nearly right is none of theirs.
        KeyUsage::Confidence if nearest(key, keys.iter().map(String::as_str)).is_none() || !scores_all => {
            return None;
        }
        _ if is_rare && !scores_all => {
            return Some(Finding::Warning(format!(
                "sample {:?} has no metadata key `{key}` {}; if it has a score, the figure fails",
                lacking.to_string(),
                purpose(*usage)
            )));
        }
        _ => {}
    }
    Some(Finding::Problem(TaskProblem::MissingKey {
        key: key.clone(),
        usage: *usage,
        keys,
        is_field: !is_rare && dataset.fields().iter().any(|field| field == key),
        sample: is_rare.then(|| lacking.to_string()),
    }))
}

/// What a key is for, as in "the metadata key `topic` to cluster by".
pub(crate) fn purpose(usage: KeyUsage) -> &'static str {
    match usage {
        KeyUsage::Cluster => "to cluster by",
        KeyUsage::Group => "to group by",
        KeyUsage::Weight => "to weight by",
        KeyUsage::Condition => "of a condition",
        KeyUsage::Confidence => "of the confidence",
        _ => "that a metric reads",
    }
}

/// The keys without which these metrics fail.
pub(crate) fn required_keys(metrics: &Metrics) -> Vec<RequiredKey> {
    let mut keys: Vec<RequiredKey> = metrics.iter().flat_map(|metric| metric.required_keys()).collect();
    keys.dedup();
    keys
}

/// The raters of a plan that are neither scorers nor metadata keys of the samples. They may still be fields of map-valued
/// scores, if those are not known.
pub(crate) fn unknown_raters(plan: &Plan, samples: &[NamedSample]) -> Vec<String> {
    let is_scorer = |name: &str| plan.scorers.iter().any(|scorer| scorer.name == name);
    let is_key = |name: &str| samples.iter().any(has(name));
    let is_known = |name: &str| match name.split_once('.') {
        _ if is_scorer(name) || is_key(name) => true,
        Some(("scorer", rest)) => is_scorer(rest),
        Some(("metadata", rest)) => is_key(rest),
        // A field is one of scores.
        Some(("field", _)) => true,
        Some((scorer, _)) => is_scorer(scorer),
        None => false,
    };
    let mut names = plan.raters().names;
    names.retain(|name| !is_known(name));
    names.dedup();
    names
}

/// The problem with a rater that is none.
pub(crate) fn unknown_rater(
    name: String,
    plan: &Plan,
    dataset: &Dataset,
    samples: &[NamedSample],
) -> TaskProblem {
    let is_field = dataset.fields().contains(&name);
    let scorers = plan.scorers.iter().map(|scorer| scorer.name.clone()).collect();
    TaskProblem::UnknownRater { name, scorers, keys: keys_of(samples), is_field }
}

/// Whether each of these scorers is known to score every sample.
pub(crate) fn scores_all<'s>(mut scorers: impl Iterator<Item = &'s AnyScorer>) -> bool {
    scorers.all(|scorer| scorer.needs().output || scorer.needs().marked_choices)
}

fn has(key: &str) -> impl Fn(&NamedSample) -> bool {
    move |(_, sample)| sample.metadata.contains_key(key)
}

/// The metadata keys of samples, in order of appearance.
pub(crate) fn keys_of(samples: &[NamedSample]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for key in samples.iter().flat_map(|(_, sample)| sample.metadata.keys()) {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}
