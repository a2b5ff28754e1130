//! The processor and features of a code object, from its ELF flags.
//!
//! Sources: LLVM's AMDGPUUsage ("ELF header e_flags") and `llvm/include/llvm/BinaryFormat/ELF.h`. The `gpu` crate
//! defines target ids and their spelling.

pub use gpu::{TargetId, processor_in, processors_in};

/// The content of a code object's `e_flags`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flags {
    pub target: TargetId,
    /// V6 generic targets have a version, 1 or more.
    pub generic_version: u8,
}

/// Reads `e_flags` by the rules of the code object version; None if the processor number is unknown.
pub fn from_flags(flags: u32, version: u8) -> Option<Flags> {
    let mach = (flags & 0xff) as u8;
    let (_, processor) = MACH.iter().find(|(number, _)| *number == mach)?;
    let mut target = TargetId::new(*processor);
    if version >= 4 {
        // The values are 0 not supported, 1 any, 2 off, 3 on.
        for (feature, shift) in [("xnack", 8), ("sramecc", 10)] {
            match (flags >> shift) & 3 {
                2 => target.set(feature, false),
                3 => target.set(feature, true),
                _ => {}
            }
        }
    } else {
        // V2 and V3 have one bit per feature; an unset bit means "off or not supported".
        for (feature, bit) in [("xnack", 0x100), ("sramecc", 0x200)] {
            if version == 3 && flags & bit != 0 {
                target.set(feature, true);
            }
        }
    }
    let generic_version = if version >= 6 { (flags >> 24) as u8 } else { 0 };
    Some(Flags { target, generic_version })
}

/// The numbers and processors of EF_AMDGPU_MACH_AMDGCN_*. A test compares them with the output of `llvm-readelf`.
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

    /// Both lists must contain the same processors. The failure message names the incomplete list.
    #[test]
    fn every_processor_of_the_flags_is_one_of_the_rooms_of_targets() {
        for (_, name) in MACH {
            let known = gpu::arch::AMD.contains(name) || gpu::arch::is_generic_target(name);
            assert!(known, "crates/gpu/src/arch.rs does not have {name}");
        }
        for name in gpu::arch::AMD {
            assert!(
                MACH.iter().any(|(_, known)| known == name),
                "MACH in crates/codeobject/src/target.rs lacks {name}"
            );
        }
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
}
