//! `perplexity_per_token`: exp of the mean surprise per token.

use super::perplexity::{estimate, perplexity_metric, tokens};
use crate::error::Result;
use crate::estimate::Whole;
use crate::evaluation::MetricValue;
use crate::metric::{MetricState, same_state};
use crate::scores::Scores;
use crate::stats::ExactSum;

perplexity_metric!(
    PerplexityPerToken,
    perplexity_per_token,
    "perplexity_per_token",
    "exp(−Σ log p / Σ tokens), from the score metadata `sum_log_probs` and `num_tokens`.",
    PerTokenState
);

#[derive(Clone, Debug, Default)]
struct PerTokenState {
    log_probs: ExactSum,
    tokens: ExactSum,
    missing: usize,
    n: u64,
}

impl MetricState for PerTokenState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let (read, missing) = tokens("perplexity_per_token", scores)?;
        self.missing += missing;
        self.n += scores.len() as u64;
        for (tokens, log_probs) in read {
            self.tokens.add(tokens);
            self.log_probs.add(log_probs);
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        let other = same_state::<PerTokenState>(other)?;
        self.log_probs.merge(&other.log_probs);
        self.tokens.merge(&other.tokens);
        self.missing += other.missing;
        self.n += other.n;
        Ok(())
    }

    fn finish(&self, _: Whole) -> Result<MetricValue> {
        let tokens = self.tokens.to_f64();
        let surprise = (tokens != 0.0).then(|| -self.log_probs.to_f64() / tokens);
        Ok(estimate(surprise, self.missing, self.n).into())
    }
}
