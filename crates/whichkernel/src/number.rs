//! Command-line numbers with a range, and times.

use say::{Message, Say, say};
use std::fmt::Display;
use std::num::ParseIntError;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// For `value_parser`: the error is a translatable message; clap's own parser has it only in English.
pub fn number<N>(range: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, Message> + Clone
where
    N: FromStr<Err = ParseIntError> + PartialOrd + Display + Clone,
{
    move |text| {
        let number: N = text.parse().map_err(|error: ParseIntError| error.message())?;
        let (value, low, high) = (number.to_string(), range.start().to_string(), range.end().to_string());
        if range.contains(&number) { Ok(number) } else { Err(say!("command-not-in-range", value, low, high)) }
    }
}

/// A time such as `10s`, `500ms` or `2h`.
pub fn duration(text: &str) -> Result<Duration, Message> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| say!("command-no-time", text))?;
    let seconds = match unit {
        "" | "s" => number,
        "ms" => number / 1000.0,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(say!("command-no-unit", unit)),
    };
    Duration::try_from_secs_f64(seconds).map_err(Message::verbatim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_write_them() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("soon").is_err() && duration("3 weeks").is_err());
    }
}
