//! A log that is cut at any byte gives exactly the samples that are whole.

use std::fs;

use errorbar_core::Score;
use errorbar_log::eval::*;

use crate::eval::support::*;

fn samples() -> Vec<Sample> {
    let scores = [Score::new("C"), Score::unscored("refusal"), Score::new(0.5)];
    (1..=3_i64).zip(scores).map(|(id, score)| Sample::new(id, 1, score)).collect()
}

/// Where each sample ends, off the file alone: the members are appended in order.
fn sample_ends(bytes: &[u8]) -> Vec<usize> {
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let mut ends = Vec::new();
    let mut at = 0;
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let name = &bytes[at + 30..at + 30 + u16_at(at + 26)];
        let end = at + 30 + name.len() + u16_at(at + 28) + u16_at(at + 18) + (u16_at(at + 20) << 16);
        if name.starts_with(b"samples/") {
            ends.push(end);
        }
        at = end;
    }
    ends
}

#[test]
fn at_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    for finished in [false, true] {
        let whole = folder.path().join(format!("{finished}.eval"));
        match finished {
            false => write_unfinished(&whole, &samples()),
            true => write_finished(&whole, &samples()),
        }
        let bytes = fs::read(&whole).unwrap();
        let ends = sample_ends(&bytes);
        assert_eq!(ends.len(), 3);
        let mut without_start = 0;
        for len in 0..=bytes.len() {
            fs::write(&path, &bytes[..len]).unwrap();
            let log = match EvalLog::open(&path) {
                Ok(log) => log,
                Err(error) => {
                    let is_empty = matches!(error.kind(), LogErrorKind::Empty);
                    assert!(is_empty == (len == 0), "at {len}: {error}");
                    assert!(is_empty || matches!(error.kind(), LogErrorKind::NoStart), "at {len}: {error}");
                    without_start = len;
                    continue;
                }
            };
            assert_eq!(log.was_recovered(), len < bytes.len(), "at {len}");
            if log.has_header() && len < bytes.len() {
                let error = log.check().unwrap_err();
                assert!(matches!(error.kind(), LogErrorKind::NoDirectory), "at {len}: {error}");
            }
            let whole = ends.iter().filter(|end| **end <= len).count();
            assert_eq!(keys(&log).len(), whole, "at {len} of {}", bytes.len());
            assert_eq!(log.sample_count(), whole);
            let status = log.header().unwrap().status;
            assert!(len < bytes.len() || (status == Status::Success) == finished);

            // And the same when the run resumes from there.
            if len % 31 == 0 {
                let (writer, recovered) = LogWriter::resume(&path).unwrap();
                assert_eq!(recovered.samples.len(), whole, "at {len}");
                finish(writer);
                assert_eq!(keys(&EvalLog::open(&path).unwrap()).len(), whole, "at {len}");
                assert_eq!(summaries(&path).len(), whole);
            }
        }
        assert!(without_start < ends[0], "{without_start}");
    }
}
