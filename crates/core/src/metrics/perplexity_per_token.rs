//! `perplexity_per_token`: exp of the mean surprise per token.

use super::perplexity::{perplexity_metric, tokens};
use crate::error::Result;
use crate::metric::{Figure, MetricState, MetricValue, same_state};
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
}

impl MetricState for PerTokenState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let (read, missing) = tokens("perplexity_per_token", scores)?;
        self.missing += missing;
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
        Ok(())
    }

    fn finish(&self) -> Result<MetricValue> {
        let tokens = self.tokens.to_f64();
        let figure = if tokens == 0.0 {
            Figure::undefined(f64::NAN, "no tokens")
        } else {
            Figure::new(libm::exp(-self.log_probs.to_f64() / tokens))
        };
        Ok(figure.note_some("missing_metadata", (self.missing > 0).then_some(self.missing)).into())
    }
}
