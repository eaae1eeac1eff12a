//! `match`: the answer begins with the target, ends with it, holds it, or is it.

use errorbar_core::metrics::{accuracy, stderr};
use errorbar_core::{ArgWord, Score};
use errorbar_macros::scorer;

use crate::text::{Location, Match};
use crate::{Target, TaskState};

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
#[scorer(crate = crate::facade, built_in, name = "match", type = MatchScorer, known = crate::effects::of_comparison, range = (0.0, 1.0), metrics = [accuracy(), stderr()])]
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
    Match { location, ignore_case, numeric }.judge(&state.output.completion, target).into()
}
