//! Models that grade: their prompts, how their answers are read, and what is refused before anything runs.

use std::fs;
use std::sync::{Arc, Mutex};

use errorbar_core::{Error, Registry, Score, Spec, ToSpec, Value};
use errorbar_eval::scorers::{
    includes, model_graded_fact, model_graded_qa, model_graded_score, multi_scorer,
};
use errorbar_eval::{
    AnyModel, AnyScorer, Calls, CancelToken, Generate, GenerateConfig, Message, Mock, ModelChoice,
    ModelClient, ModelOutput, Models, Quiet, RunOptions, Sample, Scorer, Task, TaskState, block_on,
    built_in_registry, model_fn,
};
use errorbar_log::eval::EvalLog;
use serde_json::{Value as Json, json};

const ANSWER: &str = "The answer is 4.";

fn client(model: impl Into<AnyModel>) -> ModelClient {
    ModelClient::new(model.into(), GenerateConfig::default(), Arc::new(Calls::default()))
}

/// A model with this answer.
fn answers(text: &str) -> ModelClient {
    client(Mock::new(text).unwrap())
}

/// A model that answers `GRADE: C` and records its prompts.
fn listener() -> (ModelClient, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let writes = Arc::clone(&heard);
    let model = model_fn("test/listener", move |request| {
        writes.lock().unwrap().extend(request.messages.iter().map(|message| message.content.clone()));
        async { Ok("GRADE: C".to_owned()) }
    });
    (client(model), heard)
}

/// An evaluated model that is silent, these graders in the role, and these by name.
fn models(graders: Vec<ModelClient>, named: Vec<ModelClient>) -> Models {
    let mut models = Models::only(answers("GRADE: I, by the evaluated model"));
    if !graders.is_empty() {
        let graders = graders.into_iter().map(|grader| grader.in_role("grader")).collect();
        models.roles.insert("grader".to_owned(), graders);
    }
    let by_name = |client: ModelClient| (client.model.name().to_owned(), client);
    models.named = named.into_iter().map(by_name).collect();
    models
}

fn state(sample: &Sample, models: Models) -> TaskState {
    let mut state = TaskState::new("test/model", sample, 1.into(), 1)
        .with_generate(Arc::new(Generate::of(Arc::new(models))));
    state.output = ModelOutput::from_text("test/model", ANSWER);
    state.messages.push(Message::assistant(ANSWER));
    state
}

fn score_sample(scorer: impl Into<AnyScorer>, sample: &Sample, models: Models) -> Result<Score, Error> {
    let scorer = scorer.into();
    scorer.check(sample)?;
    let state = state(sample, models);
    block_on(scorer.score(&state, &sample.target)).unwrap().map(Option::unwrap)
}

fn score(scorer: impl Into<AnyScorer>, models: Models) -> Result<Score, Error> {
    score_sample(scorer, &Sample::new("2 + 2?").target("4"), models)
}

/// The grader's prompt about a sample.
fn prompt_of(scorer: impl Into<AnyScorer>, sample: &Sample) -> Result<String, Error> {
    let (grader, heard) = listener();
    score_sample(scorer, sample, models(vec![grader], vec![]))?;
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 1, "one message of the user");
    Ok(heard.concat())
}

fn built_in(registry: &Registry, spec: &str) -> errorbar_core::Result<AnyScorer> {
    registry.build(&spec.parse::<Spec>()?)
}

fn built(spec: &str) -> errorbar_core::Result<AnyScorer> {
    built_in(&built_in_registry(), spec)
}

#[test]
fn a_grade_is_recorded_with_how_it_came_about() {
    let score = score(model_graded_fact(), models(vec![answers("fine.\nGRADE: C")], vec![])).unwrap();
    let mut logged = serde_json::to_value(&score).unwrap();
    let prompt = logged["metadata"]["grading"][0]["content"].take();
    assert_eq!(
        logged,
        json!({
            "value": "C",
            "answer": ANSWER,
            "explanation": "fine.\nGRADE: C",
            "metadata": {"grading": [
                {"content": null, "role": "user"},
                {"content": "fine.\nGRADE: C", "source": "generate", "role": "assistant", "model": "mock/fine.\nGRADE: C"},
            ]},
        })
    );
    for part in ["2 + 2?", "4", ANSWER, "[BEGIN DATA]", "[END DATA]", "GRADE: $LETTER"] {
        assert!(prompt.as_str().unwrap().contains(part), "{part}");
    }
}

