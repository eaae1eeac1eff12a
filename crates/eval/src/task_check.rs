//! Whether the parts of a task fit together, for tasks of Rust and of files alike.
//!
//! What is refused here would fail for every sample, or after the last request, or give figures that mean nothing. Nobody
//! is refused on a guess: a custom solver may call the model, mark choices and add metadata, so nothing that it could
//! make right is a problem.

use std::collections::BTreeSet;

use errorbar_core::engine::unique_names;
use errorbar_core::spec::{nearest, without_own_package};
use errorbar_core::{
    FigureNames, HeadlineRequest, KeyUsage, MetricItem, Metrics, Plan, Reducers, RequiredKey,
};

use crate::template::placeholders;
use crate::traits::{SolverEffects, Template};
use crate::{AnyScorer, Dataset, NamedSample};

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
        let message =
            format!("no solver calls the model, so {} would score empty answers", listed(&of_output));
        let all = solvers.iter().map(String::as_str).chain(["generate()"]);
        found.push((None, TaskProblem::new(message, format!("add generate(): solver = [{}]", quoted(all)))));
    }
    if !effects.marks_choices {
        let of_choices = known().filter(|(_, scorer)| scorer.needs().marked_choices);
        found.extend(of_choices.map(|(at, scorer)| {
            let bare = |solver: &String| format!("{}()", solver.split('(').next().unwrap_or_default().trim());
            let solvers: Vec<String> = solvers.iter().map(bare).collect();
            let (scorer, solvers) = (name(scorer), listed(&solvers));
            let message = format!(
                "`{scorer}` scores the choices that multiple_choice() marks, and the solver is {solvers}"
            );
            let hint = "let it ask the question: solver = \"multiple_choice()\"";
            (Some(at), TaskProblem::new(message, hint))
        }));
    }
    found
}

/// Samples of which none has a target, for scorers that compare answers with it: an empty string is in every answer.
pub(crate) fn targets(scorers: &[Option<&AnyScorer>], dataset: &Dataset) -> Option<TaskProblem> {
    let comparing = scorers.iter().flatten().filter(|scorer| scorer.needs().target);
    let scorers: Vec<String> = comparing.map(|scorer| scorer.spec().log_name().into_owned()).collect();
    let lacks = |(_, sample): &NamedSample| sample.target.iter().all(String::is_empty);
    if scorers.is_empty() || !dataset.samples().ok()?.iter().all(lacks) {
        return None;
    }
    let message = format!("no sample has a target, which {} would compare answers with", listed(&scorers));
    Some(TaskProblem::new(
        message,
        match dataset.fields() {
            [] => "give the samples a target".to_owned(),
            fields => format!(
                "name the field with the right answers as `target` of the dataset; it has: {}",
                fields.join(", ")
            ),
        },
    ))
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
        let names: Vec<String> = own().map(str::to_owned).collect();
        let none_of = match names.as_slice() {
            [] => "no ".to_owned(),
            names => format!("none of its names ({}) and no ", names.join(", ")),
        };
        let message = format!(
            "the template of `{solver}` has {{{name}}}, which is {none_of}metadata key of the samples"
        );
        let all = || names.iter().chain(&keys).map(String::as_str);
        let hint = match nearest(name, all()) {
            _ if is_field => keep_field(name, &keys),
            Some(near) => {
                format!("did you mean {{{near}}}? braces that should stay are written {{{{{name}}}}}")
            }
            None => format!(
                "names are {}; braces that should stay are written {{{{{name}}}}}",
                all().collect::<Vec<_>>().join(", ")
            ),
        };
        Finding::Problem(TaskProblem::new(message, hint))
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
    let who = if is_rare { "not every sample" } else { "no sample" };
    let message = format!("{who} has the metadata key `{key}` {}", purpose(*usage));
    let hint = match keys.as_slice() {
        _ if is_rare => {
            let sample = lacking.to_string();
            format!("sample {sample:?} has none; give every sample the key `{key}`")
        }
        keys if dataset.fields().contains(key) => keep_field(key, keys),
        [] => format!("the samples have no metadata; {}", keep_field(key, &keys)),
        keys => did_you_mean(key, keys, || format!("the samples have: {}", keys.join(", "))),
    };
    Some(Finding::Problem(TaskProblem::new(message, hint)))
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
    let (keys, scorers) = (keys_of(samples), plan.scorers.iter().map(|scorer| &scorer.name));
    let all: Vec<String> = scorers.chain(&keys).cloned().collect();
    let hint = match dataset.fields().contains(&name) {
        true => keep_field(&name, &keys),
        false => did_you_mean(&name, &all, || {
            format!("there are: {}; a field of map-valued scores is `field.{name}`", all.join(", "))
        }),
    };
    let message = format!(
        "`{name}`, which a metric compares scores with, is no scorer of the task and no metadata key"
    );
    TaskProblem::new(message, hint)
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

/// The names of a headline that no result will have, and which part of it they are. What is not known may be right.
pub(crate) fn headline(
    wanted: &HeadlineRequest,
    scorers: Option<Vec<String>>,
    metrics: Option<Vec<String>>,
    reducers: Option<Vec<String>>,
) -> Vec<(&'static str, TaskProblem)> {
    let of_epochs = "leave it out, or name one under `epochs`: { count = 5, reducers = [\"mean\"] }";
    let parts = [
        ("scorer", &wanted.scorer, scorers, "leave it out, or name one under `scorer`"),
        ("metric", &wanted.metric, metrics, "leave it out, or name one under `metrics`"),
        ("reducer", &wanted.reducer, reducers, of_epochs),
    ];
    let problem =
        |(part, name, known, otherwise): (&'static str, &Option<String>, Option<Vec<String>>, &str)| {
            let (name, known) = (name.as_ref()?, known?);
            if known.iter().any(|known| known == name || (part == "metric" && is_called(name, known))) {
                return None;
            }
            let hint = did_you_mean(name, &known, || match known.as_slice() {
                [] => otherwise.to_owned(),
                known => format!("there are: {}", known.join(", ")),
            });
            let message = format!("the headline names the {part} `{name}`, which the task does not have");
            Some((part, TaskProblem::new(message, hint)))
        };
    parts.into_iter().filter_map(problem).collect()
}

/// What results call scorers.
pub(crate) fn scorer_names<'s>(scorers: impl Iterator<Item = &'s AnyScorer>) -> Vec<String> {
    let names: Vec<String> = scorers.map(|scorer| scorer.spec().log_name().into_owned()).collect();
    unique_names(names.iter().map(String::as_str))
}

