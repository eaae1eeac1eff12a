//! `errorbar list`: everything that a spec can name.

use std::fmt::Write as _;

use anstyle::Style;
use clap::{Args, ValueEnum};
use errorbar_core::Registry;
use errorbar_core::registry::EntryInfo as Entry;
use errorbar_eval::{AnyScorer, AnySolver, Provider, Task};
use errorbar_report::{Listing, ListingCell, wrap};
use serde_json::json;

use super::Status;
use super::common::{self, Format};
use super::output;

const EXAMPLES: &str = "\
Examples:
  errorbar list
  errorbar list scorers
  errorbar list metrics --format json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    /// What to list; everything if not said
    #[arg(value_enum)]
    kind: Option<EntryKind>,
    /// How to write it
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EntryKind {
    Metrics,
    Reducers,
    Scorers,
    Solvers,
    Models,
    Tasks,
    Conversions,
}

impl EntryKind {
    const ALL: [EntryKind; 7] = [
        EntryKind::Metrics,
        EntryKind::Reducers,
        EntryKind::Scorers,
        EntryKind::Solvers,
        EntryKind::Models,
        EntryKind::Tasks,
        EntryKind::Conversions,
    ];

    fn singular(self) -> &'static str {
        match self {
            EntryKind::Metrics => "metric",
            EntryKind::Reducers => "reducer",
            EntryKind::Scorers => "scorer",
            EntryKind::Solvers => "solver",
            EntryKind::Models => "model",
            EntryKind::Tasks => "task",
            EntryKind::Conversions => "conversion",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            EntryKind::Metrics => "Metrics",
            EntryKind::Reducers => "Reducers",
            EntryKind::Scorers => "Scorers",
            EntryKind::Solvers => "Solvers",
            EntryKind::Models => "Models",
            EntryKind::Tasks => "Tasks",
            EntryKind::Conversions => "Conversions",
        }
    }

    fn entries(self, registry: &Registry) -> Vec<&Entry> {
        match self {
            EntryKind::Metrics => registry.list_metrics().collect(),
            EntryKind::Reducers => registry.list_reducers().collect(),
            EntryKind::Scorers => registry.list::<AnyScorer>().collect(),
            EntryKind::Solvers => registry.list::<AnySolver>().collect(),
            EntryKind::Models => registry.list::<Provider>().collect(),
            EntryKind::Tasks => registry.list::<Task>().collect(),
            EntryKind::Conversions => registry.list_conversions().collect(),
        }
    }

    /// How an entry is written: a call with its arguments, for a model what stands before the slash.
    fn signature(self, entry: &Entry) -> String {
        match self {
            EntryKind::Models => format!("{}/…", entry.name),
            _ => entry.signature(),
        }
    }
}

type Section<'a> = (EntryKind, Vec<&'a Entry>);

pub(crate) fn run(args: &ListArgs, registry: &Registry) -> anyhow::Result<Status> {
    let kinds = args.kind.map_or(EntryKind::ALL.to_vec(), |kind| vec![kind]);
    let mut sections: Vec<Section<'_>> =
        kinds.into_iter().map(|kind| (kind, kind.entries(registry))).collect();
    if args.kind.is_none() {
        sections.retain(|(_, entries)| !entries.is_empty());
    }
    match args.format {
        // More than fits the columns of a table: arguments and sentences are wrapped.
        Format::Table => common::show(|color| table(&sections, color))?,
        // With signatures as code, for the reference page.
        Format::Markdown => output::print(markdown(&sections).as_bytes())?,
        Format::Latex => {
            for (at, (kind, entries)) in sections.iter().enumerate() {
                if at > 0 {
                    output::print(b"\n")?;
                }
                args.format.write_listing(&for_people(*kind, entries))?;
            }
        }
        Format::Json => args.format.write_listing(&as_json(&sections))?,
        Format::Csv => args.format.write_listing(&as_csv(&sections))?,
    }
    Ok(Status::Fine)
}

fn table(sections: &[Section<'_>], color: bool) -> String {
    let bold = if color { Style::new().bold() } else { Style::new() };
    let width = common::width();
    let mut text = String::new();
    for (at, (kind, entries)) in sections.iter().enumerate() {
        let _ = writeln!(text, "{}{bold}{}{bold:#}", if at > 0 { "\n" } else { "" }, kind.plural());
        for entry in entries {
            let signature = kind.signature(entry);
            let (name, arguments) = signature.split_at(entry.name.len().min(signature.len()));
            let mut lines = wrap(arguments, width.saturating_sub(6 + name.len())).into_iter();
            let _ = writeln!(text, "  {bold}{name}{bold:#}{}", lines.next().unwrap_or_default());
            for line in lines {
                let _ = writeln!(text, "  {}{line}", " ".repeat(name.len() + 1));
            }
            for line in wrap(&entry.summary(), width.saturating_sub(6)) {
                let _ = writeln!(text, "      {line}");
            }
        }
    }
    text
}

fn markdown(sections: &[Section<'_>]) -> String {
    let mut text = String::new();
    for (at, (kind, entries)) in sections.iter().enumerate() {
        let before = if at > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{before}| {} | |\n|---|---|", kind.singular());
        for entry in entries {
            let cell = |text: &str| text.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {} |", cell(&kind.signature(entry)), cell(&entry.summary()));
        }
    }
    text
}

fn for_people(kind: EntryKind, entries: &[&Entry]) -> Listing {
    let mut listing = Listing::new([kind.singular(), "summary"]);
    for entry in entries {
        listing.push([kind.signature(entry), entry.summary()]);
    }
    listing
}

fn as_json(sections: &[Section<'_>]) -> Listing {
    let mut listing = Listing::new(["kind", "name", "signature", "params", "doc", "built_in"]);
    for (kind, entry) in all(sections) {
        let params = entry.params.iter().map(|p| json!({"name": p.name, "default": p.default})).collect();
        listing.push([
            ListingCell::from(kind.singular()),
            entry.name.as_str().into(),
            kind.signature(entry).into(),
            ListingCell::new("", params),
            entry.doc.trim().into(),
            ListingCell::new("", entry.built_in.into()),
        ]);
    }
    listing
}

fn as_csv(sections: &[Section<'_>]) -> Listing {
    let mut listing = Listing::new(["kind", "name", "signature", "doc"]);
    for (kind, entry) in all(sections) {
        listing.push([kind.singular(), &entry.name, &kind.signature(entry), &entry.summary()]);
    }
    listing
}

fn all<'a>(sections: &'a [Section<'a>]) -> impl Iterator<Item = (EntryKind, &'a Entry)> {
    sections.iter().flat_map(|(kind, entries)| entries.iter().map(|entry| (*kind, *entry)))
}
