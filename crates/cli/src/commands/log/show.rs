//! `errorbar log show`: samples for people to read.

use std::io;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use clap::{Args, ValueEnum};
use errorbar_analysis::{ReadRequest, recovered, status_of_unfinished, unknown_scorer};
use errorbar_core::engine::unique_names;
use errorbar_core::spec::nearest;
use errorbar_core::{Condition, SampleId, Score, ValueRef, ValueToFloat};
use errorbar_log::eval::{EvalInfo, EvalLog, Header, StoppedEarly, Transcript, Transcripts};
use errorbar_report::{Json, Markdown, TranscriptView, Verdict};
use indexmap::IndexSet;
use jiff::Timestamp;
use serde_json::Value;

use super::super::{CommandOutcome, CommandResult};
use super::dump::no_sample;
use super::{KnownValues, NAMED};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::{counted, table, text_of};
use crate::output;
use crate::pager::TextSink;

const EXAMPLES: &str = "\
Examples:
  errorbar log show latest
  errorbar log show @2 --wrong
  errorbar log show logs/run.eval --where category=law --where difficulty!=easy --limit 5
  errorbar log show logs/run.eval --unscored --reason refusal
  errorbar log show logs/run.eval --sample q17 --epoch 2 --messages --full

Several of --wrong, --below, --errors and --unscored show what any of them matches; every other
option narrows that down. On a terminal the samples go through the pager in ERRORBAR_PAGER or PAGER,
else `less -R`. Reasons are those that scorers recorded, and `missing` (no score), `error`, and
`token_limit`, `time_limit` and so on.

Exit code: 0 if all is well, 2 if something could not be read, or an option names what the log does
not have.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArgs {
    /// An eval log, or a handle: @1, latest
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Samples with a score that counts 0 or less: I, N, false, 0; of a map, any of its values
    #[arg(long)]
    wrong: bool,
    /// Samples with a score that counts less than X
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    below: Option<f64>,
    /// Samples that failed
    #[arg(long)]
    errors: bool,
    /// Samples that did not fail and have no score of a scorer, or one that is unscored
    #[arg(long)]
    unscored: bool,
    /// Samples with this reason; may be repeated for any of several
    #[arg(long = "reason", value_name = "REASON")]
    reasons: Vec<String>,
    /// Samples with this metadata: =, !=, or <, <=, >, >= for numbers and for strings in quotes; may be repeated; a.b is b in the map a
    #[arg(long = "where", value_name = "KEY=VALUE")]
    conditions: Vec<Condition>,
    /// The sample of this id; may be repeated
    #[arg(long = "sample", value_name = "ID", allow_hyphen_values = true)]
    samples: Vec<String>,
    /// Samples of this epoch
    #[arg(long, value_name = "N")]
    epoch: Option<u32>,
    /// Only the verdicts of this scorer; may be repeated
    #[arg(long = "scorer", value_name = "NAME")]
    scorers: Vec<String>,
    /// Show the first N samples that match
    #[arg(long, value_name = "N", value_parser = limit)]
    limit: Option<NonZeroUsize>,
    /// The whole conversation in place of question and answer, and what graders were sent
    #[arg(long)]
    messages: bool,
    /// Show long texts whole, and where errors occurred
    #[arg(long)]
    full: bool,
    /// The format; texts are whole in json and markdown
    #[arg(long, short, value_enum, default_value_t)]
    format: SampleFormat,
    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
    #[command(flatten)]
    read: ReadRequest,
}

/// The format of samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum SampleFormat {
    #[default]
    Text,
    Json,
    Markdown,
}

fn limit(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a number of samples, 1 or more".to_owned())
}

pub(crate) fn run(args: &ShowArgs) -> CommandResult {
    let log = args.read.open_named(&args.log)?;
    let header = log.header()?;
    let mut outcome = CommandOutcome::default();
    if log.was_recovered() {
        outcome.diagnostics.push(recovered(log.path()));
    }
    let expected = unique_names(header.eval.scorers.iter().flatten().map(|scorer| scorer.name.as_str()));
    let filter = SampleFilter::new(args, expected);
    let mut transcripts = log.transcripts(|id, epoch| filter.wants_key(id, epoch))?;
    let mut show = Show::new(args, &log, &header, filter);
    show.all(&mut transcripts, &mut outcome.diagnostics)?;
    outcome.diagnostics.extend(show.conclude()?);
    Ok(outcome)
}

