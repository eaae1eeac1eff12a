//! Opening the models of a run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use errorbar_core::Registry;

use super::options::RunOptions;
use crate::model::{OpenOptions, open_model};
use crate::{
    AnyModel, Error, GenerateConfig, ModelChoice, ModelClient, Models, NamedSample, Result, Task, UsageLimits,
};

impl Task {
    /// How the model that is evaluated generates: as the run sets it, else as the task does.
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
            return Err(Error::NoModel);
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
            let in_role = |error| Error::Role { role: role.clone(), error: Box::new(error) };
            let model = open(choice, server).map_err(in_role)?;
            let clients: &mut Vec<ModelClient> = models.roles.entry(role.clone()).or_default();
            clients.push(client(model, GenerateConfig::default()).in_role(role));
        }
        let folder = self.origin.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        for scorer in &self.scorers {
            for name in scorer.models() {
                if !models.named.contains_key(&name) {
                    let server = ServerOptions { base_url: None, key_file: None, ..server };
                    let choice = ModelChoice::relative_to(folder, name.as_str());
                    let model = open(&choice, server).map_err(|error| Error::Scorer {
                        scorer: scorer.spec().log_name().into_owned(),
                        error: Box::new(error),
                    })?;
                    models.named.insert(name, client(model, GenerateConfig::default()));
                }
            }
        }
        let base_urls = options.role_base_urls.iter().map(|(role, _)| (role, "base URL"));
        let key_files = options.role_key_files.iter().map(|(role, _)| (role, "key file"));
        let mut settings = base_urls.chain(key_files);
        if let Some((role, setting)) = settings.find(|(role, _)| !models.roles.contains_key(*role)) {
            return Err(Error::UnknownRole { role: role.clone(), setting });
        }
        models.limits = UsageLimits { time: options.limits.time.or(self.time_limit), ..options.limits };
        models.prices = options.prices.clone();
        // A limit on the cost has no effect where no price is known.
        if options.limits.cost.is_some() || options.run_limits.cost.is_some() {
            let names = models.iter().map(|client| client.model().name());
            let mut unknown: Vec<String> =
                names.filter(|name| models.prices.of(name).is_none()).map(str::to_owned).collect();
            if !unknown.is_empty() {
                let mut seen = HashSet::new();
                unknown.retain(|name| seen.insert(name.clone()));
                return Err(Error::UnknownPrice { models: unknown });
            }
        }
        Ok(models)
    }
}

/// The setting for a role.
fn of_role<'a, T>(by_role: &'a [(String, T)], role: &str) -> Option<&'a T> {
    by_role.iter().find(|(of, _)| of == role).map(|(_, value)| value)
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
                open_model(name, &open, registry)
            }
        }
    }
}
