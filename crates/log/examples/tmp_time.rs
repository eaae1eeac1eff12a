//! tmp
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout)]
use errorbar_log::eval::*;
use std::time::Instant;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let pad = "x y z 1234 ".repeat(std::env::args().nth(2).unwrap().parse().unwrap());
    let f = tempfile::tempdir().unwrap();
    let path = f.path().join("log.eval");
    let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
    let t = Instant::now();
    let mut w = LogWriter::create(&path, &start).unwrap();
    let mut e = Encoder::new().unwrap();
    let (mut te, mut tw) = (0.0, 0.0);
    for id in 0..n {
        let json = format!(
            "{{\"id\":{id},\"epoch\":1,\"messages\":[\"{pad}\"],\"scores\":{{\"match\":{{\"value\":1}}}}}}"
        );
        let a = Instant::now();
        let m = e.encode(&format!("samples/{id}_epoch_1.json"), json.as_bytes()).unwrap();
        te += a.elapsed().as_secs_f64();
        let a = Instant::now();
        w.append(m).unwrap();
        tw += a.elapsed().as_secs_f64();
    }
    println!("write {:.2} (encode {te:.2}, append {tw:.2})", t.elapsed().as_secs_f64());
    let t = Instant::now();
    w.finish(&Header::started(start), &Reductions::none()).unwrap();
    println!("finish {:.2}, {} MB", t.elapsed().as_secs_f64(), std::fs::metadata(&path).unwrap().len() >> 20);
    let t = Instant::now();
    let log = EvalLog::open(&path).unwrap();
    println!("open {:.3}", t.elapsed().as_secs_f64());
    let t = Instant::now();
    let mut s = log.samples().unwrap();
    println!("order {:.2}", t.elapsed().as_secs_f64());
    let t = Instant::now();
    s.by_ref().for_each(|s| drop(s.unwrap()));
    println!("samples {:.2}", t.elapsed().as_secs_f64());
    let b = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(b - 1).unwrap();
    let t = Instant::now();
    EvalLog::open(&path).unwrap();
    println!("scan {:.2}", t.elapsed().as_secs_f64());
    let t = Instant::now();
    let r = LogWriter::resume(&path).unwrap();
    println!("resume {:.2} {}", t.elapsed().as_secs_f64(), r.1.samples.len());
}
