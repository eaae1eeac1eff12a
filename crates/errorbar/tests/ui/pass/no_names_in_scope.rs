//! Generated code relies on no name but `::errorbar`, not even those of the prelude.
#![no_implicit_prelude]

mod std {}
#[allow(dead_code)]
struct Option;
#[allow(dead_code)]
struct Result;
#[allow(dead_code)]
struct String;

/// Inside a function too.
fn main() {
    #[::errorbar::metric(wants = "reduced", keys = ["a", "b"])]
    fn shifted(
        scores: &::errorbar::Scores,
        by: ::std::sync::Arc<dyn ::errorbar::Metric>,
        #[default("x")] name: ::std::string::String,
        #[default([1.0])] list: ::std::vec::Vec<f64>,
        level: ::std::option::Option<f64>,
    ) -> ::errorbar::Result<f64> {
        let _ = (by, name, list, level);
        ::std::result::Result::Ok(scores.len() as f64)
    }

    #[::errorbar::reducer]
    fn first(scores: &[::errorbar::Score], #[default(0)] at: usize) -> ::errorbar::Score {
        ::std::clone::Clone::clone(&scores[at])
    }

    let _ = shifted(::errorbar::metrics::mean()).name("y").list([2.0]).level(0.5);
    let _ = first().at(1);
}
