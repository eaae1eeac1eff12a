//! Parts of a task that do not fit together, in files and in Rust: refused before anything runs, and nothing is refused
//! on a guess.

use std::path::Path;

use errorbar_core::metrics::{accuracy, grouped, mean, stderr};
use errorbar_core::{ErrorPlan, HeadlineRequest, Metrics, Registry, Result, Spec, ToSpec, metrics, reducers};
use errorbar_eval::scorers::{
    choice, includes, matches, model_graded_qa, model_graded_score, multi_scorer, pattern,
};
use errorbar_eval::solvers::{
    chain_of_thought, generate, multiple_choice, prompt_template, self_critique, system_message, user_message,
};
use errorbar_eval::{
    AnyScorer, AnySolver, BoxFuture, Error, Generate, RunOptions, Sample, Solver, Task, TaskProblem,
    TaskState, built_in_registry, chain, parse_task_file,
};

/// A custom solver, of which nothing is known.
#[derive(Debug)]
struct Custom;

impl ToSpec for Custom {
    fn spec(&self) -> Spec {
        Spec::new("custom")
    }
}

impl Solver for Custom {
    fn solve<'a>(&'a self, _: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Two questions; both have the metadata `category`, one of them `passage`.
fn task() -> Task {
    let sample =
        |id: &str| Sample::new("Which?").id(id).choices(["x", "y"]).target("A").metadata("category", "easy");
    Task::new([sample("q1").metadata("passage", 1), sample("q2")]).scorer(includes()).model("mock/A")
}

fn prepared(task: &Task, options: RunOptions) -> std::result::Result<Vec<String>, Vec<Error>> {
    let prepared = task.prepare(&options, &built_in_registry());
    prepared.map(|prepared| prepared.warnings).map_err(|error| error.problems)
}

/// The problems of a task.
#[track_caller]
fn problems(task: &Task) -> Vec<TaskProblem> {
    let problem = |error: Error| match error {
        Error::Task(problem) => *problem,
        other => panic!("{other}"),
    };
    prepared(task, RunOptions::default()).err().unwrap_or_default().into_iter().map(problem).collect()
}

fn messages(problems: &[TaskProblem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.message.as_str()).collect()
}

/// Whether there is one problem, of this kind.
fn is_only(problems: &[TaskProblem], part: &str) -> bool {
    matches!(problems, [problem] if problem.message.contains(part))
}

/// What stands between two parts of the message of the only problem.
#[track_caller]
fn between<'p>(problems: &'p [TaskProblem], before: &str, after: &str) -> &'p str {
    let [problem] = problems else { panic!("{problems:?}") };
    let part = problem.message.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    part.unwrap_or_else(|| panic!("{problem}")).0
}

fn solved(solver: impl Into<AnySolver>) -> Vec<TaskProblem> {
    problems(&task().solver(solver))
}

#[test]
fn an_answer_needs_a_solver_that_calls_the_model() {
    let without = chain![system_message("Be brief."), chain_of_thought(), prompt_template("{prompt}")];
    let found = problems(&task().solver(without.clone()).scorer(matches()).scorer(choice()));
    assert_eq!(
        messages(&found),
        [
            "no solver calls the model, so `includes`, `match` would score empty answers",
            "`choice` scores the choices that multiple_choice() marks, and the solver is `system_message()`, \
             `chain_of_thought()`, `prompt_template()`",
        ]
    );
    assert!(is_only(&solved(user_message("x")), "no solver calls the model"));
    for fine in [
        AnySolver::from(generate()),
        self_critique().into(),
        multiple_choice().into(),
        chain![without, generate()].into(),
        Custom.into(),
        chain![chain_of_thought(), Custom].into(),
    ] {
        assert_eq!(solved(fine.clone()), [], "{fine:?}");
    }
    // A grader that is shown the conversation may judge what the dataset has of it.
    let graded = |scorer: AnyScorer| {
        let task = Task::new([Sample::new("q").target("A")]).model("mock/A").solver(system_message("x"));
        problems(&task.scorer(scorer))
    };
    assert_eq!(graded(model_graded_qa().include_history(true).into()), []);
    assert_eq!(graded(model_graded_qa().into()).len(), 1);
}