/// That the run was stopped early: when, and by which rule.
fn stopped_early(eval: &EvalInfo) -> Option<String> {
    let StoppedEarly { rule, samples, planned, at, .. } = StoppedEarly::recorded(eval).ok().flatten()?;
    let words = [
        Some(format!("stopped early after {samples} of {planned} samples")),
        (!rule.is_empty()).then(|| format!("by {rule}")),
        at.parse::<Timestamp>().ok().map(|at| at.strftime("at %Y-%m-%d %H:%M:%S UTC").to_string()),
    ];
    Some(words.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// The samples on their way out.
struct Show<'a> {
    args: &'a ShowArgs,
    log: &'a EvalLog,
    header: &'a Header,
    filter: SampleFilter<'a>,
    view: TranscriptView,
    /// Opened with the first sample: without one there is nothing to page.
    out: Option<SampleSink>,
    shown: usize,
    is_cut: bool,
    /// Whether the reader has seen enough.
    is_closed: bool,
}

enum SampleSink {
    Text(TextSink),
    Data(Box<dyn Write + Send>),
}

impl<'a> Show<'a> {
    fn new(args: &'a ShowArgs, log: &'a EvalLog, header: &'a Header, filter: SampleFilter<'a>) -> Self {
        let view = TranscriptView {
            scorers: args.scorers.clone(),
            expected: filter.expected.clone(),
            conversation: args.messages,
            whole: args.full || args.format != SampleFormat::Text,
            epochs: header.eval.config.epochs.is_some_and(|epochs| epochs > 1),
        };
        Show { args, log, header, filter, view, out: None, shown: 0, is_cut: false, is_closed: false }
    }

    /// Shows what matches, until the reader has seen enough.
    fn all(
        &mut self,
        transcripts: &mut Transcripts<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        /// The number of samples that cannot be read and are reported one by one.
        const PROBLEMS: usize = 10;
        let mut problems = 0;
        while self.args.limit.is_none_or(|limit| self.shown < limit.get())
            && let Some(read) = transcripts.next()
        {
            let completed = match read {
                Ok(transcript) if !self.filter.matches(&transcript) => continue,
                Ok(mut transcript) => {
                    transcripts.complete(&mut transcript, self.args.messages).map(|()| transcript)
                }
                Err(error) => Err(error),
            };
            match completed {
                Ok(transcript) => match self.one(&transcript) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        self.is_closed = true;
                        break;
                    }
                    shown => shown?,
                },
                Err(error) => {
                    problems += 1;
                    if problems <= PROBLEMS {
                        diagnostics.push(Diagnostic::from(error));
                    }
                }
            }
        }
        if problems > PROBLEMS {
            let problem = format!("{problems} samples could not be read");
            diagnostics.push(Diagnostic::error(problem).about(self.log.path().display()));
        }
        Ok(())
    }

    fn one(&mut self, transcript: &Transcript) -> io::Result<()> {
        let is_first = self.shown == 0;
        self.shown += 1;
        if is_first {
            self.open()?;
        }
        let view = &self.view;
        match &mut self.out {
            Some(SampleSink::Text(sink)) => {
                let is_cut = std::cell::Cell::new(false);
                sink.show(|color| {
                    let (text, was_cut) = table().color(color).transcript(transcript, view);
                    is_cut.set(was_cut);
                    format!("\n{text}")
                })?;
                self.is_cut |= is_cut.get();
                Ok(())
            }
            Some(SampleSink::Data(out)) => {
                match self.args.format {
                    SampleFormat::Markdown => {
                        write!(
                            out,
                            "{}{}",
                            if is_first { "" } else { "\n" },
                            Markdown::default().transcript(transcript, view)
                        )?;
                    }
                    _ => {
                        out.write_all(if is_first { b"[\n" } else { b",\n" })?;
                        serde_json::to_writer(&mut *out, &Json.transcript(transcript, view))?;
                    }
                }
                out.flush()
            }
            None => Ok(()),
        }
    }

    /// Opens the way out, and writes what stands above the first sample.
    fn open(&mut self) -> io::Result<()> {
        if self.args.format != SampleFormat::Text {
            self.out = Some(SampleSink::Data(output::stdout()));
            return Ok(());
        }
        let mut sink = TextSink::open(!self.args.no_pager);
        let Header { eval, status, .. } = self.header;
        let details: Vec<String> = [eval.task.clone(), eval.model.clone()]
            .into_iter()
            .chain([counted(self.log.sample_count() as u64, "sample")])
            .chain(status_of_unfinished(*status).map(str::to_owned))
            .chain(stopped_early(eval))
            .collect();
        let path = self.log.path().display().to_string();
        let written = sink.show(|color| table().color(color).heading(&path, &details));
        self.out = Some(SampleSink::Text(sink));
        written
    }

    /// Closes the way out, and reports what was shown of what.
    fn conclude(self) -> Result<Diagnostics, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        match self.out {
            Some(SampleSink::Text(sink)) => sink.finish()?,
            Some(SampleSink::Data(mut out)) => {
                if self.args.format == SampleFormat::Json {
                    out.write_all(b"\n]\n")?;
                }
                out.flush()?;
            }
            None if self.args.format == SampleFormat::Json => {
                let mut out = output::stdout();
                out.write_all(b"[]\n")?;
                out.flush()?;
            }
            None => {}
        }
        if self.shown == 0 {
            return self.filter.nothing_found(self.log);
        }
        let total = self.log.sample_count();
        let of_all = (self.shown < total).then(|| format!("{} of {total} samples shown", self.shown));
        let cut = self.is_cut.then(|| "long texts are cut, --full shows them whole".to_owned());
        let notes: Vec<String> = of_all.into_iter().chain(cut).collect();
        if !notes.is_empty() && !self.is_closed {
            diagnostics.push(Diagnostic::note(notes.join("; ")));
        }
        Ok(diagnostics)
    }
}

