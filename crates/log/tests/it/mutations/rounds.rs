//! Change after change, each looked at in every way.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use crate::mutations::bases::{Base, CHUNKED, bases, zipped};
use crate::mutations::folder::folder;
use crate::mutations::log::{Row, Seen, WAYS, Way, exercise};
use crate::mutations::random::Random;
use crate::mutations::{inside, raw};

/// How many changes of each kind, if `ERRORBAR_MUTATIONS` is unset.
const ROUNDS: usize = 1100;
/// How many failures are reported.
const SHOWN: usize = 20;
/// How long one change may take before it counts as stuck; a busy machine takes milliseconds.
const STUCK: Duration = Duration::from_secs(120);

/// How the members of a changed log are packed.
const METHODS: [&[u16]; 3] = [&[0], &[8, 93], &[93, 0]];

/// A changed log, and what was changed.
struct Changed {
    bytes: Vec<u8>,
    what: String,
    /// Nothing but one bit.
    is_bit: bool,
}

/// Changes and looks, round after round, and reports what went wrong. It runs on its own thread, so that a change that
/// takes forever is reported as well.
fn run(seed: u64, change: impl Fn(&Base, usize, &mut Random) -> Changed + Send + 'static, judge: Judge) {
    let rounds = std::env::var("ERRORBAR_MUTATIONS").map_or(ROUNDS, |text| text.parse().unwrap());
    let (done, progress) = channel();
    let worker = std::thread::spawn(move || {
        // Small logs are read faster by one thread.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| work(seed, rounds, change, judge, &done))
    });
    let mut last = String::new();
    loop {
        match progress.recv_timeout(STUCK) {
            Ok(what) => last = what,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(_) => panic!("stuck for {STUCK:?}: {last}"),
        }
    }
    let failures = worker.join().unwrap();
    let list: Vec<String> = failures
        .iter()
        .take(SHOWN)
        .map(|(problem, (count, what))| format!("{count} × {problem}\n    first: {what}"))
        .collect();
    assert!(failures.is_empty(), "{} kinds of failures:\n{}", failures.len(), list.join("\n"));
}

/// Says what is wrong with what a changed log gave.
type Judge = fn(&Base, bool, &Seen, &Seen) -> std::result::Result<(), String>;
/// Problems with how often each occurred, and where first.
type Failures = BTreeMap<String, (usize, String)>;

fn work(
    seed: u64,
    rounds: usize,
    change: impl Fn(&Base, usize, &mut Random) -> Changed + Send,
    judge: Judge,
    done: &Sender<String>,
) -> Failures {
    let folder = folder();
    let bases = bases(folder.path());
    let look = |base: &Base, bytes: &[u8], ways: &[Way]| {
        let path = folder.path().join(base.file);
        std::fs::write(&path, bytes).unwrap();
        let written = tempfile::tempdir_in(folder.path()).unwrap();
        look_at(&path, written.path(), ways)
    };
    let right: Vec<Seen> = bases
        .iter()
        .map(|base| {
            look(base, &base.bytes, &WAYS)
                .unwrap_or_else(|problem| panic!("{}: {problem}", base.name))
                .unwrap()
        })
        .collect();
    assert!(right.iter().all(|seen| seen.is_checked && seen.scores.is_some() && seen.samples.is_some()));

    let mut failures = Failures::new();
    for round in 0..rounds {
        let mut random = Random(seed.wrapping_add((round as u64) << 20));
        // The JSON log, which is the last one and slow to read without optimization, less often than the others.
        let (turn, number) = (round / 11, round % 11);
        let (turn, at) = if number == 10 { (turn, 5) } else { (2 * turn + number / 5, number % 5) };
        let changed = change(&bases[at], turn, &mut random);
        // One way to write in each round, or the whole would take too long; reading is done in all of them.
        let way = *random.pick(&WAYS);
        let what = format!("round {round}, {way:?}, {}: {}", bases[at].name, changed.what);
        done.send(what.clone()).unwrap();
        let judged = look(&bases[at], &changed.bytes, &[way]).and_then(|seen| {
            seen.map_or(Ok(()), |seen| judge(&bases[at], changed.is_bit, &right[at], &seen))
        });
        if let Err(problem) = judged {
            let problem = general(&problem, folder.path());
            failures.entry(problem).or_insert_with(|| (0, what)).0 += 1;
        }
    }
    failures
}

