//! What is at which address, below the token.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Router, middleware};
use errorbar_log::eval::EvalLog;
use tokio::sync::watch;

use crate::app::{self, App, Failure};
use crate::catalog::{LogId, PageError};
use crate::guard::{self, Guard};
use crate::{index, samples};

/// The most logs that are compared.
const COMPARED: usize = 24;
/// The longest query.
const QUERY: usize = 8 << 10;

/// The same for what a script fetches, which shows the text.
struct DataFailure(Failure);

impl<E: Into<Failure>> From<E> for DataFailure {
    fn from(error: E) -> Self {
        DataFailure(error.into())
    }
}

impl IntoResponse for DataFailure {
    fn into_response(self) -> Response {
        self.0.status_and_text().into_response()
    }
}

/// The addresses below the token, behind the guard.
pub(crate) fn router(app: App, guard: Guard, stopped: watch::Receiver<bool>) -> Router {
    tokio::spawn(app::watch_folder(app.clone(), stopped));
    Router::new()
        .route("/{token}/", get(list))
        .route("/{token}/events", get(|State(app): State<App>| app::events(app)))
        .route("/{token}/compare", get(choose))
        .route("/{token}/logs/{ids}/", get(page))
        .route("/{token}/logs/{ids}/samples.json", get(samples))
        .route("/{token}/logs/{ids}/sample.json", get(sample))
        .route("/{token}/logs/{ids}/search.json", get(find))
        .fallback(|| async { Failure::Page(PageError::NotFound("there is no such page".to_owned())) })
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::guard))
        .with_state(app)
}

async fn list(State(app): State<App>) -> Response {
    let reader = app.clone();
    // Outside of the jobs, so that the list is there whatever else is computed.
    match tokio::task::spawn_blocking(move || reader.list()).await {
        Ok(page) => ([(header::CONTENT_SECURITY_POLICY, index::policy())], Html(page)).into_response(),
        Err(_) => Failure::Panic.into_response(),
    }
}

/// Where the form of the list leads: to the page of the logs that were chosen.
async fn choose(RawQuery(query): RawQuery) -> Result<Redirect, Failure> {
    let query = query.unwrap_or_default();
    let ids = parse_ids(&values(&query, "log").collect::<Vec<_>>().join("-"))?;
    let ids: Vec<String> = ids.iter().map(LogId::to_string).collect();
    Ok(Redirect::to(&format!("logs/{}/", ids.join("-"))))
}

async fn page(
    State(app): State<App>,
    Path((_, ids)): Path<(String, String)>,
) -> Result<impl IntoResponse, Failure> {
    let ids = parse_ids(&ids)?;
    let page = app.work(move |app| app.page(&ids)).await?;
    // The page has its own policy for scripts and styles; both hold.
    const POLICY: &str =
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; object-src 'none'";
    Ok(([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(page)))
}

async fn samples(
    State(app): State<App>,
    Path((_, ids)): Path<(String, String)>,
) -> Result<impl IntoResponse, DataFailure> {
    json(app, parse_ids(&ids)?, |app, logs| app.samples().index(logs)).await
}

async fn sample(
    State(app): State<App>,
    Path((_, ids)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<impl IntoResponse, DataFailure> {
    let ids = parse_ids(&ids)?;
    let query = query.unwrap_or_default();
    if query.len() > QUERY {
        return Err(PageError::NotFound("the id is too long".to_owned()).into());
    }
    let unnamed = || PageError::NotFound("name a sample: sample.json?id=…".to_owned());
    let id = values(&query, "id").next().ok_or_else(unnamed)?;
    let messages = values(&query, "messages").any(|value| value == "true");
    json(app, ids, move |app, logs| app.samples().sample(logs, &id, messages)).await
}

async fn find(
    State(app): State<App>,
    Path((_, ids)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<impl IntoResponse, DataFailure> {
    let ids = parse_ids(&ids)?;
    let query = query.unwrap_or_default();
    if query.len() > QUERY {
        return Err(PageError::Unusable("the text to search is too long".to_owned()).into());
    }
    let get = |name| values(&query, name).next().unwrap_or_default();
    let (text, from) = (get("q"), get("from").parse().unwrap_or(0));
    json(app, ids, move |_, logs| samples::search(logs, &text, from)).await
}

/// The JSON that is made of logs.
async fn json<T: IntoResponse + Send + 'static>(
    app: App,
    ids: Vec<LogId>,
    make: impl FnOnce(&App, &[EvalLog]) -> Result<T, PageError> + Send + 'static,
) -> Result<impl IntoResponse, DataFailure> {
    let json = app.work(move |app| make(app, &app.open(&ids)?)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json))
}

/// What a query says about a key, each time that it does.
fn values<'q>(query: &'q str, key: &'q str) -> impl Iterator<Item = String> + 'q {
    let pairs = form_urlencoded::parse(query.as_bytes()).filter(move |(name, _)| name == key);
    pairs.map(|(_, value)| value.into_owned())
}

/// `3-1-7`: the logs, each once, in this order.
fn parse_ids(text: &str) -> Result<Vec<LogId>, PageError> {
    let unknown = || PageError::NotFound("there is no such log".to_owned());
    let mut ids = Vec::new();
    for part in text.split('-') {
        let id: LogId = part.parse().map_err(|_| unknown())?;
        if !ids.contains(&id) {
            ids.push(id);
        }
        if ids.len() > COMPARED {
            return Err(PageError::Unusable(format!("at most {COMPARED} logs are compared at a time")));
        }
    }
    Ok(ids)
}
