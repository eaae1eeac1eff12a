//! Opening the models of a run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use errorbar_core::Registry;
use errorbar_log::eval::EvalInfo;
use serde_json::Value as Json;

use super::options::RunOptions;
use super::prepare::PreparedTask;
use super::record::{BASE_URL, recorded_args};
use super::resume::ResumableLog;
use crate::model::{OpenOptions, QUERY, ROLES, open_model};
use crate::{
    AnyModel, AnyScorer, Error, GenerateConfig, ModelChoice, ModelClient, Models, NamedSample, Result, Task,
    UsageLimits,
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
        let server = ServerOptions {
            base_url: options.base_url.as_deref(),
            key_file: options.api_key_file.as_deref(),
            ca_file: options.ca_file.as_deref(),
            timeout: options.calls.request_timeout(),
        };
        let model = server.open(choice, registry)?;
        model.check(samples)?;
        let generate = self.generate_config(options);
        model.check_config(&generate)?;
        for config in self.solver.configs() {
            model.check_config(&config.or(&generate))?;
        }
        let mut models = Models::only(ModelClient::new(model, generate, Arc::clone(&options.calls)));
        let folder = self.origin.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        open_graders(&mut models, &self.scorers, folder, options, registry, samples)?;
        for name in self.solver.models() {
            let choice = ModelChoice::relative_to(folder, name.as_str());
            open_named(&mut models, name, &choice, options, registry, samples)?;
        }
        models.limits = UsageLimits { time: options.limits.time.or(self.time_limit), ..options.limits };
        models.prices = options.prices.clone();
        check_prices(models.iter(), options)?;
        Ok(models)
    }
}

/// Refuses a limit on the cost where no price is known, as it would have no effect.
pub(crate) fn check_prices<'a>(
    models: impl Iterator<Item = &'a ModelClient>,
    options: &RunOptions,
) -> Result<()> {
    if options.limits.cost.is_none() && options.run_limits.cost.is_none() {
        return Ok(());
    }
    let mut seen = HashSet::new();
    let names = models.map(|client| client.model.name());
    let unknown = names.filter(|name| options.prices.of(name).is_none() && seen.insert(name.to_string()));
    let unknown: Vec<String> = unknown.map(str::to_owned).collect();
    match unknown.is_empty() {
        true => Ok(()),
        false => Err(Error::UnknownPrice { models: unknown }),
    }
}

/// Opens the models in roles, and those that scorers name, whose files are relative to `folder`.
pub(crate) fn open_graders(
    models: &mut Models,
    scorers: &[AnyScorer],
    folder: &Path,
    options: &RunOptions,
    registry: &Registry,
    samples: &[NamedSample],
) -> Result<()> {
    let client = |model| ModelClient::new(model, GenerateConfig::default(), Arc::clone(&options.calls));
    let timeout = options.calls.request_timeout();
    let open = |choice: &ModelChoice, server: ServerOptions<'_>| {
        let model = server.open(choice, registry)?;
        model.check(samples)?;
        Ok::<_, Error>(model)
    };
    for (role, choice) in &options.roles {
        let server = ServerOptions {
            base_url: of_role(&options.role_base_urls, role).map(String::as_str),
            key_file: of_role(&options.role_key_files, role).map(PathBuf::as_path),
            ca_file: options.ca_file.as_deref(),
            timeout,
        };
        let in_role = |error| Error::Role { role: role.clone(), error: Box::new(error) };
        let model = open(choice, server).map_err(in_role)?;
        let clients: &mut Vec<ModelClient> = models.roles.entry(role.clone()).or_default();
        clients.push(client(model).in_role(role));
    }
    for scorer in scorers {
        for name in scorer.models() {
            let choice = ModelChoice::relative_to(folder, name.as_str());
            open_named(models, name, &choice, options, registry, samples).map_err(|error| {
                Error::other(format!("the scorer `{}`: {error}", scorer.spec().log_name()))
            })?;
        }
    }
    let base_urls = options.role_base_urls.iter().map(|(role, _)| (role, "base URL"));
    let key_files = options.role_key_files.iter().map(|(role, _)| (role, "key file"));
    let mut settings = base_urls.chain(key_files);
    match settings.find(|(role, _)| !models.roles.contains_key(*role)) {
        Some((role, setting)) => Err(Error::UnknownRole { role: role.clone(), setting }),
        None => Ok(()),
    }
}

