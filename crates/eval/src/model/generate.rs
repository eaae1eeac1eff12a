//! A model as a run calls it: with its configuration, its connections, its cache, and with retries.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use errorbar_core::chat::{CacheAccess, EventKind, SampleEvents, SpanKind, SpanNumber};
use errorbar_core::{Error, IndexMap, Metadata, Result};
use errorbar_log::eval::SampleLimit;

use super::calls::{CallFailures, FatalError};
use super::recorder::Recorder;
use super::{AnyModel, Calls, GenerateConfig, Prices, Request, Spending, UsageLimits};
use crate::{Message, ModelOutput, TaskState, Usage, lock};

/// A model as a run calls it.
#[derive(Clone, Debug)]
pub struct ModelClient {
    /// The model.
    pub model: AnyModel,
    /// How it generates.
    pub config: GenerateConfig,
    /// The same as logs have it: the same for all calls.
    pub(crate) logged_config: Arc<Metadata>,
    /// The role that it has, for the record.
    pub role: Option<String>,
    /// Its connections.
    pub calls: Arc<Calls>,
    /// Whether answers are cached, whatever the run does.
    pub(super) cache: Option<bool>,
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
    pub(crate) till: Arc<Mutex<Spending>>,
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

// Calling models for one sample in one epoch: what solvers and graders get.

/// Calls models for one sample in one epoch; what solvers get.
#[derive(Debug)]
pub struct Generate {
    models: Arc<Models>,
    /// The requests to each model, by name, as hashes.
    calls: Mutex<IndexMap<String, Vec<u64>>>,
    used: Mutex<SampleUsage>,
    /// Whether the answer is being judged: graders may continue where the model had to stop.
    is_scoring: AtomicBool,
    pub(crate) trouble: CallFailures,
    /// Records events, if a log is to have them.
    pub(crate) recorder: Option<Recorder>,
}

/// The tokens used for a sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleUsage {
    pub(crate) by_model: IndexMap<String, Usage>,
    pub(crate) by_role: IndexMap<String, Usage>,
    pub(crate) spent: Spending,
    /// The limit that solving the sample has passed.
    pub(crate) limit: Option<SampleLimit>,
}

impl SampleUsage {
    /// Adds what was used elsewhere.
    pub(crate) fn add(&mut self, other: &SampleUsage) {
        let both = [(&mut self.by_model, &other.by_model), (&mut self.by_role, &other.by_role)];
        for (own, other) in both {
            other.iter().for_each(|(name, usage)| own.entry(name.clone()).or_default().add(usage));
        }
    }
}

impl Generate {
    /// Calls this model.
    pub fn new(model: AnyModel) -> Self {
        let client = ModelClient::new(model, GenerateConfig::default(), Arc::new(Calls::default()));
        Generate::of(Arc::new(Models::only(client)))
    }

    /// Calls these models: one is evaluated, others may have roles or be named by scorers.
    pub fn of(models: Arc<Models>) -> Self {
        let trouble = CallFailures::of_run(&models.refusal);
        Generate {
            models,
            calls: Mutex::default(),
            used: Mutex::default(),
            is_scoring: AtomicBool::new(false),
            trouble,
            recorder: None,
        }
    }

    /// Requests the next message of the conversation and adds it.
    pub async fn run(&self, state: &mut TaskState) -> Result<()> {
        let output = self.ask(state, &state.messages).await?;
        state.answer(output);
        Ok(())
    }

    /// The same with other settings than those of the run, where they are set; `cache` decides whether the answer is
    /// cached.
    pub async fn run_with(
        &self,
        state: &mut TaskState,
        config: &GenerateConfig,
        cache: Option<bool>,
    ) -> Result<()> {
        if cache.is_none() && *config == GenerateConfig::default() {
            return self.run(state).await;
        }
        let client = self.models.evaluated.with_settings(config, cache);
        let output = self.ask_of(&client, state, &state.messages).await?;
        state.answer(output);
        Ok(())
    }

    /// Sends other messages than the conversation so far, which stays as it is.
    pub async fn ask(&self, state: &TaskState, messages: &[Message]) -> Result<ModelOutput> {
        self.ask_of(&self.models.evaluated, state, messages).await
    }

