//! Whether the parts of the file fit together, each mistake at its place.

use std::ops::Range;

use errorbar_core::spec::MetricsSpec;
use errorbar_core::{ErrorPlan, KeyUsage, RequiredKey};

use super::mistake::Mistakes;
use super::section::{TomlField, TomlString};
use super::{WithString, specs};
use crate::task_check::{
    Finding, TaskProblem, check_key, names_of_template, required_keys, scores_all, solver_and_scorers,
};
use crate::traits::SolverEffects;
use crate::{AnyScorer, AnySolver, Dataset, task_check};

/// The parts of the file, as far as they were understood.
pub(super) struct FileParts<'f, 'd> {
    /// The solvers, if the file names some; one that was not understood is `None`.
    pub(super) solvers: Option<&'f [Option<WithString<'d, AnySolver>>]>,
    pub(super) scorers: &'f [Option<WithString<'d, AnyScorer>>],
    pub(super) metrics: Option<TomlField<'d>>,
    pub(super) errors: Option<TomlField<'d>>,
    pub(super) dataset: Option<&'f Dataset>,
    /// Whether parts of the text are no TOML.
    pub(super) is_broken: bool,
}

impl FileParts<'_, '_> {
    /// Reports what does not fit together.
    pub(super) fn check(&self, errors: &ErrorPlan, mistakes: &Mistakes) {
        let report = |place: Range<usize>, problem: &TaskProblem| {
            mistakes.add(place, problem.message.as_str(), Some(problem.hint.clone()));
        };
        let effects = self.effects();
        let scorers: Vec<Option<&AnyScorer>> =
            self.scorers.iter().map(|scorer| scorer.as_ref().map(|(_, scorer)| scorer)).collect();
        for (scorer, problem) in solver_and_scorers(&effects, &self.solver_texts(), &scorers) {
            let scorer = scorer.and_then(|at| self.scorers.get(at)?.as_ref());
            let place = scorer.map(|(string, _)| string.span.clone()).or_else(|| self.place_of_solvers());
            report(place.unwrap_or(0..0), &problem);
        }
        let Some((dataset, samples)) =
            self.dataset.and_then(|dataset| Some((dataset, dataset.samples().ok()?)))
        else {
            return;
        };
        // Behind another mistake, such as a misspelled `target`, it would only be a consequence.
        let has_mistakes = mistakes.count() > 0;
        if let Some(problem) = task_check::targets(&scorers, dataset).filter(|_| !has_mistakes) {
            let mut strings = self.scorers.iter().flatten();
            let comparing = strings.find(|(_, scorer)| scorer.needs().target);
            report(comparing.map_or(0..0, |(string, _)| string.span.clone()), &problem);
        }
        for (string, scorer) in self.scorers.iter().flatten() {
            if let Err(error) = scorer.check_dataset(samples) {
                specs::report(string, "scorer", &error);
            }
        }
        let mut before = SolverEffects::default();
        for solver in self.solvers.unwrap_or_default() {
            let known = before.templates.len();
            before = before.then(effects_of(solver));
            let Some((string, _)) = solver else { continue };
            let templates = before.templates.get(known..).unwrap_or_default();
            for (name, finding) in templates.iter().flat_map(|template| names_of_template(template, dataset))
            {
                // What is only a warning is one of the run.
                if let Finding::Problem(problem) = finding {
                    report(place_of(string, &format!("{{{name}}}")), &problem);
                }
            }
        }
        if effects.unknown || self.is_broken {
            return;
        }
        let scores_all = scorers.iter().all(Option::is_some) && scores_all(scorers.into_iter().flatten());
        for (place, key) in self.keys(errors) {
            if let Some(Finding::Problem(problem)) = check_key(&key, dataset, samples, scores_all) {
                report(place, &problem);
            }
        }
    }

    /// What all solvers do. Of one that was not understood nothing is known, nor of all of them in a broken file.
    pub(super) fn effects(&self) -> SolverEffects {
        let Some(solvers) = self.solvers else {
            return match self.is_broken {
                true => SolverEffects::unknown(),
                false => SolverEffects { generates: true, ..SolverEffects::default() },
            };
        };
        solvers.iter().map(effects_of).fold(SolverEffects::default(), SolverEffects::then)
    }

    /// The solvers as the file has them.
    fn solver_texts(&self) -> Vec<String> {
        match self.solvers {
            None => vec!["generate()".to_owned()],
            Some(solvers) => solvers.iter().flatten().map(|(string, _)| string.value.to_owned()).collect(),
        }
    }

    fn place_of_solvers(&self) -> Option<Range<usize>> {
        let mut strings = self.solvers?.iter().flatten().map(|(string, _)| &string.span);
        let first = strings.next()?;
        Some(first.start..strings.next_back().unwrap_or(first).end)
    }

    /// The keys that the file clusters and groups by, with their places.
    fn keys(&self, errors: &ErrorPlan) -> Vec<(Range<usize>, RequiredKey)> {
        let mut keys = Vec::new();
        if let Some(field) = self.errors {
            let entries = field.as_table().unwrap_or_default();
            let cluster = entries.iter().find(|entry| entry.key() == "cluster");
            let strings = cluster.map(TomlField::strings_within).unwrap_or_default();
            let of_key = |key: &String| {
                let place = strings.iter().find(|string| string.value == key.as_str());
                Some((place?.span.clone(), RequiredKey::new(key, KeyUsage::Cluster)))
            };
            keys.extend(errors.cluster.iter().filter_map(of_key));
        }
        for string in self.metrics.iter().flat_map(TomlField::strings_within) {
            let Ok(spec) = string.value.parse::<MetricsSpec>() else { continue };
            let Ok(metrics) = string.file.registry.metrics(&spec) else { continue };
            keys.extend(required_keys(&metrics).into_iter().map(|key| (place_of(&string, &key.key), key)));
        }
        keys
    }
}

/// What a solver does; of one that was not understood nothing is known.
fn effects_of(solver: &Option<WithString<'_, AnySolver>>) -> SolverEffects {
    solver.as_ref().map_or_else(SolverEffects::unknown, |(_, solver)| solver.effects())
}

/// Where a part of a string stands; all of it, if it is written in another way.
fn place_of(string: &TomlString<'_>, part: &str) -> Range<usize> {
    match string.value.find(part) {
        Some(at) => string.place(at..at + part.len()),
        None => string.span.clone(),
    }
}
