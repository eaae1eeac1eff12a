//! What requests share: the folder, the pages, and work off the threads that answer.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use errorbar_core::SampleId;
use errorbar_log::eval::{EvalLog, LogError, Transcript};
use errorbar_report::samples::{EpochRecord, SampleSetBuilder, SampleTexts};
use errorbar_report::{RunIdentity, run_names};
use futures_util::stream::{Stream, unfold};
use rayon::prelude::*;
use serde_json::json;
use tokio::sync::{Semaphore, watch};

use crate::catalog::{Catalog, LogId, PageError, ReportPages, reason};
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
pub(crate) struct App {
    pub(crate) catalog: Catalog,
    pages: Arc<dyn ReportPages>,
    pub(crate) samples: SampleReader,
    command: String,
    pub(crate) updates: watch::Sender<Arc<Update>>,
    jobs: Arc<Semaphore>,
    /// The list as it was sent last, with its version.
    list: Mutex<Option<(u64, Bytes)>>,
}

impl App {
    pub(crate) fn new(options: ViewOptions) -> Self {
        let ViewOptions { folder, registry, pages, command, .. } = options;
        App {
            catalog: Catalog::new(folder, registry),
            pages,
            samples: SampleReader::default(),
            command,
            updates: watch::Sender::default(),
            jobs: Arc::new(Semaphore::new(JOBS)),
            list: Mutex::new(None),
        }
    }

