//! `errorbar cache list`: a line per model.

use clap::Args;
use errorbar_eval::{CacheFolder, ModelAnswers};
use errorbar_report::{Listing, ListingCell};
use jiff::Timestamp;

use super::super::{CommandOutcome, CommandResult};
use crate::diagnostic::Diagnostic;
use crate::format::{Format, human_size};

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
    /// The format of the list; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &CacheListArgs, folder: &CacheFolder) -> CommandResult {
    let models = ModelAnswers::count(&folder.answers()?);
    let mut outcome = CommandOutcome::default();
    if models.is_empty() {
        let text = format!("there are no cached answers in {}", folder.path().display());
        outcome.diagnostics.push(Diagnostic::note(text));
    }
    let is_for_people = args.format.is_for_people();
    if !(models.is_empty() && is_for_people) {
        outcome.output = args.format.listing(listing(models, is_for_people));
    }
    Ok(outcome)
}

/// A row per model; for people with the sum of all at the end.
fn listing(mut models: Vec<ModelAnswers>, is_for_people: bool) -> Listing {
    let oldest = models.iter().map(|model| model.oldest).min();
    let newest = models.iter().map(|model| model.newest).max();
    if let (true, Some(oldest), Some(newest)) = (is_for_people, oldest, newest) {
        let (answers, bytes) =
            models.iter().fold((0, 0), |(a, b), model| (a + model.answers, b + model.bytes));
        models.iter_mut().for_each(|model| {
            model.model.get_or_insert_with(|| "(cannot be read)".to_owned());
        });
        models.push(ModelAnswers { model: Some("total".to_owned()), answers, bytes, oldest, newest });
    }
    let size = |bytes: u64| if is_for_people { human_size(bytes).into() } else { ListingCell::from(bytes) };
    let time = |time: Timestamp| match is_for_people {
        true => ListingCell::from(time.strftime("%Y-%m-%d %H:%M").to_string()),
        false => time.to_string().into(),
    };
    let titles = ["model", "answers", if is_for_people { "size" } else { "bytes" }, "oldest", "newest"];
    let mut listing = Listing::new(titles);
    for ModelAnswers { model, answers, bytes, oldest, newest } in models {
        listing.push([model.into(), answers.into(), size(bytes), time(oldest), time(newest)]);
    }
    listing
}
