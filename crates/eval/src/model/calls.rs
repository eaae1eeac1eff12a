//! What calls of models have in common in a run: how often they are tried, and how many there are at once.

use super::{AnyModel, ModelError, Request};
use crate::ModelOutput;

/// What calls of models have in common.
#[derive(Debug, Default)]
pub struct Calls {}

impl Calls {
    /// Asks a model, as often as it takes.
    pub(super) async fn call(
        &self,
        model: &AnyModel,
        request: Request<'_>,
    ) -> Result<ModelOutput, ModelError> {
        model.generate(request).await
    }
}
