//! The server: a thread with its own runtime, which ends with it.

use std::net::{SocketAddr, TcpListener as StdListener, ToSocketAddrs as _};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

use crate::app::App;
use crate::routes::{self, Guard, Visitors, turned_away};
use crate::{ViewError, ViewOptions};

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
const HEADERS: usize = 64;
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
        let app = App::new(options);
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

fn run(runtime: Runtime, listener: StdListener, app: App, guard: Guard, stopped: watch::Receiver<bool>) {
    runtime.block_on(async {
        if let Ok(listener) = TcpListener::from_std(listener) {
            serve(listener, routes::router(app, guard, stopped.clone()), stopped).await;
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
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A client that leaves, or sends no HTTP, is no concern of anybody else.
    let _ = connection.await;
}
