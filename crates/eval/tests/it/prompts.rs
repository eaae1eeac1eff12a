//! Solvers and graders send what the reference's send, word for word: `conformance/prompts/cases.json` has its
//! conversations, requests and scores.

use std::sync::{Arc, Mutex};

use errorbar_core::Spec;
use errorbar_core::spec::Arg;
use errorbar_eval::{
    AnyScorer, AnySolver, Chain, Generate, GenerateConfig, Message, MessageRole, Sample, TaskState, block_on,
    built_in_registry, model_fn,
};
use serde_json::{Value as Json, json};

fn cases() -> Vec<Json> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/prompts/cases.json");
    let file: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn spec(call: &Json) -> Spec {
    let arg = |value: &Json| Arg::from_log_json(value).unwrap();
    let mut spec = Spec::new(call["name"].as_str().unwrap());
    spec.args = call["args"].as_array().unwrap().iter().map(arg).collect();
    spec.kwargs = call["kwargs"].as_object().unwrap().iter().map(|(k, v)| (k.clone(), arg(v))).collect();
    // What a task file would hold.
    spec.to_string().parse().unwrap()
}

fn message(pair: &Json) -> Message {
    let role = match pair[0].as_str().unwrap() {
        "system" => MessageRole::System,
        "user" => MessageRole::User,
        _ => MessageRole::Assistant,
    };
    Message::new(role, pair[1].as_str().unwrap())
}

fn sample(given: &Json) -> Sample {
    let mut sample = match given["input"].as_array() {
        Some(talk) => Sample::new(talk.iter().map(message).collect::<Vec<_>>()),
        None => Sample::new(given["input"].as_str().unwrap()),
    };
    sample = sample.target(given["target"].as_str().unwrap());
    if let Some(choices) = given["choices"].as_array() {
        sample = sample.choices(choices.iter().map(|choice| choice.as_str().unwrap()));
    }
    for (key, value) in given["metadata"].as_object().into_iter().flatten() {
        sample = sample.metadata(key, value.clone());
    }
    sample
}

fn shown(messages: &[Message]) -> Json {
    let pair = |message: &Message| {
        let role = match message.role {
            MessageRole::System => "system",
            MessageRole::User => "user",
            _ => "assistant",
        };
        json!([role, message.content])
    };
    messages.iter().map(pair).collect()
}

fn config(config: &GenerateConfig) -> Json {
    let mut config = config.to_log();
    config.remove("system_message");
    config.into()
}

#[test]
fn prompts_are_those_of_the_reference() {
    let registry = built_in_registry();
    for case in cases() {
        let steps: Vec<Spec> = case["solvers"].as_array().unwrap().iter().map(spec).collect();
        let solver = Chain::new(steps.iter().map(|step| registry.build::<AnySolver>(step).unwrap()));
        let outputs: Vec<String> = serde_json::from_value(case["outputs"].clone()).unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let model = model_fn("mockllm/model", move |request| {
            let mut seen = seen.lock().unwrap();
            let answer = outputs[seen.len()].clone();
            seen.push(json!({"messages": shown(request.messages), "config": config(request.config)}));
            async move { Ok(answer) }
        });
        let sample = sample(&case["sample"]);
        let generate = Arc::new(Generate::new(model.into()));
        let mut state =
            TaskState::new("mockllm/model", &sample, 1.into(), 1).with_generate(Arc::clone(&generate));
        let solver: AnySolver = solver.into();
        block_on(solver.solve(&mut state, &generate)).unwrap().unwrap();
        let expect = &case["expect"];
        assert_eq!(shown(&state.messages), expect["messages"], "{steps:?}");
        if !case["scorer"].is_null() {
            let scorer: AnyScorer = registry.build(&spec(&case["scorer"])).unwrap();
            let score = block_on(scorer.score(&state, &sample.target)).unwrap().unwrap().unwrap();
            assert_eq!(score.value.to_json(), expect["score"], "{}", case["scorer"]);
        }
        assert_eq!(Json::from(requests.lock().unwrap().clone()), expect["requests"], "{steps:?}");
    }
}
