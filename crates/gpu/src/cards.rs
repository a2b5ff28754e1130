//! The embedded cards, and how a name on the command line finds one.

use crate::plain::plain;
use crate::profile::{Profile, ProfileError};
use crate::target::TargetId;
use std::sync::OnceLock;

macro_rules! cards {
    ($($name:literal),* $(,)?) => {
        &[$(include_str!(concat!("../profiles/", $name, ".toml"))),*]
    };
}

/// The cards, ordered by generation for display.
const TEXTS: &[&str] = cards!(
    "rx-580",
    "vega-56",
    "vega-64",
    "mi25",
    "radeon-vii",
    "mi50",
    "mi60",
    "mi100",
    "mi210",
    "mi250x",
    "mi300x",
    "mi325x",
    "mi350x",
    "mi355x",
    "rx-5700-xt",
    "rx-6600-xt",
    "rx-6700-xt",
    "rx-6800",
    "rx-6800-xt",
    "rx-6900-xt",
    "rx-7600",
    "rx-7800-xt",
    "rx-7900-gre",
    "rx-7900-xt",
    "rx-7900-xtx",
    "780m",
    "890m",
    "8060s",
    "rx-9060-xt",
    "rx-9070",
    "rx-9070-xt",
    "r9700",
);

pub fn all() -> &'static [Profile] {
    static CARDS: OnceLock<Vec<Profile>> = OnceLock::new();
    CARDS.get_or_init(|| TEXTS.iter().filter_map(|text| Profile::parse(text).ok()).collect())
}

/// Finds a card by name or alias, or the reference card of a bare target. For a target with features (`gfx90a:xnack+`),
/// returns the reference card with those features.
pub fn find(wanted: &str) -> Result<Profile, ProfileError> {
    let key = plain(wanted);
    let bare = core(&key);
    let target = TargetId::named(wanted).ok();
    let processor = target.as_ref().map_or_else(|| key.clone(), |target| plain(&target.processor));
    let cards = mentioning(&[bare, &processor]);
    let named = |card: &&Profile| plain(&card.name) == key || card.aliases.iter().any(|alias| plain(alias) == key);
    if let Some(card) = cards.iter().find(named) {
        return Ok(card.clone());
    }
    if let Some(card) = cards.iter().find(|card| core(&plain(&card.name)) == bare) {
        return Ok(card.clone());
    }
    if let Some(target) = target {
        let reference = cards.iter().find(|card| card.reference && card.processor() == target.processor);
        let mut card =
            reference.cloned().ok_or_else(|| ProfileError::NoReference { target: target.processor.clone() })?;
        if target.features().next().is_some() {
            card.gcn_arch_name = target.to_string();
        }
        return Ok(card);
    }
    if let Some(target) = crate::nvidia_target(wanted) {
        return Err(ProfileError::Nvidia { wanted: wanted.to_owned(), target });
    }
    // Also compares names without the series, because `9070tx` is near `9070xt`. A number alone is near too many names,
    // so the names must begin alike.
    let alike = |card: &&Profile| core(&plain(&card.name)).as_bytes().first() == bare.as_bytes().first();
    let near = near::near_by(&key, all(), |card| plain(&card.name))
        .or_else(|| near::near_by(bare, all().iter().filter(alike), |card| core(&plain(&card.name)).to_owned()))
        .map(|card| card.name.clone())
        .or_else(|| near::near(&key, crate::nvidia_names()).map(str::to_owned));
    Err(ProfileError::Unknown { wanted: wanted.to_owned(), near })
}

/// The cards whose text contains one of these words, before the text is parsed. Parsing all cards would take longer
/// than a whole query. A card's name, aliases and target are in its text.
fn mentioning(words: &[&str]) -> Vec<Profile> {
    static PLAIN: OnceLock<Vec<String>> = OnceLock::new();
    // Name, aliases and target come before the first table.
    let head = |text: &'static str| text.split_once("\n[").map_or(text, |(head, _)| head);
    let plain = PLAIN.get_or_init(|| TEXTS.iter().map(|text| plain(head(text))).collect());
    let mentions = |plain: &str| words.iter().any(|word| plain.contains(word));
    let texts = TEXTS.iter().zip(plain).filter(|(_, plain)| mentions(plain));
    texts.filter_map(|(text, _)| Profile::parse(text).ok()).collect()
}

