//! A task's metrics as eval logs record them: a list of recorded specs with maps among them, or one map.

use serde_json::Value;

use super::log::logged_name;
use super::{MetricItem, MetricsSpec, Spec, SpecError};

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
