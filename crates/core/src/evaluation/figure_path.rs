//! Estimates by name: `accuracy`, `match/accuracy/pass_at_2`, `accuracy[category=law]`.
//!
//! ```text
//! path        = word { "/" word } [ "[" selector { "," selector } "]" ]
//! selector    = label [ "=" label ]                                      string, or anything up to "=", "," or "]"
//! ```

use std::fmt;
use std::str::FromStr;

use indexmap::{IndexMap, IndexSet};

use super::{EstimateRow, Results, Scope};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::spec::{Parser, SpecError, nearest, write_quoted, write_word};

/// The name of an estimate: of a metric, with its scorer and reducer where several have it, of a group where it is not
/// of all samples.
///
/// Names are `metric`, `scorer/metric` or `scorer/metric/reducer`, with the key of map-valued scores before the metric;
/// also `key/metric` and `metric/reducer`. In brackets stand groups (`[category=law]`), the key of a metric that has
/// several figures (`[C]`), its position from 1 (`[2]`), or the metadata key alone for the mean of its groups
/// (`[category]`).
///
/// ```
/// use errorbar_core::FigurePath;
///
/// let path: FigurePath = "match/accuracy[category=law]".parse()?;
/// assert_eq!(path.to_string(), "match/accuracy[category=law]");
/// # Ok::<(), errorbar_core::spec::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigurePath {
    /// At least one.
    pub(crate) names: Vec<String>,
    pub(crate) selectors: Vec<Selector>,
}

/// What stands in brackets: which of the figures of a metric it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) key: String,
    /// The group.
    pub(crate) value: Option<String>,
}

impl FigurePath {
    /// The full name of a row.
    pub fn of(row: &EstimateRow<'_>) -> Self {
        let names = [Some(row.scorer), row.field, Some(row.metric), row.reducer];
        let names = names.into_iter().flatten().map(str::to_owned).collect();
        FigurePath { names, selectors: selectors(row) }
    }

    /// The name of a metric over all samples.
    fn of_metric(metric: &str) -> Self {
        FigurePath { names: metric.split('/').map(str::to_owned).collect(), selectors: Vec::new() }
    }

    /// Whether it is no group of a figure, nor one of several figures of a metric.
    pub fn is_over_all_samples(&self) -> bool {
        self.selectors.is_empty()
    }

    /// The parts of the name.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether it may be the name of a figure of these.
    pub fn fits(&self, scorer: &str, field: Option<&str>, metric: &str, reducer: Option<&str>) -> bool {
        let joined = self.names.join("/");
        let is_name = |parts: &[Option<&str>]| {
            let parts: Option<Vec<&str>> = parts.iter().copied().collect();
            parts.is_some_and(|parts| parts.join("/") == joined)
        };
        let (scorer, metric) = (Some(scorer), Some(metric));
        let is_full = match field {
            Some(_) => is_name(&[scorer, field, metric]) || is_name(&[scorer, field, metric, reducer]),
            None => is_name(&[scorer, metric]) || is_name(&[scorer, metric, reducer]),
        };
        is_full || is_name(&[metric]) || is_name(&[metric, reducer]) || is_name(&[field, metric])
    }

    fn selects_row(&self, row: &EstimateRow<'_>) -> bool {
        let needed = selectors(row);
        needed.len() == self.selectors.len() && needed.iter().all(|one| self.selectors.contains(one))
    }
}

/// What tells a row from the other rows of its metric.
fn selectors(row: &EstimateRow<'_>) -> Vec<Selector> {
    let selector =
        |key: &str, value: Option<&str>| Selector { key: key.to_owned(), value: value.map(str::to_owned) };
    let scopes = row.scopes.iter().map(|scope| match scope {
        Scope::Group(key, group) => selector(key, Some(group)),
        Scope::MeanOfGroups(key) => selector(key, None),
    });
    let key = row.key.map(|key| selector(key, None));
    let index = row.index.map(|index| selector(&index.to_string(), None));
    scopes.chain(key).chain(index).collect()
}

impl fmt::Display for FigurePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.names.iter().enumerate() {
            f.write_str(if at > 0 { "/" } else { "" })?;
            write_word(f, name)?;
        }
        for (at, Selector { key, value }) in self.selectors.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "[" })?;
            write_label(f, key)?;
            if let Some(value) = value {
                f.write_str("=")?;
                write_label(f, value)?;
            }
        }
        f.write_str(if self.selectors.is_empty() { "" } else { "]" })
    }
}

/// Writes a key or a group so that it can be read back: as it is, or in quotes.
fn write_label(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let is_plain = !text.is_empty()
        && text.trim() == text
        && !text.starts_with(['"', '\''])
        && !text.contains(|c: char| matches!(c, '=' | ',' | ']' | '\\') || c.is_control());
    if is_plain { f.write_str(text) } else { write_quoted(f, text, '"') }
}

