//! The built-in reducers, one file each.

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
}
