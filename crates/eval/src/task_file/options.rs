//! The small keys: name, version, metadata, model, limits, headline.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use errorbar_core::registry::EntryKind;
use errorbar_core::spec::{MetricsSpec, nearest};
use errorbar_core::{
    Epochs, Error, ErrorMethod, ErrorPlan, HeadlineRequest, IntervalChoice, IntervalSide, Metadata, Metric,
    MetricItem, MetricMap, Metrics, Reducer, ReducerChoice, Reducers, Spec,
};
use errorbar_inference::{RuleMeasure, StopRule};
use serde_json::Value as Json;
use toml::de::DeValue;

use super::section::{Keys, TomlField, TomlSection, TomlString, all, did_you_mean, integer};
use super::specs;
use crate::model::{OpenOptions, Provider, open_model};
use crate::{FailOnError, GenerateConfig, ModelChoice, TemplateText};

/// What the task is called; by default the file's own name.
pub(super) fn name(field: Option<TomlField<'_>>, path: &Path) -> Option<String> {
    match field {
        Some(field) => field.string().map(|string| string.value.to_owned()),
        None => path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
    }
}

pub(super) fn version(field: TomlField<'_>) -> Option<Json> {
    match field.value() {
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) => json(field),
        _ => field.expected("a number or a string"),
    }
}

pub(super) fn metadata(field: TomlField<'_>) -> Option<Metadata> {
    match field.value() {
        DeValue::Table(_) => json_entries(field),
        _ => field.expected("a table such as { author = \"me\" }"),
    }
}

/// The value in JSON, as logs record it.
pub(super) fn json(field: TomlField<'_>) -> Option<Json> {
    match field.value() {
        DeValue::String(text) => Some(Json::from(text.as_ref())),
        DeValue::Boolean(boolean) => Some(Json::from(*boolean)),
        DeValue::Datetime(date) => Some(Json::from(date.to_string())),
        value @ DeValue::Integer(_) => {
            let number = integer(value).and_then(|number| i64::try_from(number).ok()).map(Json::from);
            number.or_else(|| field.expected("a number of 64 bits"))
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(serde_json::Number::from_f64).map(Json::from);
            number.or_else(|| field.expected("a finite number, since logs hold no other"))
        }
        DeValue::Array(_) => all(field.as_list()?.into_iter().map(json)).map(Json::Array),
        DeValue::Table(_) => json_entries(field).map(Json::from),
    }
}

fn json_entries(field: TomlField<'_>) -> Option<Metadata> {
    all(field.as_table()?.into_iter().map(|entry| Some((entry.key().to_owned(), json(entry)?))))
}

/// The model and its place; opened, unless it is on a server, which depends on the options of the run too.
pub(super) fn model(field: TomlField<'_>) -> Option<(Range<usize>, ModelChoice)> {
    let string = field.string()?;
    let registry = field.file.registry;
    let providers = || registry.list::<Provider>().map(|listing| listing.name.as_str());
    if let Some((provider, _)) = string.value.split_once('/') {
        let Ok(Provider { is_remote, .. }) = registry.build(&Spec::new(provider)) else {
            let near = did_you_mean(nearest(provider, providers()));
            let known = || format!("providers are: {}", providers().collect::<Vec<_>>().join(", "));
            let (place, message) = (0..provider.len(), format!("unknown model provider `{provider}`"));
            string.report(place, message, Some(near.unwrap_or_else(known)));
            return None;
        };
        if is_remote {
            return Some((string.span, ModelChoice::relative_to(registry.folder(), string.value)));
        }
    }
    match open_model(string.value, &OpenOptions::new(registry.folder()), registry) {
        Ok(model) => Some((string.span, ModelChoice::Built(model))),
        Err(error) => {
            field.report(error.to_string(), None);
            None
        }
    }
}

pub(super) fn fail_on_error(field: TomlField<'_>) -> Option<FailOnError> {
    let text = match field.value() {
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Float(float) => float.as_str().to_owned(),
        value => integer(value).map(|number| number.to_string()).unwrap_or_default(),
    };
    text.parse().or_else(|wanted: String| field.expected(&wanted).ok_or(())).ok()
}

