//! `includes`: the target occurs in the answer.

use errorbar_core::Score;
use errorbar_core::metrics::{accuracy, stderr};
use errorbar_macros::scorer;

use crate::text::Includes;
use crate::{Target, TaskState};

/// Whether the target occurs anywhere in the answer.
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
