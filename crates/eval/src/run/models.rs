//! Opening the models of a run.

use std::path::Path;
use std::sync::Arc;

use errorbar_core::{IndexMap, Registry};

use super::options::RunOptions;
use crate::model::{OpenOptions, open_model};
use crate::{
    AnyModel, Error, GenerateConfig, Limits, ModelChoice, ModelClient, Models, NamedSample, Result, Task,
};

impl Task {
    /// Opens the model that is evaluated, those in roles, and those that scorers name.
    pub(super) fn opened_models(
        &self,
        options: &RunOptions,
        registry: &Registry,
        samples: &[NamedSample],
    ) -> Result<Models> {
        let Some(choice) = options.model.as_ref().or(self.model.as_ref()) else {
            return Err(Error::refused(
                "the task names no model; name one: --model openai/NAME for a server, --model replay/FILE for recorded \
                 outputs, --model mock/TEXT to try it",
            ));
        };
        let client = |model, config| ModelClient::new(model, config, Arc::clone(&options.calls));
        let model = opened(choice, options, registry)?;
        model.check(samples)?;
        model.check_config(&options.generate)?;
        let mut models = Models::only(client(model, options.generate.clone()));
        for (role, choice) in &options.roles {
            let model = opened(choice, options, registry)
                .map_err(|error| Error::refused(format!("the role `{role}`: {error}")))?;
            let clients: &mut Vec<ModelClient> = models.roles.entry(role.clone()).or_default();
            clients.push(client(model, GenerateConfig::default()).in_role(role));
        }
        for scorer in &self.scorers {
            for name in scorer.models() {
                if !models.named.contains_key(&name) {
                    let model = opened(&ModelChoice::from(name.as_str()), options, registry)?;
                    models.named.insert(name, client(model, GenerateConfig::default()));
                }
            }
        }
        models.limits = Limits { time: options.limits.time.or(self.time_limit), ..options.limits };
        models.prices = options.prices.clone();
        if options.limits.cost.is_some() || options.run_limits.cost.is_some() {
            refuse_without_price(&models)?;
        }
        Ok(models)
    }
}

fn opened(choice: &ModelChoice, options: &RunOptions, registry: &Registry) -> Result<AnyModel> {
    match choice {
        ModelChoice::Built(model) => Ok(model.clone()),
        ModelChoice::Named { name, folder } => {
            let own = OpenOptions::new(folder);
            let open = OpenOptions {
                base_url: options.base_url.as_deref(),
                api_key_file: options.api_key_file.as_deref().map(AsRef::<Path>::as_ref),
                // Or a request that may take longer would be cut short by the one who makes it.
                timeout: options.calls.request_timeout().unwrap_or(own.timeout),
                ..own
            };
            Ok(open_model(name, &open, registry)?)
        }
    }
}

/// A limit on the cost says nothing where no price is known.
fn refuse_without_price(models: &Models) -> Result<()> {
    let unknown: IndexMap<&str, ()> = models
        .iter()
        .map(|client| client.model().name())
        .filter(|name| models.prices.of(name).is_none())
        .map(|name| (name, ()))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = unknown.keys().map(|name| format!("`{name}`")).collect();
    Err(Error::refused(format!(
        "a limit on the cost needs the price of every model, and that of {} is not known; name a file that has it: \
         --prices prices.toml",
        names.join(", ")
    )))
}
