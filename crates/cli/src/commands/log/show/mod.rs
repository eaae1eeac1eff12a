//! `errorbar log show`: samples for people to read.

mod filter;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use errorbar_core::Condition;
use errorbar_core::engine::unique_names;
use errorbar_log::eval::{EvalInfo, EvalLog, Header, StoppedEarly, Transcript, Transcripts};
use errorbar_report::{Json, Markdown, TranscriptView};
use jiff::Timestamp;

use super::super::{CommandOutcome, CommandResult};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::counted;
use crate::format::table;
use crate::output;
use crate::pager::TextSink;
use errorbar_analysis::{ReadRequest, recovered, status_of_unfinished};
use filter::SampleFilter;

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
            expected: filter.expected().to_vec(),
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
            let matching = match read {
                Ok(transcript) => self.filter.matches(&transcript).then_some(Ok(transcript)),
                Err(error) => Some(Err(error)),
            };
            let completed = match matching {
                None => continue,
                Some(Ok(mut transcript)) => {
                    transcripts.complete(&mut transcript, self.args.messages).map(|()| transcript)
                }
                Some(Err(error)) => Err(error),
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
