//! `exact`: the answer is a target, words compared.

use errorbar_core::Score;
use errorbar_core::metrics::{mean, stderr};
use errorbar_macros::scorer;

use crate::text::judge_exact;
use crate::{Target, TaskState};

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
#[scorer(crate = crate::facade, built_in, type = ExactScorer, known = crate::effects::of_comparison, range = (0.0, 1.0), metrics = [mean(), stderr()])]
pub fn exact(state: &TaskState, target: &Target) -> Score {
    judge_exact(&state.output.completion, target).into()
}
