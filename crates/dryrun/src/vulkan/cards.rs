//! The cards that Mesa's stand-in for the kernel driver can simulate.
//!
//! `libamdgpu_noop_drm_shim.so` knows a fixed list of products by name (mesa: src/amd/drm-shim/amdgpu_devices.c). RADV
//! compiles for them as on the card itself.

use crate::error::DryrunError;

/// A product that the stand-in simulates, and its target in RADV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VulkanCard {
    /// The value for AMDGPU_GPU_ID.
    pub id: &'static str,
    pub target: &'static str,
}

const CARDS: [VulkanCard; 20] = [
    VulkanCard { id: "gfx1201", target: "gfx1201" },
    VulkanCard { id: "navi31", target: "gfx1100" },
    VulkanCard { id: "navi33", target: "gfx1102" },
    VulkanCard { id: "phoenix", target: "gfx1103" },
    VulkanCard { id: "strix1", target: "gfx1150" },
    VulkanCard { id: "navi21", target: "gfx1030" },
    VulkanCard { id: "vangogh", target: "gfx1033" },
    VulkanCard { id: "rembrandt", target: "gfx1035" },
    VulkanCard { id: "raphael_mendocino", target: "gfx1036" },
    VulkanCard { id: "navi10", target: "gfx1010" },
    VulkanCard { id: "vega20", target: "gfx906" },
    VulkanCard { id: "vega10", target: "gfx900" },
    VulkanCard { id: "raven", target: "gfx902" },
    VulkanCard { id: "raven2", target: "gfx909" },
    VulkanCard { id: "renoir", target: "gfx90c" },
    VulkanCard { id: "polaris10", target: "gfx803" },
    VulkanCard { id: "polaris12", target: "gfx803" },
    VulkanCard { id: "stoney", target: "gfx810" },
    VulkanCard { id: "bonaire", target: "gfx704" },
    VulkanCard { id: "pitcairn", target: "gfx601" },
];

impl VulkanCard {
    pub fn all() -> &'static [VulkanCard] {
        &CARDS
    }

    /// Finds a card by the stand-in's name, by its target, or by the name of any known card with that target.
    pub fn find(given: &str) -> Result<VulkanCard, DryrunError> {
        let own = CARDS.iter().find(|card| card.id.eq_ignore_ascii_case(given));
        let target = || {
            let profile = gpu::find(given).ok();
            let wanted = profile.as_ref().map_or(given, |profile| profile.processor());
            CARDS.iter().find(|card| card.target.eq_ignore_ascii_case(wanted))
        };
        own.or_else(target).copied().ok_or_else(|| DryrunError::NoVulkanCard {
            given: given.to_owned(),
            known: CARDS.map(|card| format!("{} ({})", card.id, card.target)).to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_found_by_every_name_that_people_have() {
        let id = |given: &str| VulkanCard::find(given).map(|card| card.id).ok();
        assert_eq!(id("rx-9070-xt"), Some("gfx1201"));
        assert_eq!(id("gfx1100"), Some("navi31"));
        assert_eq!(id("Navi21"), Some("navi21"));
        // Polaris 12 has the target of Polaris 10, so only its own name selects it.
        assert_eq!((id("polaris12"), id("gfx803")), (Some("polaris12"), Some("polaris10")));
        // A card that the stand-in cannot simulate is not replaced by a similar one.
        assert_eq!(id("gfx1151"), None);
    }
}
