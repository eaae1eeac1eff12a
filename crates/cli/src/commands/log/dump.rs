//! `errorbar log dump`: records of a log, as JSON.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use errorbar_core::MetadataKeys;
use errorbar_core::spec::nearest;
use errorbar_log::eval::{EvalLog, LogError, LogErrorKind, SampleFields, Status as RunStatus};
use errorbar_log::{JsonLayout, StrictWriter};

use super::super::{CommandOutcome, CommandResult};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::output;
use errorbar_analysis::ReadRequest;

const EXAMPLES: &str = "\
Examples:
  errorbar log dump logs/run.eval
  errorbar log dump logs/run.eval --samples | head -n 3
  errorbar log dump logs/run.eval --sample q17 --epoch 2

All fields are printed, known to this program or not. It is strict JSON: bare NaN and Infinity, which
logs may hold, are null. With --raw, the bytes are those of the log.

Exit code: 0 if all is well, 2 if something could not be read or does not exist.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DumpArgs {
    /// An eval log, or a handle: @1, latest
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The header: task, model, status, results [default]
    #[arg(long, group = "what")]
    header: bool,
    /// All samples, one per line, by epoch and then in the order of the dataset
    #[arg(long, group = "what")]
    samples: bool,
    /// One sample, with messages and events
    #[arg(long, value_name = "ID", group = "what", allow_hyphen_values = true)]
    sample: Option<String>,
    /// The epoch of that sample
    #[arg(long, value_name = "N", requires = "sample", default_value_t = 1)]
    epoch: u32,
    /// Print the bytes of the log as they are
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    read: ReadRequest,
}

pub(crate) fn run(args: &DumpArgs) -> CommandResult {
    let log = args.read.open_named(&args.log)?;
    let mut out = RecordWriter { inner: output::stdout(), raw: args.raw };
    let mut outcome = CommandOutcome::default();
    if args.samples {
        let mut samples = log.samples_with(SampleFields::scores(MetadataKeys::NONE))?;
        while out.write(JsonLayout::Line, |out| samples.copy_next(out))? {}
    } else if let Some(id) = &args.sample {
        if !out.write(JsonLayout::Pretty, |out| log.copy_sample(id, args.epoch, out))? {
            return Err(no_sample(&log, id, Some(args.epoch))?.into());
        }
    } else {
        out.write(JsonLayout::Pretty, |out| log.copy_header(out).map(|()| true))?;
        if log.header().is_ok_and(|header| header.status == RunStatus::Started) {
            let text = "the run is in progress or was interrupted; this is what was recorded at its start";
            outcome.diagnostics.push(Diagnostic::warning(text).about(log.path().display()));
        }
    }
    out.inner.flush()?;
    Ok(outcome)
}

/// Where records go: as they are, or made strict. They pass through in pieces, whatever their size.
struct RecordWriter {
    inner: Box<dyn Write + Send>,
    raw: bool,
}

impl RecordWriter {
    /// Writes the record that `copy` gives; false if it gives none.
    fn write(
        &mut self,
        layout: JsonLayout,
        mut copy: impl FnMut(&mut dyn Write) -> Result<bool, LogError>,
    ) -> Result<bool, Diagnostics> {
        let copied = match self.raw {
            true => copy(&mut self.inner),
            false => copy(&mut StrictWriter::new(&mut self.inner, layout)),
        };
        let is_there = copied.map_err(|error| match error.kind() {
            LogErrorKind::Write(error) => Diagnostics::from(io::Error::new(error.kind(), error.to_string())),
            _ => error.into(),
        })?;
        if is_there {
            self.inner.write_all(b"\n")?;
        }
        Ok(is_there)
    }
}

/// The error of a sample that does not exist, with its epochs or samples of a similar id.
pub(super) fn no_sample(log: &EvalLog, id: &str, epoch: Option<u32>) -> Result<Diagnostic, LogError> {
    const SHOWN: usize = 3;
    let (mut ids, mut epochs, mut count) = (Vec::<String>::new(), Vec::new(), 0);
    for sample in log.samples_with(SampleFields::scores(MetadataKeys::NONE))? {
        let sample = sample?;
        count += 1;
        let found = sample.id.to_string();
        if found == id {
            epochs.push(sample.epoch);
        }
        // By epoch: the first one has nearly all of them.
        if sample.epoch == 1 || !ids.contains(&found) {
            ids.push(found);
        }
    }
    let error = |problem: String| Diagnostic::error(problem).about(log.path().display());
    if let (Some(first), Some(last), Some(epoch)) = (epochs.first(), epochs.last(), epoch) {
        let known =
            if first == last { format!("epoch {first}") } else { format!("epochs {first} to {last}") };
        let error = error(format!("sample `{id}` has no epoch {epoch}, only {known}"));
        return Ok(error.hint(format!("choose one with --epoch, such as --epoch {first}")));
    }
    let mut others: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut near = Vec::new();
    while let Some(found) = nearest(id, others.iter().copied()).filter(|_| near.len() < SHOWN) {
        others.retain(|other| *other != found);
        near.push(format!("`{found}`"));
    }
    let hint = if ids.is_empty() {
        "the run has saved none; run it again or wait".to_owned()
    } else if near.is_empty() {
        let some: Vec<String> = ids.iter().take(SHOWN).map(|id| format!("`{id}`")).collect();
        format!("the ids are {}{}", some.join(", "), if ids.len() > SHOWN { ", …" } else { "" })
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Ok(error(format!("no sample has the id `{id}`; the log has {count} samples")).hint(hint))
}