#[test]
fn scorers_that_compare_need_targets() {
    let without = |scorer: AnyScorer| {
        let task = Task::new([Sample::new("1?"), Sample::new("2?").target("")]).model("mock/1");
        problems(&task.scorer(scorer))
    };
    let of_target = |found: Vec<TaskProblem>| is_only(&found, "no sample has a target");
    for scorer in [includes().into(), matches().into(), multi_scorer([includes()], "mode").into()] {
        assert!(of_target(without(scorer)));
    }
    assert!(of_target(without(model_graded_qa().into())));
    assert_eq!(without(model_graded_qa().template("{question}{answer}{instructions}").into()), []);
    assert_eq!(without(model_graded_score().into()), []);
    // Some have one.
    let some = Task::new([Sample::new("1?"), Sample::new("2?").target("2")]).scorer(includes());
    assert_eq!(prepared(&some.model("mock/1"), RunOptions::default()).unwrap().len(), 1);
}

#[test]
fn choices_need_a_solver_that_marks_them() {
    let with = |scorer: AnyScorer, solver: AnySolver| {
        let sample = Sample::new("Which?").choices(["x", "y"]).target("A");
        problems(&Task::new([sample]).model("mock/A").scorer(scorer).solver(solver))
    };
    let of_choices =
        |found: Vec<TaskProblem>| is_only(&found, "scores the choices that multiple_choice() marks");
    assert!(of_choices(with(choice().into(), generate().into())));
    assert!(of_choices(with(choice().into(), chain![chain_of_thought(), generate()].into())));
    assert!(of_choices(with(multi_scorer([choice()], "mode").into(), generate().into())));
    assert_eq!(with(choice().into(), multiple_choice().into()), []);
    assert_eq!(with(choice().into(), Custom.into()), []);
}

