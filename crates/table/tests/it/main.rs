//! The tests of the public API of `errorbar-table`, in one binary: each one more is linked by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

#[cfg(feature = "parquet")]
mod parquet_files;
mod seeds;
mod table_support;
mod tables;
#[cfg(feature = "arrow")]
mod tables_arrow;
mod tables_columns;
mod tables_flips;
mod tables_generated;
mod tables_hostile;
mod tables_limits;
mod tables_long;
mod tables_parquet;
mod tables_parquet_limits;
mod tables_same;
mod tables_split;
mod tables_threads;
