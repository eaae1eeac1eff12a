//! Searching the whole texts of samples: question, choices, target, answers, errors and what scorers explain.
//!
//! No index is held. A search is a sequence of requests, each of which reads samples for a fraction of a second and says
//! where the next one continues. So a log of any size needs the memory of the samples that are being read, a page shows
//! how far it is, and a search that nobody waits for any more ends by itself.

use std::time::{Duration, Instant};

use errorbar_log::eval::{EvalLog, Transcript};
use rayon::prelude::*;
use serde_json::json;

use crate::pages::PageError;

/// How long samples are read for one request.
const STEP: Duration = Duration::from_millis(250);
/// The samples that a thread reads before the clock is looked at.
const BATCH: usize = 8;

/// Searches samples from a position on, for a while: the ids of those that contain the text, the position after the last
/// that was read, and the number of all. Positions count the samples of all logs, one log after the other.
pub(crate) fn search(logs: &[EvalLog], text: &str, from: usize) -> Result<Vec<u8>, PageError> {
    let wanted = text.trim().to_lowercase();
    let (started, mut first, mut position) = (Instant::now(), 0, from);
    let mut found: Vec<String> = Vec::new();
    for log in logs {
        let end = first + log.sample_count();
        while position < end && !wanted.is_empty() && started.elapsed() < STEP {
            let next = end.min(position + BATCH * rayon::current_num_threads());
            let batches: Vec<usize> = (position..next).step_by(BATCH).collect();
            let of_batches = batches
                .into_par_iter()
                .map(|at| search_batch(log, at - first..next.min(at + BATCH) - first, &wanted));
            found.par_extend(of_batches.flatten_iter());
            position = next;
        }
        first = end;
    }
    let is_done = position >= first || wanted.is_empty();
    // A sample has several epochs, which are read one after the other.
    found.sort_unstable();
    found.dedup();
    let answer = json!({
        "found": found,
        "searched": position.min(first),
        "total": first,
        "next": (!is_done).then_some(position),
    });
    serde_json::to_vec(&answer).map_err(|error| PageError::Unusable(error.to_string()))
}

/// The ids of the samples of some places that contain a text in lower case.
fn search_batch(log: &EvalLog, places: std::ops::Range<usize>, wanted: &str) -> Vec<String> {
    let mut transcripts = log.transcripts_at(places);
    let mut found = Vec::new();
    while let Some(read) = transcripts.next() {
        // One that cannot be read is not found; whoever opens it sees why.
        let Ok(mut transcript) = read else { continue };
        if transcripts.complete(&mut transcript, false).is_ok() && contains(&transcript, wanted) {
            found.push(transcript.id.to_string());
        }
    }
    found
}

fn contains(transcript: &Transcript, wanted: &str) -> bool {
    let is_in = |text: &str| text.to_lowercase().contains(wanted);
    let scores = || transcript.scores.values();
    let own = [&transcript.answer, &transcript.output_error, &transcript.error].into_iter().flatten();
    let of_scores = scores().flat_map(|score| score.answer.iter().chain(&score.explanation));
    transcript.input.iter().any(|message| is_in(&message.text()))
        || transcript
            .choices
            .iter()
            .chain(&transcript.target)
            .chain(own)
            .chain(of_scores)
            .any(|text| is_in(text))
}
