//! When a server allows a retry, by its headers.

use std::time::{Duration, SystemTime};

use jiff::{Span, SpanRelativeTo};
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The longest wait for one answer, in seconds.
const LONGEST: f64 = 3600.0;

/// How long to wait before a retry, if the server sets it: `retry-after-ms`, else `Retry-After` with seconds or a date.
pub(in crate::model) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let milliseconds = || seconds(text(headers, "retry-after-ms")?.parse::<f64>().ok()? / 1e3);
    milliseconds().or_else(|| {
        let text = text(headers, RETRY_AFTER.as_str())?;
        let date = || httpdate::parse_http_date(text).ok()?.duration_since(now).ok();
        duration(text).or_else(|| seconds(date()?.as_secs_f64()))
    })
}

/// When all rate limits are reset, if the server reports it.
pub(in crate::model) fn limit_reset(headers: &HeaderMap) -> Option<Duration> {
    let names = ["x-ratelimit-reset-requests", "x-ratelimit-reset-tokens"];
    names.into_iter().filter_map(|name| duration(text(headers, name)?)).max()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// What makes sense as a time to wait.
fn seconds(seconds: f64) -> Option<Duration> {
    let makes_sense = seconds.is_finite() && seconds > 0.0;
    makes_sense.then(|| Duration::from_secs_f64(seconds.min(LONGEST)))
}

/// `12`, `0.5`, `1m30s`, `500ms`; a number without a unit is in seconds.
fn duration(text: &str) -> Option<Duration> {
    let days = SpanRelativeTo::days_are_24_hours();
    let with_units = || Some(text.parse::<Span>().ok()?.to_duration(days).ok()?.as_secs_f64());
    seconds(text.parse().ok().or_else(with_units)?)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    /// 2026-10-21 07:28:00 UTC.
    const NOW: u64 = 1_792_567_680;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    fn wait(pairs: &[(&'static str, &str)]) -> Option<f64> {
        let now = UNIX_EPOCH + Duration::from_secs(NOW);
        retry_after(&headers(pairs), now).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn seconds_dates_and_durations_are_understood() {
        let cases = [
            ("7", Some(7.0)),
            (" 0.25 ", Some(0.25)),
            ("1m30s", Some(90.0)),
            ("500ms", Some(0.5)),
            ("Wed, 21 Oct 2026 07:28:30 GMT", Some(30.0)),
            ("Wed, 21 Oct 2026 09:28:00 GMT", Some(3600.0)),
            ("99999999999999999999", Some(3600.0)),
            ("Wed, 21 Oct 2026 07:27:00 GMT", None),
            ("0", None),
            ("-5", None),
            ("", None),
            ("soon", None),
            ("inf", None),
            ("nan", None),
            ("5 6", None),
            ("1m30", None),
            ("1.2.3", None),
        ];
        for (text, expected) in cases {
            assert_eq!(wait(&[("retry-after", text)]), expected, "{text:?}");
        }
    }

    #[test]
    fn milliseconds_go_first_if_they_make_sense() {
        assert_eq!(wait(&[("retry-after-ms", "1500"), ("retry-after", "9")]), Some(1.5));
        for nonsense in ["x", "-1", "0", "NaN", "inf"] {
            assert_eq!(wait(&[("retry-after-ms", nonsense), ("retry-after", "9")]), Some(9.0), "{nonsense}");
        }
    }

    #[test]
    fn of_several_limits_the_last_one_to_be_lifted_counts() {
        let both = headers(&[("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "6m0s")]);
        assert_eq!(limit_reset(&both), Some(Duration::from_secs(360)));
        assert_eq!(limit_reset(&headers(&[("x-ratelimit-reset-requests", "0s")])), None);
        assert_eq!(wait(&[("x-ratelimit-reset-tokens", "6m0s")]), None);
    }
}
