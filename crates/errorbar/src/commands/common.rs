//! Options that several verbs share.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use clap::{Args, ValueEnum};
use errorbar_report::{Csv, Json, Markdown, Render, Report, Table};

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// When to use colours; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: Color,
    /// Print no warnings
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Makes this the choice for everything that is printed.
    pub(crate) fn apply(self) {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

/// What results are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
    Csv,
    Markdown,
}

impl Format {
    pub(crate) fn write(self, reports: &[Report]) -> io::Result<()> {
        let format: Box<dyn Render> = match self {
            Format::Table => {
                Box::new(Table::default().width(width()).color(colored()).ascii(speaks_only_ascii()))
            }
            Format::Json => Box::new(Json),
            Format::Csv => Box::new(Csv),
            Format::Markdown => Box::new(Markdown),
        };
        print(format.to_text(reports).as_bytes())
    }
}

/// Writes to stdout.
pub(crate) fn print(text: &[u8]) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text)?;
    stdout.flush()
}

/// Whether colours reach the reader.
pub(crate) fn colored() -> bool {
    !matches!(AutoStream::choice(&io::stdout()), ColorChoice::Never)
}

/// How wide lines may be: the terminal's width, within reason; 100 for a file or a pipe.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal());
    terminal.map_or(100, |(width, _)| usize::from(width.0).clamp(60, 140))
}

/// Whether the locale promises nothing beyond ASCII. One that says nothing at all, as in most
/// containers, is taken to be modern.
pub(crate) fn speaks_only_ascii() -> bool {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set);
    locale.is_some_and(|locale| {
        let locale = locale.to_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

/// A number of seconds above 0.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err("a number of seconds above 0".to_owned()),
    }
}
