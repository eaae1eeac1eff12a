//! Models: whatever answers messages, behind one trait.

mod cache;
mod calls;
mod config;
mod connections;
mod error;
#[cfg(feature = "providers")]
mod genai;
mod generate;
mod http;
mod openai;
mod recorder;
mod replay;
mod state;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use errorbar_core::registry::{Entry, EntryKind};
use errorbar_core::spec::nearest;
use errorbar_core::{Metadata, Registry, Result, Spec};

use crate::macros::shared_object;
use crate::{BoxFuture, Message, ModelOutput, NamedSample, SampleId, Usage};

pub use cache::{Cache, CacheKey, CacheRemoval, CachedAnswer, ModelAnswers};
pub(crate) use calls::FatalError;
pub use calls::RetryPolicy;
pub use calls::{CallCounts, Calls, MAX_CONNECTIONS};
pub use config::GenerateConfig;
pub use config::{Price, Prices, UsageLimits, shown_cost};
pub(crate) use config::{Spending, time_limit};
pub use error::{ModelError, ModelErrorKind};
pub use generate::Generate;
pub(crate) use generate::SampleUsage;
pub use generate::{ModelClient, Models};
pub use http::{allow_connections, max_open_files};
pub(crate) use openai::QUERY;
pub(crate) use recorder::Recorder;
pub use replay::Replay;
pub use replay::{FnModel, Mock, model_fn};
pub(crate) use state::unseen;
pub use state::{Choice, TaskState};

/// Where logs record the models in roles.
pub(crate) const ROLES: &str = "model_roles";

/// A request to a model.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The sample that it is about.
    pub sample_id: &'a SampleId,
    /// The epoch, from 1 on.
    pub epoch: u32,
    /// How many times the model was called for this sample in this epoch before.
    pub call: u32,
    /// How many times this same request was made about this sample in this epoch before: each wants another answer.
    pub repeat: u32,
    /// The conversation, a system message of the configuration included.
    pub messages: &'a [Message],
    /// How to generate.
    pub config: &'a GenerateConfig,
}

/// Whatever answers messages.
pub trait Model: fmt::Debug + Send + Sync {
    /// Its name as logs record it: `provider/model`.
    fn name(&self) -> &str;

    /// What else distinguishes it from another model of the same name, for the record; never a secret.
    fn args(&self) -> Metadata {
        Metadata::new()
    }

    /// Where its server is, if it is on one; without what may be secret.
    fn server(&self) -> Option<String> {
        None
    }

    /// What else its answers depend on, that may hold a secret and is shown nowhere.
    fn hidden_args(&self) -> &str {
        ""
    }

    /// Answers, once: the caller decides about retries.
    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>>;

    /// Whether its answer depends on nothing but the request, so that it can be cached. Not so if it looks at the
    /// sample or counts the calls.
    fn is_cacheable(&self) -> bool {
        false
    }

    /// Refuses a configuration that it cannot follow, before anything runs.
    fn check_config(&self, _config: &GenerateConfig) -> Result<()> {
        Ok(())
    }

    /// Whether it could have given this answer about a sample: not so if its answers are recorded, and have been changed
    /// since.
    fn could_have_answered(&self, _id: &SampleId, _epoch: u32, _answer: &str) -> bool {
        true
    }

    /// Refuses a dataset that it has no answers for, before anything runs.
    fn check(&self, _samples: &[NamedSample]) -> Result<()> {
        Ok(())
    }
}

/// Any model, shared.
#[derive(Clone)]
pub struct AnyModel(Arc<dyn Model>);

shared_object!(AnyModel, Model);

/// Opens models of one provider: `replay` opens the model `replay/FILE`.
///
/// ```
/// use errorbar_eval::{Provider, built_in_registry, model_fn};
/// let mut registry = built_in_registry();
/// let provider = Provider::local(|name, _options| {
///     let answer = name.to_uppercase();
///     Ok(model_fn(format!("loud/{name}"), move |_| std::future::ready(Ok(answer.clone()))).into())
/// });
/// provider.register("loud", "Says its name, in capitals.", &mut registry)?;
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Provider {
    open: Arc<OpenModel>,
    /// Whether its models are on a server, so that opening one needs more than its name.
    pub(crate) is_remote: bool,
}

