//! Hints for errors of `errorbar-core`: specs, metrics, reducers, scores.

use errorbar_core::Error;
use errorbar_core::spec::{Arg, Spec, nearest};
use errorbar_inference::{ComparisonError, NoCoverage};

use crate::shell;

/// What to do about it, unless the error itself names it.
pub(crate) fn hint(error: &Error) -> Option<String> {
    match error {
        Error::MissingKey { key, known, .. } if !known.contains(key) => {
            let nearest = nearest(key, known.iter().map(String::as_str));
            nearest.map(|nearest| format!("did you mean `{nearest}`?"))
        }
        Error::MissingKey { key, .. } => Some(format!("give every sample the key `{key}`")),
        Error::MissingConfidence { metric, key, known, .. } if !known.contains(key) => {
            Some(confidence_hint(metric, key, known))
        }
        Error::MissingConfidence { key, .. } => Some(format!("give every sample the key `{key}`")),
        Error::TooManyDraws { spec, .. } => Some(draws_hint(spec)),
        Error::ClusterId { key, .. } => Some(format!("fill in `{key}` for every sample")),
        _ => None,
    }
}

/// What a log records is limited, and what is named on the command line is not.
fn draws_hint(spec: &Spec) -> String {
    let mut spec = spec.clone();
    spec.kwargs.insert("num_samples".to_owned(), Arg::Int(10_000));
    format!("name the figures you want: --metric {}", shell::word(&spec.to_string()))
}

/// Which key the confidence is under: the one whose name is nearest, or that has the usual name. No other is any likelier
/// than the rest.
fn confidence_hint(metric: &str, key: &str, known: &[String]) -> String {
    const USUAL: &str = "confidence";
    let usual = || known.iter().map(String::as_str).find(|known| *known == USUAL);
    let call = |key: &str| format!("{metric}(confidence=\"{key}\")");
    match nearest(key, known.iter().map(String::as_str)).or_else(usual) {
        Some(meant) => format!("did you mean {}?", call(meant)),
        None if known.is_empty() => format!("name the key of the confidence: {}", call("KEY")),
        None => format!("name the key of the confidence ({}): {}", known.join(", "), call("KEY")),
    }
}

/// What to do about scores that cannot show how well their intervals cover.
pub(crate) fn coverage_hint(reason: &NoCoverage) -> Option<String> {
    match reason {
        NoCoverage::TwoWays => Some("give --cluster once".to_owned()),
        NoCoverage::TooFew { clustered: true, .. } => {
            Some("name a key with more values, or omit --cluster".to_owned())
        }
        _ => None,
    }
}

/// Whether two ids are numbers, of which one is written as an integer and one is not.
fn is_same_number(a: &str, b: &str) -> bool {
    let is_integer = |id: &str| id.trim().parse::<i64>().is_ok();
    let is_whole = |id: &str| id.trim().parse::<f64>().is_ok_and(|number| number.fract() == 0.0);
    is_whole(a) && is_whole(b) && is_integer(a) != is_integer(b)
}

/// What to do about sides that cannot be compared.
pub(crate) fn comparison_hint(error: &ComparisonError) -> Option<String> {
    let hint = match error {
        ComparisonError::OneSide { .. } | ComparisonError::SameScores { .. } => {
            "give a second log or table; two scorers of one log are compared with --scorers A B"
        }
        ComparisonError::NoCommonSample { base_example, other_example, .. }
            if is_same_number(base_example, other_example) =>
        {
            "the ids differ only in how numbers are written, such as 1 and 1.0: write them alike in both files"
        }
        ComparisonError::NoCommonSample { .. } => {
            "give runs of the same samples; --id-column names the column of a table that identifies them; if they are different \
             samples on purpose, give --unpaired"
        }
        ComparisonError::TooFewPairs { .. } => {
            "score more samples on both sides; --unpaired compares all that they have, without matching them"
        }
        ComparisonError::NoCommonScorer { .. } => {
            "score one log as the other is: `errorbar score LOG --with SCORER -o NEW`; of tables, name the column with \
             --score-column"
        }
        ComparisonError::NoCommonMetric { .. } => "name the metrics to compare with --metric",
        ComparisonError::TooManySides { .. } => {
            "give fewer sides, or compare each with the first: omit --all-pairs"
        }
        ComparisonError::OtherKey { key, .. } => {
            return Some(format!(
                "give samples the same `{key}` on both sides, or leave the key to one of them; --unpaired does not match samples"
            ));
        }
        ComparisonError::UnequalEpochs { .. }
        | ComparisonError::UnequalEpochsOfPairs { .. }
        | ComparisonError::UnequalMeanEpochs { .. } => {
            "name a reducer whose value does not depend on the number of epochs: --reducer mean"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The same for an error of the plan's own clusters.
pub(crate) fn cluster_hint(error: &Error, cluster: &[String]) -> Option<String> {
    let Error::MissingKey { key, known, .. } = error else { return None };
    if !cluster.contains(key) || known.contains(key) {
        return None;
    }
    Some(match nearest(key, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean --cluster {}?", shell::word(nearest)),
        // Of a run, only the keys that are computed with are known.
        None if known.is_empty() => {
            format!("give every sample the key `{key}`, or name another one with --cluster")
        }
        None => format!("name another key with --cluster: {}", known.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use errorbar_core::Error;

    use super::{confidence_hint, hint};

    /// "Lower it" cannot be followed in a log of someone else.
    #[test]
    fn too_many_draws_are_named_on_the_command_line() {
        let draws_hint = |spec: &str| {
            let spec = Box::new(spec.parse().unwrap());
            hint(&Error::TooManyDraws { spec, draws: 10_000_000_000, left: 2_000_000_000 }).unwrap()
        };
        assert_eq!(
            draws_hint("bootstrap_stderr(num_samples=100000000)"),
            "name the figures you want: --metric 'bootstrap_stderr(num_samples=10000)'"
        );
        assert_eq!(
            draws_hint("bootstrap(metric=median())"),
            "name the figures you want: --metric 'bootstrap(metric=median(), num_samples=10000)'"
        );
    }

    /// It named whichever key came first.
    #[test]
    fn the_key_of_a_confidence() {
        let hint = |key: &str, known: &[&str]| {
            let known: Vec<String> = known.iter().map(|key| (*key).to_owned()).collect();
            confidence_hint("brier", key, &known)
        };
        let meant = "did you mean brier(confidence=\"confidence\")?";
        assert_eq!(hint("conf", &["category", "confidence"]), meant);
        assert_eq!(hint("p", &["category", "confidence"]), meant);
        assert_eq!(hint("sur", &["confidence", "sure"]), "did you mean brier(confidence=\"sure\")?");
        let list = "name the key of the confidence (sure, topic): brier(confidence=\"KEY\")";
        assert_eq!(hint("confidence", &["sure", "topic"]), list);
        assert_eq!(hint("confidence", &[]), "name the key of the confidence: brier(confidence=\"KEY\")");
    }
}
