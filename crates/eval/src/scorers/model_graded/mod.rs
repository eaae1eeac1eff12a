//! What `model_graded_qa` and `model_graded_fact` share: another model grades the answer, or several that vote.

mod format;
mod grade;
mod prompt;
mod score;

pub use score::*;

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use errorbar_core::spec::Arg;
use errorbar_core::{
    ArgProblem, ArgType, Error, Metrics, Params, ReducerChoice, Registry, Result, Score, reducers,
};
use futures_util::future::join_all;
use serde_json::json;

use self::grade::GradeReader;
use self::prompt::Prompt;
use super::multi_scorer::PanelReducer;
use super::of_grades;
use crate::prompts;
use crate::{
    BoxFuture, Message, Sample, Scorer, ScorerNeeds, SolverEffects, Target, TaskState, TemplateText,
};

/// What graders look for: it distinguishes [`ModelGraded`] scorers.
///
/// Its [`Params`] are the name and the documentation of the scorer, and its prompt has the same name.
pub trait GraderQuestion: Params + Clone + fmt::Debug + Default + Send + Sync + 'static {}

/// What scorers share that graders stand behind: who grades, and all that follows from their `checked` prompt.
macro_rules! graded {
    ([$($generics:tt)*] $type:ty, $metrics:expr) => {
        impl<$($generics)*> $type {
            /// The model that grades.
            #[must_use]
            pub fn model(mut self, model: impl Into<String>) -> Self {
                self.model = Some(GraderModels::One(model.into()));
                self
            }

            /// The models that grade, each with its vote. One may have several votes.
            #[must_use]
            pub fn models(mut self, models: impl IntoIterator<Item = impl Into<String>>) -> Self {
                self.model = Some(GraderModels::Panel(models.into_iter().map(Into::into).collect()));
                self
            }

            /// The role whose models grade; with `None` the evaluated model does.
            #[must_use]
            pub fn model_role<'r>(mut self, role: impl Into<Option<&'r str>>) -> Self {
                self.model_role = Some(role.into().map(str::to_owned));
                self
            }

            /// Its prompt and how it reads answers, if all of it is valid.
            fn checked(&self) -> Result<&(Prompt, GradeReader)> {
                check_graders(self.model.as_ref(), self.reducer.as_ref())?;
                let ready = || Ok((self.prompt()?, self.reading()?));
                self.ready.get_or_init(ready).as_ref().map_err(Clone::clone)
            }
        }

        impl<$($generics)*> Scorer for $type {
            fn metrics(&self) -> Metrics {
                $metrics
            }

            fn range(&self) -> Option<(f64, f64)> {
                Some(self.bounds())
            }

            fn models(&self) -> Vec<String> {
                self.model.as_ref().map(GraderModels::names).unwrap_or_default().to_vec()
            }

            fn roles(&self) -> Vec<String> {
                self.model_role_or_default().filter(|_| self.model.is_none()).into_iter().collect()
            }

            fn score<'a>(
                &'a self,
                state: &'a TaskState,
                target: &'a Target,
            ) -> BoxFuture<'a, Result<Option<Score>>> {
                Box::pin(async move {
                    let (role, reducer) = (self.model_role_or_default(), self.reducer_or_default());
                    let graders = Graders {
                        scorer: <Self as Params>::NAME,
                        models: self.model.as_ref(),
                        role: role.as_deref(),
                        reducer: &reducer,
                    };
                    graders.score(self.checked()?, state, target).await
                })
            }

            fn needs(&self) -> ScorerNeeds {
                // Nothing is known of a prompt that is not valid.
                self.checked().map_or_else(|_| ScorerNeeds::default(), |(prompt, _)| prompt.needs())
            }

            fn check(&self, sample: &Sample) -> Result<()> {
                self.checked()?.0.check(sample, true)
            }

            fn check_answer(&self, state: &TaskState) -> Result<()> {
                self.checked()?.0.check_shown(state, &state.target)
            }

            fn check_behind(&self, sample: &Sample, solver: &SolverEffects) -> Result<()> {
                self.checked()?.0.check(sample, !solver.unknown)
            }
        }
    };
}
use graded;

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
    #[param(default = default_role(), no_setter)]
    model_role: Option<Option<String>>,
    /// How the scores of several graders become one.
    #[param(default = PanelReducer::from(reducers::majority()), from = ReducerChoice, map = PanelReducer::choose)]
    reducer: Option<PanelReducer>,
    #[param(skip)]
    ready: OnceLock<Result<(Prompt, GradeReader)>>,
    #[param(skip)]
    question: PhantomData<Q>,
}

