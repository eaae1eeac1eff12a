//! What is recorded beside a number: its `metadata`.

use errorbar_core::Role;
use errorbar_core::spec::{Arg, Spec};
use errorbar_core::{Estimate, Metadata, Undefined};
use serde_json::Value as Json;

use super::figures::{Figure, FigurePart};

/// The default level of an interval.
const DEFAULT_LEVEL: f64 = 0.95;

impl Figure<'_> {
    /// The notes on the number; none if there is nothing to note.
    pub(crate) fn notes(&self) -> Option<Metadata> {
        let mut notes = Metadata::new();
        let mut note = |key: &str, value: Option<Json>| {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                notes.insert(key.to_owned(), value);
            }
        };
        let undefined = self.undefined().map(|reason| Json::from(reason.to_string()));
        let Some(estimate) = self.estimate else {
            note("undefined", undefined);
            return Some(notes);
        };
        let role = self.result.role;
        let seed = self.is_random().then_some(estimate.draws).flatten().map(|draws| Json::from(draws.seed));
        match self.part {
            FigurePart::Lower | FigurePart::Upper => {
                let interval = estimate.interval.as_ref().ok();
                let level = interval.map_or_else(|| level(&self.result.spec), |interval| interval.level);
                note("level", Some(level.into()));
                note("seed", seed);
                note("df", interval.and_then(|interval| interval.df).map(whole));
                note("clusters", clusters(estimate));
                note("effective_n", estimate.notes.effective_n.map(Json::from));
                note("undefined", undefined);
            }
            FigurePart::Value | FigurePart::Entry => {
                note("undefined", undefined);
                if role == Role::ErrorOf {
                    note("clusters", clusters(estimate));
                }
                note("seed", seed);
                if let Some(bounds) = estimate.bounds {
                    note("absent", Some(estimate.absent.into()));
                    note("worst", Some(bounds.worst.into()));
                    note("best", Some(bounds.best.into()));
                    note("absent_as_wrong", Some(bounds.absent_as_wrong.into()));
                }
            }
        }
        for (key, value) in &estimate.notes.custom {
            note(key, Some(value.clone()));
        }
        // A mean of groups has its own error, which no other entry of the log has.
        if self.is_mean_of_groups && role == Role::Location {
            note("stderr", estimate.notes.iid_stderr.map(Json::from));
        }
        note("n", self.group_n.map(Json::from));
        (!notes.is_empty()).then_some(notes)
    }
}

/// The number of clusters, where there are any.
fn clusters(estimate: &Estimate) -> Option<Json> {
    let of_error = match &estimate.error {
        Ok(error) => error.clusters.first().copied(),
        Err(Undefined::TooFewClusters { clusters }) => Some(*clusters),
        Err(_) => None,
    };
    let of_interval = match &estimate.interval {
        Err(Undefined::TooFewClusters { clusters }) => Some(*clusters),
        _ => None,
    };
    estimate.notes.clusters.or(of_error).or(of_interval).filter(|clusters| *clusters > 0).map(Json::from)
}

/// The level that an interval without numbers would have.
fn level(spec: &Spec) -> f64 {
    let args = spec.kwargs.values().chain(&spec.args);
    let inner = || {
        args.filter_map(|arg| match arg {
            Arg::Spec(inner) => Some(level(inner)),
            _ => None,
        })
        .next()
    };
    spec.kwargs.get("level").and_then(Arg::as_f64).or_else(inner).unwrap_or(DEFAULT_LEVEL)
}

/// A number without a fraction as an integer.
fn whole(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Json::from(number as i64);
    }
    Json::from(number)
}