#[test]
fn a_name_that_the_reference_would_fail_for_is_a_problem() {
    let name = |found: Vec<TaskProblem>| between(&found, " has {", "}, which is ").to_owned();
    let asked = |rest: &str| solved(multiple_choice().template(format!("{{question}}{{choices}}{rest}")));
    assert_eq!(name(asked("{nothing_like_it}")), "nothing_like_it");
    // Not every sample has it.
    assert_eq!(name(asked("{passage}")), "passage");
    assert_eq!(asked(r#" {letters} {category} {{literal}} \boxed{answer} {"key": 1} ${home}"#), []);
    assert_eq!(name(solved(self_critique().critique_template("{critique}"))), "critique");
    assert_eq!(solved(self_critique().completion_template("{critique}{completion}{question}")), []);
    // Who knows what a custom solver has added.
    let template = "{question}{choices}{nothing_like_it}";
    assert_eq!(solved(chain![Custom, multiple_choice().template(template)]), []);
    assert_eq!(solved(chain![multiple_choice().template(template), Custom]).len(), 1);
}

#[test]
fn a_name_in_a_prompt_is_a_problem_only_if_it_is_nearly_right() {
    let found = solved(chain![prompt_template("{promt} [{categry}]"), generate()]);
    let name = |problem: &TaskProblem| between(std::slice::from_ref(problem), " has {", "}, ").to_owned();
    assert_eq!(found.iter().map(name).collect::<Vec<_>>(), ["categry", "promt"]);
    let warnings = |template: &str| {
        prepared(&task().solver(chain![system_message(template), generate()]), RunOptions::default()).unwrap()
    };
    assert_eq!(warnings("Reply as {action} {{prompt}} {category}").len(), 1, "left as it is");
    assert_eq!(warnings("{passage}").len(), 1, "one sample has it");
    assert_eq!(warnings(r"Put it into \boxed{anything}"), Vec::<String>::new());
    // An argument that the template does not use is nearly always a misspelled one.
    let unused =
        chain![system_message("In {language}.").param("language", "Dutch").param("templat", 1), generate()];
    let found = prepared(&task().solver(unused), RunOptions::default()).unwrap();
    assert_eq!(
        found,
        [
            "no {templat} in the template of `system_message` uses its argument `templat`; did you mean `template`?"
        ]
    );
}

#[test]
fn keys_to_group_and_cluster_by_are_in_the_metadata() {
    let missing = |found: Vec<TaskProblem>| messages(&found).join("; ");
    let computed = |metrics: Metrics| problems(&task().metrics(metrics));
    let of = |key: &str, usage: &str| format!("no sample has the metadata key `{key}` {usage}");
    assert_eq!(missing(computed(metrics![grouped(mean(), "topic")])), of("topic", "to group by"));
    assert_eq!(missing(computed(metrics![stderr().cluster("topic")])), of("topic", "to cluster by"));
    let within = metrics![grouped(stderr().cluster("topic"), "category")];
    assert_eq!(missing(computed(within)), of("topic", "to cluster by"));
    let clustered = task().errors(ErrorPlan::new().cluster("topic"));
    assert_eq!(missing(problems(&clustered)), of("topic", "to cluster by"));
    let some = computed(metrics![grouped(mean(), "passage")]);
    assert!(is_only(&some, "not every sample has the metadata key `passage` to group by"));
    assert!(some[0].hint.starts_with("sample \"q2\" has none"), "{}", some[0].hint);
    assert_eq!(computed(metrics![grouped(mean(), "category"), stderr().cluster("category")]), []);
    // What the options replace is not asked for.
    let metrics = Some(metrics![accuracy()]);
    let replaced = task().metrics(metrics![grouped(mean(), "topic")]);
    assert!(prepared(&replaced, RunOptions { metrics, ..RunOptions::default() }).is_ok());
    let errors = Some(ErrorPlan::new());
    assert!(prepared(&clustered, RunOptions { errors, ..RunOptions::default() }).is_ok());
    // A custom solver may add it.
    assert_eq!(prepared(&clustered.solver(Custom), RunOptions::default()).unwrap().len(), 1);
}

#[test]
fn keys_that_metrics_read_are_in_the_metadata() {
    let found = |metric: &str| {
        let metric = Registry::built_in().metric(&metric.parse().unwrap()).unwrap();
        problems(&task().metrics([metric].into_iter().collect()))
    };
    let usage = |metric: &str| {
        let found = found(metric);
        let [problem] = found.as_slice() else { panic!("{metric}: {found:?}") };
        let (_, usage) = problem.message.strip_prefix("no sample has ").unwrap().rsplit_once("` ").unwrap();
        usage.to_owned()
    };
    assert_eq!(usage("where(accuracy(), 'categry=easy')"), "of a condition");
    assert_eq!(usage("where(accuracy(), ['category=easy', 'size.rows>3'])"), "of a condition");
    assert_eq!(usage("where(stderr(cluster='topic'), 'category=easy')"), "to cluster by");
    assert_eq!(usage("weighted_mean('wight')"), "to weight by");
    assert_eq!(usage("grouped(mean(), 'category', all='groups', weights='wight')"), "to weight by");
    assert_eq!(usage("brier(confidence='categry')"), "of the confidence");
    // A condition is about the samples that have the key, and a scorer may state a confidence.
    for metric in ["where(accuracy(), 'passage=p1')", "where(accuracy(), 'category.part=x')", "brier()"] {
        assert_eq!(found(metric), [], "{metric}");
    }
    for metric in ["ppi('humn')", "cohen_kappa('humn')", "precision('metadata.humn')", "ppi('scorer.humn')"] {
        assert!(is_only(&found(metric), "which a metric compares scores with"), "{metric}");
    }
    for metric in ["cohen_kappa('category')", "ppi('metadata.category')", "ppi('field.part')"] {
        assert_eq!(found(metric), [], "{metric}");
    }
    // A custom solver may add them.
    let metric = Registry::built_in().metric(&"where(accuracy(), 'size.rows>3')".parse().unwrap()).unwrap();
    let custom = task().metrics([metric].into_iter().collect()).solver(Custom);
    assert_eq!(prepared(&custom, RunOptions::default()).unwrap().len(), 1);
}

#[test]
fn the_headline_is_among_the_results() {
    let with = |scorer: &str, metric: &str, task: Task| {
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let headline =
            HeadlineRequest { scorer: named(scorer), metric: named(metric), ..HeadlineRequest::default() };
        let part = |problem: &TaskProblem| {
            between(std::slice::from_ref(problem), "the headline names the ", " `").to_owned()
        };
        problems(&task.headline(headline)).iter().map(part).collect::<Vec<_>>()
    };
    assert_eq!(with("includes", "accuracy", task()), Vec::<&str>::new());
    assert_eq!(with("include", "acuracy", task()), ["scorer", "metric"]);
    assert_eq!(with("", "mean", task()), ["metric"]);
    assert_eq!(with("", "mean", task().metrics(metrics![mean()])), Vec::<&str>::new());
    // The names of groups are in the metadata of the samples, unless a custom solver changes it.
    let in_groups = || task().metrics(metrics![grouped(mean(), "category"), stderr()]);
    for name in ["easy", "all", "stderr"] {
        assert_eq!(with("", name, in_groups()), Vec::<&str>::new(), "{name}");
    }
    assert_eq!(with("", "mean", in_groups()), ["metric"]);
    assert_eq!(with("", "hard", in_groups().solver(Custom)), Vec::<&str>::new());
    let reducer = HeadlineRequest { reducer: Some("mode".to_owned()), ..HeadlineRequest::default() };
    let reduced = task().headline(reducer);
    assert!(is_only(&problems(&reduced), "the headline names the reducer"));
    let options = RunOptions { epochs: Some(2), reducers: Some(reducers![]), ..RunOptions::default() };
    assert!(prepared(&reduced, options).is_ok(), "an option has replaced it");
}

#[test]
fn a_pattern_without_a_group_must_be_able_to_find_a_target() {
    let with = |source: &str| {
        let task = Task::new([Sample::new("q").target("42"), Sample::new("q").target("7")]);
        prepared(&task.scorer(pattern(source)).model("mock/A"), RunOptions::default())
    };
    for fine in [r"(\d+)", r"\d+", r"(?<=ANSWER: )\d+", r"ANSWER: (\d+)", r"\b\d+\b"] {
        assert!(with(fine).is_ok(), "{fine}");
    }
    for wrong in [r"ANSWER: \d+", r"\d\.", "The answer is .*"] {
        let errors = with(wrong).unwrap_err();
        let is_it = |error: &Error| {
            let Error::Core(error) = error else { return false };
            matches!(&**error, errorbar_core::Error::Argument { argument, .. } if argument == "pattern")
        };
        assert!(errors.iter().all(is_it), "{wrong:?}: {errors:?}");
    }
}

/// The mistakes of a task file, one line each.
fn mistakes(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let csv = "id,question,answer,a,b,category,passage\nq1,One?,A,x,y,easy,p\nq2,Two?,B,x,y,hard,p\n";
    std::fs::write(folder.path().join("quiz.csv"), csv).unwrap();
    let text = format!("dataset = {{ path = 'quiz.csv', input = 'question', target = 'answer', {text}");
    match parse_task_file(&text, Path::new(&folder.path().join("task.toml")), &built_in_registry()) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let line = |line: &str| line.split_once("task.toml:").unwrap().1.to_owned();
            error.to_string().lines().map(line).collect()
        }
    }
}

