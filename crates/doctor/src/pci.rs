//! Display and accelerator cards on the PCI bus, and the driver that each is bound to.
//!
//! A card that is missing from the compute topology is the most common reason for "no GPU found". This module finds
//! such cards.

use crate::host::Host;
use schemars::JsonSchema;
use serde::Serialize;

const DEVICES: &str = "/sys/bus/pci/devices";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Card {
    pub slot: String,
    pub vendor: u32,
    pub device: u32,
    pub driver: Option<String>,
}

impl Card {
    pub fn amd(&self) -> bool {
        self.vendor == 0x1002
    }

    pub fn nvidia(&self) -> bool {
        self.vendor == 0x10de
    }
}

/// Whether the bus is visible at all: a container, a virtual machine or a file tree may have none.
pub fn is_shown(host: &Host) -> bool {
    !host.entries(DEVICES).is_empty()
}

/// The cards of AMD and NVIDIA with class 03 (display) or 12 (processing accelerators: MI and data-centre cards).
pub fn read(host: &Host) -> Vec<Card> {
    let card = |slot: String| {
        let hex = |file: &str| {
            let line = host.line(format!("{DEVICES}/{slot}/{file}")).found().cloned()?;
            u32::from_str_radix(line.trim_start_matches("0x"), 16).ok()
        };
        let (class, vendor, device) = (hex("class")?, hex("vendor")?, hex("device")?);
        let driver = host
            .link(format!("{DEVICES}/{slot}/driver"))
            .found()
            .and_then(|link| link.rsplit('/').next().map(str::to_owned));
        let card = Card { slot, vendor, device, driver };
        (matches!(class >> 16, 0x03 | 0x12) && (card.amd() || card.nvidia())).then_some(card)
    };
    host.entries(DEVICES).into_iter().filter_map(card).collect()
}
