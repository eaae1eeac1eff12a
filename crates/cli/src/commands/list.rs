//! `errorbar list`: everything that a spec can name.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use errorbar_core::registry::EntryInfo as Entry;
use errorbar_core::{DocSections, Registry};
use errorbar_eval::{AnyScorer, AnySolver, Provider, Task};
use errorbar_report::{Latex, Listing, ListingCell, Render};
use serde_json::json;

use super::help::Page;
use super::{CommandOutcome, CommandResult, task_list};
use crate::diagnostic::Diagnostic;
use crate::format::{self, Format};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar list
  errorbar list scorers
  errorbar list tasks examples/
  errorbar list metrics --format json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    /// What to list [default: everything]
    #[arg(value_enum)]
    kind: Option<EntryKind>,
    /// With `tasks`: task files, or folders of them, whose tasks to list in place of those of this program
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The format of the list; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EntryKind {
    Metrics,
    Reducers,
    Scorers,
    Solvers,
    Models,
    Tasks,
    Conversions,
}

impl EntryKind {
    /// Its name in the plural, as it is given.
    pub(super) fn plural(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The same as a heading.
    pub(super) fn title(self) -> String {
        let name = self.plural();
        let (first, rest) = name.split_at(1);
        first.to_uppercase() + rest
    }

    pub(super) fn singular(self) -> String {
        self.plural().trim_end_matches('s').to_owned()
    }

    /// The kind that a word names, in the singular or the plural.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        let named = |kind: &&Self| word == kind.singular() || word == kind.plural();
        EntryKind::value_variants().iter().find(named).copied()
    }

    pub(super) fn entries(self, registry: &Registry) -> Vec<Entry> {
        match self {
            EntryKind::Metrics => registry.list_metrics().cloned().collect(),
            EntryKind::Reducers => registry.list_reducers().cloned().collect(),
            EntryKind::Scorers => registry.list::<AnyScorer>().cloned().collect(),
            EntryKind::Solvers => registry.list::<AnySolver>().cloned().collect(),
            EntryKind::Models => registry.list::<Provider>().cloned().collect(),
            EntryKind::Tasks => registry.list::<Task>().cloned().collect(),
            EntryKind::Conversions => registry.list_conversions().cloned().collect(),
        }
    }

    /// How an entry is written: a call with its arguments, for a model what stands before the slash.
    pub(super) fn signature(self, entry: &Entry) -> String {
        match self {
            EntryKind::Models => format!("{}/…", entry.name),
            _ => entry.signature(),
        }
    }
}

type Section = (EntryKind, Vec<Entry>);

pub(crate) fn run(args: &ListArgs, registry: &Registry) -> CommandResult {
    match args.kind {
        _ if args.paths.is_empty() => {}
        Some(EntryKind::Tasks) => return Ok(task_list::run(&args.paths, args.format, registry)),
        _ => {
            let hint = "leave the path out, or list the tasks of files: list tasks PATH";
            return Err(Diagnostic::error("only tasks are in files").hint(hint).into());
        }
    }
    let kinds = args.kind.map_or(EntryKind::value_variants().to_vec(), |kind| vec![kind]);
    let mut sections: Vec<Section> = kinds.into_iter().map(|kind| (kind, kind.entries(registry))).collect();
    sections.retain(|(_, entries)| args.kind.is_some() || !entries.is_empty());
    let output = match args.format {
        // More than fits the columns of a table: arguments and sentences are wrapped.
        Format::Table => Output::text(move |color| table(&sections, color)),
        // With signatures as code, for the reference page.
        Format::Markdown => markdown(&sections).into(),
        Format::Latex => sections.iter().map(latex).collect::<Vec<_>>().join("\n").into(),
        Format::Json | Format::Csv | Format::CsvSafe => {
            args.format.listing(data(&sections, args.format == Format::Json))
        }
    };
    let mut outcome = CommandOutcome::from(output);
    if args.kind == Some(EntryKind::Tasks) && registry.list::<Task>().next().is_none() {
        let note = Diagnostic::note("this program defines no tasks");
        outcome.diagnostics.push(note.hint("those of a folder of task files: list tasks DIR"));
    }
    Ok(outcome)
}

fn table(sections: &[Section], color: bool) -> String {
    let page = Page { color, width: format::width(), program: super::NAME };
    let of_entry = |kind: EntryKind, entry: &Entry| {
        page.signature(kind, entry, 2, 6) + &page.wrapped(&entry.summary(), 6)
    };
    let of_kind = |(kind, entries): &Section| {
        page.heading(&kind.title()) + &entries.iter().map(|entry| of_entry(*kind, entry)).collect::<String>()
    };
    sections.iter().map(of_kind).collect::<Vec<_>>().join("\n")
}

fn markdown(sections: &[Section]) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let table = |(kind, entries): &Section| {
        let row =
            |entry: &Entry| format!("| `{}` | {} |\n", cell(&kind.signature(entry)), cell(&entry.summary()));
        format!("| {} | |\n|---|---|\n{}", kind.singular(), entries.iter().map(row).collect::<String>())
    };
    sections.iter().map(table).collect::<Vec<_>>().join("\n")
}

fn latex((kind, entries): &Section) -> String {
    let mut listing = Listing::new([kind.singular(), "summary".to_owned()]);
    for entry in entries {
        listing.push([kind.signature(entry), entry.summary()]);
    }
    Latex::default().listing_text(&listing)
}

fn data(sections: &[Section], is_json: bool) -> Listing {
    let mut listing = match is_json {
        true => Listing::new(["kind", "name", "signature", "params", "doc", "sections", "built_in"]),
        false => Listing::new(["kind", "name", "signature", "doc"]),
    };
    for (kind, entry) in sections.iter().flat_map(|(kind, entries)| entries.iter().map(move |e| (kind, e))) {
        let named = [kind.singular(), entry.name.clone(), kind.signature(entry)].map(ListingCell::from);
        let params = entry.params.iter();
        let params =
            params.map(|p| json!({"name": p.name, "type": p.expected, "default": p.default, "doc": p.doc}));
        let described = match is_json {
            true => {
                vec![
                    ListingCell::new("", params.collect()),
                    entry.doc.trim().into(),
                    ListingCell::new("", doc_sections(entry)),
                    ListingCell::new("", entry.built_in.into()),
                ]
            }
            false => vec![ListingCell::from(entry.summary())],
        };
        listing.push(named.into_iter().chain(described));
    }
    listing
}

fn doc_sections(entry: &Entry) -> serde_json::Value {
    let DocSections { formula, when, example, see_also, source } = entry.sections;
    json!({"formula": formula, "when": when, "example": example, "see_also": see_also, "source": source})
}
