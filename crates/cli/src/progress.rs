//! The progress of runs: a line for each that is redrawn on a terminal, lines at intervals elsewhere and on dumb terminals.

use std::collections::HashMap;
use std::iter;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use errorbar_eval::{ModelError, Observer, Progress, RunningFigure, SequenceProgress};
use errorbar_inference::RuleMeasure;
use errorbar_log::eval::Transcript;
use errorbar_report::{TranscriptView, clean, pad, truncate_middle};

use crate::diagnostic::{Diagnostic, Print};
use crate::format::{counted, table};
use crate::output;
use crate::output::Stream;

/// How often the line on a terminal changes.
const REDRAW: Duration = Duration::from_millis(100);
/// How often the figures of a run are computed at most, where lines are written more rarely than that.
const FIGURES_EVERY: Duration = Duration::from_secs(1);
/// The most runs that have a line each. More of them share one.
const MOST_LINES: usize = 12;
/// The most columns that the name of a model takes in front of its line.
const MODEL_COLUMNS: usize = 28;
/// What stands before the lines of several runs.
const INDENT: &str = "  ";
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
    lines: output::ProgressLines,
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
    /// When its figures were computed and its line was drawn; the first sample is shown at once.
    shown: Option<Instant>,
    has_ended: bool,
}

impl RunState {
    /// The figures in words, at most this number of them, with names by `name`.
    fn figure_texts(&self, most: usize, name: impl Fn(&RunningFigure) -> String) -> Vec<String> {
        let text = |figure: &RunningFigure| {
            let error = figure.error.map(|error| format!(" ± {error:.3}")).unwrap_or_default();
            format!("{} {:.3}{error}", clean(&name(figure)), figure.value)
        };
        self.figures.iter().take(most).map(text).collect()
    }

    /// The name of a figure: that of its metric, if all are of one scorer.
    fn figure_name(&self, figure: &RunningFigure) -> String {
        match self.figures.len() {
            1 => figure.metric.clone(),
            _ => format!("{} {}", figure.scorer, figure.metric),
        }
    }

    /// The figures of its own line.
    fn own_figures(&self, most: usize) -> Vec<String> {
        match &self.sequence {
            Some(sequence) => vec![sequence_text(sequence)],
            None => self.figure_texts(most, |figure| self.figure_name(figure)),
        }
    }
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
            lines: output::ProgressLines::hidden(),
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
            state.lines.clear();
            state.lines = match self.redraws && !self.quiet {
                // Several tasks have a title above the lines of their runs.
                true => lines(state.line_count(), state.has_title()),
                false => output::ProgressLines::hidden(),
            };
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
        self.with(|state| state.lines.suspend(|| Diagnostic::note(clean(text)).print(self.quiet)));
    }

    /// Prints lines above the one that is redrawn, all but the first indented.
    fn print_lines(&self, text: &str) {
        let lines: Vec<_> = text.lines().map(clean).collect();
        self.with(|state| state.lines.suspend(|| Diagnostic::note(lines.join("\n")).print(self.quiet)));
    }

    /// Shows how far all runs are: in one line.
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
            state.lines.set(0, total as u64, done as u64, &format!("{done}/{total}{line}"));
        } else {
            let line = clean(&format!("{position}{}: {done}/{total}{line}", state.task));
            Diagnostic::note(line).print(self.quiet);
        }
    }

    /// Shows how far one of several runs is, in its own line.
    fn show_run(&self, state: &WatchState, number: usize) {
        let Some(run) = state.runs.get(number) else { return };
        let SampleCounts { done, total, .. } = run.counts;
        if total == 0 {
            // It has not started.
            return;
        }
        let figures = run.own_figures(2);
        let parts = match run.has_ended {
            false => parts(&run.counts, state.started.elapsed(), &figures),
            true => {
                let text = if done >= total { "done" } else { "ended" };
                let ended = LinePart { text: text.to_owned(), rank: 0 };
                iter::once(ended).chain(results(&run.counts, &figures)).collect()
            }
        };
        // Counts stand below each other.
        let (name_columns, digits) = (state.name_columns(), total.to_string().len());
        let counted = format!("{done:>digits$}/{total}");
        let available =
            columns().saturating_sub(INDENT.len() + name_columns + 1 + bar_width() + counted.len());
        let name = pad(&truncate_middle(&clean(&run.model), name_columns, "…"), name_columns);
        state.lines.set_prefix(number, &name);
        let text = format!("{counted}{}", fitting(&parts, available));
        state.lines.set(number, total as u64, done as u64, &text);
    }

    /// Shows all lines.
    fn show_all(&self, state: &WatchState) {
        match state.line_count() {
            1 => self.show(state),
            count => (0..count).for_each(|number| self.show_run(state, number)),
        }
    }
}

