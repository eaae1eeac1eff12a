//! `model_graded_qa` and `model_graded_fact`: another model grades the answer, or several that vote.

mod format;
mod format_spec;
mod grade;
mod panel;
mod prompt;
mod self_graded;

use std::path::Path;
use std::sync::Arc;

use errorbar_core::reducers::majority;
use errorbar_core::registry::Param;
use errorbar_core::{ArgType, Args, Error, Metrics, Reducer, ReducerChoice, Result, Score, Spec};

pub use self::self_graded::self_graded;

use self::format::FormatTemplate;
use self::grade::GradeReader;
use self::panel::{GraderModels, GraderRequest};
use self::prompt::{FACT_TEMPLATE, Prompt, QA_TEMPLATE};
use super::of_grades;
use crate::{AnyScorer, BoxFuture, Sample, Scorer, ScorerEntry, Target, TaskState, collected_registry};

pub(super) const QA: ScorerEntry = ScorerEntry {
    name: "model_graded_qa",
    doc: "Whether the answer meets the criterion that the target is, as a model says: the one named, else those of the role, else the evaluated one. Several vote.",
    params: PARAMS,
    build: |args| build(model_graded_qa(), args),
    replaces: false,
};

pub(super) const FACT: ScorerEntry = ScorerEntry {
    name: "model_graded_fact",
    doc: "Whether the answer has the facts that the target has, as a model says; otherwise as model_graded_qa.",
    params: PARAMS,
    build: |args| build(model_graded_fact(), args),
    replaces: false,
};

const PARAMS: &[Param] = &[
    Param::optional("template", "None"),
    Param::optional("instructions", "None"),
    Param::optional("grade_pattern", "None"),
    Param::optional("include_history", "false"),
    Param::optional("partial_credit", "false"),
    Param::optional("model", "None"),
    Param::optional("model_role", "\"grader\""),
    Param::optional("reducer", "\"majority\""),
];

/// The role whose models grade, if nothing is said.
const ROLE: &str = "grader";

fn build(scorer: ModelGraded, args: &Args<'_>) -> Result<AnyScorer> {
    let template: Option<String> = args.get("template")?;
    let template_text = template.as_deref().map(|text| text_or_file(text, args)).transpose()?;
    let scorer = ModelGraded {
        template,
        template_text,
        instructions: args.get("instructions")?,
        grade_pattern: args.get("grade_pattern")?,
        include_history: args.get("include_history")?,
        partial_credit: args.get("partial_credit")?,
        named: args.get("model")?,
        role: if args.is_null("model_role") { Some(None) } else { args.get("model_role")?.map(Some) },
        reducer: args.get("reducer")?.map(Ok),
        ..scorer
    }
    .ready();
    // What cannot work is a mistake of the spec, and better told now than for each sample.
    scorer.checked().map_err(|error| Error::custom(format!("{}: {error}", scorer.name)))?;
    Ok(scorer.into())
}

