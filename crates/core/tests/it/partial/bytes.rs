//! Partial results as bytes, and what is refused.

use std::sync::LazyLock;

use super::*;

#[path = "../../../../../fuzz/src/partial.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod fuzzed;

/// What the fuzzer starts from, without a fuzzer: see `fuzz/README.md`.
#[test]
fn seeds() {
    errorbar_test_support::run_seeds("partial", |bytes| assert!(fuzzed::partial(bytes)));
}

fn sealed(body: &[u8]) -> Vec<u8> {
    [body, &blake3::hash(body).as_bytes()[..8]].concat()
}

/// The same with the checksum that they should have.
fn resealed(bytes: &[u8]) -> Vec<u8> {
    sealed(&bytes[..bytes.len().saturating_sub(8)])
}

fn example(plan: &Plan) -> Vec<u8> {
    let samples: Vec<u32> = (0..12).map(|at: u32| (at % 5).wrapping_mul(0x85eb_ca6b)).collect();
    let columns = columns(Shape::Mixed, &samples, |_| true);
    Partial::of(&columns, plan).unwrap().with_receipt("g").unwrap().to_bytes().unwrap()
}

fn refused(bytes: &[u8], plan: &Plan) -> String {
    Partial::from_bytes(bytes, plan).unwrap_err().to_string()
}

/// Without ids and with all of them.
static EXAMPLES: LazyLock<[(Plan, Vec<u8>); 2]> = LazyLock::new(|| {
    let metrics =
        ["[mean(), grouped(count(), \"g\"), perplexity_per_seq()]", "[bootstrap(mean(), num_samples=100)]"];
    metrics.map(|metrics| {
        let plan = plan(metrics, None, "{}");
        let bytes = example(&plan);
        (plan, bytes)
    })
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Changed bytes with a checksum that fits: an error, or a partial result that is written in the same way and can be
    /// merged and finished.
    #[test]
    fn no_bytes_panic(
        has_ids in any::<bool>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u8>()), 1..6),
    ) {
        let (plan, mut bytes) = EXAMPLES[usize::from(has_ids)].clone();
        for (at, change, byte) in changes {
            let at = at.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let bytes = resealed(&bytes);
        if let Ok(partial) = Partial::from_bytes(&bytes, &plan) {
            prop_assert_eq!(partial.to_bytes().unwrap(), bytes);
            if partial.rows() < 1 << 16 {
                let _ = partial.finish();
            }
        }
    }
}

#[test]
fn damaged_bytes_are_refused() {
    let plan = plan("[mean()]", None, "{}");
    let bytes = example(&plan);
    for length in 0..bytes.len() {
        refused(&bytes[..length], &plan);
        if length > 8 {
            refused(&resealed(&bytes[..length]), &plan);
        }
    }
    let mut damaged = bytes.clone();
    damaged[600] ^= 1;
    assert!(refused(&damaged, &plan).contains("damaged, the checksum is another one"));
    let mut other = bytes.clone();
    other[7] = 9;
    assert!(refused(&other, &plan).contains("of another version"));
    assert!(refused(b"", &plan).contains("they do not begin like one"));
    let longer = [&bytes[..bytes.len() - 8], &[0][..]].concat();
    assert!(refused(&sealed(&longer), &plan).contains("there is more behind it"));
}

