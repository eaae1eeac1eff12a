#![allow(unused)]
use errorbar::prelude::*;

#[solver]
fn asks(state: &mut TaskState, generate: &Generate) -> Result<()> {
    generate.run(state).await
}

fn main() {}