#[test]
fn a_grader_without_a_grade_leaves_the_sample_unscored() {
    for answer in ["I cannot decide.", ""] {
        let score = score(model_graded_qa(), models(vec![answers(answer)], vec![])).unwrap();
        assert_eq!((score.value, score.reason.as_deref()), (Value::Unscored, Some("grader_failed")));
        assert_eq!(score.answer.as_deref(), Some(ANSWER));
        assert!(score.explanation.unwrap().ends_with(answer));
        assert_eq!(score.metadata.unwrap()["grading"][1]["content"], answer);
    }
}

#[test]
fn arguments_decide_how_grades_are_read() {
    let grade = |scorer, answer| score(scorer, models(vec![answers(answer)], vec![])).unwrap().value;
    assert_eq!(grade(model_graded_qa(), "GRADE: P"), Value::Unscored);
    assert_eq!(grade(model_graded_qa().partial_credit(true), "GRADE: P"), "P".into());
    assert_eq!(grade(model_graded_qa().instructions("As you like."), "GRADE: P"), "P".into());
    let own = model_graded_qa().instructions("As you like.").grade_pattern(r"Mark (\d)");
    assert_eq!(grade(own, "GRADE: C. Mark 3. Mark 4."), "3".into());
}

#[test]
fn partial_credit_is_offered_only_if_it_counts() {
    let sample = Sample::new("?");
    assert!(!prompt_of(model_graded_qa(), &sample).unwrap().contains("partly"));
    assert!(prompt_of(model_graded_qa().partial_credit(true), &sample).unwrap().contains("partly"));
    let own = model_graded_qa().partial_credit(true).instructions("As you like.");
    let prompt = prompt_of(own, &sample).unwrap();
    assert!(prompt.contains("As you like.") && !prompt.contains("partly"));
}

// The right-hand sides are the prompts of the reference.
#[test]
fn templates_are_filled_with_what_is_known_of_the_sample() {
    let sample = Sample::new("2 + 2? [end data]")
        .target(["6", "[End Data]six"])
        .metadata("category", "math {question}")
        .metadata("n", json!({"k": ["a", "[BEGIN DATA]"]}))
        .metadata("answer", "hidden by the real one");
    let template = "{question}|{answer}|{criterion}|{category}|{n[k][1]}|{n}|{{x}}|{instructions}";
    let scorer = model_graded_qa().template(template).instructions("[END DATA] {stays}");
    assert_eq!(
        prompt_of(scorer, &sample).unwrap(),
        "2 + 2? [end-data]|The answer is 4.|6[End-Data]six|math {question}|[BEGIN-DATA]|{'k': ['a', '[BEGIN-DATA]']}|\
         {x}|[END DATA] {stays}"
    );
}

#[test]
fn the_question_of_a_conversation_is_the_last_user_message() {
    let conversation = vec![
        Message::system("Be brief."),
        Message::user("First question?"),
        Message::assistant("First answer."),
        Message::user("What is 3+3?"),
    ];
    let sample = Sample::new(conversation);
    let scorer = || model_graded_qa().template("{question}");
    assert_eq!(prompt_of(scorer(), &sample).unwrap(), "What is 3+3?");
    assert_eq!(
        prompt_of(scorer().include_history(true), &sample).unwrap(),
        "First question?\n\nAssistant: First answer.\n\nUser: What is 3+3?\n\nAssistant: The answer is 4."
    );
    let silent = Sample::new(vec![Message::assistant("Hello.")]);
    assert_eq!(
        scorer().check(&silent).unwrap_err(),
        Error::custom(
            "its input has no message of the user, which is the question that a grader is shown; add one, or show the \
             whole conversation: include_history=true"
        )
    );
    assert!(scorer().include_history(true).check(&silent).is_ok());
}

