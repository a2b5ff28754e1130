//! The time of day as text, without a date library: RFC 3339 in UTC. The only calendar of the workspace.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Now, to the millisecond: `2026-11-15T02:54:08.123Z`.
pub fn now() -> String {
    rfc3339(SystemTime::now())
}

/// Now, to the second: `2026-11-15T02:54:08Z`.
pub fn now_to_the_second() -> String {
    to_the_second(since_1970(SystemTime::now()).as_secs())
}

/// Formats the time to the millisecond. Times before 1970 become 1970.
pub fn rfc3339(time: SystemTime) -> String {
    let since = since_1970(time);
    let text = to_the_second(since.as_secs());
    format!("{}.{:03}Z", text.trim_end_matches('Z'), since.subsec_millis())
}

fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn to_the_second(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Days since 1970-01-01 to a date of the Gregorian calendar, counted in eras of 400 years that begin in March, so
/// that the leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_out_right_around_leap_days() {
        let at = |seconds| rfc3339(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.000Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000Z");
        assert_eq!(to_the_second(1_709_210_096), "2024-02-29T12:34:56Z");
        assert_eq!(to_the_second(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
