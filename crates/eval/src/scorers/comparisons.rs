//! Work that may take long without waiting for anything, away from the threads that samples run on.

use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};

use errorbar_core::metrics::{accuracy, mean, stderr};
use errorbar_core::{ArgWord, Error, Metrics, Params, Result, Score, metrics};
use errorbar_macros::scorer;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::{of_grades, ready};
use crate::text::{
    Answer, F1, Location, Match, Pattern, PythonRegex, SearchBudget, choice_places, judge_choices,
    judge_exact, judge_includes,
};
use crate::traits::of_comparison;
use crate::{BoxFuture, NamedSample, Sample, Scorer, ScorerNeeds, Target, TaskState};

/// An answer of this many bytes is searched in less time than it takes to hand it to another thread, unless the pattern
/// looks around.
pub(super) const QUICK_SEARCH: usize = 16 << 10;

/// Whether an answer is judged where it is: searched in a time that grows with its length, and not long.
fn is_quick(is_linear: bool, text: &str) -> bool {
    text.len() <= QUICK_SEARCH && is_linear
}

/// Judges an answer: at once if that is quick, else away from the threads that samples run on.
fn judged<'a, J: Send + Sync + 'static>(
    judge: Result<&Arc<J>>,
    is_quick: impl FnOnce(&J, &str) -> bool,
    score: impl Fn(&J, &str, &Target, &SearchBudget) -> Result<Score> + Send + 'static,
    state: &TaskState,
    target: &Target,
) -> BoxFuture<'a, Result<Option<Score>>> {
    let judge = match judge {
        Ok(judge) => Arc::clone(judge),
        Err(error) => return ready(Err::<Score, _>(error)),
    };
    let completion = &state.output.completion;
    if is_quick(&judge, completion) {
        return ready(score(&judge, completion, target, &SearchBudget::default()));
    }
    let (completion, target) = (completion.clone(), target.clone());
    Box::pin(search(move |budget| score(&judge, &completion, &target, budget).map(Some)))
}

/// Stops the work when nothing waits for it any more, because the time limit of the sample was reached.
struct StopOnDrop(SearchBudget);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Runs a search on its own thread, so that a time limit ends the wait for it, and then stops the search.
pub(super) async fn search<T: Send + 'static>(
    work: impl FnOnce(&SearchBudget) -> Result<T> + Send + 'static,
) -> Result<T> {
    let budget = SearchBudget::default();
    let _stop = StopOnDrop(budget.clone());
    match Handle::try_current() {
        Ok(_) => match spawn_blocking(move || work(&budget)).await {
            Ok(found) => found,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(error) => Err(Error::custom(format!("the search was not run: {error}"))),
            },
        },
        // A caller that has another runtime has no threads of ours.
        Err(_) => work(&budget),
    }
}

// `answer`: what follows `ANSWER:` is the target.

impl ArgWord for Answer {
    const EXPECTED: &'static str = "\"letter\", \"word\" or \"line\"";
    const WORDS: &'static [(&'static str, Self)] =
        &[("letter", Answer::Letter), ("word", Answer::Word), ("line", Answer::Line)];
}

/// Whether what follows `ANSWER:` is the target: a "letter", a "word" or the rest of the "line".
///
/// ```
/// use errorbar_eval::{scorers::answer, text::Answer};
/// let _ = answer(Answer::Letter);
/// ```
///
/// # When
/// The prompt asks for a last line `ANSWER: …`, as `chain_of_thought` does.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["chain_of_thought", "generate"]' 'scorer = "answer(\"word\")"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/2 and 2 is 4. ANSWER: 4' --quiet
/// logs/….eval
///       sums · mock/2 and 2 is 4. ANSWER: 4 · 2 samples
///
/// answer · 2 scored
///                                       0                                       1
///   accuracy  0.50 ± 0.50 [0.09, 0.91]      ├───────────────●───────────────┤      only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `pattern`, `chain_of_thought`, `match`, `choice`
///
/// # Source
/// As inspect_ai defines it.
#[scorer(crate = crate::facade, built_in, type = AnswerScorer, known = crate::traits::of_comparison, range = (0.0, 1.0), metrics = [accuracy(), stderr()])]
pub fn answer(
    state: &TaskState,
    target: &Target,
    /// What is taken for the answer: "letter", "word" or "line".
    pattern: Answer,
) -> Score {
    pattern.judge(&state.output.completion, target)
}

// `exact`: the answer is a target, words compared.

