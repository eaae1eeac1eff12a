//! `errorbar cache`: the cached answers of models.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use errorbar_eval::{Cache, CachedAnswer, ModelAnswers};
use errorbar_report::{Listing, ListingCell};
use glob::Pattern;
use jiff::Timestamp;

use super::{CommandOutcome, CommandResult};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::{Format, counted, human_size, parse_duration};
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
    /// The folder of the cache [default: the user's folder for caches]
    #[arg(long, global = true, value_name = "DIR", env = "ERRORBAR_CACHE_DIR")]
    cache_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Print the folder of the cache
    Path,
    /// List the models with cached answers, and how many
    List(CacheListArgs),
    /// Remove answers: all, those of a model, those that are old
    Clear(ClearArgs),
}

pub(crate) fn run(args: &CacheArgs) -> CommandResult {
    let named = args.cache_dir.as_deref().map(Cache::folder_in);
    let cache = Cache::at(named.map_or_else(Cache::default_folder, Ok)?);
    match &args.command {
        CacheCommand::Path => {
            let path = cache.folder.as_os_str().as_encoded_bytes();
            Ok(Output::Data([path, b"\n"].concat()).into())
        }
        CacheCommand::List(args) => list(args, &cache),
        CacheCommand::Clear(args) => clear(args, &cache),
    }
}

const LIST_EXAMPLES: &str = "\
Examples:
  errorbar cache list
  errorbar cache list --format json

Times are in UTC. Files that are named like answers and cannot be read are counted separately; they
are never used, and the next answer replaces them.

Exit code: 0 if all is well, 2 if the folder could not be read.";

#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct CacheListArgs {
    /// The format of the list; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

fn list(args: &CacheListArgs, cache: &Cache) -> CommandResult {
    let models = ModelAnswers::count(&cache.answers()?);
    let mut outcome = CommandOutcome::default();
    if models.is_empty() {
        let text = format!("there are no cached answers in {}", cache.folder.display());
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

const CLEAR_EXAMPLES: &str = "\
Examples:
  errorbar cache clear --older-than 1w
  errorbar cache clear --model 'openai/*' --older-than 30d
  errorbar cache clear --all

There is no confirmation; what was removed is reported. Nothing but answers is removed, whatever else
is in the folder, and a concurrent run is not disturbed.

Exit code: 0 if all is well, even if there was nothing to remove; 2 if something could not be read or
removed.";

#[derive(Debug, Args)]
#[command(after_help = CLEAR_EXAMPLES)]
pub(crate) struct ClearArgs {
    /// Remove all answers
    #[arg(long, conflicts_with_all = ["models", "older_than"])]
    all: bool,
    /// Only those of this model: a name, or a pattern such as 'openai/*'; may be repeated
    #[arg(long = "model", value_name = "MODEL")]
    models: Vec<String>,
    /// Only those that are at least this old: 30s, 10m, 2h, 7d, 1w
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    older_than: Option<Duration>,
}

fn clear(args: &ClearArgs, cache: &Cache) -> CommandResult {
    let ClearArgs { all, models, older_than } = args;
    if !all && models.is_empty() && older_than.is_none() {
        let hint = "choose them with --model or --older-than, or remove all with --all";
        return Err(Diagnostic::error("no answers to remove were chosen").hint(hint).into());
    }
    let models: Vec<ModelPattern<'_>> = models.iter().map(|name| ModelPattern::new(name)).collect();
    let is_chosen = |answer: &CachedAnswer| {
        let name = answer.model.as_deref();
        (models.is_empty() || name.is_some_and(|name| models.iter().any(|model| model.is(name))))
            && older_than.is_none_or(|age| answer.is_older(age))
    };
    let removed = cache.remove(is_chosen)?;
    let place = cache.folder.display();
    let text = match removed.answers {
        0 => format!("there was nothing to remove in {place}"),
        answers => {
            format!("removed {} ({}) from {place}", counted(answers, "answer"), human_size(removed.bytes))
        }
    };
    Ok(Diagnostics::from(Diagnostic::note(text)).into())
}

/// A name of a model, or a pattern of names.
struct ModelPattern<'a> {
    name: &'a str,
    /// None if it can be nothing but a name.
    pattern: Option<Pattern>,
}

impl<'a> ModelPattern<'a> {
    fn new(name: &'a str) -> Self {
        ModelPattern { name, pattern: Pattern::new(name).ok() }
    }

    fn is(&self, name: &str) -> bool {
        self.name == name || self.pattern.as_ref().is_some_and(|pattern| pattern.matches(name))
    }
}
