//! tmp
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout, dead_code, unreachable_pub)]
#[path = "../tests/eval/support.rs"]
mod support;
use support::*;
use errorbar_core::*;
use errorbar_log::eval::*;
fn main() {
    let dir = std::path::PathBuf::from("/tmp/pycheck/logs");
    let _ = std::fs::remove_dir_all(&dir);
    let ids: Vec<SampleId> = vec![10.into(), 9.into(), "a/b/../c".into(), "x_epoch_1.json".into(), "ünïcode ✓".into(), "quo\"te's \\ back".into(), "line\nend\ttab".into(), "i".repeat(3000).into()];
    let samples: Vec<_> = ids.iter().map(|id| Sample::new(id.clone(), 1, Score::new("C").answer("a"))).collect();
    write_finished(&dir.join("ids.eval"), &samples);
    write_unfinished(&dir.join("running.eval"), &samples);
    let mut v: Vec<_> = vec![Score::new("C"), Score::new(0.5), Score::new(true), Score::unscored("refusal"), Score::new("I").metadata("k", 1)].into_iter().enumerate().map(|(i, s)| Sample::new(i as i64, 1, s)).collect();
    v.push(Sample::errored(77, 1, "boom"));
    v.push(Sample { limit: Some(SampleLimit { kind: "token".into(), limit: 5.0, reason: None }), input: vec![Message::system("s"), Message::user("u")].into(), target: vec!["a".to_owned(), "b".to_owned()].into(), choices: Some(vec!["x".into()]), ..Sample::new(78, 1, Score::new(0.25)) });
    for i in 0..5 { v.push(Sample::new(i, 2, Score::new("C"))); }
    write_finished(&dir.join("kinds.eval"), &v);
    write_finished(&dir.join("nan.eval"), &[Sample::new(1, 1, Score::unscored("refusal"))]);
    convert_to_json(&dir.join("kinds.eval"), &dir.join("kinds.json")).unwrap();
    let p = dir.join("resumed.eval");
    write_finished(&p, &v);
    let (mut w, _) = LogWriter::resume(&p).unwrap();
    Sample::new(77, 1, Score::new("C")).record(|r| w.append_sample(r)).unwrap();
    finish(w);
    // maps
    let p = dir.join("maps.eval");
    let mut st = start();
    st.eval.scorers.as_mut().unwrap()[0].metrics = Some(metrics_to_log(&metrics![{"*": [metrics::mean(), metrics::bootstrap_stderr(), metrics::ci()]}], &Registry::built_in()));
    let mut w = LogWriter::create(&p, &st).unwrap();
    for i in 0..12_i64 { Sample::new(i, 1, Score::new(Value::map([("a", Leaf::Float(i as f64)), ("b", if i == 3 { Leaf::Unscored } else { Leaf::Float(f64::from(i as u8 % 3)) })]))).record(|r| w.append_sample(r)).unwrap(); }
    finish(w);
    // many, zip64
    let p = dir.join("many.eval");
    let mut w = LogWriter::create(&p, &start()).unwrap();
    let mut e = Encoder::new().unwrap();
    for i in 0..66_000_i64 { Sample::new(i, 1, Score::new("C")).record(|r| w.append_encoded(encode_sample(&mut e, r)?)).unwrap(); }
    finish(w);
}
