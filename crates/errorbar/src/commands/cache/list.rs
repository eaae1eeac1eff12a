//! `errorbar cache list`: a line per model.

use clap::Args;
use errorbar_eval::{CacheFolder, ModelAnswers};
use errorbar_report::{Listing, ListingCell};
use jiff::Timestamp;

use super::super::common::{Format, human_size};
use super::super::{CommandResult, Outcome};
use crate::diagnostic::Diagnostic;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar cache list
  errorbar cache list --format json

Times are in UTC. Files that are named like answers and cannot be read are counted separately; they
are never used, and the next answer replaces them.

Exit code: 0 if all is well, 2 if the folder could not be read.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CacheListArgs {
    /// The format of the list
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &CacheListArgs, folder: &CacheFolder) -> CommandResult {
    let models = ModelAnswers::count(&folder.answers()?);
    let mut outcome = Outcome::default();
    if models.is_empty() {
        let text = format!("there are no cached answers in {}", folder.path().display());
        outcome.diagnostics.push(Diagnostic::note(text));
    }
    outcome.output = match args.format.is_for_people() {
        true if models.is_empty() => Output::Nothing,
        true => args.format.listing(for_people(&models)),
        false => args.format.listing(as_data(&models)),
    };
    Ok(outcome)
}

/// With the sum of all at the end.
fn for_people(models: &[ModelAnswers]) -> Listing {
    let time = |time: Timestamp| time.strftime("%Y-%m-%d %H:%M").to_string();
    let mut listing = Listing::new(["model", "answers", "size", "oldest", "newest"]);
    let mut push = |name: &str, answers: u64, bytes: u64, oldest, newest| {
        let cells = [human_size(bytes), time(oldest), time(newest)].map(ListingCell::from);
        listing.push([ListingCell::from(name), ListingCell::from(answers)].into_iter().chain(cells));
    };
    for ModelAnswers { model, answers, bytes, oldest, newest } in models {
        push(model.as_deref().unwrap_or("(cannot be read)"), *answers, *bytes, *oldest, *newest);
    }
    let oldest = models.iter().map(|model| model.oldest).min();
    let newest = models.iter().map(|model| model.newest).max();
    if let (Some(oldest), Some(newest)) = (oldest, newest) {
        let answers = models.iter().map(|model| model.answers).sum();
        let bytes = models.iter().map(|model| model.bytes).sum();
        push("total", answers, bytes, oldest, newest);
    }
    listing
}

fn as_data(models: &[ModelAnswers]) -> Listing {
    let mut listing = Listing::new(["model", "answers", "bytes", "oldest", "newest"]);
    for ModelAnswers { model, answers, bytes, oldest, newest } in models {
        listing.push([
            ListingCell::from(model.as_deref()),
            (*answers).into(),
            (*bytes).into(),
            oldest.to_string().into(),
            newest.to_string().into(),
        ]);
    }
    listing
}
