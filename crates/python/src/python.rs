//! Metrics, reducers and scorers that are written in Python.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, Float64Array, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use errorbar::core::ToSpec;
use errorbar::eval::{BoxFuture, Scorer, Target, TaskState};
use errorbar::{Metrics, Score};
use errorbar_core::{Error, Estimate, IndexMap, Leaf, MetricValue, Scores, Spec, Value, ValueRef};
use pyo3::exceptions::{PyException, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value as Json;

use crate::frame::{ArrowData, Frame, Tabular};

/// A function of Python: what it is, its name, its first sentence, the function, and the metadata keys or metrics that it
/// names.
pub(crate) type PythonEntry = (String, String, String, Py<PyAny>, Vec<String>);

/// The scores that a metric is computed over, as columns.
#[pyclass(module = "errorbar", name = "Scores", frozen, extends = ArrowData)]
#[derive(Debug)]
pub(crate) struct PyScores(Arc<MetricScores>);

/// The scores that a metric is computed over.
#[derive(Debug)]
struct MetricScores {
    scorer: String,
    seed: u64,
    floats: Vec<f64>,
    ids: Vec<String>,
    labels: Vec<String>,
    metadata: Vec<(String, Vec<Json>)>,
}

impl MetricScores {
    fn new(scores: &Scores<'_>, keys: &[String]) -> Self {
        let rows = scores.len();
        let rows_of = |key: &String| {
            let value = |at| scores.sample_metadata(at).get(key.as_str()).cloned().unwrap_or_default();
            (key.clone(), (0..rows).map(value).collect())
        };
        MetricScores {
            scorer: scores.scorer().to_owned(),
            seed: scores.seed(),
            floats: scores.floats(),
            ids: (0..rows).map(|at| scores.sample_id(at).to_owned()).collect(),
            labels: (0..rows).map(|at| scores.value(at).as_text().unwrap_or_default()).collect(),
            metadata: keys.iter().map(rows_of).collect(),
        }
    }
}

impl Tabular for MetricScores {
    fn frame(&self) -> PyResult<Frame> {
        let text = |values: &[String]| -> ArrayRef { Arc::new(LargeStringArray::from_iter_values(values)) };
        let mut fields = vec![
            Field::new("id", DataType::LargeUtf8, true),
            Field::new("value", DataType::Float64, true),
            Field::new("label", DataType::LargeUtf8, true),
        ];
        let floats: ArrayRef = Arc::new(Float64Array::from(self.floats.clone()));
        let mut arrays = vec![text(&self.ids), floats, text(&self.labels)];
        for (key, values) in &self.metadata {
            let cell = |value: &Json| match value {
                Json::Null => None,
                Json::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            fields.push(Field::new(key, DataType::LargeUtf8, true));
            arrays.push(Arc::new(values.iter().map(cell).collect::<LargeStringArray>()));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
        let batch = batch.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Frame::new(schema, vec![batch]))
    }
}

#[pymethods]
impl PyScores {
    /// The scorer.
    #[getter]
    fn scorer(&self) -> &str {
        &self.0.scorer
    }

    /// The seed for random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The scores as numbers: an `array.array` of floats, which numpy reads without a copy.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes: Vec<u8> = self.0.floats.iter().flat_map(|float| float.to_ne_bytes()).collect();
        py.import("array")?.getattr("array")?.call1(("d", PyBytes::new(py, &bytes)))
    }

    /// The id of the sample of each score.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.0.ids.clone()
    }

    /// The scores as they are written: grades, numbers, other strings.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.0.labels.clone()
    }

    /// What the samples have under a metadata key that the metric names.
    fn metadata<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some((_, values)) = self.0.metadata.iter().find(|(known, _)| known == key) else {
            let text = format!(
                "the metric does not read {key:?}: name it with @errorbar.metric(metadata=[{key:?}])"
            );
            return Err(pyo3::exceptions::PyKeyError::new_err(text));
        };
        let text =
            serde_json::to_string(values).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    fn __len__(&self) -> usize {
        self.0.floats.len()
    }
}

/// An exception in words, with the line that raised it.
fn described(py: Python<'_>, error: &PyErr) -> String {
    let raised_at = || -> PyResult<String> {
        let mut at = error.traceback(py).ok_or_else(|| PyRuntimeError::new_err("raised in Rust"))?.into_any();
        loop {
            let next = at.getattr("tb_next")?;
            if next.is_none() {
                break;
            }
            at = next;
        }
        let file = at.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?;
        Ok(format!(" ({file}, line {})", at.getattr("tb_lineno")?))
    };
    format!("{error}{}", raised_at().unwrap_or_default())
}

