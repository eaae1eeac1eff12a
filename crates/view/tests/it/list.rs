use std::fs;

use errorbar_log::eval::Status;

use crate::client::{get, request, root};
use crate::logs::{Run, finished};
use crate::serve;

/// The number that the list gave to the log of a model.
fn id_of(page: &str, model: &str) -> String {
    let row = page.split("<tr ").find(|row| row.contains(&format!("data-name=\"{model}\""))).expect(model);
    row.split("data-id=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn the_list_has_the_figure_the_error_and_the_status_of_each_log() {
    let folder = tempfile::tempdir().unwrap();
    finished(&folder.path().join("a.eval"), "quiz", "openai/heron");
    let mut stopped = Run::start(&folder.path().join("b.eval"), "quiz", "openai/wren", 8);
    stopped.add("q0", 1, "C").add("q1", 1, "I");
    stopped.end(Status::Cancelled, None);
    let failed = Run::start(&folder.path().join("sub.eval"), "quiz", "openai/magpie", 8);
    failed.end(Status::Error, Some("key refused (401)"));
    let server = serve(folder.path());
    let answer = get(&server, "");
    assert_eq!(answer.status, 200);
    let page = &answer.body;
    assert!(page.contains("3 logs of 1 task."), "{page}");
    // 5 of 8: the mean is 0.625, the standard error √(0.625 · 0.375 / 7) = 0.183.
    assert!(page.contains("<b class=\"v0\">0.62</b><i>±</i><span class=\"e0\">0.18</span>"), "{page}");
    assert!(page.contains("2 of 8") && page.contains("cancelled"));
    assert!(page.contains("key refused (401); nothing was scored"));
    assert!(page.contains("accuracy of <code>match</code>, 3 logs"));
    // Stands without script: everything is there, and the form leads to the comparison.
    assert!(page.contains("<form method=\"get\" action=\"compare\""));
}

#[test]
fn a_log_opens_in_its_page_and_several_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    finished(&folder.path().join("a.eval"), "quiz", "openai/heron");
    finished(&folder.path().join("b.eval"), "quiz", "openai/wren");
    let server = serve(folder.path());
    let list = get(&server, "").body;
    let (heron, wren) = (id_of(&list, "heron"), id_of(&list, "wren"));
    let page = get(&server, &format!("logs/{heron}/"));
    assert_eq!((page.status, page.body.as_str()), (200, "<!doctype html><title>page of a.eval</title>"));
    let compared = get(&server, &format!("compare?log={wren}&log={heron}"));
    assert_eq!(
        (compared.status, compared.header("location")),
        (303, Some(&*format!("logs/{wren}-{heron}/")))
    );
    let page = get(&server, &format!("logs/{wren}-{heron}/"));
    assert!(page.body.contains("page of b.eval a.eval"), "{}", page.body);
    for wrong in ["logs/99/", "logs/x/", "logs/1-x/", "compare", "compare?log=../a.eval", "nothing"] {
        assert_eq!(get(&server, wrong).status, 404, "{wrong}");
    }
    let many: Vec<String> = (1..100).map(|id| id.to_string()).collect();
    assert_eq!(get(&server, &format!("logs/{}/", many.join("-"))).status, 422);
    let head = request(&server, "HEAD", &root(&server), &[]);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn what_cannot_be_read_is_a_row_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.eval");
    finished(&good, "quiz", "openai/heron");
    let bytes = fs::read(&good).unwrap();
    // Without its directory a log is read entry by entry, and one in the middle is wrong.
    let mut damaged = bytes[..bytes.len() - 22].to_vec();
    let middle = damaged.len() / 3;
    damaged[middle..middle + 40].fill(b'x');
    fs::write(folder.path().join("damaged.eval"), damaged).unwrap();
    fs::write(folder.path().join("text.eval"), "no log <b>at all</b>").unwrap();
    fs::write(folder.path().join("empty.eval"), "").unwrap();
    fs::write(folder.path().join("other.json"), "[1]").unwrap();
    fs::write(folder.path().join("fails.eval"), &bytes).unwrap();
    // Cut off in the middle: what a killed run leaves.
    fs::write(folder.path().join("torn.eval"), &bytes[..bytes.len() / 2]).unwrap();
    let server = serve(folder.path());
    let answer = get(&server, "");
    assert_eq!(answer.status, 200);
    let page = &answer.body;
    let bad: Vec<&str> =
        page.split("<tr ").filter(|row| row.contains("data-status=\"unreadable\"")).collect();
    assert_eq!(bad.len(), 3, "{bad:?}");
    assert!(bad.iter().all(|row| row.contains("class=\"why\"")));
    assert!(page.contains("data-status=\"done\""), "the others are listed all the same");
    assert!(!page.contains("other.json"));
    assert!(page.contains("torn.eval"));
    // A page that cannot be made says why, and is a page.
    let failing = page.split("<tr ").find(|row| row.contains("title=\"fails.eval\"")).unwrap();
    let id = failing.split("data-id=\"").nth(1).unwrap().split('"').next().unwrap();
    let answer = get(&server, &format!("logs/{id}/"));
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains("no &lt;page&gt; of it"), "{}", answer.body);
}

#[test]
fn an_empty_folder_shows_the_command_to_type() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("not/there/yet")] {
        let server = serve(&path);
        let answer = get(&server, "");
        assert_eq!(answer.status, 200);
        assert!(answer.body.contains("errorbar eval task.toml"), "{}", answer.body);
    }
}

#[test]
fn hostile_names_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202e}\u{0}/javascript:x";
    finished(&folder.path().join("a.eval"), hostile, hostile);
    let huge = "x".repeat(3 << 20);
    finished(&folder.path().join("b.eval"), &huge, &huge);
    #[cfg(unix)]
    fs::write(folder.path().join("<img src=x onerror=y>.eval"), "").unwrap();
    let server = serve(folder.path());
    let page = get(&server, "").body;
    assert!(page.len() < 200_000, "{}", page.len());
    assert!(!page.contains("<img") && !page.contains("<script>alert"), "markup of a name is in the page");
    assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
    assert_eq!(page.matches("<script").count(), 1);
    for attribute in [" onerror=", " onload=", " onclick=", " style="] {
        let tags = page.split('<').filter_map(|tag| tag.split('>').next());
        let outside_of_quotes = |tag: &str| tag.split('"').step_by(2).any(|part| part.contains(attribute));
        assert!(!tags.into_iter().any(outside_of_quotes), "{attribute}");
    }
}
