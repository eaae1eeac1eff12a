//! `pattern`: what a regular expression finds is the target.

use std::sync::{Arc, OnceLock};

use errorbar_core::{Error, Metrics, Params, Result, Score};

use super::{background, of_grades, ready};
use crate::text::Pattern;
use crate::{BoxFuture, Scorer, Target, TaskState};

/// An answer of this many bytes is searched in less time than it takes to hand it to another thread, unless the pattern
/// looks around.
const QUICK: usize = 16 << 10;

/// Whether the target is what a regular expression captures in the answer; with match_all, what every group captures.
///
/// The groups of the expression are compared, or the whole match if it has none.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "pattern", check = Self::check_pattern)]
pub struct PatternScorer {
    /// The regular expression, in the syntax of Python.
    pattern: String,
    /// Whether to ignore case.
    #[param(default = true)]
    ignore_case: Option<bool>,
    /// Whether every group must be the target, instead of one.
    #[param(default = false)]
    match_all: Option<bool>,
    #[param(skip)]
    compiled: OnceLock<Result<Arc<Pattern>, String>>,
}

impl PatternScorer {
    fn compiled(&self) -> Result<&Arc<Pattern>> {
        let compile = || {
            let pattern =
                Pattern::new(&self.pattern, self.ignore_case_or_default(), self.match_all_or_default());
            pattern.map(Arc::new).map_err(|error| error.to_string())
        };
        self.compiled.get_or_init(compile).as_ref().map_err(Error::custom)
    }

    /// A pattern that cannot be read is a mistake of the spec, and better reported once than for each sample.
    fn check_pattern(&self) -> Result<()> {
        self.compiled().map(drop).map_err(|error| Self::refuse("pattern", error.to_string()))
    }
}

impl Scorer for PatternScorer {
    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let pattern = match self.compiled() {
            Ok(pattern) => Arc::clone(pattern),
            Err(error) => return ready(Err::<Score, _>(error)),
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
        self.compiled().map(drop)
    }
}
