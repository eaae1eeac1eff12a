//! From the body of a chat completion to an answer.
//!
//! Servers differ in what they leave out, so what may be missing may; but what is there must have its type, or it is no
//! chat completion, and guessing would put made-up answers into a log.

use std::collections::HashSet;

use errorbar_core::Metadata;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::HIDDEN;
use crate::model::error::NoAnswer;
use crate::model::http::ApiKey;
use crate::model::{UNREADABLE_USAGE, with_prompt};
use crate::{Message, ModelOutput, OutputChoice, Usage};

#[derive(Deserialize)]
struct Completion {
    model: Option<String>,
    choices: Option<Vec<ChatChoice>>,
    usage: Option<Json>,
    error: Option<Json>,
}

#[derive(Deserialize)]
struct ChatChoice {
    index: Option<u64>,
    message: ChatMessage,
    finish_reason: Option<String>,
    logprobs: Option<Logprobs>,
    error: Option<Json>,
}

#[derive(Deserialize)]
struct ChatMessage {
    content: Option<Json>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
}

/// Written to logs as it is read, without what servers add.
#[derive(Serialize, Deserialize)]
struct Logprobs {
    content: Option<Vec<TokenLogprob>>,
}

#[derive(Serialize, Deserialize)]
struct TokenLogprob {
    #[serde(flatten)]
    alternative: Alternative,
    #[serde(default)]
    top_logprobs: Option<Vec<Alternative>>,
}

#[derive(Serialize, Deserialize)]
struct Alternative {
    token: String,
    logprob: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u8>>,
}

/// Reads an answer, from whose strings the key was taken out already; `asked` is the model's name if the server does
/// not report one.
///
/// # Errors
/// What is no chat completion, in words for the person who runs the server.
pub(in crate::model) fn read(
    body: &[u8],
    asked: &str,
    key: Option<&ApiKey>,
) -> Result<ModelOutput, NoAnswer> {
    let mut completion: Completion =
        serde_json::from_slice(body).map_err(|error| NoAnswer::Malformed(error.to_string()))?;
    if let Some(key) = key {
        let choices = completion.choices.iter_mut().flatten();
        choices.filter_map(|choice| choice.logprobs.as_mut()).for_each(|logprobs| logprobs.hide(key));
    }
    if let Some(error) = completion.error {
        return Err(NoAnswer::Malformed(format!("it holds an error: {}", error_message(&error))));
    }
    let mut choices =
        completion.choices.ok_or_else(|| NoAnswer::Malformed("it has no `choices`".to_owned()))?;
    // The first is the answer. Servers that number them may list them in any order; one without a number is the first if
    // none has that number.
    choices.sort_by_key(|choice| match choice.index {
        Some(0) => 0,
        None => 1,
        Some(index) => index.saturating_add(1),
    });
    if let Some(choice) = choices.first() {
        if let Some(reason) = choice.finish_reason.as_deref().filter(|reason| is_failure(reason)) {
            return Err(NoAnswer::Failed(format!("finish_reason {reason:?}")));
        }
        let is_error = |error: &&Json| ![json!(null), json!(false), json!(""), json!({})].contains(error);
        if let Some(error) = choice.error.as_ref().filter(is_error) {
            return Err(NoAnswer::Failed(error_message(error)));
        }
    }
    let model = completion.model.filter(|model| !model.is_empty()).unwrap_or_else(|| asked.to_owned());
    let reasoning = choices.first().and_then(|choice| {
        choice.message.reasoning_content.clone().or_else(|| choice.message.reasoning.clone())
    });
    let choices: Result<Vec<_>, String> =
        choices.into_iter().map(|choice| choice.into_output(&model)).collect();
    let choices = choices.map_err(NoAnswer::Malformed)?;
    if choices.is_empty() {
        return Err(NoAnswer::Malformed("its `choices` are empty".to_owned()));
    }
    let mut output = ModelOutput::new(model, choices);
    let mut metadata = Metadata::new();
    if let Some(text) = reasoning.filter(|text| !text.is_empty()) {
        metadata.insert("reasoning".to_owned(), text.into());
    }
    if let Some(reported) = completion.usage.filter(|usage| !usage.is_null()) {
        output.usage = usage(&reported);
        // An answer is paid for, and good without its usage: what cannot be read of that is for the record.
        if output.usage.is_none() {
            metadata.insert(UNREADABLE_USAGE.to_owned(), reported);
        }
    }
    output.metadata = (!metadata.is_empty()).then_some(metadata);
    Ok(output)
}

