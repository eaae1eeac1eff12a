//! The reading of logs, as it is shown while it goes on, and what their headers record besides results.

use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use errorbar_analysis::{Progress, status_of_unfinished};
use errorbar_log::eval::Header;
use errorbar_report::html::RunFacts;
use indicatif::ProgressBar;

use crate::format::text_of;
use crate::output::progress_line;

/// A line on a terminal that shows the progress of reading.
pub(super) struct ReadProgress {
    bar: ProgressBar,
    /// Tables have no samples to count: the line is shown from the first log on.
    first_log: Once,
}

impl ReadProgress {
    pub(super) fn new(quiet: bool) -> Self {
        let bar = progress_line(quiet, 0, "{bar:30} {pos}/{len} samples read");
        ReadProgress { bar, first_log: Once::new() }
    }
}

impl Progress for ReadProgress {
    fn expect(&self, samples: usize) {
        self.bar.inc_length(samples as u64);
        if !self.bar.is_hidden() {
            self.first_log.call_once(|| self.bar.enable_steady_tick(Duration::from_millis(100)));
        }
    }

    fn step(&self) {
        self.bar.inc(1);
    }

    fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }
}

impl Drop for ReadProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// What a header records besides results.
pub(super) fn run_facts(path: &Path, header: &Header) -> RunFacts {
    let Header { eval, stats, .. } = header;
    let mut facts = RunFacts::default();
    facts.file = path.display().to_string();
    facts.created = Some(eval.created.clone()).filter(|created| !created.is_empty());
    facts.version = eval.packages.first().map(|(name, version)| format!("{name} {version}"));
    facts.task_version = Some(&eval.task_version).filter(|version| !version.is_null()).map(text_of);
    facts.status = status_of_unfinished(header.status).or(Some("success")).map(str::to_owned);
    facts.error = header.error.as_ref().map(|error| error.message.clone());
    let used = || stats.model_usage.values();
    let tokens = used().map(|usage| usage.total_tokens).fold(0, u64::saturating_add);
    facts.tokens = (tokens > 0).then_some(tokens);
    facts.cost = used().filter_map(|usage| usage.total_cost).reduce(|all, cost| all + cost);
    facts
}