/// Opens a model that a solver or a scorer names, unless it is open.
fn open_named(
    models: &mut Models,
    name: String,
    choice: &ModelChoice,
    options: &RunOptions,
    registry: &Registry,
    samples: &[NamedSample],
) -> Result<()> {
    if models.named.contains_key(&name) {
        return Ok(());
    }
    let (ca_file, timeout) = (options.ca_file.as_deref(), options.calls.request_timeout());
    let model = ServerOptions { base_url: None, key_file: None, ca_file, timeout }.open(choice, registry)?;
    model.check(samples)?;
    models.named.insert(name, ModelClient::new(model, GenerateConfig::default(), Arc::clone(&options.calls)));
    Ok(())
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
    ca_file: Option<&'a Path>,
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
                    ca_file: self.ca_file,
                    // Or a request that may take longer would be cut short by the one who makes it.
                    timeout: self.timeout.unwrap_or(own.timeout),
                    ..own
                };
                open_model(name, &open, registry)
            }
        }
    }
}

// The servers that a log names: a key is not sent to them only because the log names them.

/// A server that a log names, other than that of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedServer {
    /// The role of the model there; none for the one that is evaluated.
    pub role: Option<String>,
    /// The model.
    pub model: String,
    /// Where it is.
    pub base_url: String,
    /// Whether something stands behind a `?` in the address, which no log holds.
    pub has_query: bool,
}

/// A model that a run calls on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelServer {
    /// Where it is, without what may be secret.
    pub address: String,
    /// The model.
    pub model: String,
    /// The role of the model, if it has one.
    pub role: Option<String>,
}

/// The servers that a log names, other than those of the providers. One for each role: its models share it.
pub(super) fn recorded_servers(eval: &EvalInfo) -> Vec<RecordedServer> {
    let mut servers = Vec::new();
    if let Some(url) = eval.extra.get(BASE_URL).and_then(Json::as_str) {
        let has_query = eval.model_args.contains_key(QUERY);
        let (model, base_url) = (eval.model.clone(), url.to_owned());
        servers.push(RecordedServer { role: None, model, base_url, has_query });
    }
    for (role, model) in recorded_roles(eval) {
        let server = || {
            Some(RecordedServer {
                role: Some(role.clone()),
                model: model.get("model")?.as_str()?.to_owned(),
                base_url: model.get("base_url")?.as_str()?.to_owned(),
                has_query: model.get("args").is_some_and(|args| args.get(QUERY).is_some()),
            })
        };
        if servers.last().is_none_or(|last: &RecordedServer| last.role.as_ref() != Some(role)) {
            servers.extend(server());
        }
    }
    servers
}

/// The models that a log records in roles.
pub(super) fn recorded_roles(eval: &EvalInfo) -> impl Iterator<Item = (&String, &Json)> {
    let roles = eval.extra.get(ROLES).and_then(Json::as_object).into_iter().flatten();
    roles.flat_map(|(role, recorded)| {
        let models = recorded.as_array().map_or(std::slice::from_ref(recorded), Vec::as_slice);
        models.iter().map(move |model| (role, model))
    })
}

impl ResumableLog {
    /// The servers that the log names, other than those of the providers.
    pub fn servers(&self) -> Vec<RecordedServer> {
        recorded_servers(&self.eval)
    }

    /// The servers of the log that only the log names: the options do not, and a model that is opened without an
    /// address, as the environment and its provider have it, is not there. A run must not be resumed before its user has
    /// named them, because the key of the environment goes there.
    pub fn unnamed_servers(
        &self,
        task: &Task,
        options: &RunOptions,
        registry: &Registry,
    ) -> Vec<RecordedServer> {
        let is_named = |server: &RecordedServer| {
            let (is_given, choice) = match &server.role {
                None => (options.base_url.is_some(), options.model.as_ref().or(task.model.as_ref())),
                Some(role) => {
                    let is_this = |(of, _): &&(String, ModelChoice)| of == role;
                    let choice = options.roles.iter().find(is_this).map(|(_, choice)| choice);
                    (options.role_base_urls.iter().any(|(of, _)| of == role), choice)
                }
            };
            // A model that the caller has built is where the caller has it.
            let is_built = matches!(choice, Some(ModelChoice::Built(_)));
            is_given || is_built || is_there(server, registry)
        };
        recorded_servers(&self.eval).into_iter().filter(|server| !is_named(server)).collect()
    }
}

/// Whether a model is on this server if no address is given.
fn is_there(server: &RecordedServer, registry: &Registry) -> bool {
    let options = OpenOptions::new(std::path::Path::new(""));
    let opened = open_model(&server.model, &options, registry);
    opened.is_ok_and(|model| recorded_args(&model).1.as_deref() == Some(&server.base_url))
}

impl PreparedTask {
    /// The programs that scorers will run, as commands.
    pub fn programs(&self) -> Vec<String> {
        self.scorers.iter().flat_map(|(_, scorer)| scorer.programs()).collect()
    }

    /// The servers that will be called.
    pub fn servers(&self) -> Vec<ModelServer> {
        let requested = |client: &ModelClient| {
            let model = &client.model;
            let role = client.role.clone();
            Some(ModelServer { address: model.server()?, model: model.name().to_owned(), role })
        };
        self.models.iter().filter_map(requested).collect()
    }
}
