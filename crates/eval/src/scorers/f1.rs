//! `f1`: how many words answer and target share.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use errorbar_core::metrics::{mean, stderr};
use errorbar_core::{Error, Metrics, Params, Result, Score, metrics};

use super::{background, ready};
use crate::text::{F1, PythonRegex, SearchBudget, TextError};
use crate::{BoxFuture, Scorer, ScorerNeeds, Target, TaskState};

/// The harmonic mean of precision and recall over the words of answer and target; the best of several targets.
///
/// # Formula
/// ```text
/// 2·common words / (words of the answer + words of the target)
/// ```
///
/// # When
/// Short answers, of which a part counts.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'scorer = "f1"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/it is 4' --quiet
/// logs/….eval
///       sums · mock/it is 4 · 2 samples
///
/// f1 · 2 scored
///                                   0                                       1
///   mean  0.25 ± 0.25 [0.00, 0.99]  ├─────────●─────────────────────────────┤  only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `exact`, `f1_score`, `includes`
///
/// # Source
/// Rajpurkar et al. 2016, "SQuAD: 100,000+ questions for machine comprehension of text".
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "f1", check = Self::check_pattern)]
pub struct F1Scorer {
    /// Words that do not count.
    stop_words: Option<Vec<String>>,
    /// A regular expression, in the syntax of Python, that takes the answer from the output: its first group, or all that
    /// it finds. Where it finds nothing the whole output is the answer.
    pattern: Option<String>,
    #[param(skip)]
    judge: OnceLock<Result<Arc<F1Judge>, String>>,
}

/// What an answer is, and which of its words count.
#[derive(Debug)]
struct F1Judge {
    pattern: Option<PythonRegex>,
    words: F1,
}

impl F1Judge {
    fn judge(&self, completion: &str, target: &Target, budget: &SearchBudget) -> Result<Score, TextError> {
        let found = match &self.pattern {
            Some(pattern) => pattern.search(completion, budget)?,
            None => None,
        };
        let answer = found.map(|found| found.get(1).or(found.get(0)).map_or("", |group| group.as_str()));
        let answer = Cow::Borrowed(answer.unwrap_or(completion));
        Ok(self.words.judge_answer(completion, answer, target).into())
    }
}

impl F1Scorer {
    fn judge(&self) -> Result<&Arc<F1Judge>> {
        let compile = || {
            let pattern = self.pattern.as_deref().map(|pattern| PythonRegex::new(pattern, false)).transpose();
            let pattern = pattern.map_err(|error| error.to_string())?;
            Ok(Arc::new(F1Judge { pattern, words: F1::new(self.stop_words.as_deref().unwrap_or_default()) }))
        };
        self.judge.get_or_init(compile).as_ref().map_err(Error::custom)
    }

    /// A pattern that cannot be read is a mistake of the spec, and better reported once than for each sample.
    fn check_pattern(&self) -> Result<()> {
        self.judge().map(drop).map_err(|error| Self::refuse("pattern", error.to_string()))
    }
}

impl Scorer for F1Scorer {
    fn metrics(&self) -> Metrics {
        metrics![mean(), stderr()]
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let judge = match self.judge() {
            Ok(judge) => Arc::clone(judge),
            Err(error) => return ready(Err::<Score, _>(error)),
        };
        let completion = &state.output.completion;
        let is_quick = |pattern: &PythonRegex| {
            completion.len() <= background::QUICK_SEARCH && pattern.is_linear(completion)
        };
        if judge.pattern.as_ref().is_none_or(is_quick) {
            let score = judge.judge(completion, target, &SearchBudget::default());
            return ready(score.map_err(|error| Error::custom(error.to_string())));
        }
        let (completion, target) = (completion.clone(), target.clone());
        Box::pin(background::search(move |budget| judge.judge(&completion, &target, budget).map(Some)))
    }

    fn needs(&self) -> ScorerNeeds {
        ScorerNeeds::output().with_target()
    }
}
