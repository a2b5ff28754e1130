//! NVIDIA cards that a dry run can stand in for: their properties, each with its origin.

use crate::plain::plain;
use crate::profile::Profile;
use std::sync::OnceLock;

const TEXTS: &[&str] = &[
    include_str!("../nvidia/a100.toml"),
    include_str!("../nvidia/rtx-4090.toml"),
    include_str!("../nvidia/h200.toml"),
    include_str!("../nvidia/b200.toml"),
    include_str!("../nvidia/rtx-5090.toml"),
];

/// The cards in the order of their generations.
pub fn nvidia_profiles() -> &'static [Profile] {
    static CARDS: OnceLock<Vec<Profile>> = OnceLock::new();
    CARDS.get_or_init(|| TEXTS.iter().filter_map(|text| Profile::parse(text).ok()).collect())
}

/// A card by its name, an alias, or the name that its driver reports.
pub fn nvidia_profile(wanted: &str) -> Option<Profile> {
    let key = plain(wanted);
    let bare = |key: &str| {
        let key = key.strip_prefix("nvidia").unwrap_or(key);
        key.strip_prefix("geforce").unwrap_or(key).to_owned()
    };
    let named = |card: &&Profile| {
        let names = card.aliases.iter().chain([&card.name, &card.title]);
        names.map(|name| plain(name)).any(|name| bare(&name) == bare(&key))
    };
    nvidia_profiles().iter().find(named).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileError;

    #[test]
    fn every_card_is_complete_and_says_where_its_numbers_come_from() {
        assert_eq!(nvidia_profiles().len(), TEXTS.len());
        for card in nvidia_profiles() {
            assert_eq!(crate::nvidia_target(&card.name), Some(card.gcn_arch_name.as_str()), "{}", card.name);
            assert!(card.properties.values().all(|number| number.origin.len() > 5), "{}", card.name);
            let number = card.get("computeCapabilityMajor") * 10 + card.get("computeCapabilityMinor");
            assert_eq!(format!("sm_{number}"), card.gcn_arch_name);
            let reserved = card.get("reservedSharedMemPerBlock");
            assert_eq!(
                card.get("sharedMemPerMultiprocessor") - reserved,
                card.get("sharedMemPerBlockOptin"),
                "{}",
                card.name
            );
        }
    }

    #[test]
    fn people_and_drivers_find_the_same_card() {
        for name in ["rtx-4090", "RTX 4090", "NVIDIA GeForce RTX 4090", "rtx4090"] {
            assert_eq!(nvidia_profile(name).map(|card| card.name).as_deref(), Some("rtx-4090"), "{name}");
        }
        assert_eq!(nvidia_profile("h200").map(|card| card.get("multiProcessorCount")), Some(132));
        assert!(nvidia_profile("rtx-4091").is_none() && nvidia_profile("rx-9070-xt").is_none());
    }

    #[test]
    fn a_card_of_an_unknown_capability_is_refused() {
        let text = nvidia_profile("h200").and_then(|card| card.to_toml().ok()).expect("TOML");
        let text = text.replace("sm_90", "sm_91");
        assert!(matches!(Profile::parse(&text), Err(ProfileError::Missing { .. })));
    }
}