impl WatchState {
    /// Which of several tasks this is, in words.
    fn position(&self) -> String {
        self.position.map(|(at, count)| format!("[{at}/{count}] ")).unwrap_or_default()
    }

    /// Whether each run has its own line, how many lines there are.
    fn line_count(&self) -> usize {
        if self.runs.len() > MOST_LINES { 1 } else { self.runs.len() }
    }

    /// Whether a title is above the lines.
    fn has_title(&self) -> bool {
        self.line_count() > 1 && self.position.is_some()
    }

    /// The columns of the names in front of the lines.
    fn name_columns(&self) -> usize {
        let longest = self.runs.iter().map(|run| errorbar_report::width(&clean(&run.model))).max();
        longest.unwrap_or(0).min(MODEL_COLUMNS).min(columns() / 3)
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
        let of_run = |run: &RunState| match (self.runs.len(), &run.sequence) {
            (0 | 1, _) => run.own_figures(3),
            (_, Some(sequence)) => vec![format!("{} {}", clean(&run.model), sequence_text(sequence))],
            (_, None) => run.figure_texts(1, |_| run.model.clone()),
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
        // Printing redraws the lines, and a bar of no length is a full one.
        let watcher = &self.watcher;
        watcher.with(|state| {
            state.task = task.to_owned();
            state.lines.set_title(&format!("{}{task}", state.position()));
            if watcher.redraws {
                watcher.show_all(state);
            }
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
            let has_own_line = watcher.redraws && state.line_count() > 1;
            let Some(run) = state.runs.get_mut(self.number) else { return };
            let Progress { done, resumed, failed, total, .. } = progress;
            run.counts = SampleCounts { done, resumed, failed, total };
            let is_due = run.shown.is_none_or(|shown| shown.elapsed() >= watcher.every.min(FIGURES_EVERY));
            if is_due {
                run.shown = Some(Instant::now());
                run.figures = progress.running.figures();
                run.sequence = progress.sequence;
            }
            if has_own_line {
                if is_due {
                    watcher.show_run(state, self.number);
                }
            } else if state.shown.elapsed() >= watcher.every {
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
        let view = TranscriptView { conversation: true, whole: true, ..TranscriptView::default() };
        self.watcher.with(|state| {
            let run = state.runs.get(self.number).filter(|_| state.runs.len() > 1);
            let model = run.map(|run| run.model.clone());
            let render = |color: bool| {
                let table = table().color(color);
                let model = model.as_ref().map(|model| table.heading(model, &[])).unwrap_or_default();
                model + &table.transcript(transcript, &view).0 + "\n"
            };
            // A reader that has seen enough does not end the run.
            state.lines.suspend(|| drop(output::show(stream, render)));
        });
    }

    fn wants_figures(&self) -> bool {
        !self.watcher.quiet
    }

    fn ended(&self) {
        let more: usize = self.watcher.with(|state| {
            state.runs.get_mut(self.number).into_iter().for_each(|run| run.has_ended = true);
            if !state.runs.iter().all(|run| run.has_ended) {
                if self.watcher.redraws && state.line_count() > 1 {
                    self.watcher.show_run(state, self.number);
                }
                return 0;
            }
            state.lines.clear();
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

/// The lines of this number of runs; of one, without a name in front of it.
fn lines(runs: usize, has_title: bool) -> output::ProgressLines {
    let bar = match bar_width() {
        0 => String::new(),
        width => format!("{{bar:{}}} ", width - 1),
    };
    let name = if runs > 1 { format!("{INDENT}{{prefix}} ") } else { String::new() };
    output::ProgressLines::new(runs, has_title, &format!("{name}{bar}{{wide_msg}}"))
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

/// Rate, time left, failures and figures.
fn parts(counts: &SampleCounts, elapsed: Duration, figures: &[String]) -> Vec<LinePart> {
    pace(counts, elapsed).into_iter().chain(results(counts, figures)).collect()
}

/// Rate and time left, once a sample is done.
fn pace(counts: &SampleCounts, elapsed: Duration) -> Vec<LinePart> {
    let ran = counts.done.saturating_sub(counts.resumed);
    if ran == 0 {
        return Vec::new();
    }
    let rate = ran as f64 / elapsed.as_secs_f64().max(1e-9);
    let to_do = counts.total.saturating_sub(counts.done);
    let left = Duration::from_secs_f64((to_do as f64 / rate.max(1e-9)).min(1e9));
    let part = |rank: usize, text: String| LinePart { text, rank };
    vec![part(3, format!("{}/s", short(rate))), part(2, format!("{} left", time(left)))]
}

/// Failures and figures. The first figure is what a run is watched for.
fn results(counts: &SampleCounts, figures: &[String]) -> Vec<LinePart> {
    let part = |rank: usize, text: String| LinePart { text, rank };
    let failed = (counts.failed > 0).then(|| part(0, format!("{} failed", counts.failed)));
    let rank = |at: usize| if at == 0 { 1 } else { 3 + at };
    let figures = figures.iter().enumerate().map(|(at, figure)| part(rank(at), figure.clone()));
    failed.into_iter().chain(figures).collect()
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
    fn reasons_that_differ_in_numbers_and_quotes_are_similar() {
        let shown = |seq: u64, line: &str| format!("answered {line:?} with seq {seq}, in 0.5 s");
        assert_eq!(shape(&shown(17, "{\"seq\": 17}")), shape(&shown(4, "x")));
        assert_eq!(shape("the server answered 500"), "the server answered 0");
        assert_ne!(shape("no answer within 10 s"), shape("no score within 10 s"));
    }
}

#[cfg(test)]
mod line_tests {
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
        // Before the first sample is done nobody knows the rate.
        let none = SampleCounts { done: 5, resumed: 5, failed: 0, total: 60 };
        assert_eq!(fitting(&parts(&none, Duration::from_secs(2), &[]), usize::MAX), "");
    }

    #[test]
    fn the_interval_that_may_stop_the_run_is_shown() {
        let shown = |rule: &str| {
            sequence_text(&SequenceProgress {
                rule: rule.parse().unwrap(),
                metric: "accuracy".to_owned(),
                value: Some(0.7125),
                lower: 0.6811,
                upper: 0.7439,
                side: None,
                samples: 0,
                population: 0,
            })
        };
        assert_eq!(shown("width(accuracy) < 0.04"), "accuracy 0.713 [0.681, 0.744], width 0.063 of 0.04");
        assert_eq!(shown("decided(accuracy, 0.5)"), "accuracy 0.713 [0.681, 0.744] against 0.5");
        assert_eq!(shown("better_than(a.eval)"), "difference in accuracy 0.713 [0.681, 0.744]");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time(Duration::from_secs(59)), "59 s");
        assert_eq!(time(Duration::from_secs(61)), "1 min 1 s");
        assert_eq!(time(Duration::from_secs(7265)), "2 h 1 min");
    }
}
