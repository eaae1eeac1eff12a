//! `answer`: what follows `ANSWER:` is the target.

use errorbar_core::metrics::{accuracy, stderr};
use errorbar_core::{ArgWord, Score};
use errorbar_macros::scorer;

use crate::text::Answer;
use crate::{Target, TaskState};

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
#[scorer(crate = crate::facade, built_in, type = AnswerScorer, known = crate::effects::of_comparison, range = (0.0, 1.0), metrics = [accuracy(), stderr()])]
pub fn answer(
    state: &TaskState,
    target: &Target,
    /// What is taken for the answer: "letter", "word" or "line".
    pattern: Answer,
) -> Score {
    pattern.judge(&state.output.completion, target).into()
}
