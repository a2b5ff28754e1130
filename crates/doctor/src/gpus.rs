//! AMD GPUs, from the topology that the kernel's compute driver publishes (`/sys/class/kfd/kfd/topology/nodes`).
//!
//! The ROCm runtime reads the same files, so they show which GPUs a server can find. Access to `/dev/kfd` decides
//! whether it may use them.

use crate::host::{Host, Look};
use schemars::JsonSchema;
use serde::Serialize;

const NODES: &str = "/sys/class/kfd/kfd/topology/nodes";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gpu {
    pub node: String,
    /// gfx target, computed from `gfx_target_version` (120001 is gfx1201).
    pub target: Option<String>,
    pub name: Option<String>,
    /// The card, found by device id and compute units, which together distinguish a 9070 XT from a 9070.
    pub card: Option<String>,
    pub vendor_id: Option<u64>,
    pub device_id: Option<u64>,
    pub vram_bytes: Option<u64>,
    pub wavefront: Option<u64>,
    pub compute_units: Option<u64>,
    /// The number in `/dev/dri/renderD...`, the second device file that a runtime opens.
    pub render_minor: Option<u64>,
    pub integrated: bool,
}

impl Gpu {
    pub fn target_or_unknown(&self) -> &str {
        self.target.as_deref().unwrap_or("gfx?")
    }
}

/// `/dev/kfd`: whether it exists, and whether we could open it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KfdDevice {
    pub exists: bool,
    pub opens: bool,
    pub error: Option<String>,
}

impl KfdDevice {
    pub fn read(host: &Host) -> KfdDevice {
        let opened = host.opens("/dev/kfd");
        let error = opened.as_ref().err().map(ToString::to_string);
        KfdDevice { exists: host.exists("/dev/kfd"), opens: opened.is_ok(), error }
    }
}

pub fn read(host: &Host) -> Vec<Gpu> {
    let nodes = host.entries(NODES);
    nodes.iter().filter_map(|node| read_node(host, node)).collect()
}

/// A node without SIMDs is a CPU.
fn read_node(host: &Host, node: &str) -> Option<Gpu> {
    let text = host.text(format!("{NODES}/{node}/properties")).found().cloned()?;
    let get = |name: &str| property(&text, name);
    let simds = get("simd_count").filter(|&count| count > 0)?;
    let compute_units = get("simd_per_cu").and_then(|per| simds.checked_div(per));
    Some(Gpu {
        node: node.to_owned(),
        card: card(get("device_id"), compute_units),
        target: get("gfx_target_version").filter(|&version| version > 0).map(target),
        name: host.line(format!("{NODES}/{node}/name")).found().filter(|name| !name.is_empty()).cloned(),
        vendor_id: get("vendor_id"),
        device_id: get("device_id"),
        vram_bytes: vram(host, node),
        wavefront: get("wave_front_size"),
        compute_units,
        render_minor: get("drm_render_minor").filter(|&minor| minor > 0),
        // An APU's node has both CPU cores and SIMDs.
        integrated: get("cpu_cores_count").is_some_and(|cores| cores > 0),
    })
}

fn card(device: Option<u64>, units: Option<u64>) -> Option<String> {
    let (device, units) = (i64::try_from(device?).ok()?, i64::try_from(units?).ok()?);
    let number = |card: &gpu::Profile, name: &str| card.properties.get(name).map(|number| number.value);
    let fits = |card: &&gpu::Profile| {
        number(card, "pciDeviceId") == Some(device) && number(card, "computeUnits") == Some(units)
    };
    gpu::all().iter().find(fits).map(|card| card.name.clone())
}

/// Heaps 1 and 2 are the frame buffer, visible to the CPU or not (`HSA_HEAPTYPE_FRAME_BUFFER_*` in hsakmttypes.h).
fn vram(host: &Host, node: &str) -> Option<u64> {
    let banks = format!("{NODES}/{node}/mem_banks");
    let sizes = host.entries(&banks).into_iter().filter_map(|bank| {
        let text = host.text(format!("{banks}/{bank}/properties")).found().cloned()?;
        matches!(property(&text, "heap_type"), Some(1 | 2)).then(|| property(&text, "size_in_bytes")).flatten()
    });
    sizes.reduce(u64::saturating_add)
}

fn property(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(' ')?;
        (key == name).then(|| value.trim().parse().ok()).flatten()
    })
}

/// The target of a version number: two decimal digits each for major, minor and stepping. In the name, minor and
/// stepping are hexadecimal: 90010 is gfx90a.
fn target(version: u64) -> String {
    format!("gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100)
}

impl Gpu {
    /// Whether a process has an open compute context: `/sys/class/kfd/kfd/proc/PID` exists.
    pub fn used_by(host: &Host, pid: u32) -> bool {
        matches!(host.names(format!("/sys/class/kfd/kfd/proc/{pid}")), Look::Found(_) | Look::Denied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_numbers_become_targets() {
        for (version, name) in
            [(120001, "gfx1201"), (90010, "gfx90a"), (90402, "gfx942"), (110000, "gfx1100"), (90000, "gfx900")]
        {
            assert_eq!(target(version), name);
        }
    }
}