/// A template, or what is in the file that it names.
fn text_or_file(template: &str, args: &Args<'_>) -> Result<String> {
    let path = args.folder().join(template);
    let is_name = !template.contains(['{', '\n']);
    match is_name && path.is_file() {
        false => Ok(template.to_owned()),
        true => read(&path).map_err(|problem| args.error("template", problem)),
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot be read from {}: {error}", path.display()))
}

/// Another model grades the answer; made by [`model_graded_qa()`] and [`model_graded_fact()`].
#[derive(Clone, Debug)]
pub struct ModelGraded {
    name: &'static str,
    default_template: &'static str,
    /// As it was passed; perhaps the name of a file.
    template: Option<String>,
    /// Its text.
    template_text: Option<String>,
    instructions: Option<String>,
    grade_pattern: Option<String>,
    include_history: Option<bool>,
    partial_credit: Option<bool>,
    named: Option<GraderModels>,
    /// Nothing if nothing was said; nothing inside if no role is wanted.
    role: Option<Option<String>>,
    reducer: Option<Result<Arc<dyn Reducer>>>,
    ready: Result<(Prompt, GradeReader)>,
}

/// Whether the answer meets the criterion that the target is, as another model says.
///
/// Who grades: the models that are named here; else those that have the role, `grader` if nothing is said
/// (`--model-role grader=provider/model`); else the model that is evaluated. Several vote, and a value needs more
/// than half of their votes.
///
/// ```
/// use errorbar_eval::scorers::model_graded_qa;
/// model_graded_qa().partial_credit(true);
/// model_graded_qa().models(["openai/gpt-4o", "anthropic/claude", "google/gemini"]);
/// model_graded_qa().template("Q: {question}\nA: {answer}\nRubric: {rubric}\n{instructions}"); // metadata has `rubric`
/// ```
pub fn model_graded_qa() -> ModelGraded {
    ModelGraded::new("model_graded_qa", QA_TEMPLATE)
}

/// Whether the answer has the facts that the target has, as another model says; otherwise as [`model_graded_qa()`].
pub fn model_graded_fact() -> ModelGraded {
    ModelGraded::new("model_graded_fact", FACT_TEMPLATE)
}

impl ModelGraded {
    fn new(name: &'static str, default_template: &'static str) -> Self {
        ModelGraded {
            name,
            default_template,
            template: None,
            template_text: None,
            instructions: None,
            grade_pattern: None,
            include_history: None,
            partial_credit: None,
            named: None,
            role: None,
            reducer: None,
            ready: Err(Error::custom("not ready")),
        }
        .ready()
    }

    /// What the grader is asked: `{question}`, `{answer}`, `{criterion}`, `{instructions}` and the names of the
    /// sample's metadata are filled in; `{{` is a brace.
    #[must_use]
    pub fn template(mut self, template: impl Into<String>) -> Self {
        self.template = Some(template.into());
        self.template_text = self.template.clone();
        self.ready()
    }

    /// How the grader is to answer, for `{instructions}`. Any of C, P and I is then a grade.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self.ready()
    }

    /// A regular expression whose first group is the grade, as it is; the first match counts.
    #[must_use]
    pub fn grade_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.grade_pattern = Some(pattern.into());
        self.ready()
    }

    /// Whether the grader is shown the whole conversation and not only the question.
    #[must_use]
    pub fn include_history(mut self, include: bool) -> Self {
        self.include_history = Some(include);
        self.ready()
    }

    /// Whether P, for partly correct, is a grade, unless there are instructions of one's own.
    #[must_use]
    pub fn partial_credit(mut self, partial: bool) -> Self {
        self.partial_credit = Some(partial);
        self.ready()
    }

    /// The model that grades.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.named = Some(GraderModels::One(model.into()));
        self
    }

    /// The models that grade and vote. One may have several votes.
    #[must_use]
    pub fn models(mut self, models: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named = Some(GraderModels::Panel(models.into_iter().map(Into::into).collect()));
        self
    }

    /// The role whose models grade; with `None` the evaluated model does.
    #[must_use]
    pub fn model_role<'r>(mut self, role: impl Into<Option<&'r str>>) -> Self {
        self.role = Some(role.into().map(str::to_owned));
        self
    }

    /// How the scores of several graders are made one; by majority, if nothing is said.
    #[must_use]
    pub fn reducer(mut self, reducer: impl Into<ReducerChoice>) -> Self {
        self.reducer = Some(collected_registry().and_then(|registry| reducer.into().build(&registry)));
        self
    }

    fn ready(mut self) -> Self {
        self.ready = self.prompt().and_then(|prompt| Ok((prompt, self.reading()?)));
        self
    }

    fn prompt(&self) -> Result<Prompt> {
        let template = FormatTemplate::parse(self.template_text.as_deref().unwrap_or(self.default_template))?;
        if template.fields().next().is_none() {
            return Err(Error::custom(format!(
                "the template {:?} names no file, and as a text it shows the grader nothing; put {{question}}, \
                 {{answer}}, {{criterion}} and {{instructions}} into it",
                self.template.as_deref().unwrap_or_default()
            )));
        }
        let built_in = || prompt::instructions(self.partial_credit.unwrap_or(false)).to_owned();
        let instructions = self.instructions.clone().unwrap_or_else(built_in);
        Ok(Prompt { template, instructions, include_history: self.include_history.unwrap_or(false) })
    }

    fn reading(&self) -> Result<GradeReader> {
        match (&self.grade_pattern, &self.instructions) {
            (Some(pattern), _) => GradeReader::by_pattern(pattern),
            (None, Some(_)) => Ok(GradeReader::AnyLetter),
            (None, None) => Ok(GradeReader::Offered { partial: self.partial_credit.unwrap_or(false) }),
        }
    }

    /// The role whose models grade, unless some are named.
    fn role(&self) -> Option<&str> {
        self.role.as_ref().map_or(Some(ROLE), Option::as_deref)
    }

    /// What it asks and how it reads answers, if all of it makes sense.
    fn checked(&self) -> Result<&(Prompt, GradeReader)> {
        if self.named.as_ref().is_some_and(|named| named.names().is_empty()) {
            return Err(Error::custom(
                "the list of models is empty; name at least one, or leave it out for those of the role",
            ));
        }
        if let Some(reducer) = &self.reducer {
            reducer.as_ref().map_err(Clone::clone)?.check()?;
        }
        self.ready.as_ref().map_err(Clone::clone)
    }

    /// One score of those of a panel.
    fn reduced(&self, scores: &[Score]) -> Result<Score> {
        match &self.reducer {
            Some(reducer) => reducer.as_ref().map_err(Clone::clone)?.reduce(scores),
            None => majority().reduce(scores),
        }
    }
}