graded!([Q: GraderQuestion] ModelGraded<Q>, of_grades());

impl<Q: GraderQuestion> ModelGraded<Q> {
    /// What cannot work is a mistake of the spec, and better reported once than for each sample.
    fn check_all(&self) -> Result<()> {
        self.checked().map(drop).map_err(|error| Error::custom(format!("{}: {error}", Q::NAME)))
    }

    fn bounds(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn prompt(&self) -> Result<Prompt> {
        let instructions = self.instructions_text().to_owned();
        Prompt::new(self.template.as_ref(), Q::NAME, instructions, self.include_history_or_default())
    }

    /// How the grader must answer: the author's words, those of the reference, or ours.
    fn instructions_text(&self) -> &str {
        let name = if self.partial_credit_or_default() { "instructions_partial" } else { "instructions" };
        self.custom_instructions().unwrap_or_else(|| prompts::prompt(name, self.is_inspect()))
    }

    fn custom_instructions(&self) -> Option<&str> {
        self.instructions.as_ref().filter(|text| !text.is_inspect()).map(TemplateText::text)
    }

    /// Whether the instructions are those of the reference, which its prompt brings along.
    fn is_inspect(&self) -> bool {
        self.instructions.as_ref().or(self.template.as_ref()).is_some_and(TemplateText::is_inspect)
    }

    fn reading(&self) -> Result<GradeReader> {
        match (&self.grade_pattern, self.custom_instructions()) {
            (Some(pattern), _) => GradeReader::by_pattern(pattern),
            (None, Some(_)) => Ok(GradeReader::AnyLetter),
            (None, None) => Ok(GradeReader::Offered { partial: self.partial_credit_or_default() }),
        }
    }
}

/// The models that were named: one, or a panel, perhaps of one.
#[derive(Clone, Debug)]
pub(in crate::scorers) enum GraderModels {
    One(String),
    Panel(Vec<String>),
}

impl GraderModels {
    pub(in crate::scorers) fn names(&self) -> &[String] {
        match self {
            GraderModels::One(name) => std::slice::from_ref(name),
            GraderModels::Panel(names) => names,
        }
    }
}

impl ArgType for GraderModels {
    const EXPECTED: &'static str = "the name of a model, or a list of such names";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let wrong = |_| ArgProblem::Expected(Self::EXPECTED);
        match arg {
            Arg::List(_) => Vec::from_arg(arg, registry).map(GraderModels::Panel).map_err(wrong),
            arg => String::from_arg(arg, registry).map(GraderModels::One).map_err(wrong),
        }
    }

    fn to_arg(&self) -> Arg {
        match self {
            GraderModels::One(name) => name.to_arg(),
            GraderModels::Panel(names) => names.to_arg(),
        }
    }
}

/// The role whose models grade, unless another one is named, or none.
fn default_role() -> Option<String> {
    Some("grader".to_owned())
}

/// Who grades, and what makes one score of several.
struct Graders<'a> {
    scorer: &'static str,
    models: Option<&'a GraderModels>,
    role: Option<&'a str>,
    reducer: &'a PanelReducer,
}

impl Graders<'_> {
    /// The score of an answer. Several graders are called at once.
    ///
    /// # Errors
    /// That of the first grader that could not be called.
    async fn score(
        &self,
        (prompt, reading): &(Prompt, GradeReader),
        state: &TaskState,
        target: &Target,
    ) -> Result<Option<Score>> {
        let generate = state.generate().ok_or_else(|| {
            Error::custom(format!(
                "{} calls a model, and there is none outside of a run; score with `errorbar eval`, or give the \
                 state models (TaskState::with_generate)",
                self.scorer
            ))
        })?;
        let graders =
            generate.graders(self.models.map(GraderModels::names).unwrap_or_default(), self.role)?;
        let request = &[Message::user(prompt.text(state, target)?)];
        let scores = graders.iter().map(|grader| async move {
            let failed = |error: Error| Error::custom(format!("the grader {}: {error}", grader.model.name()));
            let output = generate.ask_of(grader, state, request).await.map_err(failed)?;
            let score = reading.score(&output.completion).await.map_err(failed)?;
            let answer = output.choices.first().map(|choice| &choice.message);
            let grading: Vec<&Message> = request.iter().chain(answer).collect();
            Ok(score.answer(state.output.completion.as_str()).metadata("grading", json!(grading)))
        });
        let mut scores = join_all(scores).await.into_iter().collect::<Result<Vec<Score>>>()?;
        match graders.len() > 1 || matches!(self.models, Some(GraderModels::Panel(_))) {
            true => self.reducer.get()?.reduce(&scores).map(Some),
            false => Ok(scores.pop()),
        }
    }
}