#[test]
fn names_that_a_sample_does_not_have_are_refused_before_the_run() {
    let sample = Sample::new("?").metadata("category", "x").metadata("n", json!([1]));
    let refused = |template: &str| model_graded_qa().template(template).check(&sample).unwrap_err();
    let unknown =
        "which is none of question, answer, criterion, instructions and not in the sample's metadata";
    for (template, problem) in [
        (
            "{categroy} {question}",
            format!("the grader's template has {{categroy}}, {unknown} (it has category, n); did you mean {{category}}?"),
        ),
        (
            "{awnser}",
            format!("the grader's template has {{awnser}}, {unknown} (it has category, n); did you mean {{answer}}?"),
        ),
        (
            "{n[1]}",
            "the grader's template has {n[1]}, but nothing is at that place in the sample's `n`: it is [1]".to_owned(),
        ),
        (
            "{category:.2f}",
            "the grader's template has {category:.2f}, but what is there cannot be written that way in the sample's \
             `category`: it is \"x\""
                .to_owned(),
        ),
        (
            "{a",
            "the template has a brace without its partner at \"{a\"; braces that should stay are written {{ and }}"
                .to_owned(),
        ),
    ] {
        assert_eq!(refused(template), Error::Custom(problem), "{template}");
    }
}

#[test]
fn who_grades() {
    let value = |scorer: AnyScorer, role: Vec<ModelClient>| {
        let answer = |text: &str| answers(&format!("GRADE: {text}"));
        score(scorer, models(role, vec![answer("C")])).unwrap().explanation.unwrap()
    };
    let role = || vec![answers("GRADE: C by role")];
    assert_eq!(
        value(model_graded_qa().model("mock/GRADE: C").into(), role()),
        "GRADE: C",
        "named before the role"
    );
    assert_eq!(value(model_graded_qa().into(), role()), "GRADE: C by role");
    let evaluated = "GRADE: I, by the evaluated model";
    assert_eq!(value(model_graded_qa().into(), vec![]), evaluated);
    assert_eq!(
        value(model_graded_qa().model_role("judge").into(), role()),
        evaluated,
        "nobody has that role"
    );
    assert_eq!(
        value(built("model_graded_qa(model_role=None)").unwrap(), role()),
        evaluated,
        "no role is wanted"
    );
}

#[test]
fn named_models_are_opened_by_the_run() {
    let scorer = AnyScorer::from(model_graded_qa().models(["openai/a", "openai/b", "openai/a"]));
    assert_eq!(scorer.models(), ["openai/a", "openai/b", "openai/a"]);
    let several =
        multi_scorer([AnyScorer::from(includes()), model_graded_qa().model("openai/c").into()], "mode");
    assert_eq!(several.models(), ["openai/c"]);
    assert_eq!(
        score(model_graded_qa().model("openai/c"), models(vec![], vec![])).unwrap_err(),
        Error::custom("the model `openai/c` is not among those that the run has opened")
    );
}

#[test]
fn panels_vote_by_majority() {
    const X: &str = "I cannot decide.";
    let failure = |index: u32| json!({"index": index, "reason": "grader_failed", "explanation": format!("no grade found in the grader's answer: {X}")});
    let vote = |grades: &[&str]| {
        let graders = grades
            .iter()
            .map(|grade| if *grade == "X" { answers(X) } else { answers(&format!("GRADE: {grade}")) });
        score(model_graded_qa(), models(graders.collect(), vec![])).unwrap()
    };
    let panel = |score: &Score| score.metadata.as_ref().unwrap()["panel"].clone();

    let won = vote(&["C", "C", "I"]);
    assert_eq!(
        (won.value.clone(), won.answer.as_deref(), &won.explanation),
        ("C".into(), Some(ANSWER), &None)
    );
    assert_eq!(panel(&won), json!({"votes": ["C", "C", "I"], "size": 3, "failures": []}));
    let first = &won.metadata.as_ref().unwrap()["grading"];
    assert_eq!((first.as_array().unwrap().len(), &first[1]["content"]), (2, &Json::from("GRADE: C")));

    let tie = vote(&["C", "I"]);
    assert_eq!((tie.value, tie.reason), (Value::Unscored, None));
    let short = vote(&["C", "X"]);
    assert_eq!(panel(&short), json!({"votes": ["C", null], "size": 2, "failures": [failure(1)]}));
    assert_eq!((short.value, short.reason), (Value::Unscored, None), "the one that failed counts");
    let enough = vote(&["C", "C", "X"]);
    assert_eq!(enough.value, "C".into());
    let none = vote(&["X", "X"]);
    assert_eq!(panel(&none)["failures"], json!([failure(0), failure(1)]));
    assert_eq!((none.value, none.reason.as_deref()), (Value::Unscored, Some("grader_failed")));
    assert!(none.explanation.unwrap().ends_with(X), "all say the same");
}

