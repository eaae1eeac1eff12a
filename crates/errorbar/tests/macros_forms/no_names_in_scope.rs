//! Generated code relies on no name but `::errorbar`, not even those of the prelude.
mod std {}
#[allow(dead_code)]
struct Option;
#[allow(dead_code)]
struct Result;
#[allow(dead_code)]
struct String;

/// Inside a function too.
#[::core::prelude::v1::test]
fn it_compiles() {
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

    #[::errorbar::solver]
    async fn polite(
        state: &mut ::errorbar::eval::TaskState,
        generate: &::errorbar::eval::Generate,
        #[default("please")] word: ::std::string::String,
    ) -> ::errorbar::Result<()> {
        let _ = word;
        generate.run(state).await
    }

    #[::errorbar::scorer(metrics = [::errorbar::metrics::mean(), {"a*": [::errorbar::metrics::std()]}])]
    async fn always(_: &::errorbar::eval::TaskState, _: &::errorbar::eval::Target) -> ::errorbar::Score {
        ::errorbar::Score::new(1)
    }

    #[::errorbar::scorer(metrics = {"a*": [::errorbar::metrics::std()]})]
    fn never(
        _: &::errorbar::eval::TaskState,
        _: &::errorbar::eval::Target,
    ) -> ::std::option::Option<::errorbar::Score> {
        ::std::option::Option::None
    }

    #[::errorbar::task]
    fn quiz(
        #[default(5)] epochs: u32,
        subset: ::std::option::Option<::std::string::String>,
    ) -> ::errorbar::eval::Task {
        let _ = subset;
        ::errorbar::eval::Task::new(["?"]).solver(polite()).scorer(always()).scorer(never()).epochs(epochs)
    }

    let _ = quiz(2, ::std::option::Option::None);
    let _ = shifted(::errorbar::metrics::mean()).name("y").list([2.0]).level(0.5);
    let _ = first().at(1);
}
