//! Records what happens while a sample runs, for the events of its log.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errorbar_core::chat::{CacheAccess, Event, EventKind, ModelCall, SampleEvents, SpanKind, SpanNumber};
use tokio::time::Instant;

use crate::{Message, ModelClient, ModelError, ModelOutput, lock};

/// How many failed attempts of one call are recorded; a server that is down for hours refuses thousands.
const MAX_FAILURES: u32 = 20;
/// The number of events of a sample that one call answers and one scorer judges, and some more.
const MOST_HAVE: usize = 16;
/// Why a call has no answer that a limit ended.
const CANCELLED: &str = "the time limit of the sample was reached before an answer came";

/// Records what happens while a sample runs.
#[derive(Debug)]
pub(crate) struct Recorder {
    start: Instant,
    state: Mutex<RecorderState>,
}

#[derive(Debug, Default)]
struct RecorderState {
    recorded: SampleEvents,
    /// The spans that have not ended, the innermost last.
    open: Vec<SpanNumber>,
    next_span: SpanNumber,
    /// The time spent waiting, and the end of the last wait.
    waited: Duration,
    waited_until: Duration,
}

impl Recorder {
    /// From a start, whose time since the Unix epoch is `started`.
    pub(crate) fn new(start: Instant, started: Duration) -> Self {
        let events = Vec::with_capacity(MOST_HAVE);
        let recorded = SampleEvents { started, events, ..SampleEvents::default() };
        Recorder { start, state: Mutex::new(RecorderState { recorded, ..RecorderState::default() }) }
    }

    /// Begins a span within the innermost one.
    pub(crate) fn begin_span(&self, kind: SpanKind, name: Arc<str>) -> SpanNumber {
        let at = self.start.elapsed();
        let mut state = lock(&self.state);
        let span = state.next_span;
        let begin = EventKind::SpanBegin { kind, name, parent: state.open.last().copied() };
        state.next_span += 1;
        state.open.push(span);
        state.push(at, begin);
        span
    }

    /// Ends a span, and those in it that were left open: what was cancelled did not end them.
    pub(crate) fn end_span(&self, span: SpanNumber) {
        let at = self.start.elapsed();
        let mut state = lock(&self.state);
        if !state.open.contains(&span) {
            return;
        }
        loop {
            state.push(at, EventKind::SpanEnd);
            if state.open.pop().is_none_or(|ended| ended == span) {
                return;
            }
        }
    }

    /// Records something that happens now.
    pub(crate) fn record(&self, kind: EventKind) {
        lock(&self.state).push(self.start.elapsed(), kind);
    }

    /// A call of a model that begins now.
    pub(crate) fn call<'a>(&'a self, client: &'a ModelClient, messages: &[Message]) -> CallRecorder<'a> {
        let at = self.start.elapsed();
        let mut state = lock(&self.state);
        let input = state.refer(messages);
        let (working, span) = (state.working(at), state.open.last().copied());
        CallRecorder { recorder: self, client, at, working, span, input, failures: 0, has_ended: false }
    }

    /// The time spent waiting so far.
    pub(crate) fn waited(&self) -> Duration {
        lock(&self.state).waited
    }

    /// All of it; what comes later is not recorded.
    pub(crate) fn take(&self) -> SampleEvents {
        std::mem::take(&mut lock(&self.state).recorded)
    }
}

impl RecorderState {
    fn push(&mut self, at: Duration, kind: EventKind) {
        let (working, span) = (self.working(at), self.open.last().copied());
        self.recorded.events.push(Event { at, working, span, kind });
    }

    fn working(&self, at: Duration) -> Duration {
        at.saturating_sub(self.waited)
    }

    /// The messages as ranges of those that are recorded; new ones are added.
    fn refer(&mut self, messages: &[Message]) -> Vec<Range<usize>> {
        let known = &mut self.recorded.messages;
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(1);
        // A conversation continues: what follows a message followed it the last time, too.
        let mut next = 0;
        for message in messages {
            let at = match known.get(next) {
                Some(expected) if expected == message => next,
                _ => known.iter().position(|other| other == message).unwrap_or_else(|| {
                    known.push(message.clone());
                    known.len() - 1
                }),
            };
            next = at + 1;
            match ranges.last_mut() {
                Some(range) if range.end == at => range.end = next,
                _ => ranges.push(at..next),
            }
        }
        ranges
    }
}

/// Records one call of a model: each attempt that fails, and the answer. A call that is dropped before it has ended
/// was cancelled.
#[derive(Debug)]
pub(crate) struct CallRecorder<'a> {
    recorder: &'a Recorder,
    client: &'a ModelClient,
    at: Duration,
    working: Duration,
    span: Option<SpanNumber>,
    input: Vec<Range<usize>>,
    failures: u32,
    has_ended: bool,
}

impl CallRecorder<'_> {
    /// The sample waited, for a connection or to retry.
    pub(crate) fn waited(&self, from: Instant, until: Instant) {
        let until = until.duration_since(self.recorder.start);
        let from = from.duration_since(self.recorder.start);
        let mut state = lock(&self.recorder.state);
        // Calls that wait at the same time have not waited twice.
        let from = from.max(state.waited_until);
        state.waited += until.saturating_sub(from);
        state.waited_until = state.waited_until.max(until);
    }

    /// An attempt that took this long, until now, has failed.
    pub(crate) fn failed(&mut self, took: Duration, error: &ModelError) {
        self.failures += 1;
        if self.failures <= MAX_FAILURES {
            let now = self.recorder.start.elapsed();
            let working = lock(&self.recorder.state).working(now).saturating_sub(took);
            let call = self.model_call(Err(error.to_string()), now, took);
            self.push(now.saturating_sub(took), working, ModelCall { retries: self.failures - 1, ..call });
        }
    }

    /// The call has ended without an answer; its attempts are recorded.
    pub(crate) fn gave_up(mut self) {
        self.has_ended = true;
    }

    /// The model has answered.
    pub(crate) fn answered(mut self, output: &ModelOutput, cache: Option<CacheAccess>) {
        let now = self.recorder.start.elapsed();
        let seconds = output.time.filter(|_| cache != Some(CacheAccess::Read));
        let took = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let took = took.unwrap_or(now.saturating_sub(self.at));
        if self.failures > 0 {
            // Each attempt is an event of its own: viewers sort by time, and this one came last.
            self.at = now.saturating_sub(took).max(self.at);
            self.working = lock(&self.recorder.state).working(now).saturating_sub(took).max(self.working);
        }
        let call = self.model_call(Ok(output.clone()), now, took);
        self.has_ended = true;
        self.push(self.at, self.working, ModelCall { cache, ..call });
    }

    fn push(&self, at: Duration, working: Duration, call: ModelCall) {
        let kind = EventKind::ModelCall(Box::new(call));
        lock(&self.recorder.state).recorded.events.push(Event { at, working, span: self.span, kind });
    }

    fn model_call(
        &self,
        answer: Result<ModelOutput, String>,
        completed: Duration,
        took: Duration,
    ) -> ModelCall {
        ModelCall {
            model: self.client.model.name().to_owned(),
            role: self.client.role.clone(),
            input: self.input.clone(),
            config: Arc::clone(&self.client.logged_config),
            answer,
            retries: self.failures,
            cache: None,
            completed,
            working_time: took,
        }
    }
}

impl Drop for CallRecorder<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            let now = self.recorder.start.elapsed();
            let call = self.model_call(Err(CANCELLED.to_owned()), now, Duration::ZERO);
            self.push(self.at, self.working, call);
        }
    }
}