#[test]
fn a_list_of_one_is_a_panel_too() {
    let named = || models(vec![], vec![answers("GRADE: C"), answers("GRADE: I")]);
    let one = score(model_graded_qa().models(["mock/GRADE: C"]), named()).unwrap();
    assert_eq!(one.metadata.unwrap()["panel"], json!({"votes": ["C"], "size": 1, "failures": []}));
    assert_eq!(one.explanation.as_deref(), Some("GRADE: C"));
    let alone = score(model_graded_qa().model("mock/GRADE: C"), named()).unwrap();
    assert!(!alone.metadata.unwrap().contains_key("panel"));
    let twice = model_graded_qa().models(["mock/GRADE: I", "mock/GRADE: C", "mock/GRADE: I"]);
    assert_eq!(score(twice, named()).unwrap().value, "I".into());
    let mode = model_graded_qa().models(["mock/GRADE: I", "mock/GRADE: C"]).reducer("mode");
    let mode = score(mode, named()).unwrap();
    assert_eq!(mode.value, "I".into(), "the first of a tie");
    assert!(!mode.metadata.unwrap().contains_key("panel"));
}

#[test]
fn a_model_that_grades_several_times_is_called_each_time() {
    let script = || answers(r#"["GRADE: C", "GRADE: I", "GRADE: C", "never called"]"#);
    let score = score(model_graded_qa(), models(vec![script(), script(), script()], vec![])).unwrap();
    assert_eq!(score.metadata.unwrap()["panel"]["votes"], json!(["C", "I", "C"]));
}

#[test]
fn panels_are_called_concurrently() {
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    let grader = |_| {
        let barrier = Arc::clone(&barrier);
        client(model_fn("test/waits", move |_| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                Ok("GRADE: C".to_owned())
            }
        }))
    };
    let score = score(model_graded_qa(), models((0..3).map(grader).collect(), vec![])).unwrap();
    assert_eq!(score.value, "C".into(), "each waits for all others");
}

#[test]
fn a_grader_that_cannot_be_called_is_an_error_of_the_sample() {
    let down = client(model_fn("test/down", |_| async { Err(Error::custom("503: overloaded")) }));
    let error = score(model_graded_qa(), models(vec![answers("GRADE: C"), down], vec![])).unwrap_err();
    assert_eq!(error.to_string(), "the grader test/down: 503: overloaded");
    let sample = Sample::new("?");
    let alone = TaskState::new("test/model", &sample, 1.into(), 1);
    assert_eq!(
        block_on(model_graded_qa().score(&alone, &sample.target)).unwrap().unwrap_err(),
        Error::custom(
            "model_graded_qa calls a model, and there is none outside of a run; score with `errorbar eval`, or give the \
             state models (TaskState::with_generate)"
        )
    );
}

