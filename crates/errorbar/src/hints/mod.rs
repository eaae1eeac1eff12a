//! The way out of errors, in the words of the command line.
//!
//! Libraries say what is wrong, in typed errors that know nothing of options. What to do about it depends on how the
//! program was called, so every hint that names an option or a command is here, a file per library. Each function
//! matches on the kind of the error.

pub(crate) mod core;
pub(crate) mod eval;
pub(crate) mod log;
pub(crate) mod table;
