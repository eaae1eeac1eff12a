use errorbar::prelude::*;

/// Defaults are for specs; Rust says everything.
#[task]
fn quiz(#[default(5)] epochs: u32) -> Task {
    Task::new(["?"]).epochs(epochs)
}

#[task]
fn of_text(#[default("five")] epochs: u32) -> Task {
    quiz(epochs)
}

fn main() {
    let _ = quiz();
}
