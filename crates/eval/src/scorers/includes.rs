//! `includes`: the target occurs in the answer.

use errorbar_core::Score;
use errorbar_core::metrics::{accuracy, stderr};
use errorbar_macros::scorer;

use crate::text::Includes;
use crate::{Target, TaskState};

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
#[scorer(crate = crate::facade, built_in, type = IncludesScorer, known = crate::effects::of_comparison, range = (0.0, 1.0), metrics = [accuracy(), stderr()])]
pub fn includes(
    state: &TaskState,
    target: &Target,
    /// Whether to ignore case.
    #[default(true)]
    ignore_case: bool,
) -> Score {
    Includes { ignore_case }.judge(&state.output.completion, target).into()
}
