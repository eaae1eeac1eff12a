//! The server: a thread with its own runtime, which ends with it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router, middleware};
use errorbar_log::eval::EvalLog;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::timeout;

use crate::app::{self, App, Failure};
use crate::catalog::{LogId, PageError};
use crate::{ViewError, ViewOptions, index};

/// Connections at a time. Browsers hold up to six for each page; the rest wait.
const CONNECTIONS: usize = 400;
/// Those of them that have not shown the token. The others are for whoever has.
const VISITORS: usize = CONNECTIONS / 4 * 3;
/// The time in which the head of a request must have come, and the longest that a connection waits for the next one. For
/// the first request there is less.
const HEAD_TIME: Duration = Duration::from_secs(20);
/// The most bytes of the head of a request.
const HEAD_BYTES: usize = 16 << 10;
/// The most headers of a request.
const MOST_HEADERS: usize = 64;
/// Threads for requests, and for reading files.
const WORKERS: usize = 2;
const READERS: usize = 16;
/// How long threads have to end. They only read, so nothing is lost.
const ENDING: Duration = Duration::from_millis(200);

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct ViewServer {
    url: String,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl ViewServer {
    /// Starts to serve a folder.
    ///
    /// # Errors
    /// An address or a port that cannot be listened on.
    pub fn start(options: ViewOptions) -> Result<Self, ViewError> {
        let (host, port) = (options.host.clone(), options.port);
        let listen = |source| ViewError::Listen { host: host.clone(), port, source };
        // An address in brackets, as in a URL, is one without.
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<SocketAddr> = (name, port).to_socket_addrs().map_err(listen)?.collect();
        let listener = StdListener::bind(addresses.as_slice()).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let guard = Guard::new(name, address.ip().is_loopback()).map_err(ViewError::Random)?;
        let url = format!("http://{}/{}/", shown_address(name, address), guard.token());
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .max_blocking_threads(READERS)
            .thread_name("errorbar-view")
            .enable_all()
            .build()
            .map_err(ViewError::Start)?;
        let (stop, stopped) = watch::channel(false);
        let app = Arc::new(App::new(options));
        let run = move || run(runtime, listener, app, guard, stopped);
        let thread = std::thread::Builder::new().name("errorbar-view".to_owned()).spawn(run);
        Ok(ViewServer { url, address, stop, thread: Some(thread.map_err(ViewError::Start)?) })
    }

    /// The address of the list, with its token.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it, whoever is connected.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for ViewServer {
    fn drop(&mut self) {
        // It has ended by itself if nobody receives this.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

/// The host and port that a browser on this machine is given.
fn shown_address(name: &str, address: SocketAddr) -> String {
    let port = address.port();
    match address.ip() {
        ip if ip.is_unspecified() => format!("127.0.0.1:{port}"),
        ip if ip.is_loopback() || name.parse::<std::net::IpAddr>().is_ok() => address.to_string(),
        _ => format!("{name}:{port}"),
    }
}

fn run(runtime: Runtime, listener: StdListener, app: Arc<App>, guard: Guard, stopped: watch::Receiver<bool>) {
    runtime.block_on(async {
        if let Ok(listener) = TcpListener::from_std(listener) {
            serve(listener, router(app, guard, stopped.clone()), stopped).await;
        }
    });
    runtime.shutdown_timeout(ENDING);
}

async fn serve(listener: TcpListener, router: Router, mut stopped: watch::Receiver<bool>) {
    /// How long to wait if no more files can be opened.
    const PAUSE: Duration = Duration::from_millis(100);
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let visitors = Arc::new(Visitors::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if permits.available_permits() == 0 {
            visitors.drop_oldest();
        }
        let permit = tokio::select! {
            permit = Arc::clone(&permits).acquire_owned() => permit,
            _ = stopped.changed() => return,
        };
        let (visitor, admitted) = visitors.enter(VISITORS);
        // The guard admits who shows the token.
        let router = router.clone().layer(Extension(visitor.clone()));
        let mut stopped = stopped.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = answer(stream, router) => {}
                () = turned_away(admitted) => {}
                _ = stopped.changed() => {}
            }
            visitor.leave();
            drop(permit);
        });
    }
}

async fn answer(stream: TcpStream, router: Router) {
    // Events are small, and should not wait for one another.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A client that leaves, or sends no HTTP, is no concern of anybody else.
    let _ = connection.await;
}

