//! What people look at: results as terminal tables, markdown, CSV and JSON.
#![forbid(unsafe_code)]
