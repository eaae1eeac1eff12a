//! Metrics and reducers for Inspect: one call with the values of all scores.
//!
//! Inspect's functions get a list of scores. The Python layer takes the values out of it, and what of their metadata is
//! needed; everything that is computed is computed here, by the metric of the same name.

use std::sync::{Arc, Mutex, PoisonError};

use errorbar::eval::collected_registry;
use errorbar_core::engine::{ColumnBlock, ValueColumn};
use errorbar_core::reducers::max;
use errorbar_core::{
    Conversion, ErrorPlan, IntervalChoice, IntervalMethod, Leaf, LeafRef, Metric, MetricResult, Reducer,
    Score, ScoreColumns, ScoreSet, Spec, Value, ValueRef,
};
use errorbar_log::inspect::{ReturnedNumbers, returned_numbers};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::call::{Cancelled, caught, compute};

/// The name of the only scorer.
const SCORER: &str = "score";
/// Fewer scores than this are not worth a thread, unless a metric draws resamples of them. The engine does not use threads
/// by itself for so few, either.
const FEW: usize = 1 << 15;

/// An error of the engine: in arguments, or in scores.
fn raised(py: Python<'_>, class: &str, error: &dyn std::fmt::Display) -> PyErr {
    let made =
        py.import("errorbar._errors").and_then(|errors| errors.getattr(class)?.call1((error.to_string(),)));
    made.map_or_else(|error| error, PyErr::from_value)
}

fn parsed(py: Python<'_>, spec: &str) -> PyResult<Spec> {
    spec.parse().map_err(|error: errorbar_core::spec::SpecError| raised(py, "SpecError", &error))
}

/// A metric with its arguments.
#[pyclass(module = "errorbar._errorbar", frozen)]
#[derive(Debug)]
pub(crate) struct MetricEngine {
    spec: Spec,
    metric: Arc<dyn Metric>,
    errors: ErrorPlan,
    is_drawn: bool,
}

impl MetricEngine {
    /// The numbers of the metric: a float, a dict or a list.
    fn numbers<'py>(&self, py: Python<'py>, columns: ScoreColumns) -> PyResult<Bound<'py, PyAny>> {
        let is_long = self.is_drawn || columns.len() >= FEW;
        let (spec, metric) = (self.spec.clone(), Arc::clone(&self.metric));
        let work = move || {
            // The cheapest interval, where a metric has one in any case: it is not looked at.
            let mut errors = ErrorPlan::new();
            errors.interval = IntervalChoice::Method(IntervalMethod::T);
            let set = ScoreSet::unreduced(&columns, SCORER)?.with_errors(errors).values_only();
            let value = metric.compute(&set.scores())?;
            let result = MetricResult::new(spec, metric.role(), value);
            Ok(returned_numbers(&result, columns.len()))
        };
        let result = if is_long { compute(py, &Cancelled::default(), work)? } else { caught(work)? };
        match result.map_err(|error: errorbar_core::Error| raised(py, "InputError", &error))? {
            ReturnedNumbers::One(number) => Ok(number.into_pyobject(py)?.into_any()),
            ReturnedNumbers::Named(numbers) => {
                let named = PyDict::new(py);
                numbers.into_iter().try_for_each(|(name, number)| named.set_item(name, number))?;
                Ok(named.into_any())
            }
            ReturnedNumbers::Listed(numbers) => Ok(numbers.into_pyobject(py)?.into_any()),
            _ => Err(PyRuntimeError::new_err("numbers of an unknown kind")),
        }
    }
}

#[pymethods]
impl MetricEngine {
    /// A metric by its spec; `is_drawn` is whether it draws resamples. `level`, `interval`, `cluster` and `range` are how
    /// the interval of `interval()` is computed.
    #[new]
    #[pyo3(signature = (spec, *, is_drawn = true, level = None, interval = None, cluster = None, range = None))]
    fn new(
        py: Python<'_>,
        spec: &str,
        is_drawn: bool,
        level: Option<f64>,
        interval: Option<&str>,
        cluster: Option<String>,
        range: Option<(f64, f64)>,
    ) -> PyResult<Self> {
        let registry = collected_registry().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let spec = parsed(py, spec)?;
        let metric = registry.metric(&spec).map_err(|error| raised(py, "SpecError", &error))?;
        let mut errors = ErrorPlan::new();
        (errors.level, errors.range) = (level, range);
        errors.cluster.extend(cluster);
        if let Some(method) = interval {
            let choice: Result<IntervalChoice, _> = method.parse();
            let invalid = |problem| errorbar_core::Error::custom(format!("interval: method: {problem}"));
            errors.interval = choice.map_err(|problem| raised(py, "SpecError", &invalid(problem)))?;
        }
        Ok(MetricEngine { spec, metric, errors, is_drawn })
    }