impl Scorer for ModelGraded {
    fn spec(&self) -> Spec {
        let reducer = self.reducer.as_ref().and_then(|reducer| reducer.as_ref().ok());
        Spec::new(self.name)
            .kwarg_some("template", self.template.clone())
            .kwarg_some("instructions", self.instructions.clone())
            .kwarg_some("grade_pattern", self.grade_pattern.clone())
            .kwarg_some("include_history", self.include_history)
            .kwarg_some("partial_credit", self.partial_credit)
            .kwarg_some("model", self.named.as_ref().map(ArgType::to_arg))
            .kwarg_some("model_role", self.role.clone())
            .kwarg_some("reducer", reducer.map(|reducer| reducer.log_name()))
    }

    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn models(&self) -> Vec<String> {
        self.named.as_ref().map(|named| named.names().to_vec()).unwrap_or_default()
    }

    fn roles(&self) -> Vec<String> {
        let role = self.role().filter(|_| self.named.is_none());
        role.map(str::to_owned).into_iter().collect()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        Box::pin(async move {
            let (prompt, reading) = self.checked()?;
            let generate = state.generate().ok_or_else(|| {
                Error::custom(format!(
                    "{} asks a model, and there is none outside of a run; score with `errorbar eval`, or give the \
                     state models (TaskState::with_generate)",
                    self.name
                ))
            })?;
            let named = self.named.as_ref().map(GraderModels::names).unwrap_or_default();
            let graders = generate.graders(named, self.role())?;
            let grading = GraderRequest { generate, state, prompt: prompt.text(state, target)?, reading };
            let mut scores = grading.scores(&graders).await?;
            let is_panel = graders.len() > 1 || matches!(self.named, Some(GraderModels::Panel(_)));
            if is_panel { self.reduced(&scores).map(Some) } else { Ok(scores.pop()) }
        })
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        let (prompt, _) = self.checked()?;
        prompt.check(sample)
    }
}
