//! How a model generates: what is sent along with the messages.

use errorbar_core::{Error, Metadata, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

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

#[cfg(test)]
mod tests {
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
