//! `perplexity_per_seq`: exp of the mean surprise per token, sequences weighing the same.

use errorbar_macros::metric;

use super::perplexity::{estimate, tokens};
use crate::error::Result;
use crate::estimate::GroupContext;
use crate::evaluation::MetricValue;
use crate::metric::Accumulator;
use crate::params::Params;
use crate::scores::Scores;
use crate::stats::ExactSum;

/// exp of the mean over sequences of −log p / tokens; sequences without tokens are skipped.
#[metric(crate = crate, built_in, state, type = PerplexityPerSeq, keys = [], parts = "metadata")]
pub fn perplexity_per_seq() -> PerSequenceState {
    PerSequenceState::default()
}

/// The state of [`perplexity_per_seq()`].
#[derive(Clone, Debug, Default)]
pub struct PerSequenceState {
    surprise: ExactSum,
    sequences: u64,
    missing: usize,
}

impl Accumulator for PerSequenceState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let (read, missing) = tokens(PerplexityPerSeq::NAME, scores)?;
        self.missing += missing;
        for (tokens, log_probs) in read {
            if tokens > 0.0 {
                self.surprise.add(-log_probs / tokens);
                self.sequences += 1;
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.surprise.merge(&other.surprise);
        self.sequences += other.sequences;
        self.missing += other.missing;
        Ok(())
    }

    fn finish(&self, _: GroupContext) -> Result<MetricValue> {
        let surprise = (self.sequences > 0).then(|| self.surprise.divide(self.sequences));
        Ok(estimate(surprise, self.missing, self.sequences).into())
    }
}