    /// Calls one of the run's models.
    pub async fn ask_of(
        &self,
        client: &ModelClient,
        state: &TaskState,
        messages: &[Message],
    ) -> Result<ModelOutput> {
        self.refuse_beyond(UsageLimits::reached)?;
        let (call, repeat) = self.count_call(client.model.name(), messages);
        let (sample_id, epoch, config) = (&state.sample_id, state.epoch, &client.config);
        let messages = &*client.conversation(messages);
        let request = Request { sample_id, epoch, call, repeat, messages, config };
        let mut record = self.recorder.as_ref().map(|recorder| recorder.call(client, messages));
        let answer = match client.calls.answer(client, request, &self.trouble, record.as_mut()).await {
            Ok(answer) => answer,
            Err(error) => {
                if let Some(record) = record {
                    record.gave_up();
                }
                return Err(error.into());
            }
        };
        let mut output = answer.output;
        // An answer that was there already has cost nothing.
        let is_cached = answer.cache == Some(CacheAccess::Read);
        if let Some(usage) = output.usage.as_mut().filter(|_| !is_cached) {
            let name = client.model.name();
            if let Some(price) = self.models.prices.of(name) {
                usage.total_cost = Some(price.of(usage));
            }
            lock(&self.models.till).add(usage);
            let mut used = lock(&self.used);
            used.spent.add(usage);
            used.by_model.entry(name.to_owned()).or_default().add(usage);
            if let Some(role) = &client.role {
                used.by_role.entry(role.clone()).or_default().add(usage);
            }
        }
        if let Some(record) = record {
            record.answered(&output, answer.cache);
        }
        self.refuse_beyond(UsageLimits::passed)?;
        Ok(output)
    }

    /// How often the model was called before, and how often with this same request. Scripts and recorded outputs go by
    /// the former, whichever other models are called in between.
    fn count_call(&self, model: &str, messages: &[Message]) -> (u32, u32) {
        let mut hasher = DefaultHasher::new();
        messages.iter().for_each(|message| (message.role, &message.content).hash(&mut hasher));
        let mut calls = lock(&self.calls);
        let asked = calls.entry(model.to_owned()).or_default();
        let before = asked.len() as u32;
        asked.push(hasher.finish());
        let same = asked.iter().filter(|hash| **hash == hasher.finish()).count() as u32;
        (before, same - 1)
    }

    /// Refuses to continue when a limit is reached; the answer that passed it is not used either.
    fn refuse_beyond(&self, met: fn(&UsageLimits, &Spending) -> Option<SampleLimit>) -> Result<()> {
        if self.is_scoring.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut used = lock(&self.used);
        match met(&self.models.limits, &used.spent) {
            None => Ok(()),
            Some(limit) => {
                let error = Error::custom(limit.reason.clone().unwrap_or_default());
                used.limit = Some(limit);
                Err(error)
            }
        }
    }

    /// Begins a step, for the record.
    pub(crate) fn begin_span(&self, kind: SpanKind, name: impl Into<Arc<str>>) -> Option<SpanNumber> {
        Some(self.recorder.as_ref()?.begin_span(kind, name.into()))
    }

    /// Ends a step.
    pub(crate) fn end_span(&self, span: Option<SpanNumber>) {
        if let (Some(recorder), Some(span)) = (&self.recorder, span) {
            recorder.end_span(span);
        }
    }

    /// Records an event, if events are recorded.
    pub(crate) fn record(&self, event: impl FnOnce() -> EventKind) {
        if let Some(recorder) = &self.recorder {
            recorder.record(event());
        }
    }

    /// What was recorded, and the time of it that was spent waiting.
    pub(crate) fn take_events(&self) -> Option<(SampleEvents, Duration)> {
        let recorder = self.recorder.as_ref()?;
        Some((recorder.take(), recorder.waited()))
    }

    /// From here on answers are judged, which no limit ends.
    pub(crate) fn start_scoring(&self) {
        self.is_scoring.store(true, Ordering::Relaxed);
    }

    /// The models that grade: those that are named; else those that have the role; else the one that is evaluated.
    ///
    /// # Errors
    /// A named model that the run did not open, which [`Scorer::models`](crate::Scorer::models) requests.
    pub fn graders(&self, named: &[String], role: Option<&str>) -> Result<Vec<&ModelClient>> {
        if named.is_empty() {
            return Ok(match role.and_then(|role| self.models.roles.get(role)) {
                Some(clients) => clients.iter().collect(),
                None => vec![&self.models.evaluated],
            });
        }
        named.iter().map(|name| self.named(name)).collect()
    }

    /// A model that a solver or a scorer names.
    ///
    /// # Errors
    /// One that the run did not open, which [`Solver::models`](crate::Solver::models) requests.
    pub fn named(&self, name: &str) -> Result<&ModelClient> {
        self.models.named.get(name).ok_or_else(|| {
            Error::custom(format!("the model `{name}` is not among those that the run has opened"))
        })
    }

    /// The tokens used so far, by model.
    pub fn usage(&self) -> IndexMap<String, Usage> {
        self.used().by_model
    }

    pub(crate) fn used(&self) -> SampleUsage {
        lock(&self.used).clone()
    }
}