#[test]
fn specs_that_cannot_work_are_refused() {
    let specs = [
        r#"model_graded_qa(grade_pattern="GRADE: \\w")"#,
        r#"model_graded_qa(grade_pattern="GRADE: (")"#,
        "model_graded_fact(model=[])",
        "model_graded_qa(model=3)",
        "model_graded_qa(model=['a/b', 3])",
        "model_graded_qa(template='{a:.2e}')",
        "model_graded_qa(template='grader')",
        "model_graded_qa(template='grader.txt')",
        "model_graded_score(instructions='notes/how.md')",
        "model_graded_qa(instructions='my judge.txt')",
        "model_graded_qa(instructions='./nope')",
        "model_graded_qa(instructions='prompts/judge')",
        "model_graded_qa(reducer='mood')",
    ];
    assert_eq!(
        specs.map(|spec| built(spec).unwrap_err().to_string()),
        [
            r#"model_graded_qa: grade_pattern: "GRADE: \\w" has no group; put brackets around what is the grade, as in "GRADE: (\w)""#,
            r#"model_graded_qa: grade_pattern: the pattern "GRADE: (" is no regular expression: an opening bracket without a closing one"#,
            "model_graded_fact: the list of models is empty; name at least one, or leave it out for those of the role",
            "model_graded_qa: argument `model` must be the name of a model, or a list of such names, found 3",
            r#"model_graded_qa: argument `model` must be the name of a model, or a list of such names, found ["a/b", 3]"#,
            "model_graded_qa: the template has {a:.2e}: behind a colon come side, width and digits, as in >8, .2f, .1% and \
             ,d, and nothing else; braces that should stay are written {{ and }}",
            "model_graded_qa: the template \"grader\" names no file, and as a string it shows the grader nothing; put \
             {question}, {answer}, {criterion} and {instructions} into it",
            "model_graded_qa: argument `template` cannot be read from grader.txt: No such file or directory (os error 2); \
             to send the words themselves, end them with a space",
            "model_graded_score: argument `instructions` cannot be read from notes/how.md: No such file or directory (os \
             error 2); to send the words themselves, end them with a space",
            "model_graded_qa: argument `instructions` cannot be read from my judge.txt: No such file or directory (os \
             error 2); to send the words themselves, end them with a space",
            "model_graded_qa: argument `instructions` cannot be read from ./nope: No such file or directory (os error 2); \
             to send the words themselves, end them with a space",
            "model_graded_qa: argument `instructions` cannot be read from prompts/judge: No such file or directory (os \
             error 2); to send the words themselves, end them with a space",
            "unknown reducer `mood`",
        ]
    );
}

#[test]
fn words_are_no_file() {
    for words in [
        "my judge.txt ",
        "good/bad ",
        "Answer with yes/no.",
        "Be strict. Say why.",
        "/no_think",
        "/think Why?",
    ] {
        assert!(built(&format!("model_graded_qa(instructions='{words}')")).is_ok(), "{words}");
    }
}

#[test]
fn specs_hold_what_was_passed() {
    let role = model_graded_qa().model_role(None);
    assert_eq!(role.spec().to_string(), "model_graded_qa(model_role=null)");
    for spec in [
        "model_graded_qa",
        "model_graded_qa(partial_credit=true, model=\"openai/x\")",
        "model_graded_fact(include_history=true, model=[\"openai/a\", \"openai/b\"], reducer=\"mode\")",
        "model_graded_qa(template=\"{answer}\", instructions=\"x\", grade_pattern=\"(C)\", model_role=\"judge\")",
        "model_graded_qa(model_role=null)",
    ] {
        assert_eq!(built(spec).unwrap().spec().to_string(), spec);
    }
}

#[test]
fn a_template_may_be_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("grader.txt"), "From a file: {question}\n").unwrap();
    let registry = built_in_registry().relative_to(folder.path());
    let scorer = built_in(&registry, "model_graded_qa(template='grader.txt')").unwrap();
    assert_eq!(
        scorer.spec().to_string(),
        "model_graded_qa(template=\"grader.txt\")",
        "the name, not the text"
    );
    assert_eq!(prompt_of(scorer, &Sample::new("2 + 2?")).unwrap(), "From a file: 2 + 2?\n");
}

