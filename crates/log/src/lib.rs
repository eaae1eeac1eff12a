//! Score tables, read into the columns of errorbar.
#![forbid(unsafe_code)]
