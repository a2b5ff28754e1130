//! Known GPU targets, how users may write them, and which shipped code a device can use.
//!
//! The map of generic targets is HIP's own (`getGenericTarget` in hip-tests, the runtime's ISA registry) and equals the
//! table "AMDGPU Generic Processors" of LLVM's AMDGPUUsage. This is its only copy.

use crate::target::TargetId;
use std::fmt;

/// AMD processors by LLVM's names, and the generic targets that cover them.
pub const AMD: &[&str] = &[
    "gfx600", "gfx601", "gfx602", "gfx700", "gfx701", "gfx702", "gfx703", "gfx704", "gfx705", "gfx801", "gfx802",
    "gfx803", "gfx805", "gfx810", "gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c",
    "gfx940", "gfx941", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030", "gfx1031",
    "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150",
    "gfx1151", "gfx1152", "gfx1153", "gfx1170", "gfx1171", "gfx1172", "gfx1200", "gfx1201", "gfx1250", "gfx1251",
    "gfx1310",
];

const GENERIC: &[(&str, &[&str])] = &[
    ("gfx9-generic", &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"]),
    ("gfx9-4-generic", &["gfx940", "gfx941", "gfx942", "gfx950"]),
    ("gfx10-1-generic", &["gfx1010", "gfx1011", "gfx1012", "gfx1013"]),
    ("gfx10-3-generic", &["gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"]),
    ("gfx11-generic", &["gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"]),
    ("gfx12-generic", &["gfx1200", "gfx1201"]),
    ("gfx12-5-generic", &["gfx1250", "gfx1251"]),
];

/// AMD's portable target: SPIR-V, which the runtime compiles for the device when it loads it.
pub const SPIRV: &str = "amdgcnspirv";

/// Compute capabilities that NVIDIA has given names to (PTX ISA, "Target directives").
const NVIDIA: &[u32] =
    &[20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121];

/// All generic targets.
pub fn generic_targets() -> impl Iterator<Item = &'static str> {
    GENERIC.iter().map(|(name, _)| *name)
}

pub fn is_generic_target(name: &str) -> bool {
    generic_targets().any(|generic| generic == name)
}

/// The generic target whose code a processor uses if there is no code for the processor itself.
pub fn generic_of(processor: &str) -> Option<&'static str> {
    GENERIC.iter().find(|(_, members)| members.contains(&processor)).map(|(name, _)| *name)
}

/// An NVIDIA target: `sm_90a` is machine code, `compute_90` is PTX. A letter (`a`: only this chip, `f`: its family) is
/// part of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nvidia {
    pub ptx: bool,
    pub number: u32,
    pub letter: Option<char>,
}

impl Nvidia {
    pub fn parse(text: &str) -> Option<Self> {
        let (ptx, rest) = match (text.strip_prefix("sm"), text.strip_prefix("compute")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return None,
        };
        let rest = rest.strip_prefix(['_', '-']).unwrap_or(rest);
        let letter = rest.chars().next_back().filter(|c| matches!(c, 'a' | 'f'));
        let number = rest.trim_end_matches(['a', 'f']);
        if rest.len() > number.len() + 1 {
            return None;
        }
        Some(Nvidia { ptx, number: number.parse().ok()?, letter })
    }

    /// Whether a device with this name can run or compile `code`: machine code with the same major and no higher minor
    /// number, or PTX with any number that is not higher. Code with a letter runs only on that chip.
    fn takes(self, code: Nvidia) -> bool {
        if self.ptx || code == self {
            return code == self;
        }
        match (code.letter, code.ptx) {
            (Some('f'), _) => code.number / 10 == self.number / 10 && code.number <= self.number,
            (Some(_), _) => code.number == self.number && self.letter == code.letter,
            (None, true) => code.number <= self.number,
            (None, false) => code.number / 10 == self.number / 10 && code.number <= self.number,
        }
    }
}

impl fmt::Display for Nvidia {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.ptx { "compute" } else { "sm" };
        write!(f, "{kind}_{}{}", self.number, self.letter.map(String::from).unwrap_or_default())
    }
}

/// A requested target: known, and in canonical spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arch {
    Amd(TargetId),
    Nvidia(Nvidia),
    Spirv,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownArch {
    pub wanted: String,
    pub near: Option<String>,
}

