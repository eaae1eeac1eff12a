//! `errorbar cache list`: a line per model.

use clap::Args;
use errorbar_eval::{CacheFolder, ModelAnswers};
use jiff::Timestamp;
use serde_json::json;

use super::super::common::{self, Format, human_size};
use super::super::output;
use super::super::told::Told;

const EXAMPLES: &str = "\
Examples:
  errorbar cache list
  errorbar cache list --format json

Times are in UTC. Files that are named like answers and cannot be read are counted apart; they are
never used, and the next answer takes their place.

Exit code: 0 if all is well, 2 if the folder could not be read.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    /// How to write the list
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &ListArgs, folder: &CacheFolder, told: &mut Told) -> anyhow::Result<()> {
    let models = match folder.answers() {
        Ok(answers) => ModelAnswers::count(&answers),
        Err(error) => {
            told.error(error.to_string(), None);
            return Ok(());
        }
    };
    if models.is_empty() {
        told.note(format!("no answers are kept in {}", folder.path().display()));
    }
    match args.format {
        Format::Json => output::print(json(&models)?.as_bytes())?,
        Format::Csv => output::print(&csv(&models)?)?,
        Format::Table | Format::Markdown if models.is_empty() => {}
        Format::Table => common::show(|color| common::columns(TITLES, &rows(&models), color))?,
        Format::Markdown => output::print(common::markdown(TITLES, &rows(&models)).as_bytes())?,
    }
    Ok(())
}

const TITLES: [&str; 5] = ["model", "answers", "size", "oldest", "newest"];

/// The cells for people, with the sum of all at the end.
fn rows(models: &[ModelAnswers]) -> Vec<[String; 5]> {
    let time = |time: Timestamp| time.strftime("%Y-%m-%d %H:%M").to_string();
    let row = |name: String, answers: u64, bytes: u64, oldest, newest| {
        [name, answers.to_string(), human_size(bytes), time(oldest), time(newest)]
    };
    let mut rows: Vec<[String; 5]> = models
        .iter()
        .map(|ModelAnswers { model, answers, bytes, oldest, newest }| {
            let name = model.as_deref().map_or_else(|| "(cannot be read)".to_owned(), str::to_owned);
            row(name, *answers, *bytes, *oldest, *newest)
        })
        .collect();
    let oldest = models.iter().map(|model| model.oldest).min();
    let newest = models.iter().map(|model| model.newest).max();
    if let (Some(oldest), Some(newest)) = (oldest, newest) {
        let answers = models.iter().map(|model| model.answers).sum();
        let bytes = models.iter().map(|model| model.bytes).sum();
        rows.push(row("total".to_owned(), answers, bytes, oldest, newest));
    }
    rows
}

fn json(models: &[ModelAnswers]) -> serde_json::Result<String> {
    let object = |ModelAnswers { model, answers, bytes, oldest, newest }: &ModelAnswers| {
        json!({
            "model": model,
            "answers": answers,
            "bytes": bytes,
            "oldest": oldest.to_string(),
            "newest": newest.to_string(),
        })
    };
    serde_json::to_string_pretty(&models.iter().map(object).collect::<Vec<_>>()).map(|text| text + "\n")
}

fn csv(models: &[ModelAnswers]) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["model", "answers", "bytes", "oldest", "newest"])?;
    for ModelAnswers { model, answers, bytes, oldest, newest } in models {
        let (answers, bytes) = (answers.to_string(), bytes.to_string());
        let (oldest, newest) = (oldest.to_string(), newest.to_string());
        writer.write_record([model.as_deref().unwrap_or_default(), &answers, &bytes, &oldest, &newest])?;
    }
    Ok(writer.into_inner()?)
}
