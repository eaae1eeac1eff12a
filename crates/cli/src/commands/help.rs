//! `errorbar help`: a command, or an entry of the registry with its formula, arguments and an example.

use std::ffi::OsString;
use std::fmt::Write as _;

use anstyle::Style;
use clap::builder::Styles;
use clap::{Args, ValueEnum};
use errorbar_core::Registry;
use errorbar_core::registry::{EntryInfo, Param};
use errorbar_core::spec::{nearest, split_k_suffix};
use errorbar_report::{width, wrap};

use super::list::EntryKind;
use super::{Cli, CommandOutcome, CommandResult, Context};
use crate::diagnostic::Diagnostic;
use crate::format;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar help score
  errorbar help grouped
  errorbar help reducer mean
  errorbar help metrics";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HelpArgs {
    /// A command, a metric or another entry (`grouped`; `reducer mean` if several have the name), or a kind of
    /// entries (`metrics`)
    #[arg(value_name = "NAME")]
    pub(super) names: Vec<String>,
}

pub(crate) fn run(args: &HelpArgs, context: &Context<'_>) -> CommandResult {
    if let Some(output) = of_command(&args.names, context.program) {
        return Ok(output.into());
    }
    let registry = context.registry;
    let (kind, name) = match args.names.as_slice() {
        [name] => (None, name.as_str()),
        [kind, name] => (EntryKind::of_word(kind), name.as_str()),
        _ => (None, ""),
    };
    if let (1, Some(kind)) = (args.names.len(), EntryKind::of_word(name)) {
        let entries = kind.entries(registry);
        let program = context.program.to_owned();
        return Ok(Output::text(move |color| names_of(kind, &entries, &program, color)).into());
    }
    let mut found = entries(name, kind, registry);
    // `pass_at_2` and `pass_at(2)` are written so in results and specs.
    if found.is_empty() {
        let written = name.split('(').next().unwrap_or_default();
        let written = split_k_suffix(written).map_or(written, |(name, _)| name);
        found = entries(written, kind, registry);
    }
    if found.is_empty() || args.names.len() > 2 {
        return Err(unknown(&args.names.join(" "), context).into());
    }
    let program = context.program.to_owned();
    Ok(CommandOutcome::from(Output::text(move |color| {
        let page = Page { color, width: format::width(), program: &program };
        found.iter().map(|(kind, entry)| page.entry(*kind, entry)).collect::<Vec<_>>().join("\n")
    })))
}

/// The help of a command, if the names lead to one.
fn of_command(names: &[String], program: &str) -> Option<Output> {
    let command = super::command(program);
    let found = names.iter().try_fold(&command, |command, name| command.find_subcommand(name));
    found?;
    let args: Vec<OsString> = [program]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain(["--help"])
        .map(Into::into)
        .collect();
    let program = program.to_owned();
    Some(Output::text(move |color| {
        let styles = if color { Styles::styled() } else { Styles::plain() };
        let help = Cli::parse_as(&program, args.clone(), styles).err();
        help.map(|help| help.render().ansi().to_string()).unwrap_or_default()
    }))
}

/// The entries of a name, in the order of the kinds.
fn entries(name: &str, kind: Option<EntryKind>, registry: &Registry) -> Vec<(EntryKind, EntryInfo)> {
    let kinds = kind.map_or(EntryKind::value_variants().to_vec(), |kind| vec![kind]);
    let of_kind = |kind: EntryKind| {
        let entries = kind.entries(registry).into_iter();
        entries.filter(|entry| entry.name == name).map(move |entry| (kind, entry))
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

fn unknown(name: &str, context: &Context<'_>) -> Diagnostic {
    let (command, kinds) = (super::command(context.program), EntryKind::value_variants());
    let commands = command.get_subcommands().map(|command| command.get_name().to_owned());
    let entries = kinds.iter().flat_map(|kind| kind.entries(context.registry)).map(|entry| entry.name);
    let words = kinds.iter().map(|kind| kind.plural());
    let known: Vec<String> = commands.chain(entries).chain(words).collect();
    let program = context.program;
    let hint = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? `{program} list` has all entries"),
        None => format!("`{program} list` has all entries, `{program} --help` all commands"),
    };
    Diagnostic::error(format!("there is no command and no entry `{name}`")).hint(hint)
}

/// The names of a kind, each with its sentence.
fn names_of(kind: EntryKind, entries: &[EntryInfo], program: &str, color: bool) -> String {
    let page = Page { color, width: format::width(), program };
    let mut text = page.heading(&kind.title());
    let longest = entries.iter().map(|entry| width(&entry.name)).max().unwrap_or(0);
    for entry in entries {
        let (name, bold) = (&entry.name, page.bold());
        let mut lines = wrap(&entry.summary(), page.width.saturating_sub(longest + 4)).into_iter();
        let pad = " ".repeat(longest - width(name));
        let _ = writeln!(text, "  {bold}{name}{bold:#}{pad}  {}", lines.next().unwrap_or_default());
        lines.for_each(|line| {
            let _ = writeln!(text, "  {}  {line}", " ".repeat(longest));
        });
    }
    let _ = writeln!(text, "\n`{program} help NAME` explains one.");
    text
}

/// How entries are shown.
pub(super) struct Page<'p> {
    pub(super) color: bool,
    pub(super) width: usize,
    pub(super) program: &'p str,
}