impl FromStr for FigurePath {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, Parser::figure_path)
    }
}

impl Parser<'_> {
    /// The name of an estimate: metric, scorer/metric, metric[key=group].
    ///
    /// # Errors
    /// Something else comes next.
    pub fn figure_path(&mut self) -> Result<FigurePath, SpecError> {
        let mut names = Vec::new();
        loop {
            // A slash belongs to the name: no blanks around it.
            let is_first = names.is_empty();
            if is_first {
                self.skip_blanks();
            }
            if !self.at_word() {
                return Err(self.expected(if is_first {
                    "the name of a metric"
                } else {
                    "a name after '/'"
                }));
            }
            names.push(self.word()?.text);
            if !self.rest().starts_with('/') {
                break;
            }
            self.advance(1);
        }
        let mut selectors = Vec::new();
        if self.eat('[') {
            self.items(']', "a group", |parser| {
                selectors.push(parser.selector()?);
                Ok(())
            })?;
        }
        Ok(FigurePath { names, selectors })
    }

    fn selector(&mut self) -> Result<Selector, SpecError> {
        let key = self.label("a metadata key")?;
        if !self.eat('=') {
            return Ok(Selector { key, value: None });
        }
        // As in other languages; a group whose name starts with it needs quotes.
        if self.rest().starts_with('=') {
            self.advance(1);
        }
        Ok(Selector { key, value: Some(self.label("a group after '='")?) })
    }

    /// A string, or everything up to the next delimiter.
    fn label(&mut self, wanted: &str) -> Result<String, SpecError> {
        self.skip_blanks();
        if matches!(self.next_char(), Some('"' | '\'')) {
            return self.string();
        }
        let rest = self.rest();
        let end = rest.find(['=', ',', ']']).unwrap_or(rest.len());
        let label = rest.get(..end).unwrap_or_default().trim_end();
        if label.is_empty() {
            return Err(self.expected(wanted));
        }
        self.advance(end);
        Ok(label.to_owned())
    }
}

/// How many names an error lists.
const LISTED: usize = 20;

impl Results {
    /// The estimate of a metric over all samples. If several scorers or reducers have it, `scorer/metric` or
    /// `scorer/metric/reducer` names one of them.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], or [`Error::AmbiguousMetric`] if there are several.
    pub fn estimate(&self, metric: &str) -> Result<Estimate> {
        self.find(&FigurePath::of_metric(metric))
    }

    /// The estimate of this name.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], or [`Error::AmbiguousMetric`] if there are several.
    pub fn find(&self, path: &FigurePath) -> Result<Estimate> {
        let rows = self.rows();
        let is_named = |row: &&EstimateRow<'_>| path.fits(row.scorer, row.field, row.metric, row.reducer);
        let named: Vec<&EstimateRow<'_>> = rows.iter().filter(is_named).collect();
        let mut found: IndexMap<(usize, Option<&str>), &EstimateRow<'_>> = IndexMap::new();
        for row in named.iter().filter(|row| path.selects_row(row)) {
            let first = found.entry((row.score, row.field)).or_insert(row);
            // The metric itself, rather than the aggregate beside groups.
            if first.group_key.is_some() && row.group_key.is_none() && row.scopes.is_empty() {
                *first = row;
            }
        }
        match found.into_values().collect::<Vec<_>>().as_slice() {
            [row] => Ok(row.estimate.clone().into_owned()),
            [] => {
                let figures: IndexSet<String> = match named.as_slice() {
                    [] if path.names.len() < 2 => rows.iter().map(|row| row.metric.to_owned()).collect(),
                    [] => rows.iter().map(|row| FigurePath::of(row).to_string()).collect(),
                    named => named.iter().map(|row| FigurePath::of(row).to_string()).collect(),
                };
                Err(unknown(path, figures))
            }
            several => {
                let candidates = several.iter().map(|row| FigurePath::of(row).to_string()).collect();
                Err(Error::AmbiguousMetric { metric: path.to_string(), candidates })
            }
        }
    }
}

/// There is no estimate of this name, and these are there.
pub fn unknown(path: &FigurePath, known: IndexSet<String>) -> Error {
    let metric = path.to_string();
    let near = nearest(&metric, known.iter().map(String::as_str)).map(str::to_owned);
    let hidden = known.len().saturating_sub(LISTED);
    let mut known: Vec<String> = known.into_iter().take(LISTED).collect();
    known.extend((hidden > 0).then(|| format!("and {hidden} more")));
    Error::UnknownMetric { metric, nearest: near, known }
}
