//! The providers, and what is to be known of each.

use std::ffi::OsString;
use std::path::Path;

use errorbar_core::{Error, Result};
use genai::adapter::AdapterKind;

use super::GenaiModel;
use crate::model::http::ApiKey;
use crate::model::mock::NO_PARAMS;
use crate::model::{AnyModel, OpenModel, Provider, ProviderEntry};

/// How a provider is spoken to.
#[derive(Debug)]
pub(super) struct ProviderProtocol {
    pub(super) name: &'static str,
    pub(super) kind: AdapterKind,
    /// Where it is; `genai` knows it too, and a test compares.
    pub(super) base_url: &'static str,
}

/// The language of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiDialect {
    /// Chat completions, as OpenAI has them.
    Chat,
    Anthropic,
    Google,
    Cohere,
    Ollama,
}

impl ProviderProtocol {
    /// The language.
    pub(super) fn language(&self) -> ApiDialect {
        match self.kind {
            AdapterKind::Anthropic | AdapterKind::MiniMax => ApiDialect::Anthropic,
            AdapterKind::Gemini => ApiDialect::Google,
            AdapterKind::Cohere => ApiDialect::Cohere,
            AdapterKind::Ollama => ApiDialect::Ollama,
            _ => ApiDialect::Chat,
        }
    }

    /// What requests are sent to, beneath the base URL; for messages alone, as `genai` builds it itself.
    pub(super) fn path(&self, model: &str) -> String {
        match self.language() {
            ApiDialect::Chat => "chat/completions".to_owned(),
            ApiDialect::Anthropic => "messages".to_owned(),
            ApiDialect::Google => format!("models/{model}:generateContent"),
            ApiDialect::Cohere => "chat".to_owned(),
            ApiDialect::Ollama => "api/chat".to_owned(),
        }
    }

    /// The variable that holds the key, if one is wanted.
    pub(super) fn key_variable(&self) -> Option<&'static str> {
        self.kind.default_key_env_name()
    }

    /// The key, from a file or else the environment. A server of the user's own needs none until it asks for one.
    pub(super) fn key(
        &self,
        model: &str,
        is_own_server: bool,
        file: Option<&Path>,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<ApiKey>> {
        let Some(variable) = self.key_variable() else {
            return match file {
                None => Ok(None),
                Some(_) => Err(Error::custom(format!(
                    "`{model}` takes no key, and --api-key-file names one; leave it out, or ask a server that wants a \
                     key as openai/NAME"
                ))),
            };
        };
        if let Some(file) = file {
            return ApiKey::read(file).map(Some);
        }
        match environment(variable).filter(|text| !text.is_empty()) {
            // Bytes that are no text become a letter that no key has.
            Some(text) => ApiKey::new(&text.to_string_lossy(), &format!("the variable {variable}")).map(Some),
            None if is_own_server => Ok(None),
            None => Err(Error::custom(format!(
                "`{model}` needs a key: set {variable}, or name a file that holds it with --api-key-file; for another \
                 server, --base-url says where it is"
            ))),
        }
    }
}

/// One entry for each: the name, how `genai` calls it, where it is, and what help says of it.
macro_rules! providers {
    ($($name:literal $kind:ident $base_url:literal $doc:literal;)*) => {
        /// All of them.
        pub(in crate::model) const PROVIDERS: &[ProviderEntry] = &[$(ProviderEntry {
            name: $name,
            doc: $doc,
            params: NO_PARAMS,
            build: |_| {
                const PROTOCOL: ProviderProtocol = ProviderProtocol { name: $name, kind: AdapterKind::$kind, base_url: $base_url };
                let open: OpenModel = |model, options| {
                    Ok(AnyModel::from(GenaiModel::open(&PROTOCOL, model, options, |name| std::env::var_os(name))?))
                };
                Ok(Provider { open, is_remote: true })
            },
            replaces: false,
        }),*];

        #[cfg(test)]
        pub(super) const PROTOCOL: &[ProviderProtocol] =
            &[$(ProviderProtocol { name: $name, kind: AdapterKind::$kind, base_url: $base_url }),*];
    };
}

providers! {
    "anthropic" Anthropic "https://api.anthropic.com/v1/"
        "Claude, of Anthropic: anthropic/NAME; the key is ANTHROPIC_API_KEY or in --api-key-file.";
    "cohere" Cohere "https://api.cohere.com/v1/"
        "Command, of Cohere: cohere/NAME; the key is COHERE_API_KEY or in --api-key-file.";
    "deepseek" DeepSeek "https://api.deepseek.com/v1/"
        "Models of DeepSeek: deepseek/NAME; the key is DEEPSEEK_API_KEY or in --api-key-file.";
    "fireworks" Fireworks "https://api.fireworks.ai/inference/v1/"
        "Models at Fireworks AI: fireworks/NAME; the key is FIREWORKS_API_KEY or in --api-key-file.";
    "google" Gemini "https://generativelanguage.googleapis.com/v1beta/"
        "Gemini, of Google: google/NAME; the key is GEMINI_API_KEY or in --api-key-file.";
    "groq" Groq "https://api.groq.com/openai/v1/"
        "Models at Groq: groq/NAME; the key is GROQ_API_KEY or in --api-key-file.";
    "minimax" MiniMax "https://api.minimax.io/anthropic/v1/"
        "Models of MiniMax: minimax/NAME; the key is MINIMAX_API_KEY or in --api-key-file.";
    "mistral" Mistral "https://api.mistral.ai/v1/"
        "Models of Mistral: mistral/NAME; the key is MISTRAL_API_KEY or in --api-key-file.";
    "moonshot" Moonshot "https://api.moonshot.cn/v1/"
        "Models of Moonshot: moonshot/NAME; the key is MOONSHOT_API_KEY or in --api-key-file.";
    "nebius" Nebius "https://api.studio.nebius.ai/v1/"
        "Models at Nebius: nebius/NAME; the key is NEBIUS_API_KEY or in --api-key-file.";
    "ollama" Ollama "http://localhost:11434/"
        "Models that Ollama runs on this machine, or at --base-url: ollama/NAME; it takes no key.";
    "openrouter" OpenRouter "https://openrouter.ai/api/v1/"
        "Models that OpenRouter leads to: openrouter/MAKER/NAME; the key is OPEN_ROUTER_API_KEY or in --api-key-file.";
    "together" Together "https://api.together.xyz/v1/"
        "Models at Together AI: together/NAME; the key is TOGETHER_API_KEY or in --api-key-file.";
    "xai" Xai "https://api.x.ai/v1/"
        "Grok, of xAI: xai/NAME; the key is XAI_API_KEY or in --api-key-file.";
}
