use std::sync::mpsc;
use std::thread;

use errorbar_log::eval::Status;

use crate::client::{Events, get, request, root};
use crate::logs::{Run, finished};
use crate::serve;

#[test]
fn a_log_that_grows_is_followed_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path());
    let mut events = Events::open(&server);
    let first = events.next().unwrap();
    assert_eq!(first["running"], "");
    let mut run = Run::start(&folder.path().join("a.eval"), "quiz", "openai/heron", 4);
    run.add("q0", 1, "C").add("q1", 1, "I");
    let event = events.find(|event| event["running"].as_str().unwrap().contains("2 of 4 answers"));
    let running = event["running"].as_str().unwrap();
    // 1 of 2: the mean is 0.5, the standard error 0.5.
    assert!(running.contains("<b class=\"v0\">0.50</b><i>±</i><span class=\"e0\">0.50</span>"), "{running}");
    assert!(running.contains("so far") && running.contains("finished first"), "{running}");
    let list = get(&server, "").body;
    assert!(list.contains("1 running") && list.contains("2 of 4 answers"), "{list}");
    assert!(!list.contains("id=\"logs\""), "there is nothing to search or to sort yet: {list}");
    run.add("q2", 1, "C").add("q3", 1, "C");
    events.find(|event| event["running"].as_str().unwrap().contains("4 of 4 answers"));
    run.end(Status::Success, None);
    let event = events.find(|event| event["running"] == "");
    assert_ne!(event["list"], first["list"], "the list has changed");
    let list = get(&server, "").body;
    assert!(list.contains("1 log of 1 task.") && list.contains("<b class=\"v0\">0.75</b>"), "{list}");
}

#[test]
fn a_run_that_was_killed_is_not_running() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.eval");
    let mut run = Run::start(&path, "quiz", "openai/heron", 4);
    run.add("q0", 1, "C").add("q1", 1, "I");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(20);
    let age = || std::fs::File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    age();
    let server = serve(folder.path());
    let list = get(&server, "").body;
    // Other systems do not list locks.
    if cfg!(target_os = "linux") {
        assert!(list.contains("1 running"), "its process holds the log, though nothing is written: {list}");
    }
    drop(run);
    age();
    let server = serve(folder.path());
    let list = get(&server, "").body;
    assert!(!list.contains("1 running") && list.contains("not finished"), "{list}");
    assert!(list.contains("2 of 4") && list.contains("ci far"), "{list}");
}

#[test]
fn the_server_ends_though_pages_listen() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path());
    let mut events: Vec<Events> = (0..5).map(|_| Events::open(&server)).collect();
    for listener in &mut events {
        assert!(listener.next().is_some());
    }
    server.stop();
    for listener in &mut events {
        assert!(listener.next().is_none());
    }
}

#[test]
fn fifty_clients_at_once_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..20 {
        finished(&folder.path().join(format!("{at}.eval")), "quiz", &format!("m{at}"));
    }
    let server = serve(folder.path());
    let (answers, received) = mpsc::channel();
    let server = &server;
    let root = root(server);
    thread::scope(|scope| {
        for client in 0..50 {
            let (answers, root) = (answers.clone(), &root);
            scope.spawn(move || {
                let mut events = Events::open(server);
                assert!(events.next().is_some());
                let list = request(server, "GET", root, &[]);
                let page = get(server, &format!("logs/{}/", client % 20 + 1));
                let samples = get(server, &format!("logs/{}/samples.json", client % 20 + 1));
                answers.send((list, page.status, samples.status)).unwrap();
            });
        }
    });
    drop(answers);
    let received: Vec<_> = received.iter().collect();
    assert_eq!(received.len(), 50);
    for (list, page, samples) in received {
        assert_eq!((list.status, page, samples), (200, 200, 200));
        assert!(list.body.contains("20 logs of 1 task."));
    }
}
