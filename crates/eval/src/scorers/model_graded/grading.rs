//! How graders score one answer, whatever they look for.

use errorbar_core::{Error, Result, Score};

use super::super::panel_reducer::PanelReducer;
use super::grade::GradeReader;
use super::graders::{GraderModels, GraderRole};
use super::panel::GraderRequest;
use super::prompt::Prompt;
use crate::{ScorerNeeds, Target, TaskState};

/// All that graders need: the prompt, how their answers are read, who they are, and what makes one score of several.
pub(in crate::scorers) struct Grading<'a> {
    /// The name of the scorer.
    pub(in crate::scorers) name: &'static str,
    pub(in crate::scorers) prompt: &'a Prompt,
    pub(in crate::scorers) reading: &'a GradeReader,
    pub(in crate::scorers) models: Option<&'a GraderModels>,
    pub(in crate::scorers) role: Option<&'a str>,
    pub(in crate::scorers) reducer: &'a PanelReducer,
}

impl Grading<'_> {
    pub(in crate::scorers) async fn score(
        &self,
        state: &TaskState,
        target: &Target,
    ) -> Result<Option<Score>> {
        let generate = state.generate().ok_or_else(|| {
            Error::custom(format!(
                "{} calls a model, and there is none outside of a run; score with `errorbar eval`, or give the \
                 state models (TaskState::with_generate)",
                self.name
            ))
        })?;
        let named = self.models.map(GraderModels::names).unwrap_or_default();
        let graders = generate.graders(named, self.role)?;
        let (prompt, reading) = (self.prompt.text(state, target)?, self.reading);
        let mut scores = GraderRequest { generate, state, prompt, reading }.scores(&graders).await?;
        let is_panel = graders.len() > 1 || matches!(self.models, Some(GraderModels::Panel(_)));
        match is_panel {
            true => self.reducer.get()?.reduce(&scores).map(Some),
            false => Ok(scores.pop()),
        }
    }
}

/// The models that are named.
pub(in crate::scorers) fn named_models(models: Option<&GraderModels>) -> Vec<String> {
    models.map(GraderModels::names).unwrap_or_default().to_vec()
}

/// The role whose models grade, unless models are named.
pub(in crate::scorers) fn roles(role: GraderRole, models: Option<&GraderModels>) -> Vec<String> {
    role.0.filter(|_| models.is_none()).into_iter().collect()
}

/// What graders need who are shown this prompt; nothing is known of one that is not valid.
pub(in crate::scorers) fn needs(prompt: Result<&(Prompt, GradeReader)>) -> ScorerNeeds {
    let Ok((prompt, _)) = prompt else { return ScorerNeeds::unknown() };
    // With the history a grader can judge a conversation that the dataset has.
    let needs = if prompt.has_history() { ScorerNeeds::unknown() } else { ScorerNeeds::output() };
    if prompt.needs_criterion() { needs.with_target() } else { needs }
}

/// Refuses an empty list of models.
pub(in crate::scorers) fn check_models(models: Option<&GraderModels>) -> Result<()> {
    match models.is_some_and(|models| models.names().is_empty()) {
        true => Err(Error::custom(
            "the list of models is empty; name at least one, or leave it out for those of the role",
        )),
        false => Ok(()),
    }
}
