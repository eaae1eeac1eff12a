//! What may stand where a task names its metrics.

use std::convert::Infallible;
use std::str::FromStr;

use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::parse::Parser;
use super::{Arg, MAX_DEPTH, MAX_ITEMS, SEED, Spec, SpecError, SpecErrorKind};
use crate::metadata::Metadata;

/// Metrics for some keys of map-valued scores: a shell glob for the keys, and what to compute for each that matches.
pub type MetricMap<T = Spec> = IndexMap<String, Vec<T>>;

/// The metrics of a task or a scorer, by their specs.
///
/// In JSON and TOML it is a string, a list of strings and maps, or a map of lists of strings. A map whose `name` is a
/// string is a metric as logs record it, so a glob spelled `name` needs its metrics in a list.
///
/// ```
/// use errorbar_core::spec::MetricsSpec;
///
/// let metrics: MetricsSpec = "[accuracy, {'al*': mean}]".parse()?;
/// assert_eq!(metrics.to_string(), r#"[accuracy(), {"al*": [mean()]}]"#);
///
/// let same: MetricsSpec = serde_json::from_str(r#"["accuracy", {"al*": ["mean()"]}]"#).unwrap();
/// assert_eq!(same, metrics);
/// # Ok::<(), errorbar_core::spec::SpecError>(())
/// ```
pub type MetricsSpec = MetricTree<Spec>;

/// The metrics of a task or a scorer: specs, or what is built from them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MetricTree<T> {
    /// Metrics over the whole score, and perhaps maps among them.
    List(Vec<MetricItem<T>>),
    /// Metrics for the keys of map-valued scores only.
    Map(MetricMap<T>),
}

/// An entry of a list of metrics.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MetricItem<T = Spec> {
    /// A metric over the whole score.
    Metric(T),
    /// Metrics for the keys of map-valued scores.
    Map(MetricMap<T>),
}

impl<T> MetricItem<T> {
    fn iter(&self) -> impl Iterator<Item = &T> {
        let (metric, map) = match self {
            MetricItem::Metric(metric) => (Some(metric), None),
            MetricItem::Map(map) => (None, Some(map)),
        };
        metric.into_iter().chain(map.into_iter().flat_map(|map| map.values().flatten()))
    }
}

impl<T> MetricTree<T> {
    /// Every metric in it, in order, wherever it stands.
    ///
    /// ```
    /// use errorbar_core::spec::MetricsSpec;
    ///
    /// let metrics: MetricsSpec = r#"[accuracy(), {"a*": [mean(), std()]}]"#.parse()?;
    /// let names: Vec<&str> = metrics.iter().map(|spec| spec.name.as_str()).collect();
    /// assert_eq!(names, ["accuracy", "mean", "std"]);
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (items, map) = match self {
            Self::List(items) => (items.as_slice(), None),
            Self::Map(map) => (Default::default(), Some(map)),
        };
        items.iter().flat_map(MetricItem::iter).chain(map.into_iter().flat_map(|map| map.values().flatten()))
    }

    /// The metrics over whole scores, not those by key.
    pub fn whole(&self) -> impl Iterator<Item = &T> + Clone {
        let items = match self {
            Self::List(items) => items.as_slice(),
            Self::Map(_) => Default::default(),
        };
        items.iter().filter_map(|item| match item {
            MetricItem::Metric(metric) => Some(metric),
            MetricItem::Map(_) => None,
        })
    }

    /// The same structure with what is made of each metric.
    ///
    /// # Errors
    /// The first that `map` gives.
    pub fn try_map<U, E>(&self, map: impl Fn(&T) -> Result<U, E>) -> Result<MetricTree<U>, E> {
        self.try_filter_map(|metric| map(metric).map(Some))
    }

    /// Only the metrics that pass, in the same structure.
    pub(crate) fn filter(&self, pass: impl Fn(&T) -> bool) -> Self
    where
        T: Clone,
    {
        let Ok(passing) =
            self.try_filter_map(|metric| Ok::<_, Infallible>(pass(metric).then(|| metric.clone())));
        passing
    }

    /// The same structure with what is made of each metric; without lists and maps of which nothing is left.
    fn try_filter_map<U, E>(&self, map: impl Fn(&T) -> Result<Option<U>, E>) -> Result<MetricTree<U>, E> {
        let of_list = |list: &Vec<T>| -> Result<Vec<U>, E> {
            list.iter().filter_map(|metric| map(metric).transpose()).collect()
        };
        let of_map = |patterns: &MetricMap<T>| -> Result<MetricMap<U>, E> {
            let mut mapped = MetricMap::with_capacity(patterns.len());
            for (pattern, list) in patterns {
                let metrics = of_list(list)?;
                if !metrics.is_empty() || list.is_empty() {
                    mapped.insert(pattern.clone(), metrics);
                }
            }
            Ok(mapped)
        };
        let of_item = |item: &MetricItem<T>| match item {
            MetricItem::Metric(metric) => Ok(map(metric)?.map(MetricItem::Metric)),
            MetricItem::Map(patterns) => {
                let mapped = of_map(patterns)?;
                Ok((!mapped.is_empty() || patterns.is_empty()).then_some(MetricItem::Map(mapped)))
            }
        };
        match self {
            Self::Map(patterns) => of_map(patterns).map(MetricTree::Map),
            Self::List(items) => {
                let items = items.iter().filter_map(|item| of_item(item).transpose());
                items.collect::<Result<_, E>>().map(MetricTree::List)
            }
        }
    }
}

