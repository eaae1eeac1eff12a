//! The command line, as tests of this package run it.

fn main() -> std::process::ExitCode {
    errorbar::main()
}
