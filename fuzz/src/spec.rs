//! Specs of any text: what is read can be printed, and read again as the same.

use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::sync::LazyLock;

use errorbar_core::Registry;
use errorbar_core::spec::{Arg, MetricsSpec, Spec, SpecError};

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::built_in);

/// Reads these bytes as a spec, as an argument and as metrics.
pub fn spec(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Some(spec) = read::<Spec>(text) {
        let _ = REGISTRY.metric(&spec);
        let _ = REGISTRY.reducer(&spec);
        let json = serde_json::to_string(&spec).unwrap();
        let again: Spec = serde_json::from_str(&json).unwrap();
        assert_same(&again, &spec, &json);
    }
    read::<Arg>(text);
    if let Some(metrics) = read::<MetricsSpec>(text) {
        let json = serde_json::to_string(&metrics).unwrap();
        let again: MetricsSpec = serde_json::from_str(&json).unwrap();
        assert_same(&again, &metrics, &json);
    }
}

fn read<T: FromStr<Err = SpecError> + Debug + Display>(text: &str) -> Option<T> {
    match text.parse::<T>() {
        Ok(read) => {
            let printed = read.to_string();
            let again = printed.parse::<T>();
            let again = again.unwrap_or_else(|error| panic!("{text:?} printed as {printed:?}: {error}"));
            assert_same(&again, &read, &printed);
            assert_eq!(again.to_string(), printed);
            Some(read)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// By their texts: not-a-number equals itself there.
fn assert_same(again: &impl Debug, first: &impl Debug, printed: &str) {
    assert_eq!(format!("{again:?}"), format!("{first:?}"), "printed as {printed}");
}