/// How many keys are remembered for messages.
const MOST_KEYS: usize = 1000;

/// What is looked for, and what was seen on the way.
struct SampleFilter<'a> {
    args: &'a ShowArgs,
    /// The scorers that the log records.
    expected: Vec<String>,
    /// How many samples were looked at.
    seen: usize,
    /// How many of them have the outcome, a reason, and each of the conditions.
    outcomes: usize,
    reasoned: usize,
    met: Vec<usize>,
    /// The values of the keys of the conditions.
    values: Vec<KnownValues>,
    reasons: KnownValues,
    scorers: IndexSet<String>,
    keys: IndexSet<String>,
    /// The last epoch that any sample has.
    last_epoch: AtomicU32,
}

impl<'a> SampleFilter<'a> {
    fn new(args: &'a ShowArgs, expected: Vec<String>) -> Self {
        let count = args.conditions.len();
        SampleFilter {
            args,
            scorers: expected.iter().cloned().collect(),
            expected,
            seen: 0,
            outcomes: 0,
            reasoned: 0,
            met: vec![0; count],
            values: std::iter::repeat_with(KnownValues::default).take(count).collect(),
            reasons: KnownValues::default(),
            keys: IndexSet::new(),
            last_epoch: AtomicU32::new(0),
        }
    }

    /// Whether a sample of this id and epoch is looked at.
    fn wants_key(&self, id: &SampleId, epoch: u32) -> bool {
        self.last_epoch.fetch_max(epoch, Ordering::Relaxed);
        let ids = &self.args.samples;
        self.args.epoch.is_none_or(|wanted| wanted == epoch)
            && (ids.is_empty() || ids.iter().any(|wanted| *wanted == id.to_string()))
    }

