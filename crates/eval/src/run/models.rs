//! Opening the models of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use errorbar_core::{IndexMap, Registry};

use super::options::RunOptions;
use crate::model::{OpenOptions, open_model};
use crate::{
    AnyModel, Error, GenerateConfig, ModelChoice, ModelClient, Models, NamedSample, Result, Task, UsageLimits,
};

impl Task {
    /// How the model that is evaluated generates: as the run says, else as the task says.
    pub(super) fn generate_config(&self, options: &RunOptions) -> GenerateConfig {
        options.generate.clone().or(&self.generate)
    }

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
        let server = ServerOptions {
            base_url: options.base_url.as_deref(),
            key_file: options.api_key_file.as_deref(),
            timeout: options.calls.request_timeout(),
        };
        let open = |choice: &ModelChoice, server: ServerOptions<'_>| {
            let model = server.open(choice, registry)?;
            model.check(samples)?;
            Ok::<_, Error>(model)
        };
        let model = open(choice, server)?;
        let generate = self.generate_config(options);
        model.check_config(&generate)?;
        let mut models = Models::only(client(model, generate));
        for (role, choice) in &options.roles {
            let server = ServerOptions {
                base_url: of_role(&options.role_base_urls, role).map(String::as_str),
                key_file: of_role(&options.role_key_files, role).map(PathBuf::as_path),
                ..server
            };
            let model = open(choice, server).map_err(|error| {
                Error::refused(format!(
                    "the role `{role}`: {error} (of a role: --role-base-url, --role-api-key-file)"
                ))
            })?;
            let clients: &mut Vec<ModelClient> = models.roles.entry(role.clone()).or_default();
            clients.push(client(model, GenerateConfig::default()).in_role(role));
        }
        let folder = self.origin.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        for scorer in &self.scorers {
            for name in scorer.models() {
                if !models.named.contains_key(&name) {
                    let server = ServerOptions { base_url: None, key_file: None, ..server };
                    let choice = ModelChoice::relative_to(folder, name.as_str());
                    let model = open(&choice, server).map_err(|error| {
                        Error::refused(format!("the scorer `{}`: {error}", scorer.spec().log_name()))
                    })?;
                    models.named.insert(name, client(model, GenerateConfig::default()));
                }
            }
        }
        for (role, _) in &options.role_base_urls {
            refuse_unknown_role(role, "--role-base-url", &models)?;
        }
        for (role, _) in &options.role_key_files {
            refuse_unknown_role(role, "--role-api-key-file", &models)?;
        }
        models.limits = UsageLimits { time: options.limits.time.or(self.time_limit), ..options.limits };
        models.prices = options.prices.clone();
        if options.limits.cost.is_some() || options.run_limits.cost.is_some() {
            refuse_without_price(&models)?;
        }
        Ok(models)
    }
}

/// What is said of a role.
fn of_role<'a, T>(said: &'a [(String, T)], role: &str) -> Option<&'a T> {
    said.iter().find(|(of, _)| of == role).map(|(_, said)| said)
}

fn refuse_unknown_role(role: &str, option: &str, models: &Models) -> Result<()> {
    if models.roles.contains_key(role) {
        return Ok(());
    }
    Err(Error::refused(format!(
        "{option} is about the role `{role}`, which no model has; give it one: --model-role {role}=openai/NAME"
    )))
}

/// Where models are.
#[derive(Clone, Copy)]
struct ServerOptions<'a> {
    base_url: Option<&'a str>,
    key_file: Option<&'a Path>,
    timeout: Option<Duration>,
}

impl ServerOptions<'_> {
    fn open(self, choice: &ModelChoice, registry: &Registry) -> Result<AnyModel> {
        match choice {
            ModelChoice::Built(model) => Ok(model.clone()),
            ModelChoice::Named { name, folder } => {
                let own = OpenOptions::new(folder);
                let open = OpenOptions {
                    base_url: self.base_url,
                    api_key_file: self.key_file,
                    // Or a request that may take longer would be cut short by the one who makes it.
                    timeout: self.timeout.unwrap_or(own.timeout),
                    ..own
                };
                Ok(open_model(name, &open, registry)?)
            }
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
