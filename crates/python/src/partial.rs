//! Results in parts: what several processes or machines count, merged to what one would have computed.
//!
//! A state is a [`Partial`] of the engine with what it takes to finish it: the request, as text, and the group
//! that its rows are of. So bytes can be merged and finished wherever the package is installed.

use std::sync::Arc;

use errorbar::analysis::{
    Diagnostic, Diagnostics, DistributedScore, ScoreRequest, Surface, request_from_json,
};
use errorbar::eval::collected_registry;
use errorbar_report::Report;
use errorbar_table::{RowGroup, RowGroupError, RowLabels, read_row_groups};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::call::{Cancelled, compute};
use crate::error::raised;
use crate::score::{Results, results_of};
use crate::table::arrow_table;

/// What the bytes of a state begin with; the last one is the version.
const MAGIC: [u8; 8] = *b"ebstate\x02";

/// What states must share to be merged.
#[derive(Debug)]
struct Setup {
    /// What is asked for, as JSON.
    request: String,
    /// The columns of the table that are metadata.
    metadata_keys: Vec<String>,
    /// What the rows belong to: keys and values, in order.
    group: Vec<(String, String)>,
    score: Arc<DistributedScore>,
}

impl Setup {
    fn of_group(&self, group: Vec<(String, String)>) -> Self {
        let (request, metadata_keys) = (self.request.clone(), self.metadata_keys.clone());
        Setup { request, metadata_keys, group, score: Arc::clone(&self.score) }
    }

    /// The setup as text, the same for equal ones.
    fn text(&self) -> String {
        json!({"request": self.request, "metadata_keys": self.metadata_keys, "group": self.group}).to_string()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let part = |key: &str| json.get(key).cloned().unwrap_or_default();
        fn read<T: DeserializeOwned>(json: Json) -> Result<T, String> {
            serde_json::from_value(json).map_err(|error| error.to_string())
        }
        let request: String = read(part("request"))?;
        let score = scoring(&request).map_err(|diagnostics| {
            let texts = diagnostics.iter().map(|problem| problem.text.on(Surface::Python));
            texts.collect::<Vec<_>>().join("; ")
        })?;
        let (metadata_keys, group) = (read(part("metadata_keys"))?, read(part("group"))?);
        Ok(Setup { request, metadata_keys, group, score: Arc::new(score) })
    }

    /// What the group is called in results and messages.
    fn name(&self) -> String {
        let pairs: Vec<String> = self.group.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if pairs.is_empty() { FRAME.to_owned() } else { pairs.join(", ") }
    }

    /// Why partial results of this and of another cannot be merged.
    fn differs_from(&self, other: &Setup) -> Diagnostics {
        let problem = match other.group == self.group {
            true => "partial results of different options or columns cannot be merged".to_owned(),
            false => {
                format!("a partial result of {} and one of {} cannot be merged", self.name(), other.name())
            }
        };
        core_error(errorbar_core::Error::custom(problem))
    }

    /// The same for receipts: one text for one group.
    fn receipt_group(&self) -> String {
        if self.group.is_empty() { String::new() } else { json!(self.group).to_string() }
    }
}

/// Results, if there are any, and what there is to report about them.
type Finished = (Option<Report>, Diagnostics);

/// The results of a group, its receipt, and the exception of what is wrong with it.
type Outcome = (Option<Py<Results>>, String, Option<Py<PyBaseException>>);

/// What unpickles a partial result, and its arguments.
type Restored<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// Groups of more rows are finished one after the other. A debug build, which the tests have, does so with few.
const MANY_ROWS: u64 = if cfg!(debug_assertions) { 100 } else { 1 << 22 };

/// What a table is called that has no name.
const FRAME: &str = "data";

/// What a request means for rows on several machines.
fn scoring(request: &str) -> Result<DistributedScore, Diagnostics> {
    let registry = collected_registry().map_err(Diagnostic::from)?;
    let request: ScoreRequest = request_from_json(request)?;
    DistributedScore::new(request, &registry)
}

fn core_error(error: errorbar_core::Error) -> Diagnostics {
    Diagnostic::from(error).into()
}

/// The results of some of the samples of a table, which can be merged with those of others. `errorbar.Partial` in Python.
#[pyclass(module = "errorbar", frozen)]
#[derive(Debug)]
pub(crate) struct Partial {
    setup: Arc<Setup>,
    samples: errorbar_core::Partial<'static>,
}

