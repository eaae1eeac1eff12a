//! `pattern`: what a regular expression finds is the target.

use std::sync::Arc;

use errorbar_core::registry::Param;
use errorbar_core::{Error, Metrics, Result, Score, Spec};

use super::{background, of_grades, ready};
use crate::text::Pattern;
use crate::{BoxFuture, Scorer, ScorerEntry, Target, TaskState};

pub(super) const ENTRY: ScorerEntry = ScorerEntry {
    name: "pattern",
    doc: "Whether what a regular expression finds in the answer is the target; match_all asks it of every group.",
    params: &[
        Param::required("pattern"),
        Param::optional("ignore_case", "true"),
        Param::optional("match_all", "false"),
    ],
    build: |args| {
        let scorer = pattern(args.required::<String>("pattern")?);
        let (ignore_case, match_all) = (args.get("ignore_case")?, args.get("match_all")?);
        let scorer = PatternScorer { ignore_case, match_all, ..scorer }.compiled();
        // A pattern that cannot be read is a mistake of the spec, and better told now than for each sample.
        if let Err(error) = &scorer.compiled {
            return Err(args.error("pattern", error.to_string()));
        }
        Ok(scorer.into())
    },
    replaces: false,
};

/// An answer of this many bytes is searched in less time than it takes to hand it to another thread, unless the pattern
/// looks around.
const QUICK: usize = 16 << 10;

/// What a regular expression finds; made by [`pattern()`].
#[derive(Clone, Debug)]
pub struct PatternScorer {
    pattern: String,
    ignore_case: Option<bool>,
    match_all: Option<bool>,
    compiled: Result<Arc<Pattern>>,
}

/// Whether what a regular expression finds in the answer is the target: its groups, or all of it if it has none.
pub fn pattern(pattern: impl Into<String>) -> PatternScorer {
    let (pattern, compiled) = (pattern.into(), Err(Error::custom("not compiled")));
    PatternScorer { pattern, ignore_case: None, match_all: None, compiled }.compiled()
}

impl PatternScorer {
    /// Whether capital and small letters are the same; they are, if nothing is said.
    #[must_use]
    pub fn ignore_case(mut self, ignore: bool) -> Self {
        self.ignore_case = Some(ignore);
        self.compiled()
    }

    /// Whether every group must be the target, and not just one.
    #[must_use]
    pub fn match_all(mut self, all: bool) -> Self {
        self.match_all = Some(all);
        self.compiled()
    }

    fn compiled(mut self) -> Self {
        let (ignore_case, match_all) = (self.ignore_case.unwrap_or(true), self.match_all.unwrap_or(false));
        self.compiled = Pattern::new(&self.pattern, ignore_case, match_all)
            .map(Arc::new)
            .map_err(|error| Error::custom(error.to_string()));
        self
    }
}

impl Scorer for PatternScorer {
    fn spec(&self) -> Spec {
        Spec::new("pattern")
            .kwarg("pattern", self.pattern.as_str())
            .kwarg_some("ignore_case", self.ignore_case)
            .kwarg_some("match_all", self.match_all)
    }

    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let pattern = match &self.compiled {
            Ok(pattern) => Arc::clone(pattern),
            Err(error) => return ready(Err::<Score, _>(error.clone())),
        };
        let completion = &state.output.completion;
        if completion.len() <= QUICK && pattern.is_linear(completion) {
            let judged = pattern.judge(completion, target);
            return ready(judged.map_err(|error| Error::custom(error.to_string())));
        }
        let (completion, target) = (completion.clone(), target.clone());
        Box::pin(background::search(move |budget| {
            pattern.judge_within(&completion, &target, budget).map(|judged| Some(Score::from(judged)))
        }))
    }

    fn check(&self, _: &crate::Sample) -> Result<()> {
        self.compiled.as_ref().map(|_| ()).map_err(Clone::clone)
    }
}