#[test]
fn bytes_of_another_plan_are_refused() {
    let bytes = example(&plan("[mean()]", None, "{}"));
    let error = refused(&bytes, &plan("[mean()]", None, r#"{"level": 0.9}"#));
    assert!(error.contains("of another plan") && error.contains("send the text of the plan"), "{error}");
    let columns = ScoreColumns::default();
    let (one, other) = (Plan::new(), Plan::new().seed(3));
    let merged = Partial::of(&columns, &one).unwrap().merge(Partial::of(&columns, &other).unwrap());
    assert!(merged.unwrap_err().to_string().contains("different plans"));
    let same = Plan::new();
    assert!(Partial::of(&columns, &one).unwrap().merge(Partial::of(&columns, &same).unwrap()).is_ok());
}

#[test]
fn equal_samples_take_no_more_bytes() {
    let plan = plan("[accuracy(), stderr()]", None, "{}");
    let bytes = |samples: u32| {
        let mut columns = ScoreColumns::new(["s"]);
        for sample in 0..samples {
            columns.push(format!("{sample:07}"), 1).score("s", Score::new(sample as i64 % 2)).unwrap();
        }
        Partial::of(&columns, &plan).unwrap().to_bytes().unwrap().len()
    };
    assert_eq!(bytes(100), bytes(10));
    assert!(bytes(20_000) < bytes(10) + 8, "{}", bytes(20_000));
}

#[test]
fn what_is_merged_twice_or_split_is_refused() {
    let whole = |plan: &Plan, rows: &[(&str, u32)], receipt: bool| {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch) in rows {
            columns.push(id, *epoch).score("s", Score::new(1)).unwrap();
        }
        let partial = Partial::of(&columns, plan).unwrap();
        let partial = if receipt { partial.with_receipt("g").unwrap() } else { partial };
        partial.into_owned().unwrap()
    };
    let merge = |plan: &Plan, receipts: [bool; 2]| {
        let first = whole(plan, &[("a", 1), ("b", 1)], receipts[0]);
        first.merge(whole(plan, &[("c", 1), ("a", 2)], receipts[1])).map_err(|error| error.to_string())
    };
    let counted = plan("[mean()]", None, "{}");
    let error = merge(&counted, [true, true]).unwrap_err();
    assert!(
        error.contains("have samples of hash bucket") && error.contains("merge each partial result once"),
        "{error}"
    );
    let error = merge(&plan("[bootstrap(mean())]", None, "{}"), [false, false]).unwrap_err();
    assert!(error.contains("sample \"a\" is in both partial results"), "{error}");
    let error = merge(&counted, [true, false]).unwrap_err();
    assert!(error.contains("one of the partial results has a receipt and the other has none"), "{error}");
    let late = whole(&counted, &[("a", 1)], false).with_receipt("g").unwrap_err().to_string();
    assert!(late.contains("before it is merged or sent"), "{late}");
    let mut twice = ScoreColumns::new(["s"]);
    twice.push("a", 1);
    twice.push("a", 1);
    let error = Partial::of(&twice, &counted).unwrap().into_owned().unwrap_err().to_string();
    assert!(error.contains("occurs twice in epoch 1"), "{error}");
}

#[test]
fn what_is_too_large_is_refused_with_a_way_out() {
    let (counted, named) = (plan("[mean()]", None, "{}"), plan("[bootstrap(mean())]", None, "{}"));
    let long = "x".repeat(1 << 20);
    let mut columns = ScoreColumns::new(["s"]);
    for sample in 0..65 {
        columns.push(sample.to_string(), 1).score("s", Score::new(format!("{long}{sample}"))).unwrap();
    }
    let error = Partial::of(&columns, &counted).unwrap().to_bytes().unwrap_err().to_string();
    assert!(error.contains("more than 64 MB") && error.contains("round the scores"), "{error}");
    let error = Partial::of(&columns, &named).unwrap().into_owned().unwrap_err().to_string();
    assert!(error.contains("by their ids"), "{error}");
    // Each half is small enough.
    let half = |of: u32| {
        let mut columns = ScoreColumns::new(["s"]);
        for sample in (0..66).filter(|sample| sample % 2 == of) {
            columns.push(sample.to_string(), 1).score("s", Score::new(format!("{long}{sample}"))).unwrap();
        }
        Partial::of(&columns, &counted).unwrap().into_owned().unwrap()
    };
    let error = half(0).merge(half(1)).unwrap_err().to_string();
    assert!(error.contains("more than 64 MB"), "{error}");
    // On one machine there is no limit.
    assert!(Partial::of(&columns, &counted).unwrap().finish().is_ok());
}

#[test]
fn a_count_that_no_memory_holds_is_refused() {
    let plan = plan("[mean()]", None, "{}");
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new(1)).unwrap();
    let bytes = Partial::of(&columns, &plan).unwrap().to_bytes().unwrap();
    let huge = with_count(&bytes, u64::MAX >> 4);
    let partial = Partial::from_bytes(&huge, &plan).unwrap();
    let doubled = partial.clone().merge(partial.clone()).unwrap();
    for partial in [partial, doubled] {
        let error = partial.finish().unwrap_err().to_string();
        assert!(error.contains("more than 134217728 rows") && error.contains("more groups"), "{error}");
    }
}

