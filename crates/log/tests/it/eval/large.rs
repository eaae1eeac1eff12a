//! More members than 16 bits count.

use errorbar_log::eval::*;

use crate::eval::support::*;

#[test]
fn more_members_than_sixteen_bits_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let mut writer = LogWriter::create(&path, &start()).unwrap();
    let mut encoder = Encoder::new().unwrap();
    for id in 0..66_000 {
        let json = format!("{{\"id\":{id},\"epoch\":1,\"scores\":{{\"match\":{{\"value\":1}}}}}}");
        writer
            .append(encoder.encode(&format!("samples/{id}_epoch_1.json"), json.as_bytes()).unwrap())
            .unwrap();
    }
    writer.finish(&Header::started(start()), &Reductions::none()).unwrap();
    let log = EvalLog::open(&path).unwrap();
    assert!(!log.was_recovered());
    assert_eq!(log.sample_count(), 66_000);
    let sample = log.samples().unwrap().nth(65_999).unwrap().unwrap();
    assert_eq!(sample.id, SampleId::Int(65_999));

    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let log = EvalLog::open(&path).unwrap();
    assert!(log.was_recovered());
    assert_eq!(log.sample_count(), 66_000);
}
