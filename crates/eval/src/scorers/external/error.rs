//! Why a program gave no score.

use std::time::Duration;

/// Why a program gave no score. The caller adds the name of the command.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(in crate::scorers) enum CommandError {
    /// It cannot be started.
    #[error("cannot be started: {problem}")]
    NotStarted { problem: String },
    /// It ended while it had the sample.
    #[error("ended with {status} before it answered{}{}", reading(status), shown(stderr))]
    Ended { status: String, stderr: String },
    /// It did not answer in time.
    #[error(
        "gave no answer within {} s; it must read its stdin line by line, and write a line and flush stdout after each \
         (in Python: print(…, flush=True)); if it needs more time, raise the timeout{}",
        timeout.as_secs_f64(),
        shown(stderr)
    )]
    TimedOut { timeout: Duration, stderr: String },
    /// It wrote something to stdout that is no answer.
    #[error(
        "wrote a line to stdout that is no answer ({problem}): {line:?}; every line of stdout is the JSON of a score, so \
         print everything else to stderr{}",
        shown(stderr)
    )]
    NotJson { problem: String, line: String, stderr: String },
    /// It answered a question that it was not asked.
    #[error(
        "answered with seq {seq}, which is none of the samples that it has; repeat the `seq` of the line that is \
         answered, once{}",
        shown(stderr)
    )]
    UnknownSeq { seq: u64, stderr: String },
    /// It wrote a line without end.
    #[error("wrote a line of more than {} MiB to stdout{}", limit >> 20, shown(stderr))]
    LongLine { limit: usize, stderr: String },
    /// It answered with an error.
    #[error("reports: {message}")]
    Reported { message: String },
    /// Its answer holds no score.
    #[error("gave an answer that is no score: {problem}")]
    NoScore { problem: String },
    /// It has ended too often.
    #[error("has ended {count} times and is not started again; the last time it {last}")]
    EndedTooOften { count: u32, last: Box<CommandError> },
    /// It ended by itself while it had no sample: no failure of a sample.
    #[error(
        "ended with {status} after {answers} answer(s), while it had no sample; it must go on reading lines until its \
         stdin ends{}",
        shown(stderr)
    )]
    EndedIdle { status: String, answers: u64, stderr: String },
}

impl CommandError {
    /// Whether it is about what was written to stdout, whatever sample it was for.
    pub(super) fn is_of_protocol(&self) -> bool {
        matches!(
            self,
            CommandError::NotJson { .. } | CommandError::UnknownSeq { .. } | CommandError::LongLine { .. }
        )
    }
}

/// What a program lacks that ends by itself without an error.
fn reading(status: &str) -> &'static str {
    match status.ends_with(": 0") {
        true => "; it must read lines until its stdin ends, and answer each",
        false => "",
    }
}

/// The last lines of stderr, where there are any.
fn shown(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("\nlast lines of its stderr:\n{stderr}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_way_out() {
        let ended = CommandError::Ended { status: "exit status: 1".into(), stderr: "boom".into() };
        let shown = "ended with exit status: 1 before it answered\nlast lines of its stderr:\nboom";
        assert_eq!(ended.to_string(), shown);
        let quiet = CommandError::Ended { status: "exit status: 0".into(), stderr: String::new() };
        assert!(quiet.to_string().ends_with("it must read lines until its stdin ends, and answer each"));
        let often = CommandError::EndedTooOften { count: 4, last: Box::new(ended) };
        assert_eq!(
            often.to_string(),
            format!("has ended 4 times and is not started again; the last time it {shown}")
        );
        let timeout = CommandError::TimedOut { timeout: Duration::from_secs(60), stderr: String::new() };
        assert!(timeout.to_string().contains("within 60 s;") && timeout.to_string().contains("flush=True"));
    }
}