    /// The numbers over these values: a float, a dict or a list. None if a value has no finite number, unless `numbers` is
    /// false: then values are labels or lists. `keys`
    /// are columns of metadata by name, `ids` how samples are called in errors.
    #[pyo3(signature = (values, *, numbers = true, keys = None, ids = None))]
    fn compute<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyList>,
        numbers: bool,
        keys: Option<&Bound<'py, PyDict>>,
        ids: Option<Vec<String>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(columns) = columns(values, numbers, keys, ids)? else { return Ok(None) };
        self.numbers(py, columns).map(Some)
    }

    /// The two ends of the interval of the figure over these values; None if there is none.
    #[pyo3(signature = (values, *, keys = None, ids = None))]
    fn interval<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyList>,
        keys: Option<&Bound<'py, PyDict>>,
        ids: Option<Vec<String>>,
    ) -> PyResult<Option<(f64, f64)>> {
        let Some(columns) = columns(values, true, keys, ids)? else { return Ok(None) };
        let (errors, metric) = (self.errors.clone(), Arc::clone(&self.metric));
        let value = compute(py, &Cancelled::default(), move || {
            let set = ScoreSet::unreduced(&columns, SCORER)?.with_errors(errors);
            metric.compute(&set.scores())
        })?;
        let value = value.map_err(|error| raised(py, "InputError", &error))?;
        let interval = value.estimate().and_then(|estimate| estimate.interval.as_ref().ok());
        Ok(interval.map(|interval| (interval.lower, interval.upper)))
    }
}

/// The values as columns; none if numbers are wanted and one of the values is no finite number.
fn columns<'py>(
    values: &Bound<'py, PyList>,
    numbers: bool,
    keys: Option<&Bound<'py, PyDict>>,
    ids: Option<Vec<String>>,
) -> PyResult<Option<ScoreColumns>> {
    let names: Vec<String> = match keys {
        Some(keys) => keys.keys().extract()?,
        None => Vec::new(),
    };
    let mut block = ColumnBlock::new(1, names.len());
    if let Some(scores) = block.scores.first_mut() {
        let numbers = numbers.then(Conversion::default);
        for value in values.iter() {
            if !push(scores, &value, numbers.as_ref())? {
                return Ok(None);
            }
        }
    }
    match ids {
        Some(ids) => ids.iter().for_each(|id| block.ids.push(id)),
        // Only errors show them.
        None => (0..values.len()).for_each(|_| block.ids.push("")),
    }
    let given = keys.iter().flat_map(|keys| keys.values().iter().collect::<Vec<_>>());
    for (column, texts) in block.metadata.iter_mut().zip(given) {
        for text in texts.try_iter()? {
            column.push_text(text?.cast::<PyString>()?.to_str()?);
        }
    }
    let mut columns = ScoreColumns::new([SCORER]);
    columns.append(names.iter().map(String::as_str), &mut block);
    Ok(Some(columns))
}

/// Adds a value; whether it is a finite number, or a string that stands for one, where numbers are wanted.
fn push(column: &mut ValueColumn, value: &Bound<'_, PyAny>, numbers: Option<&Conversion>) -> PyResult<bool> {
    if let Ok(text) = value.cast_exact::<PyString>() {
        let text = text.to_str()?;
        column.push_text(text);
        let number = numbers.map(|numbers| numbers.convert(ValueRef::Leaf(LeafRef::Str(text))));
        return Ok(number.is_none_or(|number| number.convertible && number.value.is_finite()));
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        let float = float.value();
        column.push_float(float);
        return Ok(float.is_finite());
    }
    // Beyond 64 bits it is a float.
    if let Ok(int) = value.cast_exact::<PyInt>()
        && let Ok(int) = int.extract()
    {
        column.push_int(int);
        return Ok(true);
    }
    let value = value_of(value)?;
    let is_number = matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_));
    column.push(Some(value));
    Ok(is_number || numbers.is_none())
}

/// A score value of Python.
fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return Ok(Value::List(value.try_iter()?.map(|item| leaf_of(&item?)).collect::<PyResult<_>>()?));
    }
    // Whether something is a mapping takes Python longer than all the rest, unless it is a dict.
    if is_leaf(value) {
        return leaf_of(value).map(Value::from);
    }
    if let Ok(map) = value.cast::<PyMapping>() {
        let mut leaves = Vec::with_capacity(map.len()?);
        for item in map.items()?.iter() {
            let (key, item): (String, Bound<'_, PyAny>) = item.extract()?;
            leaves.push((key, leaf_of(&item)?));
        }
        return Ok(Value::map(leaves));
    }
    leaf_of(value).map(Value::from)
}

