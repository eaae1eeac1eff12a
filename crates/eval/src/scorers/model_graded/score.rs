//! `model_graded_score`: a model rates the answer with a number.

use std::sync::OnceLock;

use errorbar_core::metrics::{mean, stderr};
use errorbar_core::{Error, Metrics, Params, ReducerChoice, Result, Score, metrics, reducers};

use super::format;
use super::grade::{GradeReader, NumberReader};
use super::prompt::Prompt;
use super::{GraderModels, Graders, check_graders, default_role, graded};
use crate::prompts;
use crate::scorers::multi_scorer::PanelReducer;
use crate::{BoxFuture, Sample, Scorer, ScorerNeeds, SolverEffects, Target, TaskState, TemplateText};

/// A number from min to max by which a model rates the answer, such as 1 to 10; one that is missing or out of range is unscored.
///
/// The number is what follows the last `SCORE:` of the grader. It stays on its scale, which intervals, bounds and early
/// stopping know. A sample without a target is rated without a criterion. Who grades is as in model_graded_qa; the scores
/// of several graders become one by their mean.
///
/// ```
/// use errorbar_eval::scorers::model_graded_score;
/// let _ = model_graded_score();
/// let _ = model_graded_score().min(0.0).max(1.0).model("openai/gpt-4o");
/// ```
///
/// # When
/// Quality on a scale rather than right or wrong.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,Why is the sky blue?,Names scattering' > why.csv
/// $ printf '%s\n' 'dataset = "why.csv"' 'scorer = "model_graded_score(model=\"mock/SCORE: 7\")"' > why.toml
/// $ errorbar eval why.toml --model mock/Rayleigh --quiet
/// logs/….eval
///       why · mock/Rayleigh · 1 sample
///
/// model_graded_score · 1 scored
///   mean  7  only 1 score
/// ```
///
/// # See also
/// `model_graded_qa`, `krippendorff_alpha`, `ppi`
///
/// # Source
/// Defined by errorbar; inspect_ai has no such scorer. Ratings by a model: Zheng et al. 2023, "Judging LLM-as-a-
/// judge with MT-Bench and Chatbot Arena".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = errorbar_core, name = "model_graded_score", check = Self::check_all)]
pub struct ModelGradedScore {
    /// The lowest score.
    #[param(default = 1.0)]
    min: Option<f64>,
    /// The highest score.
    #[param(default = 10.0)]
    max: Option<f64>,
    /// The prompt for the grader: `{question}`, `{answer}`, `{criterion}`, `{instructions}`, `{min}`, `{max}` and the names
    /// of the sample's metadata are filled in; `{{` is a brace. In a spec, also the name of a file.
    template: Option<TemplateText>,
    /// How the grader must answer, for `{instructions}`. In a spec, also the name of a file.
    instructions: Option<TemplateText>,
    /// A regular expression whose first group is the number; the first match counts.
    score_pattern: Option<String>,
    /// Whether the grader is shown the whole conversation and not only the question.
    #[param(default = false)]
    include_history: Option<bool>,
    /// The model that grades, or a list of models.
    #[param(no_setter)]
    model: Option<GraderModels>,
    /// The role whose models grade; with `None` the evaluated model does.
    #[param(default = default_role(), no_setter)]
    model_role: Option<Option<String>>,
    /// How the scores of several graders become one.
    #[param(default = PanelReducer::from(reducers::mean()), from = ReducerChoice, map = PanelReducer::choose)]
    reducer: Option<PanelReducer>,
    #[param(skip)]
    ready: OnceLock<Result<(Prompt, GradeReader)>>,
}

graded!([] ModelGradedScore, metrics![mean(), stderr()]);

impl ModelGradedScore {
    fn bounds(&self) -> (f64, f64) {
        (self.min_or_default(), self.max_or_default())
    }

    /// What cannot work is a mistake of the spec, and better reported once than for each sample.
    fn check_all(&self) -> Result<()> {
        let (min, max) = self.bounds();
        if !(min.is_finite() && max.is_finite() && min < max) {
            return Err(Self::refuse("max", format!("must be above min, found {max} and min={min}")));
        }
        self.checked().map(drop).map_err(|error| Error::custom(format!("{}: {error}", Self::NAME)))
    }

    fn reading(&self) -> Result<GradeReader> {
        NumberReader::new(self.bounds(), self.score_pattern.as_deref()).map(GradeReader::Number)
    }

    fn prompt(&self) -> Result<Prompt> {
        let bounds = self.bounds();
        let given = self.instructions.as_ref().map(|text| text.text().to_owned());
        let instructions = given.unwrap_or_else(|| instructions(bounds));
        let history = self.include_history_or_default();
        let prompt = Prompt::new(self.template.as_ref(), Self::NAME, instructions, history)?;
        let other = || prompts::prompt("model_graded_score_without_criterion", false);
        let other = self.template.is_none().then(other).map(format::parse).transpose()?;
        Ok(Prompt { without_criterion: other, bounds: Some(bounds), ..prompt })
    }
}

/// How to answer, if the author gives no instructions.
fn instructions((min, max): (f64, f64)) -> String {
    format!(
        "Think it through in writing first, one step after another, and do not begin with the score. Then close with a \
         line of the form SCORE: $NUMBER, and nothing behind it. $NUMBER is a number from {min} (the worst) to {max} (the \
         best)."
    )
}
