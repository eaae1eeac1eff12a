//! What `model_graded_qa` and `model_graded_fact` share: another model grades the answer, or several that vote.

mod format;
mod format_spec;
mod grade;
mod graders;
mod panel;
mod prompt;
mod self_graded;

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use errorbar_core::{Args, Error, Metrics, Params, ReducerChoice, Result, Score};

pub use self::self_graded::self_graded;

use self::grade::GradeReader;
use self::graders::{GraderModels, GraderRole};
use self::panel::GraderRequest;
use self::prompt::Prompt;
use super::of_grades;
use super::panel_reducer::PanelReducer;
use crate::{BoxFuture, Sample, Scorer, ScorerNeeds, SolverEffects, Target, TaskState};

/// The default question for graders: what distinguishes [`ModelGraded`] scorers.
pub trait GraderQuestion: Clone + fmt::Debug + Default + Send + Sync + 'static {
    /// The name of the scorer.
    const NAME: &'static str;
    /// What the scorer is.
    const DOC: &'static str;
    /// The question, if no template is given.
    const TEMPLATE: &'static str;
}

/// Another model grades the answer; made by [`model_graded_qa()`](super::model_graded_qa()) and
/// [`model_graded_fact()`](super::model_graded_fact()).
#[derive(Clone, Debug, Default, Params)]
#[params(
    crate = errorbar_core, name = Q::NAME, doc = Q::DOC, finish = Self::read_template, check = Self::check_all
)]
pub struct ModelGraded<Q: GraderQuestion> {
    /// The prompt for the grader: `{question}`, `{answer}`, `{criterion}`, `{instructions}` and the names of the sample's
    /// metadata are filled in; `{{` is a brace. In a spec, also the name of a file.
    template: Option<String>,
    /// How the grader must answer, for `{instructions}`. Any of C, P and I is then a grade.
    instructions: Option<String>,
    /// A regular expression whose first group is the grade, as it is; the first match counts.
    grade_pattern: Option<String>,
    /// Whether the grader is shown the whole conversation and not only the question.
    #[param(default = false)]
    include_history: Option<bool>,
    /// Whether P, for partly correct, is a grade, unless there are custom instructions.
    #[param(default = false)]
    partial_credit: Option<bool>,
    /// The model that grades, or a list of models that vote. One may have several votes.
    #[param(no_setter)]
    model: Option<GraderModels>,
    /// The role whose models grade; with `None` the evaluated model does.
    #[param(default = GraderRole::default(), no_setter)]
    model_role: Option<GraderRole>,
    /// How the scores of several graders become one.
    #[param(default = PanelReducer::majority(), from = ReducerChoice, map = PanelReducer::choose)]
    reducer: Option<PanelReducer>,
    /// The content of the file that the template names.
    #[param(skip)]
    file: Option<String>,
    #[param(skip)]
    ready: OnceLock<Result<(Prompt, GradeReader)>>,
    #[param(skip)]
    question: PhantomData<Q>,
}