// What is at which address, below the token.

/// The most logs that are compared.
const COMPARED: usize = 24;
/// The longest query.
const QUERY: usize = 8 << 10;

/// The addresses below the token, behind the guard.
pub(crate) fn router(app: Arc<App>, guard: Guard, stopped: watch::Receiver<bool>) -> Router {
    tokio::spawn(app::watch_folder(app.clone(), stopped));
    Router::new()
        .route("/{token}/", get(list))
        .route("/{token}/events", get(|State(app): State<Arc<App>>| app::events(app)))
        .route("/{token}/compare", get(choose))
        .route("/{token}/logs/{ids}/", get(page))
        .route("/{token}/logs/{ids}/{data}", get(data_or_text))
        .fallback(|| async { no_page() })
        .layer(middleware::from_fn_with_state(Arc::new(guard), check_request))
        .with_state(app)
}

async fn list(State(app): State<Arc<App>>) -> Response {
    // Outside of the jobs, so that the list is there whatever else is computed.
    match tokio::task::spawn_blocking(move || app.list()).await {
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
    State(app): State<Arc<App>>,
    Path((_, ids)): Path<(String, String)>,
) -> Result<impl IntoResponse, Failure> {
    let ids = parse_ids(&ids)?;
    let page = app.work(move |app| app.page(&ids)).await?;
    // The page has its own policy for scripts and styles; both hold.
    const POLICY: &str =
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; object-src 'none'";
    Ok(([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(page)))
}

fn no_page() -> Failure {
    Failure::Page(PageError::NotFound("there is no such page".to_owned()))
}

/// The JSON that is made of logs.
type MakeData = Box<dyn FnOnce(&App, &[EvalLog]) -> Result<Bytes, PageError> + Send>;

/// What a script of the page of logs fetches; it shows the text of a failure.
async fn data_or_text(
    app: State<Arc<App>>,
    path: Path<(String, String, String)>,
    query: RawQuery,
) -> Result<Response, (StatusCode, String)> {
    data(app, path, query).await.map_err(|failure| failure.status_and_text())
}

async fn data(
    State(app): State<Arc<App>>,
    Path((_, ids, what)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let query = query.unwrap_or_default();
    let get = |name| values(&query, name).next();
    let is_long = query.len() > QUERY;
    let make: MakeData = match what.as_str() {
        "samples.json" => Box::new(|app, logs| app.samples.index(logs)),
        "sample.json" if is_long => return Err(PageError::NotFound("the id is too long".to_owned()).into()),
        "sample.json" => {
            let unnamed = || PageError::NotFound("name a sample: sample.json?id=…".to_owned());
            let id = get("id").ok_or_else(unnamed)?;
            let messages = values(&query, "messages").any(|value| value == "true");
            Box::new(move |app, logs| app.samples.sample(logs, &id, messages).map(Bytes::from))
        }
        "search.json" if is_long => {
            return Err(PageError::Unusable("the text to search is too long".to_owned()).into());
        }
        "search.json" => {
            let from = get("from").and_then(|from| from.parse().ok()).unwrap_or(0);
            let text = get("q").unwrap_or_default();
            Box::new(move |_, logs| app::search(logs, &text, from).map(Bytes::from))
        }
        _ => return Ok(no_page().into_response()),
    };
    let ids = parse_ids(&ids)?;
    let json = app.work(move |app| make(app, &app.open(&ids)?)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
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

// Who may ask, and what every answer says to the browser.
//
// The server listens on this machine, where every page that the user visits can send requests to it. Three checks keep such
// pages out, each of which would do by itself: the token in the path, which they do not know; the `Host`, which is foreign
// if a name of theirs was made to point to this machine (DNS rebinding); and the `Origin`.

/// The policy of answers that are no page.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// What requests are checked against.
#[derive(Debug)]
pub(crate) struct Guard {
    /// In the path of every address.
    token: String,
    /// The address that was given to listen on.
    host: String,
    /// Whether only this machine can connect.
    is_local: bool,
}

impl Guard {
    /// With a new token.
    pub(crate) fn new(host: &str, is_local: bool) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 20];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Guard { token, host: host.to_owned(), is_local })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Whether a request is answered.
    fn check(&self, request: &Request) -> Result<(), Refusal> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(METHOD);
        }
        let headers = request.headers();
        let host = single(headers, &header::HOST)?.ok_or(HOST)?;
        if !self.is_own_host(host) {
            return Err(HOST);
        }
        let is_own = |origin: &str| origin.eq_ignore_ascii_case(&format!("http://{host}"));
        if single(headers, &header::ORIGIN)?.is_some_and(|origin| !is_own(origin)) {
            return Err(ORIGIN);
        }
        // A link may lead here from anywhere; a page elsewhere may load nothing of it.
        let site = single(headers, &HeaderName::from_static("sec-fetch-site"))?;
        let mode = single(headers, &HeaderName::from_static("sec-fetch-mode"))?;
        let is_foreign = matches!(site, Some("cross-site" | "same-site"));
        if is_foreign && mode != Some("navigate") {
            return Err(ORIGIN);
        }
        let given = request.uri().path().split('/').nth(1).unwrap_or_default();
        if is_same_secret(given, &self.token) { Ok(()) } else { Err(TOKEN) }
    }

    /// Whether a `Host` means this server. Its port is not compared, because tunnels change it.
    fn is_own_host(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        if name.eq_ignore_ascii_case("localhost") || name.eq_ignore_ascii_case(&self.host) {
            return true;
        }
        // No name leads to a literal address, so it cannot be made to lead here.
        name.parse::<IpAddr>().is_ok_and(|address| !self.is_local || address.is_loopback())
    }
}

/// A header that may be there once.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    match (first.map(HeaderValue::to_str), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value)),
        _ => Err(HOST),
    }
}

