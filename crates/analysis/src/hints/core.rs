//! Hints for errors of `errorbar-core`: specs, metrics, reducers, scores.

use errorbar_core::Error;
use errorbar_core::spec::{Arg, Spec, nearest};
use errorbar_inference::{ComparisonError, NoCoverage};

use crate::opt::Opt;
use crate::text;
use crate::text::Text;

/// What to do about it, unless the error itself names it.
pub fn hint(error: &Error) -> Option<Text> {
    match error {
        Error::MissingKey { key, known, .. } if !known.contains(key) => {
            let nearest = nearest(key, known.iter().map(String::as_str));
            nearest.map(|nearest| format!("did you mean `{nearest}`?").into())
        }
        Error::MissingKey { key, .. } => Some(format!("give every sample the key `{key}`").into()),
        Error::MissingConfidence { metric, key, known, .. } if !known.contains(key) => {
            Some(confidence_hint(metric, key, known).into())
        }
        Error::MissingConfidence { key, .. } => Some(format!("give every sample the key `{key}`").into()),
        Error::TooManyDraws { spec, .. } => Some(draws_hint(spec)),
        Error::ClusterId { key, .. } => Some(format!("fill in `{key}` for every sample").into()),
        _ => None,
    }
}

/// What a log records is limited, and what is named on the command line is not.
fn draws_hint(spec: &Spec) -> Text {
    let mut spec = spec.clone();
    spec.kwargs.insert("num_samples".to_owned(), Arg::Int(10_000));
    text!("name the figures you want: {}", Opt::Metric.set(spec.to_string()))
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
pub fn coverage_hint(reason: &NoCoverage) -> Option<Text> {
    match reason {
        NoCoverage::TwoWays => Some(text!("give {} once", Opt::Cluster)),
        NoCoverage::TooFew { clustered: true, .. } => {
            Some(text!("name a key with more values, or omit {}", Opt::Cluster))
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
pub fn comparison_hint(error: &ComparisonError) -> Option<Text> {
    let hint = match error {
        ComparisonError::OneSide { .. } | ComparisonError::SameScores { .. } => {
            text!(
                "give a second log or table; two scorers of one log are compared with {}",
                Opt::ComparedScorers.set_all(["A", "B"])
            )
        }
        ComparisonError::NoCommonSample { base_example, other_example, .. }
            if is_same_number(base_example, other_example) =>
        {
            Text::from(
                "the ids differ only in how numbers are written, such as 1 and 1.0: write them alike in both files",
            )
        }
        ComparisonError::NoCommonSample { .. } => {
            text!(
                "give runs of the same samples; {} names the column of a table that identifies them; if they are different \
             samples on purpose, give {}",
                Opt::IdColumn,
                Opt::Unpaired
            )
        }
        ComparisonError::TooFewPairs { .. } => {
            text!(
                "score more samples on both sides; {} compares all that they have, without matching them",
                Opt::Unpaired
            )
        }
        ComparisonError::NoCommonScorer { .. } => {
            text!(
                "score one log as the other is: `errorbar score LOG --with SCORER -o NEW`; of tables, name the column with \
             {}",
                Opt::ScoreColumn
            )
        }
        ComparisonError::NoCommonMetric { is_recorded: true, .. } => {
            "the figures of a log without samples stay as they are recorded: score the other log by the same metrics and \
             reducers"
                .into()
        }
        ComparisonError::NoCommonMetric { is_of_reducers: true, .. } => {
            text!("reduce the epochs of both alike: {}", Opt::Reducer.set("mean"))
        }
        ComparisonError::NoCommonMetric { .. } => text!("name the metrics to compare with {}", Opt::Metric),
        ComparisonError::TooManySides { .. } => {
            text!("give fewer sides, or compare each with the first: omit {}", Opt::AllPairs)
        }
        ComparisonError::OtherKey { key, .. } => {
            return Some(text!(
                "give samples the same `{}` on both sides, or leave the key to one of them; {} does not match samples",
                key,
                Opt::Unpaired
            ));
        }
        ComparisonError::UnequalEpochs { .. }
        | ComparisonError::UnequalEpochsOfPairs { .. }
        | ComparisonError::UnequalMeanEpochs { .. } => {
            text!(
                "name a reducer whose value does not depend on the number of epochs: {}",
                Opt::Reducer.set("mean")
            )
        }
        _ => return None,
    };
    Some(hint)
}

/// The same for an error of the plan's own clusters.
pub fn cluster_hint(error: &Error, cluster: &[String]) -> Option<Text> {
    let Error::MissingKey { key, known, .. } = error else { return None };
    if !cluster.contains(key) || known.contains(key) {
        return None;
    }
    Some(match nearest(key, known.iter().map(String::as_str)) {
        Some(nearest) => text!("did you mean {}?", Opt::Cluster.set(nearest)),
        // Of a run, only the keys that are computed with are known.
        None if known.is_empty() => {
            text!("give every sample the key `{}`, or name another one with {}", key, Opt::Cluster)
        }
        None => text!("name another key with {}: {}", Opt::Cluster, known.join(", ")),
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
            hint(&Error::TooManyDraws { spec, draws: 10_000_000_000, left: 2_000_000_000 })
                .unwrap()
                .to_string()
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
