//! The ways in which servers go wrong.

use clap::ValueEnum;
use serde_json::json;

use crate::http::{Ending, Response};

/// A way to go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fault {
    /// Too many requests, with the time to wait
    #[value(name = "429")]
    RateLimited,
    /// Too many requests, without it
    #[value(name = "429-without")]
    RateLimitedWithout,
    /// Too many requests, for want of money
    #[value(name = "429-quota")]
    Quota,
    #[value(name = "500")]
    Internal,
    #[value(name = "503")]
    Unavailable,
    /// An answer that takes longer than the client waits
    Slow,
    /// JSON that ends in the middle
    Truncated,
    /// No JSON
    Malformed,
    /// JSON with a number in the place of the text
    WrongType,
    /// A body without end
    Oversize,
    /// A connection that is closed in the place of an answer
    Dropped,
    /// A connection that is closed in the middle of one
    DroppedMidway,
    EmptyChoices,
    /// An error that calls itself an answer
    #[value(name = "error-in-200")]
    ErrorIn200,
    /// A prompt that is too long
    #[value(name = "400-context")]
    ContextLength,
    #[value(name = "401")]
    Unauthorized,
    /// A key that may not do this
    #[value(name = "403")]
    Forbidden,
    /// A prompt that is not liked
    #[value(name = "403-flagged")]
    Flagged,
    #[value(name = "404")]
    NotFound,
    Redirect,
    /// An error that ends in the middle of the key, with --echo-key
    KeyCutOff,
}

impl Fault {
    /// Those that pass, of which a share of requests gets one or another.
    pub(crate) const PASSING: [Fault; 11] = [
        Fault::RateLimited,
        Fault::RateLimitedWithout,
        Fault::Internal,
        Fault::Unavailable,
        Fault::Truncated,
        Fault::Malformed,
        Fault::WrongType,
        Fault::Dropped,
        Fault::DroppedMidway,
        Fault::EmptyChoices,
        Fault::ErrorIn200,
    ];

    /// The name, as it is on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// What is answered in the place of `answer`.
    pub(crate) fn instead_of(self, answer: Response, retry_after: &str, redirect_to: &str) -> Response {
        let error = |status: u16, code: &str, message: &str| {
            Response::new(status, json!({"error": {"message": message, "type": "test", "code": code}}))
        };
        match self {
            Fault::RateLimited => {
                error(429, "rate_limit_exceeded", "Slow down.").with_header("retry-after", retry_after)
            }
            Fault::RateLimitedWithout => error(429, "rate_limit_exceeded", "Slow down."),
            Fault::Quota => error(429, "insufficient_quota", "You exceeded your current quota."),
            Fault::Internal => error(500, "server_error", "Something\u{1b}[31m broke."),
            Fault::Unavailable => Response::new(503, "<html>no backend</html>"),
            // The server waits before it comes here.
            Fault::Slow => answer,
            // The server has the key.
            Fault::KeyCutOff => answer,
            Fault::Truncated => {
                let half = answer.body.len() / 2;
                Response { body: answer.body.into_iter().take(half).collect(), ..answer }
            }
            Fault::Malformed => Response::new(200, "<html>\u{7}please log in</html>"),
            Fault::WrongType => Response::new(200, json!({"choices": [{"message": {"content": 42}}]})),
            Fault::Oversize => Response::new(200, "{").ending(Ending::Endless),
            Fault::Dropped => answer.ending(Ending::Never),
            Fault::DroppedMidway => answer.ending(Ending::Midway),
            Fault::EmptyChoices => Response::new(200, json!({"choices": []})),
            Fault::ErrorIn200 => {
                Response::new(200, json!({"error": {"message": "The model is overloaded."}}))
            }
            Fault::ContextLength => {
                error(400, "context_length_exceeded", "This model's maximum context length is 8 tokens.")
            }
            Fault::Unauthorized => error(401, "invalid_api_key", "Incorrect API key provided."),
            Fault::Forbidden => {
                let error = json!({"type": "permission_error", "message": "Your key may not use this."});
                Response::new(403, json!({"type": "error", "error": error}))
            }
            Fault::Flagged => error(403, "moderation", "Your input was flagged."),
            Fault::NotFound => error(404, "model_not_found", "The model does not exist."),
            Fault::Redirect => Response::new(307, "").with_header("location", redirect_to),
        }
    }
}