/// Compares in a time that does not depend on where they differ.
fn is_same_secret(given: &str, secret: &str) -> bool {
    let differences = given.bytes().zip(secret.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == secret.len() && differences == 0
}

/// Why a request is refused. The connection is closed, so that nobody waits on it.
type Refusal = (StatusCode, &'static str);

const METHOD: Refusal = (StatusCode::METHOD_NOT_ALLOWED, "this server is read-only: GET and HEAD\n");
const HOST: Refusal = (StatusCode::FORBIDDEN, "refused: the Host is not that of this server\n");
const ORIGIN: Refusal = (StatusCode::FORBIDDEN, "refused: the request comes from another site\n");
const TOKEN: Refusal = (StatusCode::FORBIDDEN, "refused: use the whole address that errorbar printed\n");

fn refused(refusal: Refusal) -> Response {
    let mut response = refusal.into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    if refusal == METHOD {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// Checks a request, and adds what every answer has.
pub(crate) async fn check_request(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.check(&request) {
        Ok(()) => {
            if let Some(visitor) = request.extensions().get::<Visitor>() {
                visitor.admit();
            }
            next.run(request).await
        }
        Err(refusal) => refused(refusal),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(NOTHING));
    response
}

// Connections that have not shown the token yet.
//
// Anybody who can connect can hold connections, so those without the token are dear to them and cheap to us: they have
// seconds for their first request, are closed with its refusal, and never take all places. If there are too many, the one
// that has been silent for longest makes room for the next.

/// The time in which the first request of a connection must have come.
const FIRST_HEAD_TIME: Duration = Duration::from_secs(5);

/// The connections without the token, in the order in which they came. Who is removed without a word is dropped.
#[derive(Debug, Default)]
pub(crate) struct Visitors(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    admitted: BTreeMap<u64, oneshot::Sender<()>>,
}

/// A connection that may show the token.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    number: u64,
    all: Arc<Visitors>,
}

impl Visitors {
    /// Another connection. If there are `most` already, the oldest is dropped.
    pub(crate) fn enter(self: &Arc<Self>, most: usize) -> (Visitor, oneshot::Receiver<()>) {
        let mut waiting = self.lock();
        while waiting.admitted.len() >= most.max(1) && waiting.admitted.pop_first().is_some() {}
        let (sender, admitted) = oneshot::channel();
        let number = waiting.next;
        waiting.next += 1;
        waiting.admitted.insert(number, sender);
        (Visitor { number, all: Arc::clone(self) }, admitted)
    }

    /// Drops the oldest, if there is one.
    pub(crate) fn drop_oldest(&self) {
        self.lock().admitted.pop_first();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Every change is a single step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visitor {
    /// The connection has shown the token, and stays as long as it likes.
    pub(crate) fn admit(&self) {
        if let Some(sender) = self.leave() {
            // Nobody listens if the connection ends just now.
            let _ = sender.send(());
        }
    }

    /// The connection has ended.
    pub(crate) fn leave(&self) -> Option<oneshot::Sender<()>> {
        self.all.lock().admitted.remove(&self.number)
    }
}

/// Waits until a connection is to be dropped: it has not shown the token in time, or was dropped for another.
pub(crate) async fn turned_away(admitted: oneshot::Receiver<()>) {
    if let Ok(Ok(())) = timeout(FIRST_HEAD_TIME, admitted).await {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;

    fn check(guard: &Guard, headers: &[(&str, &str)], path: &str) -> Result<(), Refusal> {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        guard.check(&request.body(Body::empty()).unwrap())
    }

    #[test]
    fn only_addresses_of_this_machine_are_its_host() {
        let local = Guard::new("127.0.0.1", true).unwrap();
        let path = format!("/{}/", local.token());
        for host in ["127.0.0.1:80", "localhost:9", "LOCALHOST", "[::1]:80", "127.9.9.9"] {
            assert_eq!(check(&local, &[("host", host)], &path), Ok(()), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "192.168.0.1", "", "[::2]"]
        {
            assert_eq!(check(&local, &[("host", host)], &path), Err(HOST), "{host}");
        }
        let two = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(check(&local, &two, &path), Err(HOST));
        assert_eq!(check(&local, &[], &path), Err(HOST));
        let open = Guard::new("box.local", false).unwrap();
        let path = format!("/{}/", open.token());
        for host in ["192.168.0.1:80", "box.local:80"] {
            assert_eq!(check(&open, &[("host", host)], &path), Ok(()), "{host}");
        }
        assert_eq!(check(&open, &[("host", "evil.example")], &path), Err(HOST));
    }

    #[test]
    fn other_sites_are_refused_and_links_are_not() {
        let guard = Guard::new("127.0.0.1", true).unwrap();
        let path = format!("/{}/", guard.token());
        let with = |name: &str, value: &str| check(&guard, &[("host", "localhost:5"), (name, value)], &path);
        assert_eq!(with("origin", "http://localhost:5"), Ok(()));
        for origin in ["null", "http://localhost:6", "https://localhost:5", "http://evil.example"] {
            assert_eq!(with("origin", origin), Err(ORIGIN), "{origin}");
        }
        assert_eq!(with("sec-fetch-site", "none"), Ok(()));
        assert_eq!(with("sec-fetch-site", "cross-site"), Err(ORIGIN));
        let link = [("host", "localhost"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(check(&guard, &link, &path), Ok(()));
    }

    #[test]
    fn tokens_are_long_random_and_needed() {
        let (guard, other) = (Guard::new("::1", true).unwrap(), Guard::new("::1", true).unwrap());
        assert_ne!(guard.token(), other.token());
        assert!(guard.token().len() * 4 >= 128);
        let shorter = guard.token().get(1..).unwrap_or_default().to_owned();
        for path in [
            "/".to_owned(),
            format!("/{}/", other.token()),
            format!("//{}/", guard.token()),
            format!("/{shorter}/"),
        ] {
            assert_eq!(check(&guard, &[("host", "[::1]")], &path), Err(TOKEN), "{path}");
        }
    }

    #[test]
    fn the_oldest_without_the_token_makes_room() {
        let all = Arc::new(Visitors::default());
        let (first, mut first_admitted) = all.enter(2);
        let (_, mut second) = all.enter(2);
        first.admit();
        assert_eq!(first_admitted.try_recv(), Ok(()));
        let (_, mut third) = all.enter(2);
        assert_eq!(second.try_recv(), Err(TryRecvError::Empty), "there are two without the token");
        let (fourth, mut fourth_admitted) = all.enter(2);
        assert_eq!(second.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(third.try_recv(), Err(TryRecvError::Empty));
        first.admit();
        all.drop_oldest();
        assert_eq!(third.try_recv(), Err(TryRecvError::Closed));
        fourth.leave();
        assert_eq!(fourth_admitted.try_recv(), Err(TryRecvError::Closed));
        assert!(all.lock().admitted.is_empty());
    }
}
