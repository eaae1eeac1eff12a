//! The body of a request for a chat completion.

use serde_json::{Map, Value as Json, json};

use crate::{GenerateConfig, Message};

/// Models of these names take `max_completion_tokens` and refuse `max_tokens`, which is all that other servers know.
const THINKING: [&str; 4] = ["o1", "o3", "o4", "gpt-5"];

/// The body: what is unset is not sent, so that the server has its default.
pub(super) fn of(model: &str, messages: &[Message], config: &GenerateConfig) -> Json {
    let messages =
        messages.iter().map(|message| json!({"role": message.role.name(), "content": message.content}));
    let mut body = Map::new();
    body.insert("messages".to_owned(), messages.collect());
    body.insert("model".to_owned(), model.into());
    let max_tokens = if THINKING.iter().any(|prefix| model.starts_with(prefix)) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let logprobs = config.logprobs.or(config.top_logprobs.map(|_| true));
    let options = [
        (max_tokens, config.max_tokens.map(Json::from)),
        ("temperature", config.temperature.map(Json::from)),
        ("top_p", config.top_p.map(Json::from)),
        ("stop", (!config.stop_seqs.is_empty()).then(|| config.stop_seqs.clone().into())),
        ("seed", config.seed.map(Json::from)),
        ("frequency_penalty", config.frequency_penalty.map(Json::from)),
        ("presence_penalty", config.presence_penalty.map(Json::from)),
        ("logprobs", logprobs.map(Json::from)),
        ("top_logprobs", config.top_logprobs.map(Json::from)),
    ];
    body.extend(options.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    body.extend(config.extra_body.clone());
    Json::Object(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(model: &str, config: Json) -> Json {
        let messages = [Message::system("Be brief."), Message::user("2 + 2?")];
        of(model, &messages, &serde_json::from_value(config).unwrap())
    }

    #[test]
    fn what_is_unset_is_not_sent() {
        let expected = json!({
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}],
            "model": "m",
        });
        // The system message of the configuration is among the messages already.
        assert_eq!(sent("m", json!({"system_message": "Be brief."})), expected);
    }

    #[test]
    fn what_is_set_is_sent_as_servers_call_it() {
        let config = json!({
            "max_tokens": 5, "temperature": 0.0, "top_p": 0.9, "stop_seqs": ["END", "\n"], "seed": -1,
            "frequency_penalty": 0.5, "presence_penalty": -0.5, "logprobs": false,
        });
        let mut body = sent("m", config.clone());
        body.as_object_mut().unwrap().retain(|key, _| key != "messages" && key != "model");
        let mut expected = config;
        let fields = expected.as_object_mut().unwrap();
        let stop = fields.remove("stop_seqs").unwrap();
        fields.insert("stop".to_owned(), stop);
        assert_eq!(body, expected);
    }

    #[test]
    fn a_number_of_probabilities_requests_probabilities() {
        let body = sent("m", json!({"top_logprobs": 2}));
        assert_eq!((&body["logprobs"], &body["top_logprobs"]), (&json!(true), &json!(2)));
    }

    #[test]
    fn models_that_think_count_their_tokens_under_another_name() {
        for model in ["o1", "o3-mini", "o4-mini-2025", "gpt-5-nano"] {
            let body = sent(model, json!({"max_tokens": 5}));
            assert_eq!(
                (&body["max_completion_tokens"], body.get("max_tokens")),
                (&json!(5), None),
                "{model}"
            );
        }
        for model in ["gpt-4o", "llama-o1", "tiny"] {
            assert_eq!(sent(model, json!({"max_tokens": 5}))["max_tokens"], 5, "{model}");
        }
    }

    #[test]
    fn the_extra_body_has_the_last_word() {
        let config = json!({"temperature": 1.0, "extra_body": {"temperature": null, "top_k": {"a": [1]}}});
        let body = sent("m", config);
        assert_eq!((body.get("temperature"), &body["top_k"]), (Some(&Json::Null), &json!({"a": [1]})));
    }
}