#[test]
fn a_count_that_bytes_only_claim_is_bounded_unless_they_are_trusted() {
    let plan = plan("[mean()]", None, "{}");
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new(1)).unwrap();
    let counted = Partial::of(&columns, &plan).unwrap();
    let bytes = counted.to_bytes().unwrap();
    let claiming = |rows| Partial::from_bytes(&with_count(&bytes, rows), &plan).unwrap();
    for partial in [
        claiming((1 << 24) + 1),
        claiming(1 << 27),
        claiming(1 << 23).merge(claiming((1 << 23) + 1)).unwrap(),
        counted.clone().merge(claiming(1 << 25)).unwrap(),
        claiming(1 << 25).into_owned().unwrap(),
    ] {
        let columns = partial.columns().map(drop);
        for error in [columns.unwrap_err(), partial.finish().map(drop).unwrap_err()] {
            let error = error.to_string();
            assert!(error.contains("at most 16777216") && error.contains("trusted"), "{error}");
        }
    }
    // What this process counted itself is no claim, and what is trusted is as good.
    let many = claiming(1 << 20).trusted().merge(counted).unwrap();
    assert_eq!(many.finish().unwrap().estimate("mean").unwrap().n, (1 << 20) + 1);
    let trusted = claiming((1 << 27) + 1).trusted().finish().unwrap_err().to_string();
    assert!(trusted.contains("more than 134217728 rows"), "{trusted}");
}

/// Bytes with this number of samples in place of one whose id has one byte.
fn with_count(bytes: &[u8], count: u64) -> Vec<u8> {
    // Behind the count of 1: the length of the id, the id and the checksum.
    let (before, behind) = bytes.split_at(bytes.len() - 8 - 2);
    let mut number = Vec::new();
    let mut rest = count;
    while rest > 0x7f {
        number.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    number.push(rest as u8);
    sealed(&[&before[..before.len() - 1], &number, &behind[..2]].concat())
}

/// Each count is small enough, but not with so many scores or so much metadata.
#[test]
fn a_count_of_wide_rows_that_no_memory_holds_is_refused() {
    let plan = plan("[grouped(count(), \"g\"), grouped(count(), \"h\")]", None, "{}");
    let refused = |scorers: u32, epochs: u32| {
        let names: Vec<String> = (0..scorers).map(|scorer| scorer.to_string()).collect();
        let mut columns = ScoreColumns::new(names.iter().map(String::as_str));
        for epoch in 1..=epochs {
            columns.push("a", epoch).metadata("g", 1).metadata("h", 1);
        }
        let bytes = Partial::of(&columns, &plan).unwrap().to_bytes().unwrap();
        assert!(Partial::from_bytes(&with_count(&bytes, 2), &plan).unwrap().columns().is_ok());
        let count = (1 << 27) / u64::from(epochs);
        let error =
            Partial::from_bytes(&with_count(&bytes, count), &plan).unwrap().trusted().columns().unwrap_err();
        error.to_string()
    };
    for (scorers, epochs) in [(100, 1), (3, 4)] {
        let error = refused(scorers, epochs);
        assert!(error.contains("more than 536870912 scores and metadata values"), "{error}");
    }
}

/// Nobody groups by such a thing, but it must not become another value.
#[test]
fn metadata_that_is_too_deep_for_json_is_refused() {
    let deep = (0..150).fold(json!(1), |inner, _| json!([inner]));
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).metadata("g", deep).score("s", Score::new(1)).unwrap();
    let plan = plan("[grouped(mean(), \"g\")]", None, "{}");
    let counted = Partial::of(&columns, &plan).unwrap().into_owned().unwrap();
    assert!(refused(&counted.to_bytes().unwrap(), &plan).contains("nested too deeply"));
    assert!(counted.finish().unwrap_err().to_string().contains("nested too deeply"));
}
