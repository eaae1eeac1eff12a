//! What the attributes define, in Rust and by spec. In one binary with one registry, as in a program; names that are
//! taken, and forms that only have to compile, are in others. The modules are public, as some of the functions are.

pub mod arguments;
pub mod metrics;
pub mod reducers;
pub mod scorers;
pub mod solvers;
pub mod tasks;