    /// Whether a sample is shown. What it has is remembered.
    fn matches(&mut self, sample: &Transcript) -> bool {
        self.seen += 1;
        let has_outcome = self.has_outcome(sample);
        self.outcomes += usize::from(has_outcome);
        let reasons = self.reasons_of(sample);
        let is_reasoned =
            self.args.reasons.is_empty() || reasons.iter().any(|found| self.args.reasons.contains(found));
        self.reasoned += usize::from(is_reasoned);
        reasons.into_iter().for_each(|reason| self.reasons.add(reason));
        let mut meets_all = true;
        for ((condition, met), values) in self.args.conditions.iter().zip(&mut self.met).zip(&mut self.values)
        {
            let is_met = condition.matches(&sample.metadata);
            *met += usize::from(is_met);
            meets_all &= is_met;
            match condition.lookup(&sample.metadata) {
                Some(Value::Array(items)) => items.iter().for_each(|item| values.add(text_of(item))),
                Some(value) => values.add(text_of(value)),
                None => {}
            }
        }
        if self.keys.len() < MOST_KEYS {
            self.keys.extend(sample.metadata.iter().map(|(key, _)| key.clone()));
        }
        if self.scorers.len() < MOST_KEYS {
            self.scorers.extend(sample.scores.keys().cloned());
        }
        // One that the log does not record shows only where it is.
        let is_scored =
            |scorer: &String| self.expected.contains(scorer) || sample.scores.contains_key(scorer);
        let has_scorer = self.args.scorers.is_empty() || self.args.scorers.iter().any(is_scored);
        has_outcome && is_reasoned && meets_all && has_scorer
    }

    fn looks_for_outcome(&self) -> bool {
        let ShowArgs { wrong, below, errors, unscored, .. } = self.args;
        *wrong || below.is_some() || *errors || *unscored
    }

    fn has_outcome(&self, sample: &Transcript) -> bool {
        let ShowArgs { wrong, below, errors, unscored, .. } = self.args;
        !self.looks_for_outcome()
            || (*errors && sample.error.is_some())
            || (*unscored && sample.error.is_none() && self.is_unscored(sample))
            || (*wrong
                && self.scores(sample).any(|score| Verdict::all_of(&score.value).contains(&Verdict::Wrong)))
            || below.is_some_and(|below| self.scores(sample).any(|score| is_below(score, below)))
    }

    /// The scores that count.
    fn scores<'s>(&'s self, sample: &'s Transcript) -> impl Iterator<Item = &'s Score> {
        let is_wanted = |scorer: &String| self.args.scorers.is_empty() || self.args.scorers.contains(scorer);
        sample.scores.iter().filter(move |(scorer, _)| is_wanted(scorer)).map(|(_, score)| score)
    }

    fn is_unscored(&self, sample: &Transcript) -> bool {
        let has_none = |score: &Score| Verdict::all_of(&score.value).contains(&Verdict::Unscored);
        self.is_missing(sample) || self.scores(sample).any(has_none)
    }

    /// Whether a scorer has given the sample no score at all.
    fn is_missing(&self, sample: &Transcript) -> bool {
        let is_wanted = |scorer: &&String| self.args.scorers.is_empty() || self.args.scorers.contains(scorer);
        self.expected.iter().filter(is_wanted).any(|scorer| !sample.scores.contains_key(scorer))
            || sample.scores.is_empty()
    }

    fn reasons_of(&self, sample: &Transcript) -> IndexSet<String> {
        let mut reasons: IndexSet<String> =
            self.scores(sample).filter_map(|score| score.reason.clone()).collect();
        if sample.error.is_some() {
            reasons.insert("error".to_owned());
        } else if self.is_missing(sample) {
            reasons.insert("missing".to_owned());
        }
        reasons.extend(sample.limit.as_ref().map(|kind| format!("{kind}_limit")));
        reasons
    }

