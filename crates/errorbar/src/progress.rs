//! How far a run is: a line that moves on a terminal, lines now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use errorbar_eval::{Observer, Progress, RunningFigure};
use errorbar_report::clean;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::message;

/// How often the line on a terminal changes.
const REDRAW: Duration = Duration::from_millis(100);
/// How many failures are told one by one.
const FAILURES_TOLD: usize = 10;

/// Watches runs for a person.
pub(crate) struct Watcher {
    quiet: bool,
    on_terminal: bool,
    /// How often there is something new to see at most.
    every: Duration,
    state: Mutex<State>,
}

struct State {
    bar: ProgressBar,
    task: String,
    started: Instant,
    shown: Instant,
    failures: usize,
}

impl Watcher {
    /// A line is written every so often where there is no terminal.
    pub(crate) fn new(quiet: bool, line_every: Duration) -> Self {
        let now = Instant::now();
        let state =
            State { bar: ProgressBar::hidden(), task: String::new(), started: now, shown: now, failures: 0 };
        let on_terminal = io::stderr().is_terminal();
        let every = if on_terminal { REDRAW } else { line_every };
        Watcher { quiet, on_terminal, every, state: Mutex::new(state) }
    }

    /// Says that the run is coming to its end because somebody asked for it.
    pub(crate) fn interrupted(&self) {
        self.say("cancelled; computing the results over what is done (again to end at once)");
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A line of its own, above the one that moves.
    fn say(&self, text: &str) {
        if !self.quiet {
            // A stderr that cannot be written to leaves nobody to tell.
            self.with(|state| {
                let _ = state.bar.suspend(|| writeln!(anstream::stderr(), "{text}"));
            });
        }
    }
}

impl Observer for Watcher {
    fn started(&self, task: &str, model: &str, log: &Path, total: usize, kept: usize) {
        let kept = if kept > 0 { format!(", {kept} of them done before") } else { String::new() };
        let plural = if total == 1 { "" } else { "s" };
        self.say(&format!(
            "{}: {total} sample{plural}{kept} with {}, log {}",
            clean(task),
            clean(model),
            clean(&log.display().to_string())
        ));
        self.with(|state| {
            let now = Instant::now();
            state.task = clean(task);
            (state.started, state.shown, state.failures) = (now, now, 0);
            state.bar = if self.on_terminal && !self.quiet { bar(total) } else { ProgressBar::hidden() };
        });
    }

    fn sample_failed(&self, sample: &str, epoch: u32, problem: &str) {
        let failures = self.with(|state| {
            state.failures += 1;
            state.failures
        });
        if failures <= FAILURES_TOLD {
            self.say(&format!("sample {sample:?}, epoch {epoch}: {}", clean(problem)));
        }
        if failures == FAILURES_TOLD {
            self.say("further failures are in the log");
        }
    }

    fn sample_done(&self, progress: Progress<'_>) {
        if self.quiet {
            return;
        }
        self.with(|state| {
            if state.shown.elapsed() < self.every {
                return;
            }
            state.shown = Instant::now();
            let figures = progress.running.figures();
            let parts = parts(&progress, state.started.elapsed(), &figures);
            let counted = format!("{}/{}", progress.done, progress.total).len();
            let room =
                if self.on_terminal { columns().saturating_sub(bar_width() + counted) } else { usize::MAX };
            let line = fitting(parts, room);
            if self.on_terminal {
                state.bar.set_position(progress.done as u64);
                state.bar.set_message(line);
            } else {
                let (done, total) = (progress.done, progress.total);
                let _ = writeln!(anstream::stderr(), "{}: {done}/{total}{line}", state.task);
            }
        });
    }

    fn wants_figures(&self) -> bool {
        !self.quiet
    }

    fn ended(&self) {
        self.with(|state| state.bar.finish_and_clear());
    }
}

fn bar(total: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
    let template = match bar_width() {
        0 => "{pos}/{len}{wide_msg}".to_owned(),
        width => format!("{{bar:{}}} {{pos}}/{{len}}{{wide_msg}}", width - 1),
    };
    // The template is ours and well-formed; a plain bar would do too.
    let style = ProgressStyle::with_template(&template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// How wide the terminal is.
fn columns() -> usize {
    message::columns().unwrap_or(80)
}

/// How much of the line the bar takes, the blank behind it included; on a narrow terminal the words matter more.
fn bar_width() -> usize {
    if columns() >= 100 { 25 } else { 0 }
}

/// As many parts as there is room for, each whole.
fn fitting(parts: Vec<String>, room: usize) -> String {
    let mut line = String::new();
    for part in parts {
        let part = format!(" · {part}");
        if errorbar_report::width(&line) + errorbar_report::width(&part) > room {
            break;
        }
        line.push_str(&part);
    }
    line
}

/// Rate, time left, failures and figures.
fn parts(progress: &Progress<'_>, elapsed: Duration, figures: &[RunningFigure]) -> Vec<String> {
    let ran = progress.done.saturating_sub(progress.kept);
    let rate = ran as f64 / elapsed.as_secs_f64().max(1e-9);
    let left = Duration::from_secs_f64(((progress.total - progress.done) as f64 / rate.max(1e-9)).min(1e9));
    let mut parts = vec![format!("{}/s", short(rate)), format!("{} left", time(left))];
    if progress.failed > 0 {
        parts.push(format!("{} failed", progress.failed));
    }
    for RunningFigure { scorer, metric, value, error } in figures.iter().take(3) {
        let name = if figures.len() > 1 { format!("{scorer} {metric}") } else { metric.clone() };
        let error = error.map(|error| format!(" ± {error:.3}")).unwrap_or_default();
        parts.push(format!("{} {value:.3}{error}", clean(&name)));
    }
    parts
}

fn short(rate: f64) -> String {
    if rate >= 10.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

fn time(left: Duration) -> String {
    let seconds = left.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_or_not_there() {
        let parts = || ["12/s", "3 s left", "accuracy 0.500"].map(str::to_owned).to_vec();
        assert_eq!(fitting(parts(), usize::MAX), " · 12/s · 3 s left · accuracy 0.500");
        assert_eq!(fitting(parts(), 20), " · 12/s · 3 s left");
        assert_eq!(fitting(parts(), 3), "");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time(Duration::from_secs(59)), "59 s");
        assert_eq!(time(Duration::from_secs(61)), "1 min 1 s");
        assert_eq!(time(Duration::from_secs(7265)), "2 h 1 min");
    }
}
