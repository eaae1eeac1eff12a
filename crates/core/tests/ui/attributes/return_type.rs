#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[metric]
fn text(scores: &Scores) -> Result<String> {
    Ok(String::new())
}

#[metric]
fn plain_text(scores: &Scores) -> &'static str {
    ""
}

#[reducer]
fn number(scores: &[Score]) -> Result<f64> {
    Ok(0.0)
}

#[metric]
fn other_error(scores: &Scores) -> std::result::Result<f64, std::fmt::Error> {
    Ok(0.0)
}

fn main() {}
