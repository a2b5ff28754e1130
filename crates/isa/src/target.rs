//! The processors in the tables, by LLVM's names, and what a name implies about the encoding.

use crate::layout::Generation;

/// One row per processor, in the order of the table's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    pub name: &'static str,
    pub generation: Generation,
}

macro_rules! targets {
    ($($generation:ident: $($name:literal)*;)*) => {
        /// Every processor with a column in the tables. A generic target has its own column, because LLVM knows it by
        /// name.
        pub const TARGETS: &[Target] = &[$($(Target { name: $name, generation: Generation::$generation },)*)*];
    };
}

targets! {
    Gfx8: "gfx803";
    Gfx9: "gfx900" "gfx902" "gfx904" "gfx906" "gfx908" "gfx909" "gfx90a" "gfx90c" "gfx942" "gfx950"
          "gfx9-generic" "gfx9-4-generic";
    Gfx10: "gfx1010" "gfx1011" "gfx1012" "gfx1013" "gfx1030" "gfx1031" "gfx1032" "gfx1033" "gfx1034" "gfx1035"
           "gfx1036" "gfx10-1-generic" "gfx10-3-generic";
    Gfx11: "gfx1100" "gfx1101" "gfx1102" "gfx1103" "gfx1150" "gfx1151" "gfx1152" "gfx1153" "gfx11-generic";
    Gfx12: "gfx1200" "gfx1201" "gfx12-generic";
    Gfx125: "gfx1250" "gfx1251";
}

/// Processors that are decoded with the column of another one, because their instructions are the same. LLVM's features
/// for gfx801, gfx802 and gfx805 (`FeatureISAVersion8_*`) differ from those of gfx803 only in bugs, rates and XNACK.
/// gfx940 and gfx941, which LLVM no longer has, were gfx942 with stores forced to system scope. gfx12-5-generic is the
/// common subset of gfx1250 and gfx1251.
const ALIKE: &[(&str, &str)] = &[
    ("gfx801", "gfx803"),
    ("gfx802", "gfx803"),
    ("gfx805", "gfx803"),
    ("gfx940", "gfx942"),
    ("gfx941", "gfx942"),
    ("gfx12-5-generic", "gfx1250"),
];

impl Target {
    /// The processor of a target id: `gfx90a:sramecc+:xnack-` is gfx90a. None if no table covers it.
    pub fn find(id: &str) -> Option<&'static Target> {
        let name = id.split(':').next().unwrap_or(id);
        let name = ALIKE.iter().find(|(alike, _)| *alike == name).map_or(name, |(_, column)| column);
        TARGETS.iter().find(|target| target.name == name)
    }

    pub(crate) fn column(&self) -> Option<usize> {
        TARGETS.iter().position(|target| target.name == self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processors without a table: the encodings before gfx8, and those that the LLVM tools used here do not have yet.
    const NOT_COVERED: &[&str] = &[
        "gfx600", "gfx601", "gfx602", "gfx700", "gfx701", "gfx702", "gfx703", "gfx704", "gfx705", "gfx810", "gfx1170",
        "gfx1171", "gfx1172", "gfx1310",
    ];

    #[test]
    fn every_target_has_a_table_or_is_named_as_one_without() {
        for name in gpu::arch::AMD.iter().copied().chain(gpu::arch::generic_targets()) {
            let covered = Target::find(name).is_some();
            assert_ne!(
                covered,
                NOT_COVERED.contains(&name),
                "{name} must stand in TARGETS or ALIKE, or in NOT_COVERED"
            );
        }
        for target in TARGETS {
            let known = gpu::arch::AMD.contains(&target.name) || gpu::arch::is_generic_target(target.name);
            assert!(known, "crates/gpu/src/arch.rs does not have {}", target.name);
        }
    }
}