    /// Why no sample is shown. What the log does not have at all is an error.
    fn nothing_found(&self, log: &EvalLog) -> Result<Diagnostics, Diagnostics> {
        let path = log.path().display();
        let total = counted(log.sample_count() as u64, "sample");
        if log.sample_count() == 0 {
            return Ok(Diagnostic::warning("the log has no samples").about(path).into());
        }
        if self.seen == 0 {
            return match (self.args.samples.first(), self.args.epoch) {
                (Some(id), epoch) => Err(no_sample(log, id, epoch)?.into()),
                (None, Some(epoch)) => {
                    let last = self.last_epoch.load(Ordering::Relaxed);
                    let problem = format!("no sample has epoch {epoch}; the last epoch is {last}");
                    Err(Diagnostic::error(problem).about(path).into())
                }
                // All of them could not be read, which is reported.
                (None, None) => Ok(Diagnostics::default()),
            };
        }
        let known: Vec<String> = self.scorers.iter().cloned().collect();
        if let Some(name) = self.args.scorers.iter().find(|name| !known.contains(name)) {
            return Err(unknown_scorer(name, &known).about(path).into());
        }
        let mut errors = Diagnostics::default();
        if self.reasoned == 0 {
            errors.push(self.unknown_reason(&total).about(&path));
        }
        let conditions = self.args.conditions.iter().zip(&self.met).zip(&self.values);
        for ((condition, _), values) in conditions.clone().filter(|((_, met), _)| **met == 0) {
            errors.push(self.unmet(condition, values, &total).about(&path));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut counts: Vec<String> = Vec::new();
        if self.looks_for_outcome() {
            counts.push(format!("{} that {}", self.outcomes, self.outcome_in_words()));
        }
        if !self.args.reasons.is_empty() {
            counts.push(format!("{} with the reason {}", self.reasoned, self.args.reasons.join(" or ")));
        }
        counts.extend(conditions.map(|((condition, met), _)| format!("{met} with {condition}")));
        let found = match counts.as_slice() {
            [_] if self.looks_for_outcome() => {
                format!("none of {} {}", counted(self.seen as u64, "sample"), self.outcome_in_words())
            }
            _ => format!(
                "no sample matches all that is looked for: of {}, {}",
                counted(self.seen as u64, "sample"),
                counts.join(", ")
            ),
        };
        Ok(Diagnostic::note(found).about(path).into())
    }

    fn outcome_in_words(&self) -> String {
        let ShowArgs { wrong, below, errors, unscored, .. } = self.args;
        let words = [
            wrong.then(|| "is wrong".to_owned()),
            below.map(|below| format!("has a score below {below}")),
            errors.then(|| "failed".to_owned()),
            unscored.then(|| "is unscored".to_owned()),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" or ")
    }

    fn unknown_reason(&self, total: &str) -> Diagnostic {
        let wanted: Vec<String> = self.args.reasons.iter().map(|reason| format!("`{reason}`")).collect();
        let wanted = wanted.join(" or ");
        if self.reasons.is_empty() {
            return Diagnostic::error(format!("no sample has the reason {wanted}; none of {total} has any"));
        }
        let near = self.args.reasons.iter().find_map(|reason| self.reasons.nearest(reason));
        Diagnostic::error(format!("no sample has the reason {wanted}; reasons: {}", self.reasons.list()))
            .hint_if(near)
    }

    fn unmet(&self, condition: &Condition, values: &KnownValues, total: &str) -> Diagnostic {
        let (key, value) = (condition.key(), condition.value());
        if condition.is_negated() {
            return Diagnostic::error(format!("every one of {total} has {key}={value}"));
        }
        if !values.is_empty() {
            let problem = format!("no sample has {condition}; values: {}", values.list());
            return Diagnostic::error(problem).hint_if(values.nearest(value));
        }
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        let near = nearest(key, keys.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let more = if keys.len() > NAMED { ", …" } else { "" };
        let known = match keys.as_slice() {
            [] => format!("none of {total} has metadata"),
            keys => {
                format!("keys: {}{more}", keys.iter().take(NAMED).copied().collect::<Vec<_>>().join(", "))
            }
        };
        Diagnostic::error(format!("no sample has the metadata `{key}`; {known}")).hint_if(near)
    }
}

/// Whether a value of the score counts less than this.
fn is_below(score: &Score, below: f64) -> bool {
    let conversion = ValueToFloat::default();
    let is_low = |leaf| {
        let number = conversion.convert_leaf(leaf);
        number.convertible && number.value < below
    };
    match score.value.view() {
        ValueRef::Leaf(leaf) => is_low(leaf),
        ValueRef::List(items) => items.iter().any(|leaf| is_low(leaf.view())),
        ValueRef::Map(map) => map.values().any(|leaf| is_low(leaf.view())),
    }
}
