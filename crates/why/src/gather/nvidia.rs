//! The state of NVIDIA's cards: memory and power as `nvidia-smi` prints them, the link as the PCI bus publishes it.

use crate::facts::State;
use doctor::Host;
use std::process::Stdio;

/// The fields to query. All of these have been in `nvidia-smi --help-query-gpu` since 2014.
const FIELDS: &str = "pci.bus_id,memory.used,memory.total,power.limit,power.default_limit";

/// A card in the output of nvidia-smi.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `0000:0a:00.0`, as the PCI bus spells it.
    slot: String,
    /// Bytes in use, and the total.
    memory: Option<(u64, u64)>,
    /// The power limit in force and the card's default, in watts.
    power: Option<(u64, u64)>,
}

/// The cards' PCI addresses, in the order in which the driver lists them.
pub fn slots(host: &Host) -> Vec<String> {
    let named = |slot: &String| {
        let text = host.text(format!("/proc/driver/nvidia/gpus/{slot}/information")).found().cloned();
        text.is_some_and(|text| text.lines().any(|line| line.starts_with("Model:")))
    };
    host.entries("/proc/driver/nvidia/gpus").into_iter().filter(named).collect()
}

/// Empty if nvidia-smi is missing or fails.
pub fn published(host: &Host) -> Vec<Line> {
    if !host.live() || !host.exists("/proc/driver/nvidia/version") {
        return Vec::new();
    }
    let asked = sys::program::command("nvidia-smi").ok().and_then(|mut program| {
        program.arg(format!("--query-gpu={FIELDS}")).arg("--format=csv,noheader,nounits");
        program.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()
    });
    let Some(output) = asked.filter(|output| output.status.success()) else { return Vec::new() };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(line).collect()
}

/// `00000000:0A:00.0, 1234, 143771, 700.00, 700.00`; values that a card does not have are `[N/A]`.
fn line(text: &str) -> Option<Line> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let [slot, used, total, limit, usual] = fields[..] else { return None };
    // The domain has eight digits here and four on the bus.
    let slot = slot.get(slot.len().checked_sub(12)?..)?.to_ascii_lowercase();
    let mebibytes = |text: &str| text.parse::<u64>().ok()?.checked_mul(1 << 20);
    let watts = |text: &str| text.parse::<f64>().ok().filter(|watts| *watts > 0.0).map(|watts| watts.round() as u64);
    Some(Line { slot, memory: mebibytes(used).zip(mebibytes(total)), power: watts(limit).zip(watts(usual)) })
}

/// `link`: the link of the device in this directory, and its speed.
pub fn state(
    published: &[Line],
    slot: &str,
    place: &str,
    link: impl Fn(&str) -> (Option<(u64, u64)>, Option<String>),
) -> State {
    let own = published.iter().find(|line| line.slot.eq_ignore_ascii_case(slot));
    let (link, link_speed) = link(place);
    State {
        place: if own.is_some() { "nvidia-smi".to_owned() } else { String::new() },
        level: None,
        power: own.and_then(|line| line.power),
        power_file: own.map(|line| line.slot.clone()),
        vram: own.and_then(|line| line.memory).filter(|(_, total)| *total > 0),
        link,
        link_speed,
        link_place: place.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nvidia-smi 580 prints an H200, and a GeForce that does not report its limits.
    #[test]
    fn what_nvidia_smi_prints_is_read() {
        let h200 = line("00000000:0A:00.0, 1234, 143771, 700.00, 700.00").unwrap();
        assert_eq!(h200.slot, "0000:0a:00.0");
        assert_eq!((h200.memory, h200.power), (Some((1234 << 20, 143_771 << 20)), Some((700, 700))));
        let small = line("00000000:01:00.0, 100, 2048, [N/A], [N/A]").unwrap();
        assert_eq!((small.memory, small.power), (Some((100 << 20, 2048 << 20)), None));
        for odd in ["", "No devices were found", "a, b", "1,2,3,4,5", "\u{1f600},1,2,3,4"] {
            assert_eq!(line(odd).and_then(|line| line.power), None, "{odd}");
        }
        let state = state(&[h200], "0000:0a:00.0", "/sys/x", |_| (Some((8, 16)), None));
        assert_eq!((state.link, state.power, state.place.as_str()), (Some((8, 16)), Some((700, 700)), "nvidia-smi"));
    }
}
