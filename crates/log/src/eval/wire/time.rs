//! Times as logs write them. By hand, because a log has dozens per sample and general formatting takes longer than the
//! rest of an event.

use std::time::Duration;

const DAY: u64 = 86_400;

/// A time since the Unix epoch, by RFC 3339 with microseconds, in UTC.
///
/// ```
/// use std::time::Duration;
/// use errorbar_log::eval::timestamp;
/// assert_eq!(timestamp(Duration::from_micros(1_794_816_144_688_168)), "2026-11-16T08:02:24.688168+00:00");
/// ```
pub fn timestamp(since_epoch: Duration) -> String {
    let mut bytes = Vec::with_capacity(32);
    TimeWriter::default().put(&mut bytes, since_epoch);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes times. Most events of a sample are within one second, whose date and time are computed once.
#[derive(Debug, Default)]
pub(super) struct TimeWriter {
    second: Option<u64>,
    /// The date and time of it, up to the point.
    text: Vec<u8>,
}

impl TimeWriter {
    /// Appends a time; one beyond the year 9999 is the last of it.
    pub(super) fn put(&mut self, bytes: &mut Vec<u8>, since_epoch: Duration) {
        const LAST: Duration = Duration::new(253_402_300_799, 999_999_000);
        let time = since_epoch.min(LAST);
        if self.second != Some(time.as_secs()) {
            self.second = Some(time.as_secs());
            self.text.clear();
            put_second(&mut self.text, time.as_secs());
        }
        bytes.extend_from_slice(&self.text);
        put_digits(bytes, u64::from(time.subsec_micros()), 6);
        bytes.extend_from_slice(b"+00:00");
    }
}

/// Appends the date and time of a second, with a point behind it.
fn put_second(bytes: &mut Vec<u8>, second: u64) {
    let (days, second) = (second / DAY, second % DAY);
    let (year, month, day) = date(days);
    let parts = [
        (b'-', year, 4),
        (b'-', month, 2),
        (b'T', day, 2),
        (b':', second / 3_600, 2),
        (b':', second / 60 % 60, 2),
        (b'.', second % 60, 2),
    ];
    for (behind, number, digits) in parts {
        put_digits(bytes, number, digits);
        bytes.push(behind);
    }
}

/// The date of a day since 1970: year, month and day. Years are counted from March, so that the leap day is the last of
/// one (Howard Hinnant, `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    let days = days + 719_468;
    let (era, of_era) = (days / ERA, days % ERA);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

/// Appends the digits of a number, at least this number of them.
pub(super) fn put_digits(bytes: &mut Vec<u8>, mut number: u64, at_least: usize) {
    let start = bytes.len();
    while number > 0 || bytes.len() - start < at_least {
        bytes.push(b'0' + (number % 10) as u8);
        number /= 10;
    }
    if let Some(digits) = bytes.get_mut(start..) {
        digits.reverse();
    }
}

/// Appends seconds, to the microsecond.
pub(super) fn put_seconds(bytes: &mut Vec<u8>, time: Duration) {
    put_digits(bytes, time.as_secs(), 1);
    bytes.push(b'.');
    put_digits(bytes, u64::from(time.subsec_micros()), 6);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_one_another() {
        assert_eq!(date(0), (1970, 1, 1));
        let is_leap =
            |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let mut expected = (1970, 1, 1);
        for days in 0..400_000 {
            assert_eq!(date(days), expected, "day {days}");
            let (year, month, day) = expected;
            let length = match month {
                2 => 28 + u64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (day == length, month) {
                (false, _) => (year, month, day + 1),
                (true, 12) => (year + 1, 1, 1),
                (true, _) => (year, month + 1, 1),
            };
        }
    }

    #[test]
    fn times_are_those_of_rfc_3339() {
        assert_eq!(timestamp(Duration::ZERO), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(timestamp(Duration::from_secs(86_399)), "1970-01-01T23:59:59.000000+00:00");
        assert_eq!(timestamp(Duration::MAX), "9999-12-31T23:59:59.999999+00:00");
        let (mut times, mut bytes) = (TimeWriter::default(), Vec::new());
        for millis in [1_999, 1_000, 2_000, 1_001] {
            times.put(&mut bytes, Duration::from_millis(millis));
        }
        let seconds = ["01.999000", "01.000000", "02.000000", "01.001000"];
        let expected: String = seconds.map(|second| format!("1970-01-01T00:00:{second}+00:00")).concat();
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn digits_are_those_of_the_number() {
        let text = |number, at_least| {
            let mut bytes = Vec::new();
            put_digits(&mut bytes, number, at_least);
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!([text(0, 1), text(7, 6), text(u64::MAX, 1)], ["0", "000007", "18446744073709551615"]);
    }
}
