//! The progress of a run: a line that is redrawn on a terminal, lines at intervals elsewhere and on dumb terminals.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use errorbar_core::RuleMeasure;
use errorbar_eval::{ModelError, Observer, Progress, RunningFigure, SequenceProgress};
use errorbar_log::eval::Transcript;
use errorbar_report::{TranscriptView, clean};

use crate::commands::{counted, table};
use crate::diagnostic::Diagnostic;
use crate::output::{self, Stream};

/// How often the line on a terminal changes.
const REDRAW: Duration = Duration::from_millis(100);
/// How often retries are reported.
const RETRY_NOTE_INTERVAL: Duration = Duration::from_secs(10);
/// The number of failures that are reported one by one.
const FAILURES_SHOWN: usize = 10;
/// The number of failures that are reported of those that differ only in numbers and quoted strings.
const SIMILAR_SHOWN: usize = 2;

/// Watches runs for a person: one, or several side by side.
pub(crate) struct Watcher {
    quiet: bool,
    /// Whether progress is one line that is drawn again and again.
    redraws: bool,
    /// The least time between two updates.
    every: Duration,
    state: Mutex<WatchState>,
    /// Where samples are shown, if they are.
    shows_on: Option<Stream>,
    /// When a retry was reported last.
    retry_noted: Mutex<Option<Instant>>,
}

/// Watches one of the runs.
pub(crate) struct RunWatcher {
    watcher: Arc<Watcher>,
    /// Which of the runs side by side it is.
    number: usize,
}

struct WatchState {
    bar: output::ProgressLine,
    task: String,
    /// Which of several tasks it is.
    position: Option<(usize, usize)>,
    started: Instant,
    shown: Instant,
    failures: usize,
    /// Why samples failed, and how many more did so for the same reason.
    problems: HashMap<String, usize>,
    /// Reasons without their numbers and quoted strings, and how many of each are shown.
    shapes: HashMap<String, usize>,
    runs: Vec<RunState>,
}

/// How far one run is.
#[derive(Clone, Debug, Default)]
struct RunState {
    model: String,
    counts: SampleCounts,
    figures: Vec<RunningFigure>,
    sequence: Option<SequenceProgress>,
    has_ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct SampleCounts {
    done: usize,
    resumed: usize,
    failed: usize,
    total: usize,
}

impl Watcher {
    /// A line is written at this interval if standard error is no terminal, or a dumb one.
    pub(crate) fn new(quiet: bool, line_every: Duration) -> Self {
        let now = Instant::now();
        let state = WatchState {
            bar: output::ProgressLine::hidden(),
            task: String::new(),
            position: None,
            started: now,
            shown: now,
            failures: 0,
            problems: HashMap::new(),
            shapes: HashMap::new(),
            runs: Vec::new(),
        };
        let redraws = Stream::Stderr.can_redraw();
        let every = if redraws { REDRAW } else { line_every };
        let state = Mutex::new(state);
        Watcher { quiet, redraws, every, state, shows_on: None, retry_noted: Mutex::default() }
    }

    /// The same, and every sample is shown on this stream when it is done.
    pub(crate) fn showing(self, on: Option<Stream>) -> Self {
        Watcher { shows_on: on, ..self }
    }

    /// Starts to watch this number of runs side by side; of several tasks, of which one.
    pub(crate) fn watch(
        self: &Arc<Self>,
        runs: usize,
        position: Option<(usize, usize)>,
    ) -> Vec<Arc<RunWatcher>> {
        self.with(|state| {
            let now = Instant::now();
            (state.started, state.shown, state.failures) = (now, now, 0);
            state.position = position;
            state.problems.clear();
            state.shapes.clear();
            state.runs = vec![RunState::default(); runs];
            state.bar = if self.redraws && !self.quiet { bar(0) } else { output::ProgressLine::hidden() };
        });
        let watcher = |number| Arc::new(RunWatcher { watcher: Arc::clone(self), number });
        (0..runs).map(watcher).collect()
    }

    /// Reports that the user has cancelled the run.
    pub(crate) fn interrupted(&self) {
        self.print("cancelled; computing the results over what is done (again to end at once)");
    }

    /// Reports a retry from time to time, so that a run does not seem to hang.
    pub(crate) fn retried(&self, error: &ModelError, wait: Duration) {
        let mut noted = self.retry_noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_some_and(|noted| noted.elapsed() < RETRY_NOTE_INTERVAL) {
            return;
        }
        *noted = Some(Instant::now());
        drop(noted);
        self.print(&format!("retrying in {:.1} s: {}", wait.as_secs_f64(), error));
    }

