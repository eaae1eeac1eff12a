//! What requests share: the folder, the pages, and work off the threads that answer.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use errorbar_log::eval::EvalLog;
use futures_util::stream::{Stream, unfold};
use serde_json::json;
use tokio::sync::{Semaphore, watch};

use crate::catalog::{Catalog, LogId, PageError, ReportPages};
use crate::samples::SampleReader;
use crate::{ViewOptions, index};

/// Pages that are computed at a time: each may take all cores, and memory for the scores of its logs.
const JOBS: usize = 2;
/// The longest that a page may take, waiting included.
const TIME: Duration = Duration::from_secs(120);

/// What a page is told.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Update {
    /// Changes with logs that are not in progress.
    pub(crate) list_version: u64,
    /// The runs in progress, as HTML.
    pub(crate) running: String,
}

/// What requests share.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

struct Shared {
    catalog: Catalog,
    pages: Arc<dyn ReportPages>,
    samples: SampleReader,
    command: String,
    updates: watch::Sender<Arc<Update>>,
    jobs: Arc<Semaphore>,
    /// The list as it was sent last, with its version.
    list: Mutex<Option<(u64, Bytes)>>,
}

impl App {
    pub(crate) fn new(options: ViewOptions) -> Self {
        let ViewOptions { folder, registry, pages, command, .. } = options;
        App(Arc::new(Shared {
            catalog: Catalog::new(folder, registry),
            pages,
            samples: SampleReader::default(),
            command,
            updates: watch::Sender::default(),
            jobs: Arc::new(Semaphore::new(JOBS)),
            list: Mutex::new(None),
        }))
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    pub(crate) fn updates(&self) -> &watch::Sender<Arc<Update>> {
        &self.0.updates
    }

    /// The page with the list.
    pub(crate) fn list(&self) -> Bytes {
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

    pub(crate) fn samples(&self) -> &SampleReader {
        &self.0.samples
    }

    /// The report page of logs.
    pub(crate) fn page(&self, ids: &[LogId]) -> Result<String, PageError> {
        self.0.pages.page(&self.open(ids)?)
    }

    pub(crate) fn open(&self, ids: &[LogId]) -> Result<Vec<EvalLog>, PageError> {
        ids.iter().map(|id| self.catalog().open(*id)).collect()
    }

    /// Works off the threads that answer requests, few at a time. What takes too long is given up.
    pub(crate) async fn work<T: Send + 'static>(
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
pub(crate) enum Failure {
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
    pub(crate) fn status_and_text(&self) -> (StatusCode, String) {
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
        (status, [(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
    }
}

// Changes of the folder, as server-sent events.

/// How often the folder is looked at while a page listens.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often a line is sent so that a closed connection is noticed.
const ALIVE: Duration = Duration::from_secs(15);

/// Looks at the folder as long as pages listen.
pub(crate) async fn watch_folder(app: App, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            _ = stopped.changed() => return,
        }
        if app.updates().receiver_count() > 0 {
            publish(&app).await;
        }
    }
}

/// Sends what has changed.
async fn publish(app: &App) {
    let reader = app.clone();
    let read = tokio::task::spawn_blocking(move || {
        let snapshot = reader.catalog().refresh();
        Update { list_version: snapshot.list_version, running: crate::index::running(&snapshot) }
    });
    // A panic while reading loses one look at the folder.
    let Ok(update) = read.await else { return };
    app.updates().send_if_modified(|last| {
        let is_new = **last != update;
        if is_new {
            *last = Arc::new(update);
        }
        is_new
    });
}

/// The changes from now on: `running` with the runs in progress, and `list` when the list should be fetched again.
pub(crate) async fn events(app: App) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut receiver = app.updates().subscribe();
    // What the page shows may be older than what was sent last.
    publish(&app).await;
    receiver.mark_changed();
    let stream = unfold(receiver, |mut receiver| async move {
        receiver.changed().await.ok()?;
        let update = Arc::clone(&receiver.borrow_and_update());
        let data = json!({ "list": update.list_version, "running": update.running });
        Some((Ok(Event::default().event("change").data(data.to_string())), receiver))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE))
}
