//! What is at which address, below the token.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Router, middleware};
use errorbar_log::eval::EvalLog;
use tokio::sync::{Semaphore, watch};

use crate::catalog::{Catalog, LogId};
use crate::events::{self, Updates};
use crate::guard::{self, Guard};
use crate::pages::{PageError, ReportPages};
use crate::samples::SampleReader;
use crate::{ViewOptions, index, search};

/// Pages that are computed at a time: each may take all cores, and memory for the scores of its logs.
const JOBS: usize = 2;
/// The longest that a page may take, waiting included.
const TIME: Duration = Duration::from_secs(120);
/// The most logs that are compared.
const COMPARED: usize = 24;
/// The longest query.
const QUERY: usize = 8 << 10;

/// What requests share.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

struct Shared {
    guard: Arc<Guard>,
    catalog: Catalog,
    pages: Arc<dyn ReportPages>,
    samples: SampleReader,
    command: String,
    updates: Updates,
    jobs: Arc<Semaphore>,
    /// The list as it was sent last, with its version.
    list: Mutex<Option<(u64, Bytes)>>,
}

impl App {
    pub(crate) fn new(options: ViewOptions, guard: Guard) -> Self {
        let ViewOptions { folder, registry, pages, command, .. } = options;
        App(Arc::new(Shared {
            guard: Arc::new(guard),
            catalog: Catalog::new(folder, registry),
            pages,
            samples: SampleReader::default(),
            command,
            updates: Updates::default(),
            jobs: Arc::new(Semaphore::new(JOBS)),
            list: Mutex::new(None),
        }))
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    pub(crate) fn updates(&self) -> &Updates {
        &self.0.updates
    }

    /// The page with the list.
    fn list(&self) -> Bytes {
        let snapshot = self.catalog().refresh();
        let lock = || self.0.list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, page)) = &*lock()
            && *version == snapshot.version
        {
            return page.clone();
        }
        let page = Bytes::from(index::page(&snapshot, self.catalog().folder(), &self.0.command));
        *lock() = Some((snapshot.version, page.clone()));
        page
    }

    fn open(&self, ids: &[LogId]) -> Result<Vec<EvalLog>, PageError> {
        ids.iter().map(|id| self.catalog().open(*id)).collect()
    }

    /// Works off the threads that answer requests, few at a time. What takes too long is given up.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, Failure> {
        let app = self.clone();
        let job = async move {
            let permit = Arc::clone(&app.0.jobs).acquire_owned().await.map_err(|_| Failure::Busy)?;
            let done = tokio::task::spawn_blocking(move || {
                let done = work(&app);
                drop(permit);
                done
            });
            done.await.map_err(|_| Failure::Panic)?.map_err(Failure::Page)
        };
        tokio::time::timeout(TIME, job).await.map_err(|_| Failure::Busy)?
    }
}

/// Why there is no answer.
enum Failure {
    Page(PageError),
    Busy,
    Panic,
}

impl From<PageError> for Failure {
    fn from(error: PageError) -> Self {
        Failure::Page(error)
    }
}

impl Failure {
    fn status_and_text(&self) -> (StatusCode, String) {
        match self {
            Failure::Page(error) => (error.status(), error.to_string()),
            Failure::Busy => {
                (StatusCode::SERVICE_UNAVAILABLE, "the server is busy with other pages; try again".to_owned())
            }
            Failure::Panic => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "this log makes errorbar fail; please report it".to_owned(),
            ),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, text) = self.status_and_text();
        let (policy, page) = index::problem_page(&text);
        (status, [(header::CONTENT_SECURITY_POLICY, policy)], html(page)).into_response()
    }
}

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
pub(crate) fn router(app: App, stopped: watch::Receiver<bool>) -> Router {
    tokio::spawn(events::watch_folder(app.clone(), stopped));
    let guard = Arc::clone(&app.0.guard);
    Router::new()
        .route("/{token}/", get(list))
        .route("/{token}/events", get(|State(app): State<App>| events::events(app)))
        .route("/{token}/compare", get(choose))
        .route("/{token}/logs/{ids}/", get(page))
        .route("/{token}/logs/{ids}/samples.json", get(samples))
        .route("/{token}/logs/{ids}/sample.json", get(sample))
        .route("/{token}/logs/{ids}/search.json", get(find))
        .fallback(|| async { Failure::Page(PageError::NotFound("there is no such page".to_owned())) })
        .layer(middleware::from_fn_with_state(guard, guard::guard))
        .with_state(app)
}

async fn list(State(app): State<App>) -> Response {
    let reader = app.clone();
    // Outside of the jobs, so that the list is there whatever else is computed.
    match tokio::task::spawn_blocking(move || reader.list()).await {
        Ok(page) => ([(header::CONTENT_SECURITY_POLICY, index::policy())], html(page)).into_response(),
        Err(_) => Failure::Panic.into_response(),
    }
}

/// Where the form of the list leads: to the page of the logs that were chosen.
async fn choose(RawQuery(query): RawQuery) -> Result<Redirect, Failure> {
    let query = query.unwrap_or_default();
    let chosen = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == "log");
    let ids: Vec<String> = chosen.map(|(_, id)| id.into_owned()).collect();
    let ids = parse_ids(&ids.join("-"))?;
    let ids: Vec<String> = ids.iter().map(LogId::to_string).collect();
    Ok(Redirect::to(&format!("logs/{}/", ids.join("-"))))
}

async fn page(
    State(app): State<App>,
    Path((_, ids)): Path<(String, String)>,
) -> Result<impl IntoResponse, Failure> {
    let ids = parse_ids(&ids)?;
    let page = app.work(move |app| app.0.pages.page(&app.open(&ids)?)).await?;
    // The page has its own policy for scripts and styles; both hold.
    const POLICY: &str =
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; object-src 'none'";
    Ok(([(header::CONTENT_SECURITY_POLICY, POLICY)], html(page)))
}

async fn samples(
    State(app): State<App>,
    Path((_, ids)): Path<(String, String)>,
) -> Result<impl IntoResponse, DataFailure> {
    let ids = parse_ids(&ids)?;
    let list = app.work(move |app| app.0.samples.index(&app.open(&ids)?)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], list))
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
    let id =
        form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "id").map(|(_, id)| id.into_owned());
    let id = id.ok_or_else(|| PageError::NotFound("name a sample: sample.json?id=…".to_owned()))?;
    let messages =
        form_urlencoded::parse(query.as_bytes()).any(|(key, value)| key == "messages" && value == "true");
    let sample = app.work(move |app| app.0.samples.sample(&app.open(&ids)?, &id, messages)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], sample))
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
    let get = |wanted: &str| {
        let found = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == wanted);
        found.map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let (text, from) = (get("q"), get("from").parse().unwrap_or(0));
    let found = app.work(move |app| search::search(&app.open(&ids)?, &text, from)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], found))
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

fn html(page: impl Into<Bytes>) -> impl IntoResponse {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], page.into())
}
