//! A model as a run calls it: with its configuration, its connections, its cache, and with retries.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use errorbar_core::{IndexMap, Metadata};
use tokio::time::Instant;

use super::calls::{Answer, CallFailures, FatalError};
use super::limits::SharedSpending;
use super::{AnyModel, Calls, GenerateConfig, ModelError, Prices, Request, UsageLimits};
use crate::Message;
use crate::recorder::CallRecorder;

/// A model as a run calls it.
#[derive(Clone, Debug)]
pub struct ModelClient {
    model: AnyModel,
    config: GenerateConfig,
    /// The same as logs record it.
    logged_config: Arc<Metadata>,
    role: Option<String>,
    calls: Arc<Calls>,
    /// Whether answers are cached, where that is not up to the run.
    cache: Option<bool>,
}

/// All models that a run calls.
#[derive(Clone, Debug)]
pub struct Models {
    /// The one that is evaluated.
    pub evaluated: ModelClient,
    /// Those that have a role, such as `grader`; several are a panel.
    pub roles: IndexMap<String, Vec<ModelClient>>,
    /// Those that scorers name themselves.
    pub named: IndexMap<String, ModelClient>,
    /// What they cost.
    pub prices: Prices,
    /// How much one sample may take.
    pub limits: UsageLimits,
    pub(crate) till: Arc<SharedSpending>,
    /// What ends the run, once it is known.
    pub(super) refusal: Arc<OnceLock<FatalError>>,
}

impl ModelClient {
    /// A model with its configuration.
    pub fn new(model: AnyModel, config: GenerateConfig, calls: Arc<Calls>) -> Self {
        let logged_config = Arc::new(config.to_log());
        ModelClient { model, config, logged_config, role: None, calls, cache: None }
    }

    /// The same in a role.
    #[must_use]
    pub fn in_role(mut self, role: impl Into<String>) -> Self {
        self.role = Some(role.into());
        self
    }

    /// The same with other settings, where they are set.
    #[must_use]
    pub(super) fn with_settings(&self, config: &GenerateConfig, cache: Option<bool>) -> Self {
        let config = config.clone().or(&self.config);
        let logged_config = Arc::new(config.to_log());
        ModelClient { config, logged_config, cache: cache.or(self.cache), ..self.clone() }
    }

    /// The model.
    pub fn model(&self) -> &AnyModel {
        &self.model
    }

    /// How it generates.
    pub fn config(&self) -> &GenerateConfig {
        &self.config
    }

    /// How it generates, as logs record it.
    pub(crate) fn logged_config(&self) -> &Arc<Metadata> {
        &self.logged_config
    }

    /// How it is called.
    pub fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// The role that it has, if it has one.
    pub fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    /// The messages as they are sent: behind the system message of the configuration, if it has one.
    pub(super) fn conversation<'a>(&self, messages: &'a [Message]) -> Cow<'a, [Message]> {
        match &self.config.system_message {
            Some(text) => {
                let system = std::iter::once(Message::system(text.as_str()));
                system.chain(messages.iter().cloned()).collect()
            }
            None => Cow::Borrowed(messages),
        }
    }

    /// Calls the model, with retries.
    pub(super) async fn ask(
        &self,
        request: Request<'_>,
        trouble: &CallFailures,
        record: Option<&mut CallRecorder<'_>>,
    ) -> Result<Answer, ModelError> {
        let started = Instant::now();
        let mut answer = self.calls.answer(&self.model, request, self.cache, trouble, record).await?;
        answer.output.time.get_or_insert_with(|| started.elapsed().as_secs_f64());
        Ok(answer)
    }
}

impl Models {
    /// Nothing but the model that is evaluated.
    pub fn only(evaluated: ModelClient) -> Self {
        Models {
            evaluated,
            roles: IndexMap::new(),
            named: IndexMap::new(),
            prices: Prices::default(),
            limits: UsageLimits::default(),
            till: Arc::default(),
            refusal: Arc::default(),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &ModelClient> {
        std::iter::once(&self.evaluated).chain(self.roles.values().flatten()).chain(self.named.values())
    }
}
