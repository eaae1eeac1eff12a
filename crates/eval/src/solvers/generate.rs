//! `generate`: calls the model.

use errorbar_core::{Params, Result};

use crate::{BoxFuture, Generate, GenerateConfig, Solver, SolverEffects, TaskState, TemplateText};

/// Calls the model for the next message of the conversation, perhaps with other settings than those of the run.
///
/// ```
/// use errorbar_eval::solvers::generate;
/// let _ = generate().temperature(0.0).max_tokens(100_u64);
/// ```
///
/// # When
/// The call itself; the default where a task has no solver. Settings here are for this call alone.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = "generate(temperature=0.0)"' 'scorer = "includes"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/It is 4.' --limit 1 --show --quiet
/// ── 1 · 2 messages ──────────────────────────────────────────────────────────────────────────────────
/// user          2 + 2?
/// assistant     It is 4.
/// target        4
/// includes      C (correct)
///
/// logs/….eval
///       sums · mock/It is 4. · 1 sample
///
/// includes · 1 scored
///                                0                                       1
///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `multiple_choice`, `system_message`, `self_critique`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "generate", check = Self::check_config)]
pub struct GenerateSolver {
    /// The sampling temperature.
    temperature: Option<f64>,
    /// The maximum number of tokens in the answer.
    max_tokens: Option<u64>,
    /// Nucleus sampling: the share of the probability that tokens are sampled from.
    top_p: Option<f64>,
    /// Strings that end the answer.
    stop_seqs: Option<Vec<String>>,
    /// The penalty on tokens by how often they occurred.
    frequency_penalty: Option<f64>,
    /// The penalty on tokens that occurred at all.
    presence_penalty: Option<f64>,
    /// The sampling seed of the server.
    seed: Option<i64>,
    /// Whether to return the log probabilities of tokens.
    logprobs: Option<bool>,
    /// Of how many tokens at each position.
    top_logprobs: Option<u32>,
    /// The first message of the conversation for this call, or the name of a file that holds it.
    system_message: Option<TemplateText>,
    /// Whether the answer is cached, whatever the run does.
    cache: Option<bool>,
}

impl GenerateSolver {
    fn config(&self) -> GenerateConfig {
        GenerateConfig {
            system_message: self.system_message.as_ref().map(|message| message.text().to_owned()),
            max_tokens: self.max_tokens,
            top_p: self.top_p,
            temperature: self.temperature,
            stop_seqs: self.stop_seqs.clone().unwrap_or_default(),
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            seed: self.seed,
            logprobs: self.logprobs,
            top_logprobs: self.top_logprobs,
            ..GenerateConfig::default()
        }
    }

    fn check_config(&self) -> Result<()> {
        self.config().check()
    }
}

impl Solver for GenerateSolver {
    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { generate.run_with(state, &self.config(), self.cache).await })
    }

    fn effects(&self) -> SolverEffects {
        SolverEffects::messages().generates()
    }

    fn configs(&self) -> Vec<GenerateConfig> {
        let config = self.config();
        if config == GenerateConfig::default() { Vec::new() } else { vec![config] }
    }
}
