//! Sizes as people read them.

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
