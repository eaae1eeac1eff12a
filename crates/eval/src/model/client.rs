//! A model as a run calls it: with its configuration, its connections, its cache, and with retries.

use std::sync::{Arc, OnceLock};

use errorbar_core::IndexMap;
use tokio::time::Instant;

use super::calls::{Answer, CallFailures, FatalError};
use super::limits::SharedSpending;
use super::{AnyModel, Calls, GenerateConfig, ModelError, Prices, Request, UsageLimits};
use crate::Message;

/// A model as a run calls it.
#[derive(Clone, Debug)]
pub struct ModelClient {
    model: AnyModel,
    config: GenerateConfig,
    role: Option<String>,
    calls: Arc<Calls>,
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
        ModelClient { model, config, role: None, calls }
    }

    /// The same in a role.
    #[must_use]
    pub fn in_role(mut self, role: impl Into<String>) -> Self {
        self.role = Some(role.into());
        self
    }

    /// The model.
    pub fn model(&self) -> &AnyModel {
        &self.model
    }

    /// How it generates.
    pub fn config(&self) -> &GenerateConfig {
        &self.config
    }

    /// How it is called.
    pub fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// The role that it has, if it has one.
    pub fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    /// Calls the model, with retries.
    pub(super) async fn ask(
        &self,
        request: Request<'_>,
        trouble: &CallFailures,
    ) -> Result<Answer, ModelError> {
        let with_system: Vec<Message>;
        let messages = match &self.config.system_message {
            Some(text) => {
                with_system = std::iter::once(Message::system(text.as_str()))
                    .chain(request.messages.iter().cloned())
                    .collect();
                &with_system
            }
            None => request.messages,
        };
        let request = Request { messages, config: &self.config, ..request };
        let started = Instant::now();
        let mut answer = self.calls.answer(&self.model, request, trouble).await?;
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
