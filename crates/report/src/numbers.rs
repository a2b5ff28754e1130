//! Formats sizes and counts for readers.

/// `1.27 GB`: decimal units, as package managers print them.
pub fn bytes(n: u64) -> String {
    let (unit, name) = match n {
        0..1_000 => return format!("{n} B"),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    let value = n as f64 / unit;
    if value < 10.0 { format!("{value:.2} {name}") } else { format!("{value:.0} {name}") }
}

/// Formats a number with separators: `1,270,539,728`.
pub fn thousands(value: u64) -> String {
    let plain = value.to_string();
    let mut out = String::with_capacity(plain.len() + plain.len() / 3);
    for (i, digit) in plain.chars().enumerate() {
        if i > 0 && (plain.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_270_539_728), "1,270,539,728");
    }
}
