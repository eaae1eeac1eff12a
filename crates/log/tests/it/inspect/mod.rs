//! The Inspect projection: results as logs record them, and rows with their errors back from there.

mod projected;
mod recovered;
mod support;
