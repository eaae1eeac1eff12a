//! What there is to report of limits, tokens and calls.

use errorbar_core::engine::thousands;
use errorbar_eval::{CallCounts, PreparedTask, Usage, UsageLimits, shown_cost};

use crate::diagnostic::{Diagnostic, Diagnostics};

/// A note of the limits of a resumed run: what was used before does not count.
pub(super) fn limits_note(run: &PreparedTask) -> Option<Diagnostic> {
    let UsageLimits { time, tokens, cost } = run.run_limits();
    let time = time.map(|time| format!("{} s", time.as_secs_f64()));
    let tokens = tokens.map(|tokens| format!("{} tokens", thousands(tokens)));
    let cost = cost.map(|cost| format!("a cost of {}", shown_cost(cost)));
    let limits: Vec<String> = [time, tokens, cost].into_iter().flatten().collect();
    (!limits.is_empty()).then(|| {
        let text = format!("the limits of the run count from 0 again: {}", limits.join(", "));
        Diagnostic::note(text).about(run.name())
    })
}

/// A note of each program that a resumed run starts.
pub(super) fn programs_note(run: &PreparedTask) -> Vec<Diagnostic> {
    let note = |command| Diagnostic::note(format!("runs the program `{command}`")).about(run.name());
    run.programs().into_iter().map(note).collect()
}

/// The tokens that a run has used.
pub(in crate::commands) fn usage_note(model: &str, usage: &Usage) -> Diagnostic {
    let cached = match usage.input_tokens_cache_read {
        Some(cached) if cached > 0 => format!(" (and {} from the server's cache)", thousands(cached)),
        _ => String::new(),
    };
    let cost =
        usage.total_cost.map(|cost| format!(", at a cost of {}", shown_cost(cost))).unwrap_or_default();
    let (input, output) = (thousands(usage.input_tokens), thousands(usage.output_tokens));
    Diagnostic::note(format!("{model} has read {input} tokens{cached} and written {output}{cost}"))
}

/// What was out of the ordinary with calls of models.
pub(in crate::commands) fn call_notes(counts: &CallCounts) -> Diagnostics {
    let plural =
        |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut notes = Vec::new();
    if counts.cached > 0 {
        notes.push(format!("{} from the cache", plural(counts.cached, "answer was", "answers were")));
    }
    if counts.retried > 0 {
        let requests = plural(counts.retried, "request was", "requests were");
        notes.push(format!("{requests} retried, of {} in all", counts.requests));
    }
    for (model, least) in &counts.lowered {
        notes.push(format!("{model} had as few as {least} connections, because it refused more"));
    }
    let note = (!notes.is_empty()).then(|| Diagnostic::note(notes.join("; ")));
    let unread = (counts.unreadable_usage > 0).then(|| {
        let answers = plural(counts.unreadable_usage, "answer has", "answers have");
        Diagnostic::warning(format!(
            "{answers} a `usage` that cannot be read: its tokens are in no sum, and count for no limit; the log has it"
        ))
    });
    let cache = counts.cache_problem.as_ref();
    let cache = cache.map(|problem| Diagnostic::warning(format!("answers could not be cached: {problem}")));
    note.into_iter().chain(unread).chain(cache).collect()
}
