//! Partial results of any bytes: an error, or one that is written in the same way, and that merges and finishes.

use std::sync::LazyLock;

use errorbar_core::{Partial, Plan, Registry, ScoreColumns};

/// A plan that counts samples, one that keeps all ids, and one that sees whole scores.
static PLANS: LazyLock<[Plan; 3]> = LazyLock::new(|| {
    let texts = [
        r#"{"metrics":["mean()","grouped(accuracy(),'g')","frequency()"]}"#,
        r#"{"metrics":["bootstrap(mean(),num_samples=100)"]}"#,
        r#"{"metrics":["f1_score('g',prediction='answer')"],"reducers":["majority"],"errors":{"draws":100}}"#,
    ];
    texts.map(|text| Plan::from_text(text, &Registry::built_in()).unwrap())
});

/// What is finished: a few bytes may stand for any number of rows.
const MAX_ROWS: u64 = 10_000;

/// Whether bytes are a partial result: they are read as what follows the fingerprint of the plan that the first byte chooses; the checksum is put behind them.
pub fn partial(bytes: &[u8]) -> bool {
    let Some((plan, body)) = bytes.split_first() else { return false };
    let plan = &PLANS[usize::from(*plan) % PLANS.len()];
    let empty = Partial::of(&ScoreColumns::default(), plan).unwrap().to_bytes().unwrap();
    let mut whole = [&empty[..24], body].concat();
    let checksum = blake3::hash(&whole);
    whole.extend_from_slice(&checksum.as_bytes()[..8]);
    let partial = match Partial::from_bytes(&whole, plan) {
        Ok(partial) => partial,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return false;
        }
    };
    assert_eq!(partial.to_bytes().unwrap(), whole);
    let rows = partial.rows();
    if let Ok(doubled) = partial.clone().merge(partial.clone()) {
        assert_eq!(doubled.rows(), rows.saturating_mul(2));
        assert_eq!(
            doubled.to_bytes().and_then(|bytes| Partial::from_bytes(&bytes, plan)?.to_bytes()),
            doubled.to_bytes()
        );
    }
    if rows < MAX_ROWS {
        let _ = partial.finish();
    }
    true
}