/// What the error that a server puts into an answer says.
fn error_message(error: &Json) -> String {
    let message = error.get("message").and_then(Json::as_str).or(error.as_str());
    message.map_or_else(|| error.to_string(), str::to_owned)
}

impl ChatChoice {
    fn into_output(self, model: &str) -> Result<OutputChoice, String> {
        let refusal = self.message.refusal.filter(|text| !text.is_empty());
        let content = self.message.content.as_ref().map(text_of).transpose()?;
        let content = content.filter(|text| !text.is_empty()).or(refusal).unwrap_or_default();
        let message = Message::generated(model, content);
        let mut choice = OutputChoice::new(message, stop_reason(self.finish_reason.as_deref()));
        choice.logprobs = self.logprobs.and_then(Logprobs::into_json);
        Ok(choice)
    }
}

/// The text of a content, or of the parts of it that are text.
fn text_of(content: &Json) -> Result<String, String> {
    let wrong = || format!("the `content` of a message is a string or a list of parts, found {content}");
    match content {
        Json::String(text) => Ok(text.clone()),
        Json::Array(parts) => {
            let mut texts = Vec::new();
            for part in parts {
                let kind = part.get("type").and_then(Json::as_str).ok_or_else(wrong)?;
                if matches!(kind, "text" | "output_text") {
                    texts.push(part.get("text").and_then(Json::as_str).ok_or_else(wrong)?);
                }
            }
            Ok(texts.join("\n"))
        }
        _ => Err(wrong()),
    }
}

/// Whether a model that stopped for this reason has failed, so that what it wrote until then is no answer.
pub(in crate::model) fn is_failure(finish_reason: &str) -> bool {
    const FAILURES: [&str; 12] = [
        "error",
        "failed",
        "abort",
        "aborted",
        "cancelled",
        "network_error",
        "server_error",
        "internal_error",
        "internal_server_error",
        "timeout",
        "timed_out",
        "insufficient_system_resource",
    ];
    FAILURES.iter().any(|failure| finish_reason.eq_ignore_ascii_case(failure))
}

/// Why the model stopped, as logs call it.
fn stop_reason(finish_reason: Option<&str>) -> &'static str {
    match finish_reason {
        Some("stop" | "eos") => "stop",
        Some("length" | "max_tokens") => "max_tokens",
        Some("tool_calls" | "function_call") => "tool_calls",
        Some("content_filter") => "content_filter",
        Some("model_length") => "model_length",
        _ => "unknown",
    }
}

/// The usage that a server reports; `None` if it is no object, or a number in it is none.
fn usage(reported: &Json) -> Option<Usage> {
    reported.as_object()?;
    /// A number of tokens, if there is one; `Err` for what is no such number.
    fn tokens(counts: &Json, key: &str) -> Result<Option<u64>, ()> {
        match counts.get(key) {
            None | Some(Json::Null) => Ok(None),
            Some(count) => {
                // Some servers count in floats.
                let whole = |count: f64| (count >= 0.0 && count.fract() == 0.0).then_some(count as u64);
                count.as_u64().or_else(|| count.as_f64().and_then(whole)).map(Some).ok_or(())
            }
        }
    }
    let read = || {
        let detail = |details: &str, key: &str| match reported.get(details) {
            Some(details) => tokens(details, key),
            None => Ok(None),
        };
        let mut usage = Usage::new(0, tokens(reported, "completion_tokens")?.unwrap_or(0));
        usage.input_tokens_cache_read = detail("prompt_tokens_details", "cached_tokens")?;
        usage.reasoning_tokens = detail("completion_tokens_details", "reasoning_tokens")?;
        let prompt = tokens(reported, "prompt_tokens")?.unwrap_or(0);
        Ok::<_, ()>(with_prompt(usage, prompt, tokens(reported, "total_tokens")?))
    };
    read().ok()
}

impl Logprobs {
    /// Takes out a key that is cut into tokens, or written as the numbers of its bytes.
    fn hide(&mut self, key: &ApiKey) {
        let Some(tokens) = &mut self.content else { return };
        let texts = |token: &TokenLogprob| token.alternative.token.clone().into_bytes();
        let bytes = |token: &TokenLogprob| token.alternative.bytes.clone().unwrap_or_default();
        let hidden = [pieces(tokens, key, texts), pieces(tokens, key, bytes)];
        for (place, token) in tokens.iter_mut().enumerate() {
            if hidden.iter().any(|hidden| hidden.contains(&place)) {
                token.alternative =
                    Alternative { token: HIDDEN.to_owned(), bytes: None, ..token.alternative };
                token.top_logprobs = None;
            }
            for alternative in token.top_logprobs.iter_mut().flatten() {
                let text = alternative.bytes.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
                if !key.places_in_answer(&text).is_empty() {
                    alternative.bytes = None;
                }
            }
        }
    }

