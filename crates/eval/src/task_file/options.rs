//! The small keys: name, version, metadata, model, limits, headline.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use errorbar_core::spec::nearest;
use errorbar_core::{HeadlineRequest, Metadata, Spec};
use serde_json::Value as Json;
use toml::de::DeValue;

use super::section::{Keys, TomlField, all, did_you_mean, integer};
use crate::model::{OpenOptions, Provider, open_model};
use crate::task_check::is_called;
use crate::{FailOnError, ModelChoice};

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

/// Which figure comes first. Scorers, metrics and reducers must be those of the task, where these are known: the names of
/// groups, for one, depend on the scores.
pub(super) fn headline(
    field: TomlField<'_>,
    scorers: Option<&[String]>,
    metrics: Option<&[String]>,
    reducers: Option<&[String]>,
) -> Option<HeadlineRequest> {
    let section = field.section(HEADLINE_KEYS, "{ metric = \"accuracy\" }")?;
    let name = |key: &str, known: Option<&[String]>, none: &str| {
        let field = section.get(key)?;
        let name = field.string()?.value;
        if let Some(known) = known
            && !known.iter().any(|known| known == name || (key == "metric" && is_called(name, known)))
        {
            let hint = did_you_mean(nearest(name, known.iter().map(String::as_str)));
            let hint = hint.unwrap_or_else(|| match known {
                [] => none.to_owned(),
                known => format!("the task has: {}", known.join(", ")),
            });
            field.report(format!("the task has no {key} `{name}`"), Some(hint));
        }
        Some(name.to_owned())
    };
    Some(HeadlineRequest {
        scorer: name("scorer", scorers, "name one under `scorer`"),
        score: name("score", None, ""),
        metric: name("metric", metrics, "name one under `metrics`"),
        reducer: name("reducer", reducers, "name one under `epochs`: { count = 5, reducers = [\"mean\"] }"),
    })
}