    fn with<T>(&self, act: impl FnOnce(&mut WatchState) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prints a line above the one that is redrawn. The error of a server may have many lines; here it is on one.
    fn print(&self, text: &str) {
        self.with(|state| state.bar.suspend(|| Diagnostic::note(clean(text)).print(self.quiet)));
    }

    /// Prints lines above the one that is redrawn, all but the first indented.
    fn print_lines(&self, text: &str) {
        let lines: Vec<_> = text.lines().map(clean).collect();
        self.with(|state| state.bar.suspend(|| Diagnostic::note(lines.join("\n")).print(self.quiet)));
    }

    fn show(&self, state: &WatchState) {
        let counts = state.counts();
        let position = state.position();
        let mut parts = parts(&counts, state.started.elapsed(), &state.figures());
        if self.redraws && !position.is_empty() {
            parts.insert(0, LinePart { text: clean(&format!("{position}{}", state.task)), rank: 1 });
        }
        let (done, total) = (counts.done, counts.total);
        let counted = format!("{done}/{total}").len();
        let available =
            if self.redraws { columns().saturating_sub(bar_width() + counted) } else { usize::MAX };
        let line = fitting(&parts, available);
        if self.redraws {
            state.bar.set_position(done as u64);
            state.bar.set_message(&line);
        } else {
            let line = clean(&format!("{position}{}: {done}/{total}{line}", state.task));
            Diagnostic::note(line).print(self.quiet);
        }
    }
}

impl WatchState {
    /// Which of several tasks this is, in words.
    fn position(&self) -> String {
        self.position.map(|(at, count)| format!("[{at}/{count}] ")).unwrap_or_default()
    }

    /// All runs together.
    fn counts(&self) -> SampleCounts {
        self.runs.iter().fold(SampleCounts::default(), |all, run| SampleCounts {
            done: all.done + run.counts.done,
            resumed: all.resumed + run.counts.resumed,
            failed: all.failed + run.counts.failed,
            total: all.total + run.counts.total,
        })
    }

    /// The figures in words; those of several runs with their models.
    fn figures(&self) -> Vec<String> {
        let several = self.runs.len() > 1;
        let of_run = |run: &RunState| {
            if let Some(sequence) = &run.sequence {
                let model = if several { format!("{} ", clean(&run.model)) } else { Default::default() };
                return vec![model + &sequence_text(sequence)];
            }
            let most = if several { 1 } else { 3 };
            let figures = run.figures.iter().take(most).map(|figure| {
                let RunningFigure { scorer, metric, value, error, .. } = figure;
                let name = match (several, run.figures.len()) {
                    (true, _) => run.model.clone(),
                    (false, 1) => metric.clone(),
                    (false, _) => format!("{scorer} {metric}"),
                };
                let error = error.map(|error| format!(" ± {error:.3}")).unwrap_or_default();
                format!("{} {value:.3}{error}", clean(&name))
            });
            figures.collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of_run).collect()
    }
}

impl RunWatcher {
    fn with_run(&self, act: impl FnOnce(&mut RunState)) {
        self.watcher.with(|state| state.runs.get_mut(self.number).map(act));
    }
}

impl Observer for RunWatcher {
    fn started(&self, task: &str, model: &str, log: &Path, total: usize, resumed: usize) {
        let before = if resumed > 0 { format!(", {resumed} of them done before") } else { String::new() };
        let samples = counted(total as u64, "sample");
        self.with_run(|run| {
            run.model = model.to_owned();
            run.counts = SampleCounts { done: resumed, resumed, failed: 0, total };
        });
        // Printing redraws the line, and a bar of no length is a full one.
        self.watcher.with(|state| {
            state.task = task.to_owned();
            state.bar.set_length(state.counts().total as u64);
            state.bar.set_position(state.counts().done as u64);
        });
        let position = self.watcher.with(|state| state.position());
        self.watcher
            .print(&format!("{position}{task}: {samples}{before} with {model}, log {}", log.display()));
    }