impl<Q: GraderQuestion> ModelGraded<Q> {
    /// The model that grades.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(GraderModels::One(model.into()));
        self
    }

    /// The models that grade and vote. One may have several votes.
    #[must_use]
    pub fn models(mut self, models: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.model = Some(GraderModels::Panel(models.into_iter().map(Into::into).collect()));
        self
    }

    /// The role whose models grade; with `None` the evaluated model does.
    #[must_use]
    pub fn model_role<'r>(mut self, role: impl Into<Option<&'r str>>) -> Self {
        self.model_role = Some(GraderRole(role.into().map(str::to_owned)));
        self
    }

    /// A template of a spec may be the name of a file.
    fn read_template(mut self, args: &Args<'_>) -> Result<Self> {
        if let Some(template) = self.template.as_ref().filter(|template| !template.contains(['{', '\n'])) {
            let path = args.folder().join(template);
            let unreadable = |error| format!("cannot be read from {}: {error}", path.display());
            if path.is_file() {
                let text = std::fs::read_to_string(&path).map_err(unreadable);
                self.file = Some(text.map_err(|problem| Self::refuse("template", problem))?);
            }
        }
        Ok(self)
    }

    /// What cannot work is a mistake of the spec, and better reported once than for each sample.
    fn check_all(&self) -> Result<()> {
        self.checked().map(drop).map_err(|error| Error::custom(format!("{}: {error}", Q::NAME)))
    }

    fn ready(&self) -> Result<&(Prompt, GradeReader)> {
        let ready = || self.prompt().and_then(|prompt| Ok((prompt, self.reading()?)));
        self.ready.get_or_init(ready).as_ref().map_err(Clone::clone)
    }

    fn prompt(&self) -> Result<Prompt> {
        let text = self.file.as_ref().or(self.template.as_ref());
        let template = format::parse(text.map_or(Q::TEMPLATE, String::as_str))?;
        if template.fields().next().is_none() {
            return Err(Error::custom(format!(
                "the template {:?} names no file, and as a string it shows the grader nothing; put {{question}}, \
                 {{answer}}, {{criterion}} and {{instructions}} into it",
                self.template.as_deref().unwrap_or_default()
            )));
        }
        let built_in = || prompt::instructions(self.partial_credit_or_default()).to_owned();
        let instructions = self.instructions.clone().unwrap_or_else(built_in);
        Ok(Prompt { template, instructions, include_history: self.include_history_or_default() })
    }

    fn reading(&self) -> Result<GradeReader> {
        match (&self.grade_pattern, &self.instructions) {
            (Some(pattern), _) => GradeReader::by_pattern(pattern),
            (None, Some(_)) => Ok(GradeReader::AnyLetter),
            (None, None) => Ok(GradeReader::Offered { partial: self.partial_credit_or_default() }),
        }
    }

    /// Its prompt and how it reads answers, if all of it is valid.
    fn checked(&self) -> Result<&(Prompt, GradeReader)> {
        if self.model.as_ref().is_some_and(|models| models.names().is_empty()) {
            return Err(Error::custom(
                "the list of models is empty; name at least one, or leave it out for those of the role",
            ));
        }
        if let Some(reducer) = &self.reducer {
            reducer.get()?.check()?;
        }
        self.ready()
    }
}

impl<Q: GraderQuestion> Scorer for ModelGraded<Q> {
    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn models(&self) -> Vec<String> {
        self.model.as_ref().map(|models| models.names().to_vec()).unwrap_or_default()
    }

    fn roles(&self) -> Vec<String> {
        let role = self.model_role_or_default().0.filter(|_| self.model.is_none());
        role.into_iter().collect()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        Box::pin(async move {
            let (prompt, reading) = self.checked()?;
            let generate = state.generate().ok_or_else(|| {
                Error::custom(format!(
                    "{} calls a model, and there is none outside of a run; score with `errorbar eval`, or give the \
                     state models (TaskState::with_generate)",
                    Q::NAME
                ))
            })?;
            let named = self.model.as_ref().map(GraderModels::names).unwrap_or_default();
            let role = self.model_role_or_default().0;
            let graders = generate.graders(named, role.as_deref())?;
            let grading = GraderRequest { generate, state, prompt: prompt.text(state, target)?, reading };
            let mut scores = grading.scores(&graders).await?;
            let is_panel = graders.len() > 1 || matches!(self.model, Some(GraderModels::Panel(_)));
            match is_panel {
                true => self.reducer_or_default().get()?.reduce(&scores).map(Some),
                false => Ok(scores.pop()),
            }
        })
    }

    fn needs(&self) -> ScorerNeeds {
        // With the history a grader can judge a conversation that the dataset has.
        match self.include_history_or_default() {
            true => ScorerNeeds::unknown(),
            false => ScorerNeeds::output(),
        }
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        let (prompt, _) = self.checked()?;
        prompt.check(sample, true)
    }

    fn check_behind(&self, sample: &Sample, solver: &SolverEffects) -> Result<()> {
        let (prompt, _) = self.checked()?;
        prompt.check(sample, !solver.is_unknown())
    }
}