/// What results call reducers that are named.
pub(crate) fn reducer_names(reducers: &Reducers) -> Vec<String> {
    let names = reducers.log_names().unwrap_or_default();
    names.iter().map(|name| without_own_package(name).to_owned()).collect()
}

/// The names of the metrics, if each of them has one.
pub(crate) fn metric_names<'s>(
    metrics: Option<&Metrics>,
    mut scorers: impl Iterator<Item = &'s AnyScorer>,
) -> Option<Vec<String>> {
    let names = |metrics: &Metrics| -> Option<Vec<String>> {
        let Metrics::List(items) = metrics else { return None };
        let name = |item: &MetricItem| {
            let MetricItem::Metric(metric) = item else { return None };
            let has_own = metric.figure_names() == FigureNames::OfMetric;
            has_own.then(|| metric.spec().log_name().into_owned())
        };
        items.iter().map(name).collect()
    };
    match metrics {
        Some(metrics) => names(metrics),
        None => {
            scorers.try_fold(Vec::new(), |known, scorer| Some([known, names(&scorer.metrics())?].concat()))
        }
    }
}

/// Whether scores have no part in the names of any figure.
pub(crate) fn are_named_without_scores(metrics: &Metrics) -> bool {
    let is_named = |item: &MetricItem| match item {
        MetricItem::Metric(metric) => metric.figure_names() != FigureNames::OfScores,
        _ => false,
    };
    matches!(metrics, Metrics::List(items) if items.iter().all(is_named))
}

/// Whether a name is that of this metric: also with its arguments, or with the number of a second one of that name.
fn is_called(name: &str, known: &str) -> bool {
    let bare = name.split('(').next().unwrap_or_default();
    bare.strip_prefix(known).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

/// Parts of a task that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct TaskProblem {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: String,
}

impl TaskProblem {
    fn new(message: String, hint: impl Into<String>) -> Self {
        TaskProblem { message, hint: hint.into() }
    }
}

/// The nearest of the known names, or other advice.
fn did_you_mean<'k>(
    name: &str,
    known: impl IntoIterator<Item = &'k String>,
    otherwise: impl FnOnce() -> String,
) -> String {
    match nearest(name, known.into_iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise(),
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