/// What a function of Python raised to end the program, such as `KeyboardInterrupt` and `SystemExit`, and not because it
/// failed. The call raises the first of them as it is, and no function is called behind it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exit(Arc<Mutex<Option<PyErr>>>);

impl Exit {
    /// Remembers an exception that is to end the program.
    pub(crate) fn note(&self, py: Python<'_>, error: &PyErr) {
        if !error.is_instance_of::<PyException>(py) {
            self.lock().get_or_insert_with(|| error.clone_ref(py));
        }
    }

    /// Raises what was remembered.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.lock().take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls Python; an exception becomes an error that names it.
fn attached<T>(
    name: &str,
    exit: &Exit,
    call: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> errorbar_core::Result<T> {
    let failed = |text: String| Error::custom(format!("{name}: {text}"));
    let called = Python::try_attach(|py| {
        if exit.lock().is_some() {
            return Err(failed("the program is to end".to_owned()));
        }
        call(py).map_err(|error| {
            exit.note(py, &error);
            failed(described(py, &error))
        })
    });
    match called {
        Some(result) => result,
        None => Err(failed("Python has ended".to_owned())),
    }
}

/// Computes a metric of Python.
pub(crate) fn compute_metric(
    name: &str,
    function: &Py<PyAny>,
    exit: &Exit,
    keys: &[String],
    scores: &Scores<'_>,
) -> errorbar_core::Result<MetricValue> {
    let (columns, n) = (Arc::new(MetricScores::new(scores, keys)), scores.len() as u64);
    attached(name, exit, |py| {
        let rows: Arc<MetricScores> = Arc::clone(&columns);
        let columns = Bound::new(py, ArrowData::initializer(PyScores(columns), rows))?;
        let returned = function.bind(py).call1((columns,))?;
        if let Ok(map) = returned.cast::<PyDict>() {
            let mut estimates = IndexMap::new();
            for (key, value) in map.iter() {
                let key = key.str()?.to_string();
                let value = estimate(&value, &format!(" under {key:?}"), n)?;
                if estimates.contains_key(&key) {
                    return Err(PyTypeError::new_err(format!(
                        "two keys of the figures are {key:?} as strings"
                    )));
                }
                estimates.insert(key, value);
            }
            return Ok(MetricValue::Map(estimates));
        }
        match estimate(&returned, "", n)? {
            Some(estimate) => Ok(MetricValue::One(estimate)),
            None => Err(no_figure("", "None")),
        }
    })
}

/// What a metric returned that is no figure, and in which part of a dict.
fn no_figure(part: &str, found: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a metric returns a float, an errorbar.Estimate or a dict of them; this one returned {found}{part}"
    ))
}

/// A number or an `errorbar.Estimate`; none for None. `part` is where in a dict it is, in words.
fn estimate(value: &Bound<'_, PyAny>, part: &str, n: u64) -> PyResult<Option<Estimate>> {
    if value.is_none() {
        return Ok(None);
    }
    if !value.hasattr("stderr")? {
        let number = value.extract().or_else(|error: PyErr| {
            let found = value.get_type().name()?.to_string();
            Err(if error.is_instance_of::<PyTypeError>(value.py()) { no_figure(part, &found) } else { error })
        });
        return Ok(Some(Estimate::new(number?).with_n(n)));
    }
    let part = |name: &str| value.getattr(name)?.extract::<Option<f64>>();
    let mut estimate = Estimate::new(value.getattr("value")?.extract()?);
    estimate = estimate.with_n(value.getattr("n")?.extract::<Option<u64>>()?.unwrap_or(n));
    if let Some(stderr) = part("stderr")? {
        estimate = estimate.with_stderr(stderr);
    }
    if let (Some(lower), Some(upper)) = (part("lower")?, part("upper")?) {
        estimate = estimate.with_interval(lower, upper, part("level")?.unwrap_or(0.95));
    }
    Ok(Some(estimate))
}

