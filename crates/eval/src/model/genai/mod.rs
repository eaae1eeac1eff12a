//! Models of other providers than OpenAI, through the crate `genai`, which knows the API of each.
//!
//! Ours stays what must be the same for all: the key is the one of the variable that `genai` names, or that of a file;
//! nothing is retried; errors are the same as those of `openai/NAME`. Where a provider speaks chat completions, the
//! answer is read as one of ours, with all its choices and probabilities.
//!
//! What `genai` does of itself: it reads answers whole, however long they are, so that a server that does not stop is
//! stopped by the timeout alone; it sends a largest `max_tokens` to Anthropic and Fireworks if none is set; and it
//! takes a name of Anthropic, Google or DeepSeek that ends in an effort, as in `NAME-high`, for a model and that effort.

mod answer;
mod provider;
mod request;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;

use errorbar_core::Metadata;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};

use super::failure::RequestContext;
use super::http::{Address, ApiKey, BaseUrl, shared_client};
use super::{Model, ModelError, OpenOptions, Request};
use crate::{BaseUrlProblem, BoxFuture, Error, GenerateConfig, ModelOutput, Result};

pub(super) use provider::PROVIDERS;
use provider::ProviderProtocol;

/// A model of one of the providers.
struct GenaiModel {
    speaks: &'static ProviderProtocol,
    /// `provider/NAME`.
    name: String,
    /// As the server knows it.
    model: String,
    /// Where the server is if it is not the provider's own, for the record.
    base_url: Option<String>,
    /// The same as `genai` wants it, with a slash at the end.
    endpoint: Endpoint,
    address: Address,
    client: Client,
}

/// Only what is known to hold no key.
impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("name", &self.name)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl GenaiModel {
    /// Opens a model, with the key that the environment has if the options name none.
    fn open(
        speaks: &'static ProviderProtocol,
        model: &str,
        options: &OpenOptions<'_>,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self> {
        let name = format!("{}/{model}", speaks.name);
        if model.trim().is_empty() {
            return Err(Error::EmptyModelName { provider: speaks.name.to_owned() });
        }
        if model.contains("::") {
            return Err(Error::NamespacedModel { name, provider: speaks.name.to_owned() });
        }
        let base = match options.base_url {
            Some(text) => BaseUrl::parse(text, None)?,
            None => BaseUrl::parse(speaks.base_url, None)?,
        };
        let endpoint = base.without_query().ok_or_else(|| Error::BaseUrl {
            url: Some(base.shown()),
            variable: None,
            problem: BaseUrlProblem::Query { provider: speaks.name.to_owned() },
        })?;
        let key = match (speaks.key_variable(), options.api_key_file) {
            (Some(variable), file) => {
                ApiKey::find(&name, variable, file, options.base_url.is_some(), environment)?
            }
            (None, Some(_)) => return Err(Error::UnwantedKey { model: name }),
            (None, None) => None,
        };
        let client = Client::builder().with_reqwest(shared_client(&base)?).build();
        let path = speaks.path(model);
        Ok(GenaiModel {
            speaks,
            name,
            model: model.to_owned(),
            base_url: options.base_url.map(|_| base.shown()),
            endpoint: Endpoint::from_owned(endpoint),
            address: Address::new(&base, &path.split('/').collect::<Vec<_>>(), key, options.timeout),
            client: client.map_err(|error| {
                errorbar_core::Error::custom(format!("connections to servers cannot be set up: {error}"))
            })?,
        })
    }

    fn context(&self) -> RequestContext<'_> {
        let key_variable = self.speaks.key_variable().unwrap_or("no variable");
        RequestContext { address: &self.address, model: &self.model, key_variable }
    }
}

impl Model for GenaiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn args(&self) -> Metadata {
        let base_url = self.base_url.as_deref();
        Metadata::from_iter(base_url.map(|url| ("base_url".to_owned(), url.into())))
    }

    fn server(&self) -> Option<String> {
        let own = || self.speaks.base_url.trim_end_matches('/').to_owned();
        Some(self.base_url.clone().unwrap_or_else(own))
    }

    fn is_cacheable(&self) -> bool {
        true
    }

    fn check_config(&self, config: &GenerateConfig) -> errorbar_core::Result<()> {
        request::refuse(self.speaks, &self.name, config)
    }

    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            self.check_config(request.config)?;
            let conversation = request::conversation(request.messages, &self.name)?;
            let options = request::options(self.speaks, &self.model, request.config);
            // Where no key is wanted, none is sent.
            let key = self.address.key().map(ApiKey::reveal).unwrap_or_default();
            let target = ServiceTarget {
                endpoint: self.endpoint.clone(),
                auth: AuthData::from_single(key),
                model: ModelIden::new(self.speaks.kind, self.model.as_str()),
            };
            let answered = self.client.exec_chat(target, conversation, Some(&options));
            match tokio::time::timeout(self.address.timeout(), answered).await {
                Err(_) => Err(self.address.timed_out()),
                Ok(Err(error)) => Err(answer::failure(error, &self.context())),
                Ok(Ok(response)) => answer::read(response, self.speaks, &self.context()),
            }
        })
    }
}
