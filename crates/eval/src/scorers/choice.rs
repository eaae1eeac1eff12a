//! `choice`: the marked choices are the right ones.

use errorbar_core::{Error, Metrics, Params, Result, Score};

use super::{of_grades, ready};
use crate::text::{choice_places, judge_choices};
use crate::{BoxFuture, Sample, Scorer, ScorerNeeds, Target, TaskState};

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
        let judged = judge_choices(&state.output.completion, &marked, state.choices.len(), target);
        ready(judged.map_err(|error| Error::custom(error.to_string())))
    }

    fn needs(&self) -> ScorerNeeds {
        ScorerNeeds::marked_choices().with_target()
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        if sample.choices.is_empty() {
            return Err(Error::custom("it has no choices, which choice() needs; map them from the dataset"));
        }
        choice_places(&sample.target, sample.choices.len())
            .map(|_| ())
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