/// Removes the vendor and the series: `AMD Radeon RX 9070 XT`, `9070xt` and `rx-9070-xt` are the same card.
fn core(plain: &str) -> &str {
    let mut rest = plain;
    for word in ["amd", "radeon", "instinct", "rx"] {
        rest = rest.strip_prefix(word).filter(|rest| !rest.is_empty()).unwrap_or(rest);
    }
    rest.strip_suffix("graphics").unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_profile_is_valid_and_says_where_its_numbers_come_from() {
        assert_eq!(all().len(), TEXTS.len());
        for card in all() {
            for (name, number) in &card.properties {
                assert!(number.origin.len() > 10, "{}: {name} has no origin", card.name);
            }
            let wave = if card.target().ok().and_then(|t| t.version()).is_some_and(|v| v.0 >= 10) { 32 } else { 64 };
            assert_eq!(card.get("warpSize"), wave, "{}", card.name);
            let units = card.get("computeUnits") / if wave == 32 { 2 } else { 1 };
            assert_eq!(card.get("multiProcessorCount"), units, "{}", card.name);
        }
    }

    #[test]
    fn names_are_unique_and_each_target_has_one_reference() {
        let mut names = BTreeSet::new();
        let mut cores = BTreeSet::new();
        let mut targets = BTreeSet::new();
        for card in all() {
            for name in card.aliases.iter().chain([&card.name]) {
                assert!(names.insert(plain(name)), "{name} twice");
            }
            assert!(cores.insert(core(&plain(&card.name)).to_owned()), "{} twice without its series", card.name);
            if card.reference {
                assert!(targets.insert(card.processor()), "{} has two reference cards", card.processor());
            }
        }
        for card in all() {
            assert!(targets.contains(card.processor()), "{} has no reference card", card.processor());
        }
    }

    #[test]
    fn bare_targets_mean_their_reference_cards() {
        for (target, card) in [
            ("gfx803", "rx-580"),
            ("gfx900", "vega-64"),
            ("gfx906", "mi50"),
            ("gfx908", "mi100"),
            ("gfx90a", "mi210"),
            ("gfx942", "mi300x"),
            ("gfx1010", "rx-5700-xt"),
            ("gfx1030", "rx-6900-xt"),
            ("gfx1100", "rx-7900-xtx"),
            ("gfx1101", "rx-7800-xt"),
            ("gfx1102", "rx-7600"),
            ("gfx1151", "8060s"),
            ("gfx1200", "rx-9060-xt"),
            ("gfx1201", "rx-9070-xt"),
        ] {
            assert_eq!(find(target).map(|found| found.name), Ok(card.to_owned()));
        }
        for name in ["9070xt", "AMD Radeon RX 9070 XT", "Radeon 9070 XT", "rx9070xt"] {
            assert_eq!(find(name).map(|card| card.name), Ok("rx-9070-xt".to_owned()), "{name}");
        }
        assert_eq!(find("RX 9070 XT").map(|card| card.gcn_arch_name), Ok("gfx1201".to_owned()));
        assert_eq!(find("gfx90a:xnack+").map(|card| card.gcn_arch_name), Ok("gfx90a:xnack+".to_owned()));
    }

    #[test]
    fn a_slip_gets_a_suggestion() {
        let error = find("rx-9070-xtx").expect_err("no such card").to_string();
        assert!(error.contains("Did you mean rx-9070-xt?"), "{error}");
        assert!(find("gfx1250").expect_err("no card").to_string().contains("no reference card"));
        assert!(find(&"x".repeat(4000)).is_err());
    }
}
