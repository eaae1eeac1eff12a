//! `perplexity_per_seq`: exp of the mean surprise per token, sequences weighing the same.

use super::perplexity::{Sequence, no_tokens, tokens};
use super::ratio::{RatioMetric, RatioTerms, computed_as_ratio};
use crate::error::Result;
use crate::estimate::{RatioScale, RatioTerm, Undefined};
use crate::evaluation::Direction;
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::metric::Metric;
use crate::registry::Params;
use crate::scores::Scores;

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

impl Metric for PerplexityPerSeq {
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

impl RatioMetric for PerplexityPerSeq {
    const METRIC: &'static str = PerplexityPerSeq::NAME;
    const SCALE: RatioScale = RatioScale::Exp;

    fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms> {
        let (read, missing) = tokens(Self::NAME, scores)?;
        let term = |read: &Sequence| {
            let surprise = -read.log_probs / read.tokens;
            (read.tokens > 0.0).then_some((read.at, RatioTerm { total: surprise, weight: 1.0 }))
        };
        let terms = read.iter().filter_map(term).collect();
        Ok(RatioTerms { terms, missing, problem: None })
    }

    fn nothing(_: u64) -> Undefined {
        no_tokens()
    }
}