#[test]
fn every_mistake_of_a_file_is_shown_at_its_place() {
    let found = mistakes(
        r#"metadata = ['category'] }
solver = ['system_message("About {category}, {passage}.")', 'prompt_template("{promt}")']
scorer = ['choice()', "pattern('ANSWER: \\w')", 'includes']
metrics = ['grouped(accuracy(), "passage")', 'stderr(cluster="categry")']
errors = { cluster = ['category', 'author'] }
headline = { scorer = 'includes', metric = 'accuracy' }"#,
    );
    assert_eq!(
        found,
        [
            r#"2:11: no solver calls the model, so `pattern`, `includes` would score empty answers; add generate(): solver = ["system_message(\"About {category}, {passage}.\")", "prompt_template(\"{promt}\")", "generate()"]"#,
            r#"2:46: the template of `system_message` has {passage}, which is no metadata key of the samples; name it in the dataset's metadata: metadata = ["category", "passage"]"#,
            r#"2:79: the template of `prompt_template` has {promt}, which is none of its names (prompt) and no metadata key of the samples; did you mean {prompt}? braces that should stay are written {{promt}}"#,
            r#"3:11: `choice` scores the choices that multiple_choice() marks, and the solver is `system_message()`, `prompt_template()`; let it ask the question: solver = "multiple_choice()""#,
            r#"3:11: sample "q1": it has no choices, which choice() needs; map them from the dataset (and 1 more sample)"#,
            r#"3:32: pattern: argument `pattern` has no group, so all that it finds is compared with the target, and it finds no target; put the part that is the answer in parentheses"#,
            r#"4:34: no sample has the metadata key `passage` to group by; name it in the dataset's metadata: metadata = ["category", "passage"]"#,
            r#"4:63: no sample has the metadata key `categry` to cluster by; did you mean `category`?"#,
            r#"5:35: no sample has the metadata key `author` to cluster by; the samples have: category"#,
        ]
    );
}