/// Whether a value is of one of the types that a leaf has.
fn is_leaf(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
        || value.is_none()
}

fn leaf_of(value: &Bound<'_, PyAny>) -> PyResult<Leaf> {
    if value.is_none() {
        return Ok(Leaf::Null);
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok(Leaf::from(float.value()));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Leaf::Bool(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return match value.extract() {
            Ok(int) => Ok(Leaf::Int(int)),
            Err(_) => Ok(Leaf::from(value.extract::<f64>()?)),
        };
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Leaf::from(text.to_str()?));
    }
    // Scalars of numpy and the like.
    match value.extract::<f64>() {
        Ok(float) => Ok(Leaf::from(float)),
        Err(_) => Err(PyTypeError::new_err(format!(
            "a score cannot hold {}: expected a number, a string, a bool, or a list or dict of them",
            value.get_type().name()?
        ))),
    }
}

fn python_leaf<'py>(py: Python<'py>, leaf: Leaf) -> PyResult<Bound<'py, PyAny>> {
    Ok(match leaf {
        Leaf::Unscored => f64::NAN.into_pyobject(py)?.into_any(),
        Leaf::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Leaf::Int(int) => int.into_pyobject(py)?.into_any(),
        Leaf::Float(float) => float.into_pyobject(py)?.into_any(),
        Leaf::Str(text) => PyString::new(py, &text).into_any(),
        _ => py.None().into_bound(py),
    })
}

/// A reducer with its arguments.
#[pyclass(module = "errorbar._errorbar", frozen)]
#[derive(Debug)]
pub(crate) struct ReducerEngine {
    reducer: Arc<dyn Reducer>,
    /// What a conversion in Python raised.
    failed: Arc<Mutex<Option<PyErr>>>,
}

#[pymethods]
impl ReducerEngine {
    /// A reducer by its spec. With a conversion in Python, it is that of `max`, which returns values as they are.
    #[new]
    #[pyo3(signature = (spec, *, to_float = None))]
    fn new(py: Python<'_>, spec: &str, to_float: Option<Py<PyAny>>) -> PyResult<Self> {
        let failed = Arc::default();
        if let Some(to_float) = to_float {
            let conversion = python_conversion(to_float, Arc::clone(&failed));
            return Ok(ReducerEngine { reducer: Arc::new(max().value_to_float(conversion)), failed });
        }
        let registry = collected_registry().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let reducer = registry.reducer(&parsed(py, spec)?);
        let reducer = reducer.map_err(|error| raised(py, "SpecError", &error))?;
        reducer.check().map_err(|error| raised(py, "SpecError", &error))?;
        Ok(ReducerEngine { reducer, failed })
    }

    /// The value that stands for these, those of the epochs of a sample.
    fn reduce<'py>(&self, py: Python<'py>, values: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyAny>> {
        let scores: Vec<Score> =
            values.iter().map(|value| value_of(&value).map(Score::new)).collect::<PyResult<_>>()?;
        // A handful of values: not worth a thread.
        let reduced = caught(|| self.reducer.reduce(&scores))?;
        if let Some(error) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        match reduced.map_err(|error| raised(py, "InputError", &error))?.value {
            Value::List(items) => {
                let items: Vec<_> =
                    items.into_iter().map(|leaf| python_leaf(py, leaf)).collect::<PyResult<_>>()?;
                Ok(items.into_pyobject(py)?.into_any())
            }
            Value::Map(map) => {
                let named = PyDict::new(py);
                for (key, leaf) in map {
                    named.set_item(&*key, python_leaf(py, leaf)?)?;
                }
                Ok(named.into_any())
            }
            Value::Bool(flag) => python_leaf(py, Leaf::Bool(flag)),
            Value::Int(int) => python_leaf(py, Leaf::Int(int)),
            Value::Float(float) => python_leaf(py, Leaf::Float(float)),
            Value::Str(text) => python_leaf(py, Leaf::Str(text)),
            _ => python_leaf(py, Leaf::Unscored),
        }
    }
}

/// A conversion that is a function of Python. What it raises is remembered: a conversion cannot fail.
fn python_conversion(to_float: Py<PyAny>, failed: Arc<Mutex<Option<PyErr>>>) -> Conversion {
    Conversion::from_fn("python", move |value| {
        Python::attach(|py| {
            let ValueRef::Leaf(leaf) = value else { return None };
            let leaf = leaf.to_leaf();
            let converted = python_leaf(py, leaf).and_then(|value| to_float.call1(py, (value,))?.extract(py));
            converted
                .map_err(|error| {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error).clone_ref(py)
                })
                .ok()
        })
    })
}