impl FromIterator<Spec> for MetricsSpec {
    fn from_iter<I: IntoIterator<Item = Spec>>(specs: I) -> Self {
        Self::List(specs.into_iter().map(MetricItem::Metric).collect())
    }
}

/// A single metric is a list of one.
impl From<Spec> for MetricsSpec {
    fn from(spec: Spec) -> Self {
        Self::from_iter([spec])
    }
}

impl FromStr for MetricsSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, Parser::metrics)
    }
}

impl Parser<'_> {
    pub(super) fn metrics(&mut self) -> Result<MetricsSpec, SpecError> {
        match self.peek() {
            Some('{') => self.metric_map().map(MetricTree::Map),
            Some('[') => {
                let item = |parser: &mut Parser<'_>| match parser.peek() {
                    Some('{') => parser.metric_map().map(MetricItem::Map),
                    _ => parser.spec().map(MetricItem::Metric),
                };
                self.list("a metric", item).map(MetricTree::List)
            }
            _ => self.spec().map(MetricsSpec::from),
        }
    }

    fn metric_map(&mut self) -> Result<MetricMap, SpecError> {
        self.map(|parser| match parser.peek() {
            Some('[') => parser.list("a metric", Parser::spec),
            _ => Ok(vec![parser.spec()?]),
        })
    }
}

// Specs as eval logs record them.
//
// A log holds `{"name": "inspect_ai/grouped", "options": {…}}`: the qualified name, and every argument that was passed
// by its name. A nested spec is `{"type": "metric", "name": "mean", "params": {…}}`, with the shorter log name. So a map
// argument that happens to have those three entries comes back as a spec, here as in the reference.

impl Spec {
    /// The spec as a log records it. All its arguments must have names, as those of a built metric do; a spec with
    /// arguments by position is recorded as the string that it is written as.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    /// use serde_json::json;
    ///
    /// let spec: Spec = "inspect_ai/grouped(metric=mean(), group_key='category')".parse()?;
    /// let logged = json!({
    ///     "name": "inspect_ai/grouped",
    ///     "options": {"metric": {"type": "metric", "name": "mean", "params": {}}, "group_key": "category"},
    /// });
    /// assert_eq!(spec.to_log(), logged);
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn to_log(&self) -> Value {
        if self.args.is_empty() {
            json!({"name": self.qualified_name(), "options": params_to_log(&self.kwargs)})
        } else {
            Value::from(self.to_string())
        }
    }

    /// The spec that a log records under this name with these options. All its arguments have names.
    ///
    /// # Errors
    /// An empty name, a number out of range, or nesting beyond [`MAX_DEPTH`].
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    /// use serde_json::json;
    ///
    /// let options = json!({"cluster": "category"});
    /// let spec = Spec::from_log("inspect_ai/stderr", options.as_object().unwrap())?;
    /// assert_eq!(spec.to_string(), r#"inspect_ai/stderr(cluster="category")"#);
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn from_log(name: &str, options: &Map<String, Value>) -> Result<Self, SpecError> {
        spec_from_log(name, options, 0, &mut 0)
    }