/// 1 if the answer is a target, case, punctuation and articles aside, else 0.
///
/// # When
/// Short answers to questions, as in SQuAD: nothing but the answer counts.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'scorer = "exact"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/The 4.' --quiet
/// logs/….eval
///       sums · mock/The 4. · 2 samples
///
/// exact · 2 scored
///                                   0                                       1
///   mean  0.50 ± 0.50 [0.09, 0.91]      ├───────────────●───────────────┤      only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `f1`, `match`, `includes`
///
/// # Source
/// As inspect_ai defines it. Normalization: Rajpurkar et al. 2016, "SQuAD: 100,000+ questions for machine
/// comprehension of text".
#[scorer(crate = crate::facade, built_in, type = ExactScorer, known = crate::traits::of_comparison, range = (0.0, 1.0), metrics = [mean(), stderr()])]
pub fn exact(state: &TaskState, target: &Target) -> Score {
    judge_exact(&state.output.completion, target)
}

// `includes`: the target occurs in the answer.

/// Whether the target occurs anywhere in the answer.
///
/// # When
/// The target is a word that a wrong answer would not contain. "14" contains "4": for numbers use `match`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'scorer = "includes"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/It is 4, I think.' --quiet
/// logs/….eval
///       sums · mock/It is 4, I think. · 2 samples
///
/// includes · 2 scored
///                                       0                                       1
///   accuracy  0.50 ± 0.50 [0.09, 0.91]      ├───────────────●───────────────┤      only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `match`, `exact`, `pattern`
///
/// # Source
/// As inspect_ai defines it.
#[scorer(crate = crate::facade, built_in, type = IncludesScorer, known = crate::traits::of_comparison, range = (0.0, 1.0), metrics = [accuracy(), stderr()])]
pub fn includes(
    state: &TaskState,
    target: &Target,
    /// Whether to ignore case.
    #[default(true)]
    ignore_case: bool,
) -> Score {
    judge_includes(&state.output.completion, target, ignore_case)
}

// `match`: the answer begins with the target, ends with it, holds it, or is it.

impl ArgWord for Location {
    const EXPECTED: &'static str = "\"begin\", \"end\", \"any\" or \"exact\"";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("begin", Location::Begin),
        ("end", Location::End),
        ("any", Location::Any),
        ("exact", Location::Exact),
    ];
}

/// Whether the target is at a location of the answer: "begin", "end", "any" or "exact"; with numeric, numbers are compared.
///
/// In Rust it is `matches()`, because `match` is a keyword.
///
/// # When
/// The answer ends with the result, or is nothing else. `numeric=true` compares 4, 4.0 and $4 by value.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'scorer = "match(numeric=true)"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/The sum is 4.0' --quiet
/// logs/….eval
///       sums · mock/The sum is 4.0 · 2 samples
///
/// match · 2 scored
///                                       0                                       1
///   accuracy  0.50 ± 0.50 [0.09, 0.91]      ├───────────────●───────────────┤      only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `includes`, `exact`, `pattern`, `answer`
///
/// # Source
/// As inspect_ai defines it.
#[scorer(crate = crate::facade, built_in, name = "match", type = MatchScorer, known = crate::traits::of_comparison, range = (0.0, 1.0), metrics = [accuracy(), stderr()])]
pub fn matches(
    state: &TaskState,
    target: &Target,
    /// Where in the answer the target must be: "begin", "end", "any" or "exact".
    #[default(Location::End)]
    location: Location,
    /// Whether to ignore case.
    #[default(true)]
    ignore_case: bool,
    /// Whether targets that are numbers are compared by value.
    #[default(false)]
    numeric: bool,
) -> Score {
    Match { location, ignore_case, numeric }.judge(&state.output.completion, target)
}

// `f1`: how many words answer and target share.

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
    judge: OnceLock<Result<Arc<F1Judge>>>,
}

/// What an answer is, and which of its words count.
#[derive(Debug)]
struct F1Judge {
    pattern: Option<PythonRegex>,
    words: F1,
}

impl F1Judge {
    fn judge(&self, completion: &str, target: &Target, budget: &SearchBudget) -> Result<Score> {
        let found = match &self.pattern {
            Some(pattern) => pattern.search(completion, budget)?,
            None => None,
        };
        let answer = found.map(|found| found.get(1).or(found.get(0)).map_or("", |group| group.as_str()));
        Ok(self.words.judge(completion, answer.unwrap_or(completion), target))
    }
}

