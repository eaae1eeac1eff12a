use std::fs;
use std::io::Write as _;

use crate::client::{connect, get, read_answer, request, root};
use crate::logs::finished;
use crate::serve;

#[test]
fn only_the_token_opens_anything() {
    let folder = tempfile::tempdir().unwrap();
    finished(&folder.path().join("a.eval"), "quiz", "m");
    let server = serve(folder.path());
    let root = root(&server);
    let token = root.trim_matches('/');
    assert!(token.len() >= 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let wrong: String = token.chars().rev().collect();
    for path in [
        "/",
        "/events",
        "/logs/1/",
        "//",
        &format!("/{wrong}/"),
        &format!("/{wrong}/logs/1/samples.json"),
        "/favicon.ico",
    ] {
        let answer = request(&server, "GET", path, &[]);
        assert_eq!(answer.status, 403, "{path}");
        assert!(!answer.body.contains(token) && !answer.body.contains("quiz"), "{path}");
    }
    let other = serve(folder.path());
    assert_eq!(request(&other, "GET", &root, &[]).status, 403, "the token of another server");
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path());
    let root = root(&server);
    let own = server.address().to_string();
    for host in ["evil.example", "evil.example:80", "192.168.1.7", "localhost.evil.example", ""] {
        assert_eq!(request(&server, "GET", &root, &[("Host", host)]).status, 403, "{host}");
    }
    for host in [own.as_str(), "localhost", "localhost:9999", "127.0.0.1"] {
        assert_eq!(request(&server, "GET", &root, &[("Host", host)]).status, 200, "{host}");
    }
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        assert_eq!(request(&server, "GET", &root, &[("Origin", origin)]).status, 403, "{origin}");
    }
    let same = format!("http://{own}");
    assert_eq!(request(&server, "GET", &root, &[("Origin", &same)]).status, 200);
    let embedded = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")];
    assert_eq!(request(&server, "GET", &root, &embedded).status, 403);
}

#[test]
fn nothing_but_reading_is_possible() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path());
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"] {
        let answer = request(&server, method, &root(&server), &[("Content-Length", "0")]);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
}

