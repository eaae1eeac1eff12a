//! How a model generates: what is sent along with the messages.

use std::time::Duration;

use errorbar_core::{Error, IndexMap, Metadata, Result};
use errorbar_log::eval::SampleLimit;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::Usage;

/// How a model generates; for what is unset, the server has its own default.
///
/// ```
/// use errorbar_eval::GenerateConfig;
/// let config = GenerateConfig { temperature: Some(0.0), ..GenerateConfig::default() };
/// assert_eq!(config.to_log()["temperature"], 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GenerateConfig {
    /// The first message of every conversation.
    pub system_message: Option<String>,
    /// The maximum number of tokens in an answer.
    pub max_tokens: Option<u64>,
    /// Nucleus sampling: the share of the probability that tokens are sampled from.
    pub top_p: Option<f64>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Strings that end an answer.
    pub stop_seqs: Vec<String>,
    /// The penalty on tokens by how often they occurred.
    pub frequency_penalty: Option<f64>,
    /// The penalty on tokens that occurred at all.
    pub presence_penalty: Option<f64>,
    /// The sampling seed of the server.
    pub seed: Option<i64>,
    /// Whether to return the log probabilities of tokens.
    pub logprobs: Option<bool>,
    /// Of how many tokens at each position.
    pub top_logprobs: Option<u32>,
    /// Any other fields of the request body, as the server knows them.
    pub extra_body: Metadata,
}

/// Fields that are always sent: another value would give answers to something else, or in another form.
const NOT_FOR_EXTRA_BODY: [&str; 3] = ["messages", "model", "stream"];

impl GenerateConfig {
    /// Refuses what no server could take, before anything is sent.
    ///
    /// ```
    /// use errorbar_eval::GenerateConfig;
    /// let config = GenerateConfig { top_p: Some(1.5), ..GenerateConfig::default() };
    /// assert_eq!(config.check().unwrap_err().to_string(), "top_p is a share from 0 to 1, found 1.5");
    /// ```
    ///
    /// # Errors
    /// A number outside its range, and an `extra_body` that would replace the conversation, the model or the form of
    /// the answer.
    pub fn check(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::custom(problem));
        if let Some(found) = self.temperature.filter(|value| !(value.is_finite() && *value >= 0.0)) {
            return refuse(format!("temperature is a number from 0 on, found {found}"));
        }
        if let Some(found) = self.top_p.filter(|value| !(0.0..=1.0).contains(value)) {
            return refuse(format!("top_p is a share from 0 to 1, found {found}"));
        }
        let penalties =
            [("frequency_penalty", self.frequency_penalty), ("presence_penalty", self.presence_penalty)];
        for (name, value) in penalties {
            if let Some(found) = value.filter(|value| !value.is_finite()) {
                return refuse(format!("{name} is a number, found {found}"));
            }
        }
        if self.max_tokens == Some(0) {
            return refuse("max_tokens is at least 1; leave it out for no limit".to_owned());
        }
        if let Some(found) = self.top_logprobs.filter(|count| *count > 20) {
            return refuse(format!("top_logprobs is at most 20, found {found}"));
        }
        if let Some(key) = NOT_FOR_EXTRA_BODY.into_iter().find(|key| self.extra_body.contains_key(key)) {
            return refuse(format!(
                "extra_body has `{key}`, which is always sent and cannot be overridden; leave it out"
            ));
        }
        Ok(())
    }

    /// What is set here, and for the rest what is set in `other`.
    ///
    /// ```
    /// use errorbar_eval::GenerateConfig;
    /// let task = GenerateConfig { temperature: Some(0.5), max_tokens: Some(100), ..GenerateConfig::default() };
    /// let run = GenerateConfig { temperature: Some(0.0), ..GenerateConfig::default() };
    /// assert_eq!(run.or(&task), GenerateConfig { temperature: Some(0.0), ..task });
    /// ```
    #[must_use]
    pub fn or(self, other: &GenerateConfig) -> Self {
        let mut extra_body = other.extra_body.clone();
        extra_body.extend(self.extra_body);
        GenerateConfig {
            system_message: self.system_message.or_else(|| other.system_message.clone()),
            max_tokens: self.max_tokens.or(other.max_tokens),
            top_p: self.top_p.or(other.top_p),
            temperature: self.temperature.or(other.temperature),
            stop_seqs: if self.stop_seqs.is_empty() { other.stop_seqs.clone() } else { self.stop_seqs },
            frequency_penalty: self.frequency_penalty.or(other.frequency_penalty),
            presence_penalty: self.presence_penalty.or(other.presence_penalty),
            seed: self.seed.or(other.seed),
            logprobs: self.logprobs.or(other.logprobs),
            top_logprobs: self.top_logprobs.or(other.top_logprobs),
            extra_body,
        }
    }

    /// As logs record it: what is set, and nothing else.
    pub fn to_log(&self) -> Metadata {
        // Plain fields always are an object.
        let Ok(Json::Object(mut fields)) = serde_json::to_value(self) else { return Metadata::new() };
        let is_set = |value: &Json| ![Json::Null, json!([]), json!({})].contains(value);
        fields.retain(|_, value| is_set(value));
        fields.into()
    }
}

// How much a sample, or a whole run, may take: time, tokens, money.

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
mod config_tests {
    use super::*;

    fn refused(fields: &str) -> Option<String> {
        let config: GenerateConfig = serde_json::from_str(fields).unwrap();
        config.check().err().map(|error| error.to_string())
    }

    #[test]
    fn what_servers_take_is_let_through() {
        for fields in [
            "{}",
            r#"{"temperature": 0, "top_p": 0, "max_tokens": 1, "top_logprobs": 20}"#,
            r#"{"temperature": 2.5, "top_p": 1, "top_logprobs": 0, "frequency_penalty": -2}"#,
            r#"{"extra_body": {"reasoning_effort": "low", "max_tokens": 7}}"#,
        ] {
            assert_eq!(refused(fields), None, "{fields}");
        }
    }

    #[test]
    fn what_they_cannot_take_is_named() {
        let always_sent = |key: &str| {
            format!("extra_body has `{key}`, which is always sent and cannot be overridden; leave it out")
        };
        for (fields, problem) in [
            (r#"{"temperature": -0.1}"#, "temperature is a number from 0 on, found -0.1".to_owned()),
            (r#"{"top_p": 1.01}"#, "top_p is a share from 0 to 1, found 1.01".to_owned()),
            (r#"{"top_p": -0.01}"#, "top_p is a share from 0 to 1, found -0.01".to_owned()),
            (r#"{"max_tokens": 0}"#, "max_tokens is at least 1; leave it out for no limit".to_owned()),
            (r#"{"top_logprobs": 21}"#, "top_logprobs is at most 20, found 21".to_owned()),
            (r#"{"extra_body": {"messages": []}}"#, always_sent("messages")),
            (r#"{"extra_body": {"a": 1, "stream": true}}"#, always_sent("stream")),
            (r#"{"extra_body": {"model": "x"}}"#, always_sent("model")),
        ] {
            assert_eq!(refused(fields), Some(problem));
        }
        for value in [f64::NAN, f64::INFINITY] {
            assert!(
                GenerateConfig { temperature: Some(value), ..GenerateConfig::default() }.check().is_err()
            );
            assert!(GenerateConfig { top_p: Some(value), ..GenerateConfig::default() }.check().is_err());
            assert!(
                GenerateConfig { presence_penalty: Some(value), ..GenerateConfig::default() }
                    .check()
                    .is_err()
            );
        }
    }
}

#[cfg(test)]
mod limits_tests {
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