say::worded! { struct UnknownArch { wanted, near } =>
"gpu-target-unknown" (wanted, near = near.as_ref().map(|near| say::say!("gpu-target-near", near))) }

impl Arch {
    /// Parses a target, ignoring case. A card's name (`rx-9070-xt`) selects its target. An unknown name is an error
    /// that suggests the nearest known name.
    pub fn parse(wanted: &str) -> Result<Self, UnknownArch> {
        let text = wanted.trim().to_ascii_lowercase();
        if text == SPIRV {
            return Ok(Arch::Spirv);
        }
        if let Some(nvidia) = Nvidia::parse(&text) {
            let known = NVIDIA.contains(&nvidia.number) && nvidia.letter.is_none_or(|_| nvidia.number >= 90);
            return if known { Ok(Arch::Nvidia(nvidia)) } else { Err(unknown(wanted, &text)) };
        }
        if let Ok(target) = TargetId::named(&text) {
            let processor = target.processor.as_str();
            let known = AMD.contains(&processor) || GENERIC.iter().any(|(name, _)| *name == processor);
            return if known { Ok(Arch::Amd(target)) } else { Err(unknown(wanted, &text)) };
        }
        match crate::cards::find(&text).ok().and_then(|card| card.target().ok()) {
            Some(target) => Ok(Arch::Amd(TargetId::new(target.processor))),
            None => match crate::nvidia_target(&text).and_then(Nvidia::parse) {
                Some(nvidia) => Ok(Arch::Nvidia(nvidia)),
                None => Err(unknown(wanted, &text)),
            },
        }
    }

