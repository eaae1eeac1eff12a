//! The examples of the scoring-metrics manual, as tasks: `cargo run -p errorbar-manual -- eval gpqa_grouped`.
//!
//! One module for each section. A program with tasks of its own is the whole command line with the tasks in it;
//! `list tasks` shows them.

mod built_in;
mod clustering;
mod colors;
mod epochs;
mod grouping;
mod overview;

fn main() -> std::process::ExitCode {
    errorbar::main()
}
