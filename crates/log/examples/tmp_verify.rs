//! tmp
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout)]
use errorbar_core::*;
use errorbar_log::eval::*;
fn main() {
    let (mut ok, mut bad) = (0, 0);
    for path in std::env::args().skip(1) {
        let run = || -> std::result::Result<(), Box<dyn std::error::Error>> {
            let log = EvalLog::open(&path)?;
            let header = log.header()?;
            let (plan, warnings) = plan_from_header(&header, &Registry::built_in())?;
            for w in &warnings {
                println!("{path}: {w}");
            }
            let columns = log.score_columns(&plan.metadata_keys())?;
            let results = results(&columns, &plan)?;
            match &header.results {
                None => println!("{path}: no results, recovered {}", log.was_recovered()),
                Some(r) => {
                    for d in compare(r, &results) {
                        println!("{path}: {d}");
                        bad += 1;
                    }
                }
            }
            ok += 1;
            Ok(())
        };
        let mut run = run;
        if let Err(e) = run() {
            println!("{path}: ERROR {e}");
        }
    }
    println!("{ok} logs, {bad} differences");
}
