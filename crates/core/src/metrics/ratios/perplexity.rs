//! `perplexity_per_token` and `perplexity_per_seq`: exp of the mean surprise per token, from token counts and log probabilities
//! in the metadata of scores.

use super::{RatioMetric, RatioTerms, computed_as_ratio};
use crate::metrics::prelude::*;

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
                Some(other) => {
                    let sample = scores.sample_id(at);
                    let problem = format!(
                        "sample {sample:?}: the score's metadata key `{key}` is {other}, not a number"
                    );
                    Err(Error::undefined(metric, problem))
                }
            }
        };
        match (number("num_tokens")?, number("sum_log_probs")?) {
            (Some(tokens), Some(_)) if tokens.fract() != 0.0 => {
                let sample = scores.sample_id(at);
                let problem = format!("sample {sample:?}: num_tokens is {tokens}, which is not an integer");
                return Err(Error::undefined(metric, problem));
            }
            (Some(tokens), Some(log_probs)) => read.push(Sequence { at, tokens, log_probs }),
            _ => missing += 1,
        }
    }
    Ok((read, missing))
}

/// The metric is exp of a ratio of the terms that sequences have.
macro_rules! perplexity {
    ($type:ident, $term:expr) => {
        impl Metric for $type {
            metric_flags! { self:
                metadata_keys = MetadataKeys::NONE, resample_cost = 4, depends_on_ids = false,
                score_parts = Metadata, direction = Lower
            }

            computed_as_ratio!();
        }

        impl RatioMetric for $type {
            const SCALE: RatioScale = RatioScale::Exp;

            fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms> {
                let (read, missing) = tokens(Self::NAME, scores)?;
                let term: fn(&Sequence) -> Option<RatioTerm> = $term;
                let terms = read.iter().filter_map(|read| Some((read.at, term(read)?))).collect();
                Ok(RatioTerms { terms, missing, problem: None })
            }

            fn nothing(_: u64) -> Undefined {
                Undefined::Other("no tokens".to_owned())
            }
        }
    };
}

/// exp(−Σ log p / Σ tokens), from the score metadata `sum_log_probs` and `num_tokens`.
///
/// The error is that of the ratio per token by the delta method, with samples as units; the interval that of the
/// logarithm transformed.
///
/// # Formula
/// ```text
/// exp(−Σ log p / Σ tokens)
/// ```
///
/// # When
/// Language modelling: long texts count by their length. Needs log probabilities in the metadata of scores.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input 1,one 2,two > texts.csv
/// $ printf '%s\n' '{"id":1,"score":1,"metadata":{"num_tokens":9,"sum_log_probs":-6}}' > probs.jsonl
/// $ printf '%s\n' '{"id":2,"score":1,"metadata":{"num_tokens":3,"sum_log_probs":-4}}' >> probs.jsonl
/// $ printf '%s\n' 'dataset = "texts.csv"' 'scorer = "precomputed(\"probs.jsonl\")"' > texts.toml
/// $ errorbar eval texts.toml --model mock/none --metric perplexity_per_token --quiet
/// logs/….eval
///       texts · mock/none · 2 samples
///
/// precomputed · 2 scored
///                                                    0                            60
///   perplexity_per_token  2.30 ± 0.58 [0.10, 55.14]  ├●─────────────────────────┤     only 2 scores
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `perplexity_per_seq`, `log_loss`
///
/// # Source
/// As inspect_ai defines it. Jelinek, Mercer, Bahl & Baker 1977, "Perplexity: a measure of the difficulty of speech
/// recognition tasks".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "perplexity_per_token", reference)]
pub struct PerplexityPerToken;

perplexity!(PerplexityPerToken, |read| Some(RatioTerm { total: -read.log_probs, weight: read.tokens }));

/// exp of the mean over sequences of −log p / tokens; sequences without tokens are skipped.
///
/// The error is that of the mean by the delta method; the interval that of the mean transformed.
///
/// # Formula
/// ```text
/// exp(Σ (−log p / tokens) / sequences)
/// ```
///
/// # When
/// Language modelling: every text counts the same, whatever its length. Needs log probabilities in the metadata of
/// scores.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input 1,one 2,two > texts.csv
/// $ printf '%s\n' '{"id":1,"score":1,"metadata":{"num_tokens":9,"sum_log_probs":-6}}' > probs.jsonl
/// $ printf '%s\n' '{"id":2,"score":1,"metadata":{"num_tokens":3,"sum_log_probs":-4}}' >> probs.jsonl
/// $ printf '%s\n' 'dataset = "texts.csv"' 'scorer = "precomputed(\"probs.jsonl\")"' > texts.toml
/// $ errorbar eval texts.toml --model mock/none --metric perplexity_per_seq --quiet
/// logs/….eval
///       texts · mock/none · 2 samples
///
/// precomputed · 2 scored
///                                                   0                           190
///   perplexity_per_seq  2.72 ± 0.91 [0.04, 187.80]  ●────────────────────────────┤   only 2 scores
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `perplexity_per_token`, `log_loss`
///
/// # Source
/// As inspect_ai defines it. Jelinek, Mercer, Bahl & Baker 1977, "Perplexity: a measure of the difficulty of speech
/// recognition tasks".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "perplexity_per_seq", reference)]
pub struct PerplexityPerSeq;

perplexity!(PerplexityPerSeq, |read| {
    let surprise = -read.log_probs / read.tokens;
    (read.tokens > 0.0).then_some(RatioTerm { total: surprise, weight: 1.0 })
});
