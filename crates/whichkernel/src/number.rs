//! Command-line numbers with a range.

use say::{Message, Say, say};
use std::fmt::Display;
use std::num::ParseIntError;
use std::ops::RangeInclusive;
use std::str::FromStr;

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
