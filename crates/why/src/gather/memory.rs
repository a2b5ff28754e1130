//! The maximum rate of the system's memory, from the firmware table as stored by udev, which every user can read.

use crate::bound::Memory;
use doctor::Host;
use std::collections::BTreeMap;

/// The file to which systemd's `dmi_memory_id` writes the table.
const TABLE: &str = "/run/udev/data/+dmi:id";

/// The sum over all installed modules at their configured speed and width. A board has at most one channel per module,
/// so the sum is an upper bound even if two modules share a channel.
pub fn system_memory(host: &Host) -> Option<(Memory, String)> {
    let text = host.text(TABLE).found().cloned()?;
    let mut modules: BTreeMap<u64, BTreeMap<&str, &str>> = BTreeMap::new();
    for line in text.lines() {
        let Some((number, rest)) = line.strip_prefix("E:MEMORY_DEVICE_").and_then(|rest| rest.split_once('_')) else {
            continue;
        };
        if let (Ok(number), Some((name, value))) = (number.parse(), rest.split_once('=')) {
            modules.entry(number).or_default().insert(name, value);
        }
    }
    let there = |module: &&BTreeMap<&str, &str>| module.get("PRESENT") != Some(&"0");
    let (mut rate, mut names) = (0.0, BTreeMap::<String, u64>::new());
    for module in modules.values().filter(there) {
        let number = |name: &str| module.get(name).and_then(|value| value.parse::<u64>().ok());
        let speed = number("CONFIGURED_SPEED_MTS").or_else(|| number("SPEED_MTS")).filter(|speed| *speed > 0)?;
        let width = number("DATA_WIDTH").filter(|width| (8..=512).contains(width))?;
        rate += speed as f64 * 1e6 * width as f64 / 8.0;
        *names.entry(format!("{}-{speed}", module.get("TYPE").unwrap_or(&"RAM"))).or_default() += 1;
    }
    let words = names.iter().map(|(name, count)| format!("{count} x {name}")).collect::<Vec<_>>().join(", ");
    let origin = format!("{TABLE}: {words}, every module at full speed");
    (rate > 0.0).then_some((Memory { rate, origin }, words))
}