/// Refuses an empty list of models, and a reducer that cannot be.
fn check_graders(models: Option<&GraderModels>, reducer: Option<&PanelReducer>) -> Result<()> {
    if models.is_some_and(|models| models.names().is_empty()) {
        return Err(Error::custom(
            "the list of models is empty; name at least one, or leave it out for those of the role",
        ));
    }
    reducer.map_or(Ok(()), |reducer| reducer.get()?.check())
}

// `model_graded_qa`: a model decides whether the answer meets a criterion.

/// Whether the answer meets the criterion in the target, as graded by a model: the one named, else those of the role, else the evaluated one. Several vote.
///
/// # When
/// Answers are free text, and the target says what they must achieve. Check the grader against people with
/// `cohen_kappa`, and correct for it with `ppi`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,Why is the sky blue?,Names scattering' > why.csv
/// $ printf '%s\n' 'dataset = "why.csv"' 'scorer = "model_graded_qa(model=\"mock/GRADE: C\")"' > why.toml
/// $ errorbar eval why.toml --model mock/Rayleigh --quiet
/// logs/….eval
///       why · mock/Rayleigh · 1 sample
///
/// model_graded_qa · 1 scored
///                                0                                       1
///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `model_graded_fact`, `model_graded_score`, `cohen_kappa`, `ppi`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Copy, Debug, Default, Params)]
#[params(crate = errorbar_core, name = "model_graded_qa", plain)]
pub struct CriterionQuestion;

impl GraderQuestion for CriterionQuestion {}

/// Whether the answer meets the criterion in the target, as graded by another model.
pub type ModelGradedQa = ModelGraded<CriterionQuestion>;

/// Whether the answer meets the criterion in the target, as graded by another model.
///
/// The graders are the models that are named here; else those that have the role, `grader` if unset; else the model that is
/// evaluated. Several vote, and a value needs more than half of their votes.
///
/// ```
/// use errorbar_eval::scorers::model_graded_qa;
/// let _ = model_graded_qa().partial_credit(true);
/// let _ = model_graded_qa().models(["openai/gpt-4o", "anthropic/claude", "google/gemini"]);
/// // The metadata of samples has `rubric`.
/// let _ = model_graded_qa().template("Q: {question}\nA: {answer}\nRubric: {rubric}\n{instructions}");
/// ```
#[must_use]
pub fn model_graded_qa() -> ModelGradedQa {
    ModelGraded::default()
}

// `model_graded_fact`: a model decides whether the answer has the facts of the target.

/// Whether the answer has the facts that the target has, as graded by a model; otherwise like model_graded_qa.
///
/// # When
/// Answers are free text, and the target is a right answer.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,Why is the sky blue?,Names scattering' > why.csv
/// $ printf '%s\n' 'dataset = "why.csv"' 'scorer = "model_graded_fact(model=\"mock/GRADE: I\")"' > why.toml
/// $ errorbar eval why.toml --model mock/Rayleigh --quiet
/// logs/….eval
///       why · mock/Rayleigh · 1 sample
///
/// model_graded_fact · 1 scored
///                                0                                       1
///   accuracy  0.00 [0.00, 0.79]  ●───────────────────────────────┤          only 1 score
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `model_graded_qa`, `f1`, `includes`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Copy, Debug, Default, Params)]
#[params(crate = errorbar_core, name = "model_graded_fact", plain)]
pub struct FactQuestion;

impl GraderQuestion for FactQuestion {}

/// Whether the answer has the facts that the target has, as graded by another model.
pub type ModelGradedFact = ModelGraded<FactQuestion>;

/// Whether the answer has the facts that the target has, as graded by another model.
///
/// Otherwise as [`model_graded_qa()`](super::model_graded_qa()).
#[must_use]
pub fn model_graded_fact() -> ModelGradedFact {
    ModelGraded::default()
}