    /// A spec from JSON: its string, or either form of a log.
    pub(super) fn from_json(value: &Value) -> Result<Self, SpecError> {
        match (value, logged_name(value)) {
            (Value::String(text), _) => text.parse(),
            (_, Some(name)) => {
                let options = value.get("options").or_else(|| value.get("params"));
                let spec = match options {
                    None | Some(Value::Null) => Self::from_log(name, &Map::new()),
                    Some(Value::Object(options)) => Self::from_log(name, options),
                    Some(other) => Err(unexpected("the options as an object", other).within("options")),
                };
                Ok(with_seed(spec?, value.get(SEED)))
            }
            _ => Err(unexpected("a spec, or an object with a name and options", value)),
        }
    }
}

impl Arg {
    /// The argument as a log records it among the options under a name: a nested spec as an object that names it and its
    /// kind (`scorers` hold scorers, `solvers` solvers, anything else metrics), a conversion (`to_float`, `value_to_float`) as the string of its spec, because logs have no form for functions.
    ///
    /// ```
    /// use errorbar_core::spec::Arg;
    /// use serde_json::json;
    ///
    /// let arg: Arg = "[1, mean()]".parse()?;
    /// assert_eq!(arg.to_log_json("metrics"), json!([1, {"type": "metric", "name": "mean", "params": {}}]));
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn to_log_json(&self, name: &str) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::from(*value),
            Self::Int(value) => Value::from(*value),
            Self::Float(value) => Value::from(*value),
            Self::Str(value) => Value::from(value.as_str()),
            Self::List(items) => items.iter().map(|item| item.to_log_json(name)).collect(),
            Self::Map(entries) => params_to_log(entries).into(),
            Self::Range(..) => Value::from(self.to_string()),
            Self::Spec(spec) if matches!(name, "to_float" | "value_to_float") || !spec.args.is_empty() => {
                Value::from(spec.to_string())
            }
            Self::Spec(spec) => {
                let kind = match name {
                    "scorer" | "scorers" => "scorer",
                    "solver" | "solvers" => "solver",
                    _ => "metric",
                };
                let name = if kind == "metric" { spec.recorded_name() } else { spec.log_name() };
                json!({"type": kind, "name": name, "params": params_to_log(&spec.kwargs)})
            }
        }
    }

    /// The argument that a log records as this value.
    ///
    /// # Errors
    /// An integer beyond `i64`, a nested spec without a name, or nesting beyond [`MAX_DEPTH`].
    ///
    /// ```
    /// use errorbar_core::spec::{Arg, Spec};
    /// use serde_json::json;
    ///
    /// let logged = json!({"type": "metric", "name": "stderr", "params": {"cluster": "id"}});
    /// assert_eq!(Arg::from_log_json(&logged)?, Arg::from(Spec::new("stderr").kwarg("cluster", "id")));
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn from_log_json(value: &Value) -> Result<Self, SpecError> {
        arg_from_log(value, 0, &mut 0)
    }
}

/// The name, if this is an object that records a spec.
pub(super) fn logged_name(value: &Value) -> Option<&str> {
    value.get("name").and_then(Value::as_str)
}

/// Arguments by name, as logs record them.
pub(crate) fn params_to_log(params: &IndexMap<String, Arg>) -> Metadata {
    params.iter().map(|(name, arg)| (name.clone(), arg.to_log_json(name))).collect()
}

fn spec_from_log(
    name: &str,
    params: &Map<String, Value>,
    depth: usize,
    items: &mut usize,
) -> Result<Spec, SpecError> {
    if name.is_empty() {
        return Err(unexpected("a name", &Value::from(name)).within("name"));
    }
    let mut spec = Spec::new(name);
    spec.kwargs = args_from_log(params, depth, items)?;
    Ok(spec)
}

fn args_from_log(
    params: &Map<String, Value>,
    depth: usize,
    items: &mut usize,
) -> Result<IndexMap<String, Arg>, SpecError> {
    let read = |(name, value): (&String, &Value)| match arg_from_log(value, depth + 1, items) {
        Ok(arg) => Ok((name.clone(), arg)),
        Err(error) => Err(error.within(name)),
    };
    params.iter().map(read).collect()
}

