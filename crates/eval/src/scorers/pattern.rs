//! `pattern`: what a regular expression finds is the target.

use std::sync::{Arc, OnceLock};

use errorbar_core::{Error, Metrics, Params, Result, Score};

use super::{background, of_grades, ready};
use crate::text::Pattern;
use crate::{BoxFuture, NamedSample, Scorer, ScorerNeeds, Target, TaskState};

/// Whether the target is what a regular expression captures in the answer; with match_all, what every group captures.
///
/// The groups of the expression are compared, or the whole match if it has none.
///
/// # When
/// Answers have a form that a regular expression can take the result from.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'scorer = "pattern(\"= ([0-9]+)\")"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/so x = 4' --quiet
/// logs/….eval
///       sums · mock/so x = 4 · 2 samples
///
/// pattern · 2 scored
///                                       0                                       1
///   accuracy  0.50 ± 0.50 [0.09, 0.91]      ├───────────────●───────────────┤      only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `answer`, `match`, `f1`
///
/// # Source
/// As inspect_ai defines it.
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
        self.compiled().map_err(|error| Self::refuse("pattern", error.to_string()))?;
        // `\b` and `\1` of a string that is not raw, which no answer holds.
        match self.pattern.chars().find(|c| ('\u{1}'..='\u{8}').contains(c)) {
            Some(control) => Err(Self::refuse(
                "pattern",
                format!(
                    "holds the control character U+{:04X}, which no answer does; write the pattern as a raw string, in \
                     which `\\b` and `\\1` stay as they are: r'…'",
                    u32::from(control)
                ),
            )),
            None => Ok(()),
        }
    }
}

impl Scorer for PatternScorer {
    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let pattern = match self.compiled() {
            Ok(pattern) => Arc::clone(pattern),
            Err(error) => return ready(Err::<Score, _>(error)),
        };
        let completion = &state.output.completion;
        if completion.len() <= background::QUICK_SEARCH && pattern.is_linear(completion) {
            let judged = pattern.judge(completion, target);
            return ready(judged.map_err(|error| Error::custom(error.to_string())));
        }
        let (completion, target) = (completion.clone(), target.clone());
        Box::pin(background::search(move |budget| {
            pattern.judge_within(&completion, &target, budget).map(|judged| Some(Score::from(judged)))
        }))
    }

    fn needs(&self) -> ScorerNeeds {
        ScorerNeeds::output().with_target()
    }

    /// Without groups all of what is found is compared, which is right for `[A-D]` and never for `ANSWER: [A-D]`.
    fn check_dataset(&self, samples: &[NamedSample]) -> Result<()> {
        let targets =
            || samples.iter().flat_map(|(_, sample)| sample.target.iter()).filter(|t| !t.is_empty());
        match self.compiled()?.can_find_any(targets().map(String::as_str)) {
            false => Err(Self::refuse(
                "pattern",
                "has no group, so all that it finds is compared with the target, and it finds no target; put the part \
                 that is the answer in parentheses",
            )),
            true => Ok(()),
        }
    }

    fn check(&self, _: &crate::Sample) -> Result<()> {
        self.compiled().map(drop)
    }
}
