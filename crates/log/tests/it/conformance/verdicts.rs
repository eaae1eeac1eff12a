//! What ours must do where it parts from the reference; the reasons stand in `conformance/README.md`.

use errorbar_core::Error;
use errorbar_test_support::conformance::{ReferenceCase, cases};

use super::case::{self, Computed, Outcome};

/// What is wrong with ours in a case that carries a verdict.
pub(crate) fn check(
    tag: &str,
    case: &ReferenceCase,
    outcome: &Outcome,
    differences: &[String],
) -> Vec<String> {
    let ours = Ours { outcome, differences };
    let is_infinite = |e: &Error| e.to_string().contains("is infinite; correct it");
    let fine = match tag {
        // Refused, or the one metric fails; or nothing differs (metrics that add nothing up).
        "infinite" => {
            ours.agrees()
                || ours.fails_with(|e| is_infinite(e) || e.to_string().contains("outside [0, 1]"))
                    && ours.all_finite()
        }
        // The figures themselves are in `exact_figures` below.
        "overflow" | "exact-sums" => ours.succeeds(),
        "grouped-map" => ours.agrees() || ours.succeeds(),
        "grouped-template" => ours.agrees() || ours.refused() || ours.fails_with(|_| true),
        "grouped-all" | "aggregate" | "frequency" | "draws" => ours.refused(),
        "k" => ours.refused() || ours.agrees(),
        "null-conversion" => ours.succeeds(),
        "seed" => ours.succeeds(),
        "null-entry" => ours.succeeds(),
        "mismatch" => ours.refuses_scores(|e| {
            let text = e.to_string();
            text.contains("differ in shape") || text.contains("the score")
        }),
        "duplicate" => ours.refuses_scores(|e| matches!(e, Error::DuplicateEpoch { .. })),
        "alpha-non-finite" => ours.succeeds() || ours.fails_with(is_infinite),
        "perplexity-fields" => {
            ours.agrees() || ours.succeeds() || ours.fails_with(|e| matches!(e, Error::Undefined { .. }))
        }
        "json-metadata" => ours.succeeds() || ours.fails_with(|e| matches!(e, Error::ClusterId { .. })),
        "null-argument" => ours.succeeds() && ours.differs_only_in("params"),
        "positional" => ours.succeeds(),
        "no-metrics" => ours.agrees(),
        "reducer-name" => ours.succeeds() && distinct_reducers(ours.results()),
        "epoch-order" => ours.succeeds() && !ours.agrees(),
        "huge-suffix" => ours.agrees(),
        "one-fails" => {
            ours.fails_with(|_| true)
                && ours.results().is_some_and(|r| r.recorded.scores.iter().any(|b| !b.metrics.is_empty()))
        }
        _ => return vec![format!("{tag} is no verdict that the tests know")],
    };
    if fine {
        return Vec::new();
    }
    let what = match outcome {
        Outcome::BuildError(e) => format!("refused: {e}"),
        Outcome::ComputeError(e) => format!("fails: {e}"),
        Outcome::Results(computed) => {
            let failures: Vec<String> = computed.failures().map(|f| f.error.to_string()).collect();
            format!("computed, failures {failures:?}")
        }
    };
    vec![format!("not as verdict `{tag}` says: {what}; expected {}; differs in {differences:?}", case.expect)]
}

struct Ours<'a> {
    outcome: &'a Outcome,
    differences: &'a [String],
}

impl Ours<'_> {
    fn results(&self) -> Option<&Computed> {
        match self.outcome {
            Outcome::Results(computed) => Some(computed),
            _ => None,
        }
    }

    fn agrees(&self) -> bool {
        self.differences.is_empty()
    }

    fn differs_only_in(&self, word: &str) -> bool {
        !self.differences.is_empty() && self.differences.iter().all(|d| d.contains(word))
    }

    /// Metrics or reducers were not built.
    fn refused(&self) -> bool {
        matches!(self.outcome, Outcome::BuildError(_))
    }

    fn refuses_scores(&self, expected: impl Fn(&Error) -> bool) -> bool {
        matches!(self.outcome, Outcome::ComputeError(error) if expected(error))
    }

    /// Some metric fails, each for the expected reason.
    fn fails_with(&self, expected: impl Fn(&Error) -> bool) -> bool {
        self.results().is_some_and(|results| {
            let mut failures = results.failures().peekable();
            failures.peek().is_some() && failures.all(|failure| expected(failure.error.root()))
        })
    }

    fn succeeds(&self) -> bool {
        self.results().is_some_and(|results| results.failures().next().is_none())
    }

    /// No figure that is recorded is infinite or not a number.
    fn all_finite(&self) -> bool {
        self.results().is_some_and(|results| {
            let mut entries = results.recorded.scores.iter().flat_map(|b| b.metrics.values());
            entries.all(|entry| entry.value.is_finite())
        })
    }
}

fn distinct_reducers(results: Option<&Computed>) -> bool {
    results.is_some_and(|results| {
        let names: Vec<_> = results.recorded.scores.iter().map(|b| &b.reducer).collect();
        names.iter().enumerate().all(|(at, name)| !names[..at].contains(name))
    })
}

#[test]
fn exact_figures() {
    let cases = cases("metrics-basic.json");
    let figure = |name: &str, metric: &str| {
        let case = cases.iter().find(|c| c.name == name).unwrap();
        match case::run(case) {
            Outcome::Results(computed) => computed.recorded.scores[0].metrics[metric].value,
            _ => panic!("{name} fails"),
        }
    };
    assert_eq!(figure("basic-cancel", "mean"), 1.0 / 3.0);
    // Read as floats the values are 2^53, 2^53 + 4 and 2^53: deviations −4/3, 8/3, −4/3, squares 96/9 over 2.
    assert_eq!(figure("basic-int-2-53", "var"), 16.0 / 3.0);
    assert_eq!(figure("basic-sum-overflow", "mean"), 1.7e308);
    // ±1e200: the variance 2e400 is no float, its root is.
    assert_eq!(figure("basic-var-overflow", "std"), 2f64.sqrt() * 1e200);
    assert_eq!(figure("basic-var-overflow", "stderr"), 1e200);
    assert!(figure("basic-tiny", "std") > 0.0);
}