    fn sample_failed(&self, sample: &str, epoch: u32, problem: &str) {
        let (failures, model) = self.watcher.with(|state| {
            // The same for a thousand samples is reported once, and counted; of nearly the same, as with the number of a
            // line in it, a few are.
            if let Some(more) = state.problems.get_mut(problem) {
                *more += 1;
                return (usize::MAX, String::new());
            }
            let shape = shape(problem);
            let shown = state.shapes.entry(shape.clone()).or_default();
            *shown += 1;
            if *shown > SIMILAR_SHOWN {
                *state.problems.entry(shape).or_default() += 1;
                return (usize::MAX, String::new());
            }
            state.problems.insert(problem.to_owned(), 0);
            state.failures += 1;
            let run = state.runs.get(self.number).filter(|_| state.runs.len() > 1);
            (state.failures, run.map(|run| format!("{}: ", run.model)).unwrap_or_default())
        });
        if failures <= FAILURES_SHOWN {
            self.watcher.print_lines(&format!("{model}sample {sample:?}, epoch {epoch}: {problem}"));
        }
        if failures == FAILURES_SHOWN {
            self.watcher.print("further failures are in the log");
        }
    }

    fn sample_done(&self, progress: Progress<'_>) {
        let watcher = &self.watcher;
        if watcher.quiet {
            return;
        }
        watcher.with(|state| {
            let is_due = state.shown.elapsed() >= watcher.every;
            if let Some(run) = state.runs.get_mut(self.number) {
                let Progress { done, resumed, failed, total, .. } = progress;
                run.counts = SampleCounts { done, resumed, failed, total };
                if is_due {
                    run.figures = progress.running.figures();
                    run.sequence = progress.sequence;
                }
            }
            if is_due {
                state.shown = Instant::now();
                watcher.show(state);
            }
        });
    }

    fn wants_transcripts(&self) -> bool {
        self.watcher.shows_on.is_some()
    }

    fn sample_transcript(&self, transcript: &Transcript) {
        let Some(stream) = self.watcher.shows_on else { return };
        let view = TranscriptView::new().conversation(true).whole(true);
        self.watcher.with(|state| {
            let run = state.runs.get(self.number).filter(|_| state.runs.len() > 1);
            let model = run.map(|run| run.model.clone());
            let render = |color: bool| {
                let table = table().color(color);
                let model = model.as_ref().map(|model| table.heading(model, &[])).unwrap_or_default();
                model + &table.transcript(transcript, &view).0 + "\n"
            };
            // A reader that has seen enough does not end the run.
            state.bar.suspend(|| drop(output::show(stream, render)));
        });
    }

    fn wants_figures(&self) -> bool {
        !self.watcher.quiet
    }

