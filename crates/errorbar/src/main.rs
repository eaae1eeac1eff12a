//! The `errorbar` command.
fn main() {}
