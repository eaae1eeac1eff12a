//! How output is formatted: the options for it, widths, durations and sizes as people write them.

use std::time::Duration;

use anstream::ColorChoice;
use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
pub(crate) use errorbar_analysis::{counted, one_of, short, significant};
use errorbar_report::{
    Csv, Json, Latex, Listing, Markdown, Render, Report, Sort, TerminalTable, escape_markdown, latex_comment,
};

use crate::output::{Output, Stream};

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// When to use colors; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = colors())]
    pub(crate) color: ColorChoice,
    /// Print no notes, warnings or progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

fn colors() -> impl TypedValueParser<Value = ColorChoice> {
    one_of([("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)])
}

fn orders() -> impl TypedValueParser<Value = Sort> {
    one_of([("value", Sort::Value), ("name", Sort::Name), ("n", Sort::N), ("none", Sort::None)])
}

/// A width that no line reaches.
pub(crate) const WHOLE_LINES: usize = 1 << 20;

/// The format of results and lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
    Csv,
    // For spreadsheets: no cell is taken for a formula. A help of its own would change the layout of all others.
    CsvSafe,
    Markdown,
    Latex,
}

/// How results are printed.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// The format of the results; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// The order of groups and shares in tables: the highest value first, by name, the largest
    /// number of scores first, or the order of first appearance
    #[arg(long, value_name = "BY", default_value = "none", value_parser = orders())]
    pub(crate) sort: Sort,
}

impl OutputArgs {
    pub(crate) fn reports(&self, reports: Vec<Report>) -> Output {
        self.format.render(self.sort, move |format| format.to_text(&reports))
    }
}

impl Format {
    /// Whether it is read by people; programs read the others.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, Format::Table | Format::Markdown | Format::Latex)
    }

    /// A line of text beside a table, for people.
    pub(crate) fn line(self, text: &str) -> String {
        match self {
            Format::Markdown => escape_markdown(text),
            Format::Latex => latex_comment(text),
            _ => text.to_owned(),
        }
    }

    /// Whether it has rows and cells, and nothing beside them.
    pub(crate) fn is_csv(self) -> bool {
        matches!(self, Format::Csv | Format::CsvSafe)
    }

    pub(crate) fn listing(self, listing: Listing) -> Output {
        if self == Format::Table {
            // Nothing is cut where there is no screen that it must fit: `log list | grep` wants whole names.
            let width = Stream::Stdout.columns().unwrap_or(WHOLE_LINES);
            return Output::text(move |color| table().width(width).color(color).listing_text(&listing));
        }
        self.render(Sort::None, move |format| format.listing_text(&listing))
    }

    /// What `text` makes of the format: with colours on a terminal, data as it is.
    pub(crate) fn render(self, sort: Sort, text: impl Fn(&dyn Render) -> String + 'static) -> Output {
        let data: &dyn Render = match self {
            Format::Table => return Output::text(move |color| text(&table().sort(sort).color(color))),
            Format::Json => &Json,
            Format::Csv | Format::CsvSafe => &Csv { is_for_spreadsheets: self == Format::CsvSafe },
            Format::Markdown => &Markdown { sort, brief: false },
            Format::Latex => &Latex { sort },
        };
        text(data).into()
    }
}

/// A table as wide as the terminal, in the characters that it has.
pub(crate) fn table() -> TerminalTable {
    TerminalTable::default().width(width()).ascii(is_ascii_locale())
}

/// How wide lines may be: the terminal's width, within reason; 100 for a file or a pipe.
pub(crate) fn width() -> usize {
    Stream::Stdout.columns().map_or(100, |width| width.clamp(60, 140))
}

/// Whether the locale has only ASCII. If it is unset, as in most containers, UTF-8 is assumed.
pub(crate) fn is_ascii_locale() -> bool {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set);
    locale.is_some_and(|locale| {
        let locale = locale.to_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

/// A number of seconds above 0.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err("expected a number of seconds above 0".to_owned()),
    }
}

/// A span of time: `30s`, `10m`, `2h`, `7d`, `1w`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 24 * 60 * 60;
    const UNITS: [(char, u64); 5] = [('s', 1), ('m', 60), ('h', 60 * 60), ('d', DAY), ('w', 7 * DAY)];
    // Signs are no part of it, though numbers may have them.
    let text = Some(text.trim()).filter(|text| !text.starts_with('+'));
    let seconds = text.and_then(|text| parse_with_unit(text, &UNITS));
    seconds.map(Duration::from_secs).ok_or_else(|| NO_DURATION.to_owned())
}

const NO_DURATION: &str = "expected a number and a unit, such as 30s, 10m, 2h, 7d or 1w";

fn parse_with_unit(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let (number, size) = units.iter().find_map(|(unit, size)| Some((text.strip_suffix(*unit)?, size)))?;
    number.parse::<u64>().ok()?.checked_mul(*size)
}

/// A value as text; a string has no quotes.
pub(crate) fn text_of(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A number of bytes for people: `984 B`, `3.8 kB`.
pub(crate) fn human_size(bytes: u64) -> String {
    let (mut size, mut unit) = (bytes as f64, "B");
    for larger in ["kB", "MB", "GB", "TB"] {
        // What would be shown as 1000.0 is one of the next unit.
        if size < 999.95 {
            break;
        }
        (size, unit) = (size / 1000.0, larger);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, seconds) in
            [("30s", 30), ("10m", 600), ("2h", 7200), ("7d", 604_800), (" 1w ", 604_800), ("0s", 0)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "s",
            "7",
            "-1d",
            "+1d",
            "1.5h",
            "1 d",
            "1d2h",
            "7D",
            "1y",
            "99999999999999999999s",
            "9999999999999999w",
        ] {
            assert_eq!(parse_duration(text), Err(NO_DURATION.to_owned()), "{text}");
        }
    }

    #[test]
    fn sizes_for_people() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (3_840, "3.8 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (2_500_000_000, "2.5 GB"),
            (u64::MAX, "18446744.1 TB"),
        ] {
            assert_eq!(human_size(bytes), text);
        }
    }
}
