//! Calling one grader, or several that vote.

use errorbar_core::{Error, Result, Score};
use errorbar_log::eval::Wire;
use futures_util::future::join_all;
use serde_json::json;

use super::grade::GradeReader;
use crate::{Generate, Message, ModelClient, TaskState};

/// One prompt for one answer, and how the grades that come back are read.
pub(super) struct GraderRequest<'a> {
    pub(super) generate: &'a Generate,
    pub(super) state: &'a TaskState,
    pub(super) prompt: String,
    pub(super) reading: &'a GradeReader,
}

impl GraderRequest<'_> {
    /// The scores that the graders give, in their order; all are called at once.
    ///
    /// # Errors
    /// That of the first grader that could not be called.
    pub(super) async fn scores(&self, graders: &[&ModelClient]) -> Result<Vec<Score>> {
        join_all(graders.iter().map(|grader| self.score(grader))).await.into_iter().collect()
    }

    async fn score(&self, grader: &ModelClient) -> Result<Score> {
        let failed = |error: Error| Error::custom(format!("the grader {}: {error}", grader.model().name()));
        let request = [Message::user(self.prompt.as_str())];
        let output = self.generate.ask_of(grader, self.state, &request).await.map_err(failed)?;
        let score = self.reading.score(&output.completion).await.map_err(failed)?;
        let answer = output.choices.first().map(|choice| &choice.message);
        let grading: Vec<Wire<&Message>> = request.iter().chain(answer).map(Wire).collect();
        Ok(score.answer(self.state.output.completion.as_str()).metadata("grading", json!(grading)))
    }
}
