//! The built-in reducers, one file each.

mod hypergeometric;
mod threshold;

crate::registry::entry_modules! {
    /// Every built-in reducer, in the order that lists show.
    [crate::registry::ReducerEntry]
    mean::Mean,
    median::Median,
    mode::Mode,
    max::Max,
    pass_at::PassAt,
    pass_k::PassK,
    at_least::AtLeast,
    majority::Majority,
    collect::Collect,
    g_pass::GPass,
    best_of::BestOf,
}

#[cfg(test)]
mod test_support {
    use crate::{Reducer, Score, Value};

    /// What a reducer makes of the values of a sample's epochs.
    pub(super) fn reduce(reducer: &dyn Reducer, values: impl IntoIterator<Item = Value>) -> Score {
        let scores: Vec<Score> = values.into_iter().map(Score::new).collect();
        reducer.reduce(&scores).unwrap()
    }

    /// Whether a published figure is met.
    pub(super) fn assert_close(got: Option<f64>, want: f64) {
        let got = got.unwrap();
        assert!((got - want).abs() <= 1e-14 * want.abs(), "{got} {want}");
    }
}
