//! The small keys: name, version, metadata, model, limits, headline.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use errorbar_core::spec::nearest;
use errorbar_core::{HeadlineRequest, Metadata, Registry, Spec};
use serde_json::Value as Json;
use toml::de::DeValue;

use super::mistake::Mistakes;
use super::section::{Keys, TomlField, TomlSection, all, integer};
use crate::model::{OpenOptions, Provider, open_model};
use crate::{FailOnError, ModelChoice};

/// What the task is called; the file's own name, if nothing is said.
pub(super) fn name(field: Option<TomlField<'_>>, path: &Path, mistakes: &mut Mistakes) -> Option<String> {
    match field {
        Some(field) => field.text(mistakes).map(|text| text.value.to_owned()),
        None => path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
    }
}

pub(super) fn version(field: TomlField<'_>, mistakes: &mut Mistakes) -> Option<Json> {
    match field.value() {
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) => json(field, mistakes),
        _ => {
            field.expected("a number or a text", mistakes);
            None
        }
    }
}

pub(super) fn metadata(field: TomlField<'_>, mistakes: &mut Mistakes) -> Option<Metadata> {
    if !field.value().is_table() {
        field.expected("a table such as { author = \"me\" }", mistakes);
        return None;
    }
    match json(field, mistakes)? {
        Json::Object(entries) => Some(entries.into()),
        _ => None,
    }
}

/// The value in JSON, as logs record it.
pub(super) fn json(field: TomlField<'_>, mistakes: &mut Mistakes) -> Option<Json> {
    match field.value() {
        DeValue::String(text) => Some(Json::from(text.as_ref())),
        DeValue::Boolean(boolean) => Some(Json::from(*boolean)),
        DeValue::Datetime(date) => Some(Json::from(date.to_string())),
        value @ DeValue::Integer(_) => {
            let number = integer(value).and_then(|number| i64::try_from(number).ok()).map(Json::from);
            if number.is_none() {
                field.expected("a number of 64 bits", mistakes);
            }
            number
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(serde_json::Number::from_f64).map(Json::from);
            if number.is_none() {
                field.expected("a finite number, since logs hold no other", mistakes);
            }
            number
        }
        DeValue::Array(_) => {
            let items = field.as_list()?.into_iter();
            all(items.map(|item| json(item, mistakes))).map(Json::Array)
        }
        DeValue::Table(_) => {
            let entries = field.as_table()?.into_iter();
            all(entries.map(|entry| Some((entry.key().to_owned(), json(entry, mistakes)?)))).map(Json::Object)
        }
    }
}

/// The model and its place; opened, unless it is on a server, which the command line has a say in.
pub(super) fn model(
    field: TomlField<'_>,
    registry: &Registry,
    mistakes: &mut Mistakes,
) -> Option<(Range<usize>, ModelChoice)> {
    let text = field.text(mistakes)?;
    let providers = || registry.list::<Provider>().map(|listing| listing.name.as_str());
    if let Some((provider, _)) = text.value.split_once('/')
        && providers().all(|known| known != provider)
    {
        let near = nearest(provider, providers()).map(|near| format!("did you mean `{near}`?"));
        let known = || format!("providers are: {}", providers().collect::<Vec<_>>().join(", "));
        let message = format!("unknown model provider `{provider}`");
        mistakes.add(text.place(0..provider.len()), message, Some(near.unwrap_or_else(known)));
        return None;
    }
    let is_remote = |provider: Provider| provider.is_remote;
    if let Some((provider, _)) = text.value.split_once('/')
        && registry.build(&Spec::new(provider)).is_ok_and(is_remote)
    {
        return Some((text.span, ModelChoice::relative_to(registry.folder(), text.value)));
    }
    match open_model(text.value, &OpenOptions::new(registry.folder()), registry) {
        Ok(model) => Some((text.span, ModelChoice::Built(model))),
        Err(error) => {
            mistakes.add(text.span, error.to_string(), None);
            None
        }
    }
}

pub(super) fn fail_on_error(field: TomlField<'_>, mistakes: &mut Mistakes) -> Option<FailOnError> {
    let said = match field.value() {
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Float(float) => float.as_str().to_owned(),
        value => integer(value).map(|number| number.to_string()).unwrap_or_default(),
    };
    said.parse().map_err(|wanted: String| field.expected(&wanted, mistakes)).ok()
}

/// Seconds, whole or not.
pub(super) fn time_limit(field: TomlField<'_>, mistakes: &mut Mistakes) -> Option<Duration> {
    let seconds = match field.value() {
        DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
        value => integer(value).map(|number| number as f64),
    };
    let limit = seconds.filter(|seconds| *seconds > 0.0).and_then(|s| Duration::try_from_secs_f64(s).ok());
    if limit.is_none() {
        field.expected("a number of seconds above 0", mistakes);
    }
    limit
}

pub(super) const HEADLINE_KEYS: Keys = &["scorer", "score", "metric", "reducer"];

/// Which figure comes first. Scorers and reducers must be those of the task, where these are known; the keys
/// of metrics depend on the scores.
pub(super) fn headline(
    field: TomlField<'_>,
    scorers: Option<&[String]>,
    reducers: Option<&[String]>,
    mistakes: &mut Mistakes,
) -> Option<HeadlineRequest> {
    let Some(section) = TomlSection::of_field(field, HEADLINE_KEYS, mistakes) else {
        field.expected("a table such as { metric = \"accuracy\" }", mistakes);
        return None;
    };
    let mut text = |key: &str, known: Option<&[String]>, none: &str| {
        let text = section.get(key)?.text(mistakes)?;
        if let Some(known) = known
            && known.iter().all(|known| known != text.value)
        {
            let near = nearest(text.value, known.iter().map(String::as_str));
            let hint = match (near, known) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, []) => none.to_owned(),
                (None, known) => format!("the task has: {}", known.join(", ")),
            };
            let message = format!("the task has no {key} `{}`", text.value);
            mistakes.add(text.span.clone(), message, Some(hint));
        }
        Some(text.value.to_owned())
    };
    Some(HeadlineRequest {
        scorer: text("scorer", scorers, "name one under `scorer`"),
        score: text("score", None, ""),
        metric: text("metric", None, ""),
        reducer: text("reducer", reducers, "name one under `epochs`: { count = 5, reducers = [\"mean\"] }"),
    })
}
