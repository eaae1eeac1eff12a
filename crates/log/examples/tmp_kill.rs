//! tmp
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout, dead_code, unreachable_pub)]
#[path = "../tests/eval/support.rs"]
mod support;
use support::*;
use errorbar_core::*;
use errorbar_log::eval::*;
use std::io::Write;
fn main() {
    let path = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    if std::env::args().nth(2).is_some() { let (w, r) = LogWriter::resume(&path).unwrap(); println!("{}", r.samples.len()); drop(w); return; }
    let mut w = if path.exists() { LogWriter::resume(&path).unwrap().0 } else { LogWriter::create(&path, &start()).unwrap() };
    let mut out = std::io::stdout().lock();
    let from = EvalLog::open(&path).unwrap().sample_count() as i64;
    for i in from.. { Sample::new(i, 1, Score::new("C")).record(|r| w.append_sample(r)).unwrap(); writeln!(out, "{i}").unwrap(); }
}
