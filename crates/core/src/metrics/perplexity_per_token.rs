//! `perplexity_per_token`: exp of the mean surprise per token.

use errorbar_macros::metric;

use super::perplexity::{estimate, tokens};
use crate::error::Result;
use crate::estimate::GroupContext;
use crate::evaluation::MetricValue;
use crate::metric::Accumulator;
use crate::params::Params;
use crate::scores::Scores;
use crate::stats::ExactSum;

/// exp(−Σ log p / Σ tokens), from the score metadata `sum_log_probs` and `num_tokens`.
#[metric(crate = crate, built_in, state, type = PerplexityPerToken, keys = [], parts = "metadata")]
pub fn perplexity_per_token() -> PerTokenState {
    PerTokenState::default()
}

/// The state of [`perplexity_per_token()`].
#[derive(Clone, Debug, Default)]
pub struct PerTokenState {
    log_probs: ExactSum,
    tokens: ExactSum,
    missing: usize,
    n: u64,
}

impl Accumulator for PerTokenState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let (read, missing) = tokens(PerplexityPerToken::NAME, scores)?;
        self.missing += missing;
        self.n += scores.len() as u64;
        for (tokens, log_probs) in read {
            self.tokens.add(tokens);
            self.log_probs.add(log_probs);
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.log_probs.merge(&other.log_probs);
        self.tokens.merge(&other.tokens);
        self.missing += other.missing;
        self.n += other.n;
        Ok(())
    }

    fn finish(&self, _: GroupContext) -> Result<MetricValue> {
        let tokens = self.tokens.to_f64();
        let surprise = (tokens != 0.0).then(|| -self.log_probs.to_f64() / tokens);
        Ok(estimate(surprise, self.missing, self.n).into())
    }
}
