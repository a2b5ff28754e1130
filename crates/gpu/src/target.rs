//! Target ids: a processor and the features that are fixed on or off (`gfx90a:sramecc+:xnack-`).
//!
//! Syntax and compatibility rules: LLVM AMDGPUUsage, "Target ID".

use std::fmt;

/// `gfx90a:sramecc+:xnack-`: a processor and the features that must be on (+) or off (-). A feature that is not named
/// may have either value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId {
    pub processor: String,
    /// The named features, in canonical (alphabetic) order.
    features: Vec<(String, bool)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetError {
    pub text: String,
}

say::worded! { struct TargetError { text } => "gpu-target-wrong" }

impl TargetId {
    pub fn new(processor: impl Into<String>) -> Self {
        TargetId { processor: processor.into(), features: Vec::new() }
    }

    /// Parses a target as users write it: a known AMD processor with known features.
    pub fn named(text: &str) -> Result<TargetId, TargetError> {
        let old = text.split(':').next().is_some_and(|processor| processor.contains('+'));
        let target = TargetId::parse(text).filter(|_| !old);
        let is_real = |target: &TargetId| {
            is_processor(&target.processor) && target.features().all(|(name, _)| matches!(name, "xnack" | "sramecc"))
        };
        target.filter(is_real).ok_or_else(|| TargetError { text: text.to_owned() })
    }

    /// Parses a target as written in files: `proc(:feature[+-])*`, and the older `proc+feature` and
    /// `proc+feature-other`. Accepts unknown processors. None for any other form.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (processor, old) = split_old_features(parts.next()?);
        let plausible = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if processor.is_empty() || !processor.chars().all(plausible) {
            return None;
        }
        let mut target = TargetId::new(processor);
        for (name, on) in old {
            target.set(name, on);
        }
        for part in parts {
            match (part.strip_suffix('+'), part.strip_suffix('-')) {
                (Some(name), _) if !name.is_empty() => target.set(name, true),
                (_, Some(name)) if !name.is_empty() => target.set(name, false),
                _ => return None,
            }
        }
        Some(target)
    }

    /// The target in an `amdhsa.target` or in the triple of a bundle id: the part from the processor on. The fields
    /// before it have several spellings (`amdgcn-amd-amdhsa--gfx90a`, `amdgcn-amd-amdhsa-unknown-gfx942:xnack-`).
    pub fn from_triple(text: &str) -> Option<Self> {
        let at = text.find("gfx").or_else(|| text.find("amdgcnspirv"))?;
        TargetId::parse(text.get(at..)?)
    }

    pub fn set(&mut self, feature: &str, on: bool) {
        match self.features.binary_search_by(|(name, _)| name.as_str().cmp(feature)) {
            Ok(at) => {
                if let Some(entry) = self.features.get_mut(at) {
                    entry.1 = on;
                }
            }
            Err(at) => self.features.insert(at, (feature.to_owned(), on)),
        }
    }

    /// The value of a feature. None if it is not named, so that it may have either value.
    pub fn feature(&self, name: &str) -> Option<bool> {
        self.features.iter().find(|(feature, _)| feature == name).map(|(_, on)| *on)
    }

    pub fn features(&self) -> impl Iterator<Item = (&str, bool)> {
        self.features.iter().map(|(name, on)| (name.as_str(), *on))
    }

    /// Whether this target satisfies `wanted`: the same processor, and the same value for every feature that `wanted`
    /// names.
    pub fn answers(&self, wanted: &TargetId) -> bool {
        self.processor == wanted.processor && wanted.features().all(|(name, on)| self.feature(name) == Some(on))
    }

    pub fn is_generic(&self) -> bool {
        self.processor.ends_with("-generic")
    }

    /// Major, minor and stepping: the last two hexadecimal digits are minor and stepping. None for a generic target.
    pub fn version(&self) -> Option<(u32, u32, u32)> {
        version(&self.processor)
    }

    /// Whether code built for `code` may be loaded on a device with this target: the processor is the same, and every
    /// feature that the code fixes has the same value here.
    pub fn runs(&self, code: &TargetId) -> bool {
        self.processor == code.processor
            && code.features().all(|(name, on)| self.feature(name).is_none_or(|value| value == on))
    }

    /// The target that `HSA_OVERRIDE_GFX_VERSION` selects: `10.3.0` is gfx1030. Steppings above 9 are decimal there and
    /// hexadecimal in the name (9.0.10 is gfx90a).
    pub fn overridden(value: &str) -> Option<TargetId> {
        let mut parts = value.trim().split('.').map(|part| part.parse::<u32>().ok());
        let (major, minor, stepping) = (parts.next()??, parts.next()??, parts.next()??);
        if parts.next().is_some() || minor > 15 || stepping > 15 {
            return None;
        }
        TargetId::named(&format!("gfx{major}{minor:x}{stepping:x}")).ok()
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, on) in &self.features {
            write!(f, ":{name}{}", if *on { '+' } else { '-' })?;
        }
        Ok(())
    }
}

/// Splits `gfx906+xnack`, the form of tools for code object V2 and V3, at the first '+'.
fn split_old_features(text: &str) -> (&str, Vec<(&str, bool)>) {
    let Some(at) = text.find('+') else { return (text, Vec::new()) };
    let (processor, rest) = text.split_at(at);
    let names = rest.split('+').filter(|name| !name.is_empty());
    // The old spelling is `sram-ecc`.
    (processor, names.map(|name| (if name == "sram-ecc" { "sramecc" } else { name }, true)).collect())
}

