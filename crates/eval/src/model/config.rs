//! How a model generates: what is sent along with the messages.

use errorbar_core::Metadata;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// How a model generates; what is not said is as the model's server has it.
///
/// ```
/// use errorbar_eval::GenerateConfig;
/// let config = GenerateConfig { temperature: Some(0.0), ..GenerateConfig::default() };
/// assert_eq!(config.to_log()["temperature"], 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GenerateConfig {
    /// What stands in front of every conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// The most tokens that an answer may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The share of the probability that tokens are chosen from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// How freely tokens are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts that end an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_seqs: Vec<String>,
    /// How much tokens that occurred often are avoided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// How much tokens that occurred at all are avoided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Where the server's random choices start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Whether the probabilities of tokens are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<bool>,
    /// Of how many tokens at each place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_logprobs: Option<u32>,
    /// Anything else for the body of the request, as the server knows it.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub extra_body: Metadata,
}

impl GenerateConfig {
    /// As logs record it: what is said, and nothing else.
    pub fn to_log(&self) -> Metadata {
        match serde_json::to_value(self) {
            Ok(Json::Object(fields)) => fields,
            // Plain fields always are an object.
            _ => Metadata::new(),
        }
    }
}
