#![allow(unused)]
use errorbar::prelude::*;

#[solver]
async fn holds_on(state: &mut TaskState, generate: &Generate) -> Result<()> {
    let shared = std::rc::Rc::new(1);
    generate.run(state).await?;
    drop(shared);
    Ok(())
}

fn main() {}
