//! What both perplexities read: token counts and log probabilities from score metadata.

use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::estimate::Undefined;
use crate::scores::Scores;

/// One score: its position, its tokens, and the sum of their log probabilities.
pub(super) struct Sequence {
    pub(super) at: usize,
    pub(super) tokens: f64,
    pub(super) log_probs: f64,
}

/// The position, the tokens and the sum of log probabilities of each score; metadata that is missing counts as
/// no tokens, and how often that was the case is returned too.
pub(super) fn tokens(metric: &str, scores: &Scores<'_>) -> Result<(Vec<Sequence>, usize)> {
    let mut missing = 0;
    let mut read = Vec::with_capacity(scores.len());
    for at in 0..scores.len() {
        let number = |key: &str| -> Result<Option<f64>> {
            match scores.score_metadata(at).and_then(|m| m.get(key)) {
                None | Some(Json::Null) => Ok(None),
                Some(Json::Number(n)) => Ok(n.as_f64()),
                Some(other) => Err(Error::Undefined {
                    metric: metric.to_owned(),
                    problem: format!(
                        "sample {:?}: the score's metadata key `{key}` is {other}, not a number",
                        scores.sample_id(at)
                    ),
                }),
            }
        };
        match (number("num_tokens")?, number("sum_log_probs")?) {
            (Some(tokens), Some(_)) if tokens.fract() != 0.0 => {
                let sample = scores.sample_id(at);
                let problem = format!("sample {sample:?}: num_tokens is {tokens}, which is not an integer");
                return Err(Error::Undefined { metric: metric.to_owned(), problem });
            }
            (Some(tokens), Some(log_probs)) => read.push(Sequence { at, tokens, log_probs }),
            _ => missing += 1,
        }
    }
    Ok((read, missing))
}

/// Why there is no perplexity without tokens.
pub(super) fn no_tokens() -> Undefined {
    Undefined::Other("no tokens".to_owned())
}