/// The processors in a file's name or path, in order: `gfx90a` of `Kernels.so-000-gfx90a-xnack+.hsaco`,
/// `gfx9-4-generic` of `TensileLibrary_gfx9-4-generic.co`. Features are dropped.
pub fn processors_in(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let tail = rest.get(rest.find("gfx")?..)?;
            let word = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
            let end = word(tail);
            // The name of a generic target continues after the dash: gfx12-generic, gfx9-4-generic.
            let longer = ["-generic", "-4-generic", "-1-generic", "-3-generic"].into_iter().find(|more| {
                let after = tail.get(end..).and_then(|after| after.strip_prefix(more));
                after.is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
            });
            let (name, after) = tail.split_at_checked(end + longer.map_or(0, str::len))?;
            rest = if name.len() > 3 { after } else { tail.get(3..)? };
            if is_processor(name) {
                return Some(name);
            }
        }
    })
}

/// The last processor in a name, which is the one that the file is for.
pub fn processor_in(name: &str) -> Option<&str> {
    processors_in(name).last()
}

fn is_processor(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("gfx") else { return false };
    version(name).is_some() || (rest.starts_with(|c: char| c.is_ascii_digit()) && rest.ends_with("-generic"))
}

fn version(name: &str) -> Option<(u32, u32, u32)> {
    let digits = name.strip_prefix("gfx")?;
    let split = digits.len().checked_sub(2).filter(|&at| (1..=2).contains(&at) && digits.is_ascii())?;
    let (major, rest) = digits.split_at(split);
    let mut low = rest.chars().map(|c| c.to_digit(16));
    if !major.bytes().all(|b| b.is_ascii_digit()) || rest.chars().any(|c| c.is_ascii_uppercase()) {
        return None;
    }
    Some((major.parse().ok()?, low.next()??, low.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_as_the_runtime_reads_them() {
        let version = |text: &str| TargetId::named(text).ok().and_then(|target| target.version());
        assert_eq!(version("gfx90a:sramecc+:xnack-"), Some((9, 0, 10)));
        assert_eq!(version("gfx1201"), Some((12, 0, 1)));
        assert_eq!(version("gfx803"), Some((8, 0, 3)));
        assert_eq!(version("gfx12-generic"), None);
    }

    #[test]
    fn names_of_files_tell_whom_they_are_for() {
        assert_eq!(processor_in("TensileLibrary_Type_HH_gfx90a.co"), Some("gfx90a"));
        assert_eq!(processor_in("Kernels.so-000-gfx906-xnack-.hsaco"), Some("gfx906"));
        assert_eq!(processor_in("bundle_0096.gfx12-generic.hsaco"), Some("gfx12-generic"));
        assert_eq!(processor_in("TensileLibrary_lazy_gfx9-4-generic.dat"), Some("gfx9-4-generic"));
        assert_eq!(processors_in("gfx1100/a_gfx1201-xnack+.co").collect::<Vec<_>>(), ["gfx1100", "gfx1201"]);
        for none in ["fmha_bwd.co", "gfx.so", "gfx_gfx", "libgfxstrand.so", "gfx12-generics", ""] {
            assert_eq!(processor_in(none), None, "{none}");
        }
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for text in [
            "",
            "gfx",
            "gfx9",
            "rx-9070-xt",
            "gfx1201:",
            "gfx1201:xnack",
            "gfx1201:fast+",
            "gfx906+xnack",
            "gfx908+sram-ecc",
            "gfxé00",
            "GFX900",
            "gfx123456",
        ] {
            assert!(TargetId::named(text).is_err(), "{text}");
        }
    }

    #[test]
    fn features_decide_what_runs() {
        let parse = |text: &str| TargetId::named(text).expect("a target");
        let mi210 = parse("gfx90a:sramecc+:xnack-");
        assert!(mi210.runs(&parse("gfx90a")));
        assert!(mi210.runs(&parse("gfx90a:xnack-")));
        assert!(!mi210.runs(&parse("gfx90a:xnack+")));
        assert!(!mi210.runs(&parse("gfx908")));
    }

    #[test]
    fn the_override_variable_names_a_target() {
        let target = |value: &str| TargetId::overridden(value).map(|target| target.to_string());
        assert_eq!(target("10.3.0").as_deref(), Some("gfx1030"));
        assert_eq!(target("9.0.10").as_deref(), Some("gfx90a"));
        assert_eq!(target("10.3"), None);
        assert_eq!(target("ten.three.zero"), None);
    }

    #[test]
    fn features_are_kept_in_canonical_order() {
        let target = TargetId::parse("gfx90a:xnack-:sramecc+").expect("a target");
        assert_eq!(target.to_string(), "gfx90a:sramecc+:xnack-");
        assert_eq!(target.feature("xnack"), Some(false));
        let old = TargetId::parse("gfx908+sram-ecc+xnack").map(|target| target.to_string());
        assert_eq!(old.as_deref(), Some("gfx908:sramecc+:xnack+"));
        assert!(TargetId::parse("gfx90a:xnack").is_none());
        assert!(TargetId::parse("../etc").is_none());
    }

    #[test]
    fn a_wanted_target_without_features_takes_all_variants() {
        let parse = |text: &str| TargetId::parse(text).expect("a target");
        let shipped = parse("gfx90a:sramecc+:xnack-");
        assert!(shipped.answers(&parse("gfx90a")));
        assert!(shipped.answers(&parse("gfx90a:xnack-")));
        assert!(!shipped.answers(&parse("gfx90a:xnack+")));
    }
}