/// Reads an argument. `items` counts those of all lists and maps of the spec so far.
fn arg_from_log(value: &Value, depth: usize, items: &mut usize) -> Result<Arg, SpecError> {
    if depth > MAX_DEPTH {
        return Err(SpecErrorKind::too_deep().into());
    }
    *items += match value {
        Value::Array(items) => items.len(),
        Value::Object(entries) => entries.len(),
        _ => 0,
    };
    if *items > MAX_ITEMS {
        return Err(SpecErrorKind::log(format!("{items} items, more than the limit of {MAX_ITEMS}")).into());
    }
    Ok(match value {
        Value::Null => Arg::Null,
        Value::Bool(value) => Arg::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Arg::Int(value),
            None if number.is_u64() => return Err(unexpected("a 64-bit integer", value)),
            None => Arg::Float(number.as_f64().ok_or_else(|| unexpected("a finite number", value))?),
        },
        Value::String(text) => Arg::Str(text.clone()),
        Value::Array(list) => {
            let read =
                |(i, item)| arg_from_log(item, depth + 1, items).map_err(|error: SpecError| error.within(i));
            Arg::List(list.iter().enumerate().map(read).collect::<Result<_, _>>()?)
        }
        Value::Object(entries) => match nested(entries) {
            Some((name, params)) => {
                Arg::Spec(with_seed(spec_from_log(name, params, depth, items)?, entries.get(SEED)))
            }
            None => Arg::Map(args_from_log(entries, depth, items)?),
        },
    })
}

/// A seed stands beside the options, because the reference would refuse an option that it does not know.
fn with_seed(spec: Spec, recorded: Option<&Value>) -> Spec {
    spec.kwarg_some(SEED, recorded.and_then(Value::as_i64))
}

/// Name and parameters, if this is how a log writes a nested spec.
fn nested(entries: &Map<String, Value>) -> Option<(&str, &Map<String, Value>)> {
    entries.get("type")?.as_str()?;
    Some((entries.get("name")?.as_str()?, entries.get("params")?.as_object()?))
}

fn unexpected(expected: &'static str, found: &Value) -> SpecError {
    let found = match found {
        Value::Null | Value::Bool(_) | Value::Number(_) => found.to_string(),
        Value::String(text) if text.is_empty() => "an empty string".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    SpecErrorKind::log(format!("expected {expected}, found {found}")).into()
}

impl MetricsSpec {
    /// The metrics that the header of a log records as this value. Wherever a log has `{"name", "options"}`, the string of
    /// a spec will do, so this also reads what people write in task files.
    ///
    /// # Errors
    /// Anything else, with the path to it; and as for [`Spec::from_log`].
    ///
    /// ```
    /// use errorbar_core::spec::MetricsSpec;
    /// use serde_json::json;
    ///
    /// let logged = json!([{"name": "inspect_ai/mean", "options": {}}, {"a*": [{"name": "f1"}]}]);
    /// let metrics = MetricsSpec::from_log_json(&logged)?;
    /// assert_eq!(metrics.to_string(), r#"[inspect_ai/mean(), {"a*": [f1()]}]"#);
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn from_log_json(value: &Value) -> Result<Self, SpecError> {
        match value {
            Value::String(text) => text.parse(),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                let read = |(i, item)| item_from_json(item).map_err(|error| error.within(i));
                items.map(read).collect::<Result<_, _>>().map(Self::List)
            }
            other => item_from_json(other).map(|item| match item {
                MetricItem::Map(map) => Self::Map(map),
                MetricItem::Metric(spec) => Self::from(spec),
            }),
        }
    }
}

fn item_from_json(value: &Value) -> Result<MetricItem, SpecError> {
    let Value::Object(entries) = value else {
        return Spec::from_json(value).map(MetricItem::Metric);
    };
    if logged_name(value).is_some() {
        return Spec::from_json(value).map(MetricItem::Metric);
    }
    let read = |(glob, metrics): (&String, &Value)| {
        let specs: Result<Vec<Spec>, SpecError> = match metrics {
            Value::Array(metrics) => metrics.iter().map(Spec::from_json).collect(),
            one => Spec::from_json(one).map(|spec| vec![spec]),
        };
        specs.map(|specs| (glob.clone(), specs)).map_err(|error| error.within(glob))
    };
    entries.iter().map(read).collect::<Result<_, _>>().map(MetricItem::Map)
}

/// As a string, which is what people put into task files; read from a string or from the forms of a log.
impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, Self::from_json)
    }
}

/// The structured form: a list or a map of strings.
impl<'de> Deserialize<'de> for MetricsSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, Self::from_log_json)
    }
}

/// By way of a JSON value: what stands there decides how it is to be read, and serde's own way of trying variants ends in
/// errors without information.
fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    from_json: impl FnOnce(&Value) -> Result<T, SpecError>,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    from_json(&value).map_err(|error| D::Error::custom(format_args!("{error:#}")))
}
