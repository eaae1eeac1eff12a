//! What `model_graded_qa` and `model_graded_fact` share: another model grades the answer, or several that vote.

mod format;
mod format_spec;
mod grade;
mod graders;
mod grading;
mod number;
mod panel;
mod prompt;

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use errorbar_core::{Error, Metrics, Params, ReducerChoice, Result, Score};

pub(super) use self::grade::GradeReader;
pub(super) use self::graders::{GraderModels, GraderRole};
pub(super) use self::grading::{Grading, check_models, named_models, needs, roles};
pub(super) use self::number::NumberReader;
pub(super) use self::prompt::Prompt;
use super::of_grades;
use super::panel_reducer::PanelReducer;
use crate::prompts::{InspectPrompts, inspect_prompts};
use crate::{BoxFuture, Sample, Scorer, ScorerNeeds, SolverEffects, Target, TaskState, TemplateText};

/// The default question for graders: what distinguishes [`ModelGraded`] scorers.
///
/// Its [`Params`] are the name and the documentation of the scorer.
pub trait GraderQuestion: Params + Clone + fmt::Debug + Default + Send + Sync + 'static {
    /// The question, if no template is given.
    const TEMPLATE: &'static str;
    /// The reference's prompt.
    #[doc(hidden)]
    const INSPECT: InspectPrompt;
}

/// Which prompt of the reference it is.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectPrompt {
    /// That of `model_graded_qa`.
    Criterion,
    /// That of `model_graded_fact`.
    Fact,
}

impl InspectPrompt {
    fn of(self, prompts: &'static InspectPrompts) -> &'static String {
        match self {
            InspectPrompt::Criterion => &prompts.model_graded_qa,
            InspectPrompt::Fact => &prompts.model_graded_fact,
        }
    }
}

/// Another model grades the answer; made by [`model_graded_qa()`](super::model_graded_qa()) and
/// [`model_graded_fact()`](super::model_graded_fact()).
#[derive(Clone, Debug, Default, Params)]
#[params(
    crate = errorbar_core, name = Q::NAME, doc = Q::DOC, sections = Q::SECTIONS, check = Self::check_all
)]
pub struct ModelGraded<Q: GraderQuestion> {
    /// The prompt for the grader: `{question}`, `{answer}`, `{criterion}`, `{instructions}` and the names of the sample's
    /// metadata are filled in; `{{` is a brace. In a spec, also the name of a file. "inspect" is the prompt of inspect_ai
    /// with its instructions, word for word.
    template: Option<TemplateText>,
    /// How the grader must answer, for `{instructions}`, in a spec also the name of a file; "inspect" for those of
    /// inspect_ai. With others, any of C, P and I is a grade.
    instructions: Option<TemplateText>,
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

    /// What cannot work is a mistake of the spec, and better reported once than for each sample.
    fn check_all(&self) -> Result<()> {
        self.checked().map(drop).map_err(|error| Error::custom(format!("{}: {error}", Q::NAME)))
    }

    fn ready(&self) -> Result<&(Prompt, GradeReader)> {
        let ready = || self.prompt().and_then(|prompt| Ok((prompt, self.reading()?)));
        self.ready.get_or_init(ready).as_ref().map_err(Clone::clone)
    }

    fn prompt(&self) -> Result<Prompt> {
        let template = self.template.as_ref();
        let text =
            template.map_or(Q::TEMPLATE, |template| template.or_inspect(|prompts| Q::INSPECT.of(prompts)));
        let given = template.map(TemplateText::given);
        Prompt::new(text, given, self.instructions_text().to_owned(), self.include_history_or_default())
    }

    /// How the grader must answer: the author's words, those of the reference, or ours.
    fn instructions_text(&self) -> &str {
        let partial = self.partial_credit_or_default();
        let prompts = inspect_prompts();
        match (self.custom_instructions(), self.is_inspect(), partial) {
            (Some(custom), ..) => custom,
            (None, true, false) => &prompts.instructions,
            (None, true, true) => &prompts.instructions_partial,
            (None, false, partial) => prompt::instructions(partial),
        }
    }

    fn custom_instructions(&self) -> Option<&str> {
        self.instructions.as_ref().filter(|text| !text.is_inspect()).map(TemplateText::text)
    }

    /// Whether the instructions are those of the reference, which its prompt brings along.
    fn is_inspect(&self) -> bool {
        match &self.instructions {
            Some(instructions) => instructions.is_inspect(),
            None => self.template.as_ref().is_some_and(TemplateText::is_inspect),
        }
    }

    fn reading(&self) -> Result<GradeReader> {
        match (&self.grade_pattern, self.custom_instructions()) {
            (Some(pattern), _) => GradeReader::by_pattern(pattern),
            (None, Some(_)) => Ok(GradeReader::AnyLetter),
            (None, None) => Ok(GradeReader::Offered { partial: self.partial_credit_or_default() }),
        }
    }

    /// Its prompt and how it reads answers, if all of it is valid.
    fn checked(&self) -> Result<&(Prompt, GradeReader)> {
        check_models(self.model.as_ref())?;
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
        named_models(self.model.as_ref())
    }

    fn roles(&self) -> Vec<String> {
        roles(self.model_role_or_default(), self.model.as_ref())
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        Box::pin(async move {
            let (prompt, reading) = self.checked()?;
            let (role, reducer) = (self.model_role_or_default().0, self.reducer_or_default());
            let (models, role, reducer) = (self.model.as_ref(), role.as_deref(), &reducer);
            Grading { name: Q::NAME, prompt, reading, models, role, reducer }.score(state, target).await
        })
    }

    fn needs(&self) -> ScorerNeeds {
        needs(self.checked())
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        self.checked()?.0.check(sample, true)
    }

    fn check_answer(&self, state: &TaskState) -> Result<()> {
        self.checked()?.0.check_shown(state, &state.target)
    }

    fn check_behind(&self, sample: &Sample, solver: &SolverEffects) -> Result<()> {
        self.checked()?.0.check(sample, !solver.is_unknown())
    }
}
