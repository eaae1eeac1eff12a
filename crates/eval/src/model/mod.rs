//! Models: whatever answers messages, behind one trait.

mod mock;
mod replay;

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use errorbar_core::registry::{Entry, Named};
use errorbar_core::spec::nearest;
use errorbar_core::{Error, IndexMap, Metadata, Registry, Result, Spec};

use crate::{BoxFuture, Message, ModelOutput, NamedSample, SampleId, TaskState, Usage};

pub use mock::{FnModel, Mock, model_fn};
pub use replay::Replay;

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The sample that it is about.
    pub sample_id: &'a SampleId,
    /// The epoch, from 1 on.
    pub epoch: u32,
    /// How many times the model was asked about this sample in this epoch before.
    pub call: u32,
    /// The conversation.
    pub messages: &'a [Message],
}

/// Whatever answers messages.
pub trait Model: fmt::Debug + Send + Sync {
    /// Its name as logs record it: `provider/model`.
    fn name(&self) -> &str;

    /// What else tells it from another model of the same name, for the record; never a secret.
    fn args(&self) -> Metadata {
        Metadata::new()
    }

    /// Answers.
    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput>>;

    /// Refuses a dataset that it has nothing to say to, before anything runs.
    fn check(&self, _samples: &[NamedSample]) -> Result<()> {
        Ok(())
    }
}

/// Any model, shared.
#[derive(Clone)]
pub struct AnyModel(Arc<dyn Model>);

impl fmt::Debug for AnyModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Deref for AnyModel {
    type Target = dyn Model;
    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

impl<M: Model + 'static> From<M> for AnyModel {
    fn from(model: M) -> Self {
        AnyModel(Arc::new(model))
    }
}

/// Opens models of one provider: `replay` opens the model `replay/FILE`.
#[derive(Clone, Copy)]
pub struct Provider(pub OpenModel);

/// Opens a model by what stands behind the slash; files are relative to the folder given.
pub type OpenModel = fn(&str, &Path) -> Result<AnyModel>;

/// An entry for a provider of models.
pub type ProviderEntry = Entry<Provider>;

impl Named for Provider {
    const KIND: &'static str = "model provider";
}

/// The providers that errorbar brings.
pub(crate) const PROVIDERS: &[ProviderEntry] = &[replay::PROVIDER, mock::PROVIDER];

/// Opens `provider/model`; files it names are relative to `folder`.
///
/// # Errors
/// No slash, an unknown provider, or whatever the provider refuses.
pub fn open_model(name: &str, folder: &Path, registry: &Registry) -> Result<AnyModel> {
    let providers = || registry.list::<Provider>().map(|listing| listing.name.as_str());
    let known = || providers().collect::<Vec<_>>().join(", ");
    let Some((provider, model)) = name.split_once('/') else {
        return Err(Error::custom(format!(
            "a model is written provider/model, found `{name}`; providers: {}",
            known()
        )));
    };
    let built = registry.build::<Provider>(&Spec::new(provider));
    let Ok(Provider(open)) = built else {
        let nearest = nearest(provider, providers()).map(|near| format!("; did you mean `{near}`?"));
        let advice = nearest.unwrap_or_else(|| format!("; providers: {}", known()));
        return Err(Error::custom(format!("unknown model provider `{provider}` in `{name}`{advice}")));
    };
    open(model, folder)
}

/// Asks the model about one sample in one epoch; what solvers get.
#[derive(Debug)]
pub struct Generate {
    model: AnyModel,
    calls: AtomicU32,
    usage: Mutex<IndexMap<String, Usage>>,
}

impl Generate {
    /// Asks this model.
    pub fn new(model: AnyModel) -> Self {
        Generate { model, calls: AtomicU32::new(0), usage: Mutex::default() }
    }

    /// Asks for the next message of the conversation and adds it.
    pub async fn run(&self, state: &mut TaskState) -> Result<()> {
        let output = self.ask(state, &state.messages).await?;
        if let Some(choice) = output.choices.first() {
            state.messages.push(choice.message.clone());
        }
        state.output = output;
        Ok(())
    }

    /// Asks about something else than the conversation so far, which stays as it is.
    pub async fn ask(&self, state: &TaskState, messages: &[Message]) -> Result<ModelOutput> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let request = Request { sample_id: &state.sample_id, epoch: state.epoch, call, messages };
        let started = Instant::now();
        let mut output = self.model.generate(request).await?;
        output.time.get_or_insert_with(|| started.elapsed().as_secs_f64());
        if let Some(usage) = &output.usage {
            let mut all = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(self.model.name().to_owned()).or_default().add(usage);
        }
        Ok(output)
    }

    /// The tokens used so far, by model.
    pub fn usage(&self) -> IndexMap<String, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