impl Partial {
    /// The samples of rows, with a receipt.
    fn of_rows(rows: RowGroup, setup: Setup) -> Result<Self, Diagnostics> {
        let partial = errorbar_core::Partial::of(&rows.columns, &setup.score.plan).and_then(|partial| {
            let group = setup.receipt_group();
            let partial = match &rows.buckets {
                Some(buckets) => partial.with_buckets(&group, buckets)?,
                None => partial.with_receipt(&group)?,
            };
            partial.into_owned()
        });
        let about = |error| Diagnostics::from(Diagnostic::from(error).of_table(&setup.name()));
        Ok(Partial { samples: partial.map_err(about)?, setup: Arc::new(setup) })
    }

    /// The results, with what there is to report about them.
    fn finished(&self) -> Result<Finished, Diagnostics> {
        let columns = self.samples.columns().map_err(core_error)?;
        Ok(self.setup.score.finish(&self.setup.name(), columns, self.setup.metadata_keys.clone()))
    }

    fn trusted(self) -> Self {
        Partial { samples: self.samples.trusted(), ..self }
    }

    fn bytes(&self) -> Result<Vec<u8>, errorbar_core::Error> {
        let (text, samples) = (self.setup.text(), self.samples.to_bytes()?);
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(text.as_bytes()).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(&samples);
        Ok(bytes)
    }

    fn read(bytes: &[u8]) -> Result<Self, Diagnostics> {
        let no_state = |problem: &str| {
            let text = format!("these bytes are no partial result: {problem}");
            core_error(errorbar_core::Error::custom(text))
        };
        let rest = bytes.strip_prefix(&MAGIC).ok_or_else(|| match bytes.starts_with(b"ebstate") {
            true => no_state("they are of another version of errorbar; use one version everywhere"),
            false => no_state("they do not begin like one"),
        })?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(|| no_state("they end early"))?;
        let (checksum, rest) = rest.split_first_chunk::<4>().ok_or_else(|| no_state("they end early"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let (text, samples) = rest.split_at_checked(length).ok_or_else(|| no_state("they end early"))?;
        if crc32fast::hash(text) != u32::from_le_bytes(*checksum) {
            return Err(no_state("they are damaged, the checksum is another one"));
        }
        let text = std::str::from_utf8(text).map_err(|error| no_state(&error.to_string()))?;
        let setup = Setup::from_text(text).map_err(|problem| no_state(&problem))?;
        let samples = errorbar_core::Partial::from_bytes(samples, &setup.score.plan).map_err(core_error)?;
        Ok(Partial { setup: Arc::new(setup), samples })
    }

    fn merged_bytes(states: &[PyBackedBytes]) -> Result<Self, Diagnostics> {
        let read =
            |bytes: &PyBackedBytes| Partial::read(bytes).map(|partial| (partial.setup, partial.samples));
        Partial::merged(states.iter().map(read))
    }

    /// The samples of all. Each is taken when it is its turn and merged with one of as many before: so few are held at once,
    /// and each is copied a few times, however many there are.
    fn merged(
        parts: impl Iterator<Item = Result<(Arc<Setup>, errorbar_core::Partial<'static>), Diagnostics>>,
    ) -> Result<Self, Diagnostics> {
        let mut parts = parts.peekable();
        let none = || core_error(errorbar_core::Error::custom("there is no partial result to merge"));
        let setup = match parts.peek() {
            Some(Ok((setup, _))) => Arc::clone(setup),
            _ => return Err(parts.next().and_then(Result::err).unwrap_or_else(none)),
        };
        let (text, about) =
            (setup.text(), |error| Diagnostics::from(Diagnostic::from(error).of_table(&setup.name())));
        // Each with how often what is in it was merged; the later, the less.
        let mut held: Vec<(u32, errorbar_core::Partial<'static>)> = Vec::new();
        for part in parts {
            let (other, mut samples) = part?;
            if other.text() != text {
                return Err(setup.differs_from(&other));
            }
            let mut merges = 0;
            while let Some((_, before)) = held.pop_if(|(of, _)| *of == merges) {
                samples = before.merge(samples).map_err(about)?;
                merges += 1;
            }
            held.push((merges, samples));
        }
        let mut samples = held.pop().ok_or_else(none)?.1;
        while let Some((_, before)) = held.pop() {
            samples = before.merge(samples).map_err(about)?;
        }
        Ok(Partial { samples, setup })
    }
}

#[pymethods]
impl Partial {
    /// The samples of a frame, all of whose epochs are there, counted.
    #[classmethod]
    #[pyo3(signature = (data, *args, **keywords))]
    fn of<'py>(
        class: &Bound<'py, PyType>,
        data: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let all: Vec<Bound<'_, PyAny>> = std::iter::once(data.clone()).chain(args.iter()).collect();
        py.import("errorbar._partial")?.getattr("of")?.call(PyTuple::new(py, all)?, keywords)
    }

    /// The partial result of bytes. Unless they are trusted, they may claim at most 16,777,216 rows.
    #[classmethod]
    #[pyo3(signature = (bytes, trusted = false))]
    fn from_bytes(_class: &Bound<'_, PyType>, py: Python<'_>, bytes: &[u8], trusted: bool) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        let read = compute(py, &Cancelled::default(), move || Partial::read(&bytes))?;
        let partial = raised(py, read)?;
        Ok(if trusted { partial.trusted() } else { partial })
    }

    /// The partial result as bytes, the same for equal ones.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, own) = (slf.py(), slf.clone().unbind());
        let bytes = compute(py, &Cancelled::default(), move || own.get().bytes().map_err(core_error))?;
        Ok(PyBytes::new(py, &raised(py, bytes)?))
    }

    /// The samples of this and of others.
    #[pyo3(signature = (*others))]
    fn merge(slf: &Bound<'_, Self>, others: Vec<Py<Partial>>) -> PyResult<Self> {
        let py = slf.py();
        let all: Vec<Py<Partial>> = std::iter::once(slf.clone().unbind()).chain(others).collect();
        let merged = compute(py, &Cancelled::default(), move || {
            let parts = all.iter().map(Py::get).map(|one| (Arc::clone(&one.setup), one.samples.clone()));
            Partial::merged(parts.map(Ok))
        })?;
        raised(py, merged)
    }

    /// The results over all samples, in key order.
    fn finish(slf: &Bound<'_, Self>) -> PyResult<Py<Results>> {
        let (py, own) = (slf.py(), slf.clone().unbind());
        let finished = compute(py, &Cancelled::default(), move || own.get().finished())?;
        let (report, diagnostics) = raised(py, finished)?;
        results_of(py, report.into_iter().collect(), diagnostics)
    }

    /// Which rows it is made of: their number, a colon, and a hash of group, id and epoch of all of them.
    #[getter]
    fn receipt(&self) -> String {
        self.samples.receipt().copied().unwrap_or_default().to_string()
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> u64 {
        self.samples.receipt().map_or(0, |receipt| receipt.rows())
    }

    /// What the rows belong to, such as a task and a model.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let group = PyDict::new(py);
        self.setup.group.iter().try_for_each(|(key, value)| group.set_item(key, value))?;
        Ok(group)
    }

    /// Who unpickles runs what the pickle says, so its bytes are trusted.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Restored<'py>> {
        let restore = slf.get_type().getattr("from_bytes")?;
        Ok((restore, (Partial::to_bytes(slf)?, true)))
    }

