//! Changes of the folder, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use serde_json::json;
use tokio::sync::watch;

use crate::app::{App, Update};

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
