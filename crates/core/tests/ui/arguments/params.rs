extern crate errorbar_core as errorbar;
use errorbar_core::Params;

/// Without a name.
#[derive(Params)]
struct Unnamed;

/// An option that there is not.
#[derive(Params)]
#[params(name = "one", kind = "metric")]
struct UnknownOption;

/// One of a field.
#[derive(Params)]
#[params(name = "two")]
struct UnknownFieldOption {
    #[param(defualt = 0.5)]
    level: Option<f64>,
}

/// Arguments without names.
#[derive(Params)]
#[params(name = "three")]
struct Tuple(f64);

/// Values in place of arguments.
#[derive(Params)]
#[params(name = "four")]
enum Choice {
    One,
}

/// An argument that must be passed, too late.
#[derive(Params)]
#[params(name = "five")]
struct Order {
    level: Option<f64>,
    key: String,
}

fn main() {}