    fn __repr__(&self) -> String {
        format!("<errorbar.Partial of {}: {} rows>", self.setup.name(), self.rows())
    }
}

/// Merges states that are bytes, which must be of one group.
#[pyfunction]
pub(crate) fn merge_states(py: Python<'_>, states: Vec<PyBackedBytes>) -> PyResult<Partial> {
    let merged = compute(py, &Cancelled::default(), move || Partial::merged_bytes(&states))?;
    raised(py, merged)
}

/// The results of the states of each group, on all threads, with a receipt; or what is wrong with the group.
#[pyfunction]
pub(crate) fn finish_states(py: Python<'_>, groups: Vec<Vec<PyBackedBytes>>) -> PyResult<Vec<Outcome>> {
    let found = compute(py, &Cancelled::default(), move || {
        // They come from the executors of the cluster.
        let finished = |merged: Partial| (merged.receipt(), merged.trusted().finished());
        // All rows of a group are in memory while it is finished: an error is a large one, whose turn is later.
        let group = |states: &Vec<PyBackedBytes>| match Partial::merged_bytes(states) {
            Ok(merged) if merged.rows() > MANY_ROWS => Err(Box::new(merged)),
            Ok(merged) => Ok(finished(merged)),
            Err(diagnostics) => Ok((String::new(), Err(diagnostics))),
        };
        let groups: Vec<Result<_, Box<Partial>>> = groups.par_iter().map(group).collect();
        groups.into_iter().map(|group| group.unwrap_or_else(|merged| finished(*merged))).collect::<Vec<_>>()
    })?;
    let outcome = |(receipt, finished): (String, Result<Finished, Diagnostics>)| {
        let results = raised(py, finished)
            .and_then(|(report, diagnostics)| results_of(py, report.into_iter().collect(), diagnostics));
        match results {
            Ok(results) => (Some(results), receipt, None),
            Err(error) => (None, receipt, Some(error.into_value(py))),
        }
    };
    Ok(found.into_iter().map(outcome).collect())
}

