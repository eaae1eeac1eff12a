//! How much a sample, or a whole run, may take: time, tokens, money.

use std::sync::Mutex;
use std::time::Duration;

use errorbar_core::{Error, IndexMap, Result};
use errorbar_log::eval::SampleLimit;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::{Usage, lock};

/// How much a sample, or a whole run, may take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageLimits {
    /// Time.
    pub time: Option<Duration>,
    /// Tokens, read and written, of all models together.
    pub tokens: Option<u64>,
    /// What the tokens cost, in the currency of the [prices](Prices).
    pub cost: Option<f64>,
}

impl UsageLimits {
    /// The limit that this spending has reached: no more requests can be made.
    pub(crate) fn reached(&self, spent: &Spending) -> Option<SampleLimit> {
        self.met(spent, |spent, limit| spent > 0.0 && spent >= limit)
    }

    /// The limit that this spending exceeds.
    pub(crate) fn passed(&self, spent: &Spending) -> Option<SampleLimit> {
        self.met(spent, |spent, limit| spent > limit)
    }

    fn met(&self, spent: &Spending, is_met: impl Fn(f64, f64) -> bool) -> Option<SampleLimit> {
        if let Some(limit) = self.tokens.filter(|limit| is_met(spent.tokens as f64, *limit as f64)) {
            let reason = format!("{} tokens were used, and {limit} are allowed", spent.tokens);
            return Some(SampleLimit::new("token", limit as f64, reason));
        }
        let limit = self.cost.filter(|limit| is_met(spent.cost, *limit))?;
        Some(SampleLimit::new(
            "cost",
            limit,
            format!("the tokens cost {}, and {limit} is allowed", shown_cost(spent.cost)),
        ))
    }
}

/// A cost in as many digits as are significant.
pub fn shown_cost(cost: f64) -> String {
    let text = format!("{cost:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The record of a time limit that was reached.
pub(crate) fn time_limit(limit: Duration) -> SampleLimit {
    let seconds = limit.as_secs_f64();
    let reason = format!("it took longer than {seconds} s");
    SampleLimit::new("time", seconds, reason)
}

/// What has been spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spending {
    pub(crate) tokens: u64,
    pub(crate) cost: f64,
}

impl Spending {
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.tokens = self.tokens.saturating_add(usage.total_tokens);
        self.cost += usage.total_cost.unwrap_or(0.0);
    }
}

/// What the samples of a run have spent together, counted at every answer.
#[derive(Debug, Default)]
pub(crate) struct SharedSpending(Mutex<Spending>);

impl SharedSpending {
    pub(crate) fn add(&self, usage: &Usage) {
        lock(&self.0).add(usage);
    }

    pub(crate) fn spent(&self) -> Spending {
        *lock(&self.0)
    }
}

/// What a million tokens of a model cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from the provider's cache.
    pub input_cache_read: f64,
    /// Tokens written to it.
    pub input_cache_write: f64,
}

impl Price {
    /// What these tokens cost.
    pub fn of(&self, usage: &Usage) -> f64 {
        let parts = [
            (self.input, usage.input_tokens),
            (self.output, usage.output_tokens),
            (self.input_cache_read, usage.input_tokens_cache_read.unwrap_or(0)),
            (self.input_cache_write, usage.input_tokens_cache_write.unwrap_or(0)),
        ];
        parts.iter().map(|(price, tokens)| price * *tokens as f64 / 1e6).sum()
    }
}

/// What models cost, by name.
///
/// ```
/// use errorbar_eval::Prices;
/// let prices = Prices::parse("[\"openai/gpt-4o-mini\"]\ninput = 0.15\noutput = 0.6")?;
/// assert_eq!(prices.of("openai/gpt-4o-mini").map(|price| price.output), Some(0.6));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices(IndexMap<String, Price>);