impl Page<'_> {
    fn bold(&self) -> Style {
        if self.color { Style::new().bold() } else { Style::new() }
    }

    pub(super) fn heading(&self, title: &str) -> String {
        let bold = self.bold();
        format!("{bold}{title}{bold:#}\n")
    }

    /// A paragraph in lines, each with this indent.
    pub(super) fn wrapped(&self, paragraph: &str, indent: usize) -> String {
        let lines = wrap(paragraph, self.width.saturating_sub(indent));
        lines.iter().map(|line| format!("{}{line}\n", " ".repeat(indent))).collect()
    }

    /// A section of paragraphs; none if it is empty.
    fn prose(&self, title: &str, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let paragraphs = text.split("\n\n").map(|paragraph| self.wrapped(paragraph, 2));
        format!("\n{}{}", self.heading(title), paragraphs.collect::<Vec<_>>().join("\n"))
    }

    /// A section of lines as they are.
    fn verbatim(&self, title: &str, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let lines = text.lines().map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("  {line}\n"),
        });
        format!("\n{}{}", self.heading(title), lines.collect::<String>())
    }

    /// How an entry is written, with this indent; the lines after the first have that of its arguments. `gap` columns at the
    /// end stay free.
    pub(super) fn signature(&self, kind: EntryKind, entry: &EntryInfo, indent: usize, gap: usize) -> String {
        let (signature, bold) = (kind.signature(entry), self.bold());
        let (name, arguments) = signature.split_at(entry.name.len().min(signature.len()));
        let below = format!("\n{}", " ".repeat(indent + width(name) + 1));
        let lines = wrap(arguments, self.width.saturating_sub(gap + width(name))).join(&below);
        format!("{}{bold}{name}{bold:#}{lines}\n", " ".repeat(indent))
    }

    fn entry(&self, kind: EntryKind, entry: &EntryInfo) -> String {
        let sections = &entry.sections;
        let mut text = self.signature(kind, entry, 0, 1);
        let whose = if entry.built_in { "" } else { ", of this program" };
        let _ = writeln!(text, "  {}{whose}", kind.singular());
        for paragraph in entry.doc.trim().split("\n\n") {
            let _ = write!(
                text,
                "\n{}",
                self.wrapped(&paragraph.split_whitespace().collect::<Vec<_>>().join(" "), 0)
            );
        }
        text += &self.verbatim("Formula", sections.formula);
        text += &self.arguments(&entry.params);
        text += &self.prose("When to use it", sections.when);
        // A program under another name has the same commands.
        let example = sections.example.replace("$ errorbar ", &format!("$ {} ", self.program));
        text += &self.verbatim("Example", &example);
        text += &self.prose("See also", &sections.see_also.join(", "));
        text + &self.prose("Source", sections.source)
    }

    fn arguments(&self, params: &[Param]) -> String {
        if params.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}", self.heading("Arguments"));
        for param in params {
            let bold = self.bold();
            let default = match &param.default {
                Some(default) => format!(" [default: {default}]"),
                None if param.name.starts_with("**") => String::new(),
                None => " [required]".to_owned(),
            };
            let expected =
                if param.expected.is_empty() { String::new() } else { format!(": {}", param.expected) };
            let _ = writeln!(text, "  {bold}{}{bold:#}{expected}{default}", param.name);
            text += &self.wrapped(param.doc, 6);
        }
        text
    }
}
