//! Cards as a Vulkan driver describes them: the answers to the queries of a program, stored with their origin.

use std::collections::BTreeMap;

/// The stored answers of RADV for the cards of Mesa's stand-in.
const STORED: &str = include_str!("properties.tsv");

/// A number or a text that a driver reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Number(i64),
    Text(String),
}

/// A card and the environment of the process that uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VulkanProfile {
    /// The name in Mesa's stand-in, or the driver's name for a reported card.
    pub card: String,
    pub target: String,
    /// The fields of the structures that the driver fills: `VkPhysicalDeviceProperties.vendorID`.
    pub fields: BTreeMap<String, Fact>,
    /// Structures that the driver does not fill.
    pub(super) unfilled: Vec<String>,
    pub extensions: Vec<String>,
    /// The cooperative matrices, nine numbers each; None if they are unknown.
    pub(super) matrices: Option<Vec<i64>>,
    /// The queue families, three numbers each.
    pub(super) queues: Vec<i64>,
    /// The memory types and heaps, two numbers each.
    pub(super) memory: [Vec<i64>; 2],
    /// The environment variables of the process.
    pub environment: Vec<(String, String)>,
}

impl VulkanProfile {
    pub(super) fn empty(card: &str, target: &str) -> VulkanProfile {
        VulkanProfile {
            card: card.to_owned(),
            target: target.to_owned(),
            fields: BTreeMap::new(),
            unfilled: Vec::new(),
            extensions: Vec::new(),
            matrices: None,
            queues: Vec::new(),
            memory: [Vec::new(), Vec::new()],
            environment: Vec::new(),
        }
    }

    /// The names and targets of the stored cards.
    pub fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
        rows().filter_map(|(key, value, _)| Some((key.strip_prefix("C ")?, value)))
    }

    /// All stored cards.
    pub fn all() -> impl Iterator<Item = VulkanProfile> {
        VulkanProfile::known().map(|(card, target)| stored(card, target))
    }

    /// Finds a card by the stand-in's name, by target, or by the name of a card with a known target.
    pub fn find(given: &str) -> Option<VulkanProfile> {
        let own = VulkanProfile::known().find(|(card, _)| card.eq_ignore_ascii_case(given));
        let found = own.or_else(|| {
            let profile = gpu::find(given).ok();
            let wanted = profile.as_ref().map_or(given, |profile| profile.processor());
            VulkanProfile::known().find(|(_, target)| target.eq_ignore_ascii_case(wanted))
        });
        found.map(|(card, target)| stored(card, target))
    }

    /// Sets an environment variable of the process.
    pub fn under(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// A field of a structure. Later structures of Vulkan repeat fields of earlier ones under the same name.
    pub fn fact(&self, structure: &str, field: &str) -> Option<&Fact> {
        self.fields.get(&format!("{structure}.{field}")).or_else(|| {
            let end = format!(".{field}");
            let mut found = self.fields.iter().filter(|(key, _)| key.ends_with(&end)).map(|(_, fact)| fact);
            let first = found.next()?;
            found.all(|other| other == first).then_some(first)
        })
    }

    pub(super) fn number(&self, structure: &str, field: &str) -> Option<i64> {
        match self.fact(structure, field)? {
            Fact::Number(number) => Some(*number),
            Fact::Text(_) => None,
        }
    }

    pub(super) fn has(&self, extension: &str) -> bool {
        self.extensions.iter().any(|known| known == extension)
    }
}

/// Key, value and cards of each line.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    STORED.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.next()?, fields.next()?))
    })
}

fn stored(card: &str, target: &str) -> VulkanProfile {
    let mut profile = VulkanProfile::empty(card, target);
    let of_card = |cards: &str| match cards.strip_prefix('-') {
        Some(others) => !others.split(',').any(|other| other == card),
        None => cards == "*" || cards.split(',').any(|own| own == card),
    };
    let numbers =
        |value: &str| -> Vec<i64> { value.split([' ', ';']).filter_map(|number| number.parse().ok()).collect() };
    profile.matrices = Some(Vec::new());
    for (key, value, _) in rows().filter(|(_, _, cards)| of_card(cards)) {
        match key.split_once(' ').unwrap_or((key, "")) {
            ("E", name) => profile.extensions.push(name.to_owned()),
            ("N", name) => profile.unfilled.push(name.to_owned()),
            ("P", name) => {
                let fact = match value.strip_prefix('"') {
                    Some(text) => Fact::Text(text.trim_end_matches('"').to_owned()),
                    None => match value.parse() {
                        Ok(number) => Fact::Number(number),
                        Err(_) => continue,
                    },
                };
                profile.fields.insert(name.to_owned(), fact);
            }
            ("M", _) => profile.matrices = Some(numbers(value)),
            ("Q", _) => profile.queues = numbers(value),
            ("T", _) => profile.memory[0] = numbers(value),
            ("H", _) => profile.memory[1] = numbers(value),
            _ => {}
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::{Fact, VulkanProfile};

    #[test]
    fn every_card_of_the_stand_in_has_a_profile() {
        assert_eq!(VulkanProfile::all().count(), 20);
        let of = |given: &str| VulkanProfile::find(given).map(|of| of.card);
        assert_eq!(of("rx-9070-xt"), Some("gfx1201".into()));
        assert_eq!(of("polaris12"), Some("polaris12".into()));
        assert_eq!(of("gfx1151"), None);
        for profile in VulkanProfile::all() {
            let field = |of: &str, name: &str| profile.fact(of, name).cloned();
            assert_eq!(field("VkPhysicalDeviceProperties", "vendorID"), Some(Fact::Number(0x1002)));
            assert_eq!(field("VkPhysicalDeviceDriverProperties", "driverID"), Some(Fact::Number(3)));
            assert!(profile.extensions.len() > 100 && profile.queues.len() % 3 == 0, "{}", profile.card);
            assert!(profile.matrices.is_some_and(|list| list.len() % 9 == 0), "{}", profile.card);
        }
    }

    #[test]
    fn a_variable_set_twice_has_its_last_value() {
        let mut profile = VulkanProfile::find("navi21").expect("kept");
        profile.under("GGML_VK_DISABLE_MMVQ", "1");
        profile.under("GGML_VK_DISABLE_MMVQ", "2");
        assert_eq!(profile.environment, [("GGML_VK_DISABLE_MMVQ".to_owned(), "2".to_owned())]);
    }
}