    /// The shipped target that a device with this target uses: its own first, then the generic one, then code that the
    /// runtime compiles (SPIR-V, PTX). `shipped` are target ids as written in files.
    pub fn takes<'s>(&self, shipped: impl IntoIterator<Item = &'s str>) -> Option<Taken<'s>> {
        shipped.into_iter().filter_map(|code| Some(Taken { code, how: self.how(code)? })).max_by_key(|taken| match self
        {
            // For NVIDIA, prefer the highest number that fits.
            Arch::Nvidia(_) => (taken.how, Nvidia::parse(taken.code).map_or(0, |code| code.number)),
            _ => (taken.how, 0),
        })
    }

    /// The targets whose machine code an AMD device runs, its own first. Empty for other vendors, whose numbers are
    /// compared instead.
    pub fn in_order(&self) -> Vec<&str> {
        match self {
            Arch::Amd(target) => {
                std::iter::once(target.processor.as_str()).chain(generic_of(&target.processor)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn how(&self, code: &str) -> Option<How> {
        match self {
            Arch::Spirv => (code == SPIRV).then_some(How::Own),
            Arch::Nvidia(wanted) => {
                let found = Nvidia::parse(code)?;
                wanted.takes(found).then_some(match (found == *wanted, found.ptx) {
                    (true, _) => How::Own,
                    (false, false) => How::Generic,
                    (false, true) => How::Compiled,
                })
            }
            Arch::Amd(_) if code == SPIRV => Some(How::Compiled),
            Arch::Amd(wanted) => {
                let found = TargetId::named(code).ok()?;
                // If the request does not fix a feature, it may have either value. Code that does not fix a feature
                // runs with both.
                let agree = wanted.features().all(|(name, on)| found.feature(name).is_none_or(|value| value == on));
                match () {
                    () if !agree => None,
                    () if found.processor == wanted.processor => Some(How::Own),
                    () if generic_of(&wanted.processor) == Some(found.processor.as_str()) => Some(How::Generic),
                    () => None,
                }
            }
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arch::Amd(target) => target.fmt(f),
            Arch::Nvidia(nvidia) => nvidia.fmt(f),
            Arch::Spirv => f.write_str(SPIRV),
        }
    }
}

say::named! {
    /// How well shipped code fits the device, in ascending order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum How: key {
        /// Not machine code: the runtime compiles it for the device when it loads it.
        Compiled = "compiled-when-loaded",
        /// Built for a group of devices, or for an older device of the same kind.
        Generic = "generic",
        Own = "own",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken<'s> {
    /// The target id of the code, as written in the file.
    pub code: &'s str,
    pub how: How,
}

fn unknown(wanted: &str, text: &str) -> UnknownArch {
    let nvidia: Vec<String> = NVIDIA.iter().map(|number| format!("sm_{number}")).collect();
    let generic = GENERIC.iter().map(|(name, _)| *name);
    let all = AMD.iter().copied().chain(generic).chain(nvidia.iter().map(String::as_str)).chain([SPIRV]);
    let near = near::near(text, all).map(str::to_owned);
    let shown: String = wanted.chars().take(80).flat_map(char::escape_default).collect();
    UnknownArch { wanted: shown, near }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arch(text: &str) -> Arch {
        Arch::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_target_is_read_in_any_case_and_by_its_cards_name() {
        assert_eq!(arch("GFX1201").to_string(), "gfx1201");
        assert_eq!(arch(" Gfx90A:XNACK-:sramecc+").to_string(), "gfx90a:sramecc+:xnack-");
        assert_eq!(arch("rx 9070 xt").to_string(), "gfx1201");
        assert_eq!((arch("SM_90A").to_string(), arch("sm90").to_string()), ("sm_90a".into(), "sm_90".into()));
        assert_eq!(arch("compute_80").to_string(), "compute_80");
        assert_eq!(arch("gfx12-5-generic").to_string(), "gfx12-5-generic");
    }

    #[test]
    fn what_nobody_knows_is_an_error_with_the_nearest_name() {
        let say = |text: &str| Arch::parse(text).expect_err(text).to_string();
        assert!(say("gfx1202").contains("did you mean gfx120"), "{}", say("gfx1202"));
        assert!(say("gfx12generic").contains("did you mean gfx12-generic"), "{}", say("gfx12generic"));
        assert!(say("sm_91").contains("did you mean sm_90"), "{}", say("sm_91"));
        assert!(say("sm_80a").contains("sm_80"));
        assert!(!say("rubbish here").contains("did you mean"));
        assert!(say("\u{1b}[31m").contains("\\u{1b}"));
    }

    #[test]
    fn a_generic_target_serves_its_members_and_own_code_comes_first() {
        let takes = |wanted: &str, shipped: &[&'static str]| {
            arch(wanted).takes(shipped.iter().copied()).map(|taken| (taken.code, taken.how))
        };
        assert_eq!(takes("gfx1201", &["gfx1100", "gfx12-generic"]), Some(("gfx12-generic", How::Generic)));
        assert_eq!(takes("gfx1201", &["gfx12-generic", "gfx1201"]), Some(("gfx1201", How::Own)));
        assert_eq!(arch("rx-9070-xt").in_order(), ["gfx1201", "gfx12-generic"]);
        assert_eq!(arch("gfx908").in_order(), ["gfx908"]);
        assert_eq!(takes("gfx1250", &["gfx12-generic"]), None);
        assert_eq!(takes("gfx1250", &["gfx12-5-generic"]), Some(("gfx12-5-generic", How::Generic)));
        assert_eq!(takes("gfx908", &["gfx9-generic"]), None);
        assert_eq!(takes("gfx90a", &["gfx90a:xnack-"]), Some(("gfx90a:xnack-", How::Own)));
        assert_eq!(takes("gfx90a:xnack+", &["gfx90a:xnack-"]), None);
        assert_eq!(takes("gfx90a:xnack+", &["gfx90a"]), Some(("gfx90a", How::Own)));
        assert_eq!(takes("gfx1201", &["amdgcnspirv"]), Some(("amdgcnspirv", How::Compiled)));
    }

    #[test]
    fn nvidia_code_runs_on_its_major_number_and_ptx_on_what_is_newer() {
        let takes = |wanted: &str, shipped: &[&'static str]| {
            arch(wanted).takes(shipped.iter().copied()).map(|taken| (taken.code, taken.how))
        };
        assert_eq!(takes("sm_89", &["sm_75", "sm_80", "sm_86", "compute_86"]), Some(("sm_86", How::Generic)));
        assert_eq!(takes("sm_90", &["sm_90a", "sm_80"]), None);
        assert_eq!(takes("sm_90a", &["sm_90a"]), Some(("sm_90a", How::Own)));
        assert_eq!(takes("sm_90", &["sm_80", "compute_75"]), Some(("compute_75", How::Compiled)));
        assert_eq!(takes("compute_75", &["sm_75"]), None);
        assert_eq!(takes("sm_121", &["sm_120f"]), Some(("sm_120f", How::Generic)));
    }
}
