//! `perplexity_per_seq`: exp of the mean surprise per token, sequences weighing the same.

use super::perplexity::{estimate, perplexity_metric, tokens};
use crate::error::Result;
use crate::estimate::Whole;
use crate::evaluation::MetricValue;
use crate::metric::{MetricState, same_state};
use crate::scores::Scores;
use crate::stats::ExactSum;

perplexity_metric!(
    PerplexityPerSeq,
    perplexity_per_seq,
    "perplexity_per_seq",
    "exp of the mean over sequences of −log p / tokens; sequences without tokens are skipped.",
    PerSequenceState
);

#[derive(Clone, Debug, Default)]
struct PerSequenceState {
    surprise: ExactSum,
    sequences: u64,
    missing: usize,
}

impl MetricState for PerSequenceState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let (read, missing) = tokens("perplexity_per_seq", scores)?;
        self.missing += missing;
        for (tokens, log_probs) in read {
            if tokens > 0.0 {
                self.surprise.add(-log_probs / tokens);
                self.sequences += 1;
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        let other = same_state::<PerSequenceState>(other)?;
        self.surprise.merge(&other.surprise);
        self.sequences += other.sequences;
        self.missing += other.missing;
        Ok(())
    }

    fn finish(&self, _: Whole) -> Result<MetricValue> {
        let surprise = (self.sequences > 0).then(|| self.surprise.divide(self.sequences));
        Ok(estimate(surprise, self.missing, self.sequences).into())
    }
}
