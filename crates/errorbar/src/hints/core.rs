//! Hints for errors of `errorbar-core`: specs, metrics, reducers, scores.

use errorbar_core::spec::nearest;
use errorbar_core::{Error, NoCoverage};

/// What to do about it, unless the error itself names it.
pub(crate) fn hint(error: &Error) -> Option<String> {
    match error {
        Error::MissingKey { key, known, .. } if !known.contains(key) => {
            let nearest = nearest(key, known.iter().map(String::as_str));
            nearest.map(|nearest| format!("did you mean `{nearest}`?"))
        }
        Error::MissingKey { key, .. } => Some(format!("give every sample the key `{key}`")),
        Error::MissingConfidence { metric, key, known, .. } if !known.contains(key) => {
            let other = known.first().map_or("KEY", String::as_str);
            Some(format!("name the key of the confidence: {metric}(confidence=\"{other}\")"))
        }
        Error::MissingConfidence { key, .. } => Some(format!("give every sample the key `{key}`")),
        Error::ClusterId { key, .. } => Some(format!("fill in `{key}` for every sample")),
        _ => None,
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

/// The same for an error of the plan's own clusters.
pub(crate) fn cluster_hint(error: &Error, cluster: &[String]) -> Option<String> {
    let Error::MissingKey { key, known, .. } = error else { return None };
    if !cluster.contains(key) || known.contains(key) {
        return None;
    }
    Some(match nearest(key, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean --cluster {nearest}?"),
        // Of a run, only the keys that are computed with are known.
        None if known.is_empty() => {
            format!("give every sample the key `{key}`, or name another one with --cluster")
        }
        None => format!("name another key with --cluster: {}", known.join(", ")),
    })
}
