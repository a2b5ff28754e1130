//! Target ids: which processor, with which features, a code object is for.
//!
//! Sources: LLVM's AMDGPUUsage ("Target ID", "ELF header e_flags") and `llvm/include/llvm/BinaryFormat/ELF.h`.

use std::fmt;

/// `gfx90a:sramecc+:xnack-`: a processor and the features that must be on (+) or off (-). A feature that is not
/// named may be either.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId {
    pub processor: String,
    /// In canonical (alphabetic) order.
    features: Vec<(String, bool)>,
}

impl TargetId {
    pub fn new(processor: impl Into<String>) -> Self {
        TargetId { processor: processor.into(), features: Vec::new() }
    }

    /// Reads `proc(:feature[+-])*`, and the older `proc+feature` and `proc+feature-other`. None if it is neither.
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

    /// The target in an `amdhsa.target` or a bundle id's triple: what stands from the processor on. Spellings differ in
    /// the fields before it (`amdgcn-amd-amdhsa--gfx90a`, `amdgcn-amd-amdhsa-unknown-gfx942:xnack-`).
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

    /// Some(on) where the feature is named, None where either will do.
    pub fn feature(&self, name: &str) -> Option<bool> {
        self.features.iter().find(|(feature, _)| feature == name).map(|(_, on)| *on)
    }

    pub fn features(&self) -> impl Iterator<Item = (&str, bool)> {
        self.features.iter().map(|(name, on)| (name.as_str(), *on))
    }

    /// Whether `wanted` asks for this target: the same processor, and every feature that `wanted` names equal.
    pub fn answers(&self, wanted: &TargetId) -> bool {
        self.processor == wanted.processor && wanted.features().all(|(name, on)| self.feature(name) == Some(on))
    }

    pub fn is_generic(&self) -> bool {
        self.processor.ends_with("-generic")
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

/// `gfx906+xnack`, as code object V2 and V3 tools wrote it: split from the processor at the first '+'.
fn split_old_features(text: &str) -> (&str, Vec<(&str, bool)>) {
    let Some(at) = text.find('+') else { return (text, Vec::new()) };
    let (processor, rest) = text.split_at(at);
    let names = rest.split('+').filter(|name| !name.is_empty());
    // `sram-ecc` was the old spelling.
    (processor, names.map(|name| (if name == "sram-ecc" { "sramecc" } else { name }, true)).collect())
}

/// What `e_flags` of a code object say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flags {
    pub target: TargetId,
    /// V6 generic targets carry a version, 1 or more.
    pub generic_version: u8,
}

/// Reads `e_flags` by the rules of the code object version; None if the processor number is not known.
pub fn from_flags(flags: u32, version: u8) -> Option<Flags> {
    let mach = (flags & 0xff) as u8;
    let (_, processor) = MACH.iter().find(|(number, _)| *number == mach)?;
    let mut target = TargetId::new(*processor);
    if version >= 4 {
        // 0 not supported, 1 any, 2 off, 3 on.
        for (feature, shift) in [("xnack", 8), ("sramecc", 10)] {
            match (flags >> shift) & 3 {
                2 => target.set(feature, false),
                3 => target.set(feature, true),
                _ => {}
            }
        }
    } else {
        // V2 used the two lowest bits above MACH's predecessor, V3 these; a bit that is not set says "off or not there".
        for (feature, bit) in [("xnack", 0x100), ("sramecc", 0x200)] {
            if version == 3 && flags & bit != 0 {
                target.set(feature, true);
            }
        }
    }
    let generic_version = if version >= 6 { (flags >> 24) as u8 } else { 0 };
    Some(Flags { target, generic_version })
}

/// EF_AMDGPU_MACH_AMDGCN_*: number and processor. `llvm-readelf` is the oracle of the test.
pub const MACH: &[(u8, &str)] = &[
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x50, "gfx1310"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5a, "gfx1251"),
    (0x5b, "gfx12-5-generic"),
    (0x5c, "gfx1172"),
    (0x5d, "gfx1170"),
    (0x5e, "gfx1171"),
    (0x5f, "gfx9-4-generic"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_kept_in_canonical_order() {
        let target = TargetId::parse("gfx90a:xnack-:sramecc+").unwrap();
        assert_eq!(target.to_string(), "gfx90a:sramecc+:xnack-");
        assert_eq!(target.feature("xnack"), Some(false));
        assert_eq!(TargetId::parse("gfx908+sram-ecc+xnack").unwrap().to_string(), "gfx908:sramecc+:xnack+");
        assert!(TargetId::parse("gfx90a:xnack").is_none());
        assert!(TargetId::parse("../etc").is_none());
    }

    #[test]
    fn flags_say_processor_features_and_generic_version() {
        let say = |flags, version| from_flags(flags, version).map(|f| (f.target.to_string(), f.generic_version));
        assert_eq!(say(0x4e, 5), Some(("gfx1201".into(), 0)));
        assert_eq!(say(0x64c, 4), Some(("gfx942:xnack-".into(), 0)));
        assert_eq!(say(0x0100_0059, 6), Some(("gfx12-generic".into(), 1)));
        assert_eq!(say(0x12f, 3), Some(("gfx906:xnack+".into(), 0)));
        assert_eq!(say(0x00, 5), None);
    }

    #[test]
    fn a_wanted_target_without_features_takes_all_variants() {
        let shipped = TargetId::parse("gfx90a:sramecc+:xnack-").unwrap();
        assert!(shipped.answers(&TargetId::parse("gfx90a").unwrap()));
        assert!(shipped.answers(&TargetId::parse("gfx90a:xnack-").unwrap()));
        assert!(!shipped.answers(&TargetId::parse("gfx90a:xnack+").unwrap()));
    }
}