/// Reduces the scores of a sample in Python.
pub(crate) fn reduce(
    name: &str,
    function: &Py<PyAny>,
    exit: &Exit,
    scores: &[Score],
) -> errorbar_core::Result<Score> {
    attached(name, exit, |py| {
        let values: Vec<Bound<'_, PyAny>> =
            scores.iter().map(|score| object(py, score.value.view())).collect::<PyResult<_>>()?;
        Ok(Score::new(value(&function.bind(py).call1((values,))?)?))
    })
}

/// A value as an object of Python; None for one that is not scored.
fn object<'py>(py: Python<'py>, value: ValueRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    use errorbar_core::LeafRef;
    let leaf = |leaf: LeafRef<'_>| -> PyResult<Bound<'py, PyAny>> {
        Ok(match leaf {
            LeafRef::Unscored | LeafRef::Null => py.None().into_bound(py),
            LeafRef::Bool(b) => b.into_pyobject(py)?.to_owned().into_any(),
            LeafRef::Int(i) => i.into_pyobject(py)?.into_any(),
            LeafRef::Float(f) => f.into_pyobject(py)?.into_any(),
            LeafRef::Str(s) => s.into_pyobject(py)?.into_any(),
        })
    };
    match value {
        ValueRef::Leaf(of) => leaf(of),
        ValueRef::List(list) => {
            let items: Vec<_> = list.iter().map(|item| leaf(item.view())).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        ValueRef::Map(map) => {
            let dict = PyDict::new(py);
            for (key, item) in map {
                dict.set_item(key.as_ref(), leaf(item.view())?)?;
            }
            Ok(dict.into_any())
        }
    }
}

/// An object of Python as the value of a score; None is not scored.
fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let leaf = |item: &Bound<'_, PyAny>| -> PyResult<Leaf> {
        Ok(if item.is_none() {
            Leaf::Unscored
        } else if item.is_instance_of::<PyBool>() {
            Leaf::from(item.extract::<bool>()?)
        } else if item.is_instance_of::<PyInt>() && item.extract::<i64>().is_ok() {
            Leaf::from(item.extract::<i64>()?)
        } else if item.is_instance_of::<PyString>() {
            Leaf::from(item.extract::<String>()?)
        } else if item.is_instance_of::<PyFloat>() || item.hasattr("__float__")? {
            Leaf::from(item.extract::<f64>()?)
        } else {
            let found = item.get_type().name()?.to_string();
            let text = format!("a score is a number, a string, a list or a dict, not {found}");
            return Err(PyTypeError::new_err(text));
        })
    };
    if let Ok(map) = object.cast::<PyDict>() {
        let mut leaves = Vec::new();
        for (key, item) in map.iter() {
            leaves.push((key.str()?.to_string(), leaf(&item)?));
        }
        return Ok(Value::map(leaves));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items: Vec<Bound<'_, PyAny>> = object.try_iter()?.collect::<PyResult<_>>()?;
        return Ok(Value::List(items.iter().map(leaf).collect::<PyResult<_>>()?));
    }
    Ok(Value::from(leaf(object)?))
}

/// A scorer of Python.
#[derive(Debug)]
pub(crate) struct PyScorer {
    pub(crate) name: String,
    pub(crate) function: Py<PyAny>,
    pub(crate) metrics: Metrics,
    pub(crate) exit: Exit,
}

impl ToSpec for PyScorer {
    fn spec(&self) -> Spec {
        Spec::new(&self.name)
    }
}

impl Scorer for PyScorer {
    fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    fn score<'a>(
        &'a self,
        state: &'a TaskState,
        target: &'a Target,
    ) -> BoxFuture<'a, errorbar_core::Result<Option<Score>>> {
        Box::pin(async move {
            attached(&self.name, &self.exit, |py| {
                let fields = PyDict::new(py);
                fields.set_item("model", &state.model)?;
                fields.set_item("sample_id", state.sample_id.to_string())?;
                fields.set_item("epoch", state.epoch)?;
                fields.set_item("input", state.input_text())?;
                fields.set_item("completion", &state.output.completion)?;
                let metadata = serde_json::to_string(&state.metadata);
                let metadata = metadata.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
                fields.set_item("metadata", py.import("json")?.call_method1("loads", (metadata,))?)?;
                let state = py.import("errorbar._custom")?.getattr("Answered")?.call((), Some(&fields))?;
                let returned = self.function.bind(py).call1((state, target.text()))?;
                if returned.is_none() { Ok(None) } else { Ok(Some(Score::new(value(&returned)?))) }
            })
        })
    }
}
