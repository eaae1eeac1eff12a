//! Opening the models of a run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
        let folder = self.origin.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let opener = ModelOpener { options, registry, samples, folder };
        let model = opener.open(choice, options.base_url.as_deref(), options.api_key_file.as_deref())?;
        let generate = self.generate_config(options);
        model.check_config(&generate)?;
        for config in self.solver.configs() {
            model.check_config(&config.or(&generate))?;
        }
        let mut models = Models::only(ModelClient::new(model, generate, Arc::clone(&options.calls)));
        opener.graders(&mut models, &self.scorers)?;
        self.solver.models().into_iter().try_for_each(|name| opener.named(&mut models, name))?;
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

/// Opens the models of a run.
pub(crate) struct ModelOpener<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) registry: &'a Registry,
    /// The samples that they must be able to answer.
    pub(crate) samples: &'a [NamedSample],
    /// What the files of models are relative to that scorers and solvers name.
    pub(crate) folder: &'a Path,
}

impl ModelOpener<'_> {
    fn open(
        &self,
        choice: &ModelChoice,
        base_url: Option<&str>,
        api_key_file: Option<&Path>,
    ) -> Result<AnyModel> {
        let model = match choice {
            ModelChoice::Built(model) => model.clone(),
            ModelChoice::Named { name, folder } => {
                let own = OpenOptions::new(folder);
                let ca_file = self.options.ca_file.as_deref();
                // Or a request that may take longer would be cut short by the one who makes it.
                let timeout = self.options.calls.timeout.unwrap_or(own.timeout);
                let open = OpenOptions { base_url, api_key_file, ca_file, timeout, ..own };
                open_model(name, &open, self.registry)?
            }
        };
        model.check(self.samples)?;
        Ok(model)
    }

    fn client(&self, model: AnyModel) -> ModelClient {
        ModelClient::new(model, GenerateConfig::default(), Arc::clone(&self.options.calls))
    }

    /// Opens a model that a solver or a scorer names, unless it is open.
    fn named(&self, models: &mut Models, name: String) -> Result<()> {
        if !models.named.contains_key(&name) {
            let choice = ModelChoice::relative_to(self.folder, name.as_str());
            models.named.insert(name, self.client(self.open(&choice, None, None)?));
        }
        Ok(())
    }

    /// Opens the models in roles, and those that scorers name.
    pub(crate) fn graders(&self, models: &mut Models, scorers: &[AnyScorer]) -> Result<()> {
        let RunOptions { roles, role_base_urls, role_key_files, .. } = self.options;
        for (role, choice) in roles {
            let base_url = of_role(role_base_urls, role).map(String::as_str);
            let key_file = of_role(role_key_files, role).map(PathBuf::as_path);
            let in_role = |error| Error::Role { role: role.clone(), error: Box::new(error) };
            let model = self.open(choice, base_url, key_file).map_err(in_role)?;
            let clients: &mut Vec<ModelClient> = models.roles.entry(role.clone()).or_default();
            clients.push(self.client(model).in_role(role));
        }
        for scorer in scorers {
            for name in scorer.models() {
                self.named(models, name).map_err(|error| {
                    Error::other(format!("the scorer `{}`: {error}", scorer.spec().log_name()))
                })?;
            }
        }
        let base_urls = role_base_urls.iter().map(|(role, _)| (role, "base URL"));
        let key_files = role_key_files.iter().map(|(role, _)| (role, "key file"));
        let mut settings = base_urls.chain(key_files);
        match settings.find(|(role, _)| !models.roles.contains_key(*role)) {
            Some((role, setting)) => Err(Error::UnknownRole { role: role.clone(), setting }),
            None => Ok(()),
        }
    }
}

/// The setting for a role.
fn of_role<'a, T>(by_role: &'a [(String, T)], role: &str) -> Option<&'a T> {
    by_role.iter().find(|(of, _)| of == role).map(|(_, value)| value)
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
    let evaluated = eval.extra.get(BASE_URL).and_then(Json::as_str).map(|url| RecordedServer {
        role: None,
        model: eval.model.clone(),
        base_url: url.to_owned(),
        has_query: eval.model_args.contains_key(QUERY),
    });
    let in_role = |(role, model): (&String, &Json)| {
        Some(RecordedServer {
            role: Some(role.clone()),
            model: model.get("model")?.as_str()?.to_owned(),
            base_url: model.get("base_url")?.as_str()?.to_owned(),
            has_query: model.get("args").is_some_and(|args| args.get(QUERY).is_some()),
        })
    };
    let in_roles = recorded_roles(eval).filter_map(in_role);
    let mut servers: Vec<RecordedServer> = evaluated.into_iter().chain(in_roles).collect();
    servers.dedup_by(|next, server| next.role == server.role);
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
