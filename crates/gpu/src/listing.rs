//! Lists every known card for readers: its name as printed on the box, its aliases, and its generation.

use crate::plain::plain;
use crate::{TargetId, all, nvidia_target};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name for the command line: `rx-9070-xt`.
    pub name: String,
    /// The product name without the vendor: `RX 9070 XT`.
    pub title: String,
    pub aliases: Vec<String>,
    /// The target: `gfx1201`, `sm_89`.
    pub target: String,
    /// The generation, such as `RDNA 4`; None if it is unknown.
    pub generation: Option<&'static str>,
    /// Whether this card represents its target.
    pub reference: bool,
}

/// AMD's cards, then NVIDIA's, in the order of the generations.
pub fn listed() -> Vec<Listed> {
    let amd = all().iter().map(|card| Listed {
        name: card.name.clone(),
        title: short(&card.title).to_owned(),
        aliases: card.aliases.clone(),
        target: card.processor().to_owned(),
        generation: generation(card.processor()),
        reference: card.reference,
    });
    let nvidia = crate::nvidia_names().filter_map(|name| {
        let target = nvidia_target(name)?;
        Some(Listed {
            name: spaced(name).to_ascii_lowercase().replace(' ', "-"),
            title: spaced(name),
            aliases: Vec::new(),
            target: target.to_owned(),
            generation: generation(target),
            reference: REFERENCES.contains(&name),
        })
    });
    amd.chain(nvidia).collect()
}

/// The best-known card of each NVIDIA compute capability.
const REFERENCES: &[&str] =
    &["p100", "gtx1080ti", "v100", "rtx2080ti", "a100", "rtx3090", "rtx4090", "h100", "b200", "rtx5090"];

/// The title of a card without vendor and series: `RX 9070 XT`. A card that is not listed keeps the given name. Reads
/// only the profile that it needs.
pub fn title(name: &str) -> String {
    let wanted = plain(name);
    match crate::nvidia_names().find(|known| *known == wanted) {
        Some(known) => spaced(known),
        None => crate::find(name).map_or_else(|_| name.to_owned(), |card| short(&card.title).to_owned()),
    }
}

/// The reference card of a target.
pub fn reference(target: &str) -> Option<Listed> {
    listed().into_iter().find(|card| card.reference && card.target == target)
}

fn short(title: &str) -> &str {
    let title = title.split(" (").next().unwrap_or(title);
    let title = title.strip_prefix("AMD ").unwrap_or(title);
    let title = title.strip_prefix("Radeon Instinct ").or_else(|| title.strip_prefix("Instinct ")).unwrap_or(title);
    // `Radeon 780M` and `Radeon VII` have no other name.
    title.strip_prefix("Radeon ").filter(|rest| rest.starts_with("RX ") || rest.starts_with("AI ")).unwrap_or(title)
}

/// `rtx4090` as on the box: `RTX 4090`.
fn spaced(name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    let series = ["RTX", "GTX", "TITAN"].into_iter().find(|series| upper.starts_with(series)).unwrap_or("");
    let rest = upper.strip_prefix(series).unwrap_or(&upper);
    let rest = rest.strip_suffix("TI").map_or_else(|| rest.to_owned(), |number| format!("{number} Ti"));
    if series.is_empty() { rest } else { format!("{series} {rest}") }
}

/// The marketing name of a target's generation; None if no card of this target is known.
pub fn generation(target: &str) -> Option<&'static str> {
    if let Some(capability) = target.strip_prefix("sm_") {
        let digits: String = capability.chars().take_while(char::is_ascii_digit).collect();
        return Some(match digits.parse::<u32>().ok()? {
            50..=53 => "Maxwell",
            60..=62 => "Pascal",
            70 | 72 => "Volta",
            75 => "Turing",
            80 | 86 | 87 => "Ampere",
            89 => "Ada Lovelace",
            90 => "Hopper",
            100 | 103 | 110 | 120 | 121 => "Blackwell",
            _ => return None,
        });
    }
    Some(match TargetId::named(target).ok()?.version()? {
        (6..=8, ..) => "GCN",
        (9, 0, 8) => "CDNA 1",
        (9, 0, 10) => "CDNA 2",
        (9, 4, _) => "CDNA 3",
        (9, 5, _) => "CDNA 4",
        (9, ..) => "GCN 5 (Vega)",
        (10, 1, _) => "RDNA 1",
        (10, 3, _) => "RDNA 2",
        (11, 0, _) => "RDNA 3",
        (11, 5, _) => "RDNA 3.5",
        (12, 0, _) => "RDNA 4",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_card_has_a_title_a_generation_and_a_name_that_finds_it() {
        let mut titles = BTreeSet::new();
        for card in listed() {
            assert!(card.generation.is_some(), "{}", card.name);
            assert!(titles.insert(card.title.clone()), "{} twice", card.title);
            assert!(!card.title.contains("AMD"), "{}", card.title);
            let target = nvidia_target(&card.name).map(str::to_owned);
            let target = target.or_else(|| crate::find(&card.name).ok().map(|card| card.processor().to_owned()));
            assert_eq!(target.as_deref(), Some(card.target.as_str()), "{}", card.name);
            assert_eq!(title(&card.name), card.title);
        }
        let title_of = |name: &str| title(name);
        assert_eq!(title_of("rx-9070-xt"), "RX 9070 XT");
        assert_eq!((title_of("rtx4090"), title_of("gtx-1080-ti")), ("RTX 4090".to_owned(), "GTX 1080 Ti".to_owned()));
        assert_eq!((title_of("780m"), title_of("mi300x")), ("Radeon 780M".to_owned(), "MI300X".to_owned()));
        assert_eq!(title_of("rtx 4070 ti super"), "rtx 4070 ti super");
    }

    #[test]
    fn each_target_has_at_most_one_reference() {
        let mut targets = BTreeSet::new();
        for card in listed().into_iter().filter(|card| card.reference) {
            assert!(targets.insert(card.target.clone()), "{}", card.target);
        }
        assert_eq!(reference("sm_89").map(|card| card.name).as_deref(), Some("rtx-4090"));
        assert_eq!((generation("gfx90a"), generation("gfx906")), (Some("CDNA 2"), Some("GCN 5 (Vega)")));
        assert_eq!(
            (generation("gfx1151"), generation("sm_120a"), generation("x")),
            (Some("RDNA 3.5"), Some("Blackwell"), None)
        );
    }
}
