//! The server's answers: always the same to the same question.

use serde_json::{Value as Json, json};

/// The chat completion for a request.
pub(crate) fn completion(request: &Json) -> Json {
    let model = request.get("model").and_then(Json::as_str).unwrap_or_default();
    let texts = || request.get("messages").and_then(Json::as_array).into_iter().flatten();
    let last =
        texts().rfind(|message| message.get("role") == Some(&json!("user"))).map(text).unwrap_or_default();
    let answer = answer_to(model, last);
    let limit = ["max_tokens", "max_completion_tokens"].iter().find_map(|key| request.get(*key)?.as_u64());
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let tokens: Vec<&str> = answer.split_inclusive(' ').take(limit).collect();
    let is_whole = tokens.concat() == answer;
    let prompt_tokens: usize = texts().map(|message| text(message).split_whitespace().count()).sum();
    json!({
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 0,
        "model": format!("{model}-as-served"),
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": tokens.concat()},
            "finish_reason": if is_whole { "stop" } else { "length" },
            "logprobs": logprobs(request, &tokens),
        }],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": tokens.len(),
            "total_tokens": prompt_tokens + tokens.len(),
        },
    })
}

fn text(message: &Json) -> &str {
    message.get("content").and_then(Json::as_str).unwrap_or_default()
}

/// Sums are done, and grades given. A model with `unsure` in its name is wrong about every third sum; one with
/// `strict` in it gives no good grade.
fn answer_to(model: &str, prompt: &str) -> String {
    if prompt.contains("GRADE") {
        let grade = if model.contains("strict") { "I" } else { "C" };
        return format!("I have looked at it closely.\nGRADE: {grade}");
    }
    match sum(prompt) {
        Some(sum) if model.contains("unsure") && sum % 3 == 0 => format!("Well, ANSWER: {}", sum + 1),
        Some(sum) => format!("ANSWER: {sum}"),
        None => format!("You said: {}", prompt.chars().take(100).collect::<String>()),
    }
}

/// The sum that a string requests, as in `What is 17 + 5?`
fn sum(text: &str) -> Option<i64> {
    let (left, right) = text.split_once(" + ")?;
    let digits_at_end = left.len() - left.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let left = left.get(left.len() - digits_at_end..)?;
    let right = right.split(|c: char| !c.is_ascii_digit()).next()?;
    left.parse::<i64>().ok()?.checked_add(right.parse().ok()?)
}

fn logprobs(request: &Json, tokens: &[&str]) -> Json {
    if request.get("logprobs") != Some(&json!(true)) {
        return Json::Null;
    }
    let count = request.get("top_logprobs").and_then(Json::as_u64).unwrap_or(0);
    let logprob = |place: u64| -0.5 - place as f64;
    let content = tokens.iter().map(|token| {
        let bytes = token.as_bytes();
        let top = (0..count).map(|place| json!({"token": token, "logprob": logprob(place), "bytes": bytes}));
        json!({"token": token, "logprob": logprob(0), "bytes": bytes, "top_logprobs": top.collect::<Json>()})
    });
    json!({"content": content.collect::<Json>(), "refusal": null})
}