    /// As logs have them; nothing if the server had none.
    fn into_json(mut self) -> Option<Json> {
        for token in self.content.as_mut()? {
            token.top_logprobs.get_or_insert_default();
        }
        serde_json::to_value(self).ok()
    }
}

/// The tokens that the key is made of, where their strings or bytes together hold it.
fn pieces(tokens: &[TokenLogprob], key: &ApiKey, part: impl Fn(&TokenLogprob) -> Vec<u8>) -> HashSet<usize> {
    let mut text = String::new();
    let mut ends = Vec::with_capacity(tokens.len());
    for token in tokens {
        // Bytes of half a character become others, which no key has.
        text.push_str(&String::from_utf8_lossy(&part(token)));
        ends.push(text.len());
    }
    let mut pieces = HashSet::new();
    for range in key.places_in_answer(&text) {
        let first = ends.partition_point(|end| *end <= range.start);
        let last = ends.partition_point(|end| *end < range.end);
        pieces.extend(first..=last);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: Json) -> Result<ModelOutput, String> {
        let read = read(body.to_string().as_bytes(), "asked", None);
        read.map_err(|(NoAnswer::Malformed(problem) | NoAnswer::Failed(problem))| problem)
    }

    fn read_message(message: Json) -> Result<ModelOutput, String> {
        answer(json!({"choices": [{"message": message}]}))
    }

    #[test]
    fn a_whole_answer() {
        let token = json!({"token": "4", "logprob": -0.25, "bytes": [52], "top_logprobs": [{"token": "5", "logprob": -2, "bytes": null}]});
        let output = answer(json!({
            "id": "chatcmpl-1", "object": "chat.completion", "model": "m-2024",
            "choices": [{
                "index": 0, "finish_reason": "length",
                "message": {"role": "assistant", "content": "4", "refusal": null, "reasoning_content": "hm"},
                "logprobs": {"content": [token], "refusal": null},
            }],
            "usage": {
                "prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27,
                "prompt_tokens_details": {"cached_tokens": 8, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
        }));
        let logprobs = json!({"content": [{"token": "4", "logprob": -0.25, "bytes": [52], "top_logprobs": [{"token": "5", "logprob": -2.0}]}]});
        let mut choice = OutputChoice::new(Message::generated("m-2024", "4"), "max_tokens");
        choice.logprobs = Some(logprobs);
        let mut usage = Usage::new(12, 7);
        usage.total_tokens = 27;
        usage.input_tokens_cache_read = Some(8);
        usage.reasoning_tokens = Some(3);
        let mut expected = ModelOutput::new("m-2024", vec![choice]);
        expected.usage = Some(usage);
        expected.metadata = Some(Metadata::from_iter([("reasoning".to_owned(), "hm".into())]));
        assert_eq!(output, Ok(expected));
    }

    #[test]
    fn what_servers_leave_out_may_be_missing() {
        let output = read_message(json!({"content": "x"})).unwrap();
        assert_eq!((output.model.as_str(), output.completion.as_str()), ("asked", "x"));
        assert_eq!((output.usage, output.metadata), (None, None));
        assert_eq!((output.choices[0].stop_reason.as_str(), &output.choices[0].logprobs), ("unknown", &None));
        let with_nulls = json!({
            "model": null, "usage": {"prompt_tokens": 3, "completion_tokens": null}, "error": null,
            "choices": [{"message": {"content": "x"}, "finish_reason": null, "logprobs": {"content": null}}],
        });
        let usage = answer(with_nulls).unwrap().usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (3, 0, 3));
        let no_total = json!({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 0});
        let no_total = json!({"usage": no_total, "choices": [{"message": {"content": "x"}}]});
        assert_eq!(answer(no_total).unwrap().usage.unwrap().total_tokens, 7);
        let token = json!({"token": "x", "logprob": 0, "bytes": null});
        let bare = json!({"choices": [{"message": {"content": "x"}, "logprobs": {"content": [token]}}]});
        let expected = json!({"content": [{"token": "x", "logprob": 0.0, "top_logprobs": []}]});
        assert_eq!(answer(bare).unwrap().choices[0].logprobs, Some(expected));
    }

    #[test]
    fn the_text_is_found_in_whatever_form_it_comes() {
        let parts = json!([{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        for (message, text) in [
            (json!({"content": null}), ""),
            (json!({}), ""),
            (json!({"content": []}), ""),
            (json!({"content": parts}), "a\nb"),
            (json!({"content": null, "refusal": "No."}), "No."),
            (json!({"content": "", "refusal": "No."}), "No."),
            (json!({"content": "Yes.", "refusal": ""}), "Yes."),
        ] {
            assert_eq!(read_message(message.clone()).unwrap().completion, text, "{message}");
        }
    }

    #[test]
    fn every_choice_is_recorded_and_the_first_is_the_completion() {
        let choice = |text| json!({"message": {"content": text}, "finish_reason": "stop"});
        let output = answer(json!({"choices": [choice("a"), choice("b")]})).unwrap();
        let texts: Vec<_> = output.choices.iter().map(|choice| choice.message.content.as_str()).collect();
        assert_eq!((output.completion.as_str(), texts), ("a", vec!["a", "b"]));
    }

    #[test]
    fn of_several_choices_index_0_is_the_answer() {
        let choice = |index: Option<u64>, text: &str| json!({"index": index, "message": {"content": text, "reasoning": text}});
        for (choices, expected) in [
            ([choice(Some(1), "b"), choice(Some(0), "a")], "a"),
            ([choice(Some(0), "a"), choice(Some(1), "b")], "a"),
            ([choice(None, "a"), choice(None, "b")], "a"),
            ([choice(None, "b"), choice(Some(0), "a")], "a"),
            // None has the number of the first.
            ([choice(Some(1), "b"), choice(None, "a")], "a"),
            ([choice(None, "a"), choice(Some(1), "b")], "a"),
            ([choice(Some(2), "b"), choice(Some(1), "a")], "a"),
        ] {
            let output = answer(json!({"choices": choices})).unwrap();
            let reasoning = &output.metadata.unwrap()["reasoning"];
            assert_eq!((output.completion.as_str(), reasoning), (expected, &json!(expected)));
        }
    }

    #[test]
    fn a_reason_of_failure_is_no_answer() {
        let failures = [
            "error",
            "ERROR",
            "abort",
            "network_error",
            "insufficient_system_resource",
            "timeout",
            "internal_error",
        ];
        for reason in failures {
            let choice = json!({"message": {"content": "half an ans"}, "finish_reason": reason});
            let fine = json!({"index": 0, "message": {"content": "4"}, "finish_reason": "stop"});
            let problem = answer(json!({"choices": [choice.clone()]})).unwrap_err();
            assert_eq!(problem, format!("finish_reason {reason:?}"));
            assert_eq!(answer(json!({"choices": [choice, fine]})).unwrap().completion, "4");
        }
    }

    #[test]
    fn a_choice_with_an_error_is_no_answer() {
        let of = |error: Json| {
            let choice = json!({"message": {"content": "half"}, "finish_reason": "stop", "error": error});
            answer(json!({"choices": [choice]})).map(|output| output.completion)
        };
        assert_eq!(of(json!({"code": 502, "message": "gone"})).unwrap_err(), "gone");
        assert_eq!(of(json!("gone")).unwrap_err(), "gone");
        assert_eq!(of(json!({"code": 502})).unwrap_err(), "{\"code\":502}");
        for none in [json!(null), json!({}), json!(false)] {
            assert_eq!(of(none).unwrap(), "half");
        }
    }

    #[test]
    fn reasons_to_stop_are_those_of_logs() {
        for (finish, stop) in [
            ("stop", "stop"),
            ("eos", "stop"),
            ("length", "max_tokens"),
            ("max_tokens", "max_tokens"),
            ("tool_calls", "tool_calls"),
            ("function_call", "tool_calls"),
            ("content_filter", "content_filter"),
            ("model_length", "model_length"),
            ("tired", "unknown"),
        ] {
            assert_eq!(stop_reason(Some(finish)), stop);
        }
        assert_eq!(stop_reason(None), "unknown");
    }

    #[test]
    fn a_usage_that_cannot_be_read_costs_no_answer() {
        let of = |usage: Json| {
            answer(json!({"choices": [{"message": {"content": "x"}}], "usage": usage})).unwrap()
        };
        for wrong in [
            json!({"prompt_tokens": -1}),
            json!({"prompt_tokens": "3"}),
            json!({"total_tokens": 1.5}),
            json!({"completion_tokens_details": {"reasoning_tokens": []}}),
            json!("12 tokens"),
            json!([1, 2]),
        ] {
            let output = of(wrong.clone());
            assert_eq!((output.completion.as_str(), output.usage), ("x", None), "{wrong}");
            assert_eq!(output.metadata.unwrap().get(UNREADABLE_USAGE), Some(&wrong));
        }
        let floats = of(json!({"prompt_tokens": 3.0, "completion_tokens": 4, "prompt_tokens_details": null}));
        assert_eq!((floats.usage.unwrap().total_tokens, floats.metadata), (7, None));
        assert_eq!(of(Json::Null).metadata, None);
    }

    #[test]
    fn what_is_no_chat_completion_is_refused() {
        for body in [
            "",
            "<html>502</html>",
            "null",
            "[]",
            r#""text""#,
            r#"{"choices": [{"message": {"content": "cut o"#,
            "{}",
            r#"{"choices": null}"#,
            r#"{"choices": []}"#,
            r#"{"choices": "x"}"#,
            r#"{"choices": [{}]}"#,
            r#"{"choices": [{"message": null}]}"#,
            r#"{"choices": [{"message": {"content": 4}}]}"#,
            r#"{"choices": [{"message": {"content": ["x"]}}]}"#,
            r#"{"choices": [{"message": {"content": [{"type": "text", "text": 4}]}}]}"#,
            r#"{"choices": [{"message": {"content": "x"}, "logprobs": {"content": [{"token": 1}]}}]}"#,
            "{\"choices\": [{\"message\": {\"content\": \"\u{0}\"}}]}",
        ] {
            assert!(read(body.as_bytes(), "m", None).is_err(), "{body}");
        }
        assert!(read(b"{\"choices\": [{\"message\": {\"content\": \"\xff\"}}]}", "m", None).is_err());
    }

    #[test]
    fn a_key_that_is_cut_into_tokens_or_bytes_is_taken_out() {
        let key = ApiKey::new("sk-0123456789abcdef", "").unwrap();
        let token = |text: &str| {
            let bytes = text.as_bytes();
            let alternative = json!({"token": text, "logprob": -1, "bytes": bytes});
            json!({"token": text, "logprob": -0.5, "bytes": bytes, "top_logprobs": [alternative]})
        };
        let spelled = json!({"token": "?", "logprob": 0, "bytes": b"sk-0123456789abcdef", "top_logprobs": [
            {"token": "?", "logprob": -1, "bytes": b"my sk-0123456789abcdef"}, {"token": "x", "logprob": -2, "bytes": [120]},
        ]});
        let aside = json!({"token": "z", "logprob": 0, "bytes": [122], "top_logprobs": [
            {"token": "?", "logprob": -1, "bytes": b"my sk-0123456789abcdef"}, {"token": "x", "logprob": -2, "bytes": [120]},
        ]});
        let tokens = [
            token("It is s"),
            token("k-01"),
            token(""),
            token("23456789abcde"),
            token("f."),
            token(" Yes"),
            spelled,
            aside,
        ];
        let body =
            json!({"choices": [{"message": {"content": ""}, "logprobs": {"content": tokens}}]}).to_string();
        let output = read(body.as_bytes(), "m", Some(&key)).unwrap();
        let logprobs = output.choices[0].logprobs.clone().unwrap();
        let hidden = |logprob: f64| json!({"token": "***", "logprob": logprob, "top_logprobs": []});
        let kept = json!({"token": " Yes", "logprob": -0.5, "bytes": b" Yes", "top_logprobs": [{"token": " Yes", "logprob": -1.0, "bytes": b" Yes"}]});
        let aside = json!({"token": "z", "logprob": 0.0, "bytes": [122], "top_logprobs": [
            {"token": "?", "logprob": -1.0}, {"token": "x", "logprob": -2.0, "bytes": [120]},
        ]});
        let expected: Vec<Json> = [vec![hidden(-0.5); 5], vec![kept, hidden(0.0), aside]].concat();
        assert_eq!(logprobs["content"], Json::from(expected));
        // A short key may be there by chance.
        let short = ApiKey::new("Yes", "").unwrap();
        let output = read(body.as_bytes(), "m", Some(&short)).unwrap();
        assert_eq!(output.choices[0].logprobs.as_ref().unwrap()["content"][5]["token"], " Yes");
    }

    #[test]
    fn an_error_in_the_place_of_an_answer_is_named() {
        for (error, shown) in [
            (json!({"message": "Overloaded."}), "Overloaded."),
            (json!("Overloaded."), "Overloaded."),
            (json!({"text": "Overloaded."}), r#"{"text":"Overloaded."}"#),
        ] {
            let problem = answer(json!({"error": error})).unwrap_err();
            assert_eq!(problem, format!("it holds an error: {shown}"));
        }
    }
}