/// What a log gives; a panic as its text.
fn look_at(path: &Path, folder: &Path, ways: &[Way]) -> std::result::Result<Option<Seen>, String> {
    catch_unwind(AssertUnwindSafe(|| exercise(path, folder, ways))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a word").to_owned()
    })
}

/// A problem without what differs from one occurrence to the next.
fn general(problem: &str, folder: &Path) -> String {
    let mut text = problem.to_owned();
    // The name of the folder within it is random as well.
    while let Some(at) = text.find(&folder.display().to_string()) {
        let path = &text[at..];
        let end = path.find(['"', ':', ' ']).unwrap_or(path.len());
        let name = path[..end].rsplit('/').next().unwrap_or_default().to_owned();
        text.replace_range(at..at + end, &name);
    }
    text.chars().filter(|c| !c.is_ascii_digit()).take(400).collect()
}

#[test]
fn bytes_of_the_file() {
    run(
        1,
        |base, _, random| {
            let mut bytes = base.bytes.clone();
            // One change is the hardest to see; of several, one is often a cut.
            let count = 1 + random.below(*random.clone().pick(&[1, 1, 3]));
            let what: Vec<String> = (0..count).map(|_| raw::change(&mut bytes, random)).collect();
            Changed { bytes, what: what.join("; "), is_bit: count == 1 && what[0].starts_with("bit") }
        },
        |base, is_bit, right, seen| match base.file {
            // It has no checksums.
            "log.json" => Ok(()),
            _ => is_true(is_bit, right, seen),
        },
    );
}

#[test]
fn json_within_the_members() {
    run(
        2,
        |base, turn, random| {
            let mut members = base.members.clone();
            let (number, place) = (turn % members.len(), turn / members.len());
            let (name, json) = &mut members[number];
            let count = 1 + random.below(*random.clone().pick(&[1, 1, 3]));
            let what: Vec<String> = (0..count).map(|n| inside::change(json, place + n * 7, random)).collect();
            let what = format!("{name}: {}", what.join("; "));
            let bytes = match base.file {
                "log.json" => members.remove(0).1,
                _ => zipped(&members, METHODS[random.below(METHODS.len())]).bytes(),
            };
            Changed { bytes, what, is_bit: false }
        },
        |_, _, _, _| Ok(()),
    );
}

/// A log whose bytes were changed, and in which everything is in order, gives what it gave. Only where its directory is
/// lost may samples be missing, or the metadata of one that is in several members: no checksum covers their names. A
/// single bit costs one sample at most.
fn is_true(is_bit: bool, right: &Seen, seen: &Seen) -> std::result::Result<(), String> {
    let both = [("scores", &right.scores, &seen.scores), ("samples", &right.samples, &seen.samples)];
    for (what, right, found) in both.into_iter().filter(|_| seen.is_checked) {
        let (Some(right), Some(found)) = (right, found) else { continue };
        let is_missing = seen.was_recovered && found.len() < right.len();
        let is_chunked = |row: &Row| seen.was_recovered && what == "samples" && row.0 == CHUNKED.into();
        let wrong = found.iter().find(|row| !right.contains(row) && !is_chunked(row));
        if wrong.is_some() || found.len() != right.len() && !is_missing {
            let counts = format!("{} in place of {}", found.len(), right.len());
            let recovered = seen.was_recovered;
            return Err(format!(
                "other {what} in a log in order (recovered: {recovered}): {counts}, {wrong:?}"
            ));
        }
    }
    // That which it is in, if its end or its name is hit where no directory helps.
    let count = |rows: &Option<Vec<Row>>| rows.as_ref().map(Vec::len);
    if is_bit
        && seen.is_checked
        && count(&seen.scores).is_some_and(|found| Some(found + 1) < count(&right.scores))
    {
        return Err(format!("a bit cost more than one sample, {:?} are left", count(&seen.scores)));
    }
    Ok(())
}