impl F1Scorer {
    fn judge(&self) -> Result<&Arc<F1Judge>> {
        let compile = || {
            let pattern =
                self.pattern.as_deref().map(|pattern| PythonRegex::new(pattern, false)).transpose()?;
            Ok(Arc::new(F1Judge { pattern, words: F1::new(self.stop_words.as_deref().unwrap_or_default()) }))
        };
        self.judge.get_or_init(compile).as_ref().map_err(Clone::clone)
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
        let is_quick = |judge: &F1Judge, text: &str| {
            judge.pattern.as_ref().is_none_or(|pattern| is_quick(pattern.is_linear(text), text))
        };
        judged(self.judge(), is_quick, F1Judge::judge, state, target)
    }

    fn needs(&self) -> ScorerNeeds {
        of_comparison(self)
    }
}

// `pattern`: what a regular expression finds is the target.

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
    compiled: OnceLock<Result<Arc<Pattern>>>,
}

impl PatternScorer {
    fn compiled(&self) -> Result<&Arc<Pattern>> {
        let compile = || {
            let pattern =
                Pattern::new(&self.pattern, self.ignore_case_or_default(), self.match_all_or_default());
            pattern.map(Arc::new)
        };
        self.compiled.get_or_init(compile).as_ref().map_err(Clone::clone)
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
        let is_quick = |pattern: &Pattern, text: &str| is_quick(pattern.is_linear(text), text);
        let judge = |pattern: &Pattern, text: &str, target: &Target, budget: &SearchBudget| {
            pattern.judge_within(text, target, budget)
        };
        judged(self.compiled(), is_quick, judge, state, target)
    }

    fn needs(&self) -> ScorerNeeds {
        of_comparison(self)
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

// `choice`: the marked choices are the right ones.

/// Whether the choices that multiple_choice() marked are those of the target, by letter.
///
/// # When
/// Multiple choice, together with the solver `multiple_choice`.
///
/// # Example
/// ```console
/// $ printf '%s\n' '{"id":1,"input":"2 + 2?","choices":["3","4"],"target":"B"}' > quiz.jsonl
/// $ printf '%s\n' 'dataset = "quiz.jsonl"' 'solver = "multiple_choice"' 'scorer = "choice"' > quiz.toml
/// $ errorbar eval quiz.toml --model 'mock/ANSWER: B' --quiet
/// logs/….eval
///       quiz · mock/ANSWER: B · 1 sample
///
/// choice · 1 scored
///                                0                                       1
///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `multiple_choice`, `answer`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "choice")]
pub struct ChoiceScorer;

impl Scorer for ChoiceScorer {
    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn picks_option(&self) -> bool {
        true
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        // A solver that a limit ended has marked nothing, which is no answer.
        let is_marked = state.choices.iter().any(|choice| choice.marked.is_some());
        if !is_marked && state.limit.is_none() {
            return ready(Err::<Score, _>(Error::custom(
                "no solver has looked at the choices; put multiple_choice() among the solvers",
            )));
        }
        let choices = state.choices.iter().enumerate();
        let marked: Vec<usize> =
            choices.filter(|(_, choice)| choice.marked == Some(true)).map(|(place, _)| place).collect();
        ready(judge_choices(&state.output.completion, &marked, state.choices.len(), target))
    }

    fn needs(&self) -> ScorerNeeds {
        ScorerNeeds { marked_choices: true, target: true, output: false }
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        if sample.choices.is_empty() {
            return Err(Error::custom("it has no choices, which choice() needs; map them from the dataset"));
        }
        choice_places(&sample.target, sample.choices.len())
            .map(drop)
            .map_err(|error| Error::custom(format!("{error}{}", letter_hint(sample))))
    }
}

/// How the dataset gives letters in place of targets that are places from 0, or the choices themselves.
fn letter_hint(sample: &Sample) -> &'static str {
    let is_place = |target: &String| target.parse::<usize>().is_ok_and(|at| at < sample.choices.len());
    match () {
        () if sample.target.iter().all(is_place) => {
            "; if it is the place of the right choice, from 0: target = \"letter(FIELD)\" in the dataset"
        }
        () if sample.target.iter().all(|target| sample.choices.contains(target)) => {
            "; it is the right choice itself: target = \"letter(FIELD, CHOICES)\" in the dataset"
        }
        () => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_are_no_letters_have_a_hint() {
        let refused = |target: &str| {
            let sample = Sample::new("Which?").choices(["red", "blue"]).target(target);
            Scorer::check(&ChoiceScorer, &sample).unwrap_err().to_string()
        };
        assert!(refused("0").contains("\"letter(FIELD)\""), "{}", refused("0"));
        assert!(refused("blue").contains("\"letter(FIELD, CHOICES)\""), "{}", refused("blue"));
        assert!(!refused("7").contains("letter("), "{}", refused("7"));
    }
}
