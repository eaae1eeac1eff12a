//! The `errorbar` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    errorbar::main()
}