/// Opens a model by the part of its name after the slash.
pub type OpenModel = dyn Fn(&str, &OpenOptions<'_>) -> crate::Result<AnyModel> + Send + Sync;

impl Provider {
    /// A provider of models that need nothing but their name and files beside the task.
    pub fn local(
        open: impl Fn(&str, &OpenOptions<'_>) -> crate::Result<AnyModel> + Send + Sync + 'static,
    ) -> Self {
        Provider { open: Arc::new(open), is_remote: false }
    }

    /// A provider of models on a server: they are opened when the options of the run are known.
    pub fn remote(
        open: impl Fn(&str, &OpenOptions<'_>) -> crate::Result<AnyModel> + Send + Sync + 'static,
    ) -> Self {
        Provider { is_remote: true, ..Provider::local(open) }
    }

    /// Adds it to a registry.
    ///
    /// # Errors
    /// A name that is taken.
    pub fn register(self, name: &str, doc: &str, registry: &mut Registry) -> Result<()> {
        registry.add_object(Spec::new(name), doc, self)
    }
}

/// The entry of a provider that errorbar brings.
macro_rules! provider {
    ($name:literal, $doc:expr, $provider:expr) => {
        ProviderEntry {
            name: $name,
            doc: $doc,
            sections: errorbar_core::DocSections::NONE,
            params: Vec::new,
            build: |_| Ok($provider),
            replaces: false,
            in_reference: false,
        }
    };
}
use provider;

/// How a model is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions<'a> {
    /// The folder that files are relative to.
    pub folder: &'a Path,
    /// Where the server is, if it is not where the provider has it.
    pub base_url: Option<&'a str>,
    /// A file that holds the key, if it is not in the environment; relative to the current folder, as a command line has it.
    pub api_key_file: Option<&'a Path>,
    /// A file with certificates to trust beside those of the system; relative to the current folder.
    pub ca_file: Option<&'a Path>,
    /// How long one request may take.
    pub timeout: Duration,
}

impl<'a> OpenOptions<'a> {
    /// Files are relative to this folder, and the rest is as the provider has it.
    pub fn new(folder: &'a Path) -> Self {
        OpenOptions { folder, base_url: None, api_key_file: None, ca_file: None, timeout: REQUEST_TIMEOUT }
    }
}

/// The key of an output's metadata that has a usage which could not be read, as the server reported it.
pub(crate) const UNREADABLE_USAGE: &str = "unreadable_usage";

/// How long one request may take by default.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);

/// An entry for a provider of models.
pub type ProviderEntry = Entry<Provider>;

impl EntryKind for Provider {
    const KIND: &'static str = "model provider";
}

/// The providers that errorbar brings.
pub(crate) const PROVIDERS: &[ProviderEntry] = &[replay::PROVIDER, replay::MOCK, openai::PROVIDER];

/// Those that errorbar brings if it is built with the feature `providers`.
#[cfg(feature = "providers")]
pub(crate) use genai::PROVIDERS as MORE_PROVIDERS;
#[cfg(not(feature = "providers"))]
pub(crate) const MORE_PROVIDERS: &[ProviderEntry] = &[];

/// Usage with its input tokens and its total. As logs count, what went through the provider's cache is not input.
fn with_prompt(mut usage: Usage, prompt: u64, total: Option<u64>) -> Usage {
    let cached = [usage.input_tokens_cache_read, usage.input_tokens_cache_write].into_iter().flatten();
    usage.input_tokens = cached.fold(prompt, u64::saturating_sub);
    // A total of 0 beside counts is none.
    let total = total.filter(|total| *total > 0);
    usage.total_tokens = total.unwrap_or_else(|| prompt.saturating_add(usage.output_tokens));
    usage
}

/// A name without a model behind its provider.
fn no_model_name(provider: &str) -> crate::Error {
    crate::Error::other(format!(
        "`{provider}/` names no model; it is written {provider}/NAME, as the server knows it"
    ))
}

/// Opens `provider/model`.
///
/// # Errors
/// No slash, an unknown provider, or whatever the provider refuses.
pub fn open_model(name: &str, options: &OpenOptions<'_>, registry: &Registry) -> crate::Result<AnyModel> {
    let providers = || registry.list::<Provider>().map(|listing| listing.name.as_str());
    let known = || providers().collect::<Vec<_>>().join(", ");
    let Some((provider, model)) = name.split_once('/') else {
        return Err(crate::Error::other(format!(
            "a model is written provider/model, found `{name}`; providers: {}",
            known()
        )));
    };
    let Ok(Provider { open, .. }) = registry.build(&Spec::new(provider)) else {
        let near = nearest(provider, providers()).map(|near| format!("did you mean `{near}`?"));
        let advice = near.unwrap_or_else(|| format!("providers: {}", known()));
        return Err(crate::Error::other(format!(
            "unknown model provider `{provider}` in `{name}`; {advice}"
        )));
    };
    open(model, options)
}
