//! `match`: the answer begins with the target, ends with it, holds it, or is it.

use errorbar_core::registry::Param;
use errorbar_core::{Args, Metrics, Result, Score, Spec};

use super::{of_grades, ready};
use crate::text::{Location, Match};
use crate::{AnyScorer, BoxFuture, Scorer, ScorerEntry, Target, TaskState};

pub(super) const ENTRY: ScorerEntry = ScorerEntry {
    name: "match",
    doc: "Whether the target stands at a place of the answer: location is \"begin\", \"end\", \"any\" or \"exact\"; numeric compares numbers.",
    params: &[
        Param::optional("location", "\"end\""),
        Param::optional("ignore_case", "true"),
        Param::optional("numeric", "false"),
    ],
    build,
    replaces: false,
};

fn build(args: &Args<'_>) -> Result<AnyScorer> {
    let location = match args.get::<String>("location")? {
        Some(text) => Some(location(&text).ok_or_else(|| {
            args.error(
                "location",
                format!("must be \"begin\", \"end\", \"any\" or \"exact\", found {text:?}"),
            )
        })?),
        None => None,
    };
    Ok(MatchScorer { location, ignore_case: args.get("ignore_case")?, numeric: args.get("numeric")? }.into())
}

const LOCATIONS: [(&str, Location); 4] =
    [("begin", Location::Begin), ("end", Location::End), ("any", Location::Any), ("exact", Location::Exact)];

fn location(text: &str) -> Option<Location> {
    LOCATIONS.iter().find(|(name, _)| *name == text).map(|(_, location)| *location)
}

/// Whether the target stands at a place of the answer; made by [`matches()`].
#[derive(Clone, Debug)]
pub struct MatchScorer {
    location: Option<Location>,
    ignore_case: Option<bool>,
    numeric: Option<bool>,
}

/// Whether the target stands at a place of the answer: at its end, if nothing is said. In specs it is called
/// `match`, which is a word of Rust's own.
pub fn matches() -> MatchScorer {
    MatchScorer { location: None, ignore_case: None, numeric: None }
}

impl MatchScorer {
    /// Where the target must stand.
    #[must_use]
    pub fn location(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Whether capital and small letters are the same; they are, if nothing is said.
    #[must_use]
    pub fn ignore_case(mut self, ignore: bool) -> Self {
        self.ignore_case = Some(ignore);
        self
    }

    /// Whether targets that are numbers are compared by value.
    #[must_use]
    pub fn numeric(mut self, numeric: bool) -> Self {
        self.numeric = Some(numeric);
        self
    }
}

impl Scorer for MatchScorer {
    fn spec(&self) -> Spec {
        let name = |wanted: Location| LOCATIONS.iter().find(|(_, at)| *at == wanted).map(|(name, _)| *name);
        Spec::new("match")
            .kwarg_some("location", self.location.and_then(name))
            .kwarg_some("ignore_case", self.ignore_case)
            .kwarg_some("numeric", self.numeric)
    }

    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let matches = Match {
            location: self.location.unwrap_or_default(),
            ignore_case: self.ignore_case.unwrap_or(true),
            numeric: self.numeric.unwrap_or(false),
        };
        ready(Ok(matches.judge(&state.output.completion, target)))
    }
}