    fn ended(&self) {
        let more: usize = self.watcher.with(|state| {
            state.runs.get_mut(self.number).into_iter().for_each(|run| run.has_ended = true);
            if !state.runs.iter().all(|run| run.has_ended) {
                return 0;
            }
            state.bar.clear();
            state.problems.values().sum()
        });
        if more > 0 {
            let samples = counted(more as u64, "more sample");
            self.watcher.print(&format!("{samples} failed for the same reasons"));
        }
    }
}

/// A reason without its numbers and what stands in double quotes, so that those of one cause are the same.
fn shape(problem: &str) -> String {
    let (mut shape, mut is_quoted, mut before) = (String::new(), false, ' ');
    for c in problem.chars() {
        let is_quote = c == '"' && before != '\\';
        is_quoted ^= is_quote;
        let is_number = c.is_ascii_digit() || (c == '.' && before.is_ascii_digit());
        match () {
            () if is_quoted && !is_quote => {}
            () if is_number && (before.is_ascii_digit() || before == '.') => {}
            () if is_number => shape.push('0'),
            () => shape.push(c),
        }
        before = c;
    }
    shape
}

/// The interval that may stop the run: `accuracy 0.712 [0.681, 0.744], width 0.063 of 0.04`.
fn sequence_text(sequence: &SequenceProgress) -> String {
    let SequenceProgress { rule, metric, value, lower, upper, .. } = sequence;
    let metric = clean(metric);
    let value = value.map(|value| format!(" {value:.3}")).unwrap_or_default();
    let interval = format!("{value} [{lower:.3}, {upper:.3}]");
    match &rule.measure {
        RuleMeasure::Width { below, .. } => {
            format!("{metric}{interval}, width {:.3} of {below}", upper - lower)
        }
        RuleMeasure::Decided { value, .. } => format!("{metric}{interval} against {value}"),
        _ => format!("difference in {metric}{interval}"),
    }
}

fn bar(total: usize) -> output::ProgressLine {
    let template = match bar_width() {
        0 => "{pos}/{len}{wide_msg}".to_owned(),
        width => format!("{{bar:{}}} {{pos}}/{{len}}{{wide_msg}}", width - 1),
    };
    output::ProgressLine::new(total as u64, &template)
}

/// How wide the terminal is.
fn columns() -> usize {
    Stream::Stderr.columns().unwrap_or(80)
}

/// How much of the line the bar takes, the blank behind it included; on a narrow terminal the words matter more.
fn bar_width() -> usize {
    if columns() >= 100 { 25 } else { 0 }
}

/// A part of the line.
#[derive(Clone, Debug)]
struct LinePart {
    text: String,
    /// Where there is no space for all, those of the lowest rank stay.
    rank: usize,
}

/// As many parts as fit, each whole, in their order.
fn fitting(parts: &[LinePart], available: usize) -> String {
    let mut by_rank: Vec<usize> = (0..parts.len()).collect();
    by_rank.sort_by_key(|at| parts.get(*at).map(|part| part.rank));
    let (mut used, mut is_shown) = (0, vec![false; parts.len()]);
    for at in by_rank {
        let (Some(part), Some(shown)) = (parts.get(at), is_shown.get_mut(at)) else { continue };
        used += SEPARATOR.chars().count() + errorbar_report::width(&part.text);
        if used > available {
            break;
        }
        *shown = true;
    }
    let shown = parts.iter().zip(is_shown).filter(|(_, shown)| *shown);
    shown.map(|(part, _)| format!("{SEPARATOR}{}", part.text)).collect()
}

/// What is between two parts.
const SEPARATOR: &str = " · ";

/// Rate, time left, failures and figures. The first figure is what a run is watched for.
fn parts(counts: &SampleCounts, elapsed: Duration, figures: &[String]) -> Vec<LinePart> {
    let ran = counts.done.saturating_sub(counts.resumed);
    let rate = ran as f64 / elapsed.as_secs_f64().max(1e-9);
    let to_do = counts.total.saturating_sub(counts.done);
    let left = Duration::from_secs_f64((to_do as f64 / rate.max(1e-9)).min(1e9));
    let part = |rank: usize, text: String| LinePart { text, rank };
    let mut parts = vec![part(3, format!("{}/s", short(rate))), part(2, format!("{} left", time(left)))];
    if counts.failed > 0 {
        parts.push(part(0, format!("{} failed", counts.failed)));
    }
    let rank = |at: usize| if at == 0 { 1 } else { 3 + at };
    parts.extend(figures.iter().enumerate().map(|(at, figure)| part(rank(at), figure.clone())));
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
        let counts = SampleCounts { done: 24, resumed: 0, failed: 2, total: 60 };
        let figures = ["accuracy 0.500", "f1 0.400"].map(str::to_owned);
        let line = |available| fitting(&parts(&counts, Duration::from_secs(2), &figures), available);
        assert_eq!(line(usize::MAX), " · 12/s · 3 s left · 2 failed · accuracy 0.500 · f1 0.400");
        // The rate goes first, the figure that the run is watched for stays.
        assert_eq!(line(46), " · 12/s · 3 s left · 2 failed · accuracy 0.500");
        assert_eq!(line(40), " · 3 s left · 2 failed · accuracy 0.500");
        assert_eq!(line(30), " · 2 failed · accuracy 0.500");
        assert_eq!(line(3), "");
    }

    #[test]
    fn the_interval_that_may_stop_the_run_is_shown() {
        let shown = |rule: &str| {
            let mut progress = SequenceProgress::new(rule.parse().unwrap(), "accuracy");
            (progress.value, progress.lower, progress.upper) = (Some(0.7125), 0.6811, 0.7439);
            sequence_text(&progress)
        };
        assert_eq!(shown("width(accuracy) < 0.04"), "accuracy 0.713 [0.681, 0.744], width 0.063 of 0.04");
        assert_eq!(shown("decided(accuracy, 0.5)"), "accuracy 0.713 [0.681, 0.744] against 0.5");
        assert_eq!(shown("better_than(a.eval)"), "difference in accuracy 0.713 [0.681, 0.744]");
    }

    #[test]
    fn reasons_that_differ_in_numbers_and_quotes_are_similar() {
        let shown = |seq: u64, line: &str| format!("answered {line:?} with seq {seq}, in 0.5 s");
        assert_eq!(shape(&shown(17, "{\"seq\": 17}")), shape(&shown(4, "x")));
        assert_eq!(shape("the server answered 500"), "the server answered 0");
        assert_ne!(shape("no answer within 10 s"), shape("no score within 10 s"));
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time(Duration::from_secs(59)), "59 s");
        assert_eq!(time(Duration::from_secs(61)), "1 min 1 s");
        assert_eq!(time(Duration::from_secs(7265)), "2 h 1 min");
    }
}
