#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[task]
async fn waits() -> Task {
    Task::new(["?"])
}

#[task]
fn returns_nothing() {}

#[task]
fn borrowed(file: &str) -> Task {
    Task::new(["?"])
}

#[task]
struct Quiz;

#[scorer(metrics = [mean()])]
async fn judges_nothing(state: &TaskState, target: &Target) {}

#[solver]
async fn generic<M>(state: &mut TaskState, generate: &Generate) -> Result<()> {
    Ok(())
}

#[solver]
static POLITE: &str = "please";

fn main() {}