#[test]
fn instructions_may_be_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("how.txt"), "Say {C} or {I}.\n").unwrap();
    let registry = built_in_registry().relative_to(folder.path());
    for scorer in ["model_graded_qa", "model_graded_score"] {
        let of = |template: &str, instructions: &str| {
            format!("{scorer}(template=\"{template}\", instructions=\"{instructions}\")")
        };
        let prompt = |instructions: &str| {
            let scorer = built_in(&registry, &of("{answer} {instructions}", instructions)).unwrap();
            assert_eq!(scorer.spec().to_string(), of("{answer} {instructions}", instructions));
            prompt_of(scorer, &Sample::new("2 + 2?").target("4")).unwrap()
        };
        assert_eq!(prompt("how.txt"), format!("{ANSWER} Say {{C}} or {{I}}.\n"));
        // Not what a file is called, and what the hint proposes.
        for words in ["Be brief.", "C/I", "v1.5", "how.md "] {
            assert_eq!(prompt(words), format!("{ANSWER} {words}"));
        }
        let error = built_in(&registry, &of("{answer}", "hwo.txt")).unwrap_err().to_string();
        assert!(error.contains("did you mean \"how.txt\"? to send the words"), "{error}");
    }
}

#[test]
fn a_run_calls_the_models_of_the_role_and_counts_their_tokens() {
    const JUDGED: &str = r#"{"id": 1, "output": "GRADE: C", "usage": {"total_tokens": 5}}
{"id": 2, "output": "I cannot decide.", "usage": {"total_tokens": 7}}"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("judge.jsonl"), JUDGED).unwrap();
    let judge = || ModelChoice::relative_to(folder.path(), "replay/judge.jsonl");
    let samples = ["1 + 3?", "2 + 3?"].map(|question| Sample::new(question).target("4"));
    let named = "mock/GRADE: I";
    let task = Task::new(samples.to_vec())
        .model("mock/4")
        .scorer(model_graded_qa().model_role("judge"))
        .scorer(model_graded_fact().model(named));
    let options = RunOptions {
        roles: vec![("judge".to_owned(), judge())],
        log_dir: folder.path().join("logs"),
        ..RunOptions::default()
    };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    let finished = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    let results = finished.results.unwrap();
    let figures: Vec<_> = results
        .scores
        .iter()
        .map(|block| {
            (block.name(), block.counts.scored, block.counts.unscored, block.metrics[0].value.number())
        })
        .collect();
    assert_eq!(figures, [("model_graded_qa", 1, 1, Some(1.0)), ("model_graded_fact", 2, 0, Some(0.0))]);
    let header = EvalLog::open(&finished.log).unwrap().header().unwrap();
    assert_eq!(header.stats.role_usage["judge"].total_tokens, 12);
    let options: Vec<_> =
        header.eval.scorers.unwrap().into_iter().map(|scorer| Json::from(scorer.options.unwrap())).collect();
    assert_eq!(options, [json!({"model_role": "judge"}), json!({"model": named})]);
}

#[test]
fn a_role_that_no_scorer_uses_is_reported() {
    let task =
        |scorer: AnyScorer| Task::new([Sample::new("1 + 3?").target("4")]).model("mock/4").scorer(scorer);
    let warnings = |task: &Task, role: &str| {
        let roles = vec![(role.to_owned(), ModelChoice::from("mock/GRADE: C"))];
        let prepared = task.prepare(&RunOptions { roles, ..RunOptions::default() }, &built_in_registry());
        prepared.unwrap().warnings
    };
    let graded = task(model_graded_qa().into());
    let no_scorer = "no scorer uses a model in the role";
    assert!(warnings(&graded, "grader").is_empty());
    assert_eq!(warnings(&graded, "graders"), [format!("{no_scorer} `graders`; did you mean `grader`?")]);
    assert_eq!(warnings(&graded, "x"), [format!("{no_scorer} `x`; scorers use grader")]);
    // Models that are named grade, whoever has the role.
    for scorer in [model_graded_qa().model("mock/GRADE: I"), model_graded_qa().model_role(None)] {
        let warned = [format!("{no_scorer} `grader`; scorers use none")];
        assert_eq!(warnings(&task(scorer.into()), "grader"), warned);
    }
    let several = multi_scorer([model_graded_qa().model_role("judge")], "mean");
    assert!(warnings(&task(several.into()), "judge").is_empty());
}

