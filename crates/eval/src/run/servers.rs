//! The servers that a log names: a key is not sent to them only because the log names them.

use errorbar_core::Registry;
use errorbar_log::eval::EvalInfo;
use serde_json::Value as Json;

use super::options::RunOptions;
use super::prepare::PreparedTask;
use super::record::{BASE_URL, recorded_args};
use super::resume::ResumableLog;
use crate::model::ROLES;
use crate::model::{OpenOptions, QUERY, open_model};
use crate::{ModelChoice, ModelClient, Task};

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
        recorded_servers(self.eval())
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
        recorded_servers(self.eval()).into_iter().filter(|server| !is_named(server)).collect()
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
            let model = client.model();
            let role = client.role().map(str::to_owned);
            Some(ModelServer { address: model.server()?, model: model.name().to_owned(), role })
        };
        self.models.iter().filter_map(requested).collect()
    }
}
