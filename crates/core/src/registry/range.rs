//! A spec with a range among its arguments stands for one spec for each integer of the range.

use crate::error::{Error, Result};
use crate::spec::{Arg, Spec};

/// The most integers of a range: each gives results.
const MAX_RANGE: u64 = 100;

impl Spec {
    /// The specs that it stands for: itself, or one for each integer of the range among its arguments. `parameters` are
    /// the names of those by position.
    ///
    /// # Errors
    /// A range that is empty or has more than 100 integers, or two ranges.
    pub(crate) fn expanded(&self, parameters: &[&str]) -> Result<Vec<Spec>> {
        let ranges = self.args.iter().chain(self.kwargs.values()).filter_map(|arg| match arg {
            Arg::Range(first, last) => Some((*first, *last)),
            _ => None,
        });
        let ranges: Vec<(i64, i64)> = ranges.collect();
        let refuse = |problem: String| {
            let (target, argument) = (self.log_name().into_owned(), self.range_argument(parameters));
            Err(Error::Argument { target, argument, problem })
        };
        let (first, last) = match ranges.as_slice() {
            [] => return Ok(vec![self.clone()]),
            [range] => *range,
            _ => return refuse("is a range, and so is another argument; only one may be".to_owned()),
        };
        if first > last {
            return refuse(format!("is the empty range {first}..{last}; write {last}..{first}"));
        }
        let count = last.abs_diff(first).saturating_add(1);
        if count > MAX_RANGE {
            return refuse(format!(
                "has {count} values, {first}..{last}, and at most {MAX_RANGE} are computed"
            ));
        }
        Ok((first..=last).map(|number| self.with_number(number)).collect())
    }

    /// The name of the argument that is a range.
    fn range_argument(&self, parameters: &[&str]) -> String {
        let named = self.kwargs.iter().map(|(name, arg)| (name.as_str(), arg));
        let mut all = parameters.iter().copied().zip(&self.args).chain(named);
        all.find(|(_, arg)| matches!(arg, Arg::Range(..))).map_or("k", |(name, _)| name).to_owned()
    }

    /// The same with a number in place of the range.
    fn with_number(&self, number: i64) -> Spec {
        let mut spec = self.clone();
        for arg in spec.args.iter_mut().chain(spec.kwargs.values_mut()) {
            if let Arg::Range(..) = arg {
                *arg = Arg::Int(number);
            }
        }
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spec_for_each_integer() {
        let texts = |text: &str| -> Vec<String> {
            let expanded = text.parse::<Spec>().unwrap().expanded(&["k"]).unwrap();
            expanded.iter().map(Spec::to_string).collect()
        };
        assert_eq!(texts("pass_at(2..3, value=0.5)"), ["pass_at(2, value=0.5)", "pass_at(3, value=0.5)"]);
        assert_eq!(texts("g_pass(8, j=7..8)"), ["g_pass(8, j=7)", "g_pass(8, j=8)"]);
        assert_eq!(texts("f(-1..1)"), ["f(-1)", "f(0)", "f(1)"]);
        assert_eq!(texts("f(-2..-2)"), ["f(-2)"]);
        assert_eq!(texts("mean"), ["mean"]);
        assert_eq!(texts("f(1..100)").len(), 100);
    }

    #[test]
    fn empty_long_and_several_ranges_are_refused() {
        for text in
            ["f(8..1)", "f(1..101)", "f(1..2, j=1..2)", "f(-9223372036854775808..9223372036854775807)"]
        {
            let refused = text.parse::<Spec>().unwrap().expanded(&["k"]);
            assert!(
                matches!(&refused, Err(Error::Argument { argument, .. }) if argument == "k"),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn the_text_of_a_range_comes_back() {
        let spec: Spec = "pass_at(1..8)".parse().unwrap();
        assert_eq!(spec.args, [Arg::Range(1, 8)]);
        assert_eq!(spec.to_string(), "pass_at(1..8)");
        for wrong in ["f(1..)", "f(..8)", "f(1...8)", "f(1..8..9)", "f(1.5..2)", "f(1..2.5)", "f(a..b)"] {
            assert!(wrong.parse::<Spec>().is_err() || !wrong.contains(char::is_numeric), "{wrong}");
        }
    }
}
