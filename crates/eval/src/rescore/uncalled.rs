//! The models of graders, and what stands in for the evaluated model, which is not called.

use std::path::Path;

use errorbar_core::Registry;
use errorbar_log::eval::EvalInfo;
use serde_json::Value as Json;

use crate::model::ROLES;
use crate::model::{Model, ModelError, Request};
use crate::run::{check_prices, open_graders};
use crate::{AnyModel, AnyScorer, BoxFuture, GenerateConfig, ModelClient, ModelOutput, Models, RunOptions};

/// Has the name of the model that was evaluated, and no answers.
#[derive(Debug)]
struct UncalledModel {
    name: String,
}

impl Model for UncalledModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn generate<'a>(&'a self, _: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            Err(ModelError::permanent(format!(
                "the model that was evaluated, {}, is not called when its outputs are scored; give the scorer another \
                 model, or a role that a model has",
                self.name
            )))
        })
    }
}

/// The models that scorers may call.
pub(super) fn models(
    evaluated: &str,
    scorers: &[AnyScorer],
    options: &RunOptions,
    registry: &Registry,
) -> crate::Result<Models> {
    let model = AnyModel::from(UncalledModel { name: evaluated.to_owned() });
    let client = ModelClient::new(model, GenerateConfig::default(), options.calls.clone());
    let mut models = Models::only(client);
    open_graders(&mut models, scorers, Path::new(""), options, registry, &[])?;
    models.prices = options.prices.clone();
    // The evaluated model costs nothing: it is not called.
    check_prices(models.roles.values().flatten().chain(models.named.values()), options)?;
    Ok(models)
}

/// The model that a log records in a role.
pub(super) fn recorded_role(eval: &EvalInfo, role: &str) -> Option<String> {
    let recorded = eval.extra.get(ROLES)?.get(role)?;
    let name = |model: &Json| model.get("model").and_then(Json::as_str).map(str::to_owned);
    match recorded {
        Json::Array(models) => {
            let names: Option<Vec<String>> = models.iter().map(name).collect();
            names.map(|names| names.join(", "))
        }
        model => name(model),
    }
}
