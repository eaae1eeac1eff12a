//! The providers, and what is to be known of each.

use genai::adapter::AdapterKind;

use super::GenaiModel;
use crate::model::{Provider, ProviderEntry, provider};

/// How a provider is called.
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
}

/// One entry for each: the name, how `genai` calls it, where it is, and its help text.
macro_rules! providers {
    ($($name:literal $kind:ident $base_url:literal $doc:literal;)*) => {
        /// All of them.
        pub(in crate::model) const PROVIDERS: &[ProviderEntry] = &[$(provider!($name, $doc, {
            const PROTOCOL: ProviderProtocol =
                ProviderProtocol { name: $name, kind: AdapterKind::$kind, base_url: $base_url };
            Provider::remote(|model, options| {
                Ok(GenaiModel::open(&PROTOCOL, model, options, |name| std::env::var_os(name))?.into())
            })
        })),*];

        #[cfg(test)]
        pub(super) const PROTOCOL: &[ProviderProtocol] =
            &[$(ProviderProtocol { name: $name, kind: AdapterKind::$kind, base_url: $base_url }),*];
    };
}

providers! {
    "anthropic" Anthropic "https://api.anthropic.com/v1/"
        "Claude, of Anthropic: anthropic/NAME; the key is ANTHROPIC_API_KEY or in a file.";
    "cohere" Cohere "https://api.cohere.com/v1/"
        "Command, of Cohere: cohere/NAME; the key is COHERE_API_KEY or in a file.";
    "deepseek" DeepSeek "https://api.deepseek.com/v1/"
        "Models of DeepSeek: deepseek/NAME; the key is DEEPSEEK_API_KEY or in a file.";
    "fireworks" Fireworks "https://api.fireworks.ai/inference/v1/"
        "Models at Fireworks AI: fireworks/NAME; the key is FIREWORKS_API_KEY or in a file.";
    "google" Gemini "https://generativelanguage.googleapis.com/v1beta/"
        "Gemini, of Google: google/NAME; the key is GEMINI_API_KEY or in a file.";
    "groq" Groq "https://api.groq.com/openai/v1/"
        "Models at Groq: groq/NAME; the key is GROQ_API_KEY or in a file.";
    "minimax" MiniMax "https://api.minimax.io/anthropic/v1/"
        "Models of MiniMax: minimax/NAME; the key is MINIMAX_API_KEY or in a file.";
    "mistral" Mistral "https://api.mistral.ai/v1/"
        "Models of Mistral: mistral/NAME; the key is MISTRAL_API_KEY or in a file.";
    "moonshot" Moonshot "https://api.moonshot.cn/v1/"
        "Models of Moonshot: moonshot/NAME; the key is MOONSHOT_API_KEY or in a file.";
    "nebius" Nebius "https://api.studio.nebius.ai/v1/"
        "Models at Nebius: nebius/NAME; the key is NEBIUS_API_KEY or in a file.";
    "ollama" Ollama "http://localhost:11434/"
        "Models that Ollama runs on this machine, or at the base URL of the run: ollama/NAME; it takes no key.";
    "openrouter" OpenRouter "https://openrouter.ai/api/v1/"
        "Models that OpenRouter leads to: openrouter/MAKER/NAME; the key is OPEN_ROUTER_API_KEY or in a file.";
    "together" Together "https://api.together.xyz/v1/"
        "Models at Together AI: together/NAME; the key is TOGETHER_API_KEY or in a file.";
    "xai" Xai "https://api.x.ai/v1/"
        "Grok, of xAI: xai/NAME; the key is XAI_API_KEY or in a file.";
}
