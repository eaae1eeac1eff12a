//! Numbers, lists and ranges as options have them.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most values of one option.
const MOST_VALUES: usize = 1000;

/// One or several numbers: `0.03`, `0.01,0.02`, `0.01..0.10`, `0.1..0.5:0.1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(pub Vec<f64>);

/// The same for counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts(pub Vec<u64>);

impl FromStr for Values {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_list(text, 0.0).map(Values)
    }
}

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Counts::of_numbers(parse_list(text, 1.0)?)
    }
}

impl Counts {
    fn of_numbers(numbers: Vec<f64>) -> Result<Self, String> {
        let count = |number: f64| {
            let is_count = number.fract() == 0.0 && (0.0..1e15).contains(&number);
            is_count
                .then_some(number as u64)
                .ok_or_else(|| format!("{number} is not a number of samples or epochs"))
        };
        numbers.into_iter().map(count).collect::<Result<Vec<u64>, String>>().map(Counts)
    }
}

/// Numbers as programs give them: one, a list, or a text as people write it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, a list of numbers, or a string such as \"0.01..0.10\"")]
enum Form {
    One(f64),
    Many(Vec<f64>),
    Text(String),
}

impl Form {
    fn numbers(self, least: f64) -> Result<Vec<f64>, String> {
        match self {
            Form::One(number) => Ok(vec![number]),
            Form::Many(numbers) => Ok(numbers),
            Form::Text(text) => parse_list(&text, least),
        }
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Form::deserialize(deserializer)?.numbers(0.0);
        numbers.map(Values).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Form::deserialize(deserializer)?.numbers(1.0);
        numbers.and_then(Counts::of_numbers).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A finite number.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|number| number.is_finite()).ok_or_else(|| "expected a number such as 0.03".to_owned())
}

/// A finite number that is not below 0.
#[cfg(feature = "clap")]
pub(super) fn cost(text: &str) -> Result<f64, String> {
    number(text).ok().filter(|cost| *cost >= 0.0).ok_or_else(|| "expected a cost such as 0.002".to_owned())
}

/// Steps of ranges are no shorter than `least`.
fn parse_list(text: &str, least: f64) -> Result<Vec<f64>, String> {
    let mut values = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => values.push(number(part)?),
            Some((first, rest)) => values.extend(range(first, rest, least)?),
        }
        if values.len() > MOST_VALUES {
            return Err(format!(
                "these are more than {MOST_VALUES} values; take longer steps, as in 0..1:0.01"
            ));
        }
    }
    Ok(values)
}

fn range(first: &str, rest: &str, least: f64) -> Result<Vec<f64>, String> {
    let (last, step) = match rest.split_once(':') {
        Some((last, step)) => (last, Some(number(step)?)),
        None => (rest, None),
    };
    let (first, last) = (number(first)?, number(last)?);
    if first > last {
        return Err(format!("the range starts at {first}, above its end {last}"));
    }
    if first == last {
        return Ok(vec![first]);
    }
    let step = step.unwrap_or_else(|| round_step(last - first).max(least));
    if step <= 0.0 {
        return Err(format!("the step of the range is {step}; it must be above 0"));
    }
    let steps = (last - first) / step;
    if steps > MOST_VALUES as f64 {
        return Err(format!("the range has more than {MOST_VALUES} values; take longer steps"));
    }
    let mut values: Vec<f64> =
        (0..=(steps + 1e-9) as usize).map(|at| decimal(first + step * at as f64)).collect();
    if steps.fract() > 1e-9 && steps.fract() < 1.0 - 1e-9 {
        values.push(last);
    }
    Ok(values)
}

/// The step of 1, 2 or 5 times a power of ten that makes ten steps or fewer of a range.
fn round_step(length: f64) -> f64 {
    let raw = length / 10.0 * (1.0 - 1e-9);
    let mut power = 1e-12;
    while power * 10.0 <= raw {
        power *= 10.0;
    }
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= raw);
    decimal(step.unwrap_or(10.0 * power))
}

/// The number that its twelve first digits are: a sum of tenths is what one would write.
fn decimal(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        for (text, values) in [
            ("0.03", &[0.03][..]),
            ("-0.03", &[-0.03]),
            ("0.01,0.5", &[0.01, 0.5]),
            ("0.01..0.10", &[0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1]),
            ("0.1..0.5:0.2,0.9", &[0.1, 0.3, 0.5, 0.9]),
            ("0.1..0.5:0.3", &[0.1, 0.4, 0.5]),
            ("2..2", &[2.0]),
        ] {
            assert_eq!(str::parse::<Values>(text), Ok(Values(values.to_vec())), "{text}");
        }
        for text in [
            "",
            "x",
            "0.1..",
            "..1",
            "0.5..0.1",
            "0..1:0",
            "0..1:-1",
            "0..1:1e-9",
            "1,",
            "nan",
            "inf",
            "0..inf",
        ] {
            assert!(str::parse::<Values>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(str::parse::<Counts>("100..1000").map(|counts| counts.0.len()), Ok(10));
        assert_eq!(str::parse::<Counts>("1..4"), Ok(Counts(vec![1, 2, 3, 4])));
        assert_eq!(str::parse::<Counts>("1e3,0"), Ok(Counts(vec![1000, 0])));
        for text in ["1.5", "-1", "1e20", "1..2:0.5"] {
            assert!(str::parse::<Counts>(text).is_err(), "{text}");
        }
    }
}