/// Seconds, whole or not.
pub(super) fn time_limit(field: TomlField<'_>) -> Option<Duration> {
    let seconds = match field.value() {
        DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
        value => integer(value).map(|number| number as f64),
    };
    let limit = seconds.filter(|seconds| *seconds > 0.0).and_then(|s| Duration::try_from_secs_f64(s).ok());
    limit.or_else(|| field.expected("a number of seconds above 0"))
}

pub(super) const HEADLINE_KEYS: Keys = &["scorer", "score", "metric", "reducer"];

/// Which figure comes first, and the table that says so.
pub(super) fn headline(field: TomlField<'_>) -> Option<(TomlSection<'_>, HeadlineRequest)> {
    let section = field.section(HEADLINE_KEYS, "{ metric = \"accuracy\" }")?;
    let [scorer, score, metric, reducer] =
        ["scorer", "score", "metric", "reducer"].map(|key| section.text(key));
    Some((section, HeadlineRequest { scorer, score, metric, reducer }))
}

pub(super) fn stop_when(field: TomlField<'_>) -> Option<Vec<StopRule>> {
    let wanted = "a rule in quotes, such as \"width(accuracy) < 0.04\", or a list of them";
    let folder = field.file.registry.folder();
    let rule = |string: Option<TomlString<'_>>| rule(&string?, folder);
    all(field.strings(wanted)?.into_iter().map(rule))
}

/// The rule; a log that it names is relative to the folder of the file.
fn rule(string: &TomlString<'_>, folder: &Path) -> Option<StopRule> {
    match string.value.parse::<StopRule>() {
        Ok(mut rule) => {
            if let RuleMeasure::BetterThan { log, .. } | RuleMeasure::WorseThan { log, .. } =
                &mut rule.measure
            {
                *log = folder.join(log.as_str()).display().to_string();
            }
            Some(rule)
        }
        Err(error) => {
            string.report_spec(&error);
            None
        }
    }
}

pub(super) const ERRORS_KEYS: Keys =
    &["cluster", "method", "interval", "level", "draws", "range", "side", "population"];

pub(super) fn errors(field: TomlField<'_>) -> Option<ErrorPlan> {
    let fields = field.json_table(ERRORS_KEYS, "{ cluster = \"passage\" }", is_good_error_key)?;
    // Each is right by itself, so this is about how they go together.
    ErrorPlan::from_json(&Json::from(fields)).map_err(|problem| field.report(problem, None)).ok()
}

/// Whether a value is one that the key can have; if not, it is reported.
fn is_good_error_key(key: &str, field: TomlField<'_>, value: &Json) -> bool {
    let alone = Json::from(Metadata::from_iter([(key.to_owned(), value.clone())]));
    let is_empty_key =
        key == "cluster" && (value == "" || value.as_array().is_some_and(|keys| keys.contains(&"".into())));
    let ErrorKey { wanted, is_of_its_kind, names } = error_key(key, value);
    // A value of the right kind has its own problem; for the rest the kind is named as everywhere in the file.
    match (ErrorPlan::from_json(&alone), value.as_str()) {
        (Ok(_), _) if !is_empty_key => return true,
        (Err(problem), name) if is_of_its_kind => {
            // With arguments, it is those that are wrong.
            let name = name.filter(|name| !name.contains('('));
            field.report(problem, did_you_mean(name.and_then(|name| nearest(name, names))));
        }
        _ => field.expected(wanted).unwrap_or_default(),
    }
    false
}

/// What is known of a key of `errors`.
struct ErrorKey {
    /// The kind of value that it has, in words.
    wanted: &'static str,
    /// Whether the value is of that kind.
    is_of_its_kind: bool,
    /// The names that it may have as a value.
    names: Vec<&'static str>,
}