    /// The page with the list.
    pub(crate) fn list(&self) -> Bytes {
        let snapshot = self.catalog.refresh();
        let lock = || self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, page)) = &*lock()
            && *version == snapshot.version
        {
            return page.clone();
        }
        let page = Bytes::from(index::page(&snapshot, self.catalog.folder(), &self.command));
        *lock() = Some((snapshot.version, page.clone()));
        page
    }

    /// The report page of logs.
    pub(crate) fn page(&self, ids: &[LogId]) -> Result<String, PageError> {
        self.pages.page(&self.open(ids)?)
    }

    pub(crate) fn open(&self, ids: &[LogId]) -> Result<Vec<EvalLog>, PageError> {
        ids.iter().map(|id| self.catalog.open(*id)).collect()
    }

    /// Works off the threads that answer requests, few at a time. What takes too long is given up.
    pub(crate) async fn work<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&App) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, Failure> {
        let job = async move {
            let permit = Arc::clone(&self.jobs).acquire_owned().await.map_err(|_| Failure::Busy)?;
            let done = tokio::task::spawn_blocking(move || {
                let done = work(&self);
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
pub(crate) async fn watch_folder(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            _ = stopped.changed() => return,
        }
        if app.updates.receiver_count() > 0 {
            publish(&app).await;
        }
    }
}

/// Sends what has changed.
async fn publish(app: &Arc<App>) {
    let reader = Arc::clone(app);
    let read = tokio::task::spawn_blocking(move || {
        let snapshot = reader.catalog.refresh();
        Update { list_version: snapshot.list_version, running: crate::index::running(&snapshot) }
    });
    // A panic while reading loses one look at the folder.
    let Ok(update) = read.await else { return };
    app.updates.send_if_modified(|last| {
        let is_new = **last != update;
        if is_new {
            *last = Arc::new(update);
        }
        is_new
    });
}

/// The changes from now on: `running` with the runs in progress, and `list` when the list should be fetched again.
pub(crate) async fn events(app: Arc<App>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut receiver = app.updates.subscribe();
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

// The samples of logs, as the sample browser of a page fetches them: the list of all, and one at a time.
//
// The list is made of the summaries that a log ends with, so that of a log of a gigabyte only megabytes are read; one sample
// is found by the name of its entry. A log without summaries is read as a whole, once as long as it does not change.

/// How many lists are held, and how many bytes of them.
const HELD: usize = 4;
const HELD_BYTES: usize = 24 << 20;

/// Reads samples, and holds the lists that were requested last.
#[derive(Debug, Default)]
pub(crate) struct SampleReader {
    /// The latest first.
    lists: Mutex<Vec<Arc<SampleList>>>,
}

/// The list of the samples of logs.
#[derive(Debug)]
struct SampleList {
    logs: Vec<LogState>,
    json: Bytes,
    /// Of each log, in order: the places that a sample has for its epochs.
    epochs: Vec<Vec<u32>>,
}

/// A log as it was when it was read: its path, its length and when it was written to.
type LogState = (PathBuf, (u64, Option<SystemTime>));

impl SampleReader {
    /// The list of all samples of logs.
    pub(crate) fn index(&self, logs: &[EvalLog]) -> Result<Bytes, PageError> {
        self.list(logs).map(|list| list.json.clone())
    }

    /// All epochs of a sample, in all logs, with their conversations or without.
    pub(crate) fn sample(&self, logs: &[EvalLog], id: &str, messages: bool) -> Result<Vec<u8>, PageError> {
        let list = self.list(logs)?;
        let mut builder = SampleSetBuilder::new();
        for (log, epochs) in logs.iter().zip(&list.epochs) {
            let run = builder.start_run("");
            let mut found = log.transcripts_of(id).map_err(unusable)?;
            while let Some(transcript) = found.next() {
                let mut transcript = transcript.map_err(unusable)?;
                found.complete(&mut transcript, messages).map_err(unusable)?;
                add(&mut builder, run, &transcript);
            }
            // A sample that lacks an epoch has its place all the same, as it has in the list.
            let place = SampleId::from("\0");
            for epoch in epochs {
                builder.add(run, &place, *epoch, SampleTexts::default(), EpochRecord::default());
            }
        }
        let unknown = || PageError::NotFound("there is no sample of this id".to_owned());
        let builder = if messages { builder.with_messages() } else { builder };
        let sample = builder.finish().sample_json(id).ok_or_else(unknown)?;
        serde_json::to_vec(&sample).map_err(|error| PageError::Unusable(error.to_string()))
    }

    fn list(&self, logs: &[EvalLog]) -> Result<Arc<SampleList>, PageError> {
        let states: Vec<LogState> =
            logs.iter().map(|log| (log.path().to_owned(), log.file_stamp())).collect();
        if let Some(held) = self.held(&states) {
            return Ok(held);
        }
        let list = Arc::new(read_list(logs, states)?);
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.insert(0, Arc::clone(&list));
        let mut bytes = 0;
        let mut count = 0;
        // The latest stays however large it is: its samples are about to be requested.
        lists.retain(|held| {
            (bytes, count) = (bytes + held.json.len(), count + 1);
            count == 1 || (count <= HELD && bytes <= HELD_BYTES)
        });
        Ok(list)
    }

    fn held(&self, states: &[LogState]) -> Option<Arc<SampleList>> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.iter().find(|list| list.logs == states).map(Arc::clone)
    }
}

/// The most samples × epochs × runs of a list: each takes 2 kB until it is written.
const MOST_LISTED: usize = 100_000;
/// The most bytes of texts that are held for a list.
const MOST_TEXT_BYTES: usize = 64 << 20;

fn read_list(logs: &[EvalLog], states: Vec<LogState>) -> Result<SampleList, PageError> {
    let mut builder = SampleSetBuilder::new().max_records(MOST_LISTED).max_text_bytes(MOST_TEXT_BYTES);
    let mut epochs = Vec::new();
    let model = |log: &EvalLog| Ok(log.short_header()?.eval.model);
    let models: Vec<String> = logs.iter().map(model).collect::<Result<_, LogError>>().map_err(unusable)?;
    let identities: Vec<RunIdentity<'_>> =
        logs.iter().zip(&models).map(|(log, model)| RunIdentity::new(model, log.path())).collect();
    for (log, name) in logs.iter().zip(run_names(&identities)) {
        let run = builder.start_run(&name);
        let mut found: BTreeSet<u32> = BTreeSet::new();
        let mut add_one = |transcript: &Transcript| {
            found.insert(transcript.epoch);
            add(&mut builder, run, transcript);
        };
        match log.summaries() {
            Ok(Some(summaries)) => summaries.iter().for_each(&mut add_one),
            // A damaged list is no loss: the samples themselves are there.
            Ok(None) | Err(_) => {
                for transcript in log.transcripts(|_, _| true).map_err(unusable)? {
                    // One that cannot be read is absent in the list.
                    transcript.iter().for_each(&mut add_one);
                }
            }
        }
        epochs.push(found.into_iter().collect());
    }
    if builder.is_too_sparse() {
        let text = "the logs have too few samples in common to be listed together; choose fewer logs";
        return Err(PageError::Unusable(text.to_owned()));
    }
    let json = builder.finish().index_json();
    let json = serde_json::to_vec(&json).map_err(|error| PageError::Unusable(error.to_string()))?;
    Ok(SampleList { logs: states, json: json.into(), epochs })
}

fn add(builder: &mut SampleSetBuilder, run: usize, transcript: &Transcript) {
    let (texts, record) =
        (SampleTexts::from_transcript(transcript), EpochRecord::from_transcript(transcript));
    builder.add(run, &transcript.id, transcript.epoch, texts, record);
}

pub(crate) fn unusable(error: LogError) -> PageError {
    PageError::Unusable(reason(error))
}

// Searching the whole texts of samples: question, choices, target, answers, errors and what scorers explain.
//
// No index is held. A search is a sequence of requests, each of which reads samples for a fraction of a second and says
// where the next one continues. So a log of any size needs the memory of the samples that are being read, a page shows
// how far it is, and a search that nobody waits for any more ends by itself.

/// How long samples are read for one request.
const STEP: Duration = Duration::from_millis(250);
/// The samples that a thread reads before the clock is looked at.
const BATCH: usize = 8;

/// Searches samples from a position on, for a while: the ids of those that contain the text, the position after the last
/// that was read, and the number of all. Positions count the samples of all logs, one log after the other.
pub(crate) fn search(logs: &[EvalLog], text: &str, from: usize) -> Result<Vec<u8>, PageError> {
    let wanted = text.trim().to_lowercase();
    let (started, mut first, mut position) = (Instant::now(), 0, from);
    let mut found: Vec<String> = Vec::new();
    for log in logs {
        let end = first + log.sample_count();
        while position < end && !wanted.is_empty() && started.elapsed() < STEP {
            let next = end.min(position + BATCH * rayon::current_num_threads());
            let batches: Vec<usize> = (position..next).step_by(BATCH).collect();
            let of_batches = batches
                .into_par_iter()
                .map(|at| search_batch(log, at - first..next.min(at + BATCH) - first, &wanted));
            found.par_extend(of_batches.flatten_iter());
            position = next;
        }
        first = end;
    }
    let is_done = position >= first || wanted.is_empty();
    // A sample has several epochs, which are read one after the other.
    found.sort_unstable();
    found.dedup();
    let answer = json!({
        "found": found,
        "searched": position.min(first),
        "total": first,
        "next": (!is_done).then_some(position),
    });
    serde_json::to_vec(&answer).map_err(|error| PageError::Unusable(error.to_string()))
}

/// The ids of the samples of some places that contain a text in lower case.
fn search_batch(log: &EvalLog, places: std::ops::Range<usize>, wanted: &str) -> Vec<String> {
    let mut transcripts = log.transcripts_at(places);
    let mut found = Vec::new();
    while let Some(read) = transcripts.next() {
        // One that cannot be read is not found; whoever opens it sees why.
        let Ok(mut transcript) = read else { continue };
        if transcripts.complete(&mut transcript, false).is_ok() && contains(&transcript, wanted) {
            found.push(transcript.id.to_string());
        }
    }
    found
}

fn contains(transcript: &Transcript, wanted: &str) -> bool {
    let is_in = |text: &str| text.to_lowercase().contains(wanted);
    let scores = || transcript.scores.values();
    let own = [&transcript.answer, &transcript.output_error, &transcript.error].into_iter().flatten();
    let of_scores = scores().flat_map(|score| score.answer.iter().chain(&score.explanation));
    transcript.input.iter().any(|message| is_in(&message.text()))
        || transcript
            .choices
            .iter()
            .chain(&transcript.target)
            .chain(own)
            .chain(of_scores)
            .any(|text| is_in(text))
}