/// What the columns of a table are: those that are read, those that are metadata, and the id.
#[pyfunction]
pub(crate) fn row_columns(
    py: Python<'_>,
    request: &str,
    columns: Vec<String>,
) -> PyResult<(Vec<String>, Vec<String>, String)> {
    let found = scoring(request).and_then(|score| score.columns(FRAME, &columns).map_err(Diagnostics::from));
    let columns = raised(py, found)?;
    Ok((columns.read, columns.metadata_keys, columns.id))
}

/// The partial result of a frame, whose rows are of this group.
#[pyfunction]
pub(crate) fn partial(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    request: String,
    group: Vec<(String, String)>,
) -> PyResult<Partial> {
    let cancelled = Cancelled::default();
    let table = arrow_table(data, &cancelled)?;
    let found = compute(py, &cancelled, move || {
        let score = Arc::new(scoring(&request)?);
        let mut setup = Setup { request, metadata_keys: Vec::new(), group, score };
        let about = |error| Diagnostics::from(setup.score.problem(&setup.name(), error));
        let metadata_keys = setup.score.columns_of(&table).map_err(about)?.metadata_keys;
        let about_group = |RowGroupError { error, .. }: RowGroupError| about(error);
        let mut rows =
            read_row_groups(&table, &setup.score.options, &RowLabels::default()).map_err(about_group)?;
        let rows = rows.next().transpose().map_err(about_group)?;
        setup.metadata_keys = metadata_keys;
        let none = || core_error(errorbar_core::Error::custom("the table has no rows"));
        Partial::of_rows(rows.filter(|rows| !rows.columns.is_empty()).ok_or_else(none)?, setup)
    })?;
    raised(py, found)
}

/// The partial results of rows, by group. `keys` are the names of what the column `group` holds as a JSON list of strings.
#[pyfunction]
#[pyo3(signature = (data, request, metadata_keys, keys, group = None, bucket = None))]
pub(crate) fn partials(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    request: String,
    metadata_keys: Vec<String>,
    keys: Vec<String>,
    group: Option<String>,
    bucket: Option<String>,
) -> PyResult<Vec<Partial>> {
    let cancelled = Cancelled::default();
    let table = arrow_table(data, &cancelled)?;
    let labels = RowLabels::new(group, bucket);
    let found = compute(py, &cancelled, move || {
        let score = Arc::new(scoring(&request)?);
        let setup = Setup { request, metadata_keys, group: Vec::new(), score };
        let named = |values: Option<&str>| group_of(&keys, values).map(|group| setup.of_group(group));
        let about = |RowGroupError { group, error, .. }: RowGroupError| {
            let name = named(group.as_deref()).unwrap_or_else(|_| setup.of_group(Vec::new())).name();
            Diagnostics::from(setup.score.problem(&name, error))
        };
        let partial = |rows: Result<RowGroup, RowGroupError>| {
            let rows = rows.map_err(about)?;
            let setup = named(rows.group.as_deref()).map_err(core_error)?;
            Partial::of_rows(rows, setup)
        };
        let is_empty = |rows: &Result<RowGroup, _>| rows.as_ref().is_ok_and(|rows| rows.columns.is_empty());
        let rows = read_row_groups(&table, &setup.score.options, &labels).map_err(about)?;
        rows.filter(|rows| !is_empty(rows)).map(partial).collect()
    })?;
    raised(py, found)
}

/// The keys of a group with their values, which are a JSON list.
fn group_of(keys: &[String], values: Option<&str>) -> errorbar_core::Result<Vec<(String, String)>> {
    let Some(text) = values else { return Ok(Vec::new()) };
    let invalid = || {
        errorbar_core::Error::custom(format!(
            "a group must be a list of {} strings, found {text}",
            keys.len()
        ))
    };
    let values: Vec<Option<String>> = serde_json::from_str(text).map_err(|_| invalid())?;
    if values.len() != keys.len() {
        return Err(invalid());
    }
    let pair = |(key, value): (&String, Option<String>)| {
        let null = || {
            errorbar_core::Error::custom(format!(
                "`{key}` is null in some rows, so that it is unknown which group they belong to; give it a value, or leave them out"
            ))
        };
        Ok((key.clone(), value.ok_or_else(null)?))
    };
    keys.iter().zip(values).map(pair).collect()
}
