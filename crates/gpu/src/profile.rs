//! One card: the properties that its HIP or CUDA runtime would report, each with its origin.

use crate::arch::{Arch, Nvidia};
use crate::cuda_attributes;
use crate::number::Number;
use crate::target::{TargetError, TargetId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The value for `--gpu`: `rx-9070-xt`.
    pub name: String,
    pub title: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Whether a bare target refers to this card.
    #[serde(default)]
    pub reference: bool,
    #[serde(rename = "gcnArchName")]
    pub gcn_arch_name: String,
    pub properties: BTreeMap<String, Number>,
    /// Peak rates that limit the speed of a model ([`crate::limits`]). Only published ones are included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, Number>,
}

/// The properties that every profile must have. The host code under test gets all of them.
pub const PROPERTIES: &[&str] = &[
    "computeUnits",
    "multiProcessorCount",
    "totalGlobalMem",
    "sharedMemPerBlock",
    "warpSize",
    "maxThreadsPerBlock",
    "maxThreadsPerMultiProcessor",
    "regsPerBlock",
    "clockRate",
    "memoryClockRate",
    "memoryBusWidth",
    "l2CacheSize",
    "integrated",
    "pciDeviceId",
    "cooperativeLaunch",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileError {
    Toml(String),
    Missing {
        card: String,
        property: &'static str,
    },
    Range {
        card: String,
        property: String,
        value: i64,
    },
    Target(TargetError),
    Set(String),
    NoSuch {
        name: String,
    },
    Unknown {
        wanted: String,
        near: Option<String>,
    },
    /// A card whose name is known, but that has no profile.
    Nvidia {
        wanted: String,
        target: &'static str,
    },
    NoReference {
        target: String,
    },
}

say::worded! { ProfileError {
    Toml(why) => "gpu-profile-toml",
    Missing { card, property } => "gpu-profile-missing",
    Range { card, property, value } => "gpu-profile-range",
    Target(error) => error,
    Set(assignment) => "gpu-profile-set",
    NoSuch { name } => "gpu-profile-no-such" (name, known = PROPERTIES),
    Unknown { wanted, near } => "gpu-profile-unknown" (wanted, near = near.as_ref().map(|near| say::say!("gpu-profile-near", near))),
    Nvidia { wanted, target } => "gpu-profile-nvidia",
    NoReference { target } => "gpu-profile-no-reference",
}}

say::wraps! { ProfileError { Target(TargetError) }}

impl Profile {
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        let mut profile: Profile = toml::from_str(text).map_err(|e| ProfileError::Toml(e.to_string()))?;
        if profile.is_nvidia() {
            let arch = profile.gcn_arch_name.clone();
            let missing = |property| ProfileError::Missing { card: profile.name.clone(), property };
            cuda_attributes::complete(&arch, &mut profile.properties).map_err(missing)?;
        }
        profile.check()?;
        Ok(profile)
    }

    pub fn to_toml(&self) -> Result<String, ProfileError> {
        toml::to_string(self).map_err(|e| ProfileError::Toml(e.to_string()))
    }

    pub fn target(&self) -> Result<TargetId, TargetError> {
        TargetId::named(&self.gcn_arch_name)
    }

    /// Whether it describes a card for CUDA: `sm_90`.
    pub fn is_nvidia(&self) -> bool {
        self.gcn_arch_name.starts_with("sm_")
    }

    /// The target whose code the card runs. NVIDIA's cards from 9.0 on also run code for their chip alone (`sm_90a`).
    pub fn arch(&self) -> Option<Arch> {
        if !self.is_nvidia() {
            return self.target().ok().map(Arch::Amd);
        }
        let number = self.gcn_arch_name.strip_prefix("sm_")?.parse().ok()?;
        Some(Arch::Nvidia(Nvidia { ptx: false, number, letter: (number >= 90).then_some('a') }))
    }

    /// The bare processor: `gfx90a` of `gfx90a:sramecc+:xnack-`.
    pub fn processor(&self) -> &str {
        self.gcn_arch_name.split(':').next().unwrap_or_default()
    }

    /// The value of a property, or zero if the profile does not have it. `parse` makes sure that all of `PROPERTIES`
    /// are present.
    pub fn get(&self, property: &str) -> i64 {
        self.properties.get(property).map_or(0, |number| number.value)
    }

    /// Overrides a property, as in `--set multiProcessorCount=42`. Its origin then says that it was set by hand.
    pub fn set(&mut self, assignment: &str) -> Result<(), ProfileError> {
        let bad = || ProfileError::Set(assignment.to_owned());
        let (name, value) = assignment.split_once('=').ok_or_else(bad)?;
        if name == "gcnArchName" {
            self.gcn_arch_name = TargetId::named(value)?.to_string();
            return Ok(());
        }
        let value: i64 = value.parse().map_err(|_| bad())?;
        let number = self.properties.get_mut(name).ok_or_else(|| ProfileError::NoSuch { name: name.to_owned() })?;
        *number = Number { value, origin: "set on the command line".to_owned() };
        self.check()
    }

    fn check(&self) -> Result<(), ProfileError> {
        if self.is_nvidia() {
            let most = i64::from(i32::MAX);
            let wrong = |(name, number): &(&String, &Number)| {
                *name != "totalGlobalMem" && !(-1..=most).contains(&number.value)
                    || *name == "multiProcessorCount" && number.value < 1
            };
            return match self.properties.iter().find(wrong) {
                Some((property, number)) => {
                    let (card, value) = (self.name.clone(), number.value);
                    Err(ProfileError::Range { card, property: property.clone(), value })
                }
                None => Ok(()),
            };
        }
        self.target()?;
        for &property in PROPERTIES {
            let number = self
                .properties
                .get(property)
                .ok_or_else(|| ProfileError::Missing { card: self.name.clone(), property })?;
            let most = if property == "totalGlobalMem" { 1 << 46 } else { i64::from(i32::MAX) };
            let least =
                i64::from(!matches!(property, "integrated" | "cooperativeLaunch" | "pciDeviceId" | "l2CacheSize"));
            let wave = property != "warpSize" || matches!(number.value, 32 | 64);
            if number.value < least || number.value > most || !wave {
                let (card, value) = (self.name.clone(), number.value);
                return Err(ProfileError::Range { card, property: property.to_owned(), value });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Profile {
        crate::find("rx-7900-xtx").expect("a card")
    }

    #[test]
    fn a_what_if_keeps_its_origin() {
        let mut profile = card();
        profile.set("multiProcessorCount=42").expect("a known property");
        assert_eq!(profile.get("multiProcessorCount"), 42);
        assert_eq!(profile.properties["multiProcessorCount"].origin, "set on the command line");
    }

    #[test]
    fn nonsense_is_refused_with_its_name() {
        for (text, said) in [
            ("multiProcessorCount", "NAME=NUMBER"),
            ("cores=3", "no such property"),
            ("warpSize=33", "which no GPU has"),
            ("multiProcessorCount=0", "which no GPU has"),
            ("gcnArchName=vega", "not a GPU target"),
        ] {
            let error = card().set(text).expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        let profile = card();
        assert_eq!(Profile::parse(&profile.to_toml().expect("TOML")), Ok(profile));
    }
}
