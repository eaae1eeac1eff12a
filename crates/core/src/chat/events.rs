//! What happened while a sample ran: the events that logs record and viewers show.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;

use super::message::Message;
use super::output::{ModelOutput, Usage};
use crate::{Metadata, Score};

/// What happened while a sample ran, in the order in which it was recorded.
///
/// A conversation is sent as a whole with every call of a model, so calls hold no messages: they refer to `messages`,
/// where each occurs once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleEvents {
    /// When the sample started, as time since the Unix epoch.
    pub started: Duration,
    /// The events.
    pub events: Vec<Event>,
    /// The messages that calls of models refer to.
    pub messages: Vec<Message>,
}

/// The number of a span in its sample.
pub type SpanNumber = u32;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, counted from the start of the sample. For a call of a model, when it was requested; for one that was
    /// retried, when the attempt began that was answered.
    pub at: Duration,
    /// The same without the time that was spent waiting for connections and retries.
    pub working: Duration,
    /// The innermost span at that time; for the begin and the end of a span, that span.
    pub span: Option<SpanNumber>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// The sample started, with the conversation that its input is.
    SampleInit,
    /// A step began.
    SpanBegin {
        /// What kind of step.
        kind: SpanKind,
        /// Its name, such as that of the solver.
        name: Arc<str>,
        /// The span around it.
        parent: Option<SpanNumber>,
    },
    /// A step ended.
    SpanEnd,
    /// A model was called.
    ModelCall(Box<ModelCall>),
    /// A scorer judged the answer.
    Score(Box<ScoreEvent>),
    /// A limit ended the sample.
    Limit {
        /// Which: `time`, `token`, `cost`, …
        kind: String,
        /// What it was set to.
        limit: f64,
        /// Why it was reached.
        reason: String,
    },
    /// An error ended the sample.
    Error {
        /// What went wrong.
        message: String,
    },
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpanKind {
    /// What comes before the first solver.
    Init,
    /// All solvers.
    Solvers,
    /// One of them.
    Solver,
    /// All scorers.
    Scorers,
    /// One of them.
    Scorer,
}

impl SpanKind {
    /// The name that logs have for it.
    ///
    /// ```
    /// assert_eq!(errorbar_core::chat::SpanKind::Scorers.name(), "scorers");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Init => "init",
            SpanKind::Solvers => "solvers",
            SpanKind::Solver => "solver",
            SpanKind::Scorers => "scorers",
            SpanKind::Scorer => "scorer",
        }
    }
}

/// A call of a model: one that was answered, or one attempt that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// The model.
    pub model: String,
    /// The role in which it was called.
    pub role: Option<String>,
    /// The messages that were sent, as ranges of [`SampleEvents::messages`].
    pub input: Vec<Range<usize>>,
    /// How it was to generate; what is set, and nothing else.
    pub config: Arc<Metadata>,
    /// The answer, or why there is none.
    pub answer: Result<ModelOutput, String>,
    /// How often the request was retried before.
    pub retries: u32,
    /// What the cache of answers had to do with it.
    pub cache: Option<CacheAccess>,
    /// When it ended, counted from the start of the sample.
    pub completed: Duration,
    /// The time that the answer took, without retries and waiting.
    pub working_time: Duration,
}

/// What the cache of answers had to do with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAccess {
    /// The answer is from the cache.
    Read,
    /// The answer was new, and was cached.
    Write,
}

impl CacheAccess {
    /// The name that logs have for it.
    pub fn name(self) -> &'static str {
        match self {
            CacheAccess::Read => "read",
            CacheAccess::Write => "write",
        }
    }
}

/// A verdict of a scorer.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreEvent {
    /// The scorer, by the name that the scores of the sample have for it.
    pub scorer: String,
    /// Its arguments.
    pub args: Arc<Metadata>,
    /// The score.
    pub score: Score,
    /// The tokens used until then, by model.
    pub model_usage: IndexMap<String, Usage>,
    /// The tokens used until then by models in a role, by role.
    pub role_usage: IndexMap<String, Usage>,
}
