//! `perplexity_per_token`: exp of the mean surprise per token.

use super::perplexity::{Sequence, no_tokens, tokens};
use super::ratio::{RatioMetric, RatioTerms, computed_as_ratio};
use crate::error::Result;
use crate::estimate::{RatioScale, RatioTerm, Undefined};
use crate::evaluation::Direction;
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::metric::Metric;
use crate::registry::Params;
use crate::scores::Scores;

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

impl Metric for PerplexityPerToken {
    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::NONE
    }

    fn resample_cost(&self) -> u64 {
        4
    }

    fn depends_on_ids(&self, _: bool) -> bool {
        false
    }

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Metadata
    }

    fn direction(&self) -> Direction {
        Direction::Lower
    }

    computed_as_ratio!();
}

impl RatioMetric for PerplexityPerToken {
    const METRIC: &'static str = PerplexityPerToken::NAME;
    const SCALE: RatioScale = RatioScale::Exp;

    fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms> {
        let (read, missing) = tokens(Self::NAME, scores)?;
        let term = |read: &Sequence| (read.at, RatioTerm { total: -read.log_probs, weight: read.tokens });
        Ok(RatioTerms { terms: read.iter().map(term).collect(), missing, problem: None })
    }

    fn nothing(_: u64) -> Undefined {
        no_tokens()
    }
}