#[test]
fn what_a_file_gets_right_is_not_refused() {
    let found = mistakes(
        r#"choices = ['a', 'b'], metadata = ['category', 'passage'] }
solver = ['system_message("About {category}. Reply as {form}.")', 'multiple_choice()']
scorer = ['choice()', "pattern(r'ANSWER:\\s*([A-D])')", 'precomputed("scores.csv")']
metrics = ['grouped(accuracy(), "passage")', 'accuracy', { 'a*' = 'mean' }]
errors = { cluster = ['category', 'passage'] }
headline = { metric = 'p' }"#,
    );
    // The table of scores is not there, and the rest is right.
    assert!(matches!(&found[..], [only] if only.starts_with("3:")), "{found:?}");
}

#[test]
fn what_was_not_understood_may_have_been_right() {
    let only = |text: &str, place: &str| {
        let found = mistakes(text);
        assert!(matches!(&found[..], [only] if only.starts_with(place)), "{found:?}");
    };
    only("choices = ['a', 'b'] }\nsolver = ['multiple_chioce()']\nscorer = 'choice()'", "2:12:");
    let unknown = "solver = ['genrate', 'prompt_template(\"{added}\")']";
    only(&format!("metadata = 'category' }}\n{unknown}\nscorer = 'includes()'"), "2:12:");
    only("}\nscorer = 'includes'\nmetrics = 'acuracy'\nheadline = { metric = 'mean' }", "3:12:");
    only("metadata = 'nothing' }\nscorer = 'includes'\nmetrics = 'grouped(mean(), \"x\")'", "1:");
}

#[test]
fn backslashes_are_written_once() {
    let fine = |scorer: &str| {
        assert_eq!(mistakes(&format!("}}\nscorer = {scorer}")), Vec::<String>::new(), "{scorer}");
    };
    fine(r#"'pattern("(\d+)\.")'"#);
    fine(r#"'''pattern('(\d+)\.')'''"#);
    fine(r#"'''pattern(r'\b(\d+)\b')'''"#);
    fine(r#""pattern('(\\d+)\\.')""#);
    fine(r#""pattern(r'\\b(\\d+)\\b')""#);
    let trap = mistakes(
        r#"}
scorer = ['pattern("\b(\d+)\b")', 'pattern("(a)\1")']"#,
    );
    assert!(
        trap.iter().all(|line| line.contains("argument `pattern` holds the control character")),
        "{trap:?}"
    );
    assert_eq!(trap.len(), 2);
}

#[test]
fn a_custom_solver_may_add_what_a_grader_is_shown() {
    let graded = |solver: AnySolver| {
        let task = Task::new([Sample::new("q").target("A")]).model("mock/A").solver(solver);
        prepared(
            &task.scorer(model_graded_qa().template("{question} {answer} {added}")),
            RunOptions::default(),
        )
    };
    assert!(graded(generate().into()).is_err());
    assert!(graded(Custom.into()).is_ok());
}