#[test]
fn a_rating_stays_on_its_scale() {
    let rating = |answer: &str| score(model_graded_score(), models(vec![answers(answer)], vec![])).unwrap();
    let seven = rating("Fine.\nSCORE: 7");
    assert_eq!((seven.value, seven.answer.as_deref()), (Value::Int(7), Some(ANSWER)));
    assert_eq!(seven.metadata.unwrap()["grading"][1]["content"], "Fine.\nSCORE: 7");
    for none in ["SCORE: 11", "SCORE: 0", "a 7", ""] {
        let unscored = rating(none);
        assert_eq!(
            (unscored.value, unscored.reason.as_deref()),
            (Value::Unscored, Some("invalid_response_format")),
            "{none}"
        );
    }
    assert_eq!(model_graded_score().range(), Some((1.0, 10.0)));
    assert_eq!(model_graded_score().min(0.0).max(1.0).range(), Some((0.0, 1.0)));
    let names: Vec<String> = model_graded_score().metrics().iter().map(|metric| metric.spec().name).collect();
    assert_eq!(names, ["mean", "stderr"]);
}

#[test]
fn ratings_of_several_graders_become_their_mean() {
    let panel = vec![answers("SCORE: 4"), answers("SCORE: 9"), answers("SCORE: 8")];
    let rated = |scorer| score(scorer, models(panel.clone(), vec![])).unwrap().value;
    assert_eq!(rated(model_graded_score()), Value::Float(7.0));
    assert_eq!(rated(model_graded_score().reducer("max")), Value::Int(9));
}

#[test]
fn the_prompt_for_a_rating_has_the_scale_and_perhaps_a_criterion() {
    let with = prompt_of(model_graded_score(), &Sample::new("2 + 2?").target("four")).unwrap();
    for part in
        ["2 + 2?", "four", "The criterion", ANSWER, "from 1 (the worst) to 10 (the best)", "SCORE: $NUMBER"]
    {
        assert!(with.contains(part), "{part}: {with}");
    }
    let without = prompt_of(model_graded_score(), &Sample::new("2 + 2?")).unwrap();
    assert!(!without.contains("criterion"), "{without}");
    let own = model_graded_score().max(5.0).template("{question}|{min}-{max}|{topic}");
    let sample = Sample::new("Q").metadata("topic", "T");
    assert_eq!(prompt_of(own.clone(), &sample).unwrap(), "Q|1-5|T");
    assert!(own.check(&Sample::new("Q")).is_err(), "the sample has no topic");
}

#[test]
fn what_cannot_be_rated_is_refused() {
    for spec in [
        "model_graded_score(min=10, max=1)",
        "model_graded_score(min=1, max=1)",
        "model_graded_score(score_pattern='SCORE')",
        "model_graded_score(model=[])",
        "model_graded_score(template='nothing')",
    ] {
        assert!(built(spec).is_err(), "{spec}");
    }
    assert!(built("model_graded_score(1, 5, score_pattern='rating: ([0-9]+)', model='mock/x')").is_ok());
}

/// Intervals and rules that stop a run need to know the scale.
#[test]
fn the_range_of_ratings_is_that_of_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let sample = |(id, n)| Sample::new(format!("SCORE: {n}")).id(id).target("x");
    let samples = [("a", 2), ("b", 9), ("c", 5)].map(sample);
    let echo = model_fn("test/echo", |request| {
        let text = request.messages[0].content.clone();
        let number = text.rfind("SCORE: ").map(|at| text[at..].lines().next().unwrap().to_owned());
        async move { Ok(number.unwrap_or_default()) }
    });
    let task = Task::new(samples).scorer(model_graded_score().template("{question}")).model(echo);
    let options = RunOptions { log_dir: folder.path().to_owned(), ..RunOptions::default() };
    let prepared = task.prepare(&options, &built_in_registry()).unwrap();
    assert_eq!(prepared.plan.errors.range, Some((1.0, 10.0)));
    let run = block_on(prepared.run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap();
    let mean = run.results.unwrap().estimate("mean").unwrap().clone();
    assert_eq!(mean.number(), Some(16.0 / 3.0));
    let interval = mean.interval.unwrap();
    assert!(interval.lower > 1.0 && interval.upper < 10.0, "{interval:?}");
    // Scorers of another range leave it open.
    let both = task.scorer(includes()).prepare(&options, &built_in_registry()).unwrap();
    assert_eq!(both.plan.errors.range, None);
}