fn error_key(key: &str, value: &Json) -> ErrorKey {
    let is_list = |is_item: fn(&Json) -> bool| value.as_array().is_some_and(|list| list.iter().all(is_item));
    let (is_text, is_count) = (value.is_string(), value.is_u64());
    let (wanted, is_of_its_kind, names) = match key {
        "cluster" => {
            let wanted = "a metadata key such as \"passage\", or a list of two";
            (wanted, is_text || is_list(Json::is_string), Vec::new())
        }
        "method" => {
            let names = ErrorMethod::choices().map(ErrorMethod::name).collect();
            ("a method in quotes, such as \"CR2\"", is_text, names)
        }
        "interval" => ("a method in quotes, such as \"t\"", is_text, IntervalChoice::names().collect()),
        "level" => ("a number such as 0.95", value.is_number(), Vec::new()),
        "draws" => ("an integer", is_count && value.as_u64() <= Some(u32::MAX.into()), Vec::new()),
        "side" => {
            let names = IntervalSide::CHOICES.iter().map(|side| side.name()).collect();
            ("\"two-sided\", \"lower\" or \"upper\"", is_text, names)
        }
        "population" => ("the number of samples of the whole benchmark, such as 1319", is_count, Vec::new()),
        _ => {
            let is_pair = is_list(Json::is_number) && value.as_array().map(Vec::len) == Some(2);
            ("the lowest and the highest score, such as [0, 10]", is_pair, Vec::new())
        }
    };
    ErrorKey { wanted, is_of_its_kind, names }
}

pub(super) const GENERATE_KEYS: Keys = &[
    "system_message",
    "max_tokens",
    "top_p",
    "temperature",
    "stop_seqs",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "logprobs",
    "top_logprobs",
    "extra_body",
];

pub(super) fn generate(field: TomlField<'_>) -> Option<GenerateConfig> {
    let mut fields =
        field.json_table(GENERATE_KEYS, "{ temperature = 0, max_tokens = 512 }", is_good_generate_key)?;
    // Nobody wants to know of how many tokens without wanting to know of any.
    if fields.contains_key("top_logprobs") && !fields.contains_key("logprobs") {
        fields.insert("logprobs", Json::Bool(true));
    }
    if let Some(Json::String(given)) = fields.get("system_message") {
        let text = system_message(given, field)?;
        fields.insert("system_message", Json::from(text));
    }
    config(fields)
}

/// Whether a value is one that the key can have; if not, it is reported.
fn is_good_generate_key(key: &str, field: TomlField<'_>, value: &Json) -> bool {
    if let ("system_message", Json::String(given)) = (key, value) {
        return system_message(given, field).is_some();
    }
    let alone = config(Metadata::from_iter([(key.to_owned(), value.clone())]));
    match alone.map(|config| config.check()) {
        Some(Ok(())) => return true,
        Some(Err(problem)) => field.report(problem.to_string(), None),
        None => field.expected(wanted_of_generate(key)).unwrap_or_default(),
    }
    false
}

/// The message, or what the file holds that it names.
fn system_message(given: &str, field: TomlField<'_>) -> Option<String> {
    match TemplateText::read(given, field.file.registry) {
        Ok(message) => Some(message.text().to_owned()),
        Err(problem) => {
            field.report(format!("`system_message`: {problem}"), None);
            None
        }
    }
}

fn config(fields: Metadata) -> Option<GenerateConfig> {
    serde_json::from_value(Json::from(fields)).ok()
}

/// The kind of value that a key has, in words.
fn wanted_of_generate(key: &str) -> &'static str {
    match key {
        "system_message" => "a string in quotes",
        "max_tokens" | "seed" | "top_logprobs" => "an integer",
        "stop_seqs" => "a list of strings",
        "logprobs" => "true or false",
        "extra_body" => "a table such as { top_k = 40 }",
        _ => "a number",
    }
}

pub(super) const EPOCHS_KEYS: Keys = &["count", "reducers", "reducer"];
const COUNT: &str = "an integer, 1 or more";