impl Prices {
    /// Prices from TOML or JSON: a table by model, with `input`, `output`, `input_cache_read` and
    /// `input_cache_write` for a million tokens each.
    ///
    /// # Errors
    /// Anything else, and a price below 0.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |problem: String| {
            Error::custom(format!(
                "{}; prices are a table by model: [\"openai/gpt-4o-mini\"], then input = 0.15, output = 0.6, for a \
                 million tokens",
                problem.trim_end()
            ))
        };
        let prices: IndexMap<String, Price> = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?
        } else {
            toml::from_str(text).map_err(|error| wrong(error.to_string()))?
        };
        for (model, price) in &prices {
            let all = [price.input, price.output, price.input_cache_read, price.input_cache_write];
            if let Some(bad) = all.iter().find(|price| !price.is_finite() || **price < 0.0) {
                return Err(wrong(format!("`{model}` has the price {bad}")));
            }
        }
        Ok(Prices(prices))
    }

    /// The price of a model.
    pub fn of(&self, model: &str) -> Option<&Price> {
        self.0.get(model)
    }

    /// Those of these models alone.
    pub(crate) fn only<'a>(&self, models: impl Iterator<Item = &'a str>) -> Self {
        Prices(models.filter_map(|name| Some((name.to_owned(), *self.of(name)?))).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As [`parse`](Self::parse) reads them.
    pub(crate) fn to_json(&self) -> Json {
        json!(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_their_prices() {
        let prices = Prices::parse(
            r#"{"a/b": {"input": 1, "output": 10, "input_cache_read": 0.5, "input_cache_write": 2}, "free/x": {}}"#,
        );
        let prices = prices.unwrap();
        let mut usage = Usage::new(1_000_000, 200_000);
        usage.input_tokens_cache_read = Some(1_000_000);
        usage.input_tokens_cache_write = Some(500_000);
        assert_eq!(prices.of("a/b").unwrap().of(&usage), 4.5);
        assert_eq!(prices.of("free/x").unwrap().of(&usage), 0.0);
        assert_eq!(prices.of("a/c"), None);
        for (text, problem) in [
            ("[x]\ninput = -1", "`x` has the price -1"),
            (
                "[x]\ninputs = 1",
                "unknown field `inputs`, expected one of `input`, `output`, `input_cache_read`, `input_cache_write`",
            ),
            ("x = 5", "invalid type: integer `5`, expected struct Price"),
            ("{\"x\": {\"input\": \"1\"}}", "invalid type: string \"1\", expected f64 at line 1 column 19"),
        ] {
            let error = Prices::parse(text).unwrap_err().to_string();
            let (found, advice) = error.split_once("; ").unwrap();
            // TOML shows the line first.
            assert_eq!(found.lines().last(), Some(problem), "{error}");
            let format = "[\"openai/gpt-4o-mini\"], then input = 0.15, output = 0.6, for a million tokens";
            assert_eq!(advice, format!("prices are a table by model: {format}"));
        }
    }

    #[test]
    fn a_limit_is_what_may_be_reached_and_not_passed() {
        let limits = UsageLimits { tokens: Some(10), cost: Some(0.5), ..UsageLimits::default() };
        assert_eq!(limits.passed(&Spending { tokens: 10, cost: 0.5 }), None);
        assert_eq!(limits.reached(&Spending { tokens: 9, cost: 0.4 }), None);
        assert_eq!(limits.reached(&Spending { tokens: 10, cost: 0.0 }).unwrap().kind, "token");
        assert_eq!(limits.reached(&Spending { tokens: 0, cost: 0.5 }).unwrap().kind, "cost");
        let passed = limits.passed(&Spending { tokens: 11, cost: 0.5 }).unwrap();
        assert_eq!((passed.kind.as_str(), passed.limit), ("token", 10.0));
        let passed = limits.passed(&Spending { tokens: 3, cost: 0.6 }).unwrap();
        assert_eq!((passed.kind.as_str(), passed.limit), ("cost", 0.5));
        assert_eq!(UsageLimits::default().passed(&Spending { tokens: 1 << 60, cost: 1e9 }), None);
    }
}
