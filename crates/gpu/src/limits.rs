//! The peak rates of a card that limit how fast a model can run on it: memory bandwidth and matrix throughput, each
//! with its origin.
//!
//! A peak rate that was not published, or whose page could not be read, is absent. Results that need it are left out.

use crate::number::Number;
use crate::profile::Profile;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The name of the card: `rx-9070-xt`, `rtx-4090`.
    pub card: String,
    /// The product name without the maker: `RX 9070 XT`.
    pub title: String,
    /// The target: `gfx1201`, `sm_89`.
    pub target: String,
    /// Whether the GPU has no memory of its own and uses the system's memory.
    pub integrated: bool,
    /// Bytes.
    pub memory: Option<Number>,
    /// Bytes per second.
    pub bandwidth: Option<Number>,
    /// Operations per second of 8-bit integer products, dense.
    pub int8: Option<Number>,
    /// Operations per second of 16-bit floating point products, dense.
    pub fp16: Option<Number>,
}

/// Name, title, gigabytes of memory, MB/s, dense int8 and fp16 in 10^9 operations per second (0: unknown), and the
/// source.
const NVIDIA: &[(&str, &str, i64, i64, i64, i64, &str)] = &[
    (
        "h200",
        "H200",
        141,
        4_800_000,
        1_979_000,
        989_500,
        "NVIDIA H200 datasheet (github.com/astroC86/gpu-datasheet): 4.8 TB/s; 3,958 and 1,979 T with sparsity, halved",
    ),
    (
        "h10080gbhbm3",
        "H100 SXM",
        80,
        3_350_000,
        1_979_000,
        989_500,
        "NVIDIA H100 datasheet (github.com/astroC86/gpu-datasheet): 3.35 TB/s; 3,958 and 1,979 T with sparsity, halved",
    ),
    (
        "rtx4090",
        "RTX 4090",
        24,
        1_008_000,
        660_600,
        0,
        "waredb.com, NVIDIA GeForce RTX 4090: 1008 GB/s, INT8 660.60 T dense",
    ),
    ("rtx4070", "RTX 4070", 12, 504_200, 0, 0, "fpsbench.com, GeForce RTX 4070: 504.2 GB/s"),
    ("rtx3090", "RTX 3090", 24, 936_200, 0, 0, "github.com/xiaozheyao/triteia, configs/gpus/specs.py: 936.2 GB/s"),
];

/// The limits of the card that a name on the command line or from a driver refers to. None for an unknown card.
pub fn limits(name: &str) -> Option<Limits> {
    nvidia(name).or_else(|| crate::find(name).ok().map(|card| of(&card)))
}

fn of(card: &Profile) -> Limits {
    let limit = |key: &str| card.limits.get(key).cloned();
    let title = card.title.trim_start_matches("AMD ").trim_start_matches("Instinct ");
    let short = title.strip_prefix("Radeon ").filter(|rest| rest.starts_with("RX")).unwrap_or(title);
    let integrated = card.get("integrated") != 0;
    Limits {
        card: card.name.clone(),
        title: short.to_owned(),
        target: card.processor().to_owned(),
        integrated,
        memory: card.properties.get("totalGlobalMem").filter(|_| !integrated).cloned(),
        bandwidth: limit("memoryBandwidth"),
        int8: limit("int8Matrix"),
        fp16: limit("fp16Matrix"),
    }
}

fn nvidia(name: &str) -> Option<Limits> {
    let target = crate::nvidia_target(name)?;
    let key = crate::plain::plain(name);
    let key = key.strip_prefix("nvidia").unwrap_or(&key);
    let key = key.strip_prefix("geforce").unwrap_or(key);
    let number = |value: i64, unit: i64, origin: &str| {
        (value > 0).then(|| Number { value: value.saturating_mul(unit), origin: origin.to_owned() })
    };
    let known = NVIDIA.iter().find(|row| row.0 == key);
    let (title, memory, bandwidth, int8, fp16, origin) =
        known.map_or((name, 0, 0, 0, 0, ""), |row| (row.1, row.2, row.3, row.4, row.5, row.6));
    Some(Limits {
        card: name.to_ascii_lowercase(),
        title: title.trim_start_matches("NVIDIA ").trim_start_matches("GeForce ").to_owned(),
        target: target.to_owned(),
        integrated: false,
        memory: number(memory, 1 << 30, origin),
        bandwidth: number(bandwidth, 1_000_000, origin),
        int8: number(int8, 1_000_000_000, origin),
        fp16: number(fp16, 1_000_000_000, origin),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_an_origin_and_a_plausible_size() {
        let all = crate::all().iter().map(of).chain(NVIDIA.iter().filter_map(|row| nvidia(row.0)));
        let (mut bandwidths, mut peaks) = (0, 0);
        for card in all {
            for (number, least, most) in
                [(&card.bandwidth, 1e11, 1e13), (&card.int8, 1e13, 1e16), (&card.fp16, 1e13, 1e16)]
            {
                let Some(number) = number else { continue };
                assert!(number.origin.len() > 10, "{}: {}", card.card, number.origin);
                assert!((least..most).contains(&(number.value as f64)), "{}: {}", card.card, number.value);
                peaks += 1;
            }
            bandwidths += usize::from(card.bandwidth.is_some());
        }
        assert!(bandwidths >= 18 && peaks >= 30, "{bandwidths} bandwidths, {peaks} limits");
    }

    #[test]
    fn a_card_is_found_by_the_names_that_people_and_drivers_use() {
        let card = limits("AMD Radeon RX 9070 XT").expect("a card");
        assert_eq!((card.title.as_str(), card.bandwidth.map(|it| it.value)), ("RX 9070 XT", Some(640_000_000_000)));
        assert_eq!(limits("NVIDIA H200").and_then(|card| card.int8).map(|it| it.value), Some(1_979_000_000_000_000));
        // A variant is a different card and may have another bandwidth.
        assert_eq!(limits("RTX 4070 Ti").map(|card| card.bandwidth), Some(None));
        let small = limits("780m").expect("a card");
        assert!(small.integrated && small.bandwidth.is_none() && small.memory.is_none());
        assert_eq!(limits("rx-9999"), None);
    }
}