pub(super) fn epochs(field: TomlField<'_>) -> Option<Epochs> {
    let Some(section) = field.as_section(EPOCHS_KEYS) else {
        let wanted = format!("{COUNT}, or a table such as {{ count = 5, reducers = [\"mode\"] }}");
        return field.whole_number(1, &wanted).map(Epochs::count);
    };
    let mistakes = &field.file.mistakes;
    let count = match section.get("count") {
        Some(count) => count.whole_number(1, COUNT),
        None => {
            let hint = "set how often each sample runs: count = 5";
            mistakes.missing(field.place(), "`epochs` has no `count`", hint);
            None
        }
    };
    let reducers = match (section.get("reducer"), section.get("reducers")) {
        (Some(one), Some(_)) => {
            let hint = Some("keep one of them; a list goes under `reducers`".to_owned());
            one.report("`reducer` and `reducers` are both given", hint);
            return None;
        }
        (Some(field), None) | (None, Some(field)) => Some(reducers(field, count)?),
        (None, None) => None,
    };
    Some(match reducers {
        Some(built) => Epochs::new(count?, built.into_iter().map(ReducerChoice::Built).collect::<Vec<_>>()),
        None => Epochs::count(count?),
    })
}

fn reducers(field: TomlField<'_>, count: Option<u32>) -> Option<Vec<Arc<dyn Reducer>>> {
    let strings = field.strings("a reducer such as \"mode\", or a list of them")?;
    let built: Vec<Vec<Arc<dyn Reducer>>> = all(strings.into_iter().map(|string| {
        specs::build_as(&string?, <Arc<dyn Reducer>>::KIND, |registry, spec| {
            let reducers = registry.reducers(spec)?;
            Reducers::explicit(reducers.clone()).check(count.unwrap_or(u32::MAX))?;
            Ok(reducers)
        })
    }))?;
    Some(built.concat())
}

const WANTED_METRICS: &str =
    "a metric such as \"accuracy()\", a list of them, or a table such as { \"a*\" = [\"mean()\"] }";

pub(super) fn metrics(field: TomlField<'_>) -> Option<Metrics> {
    one_or_map(field, || {
        let Some(items) = field.as_list().filter(|items| !items.is_empty()) else {
            let hint = "leave it out for the metrics that the scorer brings".to_owned();
            return field.expected_with_hint(WANTED_METRICS, Some(hint));
        };
        let items: Vec<Vec<MetricItem>> = all(items.into_iter().map(list_item))?;
        Some(Metrics::List(items.concat()))
    })
}

fn list_item(item: TomlField<'_>) -> Option<Vec<MetricItem>> {
    let wanted = "a metric such as \"accuracy()\" or a table such as { \"a*\" = [\"mean()\"] }";
    Some(match one_or_map(item, || item.expected(wanted))? {
        Metrics::List(items) => items,
        Metrics::Map(map) => vec![MetricItem::Map(map)],
    })
}

/// The metrics of a string or a table, or those of something else.
fn one_or_map(field: TomlField<'_>, otherwise: impl FnOnce() -> Option<Metrics>) -> Option<Metrics> {
    match field.value() {
        DeValue::String(_) => metrics_of_string(&field.as_string()?),
        DeValue::Table(_) => metric_map(field).map(Metrics::Map),
        _ => otherwise(),
    }
}

/// The string may also hold a list or a map, as on the command line.
fn metrics_of_string(string: &TomlString<'_>) -> Option<Metrics> {
    let registry = string.file.registry;
    let report = |error: Error| specs::report(string, "metric", &error);
    let spec = string.value.parse::<MetricsSpec>().map_err(|error| report(error.into())).ok()?;
    // One by one: building all of them would stop at the first that is wrong.
    spec.iter().filter_map(|spec| registry.metric(spec).err()).for_each(report);
    registry.metrics(&spec).ok()
}

fn metric_map(field: TomlField<'_>) -> Option<MetricMap> {
    let entries = field.as_table()?;
    if entries.is_empty() {
        return field.expected("patterns of keys with their metrics, such as { \"a*\" = [\"mean()\"] }");
    }
    all(entries.into_iter().map(|entry| Some((entry.key().to_owned(), of_pattern(entry)?))))
}

fn of_pattern(entry: TomlField<'_>) -> Option<Vec<Arc<dyn Metric>>> {
    let strings = entry.strings("a metric such as \"mean()\", or a list of them")?;
    if strings.is_empty() {
        return entry.expected("at least one metric");
    }
    all(strings.into_iter().map(|string| specs::build(&string?, |registry, spec| registry.metric(spec))))
}