#[test]
fn every_answer_has_strict_headers() {
    let folder = tempfile::tempdir().unwrap();
    finished(&folder.path().join("a.eval"), "quiz", "m");
    let server = serve(folder.path());
    let paths = ["", "logs/1/", "logs/1/samples.json", "nothing", "logs/7/"]
        .map(|path| format!("{}{path}", root(&server)));
    for path in paths.iter().map(String::as_str).chain(["/"]) {
        let answer = request(&server, "GET", path, &[]);
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}: {name}");
        }
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
    }
    let policy = get(&server, "");
    let policy = policy.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    finished(&outside.path().join("secret.eval"), "secret", "m");
    let folder = outside.path().join("logs");
    fs::create_dir(&folder).unwrap();
    finished(&folder.join("a.eval"), "quiz", "m");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path().join("secret.eval"), folder.join("link.eval")).unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.join("up")).unwrap();
        std::os::unix::fs::symlink(folder.join("a.eval"), folder.join("inside.eval")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.join("passwd.eval")).unwrap();
    }
    let server = serve(&folder);
    let list = get(&server, "").body;
    assert!(!list.contains("secret") && !list.contains("passwd"), "a link out of the folder is listed");
    #[cfg(unix)]
    assert!(list.contains("inside.eval"), "a link within the folder is a log");
    for path in [
        "../secret.eval",
        "logs/..%2fsecret.eval/",
        "logs/%2e%2e/",
        "logs/../../secret.eval",
        "logs/1%2f..%2f..%2fsecret.eval/",
        "logs/-1/",
        "logs/1/../../../secret.eval",
        "logs/a.eval/",
        "logs/%00/",
    ] {
        let answer = get(&server, path);
        assert!(matches!(answer.status, 404 | 403 | 400), "{path}: {}", answer.status);
        assert!(!answer.body.contains("secret.eval"), "{path}");
    }
    // A log that becomes a link out of the folder after it was listed is not opened.
    #[cfg(unix)]
    {
        let id = numbered(&list, "a.eval");
        assert_eq!(get(&server, &format!("logs/{id}/")).status, 200);
        fs::remove_file(folder.join("a.eval")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.eval"), folder.join("a.eval")).unwrap();
        assert_eq!(get(&server, &format!("logs/{id}/")).status, 404);
        assert_eq!(get(&server, &format!("logs/{id}/samples.json")).status, 404);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_became_a_link_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("logs");
    for (place, task) in [(folder.join("sub"), "quiz"), (outside.path().join("other"), "secret")] {
        fs::create_dir_all(&place).unwrap();
        finished(&place.join("b.eval"), task, "m");
    }
    let server = serve(&folder);
    let id = numbered(&get(&server, "").body, "sub/b.eval");
    assert_eq!(get(&server, &format!("logs/{id}/")).status, 200);
    fs::remove_dir_all(folder.join("sub")).unwrap();
    std::os::unix::fs::symlink("../other", folder.join("sub")).unwrap();
    for page in ["", "samples.json", "sample.json?id=q1", "search.json?q=a"] {
        assert_eq!(get(&server, &format!("logs/{id}/{page}")).status, 404, "{page}");
    }
}

/// The number in the address of a log.
#[cfg(unix)]
fn numbered(list: &str, name: &str) -> String {
    let before = list.split(&format!("title=\"{name}\"")).next().unwrap();
    before.rsplit("logs/").next().unwrap().split('/').next().unwrap().to_owned()
}

#[test]
fn a_refusal_ends_the_connection_and_an_answer_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path());
    let host = server.address();
    // Nobody asks for the connection to be closed. The answers come one behind the other.
    let stream = connect(&server);
    for path in [format!("{}nothing", root(&server)), "/wrong/".to_owned()] {
        (&stream).write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
    }
    let answers = read_answer(stream);
    assert_eq!(answers.status, 404);
    assert!(!answers.head.to_lowercase().contains("connection: close"), "{answers:?}");
    assert_eq!(answers.body.matches("HTTP/1.1 403").count(), 1, "{answers:?}");
    assert_eq!(answers.body.to_lowercase().matches("connection: close").count(), 1, "{answers:?}");
}

#[test]
fn who_has_the_token_is_answered_beside_any_number_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path());
    let ask = |stream: &std::net::TcpStream, ending: &str| {
        let head = format!("GET {}nothing HTTP/1.1\r\nHost: {}\r\n{ending}", root(&server), server.address());
        let mut stream = stream;
        stream.write_all(head.as_bytes()).unwrap();
    };
    // It has shown the token once, so it is not the oldest of those that have not.
    let known = connect(&server);
    ask(&known, "\r\n");
    assert!(known.peek(&mut [0]).is_ok_and(|read| read == 1));
    let half: Vec<_> = (0..500).map(|_| connect(&server)).collect();
    half.iter().for_each(|stream| ask(stream, ""));
    assert_eq!(get(&server, "").status, 200);
    ask(&known, "Connection: close\r\n\r\n");
    assert_eq!(read_answer(known).body.matches("HTTP/1.1 404").count(), 1);
}

#[test]
fn requests_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path());
    let long = format!("{}?{}", root(&server), "x".repeat(64 << 10));
    let stream = connect(&server);
    let request = format!("GET {long} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address());
    // The server may close the connection before it has read everything.
    let _ = (&stream).write_all(request.as_bytes());
    let mut status = 0;
    if stream.peek(&mut [0]).is_ok_and(|read| read > 0) {
        status = read_answer(stream).status;
    }
    assert!(matches!(status, 0 | 414 | 431), "{status}");
    let stream = connect(&server);
    (&stream).write_all(b"this is no HTTP\r\n\r\n").unwrap();
    assert_eq!(read_answer(stream).status, 400);
    // A connection that says nothing holds nobody else up.
    let idle: Vec<_> = (0..60).map(|_| connect(&server)).collect();
    assert_eq!(get(&server, "").status, 200);
    drop(idle);
}
